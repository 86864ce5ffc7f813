"""Puzzle 47: the border rows of two GPUs, and the halo rows that they are copied to."""

from __future__ import annotations

from tooling.book.figures.canvas import PAGE, PHONE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive
from tooling.text import Text

_PARTS = ("upper", "lower")


def draw_halos(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The first and the last rows of both GPUs, and where their copies go."""
    rows, width = facts.constant("ROWS"), facts.constant("WIDTH")
    inputs = facts.inputs("copies")
    shown = (1, 2, rows - 1, rows)
    columns = 2 if narrow else 4
    high, gap = 28, 12
    names, between = (56, 20) if narrow else (64, 66)
    cell = ((PHONE if narrow else PAGE) - 1 - 2 * names - between) / (2 * columns)
    canvas = sheet(0, 0)
    tops = {}
    y = 34.0
    for row in (0, *shown, rows + 1):
        tops[row] = y
        y += high + (gap if row in (0, 2, rows) else 0)
    for gpu, part in enumerate(_PARTS):
        left = names + gpu * (columns * cell + between + names)
        cells = inputs[f"{part}_in"].reshape(rows, width)
        other = inputs[f"{_PARTS[1 - gpu]}_in"].reshape(rows, width)
        canvas.label(left, 12, Text("GPU {gpu}").of(gpu=gpu), size=Size.LABEL, bold=True)
        for row, top in tops.items():
            halo = row in (0, rows + 1)
            label = Text("halo") if halo else Text("row {row}").of(row=row)
            canvas.label(left - 8, top + high / 2, label, "end", size=Size.LABEL, quiet=True)
            values = other[rows - 1] if row == 0 else other[0] if halo else cells[row - 1]
            for column in range(columns):
                ink = Ink.LIVE if halo else Ink.PLAIN
                text = number(values[column])
                canvas.cell(left + column * cell, top, cell, high, text, ink=ink)
        canvas.label(left + columns * cell / 2, tops[2] + high + gap / 2, "⋮", "middle", quiet=True)
    # What GPU 1 gets: the last row of GPU 0 above its first one, and the first row below its last one.
    first_end = names + columns * cell
    second = first_end + between + names
    for source, target in ((rows, 0), (1, rows + 1)):
        ends = first_end + 2, tops[source] + high / 2, second - 46, tops[target] + high / 2
        canvas.side_curve(*ends, marked=source == rows)
    canvas.width, canvas.height = round(second + columns * cell) + 1, round(tops[rows + 1] + high) + 1
    return canvas


FIGURES = (responsive("p47", draw_halos),)
