"""Puzzle 1: four threads, four elements, their addresses, and two layouts of the same memory."""

from __future__ import annotations

import re

from tooling.book.figures.canvas import PAGE, Canvas, Ink, Sheet
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure, responsive
from tooling.book.figures.grids import Grid, Square, draw_grids, numbered
from tooling.book.figures.maps import draw_map
from tooling.text import Text

_SIDE = 84  # of the cells of the two layouts side by side, in pixels


def draw_add_ten(facts: Facts, sheet: Sheet) -> Canvas:
    """`a`, the threads, and what they wrote."""
    a = facts.inputs("default")["a"].reshape(-1).tolist()
    return draw_map(sheet, facts.trace("p01"), {(1, "a"): a}, (0, "output"), "+ 10")


def draw_addresses(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The elements of `output` with their distance from the first one in bytes, and the next address."""
    trace = facts.trace("p01")
    stores = {store.element: store for store in trace.accesses("store", 0)}
    grids = []
    for shift, title in enumerate(("output[unsafe_offset=i]", "output[unsafe_offset=i + 1]")):
        squares = []
        for element in range(len(stores) + 1):
            store, inside = stores.get(element - shift), element in stores
            ink = Ink.PLAIN if store is None else Ink.RESULT if inside else Ink.WRONG
            text = "" if store is None else number(store.value)
            above = () if store is None else (f"i = {store.thread}",)
            below = f"+{element * trace.element_bytes}"
            squares.append(Square(text, ink, above, below, outside=store is None and not inside))
        bracket = Text("buffer"), len(stores)
        grids.append(Grid(title, [squares], bracket=bracket, above=Text("thread"), below=Text("bytes")))
    return (
        draw_grids(sheet, grids, side=60)
        if narrow
        else draw_grids(sheet, grids, side=58, per_line=2, spacing=34)
    )


def draw_shapes(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The output of the preview as a row and as a square, with the offset of each element."""
    row, square, out = facts.demo("preview")
    values = re.findall(r"\d+\.\d", out)
    width = int(row.split()[-1])
    height, across = map(int, re.findall(r"\d+", square))
    squares = [Square(number(float(value)), Ink.RESULT, (), str(at)) for at, value in enumerate(values)]
    index, offset = Text("index"), Text("offset")
    grids = (
        Grid(f"row_major[{width}]()", [squares], numbered(width), heading=index, below=offset),
        Grid(
            f"row_major[{height}, {across}]()",
            [squares[first : first + across] for first in range(0, len(squares), across)],
            numbered(across),
            numbered(height),
            heading=index,
            below=offset,
        ),
    )
    if narrow:
        return draw_grids(sheet, grids, side=76, high=40)
    names = sum(grid.names_end(sheet(0, 0)) for grid in grids)
    spacing = PAGE - 2 - names - (width + across) * _SIDE
    return draw_grids(sheet, grids, side=_SIDE, high=44, per_line=2, spacing=spacing)


FIGURES = (
    Figure("p01", draw_add_ten, traces=("p01",)),
    responsive("p01-addresses", draw_addresses, traces=("p01",)),
    responsive("p01-shapes", draw_shapes),
)
