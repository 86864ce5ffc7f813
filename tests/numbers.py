"""How many puzzles the checkout has: counted in its folders, so that a new puzzle changes no test."""

from __future__ import annotations

from pathlib import Path

PUZZLES = sorted(
    path.parent.name for path in (Path(__file__).parents[1] / "problems").glob("p[0-9]*/puzzle.yaml")
)
"""The ids of all puzzles, in their order."""
COUNT = len(PUZZLES)
LAST = int(PUZZLES[-1][1:])
"""The number of the last puzzle: some are not written yet."""
