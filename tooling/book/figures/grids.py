"""Draws arrays and matrices as cells, with the threads that access them and the offsets in memory, and the
stages of a block."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from tooling.book.figures.canvas import GAP, PAGE, PHONE, SMALL_CELL, Canvas, Ink, Sheet, Size
from tooling.text import Sentence, Text

_SMALL = Size.LABEL  # the size of labels
_LINE = 18  # from a line of labels to the next
_SPACING = 12  # from the middle of labels to the cells above or below them
_ABOVE = 3  # more than the lines of labels above cells
_BELOW = 28  # from cells with labels below them to the next row
_NEXT_TO = 12  # from the names of rows to the cells
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
        heading, above, below: what the headings of columns, the labels above and those below the cells are.
    """

    title: Sentence | str
    rows: Sequence[Sequence[Square]]
    columns: Sequence[Sentence | str] = ()
    names: Sequence[Sentence | str] = ()
    bracket: tuple[Sentence, int] | None = None
    heading: Sentence | str = ""
    above: Sentence | str = ""
    below: Sentence | str = ""

    def names_end(self, canvas: Canvas) -> int:
        """The width of what is at the left of the cells, with the space after it."""
        names = (*self.names, self.heading, self.above, self.below)
        longest = max(canvas.length(name, _SMALL, mono=isinstance(name, str)) for name in names)
        return math.ceil(longest) + _NEXT_TO if longest else 0


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
    per_line: int = 1,
    spacing: int = 30,
) -> Canvas:
    """Draws grids, some of them side by side.

    Args:
        sheet: creates the canvas of a width and height.
        grids: in reading order.
        side, high: of a cell.
        left: how wide the names of rows are at least.
        per_line: how many grids are in one line.
        spacing: between grids side by side.
    """
    canvas = sheet(0, 0)
    left = max(left, *(grid.names_end(canvas) for grid in grids))
    for first in range(0, len(grids), per_line):
        x, top = 1.0, canvas.height + (20 if canvas.height else 0)
        for grid in grids[first : first + per_line]:
            end = _draw_grid(canvas, grid, x + left, top, (side, high), left)
            canvas.height = max(canvas.height, round(end))
            x += left + max(map(len, grid.rows)) * side + spacing
        canvas.width = max(canvas.width, round(x) - spacing + 6)
    canvas.height += 4
    return canvas


def _draw_grid(  # noqa: PLR0917 - its parts
    canvas: Canvas, grid: Grid, x: float, y: float, cell: tuple[int, int], left: int
) -> float:
    """Draws one grid with its first cell at x and headings of rows from `left` before it; returns its end."""
    side, high = cell
    rows_apart = 0 if min(cell) < SMALL_CELL else GAP
    if grid.title:
        canvas.label(x - left, y + 10, grid.title, bold=True, mono=isinstance(grid.title, str))
        y += 28
    _beside(canvas, x - left, y + 8, grid.heading)
    for column, heading in enumerate(grid.columns):
        canvas.label(x + (column + 0.5) * side, y + 8, heading, "middle", size=_SMALL, quiet=True)
    y += 8 + _SPACING if grid.columns else 0
    if grid.bracket:
        name, across = grid.bracket
        _draw_bracket(canvas, (x + 1, x + across * side - 1), y + 9, name)
        y += _BRACKET
    for number, row in enumerate(grid.rows):
        lines = max(len(square.above) for square in row)
        y += _LINE * lines + (_ABOVE if lines else 0)
        if lines:
            _beside(canvas, x - left, y - _SPACING, grid.above)
        if grid.names:
            of_row, middle = grid.names[number], y + high / 2
            if isinstance(of_row, str):
                canvas.label(x - _NEXT_TO, middle, of_row, "end", size=_SMALL, quiet=True)
            else:
                _beside(canvas, x - left, middle, of_row)
        for column, square in enumerate(row):
            middle = x + (column + 0.5) * side
            for line, text in enumerate(reversed(square.above)):
                canvas.label(middle, y - _SPACING - line * _LINE, text, "middle", size=_SMALL, mono=True)
            if square.outside:
                canvas.frame(x + column * side + 1.5, y + 0.5, side - 3, high - 1, dashed=True, corner=4)
            else:
                canvas.cell(x + column * side, y, side, high, square.text, ink=square.ink)
            if square.below:
                canvas.label(middle, y + high + _SPACING, square.below, "middle", size=_SMALL, quiet=True)
        if any(square.below for square in row):
            _beside(canvas, x - left, y + high + _SPACING, grid.below)
            y += _BELOW
        y += high + rows_apart
    return y


def _beside(canvas: Canvas, x: float, y: float, name: Sentence | str) -> None:
    """What a row of cells or of labels is, at the left edge of a grid."""
    canvas.label(x, y, name, size=_SMALL, quiet=True, mono=isinstance(name, str))


def _draw_bracket(canvas: Canvas, ends: tuple[float, float], y: float, name: Sentence) -> None:
    """Draws a line with its name in the middle and ends that point at the cells below it."""
    left, right = round(ends[0]) + 0.5, round(ends[1]) - 0.5
    for end in (left, right):
        canvas.arrow(end, y + _TICK, end, y, head=False)
    canvas.arrow(left, y, right, y, head=False)
    canvas.plate((left + right) / 2, y, canvas.length(name, _SMALL) + 10, name)


def stages_by_step(
    sheet: Sheet,
    stages: int,
    steps: int,
    legend: Sequence[tuple[Ink, Text]],
    *,
    shown: int | None = None,
    given_back_in_next: bool = True,
    narrow: bool = False,
) -> Canvas:
    """Stages of shared memory that a block fills again while it uses others: a column for each of its steps.

    A cell has the tile of a stage: that of the step, one that is there or on its way, or one done with.

    As the kernels do, the stage of step i gets the tile of step i + stages during step i + 1.

    Args:
        steps: of the block, each with a tile; shown: how many of them are drawn.
        legend: the inks that are used, with their meanings.
        given_back_in_next: the stage of the step before is shown as it is given back; else with its new tile.
    """
    stage = Text("stage {number}")
    names: list[Sentence] = [stage.of(number=number) for number in range(stages)]
    canvas = sheet(0, 0)
    left = canvas.names_end([*names, Text("step")])
    full, columns = PHONE if narrow else PAGE, shown or steps
    wide, high, top = (full - 1 - left) / columns, 30, 24
    canvas.label(1, 10, Text("step"), size=Size.LABEL, quiet=True)
    for step in range(columns):
        x = left + step * wide
        canvas.label(x + wide / 2, 10, str(step), "middle", size=Size.LABEL, quiet=True)
        oldest = step - 1 if given_back_in_next else step  # a tile before it is done with
        last = min(steps, stages + max(0, oldest)) - 1
        for number in range(stages):
            tile = last - (last - number) % stages
            done = tile < oldest
            ink = Ink.PLAIN if done else Ink.RESULT if tile < step else Ink.MARK if tile == step else Ink.LIVE
            canvas.cell(x, top + number * high, wide, high, "" if done else str(tile), ink=ink)
    for number, name in enumerate(names):
        canvas.name(top + number * high + high / 2, name)
    bottom = top + stages * high + 22
    canvas.legend(1, bottom, *legend, across=1 if narrow else len(legend))
    canvas.width, canvas.height = full, round(bottom + (22 * len(legend) - 10 if narrow else 14))
    return canvas
