"""Puzzle 40: nonzeros and ends of rows as items, and which lane has them."""

from __future__ import annotations

from tooling.book.figures.canvas import Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import responsive
from tooling.text import Text

_LANES = 4  # of the first warp


def draw_items(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The items of the first lanes, a line each: nonzeros by their numbers, and ends of rows."""
    items = facts.constant("ITEMS")
    starts = facts.inputs("equal-work")["starts"].tolist()
    ends = {starts[row + 1] + row: row for row in range(len(starts) - 1)}
    wide, high, left, top = (43, 30, 54, 24) if narrow else (96, 34, 86, 26)
    canvas = sheet(left + items * wide + 1, top + _LANES * high + 1)
    for column in range(items):
        x = left + (column + 0.5) * wide
        canvas.label(x, top - 12, f"+ {column}", "middle", size=Size.SMALL, quiet=True)
    row = 0
    for lane in range(_LANES):
        y = top + lane * high
        canvas.label(left - 8, y + high / 2, Text("lane {number}").of(number=lane), "end", size=Size.LABEL)
        for column in range(items):
            item = lane * items + column
            if item in ends:
                row = ends[item]
                name, ink = f"/ {row}", Ink.RESULT
                row += 1
            else:
                name, ink = str(item - row), Ink.SUM if row % 2 else Ink.LIVE
            canvas.cell(left + column * wide, y, wide, high, name, ink=ink)
    return canvas


FIGURES = (responsive("p40", draw_items),)
