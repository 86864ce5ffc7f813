"""Draws arrays and matrices as cells, with the threads that access them and the offsets in memory."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tooling.book.figures.canvas import Canvas, Ink, Sheet, Size
from tooling.text import Sentence

_SMALL = Size.LABEL  # the size of labels
_LINE = 16  # from a line of labels to the next
_APART = 3  # from the labels to the cells below them
_BRACKET = 22  # the height of a bracket with its name
_TICK = 6  # the height of its ends


class Square(Struct, frozen=True):
    """One cell.

    Attributes:
        text: in the cell.
        above, below: small labels, such as threads and the offset.
        outside: the place belongs to no array; it is a dashed outline.
    """

    text: str = ""
    ink: Ink = Ink.PLAIN
    above: tuple[str, ...] = ()
    below: str = ""
    outside: bool = False


class Grid(Struct, frozen=True):
    """An array or a matrix.

    Attributes:
        title: code as a plain string, or a description.
        rows: the cells.
        columns, names: the headings of columns and rows; may be empty.
        bracket: a name over the first columns, and how many these are.
    """

    title: Sentence | str
    rows: Sequence[Sequence[Square]]
    columns: Sequence[Sentence | str] = ()
    names: Sequence[Sentence | str] = ()
    bracket: tuple[Sentence, int] | None = None


def numbered(count: int) -> tuple[str, ...]:
    """The numbers from 0, as headings."""
    return tuple(map(str, range(count)))


def tally(title: Sentence | str, squares: Sequence[Square], *, across: int) -> Grid:
    """Cells that stand for single cases, in rows of `across`."""
    return Grid(title, [squares[first : first + across] for first in range(0, len(squares), across)])


def draw_grids(
    sheet: Sheet,
    grids: Sequence[Grid],
    *,
    side: int = 64,
    high: int = 36,
    left: int = 0,
    beside: int = 1,
) -> Canvas:
    """Draws grids, some of them side by side.

    Args:
        sheet: creates the canvas of a width and height.
        grids: in reading order.
        side, high: of a cell.
        left: the width of the headings of rows.
        beside: how many grids are in one line.
    """
    canvas = sheet(0, 0)
    for first in range(0, len(grids), beside):
        x, top = 1.0, canvas.height + (20 if canvas.height else 0)
        for grid in grids[first : first + beside]:
            end = _draw_grid(canvas, grid, x + left, top, (side, high), left)
            canvas.height = max(canvas.height, round(end))
            x += left + max(map(len, grid.rows)) * side + 30
        canvas.width = max(canvas.width, round(x) - 24)
    canvas.height += 4
    return canvas


def _draw_grid(  # noqa: PLR0917 - its parts
    canvas: Canvas, grid: Grid, x: float, y: float, cell: tuple[int, int], left: int
) -> float:
    """Draws one grid with its first cell at x and headings of rows from `left` before it; returns its end."""
    side, high = cell
    if grid.title:
        canvas.label(x, y + 10, grid.title, bold=True, mono=isinstance(grid.title, str))
        y += 26
    for column, heading in enumerate(grid.columns):
        canvas.label(x + (column + 0.5) * side, y + 8, heading, "middle", size=_SMALL, quiet=True)
    y += 20 if grid.columns else 0
    if grid.bracket:
        name, across = grid.bracket
        _draw_bracket(canvas, (x + 1, x + across * side - 1), y + 9, name)
        y += _BRACKET
    for number, row in enumerate(grid.rows):
        lines = max(len(square.above) for square in row)
        y += _LINE * lines + (_APART if lines else 0)
        if grid.names:
            canvas.label(x - left, y + high / 2, grid.names[number], size=_SMALL, quiet=True)
        for column, square in enumerate(row):
            middle = x + (column + 0.5) * side
            for line, text in enumerate(reversed(square.above)):
                canvas.label(middle, y - 9 - _APART - line * _LINE, text, "middle", size=_SMALL, mono=True)
            if square.outside:
                canvas.frame(x + column * side + 1.5, y + 0.5, side - 3, high - 1, dashed=True, corner=4)
            else:
                canvas.cell(x + column * side + 1, y, side - 2, high, square.text, ink=square.ink)
            if square.below:
                canvas.label(middle, y + high + 10, square.below, "middle", size=_SMALL, quiet=True)
        y += high + (22 if any(square.below for square in row) else 3)
    return y


def _draw_bracket(canvas: Canvas, ends: tuple[float, float], y: float, name: Sentence) -> None:
    """Draws a line with its name in the middle and ends that point at the cells below it."""
    left, right = round(ends[0]) + 0.5, round(ends[1]) - 0.5
    for end in (left, right):
        canvas.arrow(end, y + _TICK, end, y, head=False)
    canvas.arrow(left, y, right, y, head=False)
    canvas.plate((left + right) / 2, y, canvas.length(name, _SMALL) + 10, name)
