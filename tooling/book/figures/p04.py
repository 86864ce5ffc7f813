"""Puzzle 4: threads with two numbers, rows in a line of memory, and one memory seen through two layouts."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tooling.book.figures.canvas import PAGE, PHONE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure, responsive
from tooling.book.figures.grids import Grid, Square, draw_grids, numbered
from tooling.book.figures.traces import Trace
from tooling.text import Sentence, Text

Position = tuple[int, int]  # row and column

_OUTPUT = 0  # its index among the kernel's pointer arguments
_NUMBERS = 16  # the width of the rows' numbers at the left edge
_HEADS = 42  # the middle of the numbers of columns
_TOP = 57  # above the matrices and the frame around the threads with an element
_OFFSETS, _LIVE, _CELLS, _STOPPED = 34, 50, 114, (196, 246)
"""The middle of the numbers above a line of memory, and the upper ends of what is below them."""
_NAME_ABOVE = 18  # the height of the name of the offsets above them
_LINE_THREAD = 34  # the height of a thread next to the line
_LINE_HIGH = 44  # the height of an element in the line
_ASIDE, _NARROW_ASIDE = (-18, 18), (-8, 11)
"""How far two stopped threads with the same offset are from its middle, so that both have an arrow to it."""
_THREAD, _NARROW_THREAD = 58, 29
"""The width of a thread next to the line."""
_PLACE, _NARROW_PLACE = 77, 59  # the width of an element in memory


def draw_threads(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """`a`, the block, `output`: arrows lead to a frame around the threads with an element, and from it.

    The narrow form has `a` above the threads.
    """
    trace, size = facts.trace("p04"), facts.constant("SIZE")
    across, down, _ = trace.block
    # The size of a thread, the space between threads, which an arrow passes, and where the block begins.
    wide, high, spacing, block = (44, 38, 12, 50) if narrow else (84, 44, 18, 236)
    side = high + spacing  # of an element, so that the frame around the threads is as high as a matrix
    output = (PHONE if narrow else PAGE) - 1 - size * side
    upper = _TOP + size * side + 32 if narrow else 0  # of the threads, below an arrow
    top = upper + _TOP
    canvas = sheet(output + size * side + 1, top + down * side)
    live = _live(trace)
    columns, rows = (1 + max(position[axis] for position in live) for axis in (1, 0))
    middle = top + rows * side / 2
    written = {divmod(store.element, size): store.value for store in trace.accesses("store", _OUTPUT)}
    label_x = spacing / 2  # from the outermost framed threads to the frame
    a = facts.inputs("default")["a"].reshape(size, size)
    given = {(row, col): float(a[row, col]) for row in range(size) for col in range(size)}
    frame = columns * (wide + spacing)  # the width of the frame
    if narrow:
        left = block - label_x + (frame - size * side) / 2
        _matrix(canvas, (left, 0), side, "a", given, Ink.PLAIN)
        between = left + size * side / 2
        canvas.arrow(between, _TOP + size * side + 5, between, upper)
    else:
        _matrix(canvas, (_NUMBERS, 0), side, "a", given, Ink.PLAIN)
        canvas.arrow(_NUMBERS + size * side + 6, middle, block - label_x - 3, middle)
    _matrix(canvas, (output, upper), side, "output", written, Ink.RESULT)
    canvas.arrow(block - label_x + frame + 3, middle, output - 6, middle)  # between the rows of idle threads
    canvas.frame(block - label_x, top, frame, rows * side, ink=Ink.LIVE)
    canvas.label(block - label_x, upper + 14, Text("threads"), bold=True)
    for col in range(across):
        x = block + col * (wide + spacing)
        canvas.label(x + wide / 2, upper + _HEADS, f"*x* = {col}", "middle", size=Size.LABEL, quiet=True)
        for row in range(down):
            ink = Ink.LIVE if (row, col) in live else Ink.SPARE
            position = f"({col},{'' if narrow else ' '}{row})"
            canvas.cell(x, top + row * side + label_x, wide, high, position, ink=ink, size=Size.LABEL)
    for row in range(down):
        y = top + (row + 0.5) * side
        canvas.label(block - label_x - 8, y, f"*y* = {row}", "end", size=Size.LABEL, quiet=True)
    return canvas


def _matrix(  # noqa: PLR0917 - its parts
    canvas: Canvas,
    corner: tuple[float, float],
    side: int,
    name: str,
    elements: dict[Position, float],
    ink: Ink,
) -> None:
    """A square of elements, with its name above the first, its columns' and its rows' numbers."""
    size = 1 + max(row for row, _ in elements)
    left, upper = corner
    top = upper + _TOP
    canvas.label(left, upper + 14, name, bold=True, mono=True)
    for index in range(size):
        label_x = (index + 0.5) * side
        canvas.label(left + label_x, upper + _HEADS, str(index), "middle", size=Size.LABEL, quiet=True)
        canvas.label(left - 12, top + label_x, str(index), "middle", size=Size.LABEL, quiet=True)
    for (row, col), value in elements.items():
        canvas.cell(left + col * side, top + row * side, side, side, number(value), ink=ink)


def _live(trace: Trace) -> set[Position]:
    """Row and column of the threads that wrote."""
    across = trace.block[0]
    return {divmod(store.thread, across) for store in trace.accesses("store", _OUTPUT)}


def draw_line(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The matrix in memory, above it the threads with an element, below it the stopped ones.

    Each thread is at its offset, and an arrow leads to the element there. The stopped ones of the last column
    are above those of the last row; two with the same offset are a little aside, so that both have an arrow.
    One whose offset is inside the matrix is marked: it is the one that would write the element of another.
    """
    trace, size = facts.trace("p04"), facts.constant("SIZE")
    across, down, _ = trace.block
    results = facts.expected("default")
    values, guard = results["out"].reshape(-1), len(results["guard"])
    left, wide = (1, (PHONE - 2) // (len(values) + guard)) if narrow else (81, 81)
    lower = _NAME_ABOVE if narrow else 0  # the name of the offsets is above them
    offsets, alive, line, *stops = (level + lower for level in (_OFFSETS, _LIVE, _CELLS, *_STOPPED))
    canvas = sheet(left + (len(values) + guard) * wide + 1, stops[-1] + _LINE_THREAD + 2)
    middle = _LINE_THREAD / 2

    def centre(index: int) -> float:
        return left + (index + 0.5) * wide

    if narrow:
        label_x = left + len(values) * wide + 6
        canvas.label(1, _OFFSETS, Text("offset"), size=Size.SMALL, quiet=True)
        canvas.label(label_x, alive + middle, Text("threads: *x*, *y*"), size=Size.LABEL, quiet=True)
        # Below its elements, since arrows lead to them from above.
        canvas.label(1, line + _LINE_HIGH + 13, "output", size=Size.SMALL, mono=True)
    else:
        canvas.label(1, offsets, Text("offset"), size=Size.LABEL, quiet=True)
        canvas.name(alive + middle, Text("threads"), Text("(*x*, *y*)"))
        canvas.name(line + _LINE_HIGH / 2, "output")
    for row in range(size):
        _span(canvas, left + row * size * wide, size * wide, Text("row {row}").of(row=row))
    _span(canvas, left + len(values) * wide, guard * wide, Text("after the matrix"))
    for index in range(len(values) + guard):
        inside = index < len(values)
        text, ink = (number(values[index]), Ink.RESULT) if inside else ("", Ink.SPARE)
        canvas.label(centre(index), offsets, str(index), "middle", size=Size.LABEL, quiet=True)
        canvas.cell(left + index * wide, line, wide, _LINE_HIGH, text, ink=ink)
    live = _live(trace)
    stopped: dict[Position, int] = {}
    for row in range(down):
        for col in range(across):
            offset = row * size + col
            if (row, col) in live:
                _thread(canvas, centre(offset), alive, (row, col), Ink.LIVE, narrow=narrow)
                start, end = alive + _LINE_THREAD + 4, line - 4
                canvas.arrow(centre(offset), start, centre(offset), end)
            else:
                stopped[row, col] = offset
    for top, axis in zip(stops, "xy", strict=True):
        canvas.label(1, top + middle - 10, Text("stopped"))
        canvas.label(1, top + middle + 10, f"*{axis}* = {size}", size=Size.LABEL, quiet=True)
    offsets_of = list(stopped.values())
    for (row, col), offset in stopped.items():
        marked, below = offset < len(values), row >= size
        ink = Ink.MARK if marked else Ink.SPARE
        top = stops[below]
        shared = offsets_of.count(offset) > 1
        x = centre(offset) + ((_NARROW_ASIDE if narrow else _ASIDE)[below] if shared else 0)
        _thread(canvas, x, top, (row, col), ink, narrow=narrow)
        canvas.arrow(x, top - 3, x, line + _LINE_HIGH + 4, marked=marked, dashed=True)
    return canvas


def _thread(canvas: Canvas, middle: float, top: float, position: Position, ink: Ink, *, narrow: bool) -> None:
    """A thread next to the line of memory, as x and y."""
    row, col = position
    wide, name = (_NARROW_THREAD, f"{col},{row}") if narrow else (_THREAD, f"({col}, {row})")
    canvas.cell(middle - wide / 2, top, wide, _LINE_THREAD, name, ink=ink, size=Size.LABEL)


def _span(canvas: Canvas, x: float, width: float, name: Sentence) -> None:
    """What some neighbouring elements are together, above them."""
    canvas.label(x + width / 2, 8, name, "middle", size=Size.LABEL)
    canvas.arrow(x + 5, 19, x + width - 5, 19, head=False)


def draw_layouts(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Two layouts of the same six cells, as the demonstration next to the page has printed them."""
    printed = dict(line.split(": ", 1) for line in facts.demo("layouts"))
    views = (
        (Text("row-major"), json.loads(printed["by rows"])),
        (Text("column-major"), json.loads(printed["by columns"])),
    )
    block = 248 if narrow else 158
    wide = _NARROW_PLACE if narrow else _PLACE
    height, width = len(views[0][1]), len(views[0][1][0])
    line = 1 if narrow else PAGE - 1 - height * width * wide
    canvas = sheet(line + height * width * wide + 1, len(views) * block - 8)
    for index, (name, offsets) in enumerate(views):
        _view(canvas, index * block, name, offsets, line, narrow=narrow)
    return canvas


def _view(
    canvas: Canvas, top: float, name: Text, offsets: Sequence[Sequence[float]], line: float, *, narrow: bool
) -> None:
    """A matrix of places, and the memory in which each cell says which element lies in it."""
    wide, side = _NARROW_PLACE if narrow else _PLACE, 40
    height, width = len(offsets), len(offsets[0])
    left = line + height * width * wide / 2 - width * side / 2 if narrow else 28
    canvas.label(1, top + 14, name, bold=True)
    inks = (Ink.MARK, Ink.PLAIN)
    for col in range(width):
        x = left + col * side + side / 2
        canvas.label(x, top + 38, str(col), "middle", size=Size.LABEL, quiet=True)
    cells = top + (156 if narrow else 72)
    above = top + 50
    for row in range(height):
        canvas.label(
            left - 12, above + row * side + side / 2, str(row), "middle", size=Size.LABEL, quiet=True
        )
        for col in range(width):
            index = int(offsets[row][col])
            ink = inks[row]
            canvas.cell(left + col * side, above + row * side, side, side, str(index), ink=ink)
            x = line + index * wide
            size = Size.LABEL if narrow else Size.VALUE
            canvas.cell(x, cells, wide, side, f"[{row}, {col}]", ink=ink, size=size)
            canvas.label(x + wide / 2, cells + side + 14, str(index), "middle", size=Size.LABEL, quiet=True)
    canvas.label(line, cells - 16, Text("in memory"), size=Size.LABEL, quiet=True)
    if narrow:
        middle = line + height * width * wide / 2
        canvas.arrow(middle, above + height * side + 4, middle, cells - 4)
    else:
        y = cells + side / 2
        canvas.arrow(left + width * side + 10, y, line - 10, y)
        canvas.label(line - 12, cells + side + 14, Text("offset"), "end", size=Size.LABEL, quiet=True)


def draw_offsets(facts: Facts, sheet: Sheet) -> Canvas:
    """The offset that the layout computes for each thread, with an element or without."""
    across, down, _ = facts.trace("p04").block
    size = facts.constant("SIZE", "p04_tile_tensor")

    def square(row: int, col: int) -> Square:
        offset = row * size + col
        inside = row < size and col < size
        return Square(str(offset), Ink.LIVE if inside else Ink.SPARE if offset < size * size else Ink.WRONG)

    rows = [[square(row, col) for col in range(across)] for row in range(down)]
    return draw_grids(sheet, [Grid("[row, col]", rows, numbered(across), numbered(down))], side=76)


def draw_exchanged(facts: Facts, sheet: Sheet) -> Canvas:
    """The element that each thread reads with the right formula, and with row and column exchanged."""
    size = facts.constant("SIZE")
    positions = [[(row, col) for col in range(size)] for row in range(size)]
    right = {(row, col): row * size + col for line in positions for row, col in line}
    wrong = {(row, col): col * size + row for line in positions for row, col in line}
    grids = [
        Grid(
            title,
            [
                [Square(str(read[at]), Ink.LIVE if read[at] == right[at] else Ink.WRONG) for at in line]
                for line in positions
            ],
            numbered(size),
            numbered(size),
        )
        for title, read in (("row * width + col", right), ("col * width + row", wrong))
    ]
    return draw_grids(sheet, grids, side=72, per_line=2, spacing=20)


FIGURES = (
    responsive("p04", draw_threads, traces=("p04",)),
    responsive("p04-line", draw_line, traces=("p04",)),
    responsive("p04-layouts", draw_layouts),
    Figure("p04-offsets", draw_offsets, traces=("p04",)),
    Figure("p04-exchanged", draw_exchanged),
)
