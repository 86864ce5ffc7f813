"""Puzzle 3: eight threads for four elements."""

from __future__ import annotations

from tooling.book.figures.canvas import Canvas, Sheet
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import responsive
from tooling.book.figures.maps import draw_map


def draw_guarded(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """`a`, all threads of the block, and what those with an element wrote."""
    a = facts.inputs("default")["a"].reshape(-1).tolist()
    return draw_map(sheet, facts.trace("p03"), {(1, "a"): a}, (0, "output"), "+ 10", narrow=narrow)


FIGURES = (responsive("p03", draw_guarded, traces=("p03",)),)
