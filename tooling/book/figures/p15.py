"""Puzzle 15: one block for each row, and the tree that sums a row."""

from __future__ import annotations

import math

from tooling.book.figures.canvas import PAGE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure, responsive
from tooling.book.figures.reduction import NARROW_CELL, beside_reduction, draw_reduction
from tooling.text import Text

_SIDE = 33  # of a cell of the matrix
_BLOCK = Text("block (0, {row})")


def draw_rows(facts: Facts, sheet: Sheet) -> Canvas:
    """Matrix, blocks with their shared memory, output: one line for each row."""
    batch, size, threads = (facts.constant(name) for name in ("BATCH", "SIZE", "TPB"))
    a = facts.inputs("default")["a"].reshape(batch, size)
    sums = facts.expected("default")["out"].reshape(batch)
    canvas = sheet(0, 64 + batch * 62 - 14)
    total = 56  # the width of a sum
    matrix = PAGE - 1 - total - (size + threads) * _SIDE - 82
    shared = matrix + size * _SIDE + 42
    output = shared + threads * _SIDE + 40
    canvas.width = PAGE
    canvas.label(matrix, 18, "a", mono=True, bold=True)
    canvas.label(shared, 18, Text("shared memory of the block"), bold=True)
    canvas.label(output + total, 18, "output", "end", mono=True, bold=True)
    for thread in range(threads):
        canvas.label(
            shared + thread * _SIDE + _SIDE / 2, 44, f"T{thread}", "middle", size=Size.LABEL, quiet=True
        )
    for column in range(size):
        canvas.label(
            matrix + column * _SIDE + _SIDE / 2, 44, str(column), "middle", size=Size.LABEL, quiet=True
        )
    for row in range(batch):
        top = 64 + row * 62
        middle = top + _SIDE / 2
        canvas.name(middle, _BLOCK.of(row=row), f"batch = {row}")
        canvas.frame(shared - 8, top - 8, threads * _SIDE + 16, _SIDE + 16)
        for column in range(size):
            canvas.cell(matrix + column * _SIDE, top, _SIDE, _SIDE, number(a[row, column]))
        for thread in range(threads):
            loaded = thread < size
            value = number(a[row, thread]) if loaded else "0"
            ink = Ink.LIVE if loaded else Ink.SPARE
            canvas.cell(shared + thread * _SIDE, top, _SIDE, _SIDE, value, ink=ink)
        canvas.arrow(matrix + size * _SIDE + 8, middle, shared - 12, middle)
        canvas.arrow(shared + threads * _SIDE + 12, middle, output - 4, middle)
        canvas.cell(output, top, total, _SIDE, number(sums[row]), ink=Ink.RESULT)
    return canvas


def draw_rows_narrow(facts: Facts, sheet: Sheet) -> Canvas:
    """Blocks with their shared memory, and the output: the matrix is what their live cells hold."""
    batch, size, threads = (facts.constant(name) for name in ("BATCH", "SIZE", "TPB"))
    a = facts.inputs("default")["a"].reshape(batch, size)
    sums = facts.expected("default")["out"].reshape(batch)
    side, left, total = 33, 9, 50
    output = left + threads * side + 35
    first = 86  # the top of the first row
    canvas = sheet(output + total + 1, first + batch * 80 - 24)
    shared = Text("shared memory of the block")
    canvas.label(left, 14, shared, bold=True, size=Size.VALUE)
    canvas.label(output + total, 14, "output", "end", mono=True, bold=True)
    for thread in range(threads):
        canvas.label(left + (thread + 0.5) * side, 36, f"T{thread}", "middle", size=Size.LABEL, quiet=True)
    for row in range(batch):
        top = first + row * 80
        name = Text("block (0, {row}), batch = {row}").of(row=row)
        canvas.label(left, top - 20, name, size=Size.LABEL, quiet=True)
        canvas.frame(left - 8, top - 8, threads * side + 16, side + 16)
        for thread in range(threads):
            loaded = thread < size
            value = number(a[row, thread]) if loaded else "0"
            ink = Ink.LIVE if loaded else Ink.SPARE
            canvas.cell(left + thread * side, top, side, side, value, ink=ink, size=Size.VALUE)
        canvas.arrow(left + threads * side + 11, top + side / 2, output - 3, top + side / 2)
        canvas.cell(output, top, total, side, number(sums[row]), ink=Ink.RESULT)
    return canvas


def draw_steps(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Row 0 through the tree."""
    threads = facts.constant("TPB")
    loaded = Text("loaded")
    canvas = sheet(0, 0)
    top = 52 if narrow else 34
    left, wide = (2, NARROW_CELL) if narrow else beside_reduction(canvas, loaded, threads)
    canvas.width = left + threads * wide + 24
    for thread in range(threads):
        canvas.label(left + (thread + 0.5) * wide, 16, f"T{thread}", "middle", size=Size.LABEL, quiet=True)
    end = draw_reduction(canvas, (left, top), wide, facts.trace("p15"), first=loaded, narrow=narrow)
    canvas.height = math.ceil(end) + 2
    return canvas


FIGURES = (
    Figure("p15", draw_rows, narrow=draw_rows_narrow),
    responsive("p15-steps", draw_steps, traces=("p15",)),
)
