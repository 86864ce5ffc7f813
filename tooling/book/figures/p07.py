"""Puzzle 7: blocks side by side and one below the other, and where a row of memory ends."""

from __future__ import annotations

from tooling.book.figures.canvas import PAGE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure, responsive
from tooling.book.figures.grids import Grid, Square, draw_grids
from tooling.text import Sentence, Text

_A = 1  # its index among the kernel's pointer arguments
_LEFT, _TOP = 50, 44  # room for the names of rows and columns
_PAD = 6  # between a block's frame and its threads
_TITLE = 30  # above a block
# Block and thread as (x, y). With x and y exchanged anywhere, this thread would be drawn at another position.
_EXAMPLE = ((1, 0), (1, 2))
_EXAMPLE_HIGH, _LEGEND_HIGH = 84, 56
_NEXT_TO_SWATCH = 30  # from the left edge of a colour to its meaning


def draw_blocks(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The grid's threads in their blocks, each with the element that it read, or with none."""
    trace = facts.trace("p07")
    (columns, rows), (wide, high) = trace.grid[:2], trace.block[:2]
    cell, along, gap, least = (42, 46, 8, 0) if narrow else (46, 62, 16, PAGE)
    stride_x, stride_y = wide * along + 2 * _PAD + gap, high * cell + 2 * _PAD + _TITLE
    right, bottom = _LEFT + columns * stride_x - gap, _TOP + rows * stride_y
    below = _EXAMPLE_HIGH + _LEGEND_HIGH + 30 if narrow else 0
    canvas = sheet(max(right + 4, least), bottom + 6 + below)
    read = {(load.block, load.thread): load.element for load in trace.accesses("load", _A)}
    a = facts.inputs("default")["a"].reshape(-1)

    def start(block: int, thread: int, axis: int) -> float:
        stride, first = (stride_x, _LEFT + _PAD) if axis == 0 else (stride_y, _TOP + _TITLE + _PAD)
        return first + block * stride + thread * (along if axis == 0 else cell)

    for block in range(columns):
        for thread in range(wide):
            middle = start(block, thread, 0) + along / 2
            canvas.label(middle, 12, f"col {block * wide + thread}", "middle", size=Size.LABEL)
            canvas.label(middle, 30, f"*x* = {thread}", "middle", size=Size.LABEL, quiet=True)
    for block in range(rows):
        for thread in range(high):
            middle = start(block, thread, 1) + cell / 2
            canvas.label(1, middle - 9, f"row {block * high + thread}", size=Size.LABEL)
            canvas.label(1, middle + 9, f"*y* = {thread}", size=Size.LABEL, quiet=True)
    for y in range(rows):
        for x in range(columns):
            left, top = start(x, 0, 0) - _PAD, start(y, 0, 1) - _PAD
            name = Text("block ({x}, {y})").of(x=x, y=y)
            canvas.label(left + 4, top - 11, name, size=Size.VALUE, bold=True)
            canvas.frame(left, top, wide * along + 2 * _PAD, high * cell + 2 * _PAD)
            for thread in range(wide * high):
                across, down = thread % wide, thread // wide
                element = read.get((y * columns + x, thread))
                ink = Ink.SPARE if element is None else Ink.LIVE
                if ((x, y), (across, down)) == _EXAMPLE:
                    ink = Ink.MARK
                canvas.cell(
                    start(x, across, 0) + 1,
                    start(y, down, 1) + 1,
                    along - 2,
                    cell - 2,
                    "" if element is None else number(a[element]),
                    ink=ink,
                )
    threads = columns * rows * wide * high
    key = (
        (Ink.LIVE, Text("{busy} threads with an element").of(busy=len(read))),
        (Ink.SPARE, Text("{spare} threads without one").of(spare=threads - len(read))),
    )
    example, formulas = _example(wide, high)
    longest = max(
        canvas.length(example, Size.VALUE),
        *(canvas.length(formula, Size.VALUE, mono=True) for formula in formulas),
        *(canvas.length(text, Size.VALUE) for _, text in key),
    )
    left = 1 if narrow else PAGE - 1 - _NEXT_TO_SWATCH - longest
    upper = bottom + 18 if narrow else _TOP + _TITLE + 4
    canvas.cell(left, upper, 20, 20, ink=Ink.MARK)
    canvas.label(left + _NEXT_TO_SWATCH, upper + 10, example, bold=True)
    for line, formula in enumerate(formulas):
        canvas.label(left + _NEXT_TO_SWATCH, upper + 38 + line * 24, formula, mono=True)
    for line, (ink, text) in enumerate(key):
        top = upper + _EXAMPLE_HIGH + 14 + line * 30
        canvas.cell(left, top, 20, 20, ink=ink)
        canvas.label(left + _NEXT_TO_SWATCH, top + 10, text)
    return canvas


def _example(wide: int, high: int) -> tuple[Sentence, tuple[str, str]]:
    """The name of one thread, and how it gets from its numbers to its place."""
    (block_x, block_y), (thread_x, thread_y) = _EXAMPLE
    row, column = high * block_y + thread_y, wide * block_x + thread_x
    name = Text("block {block}, thread {thread}").of(
        block=f"({block_x}, {block_y})", thread=f"({thread_x}, {thread_y})"
    )
    return name, (
        f"row = {high} · {block_y} + {thread_y} = {row}",
        f"col = {wide} · {block_x} + {thread_x} = {column}",
    )


def draw_line(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Where the threads of two neighbouring rows land in memory when the column is not guarded."""
    size = facts.constant("SIZE")
    trace = facts.trace("p07")
    threads = trace.grid[0] * trace.block[0]
    upper, lower = 1, 2
    first, last = upper * size, lower * size + threads - 1
    cell, left, high, gap = (32, 1, 34, 3) if narrow else (64, 1, 38, 12)  # the gap is between rows
    tops = (32, 32 + high + 44, 32 + 2 * high + 88)

    def start(element: int) -> float:
        return left + (element - first) * cell + (element // size - upper) * gap

    right = start(last) + cell
    canvas = sheet(round(right) + 8, tops[2] + high + 32)

    def draw_threads(row: int, top: float, target: float) -> None:
        for column in range(threads):
            x = start(row * size + column)
            ink = Ink.LIVE if column < size else Ink.SPARE
            canvas.cell(x, top, cell, high, str(column), ink=ink)
            below = target > top
            canvas.arrow(x + cell / 2, top + (high + 3 if below else -3), x + cell / 2, target)

    upper_name, lower_name = (
        Text("threads with `row = {row}`, and their `col`").of(row=row) for row in (upper, lower)
    )
    canvas.label(1, 14, upper_name, bold=True)
    draw_threads(upper, tops[0], tops[1] - 4)
    for element in range(first, last + 1):
        shared = element % size == 0 and element > first
        ink = Ink.WRONG if shared else Ink.PLAIN
        canvas.cell(start(element), tops[1], cell, high, str(element), ink=ink)
    for row in (upper, lower):
        middle = (start(row * size) + start(row * size + size - 1) + cell) / 2
        side = tops[1] + high + 14 if row == upper else tops[1] - 14  # where no arrows are
        canvas.label(middle, side, Text("row {row}").of(row=row), "middle", size=Size.LABEL, quiet=True)
    draw_threads(lower, tops[2], tops[1] + high + 4)
    canvas.label(right - 1, tops[2] + high + 18, lower_name, "end", bold=True)
    return canvas


def draw_offsets(facts: Facts, sheet: Sheet) -> Canvas:
    """The thread that writes each element if a row is taken to be as long as the grid is wide."""
    size = facts.constant("SIZE")
    trace = facts.trace("p07")
    width = trace.grid[0] * trace.block[0]
    writers = {row * width + col: f"{row}, {col}" for row in range(size) for col in range(size)}
    rows = [
        [
            Square(writers.get(offset, ""), Ink.LIVE if offset in writers else Ink.WRONG, (), str(offset))
            for offset in range(first, first + size)
        ]
        for first in range(0, size * size, size)
    ]
    return draw_grids(sheet, [Grid(f"row * {width} + col", rows, below=Text("offset"))], side=58)


FIGURES = (
    responsive("p07", draw_blocks, traces=("p07",)),
    responsive("p07-line", draw_line, traces=("p07",)),
    Figure("p07-offsets", draw_offsets, traces=("p07",)),
)
