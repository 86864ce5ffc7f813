"""Puzzle 41: the products that one thread adds for one term, and the banks of a stored tile."""

from __future__ import annotations

from tooling.book.figures.canvas import Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive
from tooling.text import Text

_FIRST = 1  # the thread's row and column among the 16 x 16 of its block
_LANES = 32


def draw_products(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Eight elements of a column of `a`, eight of a row of `b`, and their 64 products."""
    side, half, terms = facts.constant("SIDE"), facts.constant("TILE") // 2, facts.constant("TERMS")
    inputs = facts.inputs("product")
    indices = [part * half + 4 * _FIRST + i for part in range(2) for i in range(4)]
    column = [float(inputs["a"][row * terms]) for row in indices]
    row_of_b = [float(inputs["b"][col]) for col in indices]
    wide, high, gap, left, top = (32, 24, 8, 30, 20) if narrow else (40, 28, 10, 56, 24)
    x0, y0 = left + wide + gap, top + high + gap
    canvas = sheet(x0 + side * wide + 1, y0 + side * high + 2)
    name = Size.SMALL if narrow else Size.LABEL

    def cell(x: float, y: float, value: float, ink: Ink) -> None:
        canvas.cell(x, y, wide, high, ink=ink)
        middle = x + wide / 2, y + high / 2
        canvas.label(*middle, number(value), "middle", size=Size.SMALL, colour=ink.text, mono=True)

    canvas.label(left + wide / 2, top + high / 2, "*k* = 0", "middle", size=name)
    for j, value in enumerate(row_of_b):
        x = x0 + j * wide
        canvas.label(x + wide / 2, top - 10, str(indices[j]), "middle", size=Size.SMALL, quiet=True)
        cell(x, top, value, Ink.LIVE)
    for i, value in enumerate(column):
        y = y0 + i * high
        canvas.label(left - 8, y + high / 2, str(indices[i]), "end", size=Size.SMALL, quiet=True)
        cell(left, y, value, Ink.LIVE)
        for j, other in enumerate(row_of_b):
            cell(x0 + j * wide, y, value * other, Ink.SUM)
    return canvas


def draw_banks(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The banks of a warp's first store into the tile of `a`, without and with the padding."""
    import numpy as np  # noqa: PLC0415

    from tooling.book.figures.requests import draw_requests  # noqa: PLC0415 - brings NumPy
    from tooling.simulator.counters.banks import Service  # noqa: PLC0415
    from tooling.simulator.counters.hook import Sample  # noqa: PLC0415
    from tooling.simulator.counters.profile import Picture  # noqa: PLC0415
    from tooling.simulator.gpu.launch import Dim3  # noqa: PLC0415

    tile = facts.constant("TILE")
    pictures = []
    for words in (tile, tile + 4):
        first = [(lane % 2 * 4 * words + lane // 2) * 4 for lane in range(_LANES)]
        heading = Text("Rows of {words} words").of(words=words)
        addresses = np.array(first, np.int64)
        pictures.append((heading, Picture(Sample(addresses, 4, 0, 0, Service.STORE), Dim3(0, 0, 0), 0)))
    return draw_requests(sheet, pictures, narrow=narrow)


FIGURES = (responsive("p41", draw_products), responsive("p41-banks", draw_banks))
