"""Puzzle 7: blocks side by side and one below the other, and where a row of memory ends."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tooling.book.figures.canvas import Canvas, Ink
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure
from tooling.catalog.model import Text

Sheet = Callable[[int, int], Canvas]
_A = 1  # its place among the kernel's pointers
_LEFT, _TOP = 50, 44  # room for the names of rows and columns
_PAD = 6  # between a block's frame and its threads
_TITLE = 24  # above a block
# Block and thread as (x, y). With x and y exchanged anywhere, this thread would stand somewhere else.
_EXAMPLE = ((1, 0), (1, 2))
_EXAMPLE_HIGH, _LEGEND_HIGH = 84, 56


def draw_blocks(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The grid's threads in their blocks, each with the element that it read, or with none."""
    trace = facts.trace("p07")
    (columns, rows), (wide, high) = trace.grid[:2], trace.block[:2]
    cell, gap, beside = (39, 8, 0) if narrow else (44, 14, 290)
    stride_x, stride_y = wide * cell + 2 * _PAD + gap, high * cell + 2 * _PAD + _TITLE
    right, bottom = _LEFT + columns * stride_x - gap, _TOP + rows * stride_y
    below = _EXAMPLE_HIGH + _LEGEND_HIGH + 30 if narrow else 0
    canvas = sheet(right + 4 + beside, bottom + 6 + below)
    read = {(load.block, load.thread): load.element for load in trace.accesses("load", _A)}
    a = facts.inputs("default")["a"].reshape(-1)

    def place(block: int, thread: int, axis: int) -> float:
        stride, first = (stride_x, _LEFT + _PAD) if axis == 0 else (stride_y, _TOP + _TITLE + _PAD)
        return first + block * stride + thread * cell

    for block in range(columns):
        for thread in range(wide):
            middle = place(block, thread, 0) + cell / 2
            canvas.label(middle, 12, f"col {block * wide + thread}", "middle", size=12)
            canvas.label(middle, 30, f"x = {thread}", "middle", size=12, quiet=True)
    for block in range(rows):
        for thread in range(high):
            middle = place(block, thread, 1) + cell / 2
            canvas.label(_LEFT - 10, middle - 8, f"row {block * high + thread}", "end", size=12)
            canvas.label(_LEFT - 10, middle + 9, f"y = {thread}", "end", size=12, quiet=True)
    for y in range(rows):
        for x in range(columns):
            left, top = place(x, 0, 0) - _PAD, place(y, 0, 1) - _PAD
            name = Text(f"block ({x}, {y})", f"블록 ({x}, {y})")
            canvas.label(left + 4, top - 11, name, size=13, bold=True)
            canvas.frame(left, top, wide * cell + 2 * _PAD, high * cell + 2 * _PAD)
            for thread in range(wide * high):
                across, down = thread % wide, thread // wide
                element = read.get((y * columns + x, thread))
                ink = Ink.SPARE if element is None else Ink.LIVE
                if ((x, y), (across, down)) == _EXAMPLE:
                    ink = Ink.RESULT
                canvas.cell(
                    place(x, across, 0) + 1,
                    place(y, down, 1) + 1,
                    cell - 2,
                    cell - 2,
                    "" if element is None else number(a[element]),
                    ink=ink,
                )
    threads = columns * rows * wide * high
    beside_x, beside_y = (8, bottom + 22) if narrow else (right + 32, _TOP + _TITLE + 4)
    _draw_example(canvas, beside_x, beside_y, wide, high)
    _draw_legend(canvas, beside_x, beside_y + _EXAMPLE_HIGH + 14, len(read), threads - len(read))
    return canvas


def _draw_example(canvas: Canvas, x: float, y: float, wide: int, high: int) -> None:
    """How one thread gets from its numbers to its place."""
    (block_x, block_y), (thread_x, thread_y) = _EXAMPLE
    block, thread = f"({block_x}, {block_y})", f"({thread_x}, {thread_y})"
    canvas.cell(x, y, 20, 20, ink=Ink.RESULT)
    name = Text(f"block {block}, thread {thread}", f"블록 {block}의 스레드 {thread}")
    canvas.label(x + 30, y + 10, name, bold=True)
    row, column = high * block_y + thread_y, wide * block_x + thread_x
    canvas.label(x + 30, y + 38, f"row = {high} · {block_y} + {thread_y} = {row}", mono=True, size=13)
    canvas.label(x + 30, y + 60, f"col = {wide} · {block_x} + {thread_x} = {column}", mono=True, size=13)


def _draw_legend(canvas: Canvas, x: float, y: float, busy: int, spare: int) -> None:
    words = (
        (Ink.LIVE, Text(f"{busy} threads with an element", f"원소가 있는 스레드 {busy}개")),
        (Ink.SPARE, Text(f"{spare} threads without one", f"원소가 없는 스레드 {spare}개")),
    )
    for index, (ink, text) in enumerate(words):
        top = y + index * 28
        canvas.cell(x, top, 20, 20, ink=ink)
        canvas.label(x + 30, top + 10, text)


