"""Puzzle 15: one block for each row, and the tree that sums a row."""

from __future__ import annotations

import math

from tooling.book.figures.canvas import PAGE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive
from tooling.book.figures.reduction import NARROW_CELL, beside_reduction, draw_reduction
from tooling.text import Text

_SIDE = 33  # of a cell of the matrix
_BLOCK = Text("block (0, {row})")


def draw_rows(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Matrix, blocks with their shared memory, output: one line for each row.

    On a narrow screen without the matrix: it is what the live cells of the blocks hold.
    """
    batch, size, threads = (facts.constant(name) for name in ("BATCH", "SIZE", "TPB"))
    a = facts.inputs("default")["a"].reshape(batch, size)
    sums = facts.expected("default")["out"].reshape(batch)
    side, total, pitch, title, heads = (33, 50, 80, 14, 36) if narrow else (_SIDE, 56, 62, 18, 44)
    first = 86 if narrow else 64  # the top of the first row
    matrix = PAGE - 1 - total - (size + threads) * side - 82
    shared = 9 if narrow else matrix + size * side + 42
    output = shared + threads * side + (35 if narrow else 40)
    canvas = sheet(output + total + 1, first + batch * pitch - (24 if narrow else 14))
    canvas.label(shared, title, Text("shared memory of the block"), bold=True)
    canvas.label(output + total, title, "output", "end", mono=True, bold=True)
    for thread in range(threads):
        middle = shared + (thread + 0.5) * side
        canvas.label(middle, heads, f"T{thread}", "middle", size=Size.LABEL, quiet=True)
    for row in range(batch):
        top = first + row * pitch
        middle = top + side / 2
        canvas.frame(shared - 8, top - 8, threads * side + 16, side + 16)
        for thread in range(threads):
            value, ink = (number(a[row, thread]), Ink.LIVE) if thread < size else ("0", Ink.SPARE)
            canvas.cell(shared + thread * side, top, side, side, value, ink=ink)
        canvas.arrow(shared + threads * side + 12, middle, output - 4, middle)
        canvas.cell(output, top, total, side, number(sums[row]), ink=Ink.RESULT)
        if narrow:
            name = Text("block (0, {row}), batch = {row}").of(row=row)
            canvas.label(shared, top - 20, name, size=Size.LABEL, quiet=True)
    if narrow:
        return canvas
    canvas.label(matrix, title, "a", mono=True, bold=True)
    for column in range(size):
        middle = matrix + (column + 0.5) * side
        canvas.label(middle, heads, str(column), "middle", size=Size.LABEL, quiet=True)
    for row in range(batch):
        top = first + row * pitch
        canvas.name(top + side / 2, _BLOCK.of(row=row), f"batch = {row}")
        for column in range(size):
            canvas.cell(matrix + column * side, top, side, side, number(a[row, column]))
        canvas.arrow(matrix + size * side + 8, top + side / 2, shared - 12, top + side / 2)
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
    responsive("p15", draw_rows),
    responsive("p15-steps", draw_steps, traces=("p15",)),
)
