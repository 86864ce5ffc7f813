"""Puzzle 44: the pieces of a swizzled tile, the sums of a lane, and the stages of a loop over tiles."""

from __future__ import annotations

from tooling.book.figures.canvas import PAGE, PHONE, SMALL, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import responsive
from tooling.book.figures.grids import stages_by_step
from tooling.text import Text

_ROWS = 8
_FOLLOWED = 2  # a piece, marked in every row
_LANE = 5


def draw_pieces(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The pieces of eight rows of a tile, in their order and swizzled."""
    pieces = facts.constant("DEPTH") // facts.constant("PIECE")
    canvas = sheet(0, 0)
    left, high, top = 20, 28, 62
    gap = 0 if narrow else 40
    wide = ((PHONE if narrow else PAGE) - 1 - left - gap) / (pieces * (1 if narrow else 2))
    below = top + _ROWS * high + 20
    for number, (title, swizzled) in enumerate(((Text("in their order"), 0), (Text("swizzled"), 1))):
        x = left + (0 if narrow else number * (pieces * wide + gap))
        y = number * below if narrow else 0
        canvas.label(x + pieces * wide / 2, y + 11, title, "middle", size=Size.LABEL, bold=True)
        for column in range(pieces):
            bank = str(4 * column)
            canvas.label(x + (column + 0.5) * wide, y + 49, bank, "middle", size=Size.SMALL, quiet=True)
        canvas.label(x, y + 32, Text("first bank"), size=Size.SMALL, quiet=True)
        for row in range(_ROWS):
            if narrow or not number:
                canvas.label(1, y + top + (row + 0.5) * high, str(row), size=Size.SMALL, quiet=True)
            for column in range(pieces):
                piece = column ^ row if swizzled else column
                ink = Ink.MARK if piece == _FOLLOWED else Ink.LIVE
                canvas.cell(x + column * wide, y + top + row * high, wide, high, str(piece), ink=ink)
    canvas.width = PHONE if narrow else PAGE
    canvas.height = round((below if narrow else 0) + top + _ROWS * high + 2)
    return canvas


def draw_sums(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The lanes that hold the first 16 rows and eight columns of the sums."""
    canvas = sheet(0, 0)
    left, high, top = 34, 28, 24
    wide = ((PHONE if narrow else SMALL) - 1 - left) / 4
    for pair in range(4):
        x = left + pair * wide
        canvas.label(x + wide / 2, 11, f"{2 * pair}, {2 * pair + 1}", "middle", size=Size.SMALL, quiet=True)
    for row in range(2 * _ROWS):
        canvas.label(left - 8, top + (row + 0.5) * high, str(row), "end", size=Size.SMALL, quiet=True)
        for pair in range(4):
            lane = row % _ROWS * 4 + pair
            ink = Ink.MARK if lane == _LANE else Ink.LIVE
            canvas.cell(left + pair * wide, top + row * high, wide, high, str(lane), ink=ink)
    canvas.width, canvas.height = PHONE if narrow else SMALL, top + 2 * _ROWS * high + 2
    return canvas


def draw_loop(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """A column for each step: the tiles in the stages at its end, and the products in flight."""
    steps = -(-facts.constant("INNER") // facts.constant("DEPTH"))
    legend = (
        (Ink.MARK, Text("its products are in flight")),
        (Ink.LIVE, Text("on its way or arrived")),
    )
    stages = facts.constant("STAGES")
    return stages_by_step(sheet, stages, steps, legend, given_back_in_next=False, narrow=narrow)


FIGURES = (
    responsive("p44", draw_pieces),
    responsive("p44-sums", draw_sums),
    responsive("p44-loop", draw_loop),
)