def draw_line(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Where the threads of two neighbouring rows land in memory when nobody guards the column."""
    size = facts.constant("SIZE")
    trace = facts.trace("p07")
    threads = trace.grid[0] * trace.block[0]
    upper, lower = 1, 2
    first, last = upper * size, lower * size + threads - 1
    cell, left, high, gap = (27, 4, 30, 5) if narrow else (44, 6, 36, 8)  # the gap is between rows
    tops = (32, 32 + high + 44, 32 + 2 * high + 88)

    def start(element: int) -> float:
        return left + (element - first) * cell + (element // size - upper) * gap

    right = start(last) + cell
    canvas = sheet(round(right) + 8, tops[2] + high + 32)

    def draw_threads(row: int, top: float, target: float) -> None:
        for column in range(threads):
            x = start(row * size + column)
            ink = Ink.LIVE if column < size else Ink.SPARE
            canvas.cell(x + 2, top, cell - 4, high, str(column), ink=ink)
            below = target > top
            canvas.arrow(x + cell / 2, top + (high + 3 if below else -3), x + cell / 2, target)

    upper_name, lower_name = (
        Text(f"threads with row = {row}, and their col", f"row = {row}인 스레드와 그 col")
        for row in (upper, lower)
    )
    canvas.label(left + 2, 14, upper_name, size=13, bold=True)
    draw_threads(upper, tops[0], tops[1] - 4)
    for element in range(first, last + 1):
        shared = element % size == 0 and element > first
        ink = Ink.RESULT if shared else Ink.PLAIN
        canvas.cell(start(element), tops[1], cell, high, str(element), ink=ink)
    for row in (upper, lower):
        middle = (start(row * size) + start(row * size + size - 1) + cell) / 2
        side = tops[1] + high + 14 if row == upper else tops[1] - 14  # where no arrows are
        canvas.label(middle, side, Text(f"row {row}", f"{row}행"), "middle", size=12, quiet=True)
    draw_threads(lower, tops[2], tops[1] + high + 4)
    canvas.label(right - 2, tops[2] + high + 18, lower_name, "end", size=13, bold=True)
    return canvas


FIGURES = (
    Figure(
        "p07",
        Text(
            "Four blocks of 3 × 3 threads over a matrix of 5 × 5. Each thread stands on its element, "
            "and x and y are its thread_idx. On the right and below, threads stick out.",
            "3 × 3 스레드의 블록 네 개가 5 × 5 행렬을 덮습니다. 스레드마다 제 원소 위에 서 있고, x와 "
            "y는 thread_idx입니다. 오른쪽과 아래로 스레드가 삐져나옵니다.",
        ),
        Text(
            "Four frames in two rows of two, each with 3 by 3 threads: blocks (0, 0) and (1, 0) "
            "above, (0, 1) and (1, 1) below. Inside a block x and y run from 0 to 2, over all blocks "
            "col and row run from 0 to 5. The threads with row and col from 0 to 4 carry the elements "
            "0 to 24, row by row. The 11 threads of row 5 and column 5 are empty. Thread (1, 2) of "
            "block (1, 0) is marked: row = 3 · 0 + 2 = 2, col = 3 · 1 + 1 = 4, and its element is 14.",
            "틀 네 개가 두 줄에 두 개씩 놓여 있고 틀마다 3 × 3 스레드가 있습니다. 위는 블록 (0, 0)과 "
            "(1, 0), 아래는 (0, 1)과 (1, 1)입니다. 블록 안에서 x와 y는 0에서 2까지, 블록 전체에서 "
            "col과 row는 0에서 5까지입니다. row와 col이 0에서 4까지인 스레드에는 원소 0에서 24까지 "
            "행을 따라 들어 있습니다. 5행과 5열의 스레드 11개는 비어 있습니다. 블록 (1, 0)의 스레드 "
            "(1, 2)가 표시되어 있습니다. row = 3 · 0 + 2 = 2, col = 3 · 1 + 1 = 4이고 원소는 14입니다.",
        ),
        draw_blocks,
        traces=("p07",),
        narrow=partial(draw_blocks, narrow=True),
    ),
    Figure(
        "p07-line",
        Text(
            "Elements 5 to 15 in memory, in the middle. Without a guard for the column, the thread "
            "with col = 5 of a row uses the first element of the next row (marked), which has a "
            "thread of its own.",
            "가운데는 메모리에 놓인 원소 5에서 15까지입니다. 열을 막는 가드가 없으면 한 행의 col = "
            "5인 스레드가 다음 행의 첫 원소(표시된 칸)를 건드립니다. 그 원소를 맡은 스레드는 따로 있습니다.",
        ),
        Text(
            "A strip of elements 5 to 15. Elements 5 to 9 are row 1, elements 10 to 14 row 2. From "
            "above come the six threads with row = 1: columns 0 to 4 point to elements 5 to 9, and "
            "column 5 points to element 10. From below come the six threads with row = 2: column 0 "
            "points to element 10 as well, and column 5 to element 15. Elements 10 and 15 are marked.",
            "원소 5에서 15까지 이어진 띠. 원소 5에서 9까지가 1행, 10에서 14까지가 2행입니다. 위에서 "
            "row = 1인 스레드 여섯 개가 내려옵니다. 0열에서 4열까지는 원소 5에서 9까지를, 5열은 원소 "
            "10을 가리킵니다. 아래에서 row = 2인 스레드 여섯 개가 올라옵니다. 0열도 원소 10을 "
            "가리키고, 5열은 원소 15를 가리킵니다. 원소 10과 15가 표시되어 있습니다.",
        ),
        draw_line,
        traces=("p07",),
        narrow=partial(draw_line, narrow=True),
    ),
)
