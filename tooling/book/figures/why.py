"""The figure of the page that compares a GPU with the processor of its machine."""

from __future__ import annotations

from tooling.book.figures.canvas import Canvas, Ink, Sheet
from tooling.book.figures.charts import Bar, draw_bars
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import responsive
from tooling.book.figures.h200 import recorded
from tooling.text import Text

_PROGRAM = "benchmarks/kernels/why_a_gpu.mojo"
_LARGEST = "100000000"
_TASKS = {
    "add": Text("one addition for each number"),
    "steps": Text("256 multiply-adds for each number"),
}
_WHERE = {
    "one core": (Text("one core"), Ink.LIVE),
    "all cores": (Text("16 cores"), Ink.LIVE),
    "GPU and copies": (Text("GPU, with the copies"), Ink.RESULT),
    "GPU": (Text("GPU"), Ink.RESULT),
}


def draw_times(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Bars: the median times of both tasks for the largest number of elements, in milliseconds."""
    lines = recorded(facts, "benchmarks.json", "other_protocols", _PROGRAM, gpu="h100")
    rows = (line.split(" | ") for line in lines)
    medians = {row[0]: float(row[4]) / 1000 for row in rows if row[1:2] == [_LARGEST]}
    bars = {
        name: tuple(
            Bar(medians[f"{task}, {where}"], f"{medians[f'{task}, {where}']:.1f}", ink, label)
            for where, (label, ink) in _WHERE.items()
        )
        for task, name in _TASKS.items()
    }
    return draw_bars(sheet, bars, Text("time (ms)"), narrow=narrow)


FIGURES = (responsive("why-times", draw_times),)
