"""Replays of programs on the simulated GPU, and the data that their pages embed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]


def replay(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PUZZLE_")}
    for name in ("PUZZLE_CACHE_DIR",):
        if name in os.environ:
            environment[name] = os.environ[name]
    return subprocess.run(
        [sys.executable, "-m", "tooling", "replay", *arguments],
        cwd=REPOSITORY,
        env={**environment, "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def embedded(page: Path) -> dict[str, Any]:
    """The trace and the sentences of a page."""
    found = re.search(
        r'<script type="application/json" id="data">(.*?)</script>', page.read_text("utf-8"), re.S
    )
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def numbers(text: str) -> list[int]:
    """The threads of `0-3,8`."""
    runs = [run.split("-") for run in text.split(",") if run]
    return [number for run in runs for number in range(int(run[0]), int(run[-1]) + 1)]


def spread(cells: list[Any]) -> list[int]:
    """The cells of `[4, [0, 2, 3]]`: 4, 0, 2, 4."""
    found: list[int] = []
    for each in cells:
        found += [each] if isinstance(each, int) else [each[0] + each[1] * k for k in range(each[2])]
    return found


def cells_after(trace: dict[str, Any], last: int) -> list[dict[int, Any]]:
    """What each buffer contains after step `last`, by the rules of `tooling.replay.trace`."""
    cells: list[dict[int, Any]] = [
        {first + index: value for first, values in buffer["initial"] for index, value in enumerate(values)}
        for buffer in trace["buffers"]
    ]
    for step in trace["steps"][: last + 1]:
        for move in step.get("moves", ()):
            held = cells[move["buffer"]]
            refused = set(numbers(move.get("refused", "")))
            lanes = (
                zip(numbers(move["threads"]), spread(move["cells"]), strict=True) if move["threads"] else ()
            )
            for lane, (thread, first) in enumerate(lanes if move["values"] else ()):
                for k in range(move["width"]):
                    if thread not in refused and move["action"] != "atomic":
                        held[first + k] = move["values"][lane * move["width"] + k]
            held.update(map(tuple, move.get("after", ())))
    return cells


def edited(program: str, old: str, new: str, folder: Path) -> str:
    """A copy of a solution in which one text is replaced."""
    text = (REPOSITORY / "solutions" / program / f"{program}.mojo").read_text("utf-8")
    assert text.count(old) >= 1
    file = folder / f"{program}.mojo"
    file.write_text(text.replace(old, new, 1), "utf-8")
    return str(file)
