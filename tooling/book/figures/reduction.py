"""A tree reduction in shared memory, drawn from a recorded trace."""

from __future__ import annotations

from collections.abc import Sequence

from tooling.book.figures.canvas import PAGE, Canvas, Ink, Size
from tooling.book.figures.facts import number
from tooling.book.figures.traces import SHARED, Move, Trace, shared_moves
from tooling.text import Sentence, Text

CELL = 36  # the height of a cell
NARROW_CELL = 40  # its width
_SPACING = 52  # from a row to the next one on a narrow screen
_AFTER = Text("after stride {move}")


def draw_reduction(
    canvas: Canvas,
    corner: tuple[float, float],
    wide: float,
    trace: Trace,
    *,
    first: Text,
    block: int = 0,
    narrow: bool = False,
) -> float:
    """Draws the cells after each barrier that follows a change, with arrows for what was read and added.

    Cells that a step did not write are pale. So are cells of the first row that belong to threads which read
    nothing from global memory.

    Args:
        canvas: the picture.
        corner: the upper left one of the first cell.
        wide: the width of a cell.
        trace: of the solution.
        first: the label of the first row.
        block: which block's shared memory is shown.
        narrow: labels above the ends of the rows instead of to the left of them.

    Returns:
        The lower end of the last row.
    """
    x, y = corner
    moves = shared_moves(trace, block)
    loaded = {
        thread
        for event in trace.of_block(block)
        if event.action == "load" and event.buffer != SHARED
        for thread in event.threads
    }
    top = y
    for index, move in enumerate(moves):
        gap = 0
        if index:
            gap = _SPACING if narrow else curves_high(stride(move))
            top += CELL + gap
        label = _AFTER.of(move=stride(move)) if index else first
        if narrow:
            canvas.label(x + len(move.cells) * wide, top - 11, label, "end", size=Size.LABEL, quiet=True)
        else:
            canvas.name(top + CELL / 2, label)
        for cell, value in enumerate(move.cells):
            if index == 0:
                ink = Ink.LIVE if cell in loaded else Ink.SPARE
            elif cell not in move.written:
                ink = Ink.SPARE
            else:
                ink = Ink.RESULT if len(move.written) == 1 else Ink.LIVE
            canvas.cell(x + cell * wide, top, wide, CELL, "" if value is None else number(value), ink=ink)
        for thread, cells in move.read.items() if index else ():
            for cell in cells:
                to = x + (thread + 0.5) * wide
                start = x + (cell + 0.5) * wide
                canvas.curve(start, top - gap + 2, to + (0.28 * wide if cell != thread else 0), top - 3)
    return top + CELL


def beside_reduction(canvas: Canvas, first: Text, threads: int) -> tuple[int, int]:
    """Where the cells begin next to the labels of `draw_reduction`, and their width: they fill the text."""
    return beside_cells(canvas, (first, _AFTER.of(move=1)), threads)


def beside_cells(canvas: Canvas, names: Sequence[Sentence], cells: int) -> tuple[int, int]:
    """Where cells that fill the text begin next to the names of their rows, and their width."""
    wide = (PAGE - 1 - canvas.names_end(names)) // cells
    return PAGE - 1 - cells * wide, wide


def curves_high(distance: int) -> int:
    """The space between two rows of cells for arrows to another thread: the further, the more."""
    return 32 + 14 * distance


def stride(move: Move) -> int:
    """The distance between a thread's cell and the cell that it adds."""
    return max(max(cells) - thread for thread, cells in move.read.items())
