"""Puzzle 12: products in shared memory, the banks that they lie in, and the tree that sums them."""

from __future__ import annotations

import math

from tooling.book.figures.canvas import Canvas, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive
from tooling.book.figures.reduction import CELL, NARROW_CELL, beside_reduction, draw_reduction
from tooling.book.figures.traces import SHARED
from tooling.text import Text


def draw_dot_product(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Both vectors, their products, and the tree."""
    size = facts.constant("SIZE")
    data = facts.inputs("default")
    first = Text("products, shared")
    canvas = sheet(0, 0)
    side, gap = CELL, 46 if narrow else 26
    left, wide = (30, NARROW_CELL) if narrow else beside_reduction(canvas, first, size)
    pitch = side + 18  # from one vector to the next
    rows = 34 + 2 * pitch - 8
    canvas.width = left + size * wide + 24
    for index in range(size):
        canvas.label(left + (index + 0.5) * wide, 16, f"T{index}", "middle", size=Size.LABEL, quiet=True)
    for row, name in enumerate(("a", "b")):
        top = 34 + row * pitch
        canvas.name(top + side / 2, name)
        for index in range(size):
            canvas.cell(left + index * wide, top, wide, side, number(data[name].reshape(-1)[index]))
    for index in range(size):
        middle = left + (index + 0.5) * wide
        canvas.label(middle, 34 + (side + pitch) / 2, "×", "middle", size=Size.VALUE, quiet=True)
        canvas.arrow(middle, rows - 8, middle, rows + 22)
    corner = left, rows + gap
    end = draw_reduction(canvas, corner, wide, facts.trace("p12"), first=first, narrow=narrow)
    canvas.height = math.ceil(end) + 2
    return canvas


def draw_banks(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """How the banks serve the first store to shared memory: here, and in a kernel that leaves gaps."""
    from tooling.book.figures.requests import draw_requests, request  # noqa: PLC0415 - brings NumPy

    rows = (
        (Text("Here: thread *i* stores to element *i*"), "p12"),
        (
            Text("Puzzle 32: thread *i* stores to element 2*i*"),
            "p32 --two-way unsolved",
        ),
    )
    pictures = []
    for heading, run in rows:
        trace = facts.trace(run)
        store = next(each for each in trace.events if (each.action, each.buffer) == ("store", SHARED))
        pictures.append((heading, request(trace, store)))
    return draw_requests(sheet, pictures, narrow=narrow)


FIGURES = (
    responsive("p12", draw_dot_product, traces=("p12",)),
    responsive("p12-banks", draw_banks, traces=("p12", "p32 --two-way unsolved")),
)
