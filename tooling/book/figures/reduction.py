"""A tree reduction in shared memory, drawn step by step."""

from __future__ import annotations

from collections.abc import Sequence

from tooling.book.figures.canvas import Canvas, Ink
from tooling.book.figures.facts import number
from tooling.catalog.model import Text

CELL = 44
ROW = 80


def reduction_steps(values: Sequence[float]) -> list[tuple[int, list[float]]]:
    """The stride of each step, and what all cells hold after it.

    The number of values must be a power of two. Each step adds cell i + stride to cell i for every i below
    the stride; the other cells keep what they held.
    """
    cells = list(values)
    steps = []
    stride = len(cells) // 2
    while stride > 0:
        cells = [cell + cells[i + stride] if i < stride else cell for i, cell in enumerate(cells)]
        steps.append((stride, cells))
        stride //= 2
    return steps


def draw_reduction(
    canvas: Canvas, x: float, y: float, values: Sequence[float], *, first: Text, spare: int | None = None
) -> float:
    """Draws the cells before the first step and after each one, with arrows for what is added.

    Args:
        canvas: the picture.
        x, y: the upper left corner of the first cell; labels stand to the left of it.
        values: what the cells hold before the first step.
        first: the label of the first row.
        spare: cells from this one on belong to threads that loaded nothing.

    Returns:
        The y below the last row.
    """
    count = len(values)
    live = count
    rows = [(first, list(values))]
    rows += [
        (Text(f"after stride {stride}", f"스트라이드 {stride} 다음"), cells)
        for stride, cells in reduction_steps(values)
    ]
    for index, (label, cells) in enumerate(rows):
        top = y + index * ROW
        canvas.label(x - 16, top + CELL / 2, label, "end", quiet=True)
        for cell, value in enumerate(cells):
            ink = Ink.PLAIN if cell < live else Ink.SPARE
            if index == 0 and spare is not None and cell >= spare:
                ink = Ink.SPARE
            if index and cell < live:
                ink = Ink.LIVE
            if live == 1 and cell == 0:
                ink = Ink.RESULT
            canvas.cell(x + cell * CELL, top, CELL, CELL, number(value), ink=ink)
        live //= 2
        if index + 1 < len(rows):
            for cell in range(live):
                middle = x + cell * CELL + CELL / 2
                below = top + ROW - 3
                canvas.arrow(middle + live * CELL, top + CELL + 2, middle + 7, below)
                canvas.arrow(middle, top + CELL + 2, middle, below)
    return y + len(rows) * ROW
