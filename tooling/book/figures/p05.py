"""Puzzle 5: a row and a column, and the block of threads that adds them into a square."""

from __future__ import annotations

import math
import re

from tooling.book.figures.canvas import GAP, PAGE, PHONE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive
from tooling.book.figures.grids import Grid, Square, draw_grids, numbered
from tooling.book.figures.traces import Trace
from tooling.text import Text

_OUTPUT, _A, _B = 0, 1, 2  # indices of the kernel's pointer arguments
_HIGH = 40
_MARKED = (1, 0)  # row and column of the thread whose elements are marked
_THREAD, _ARROW = 32, 30  # the height of a thread above an element, and the space between them
_REST = 30 + _ARROW + _HIGH + 24  # of a buffer: its name, the arrows, the elements and the offsets
_NEXT_TO = 15  # from the left edge with the names of rows to the cells, without the names


def draw_square(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """`a` above the threads, `b` next to them, and the square that they write."""
    trace = facts.trace("p05")
    data = facts.inputs("default")
    a, b = data["a"].tolist(), data["b"].tolist()
    columns, rows = trace.block[:2]
    wide, gap, b_width, side = (74, 17, 38, 50) if narrow else (100, 26, 56, 58)
    round_a, round_b = (6, 4) if narrow else (9, 6)  # from an element and its readers to the outline
    start, above = 1 + round_b, 1 + round_a  # of b, of a
    left, top = start + b_width + (42 if narrow else 60), 104  # of the first thread
    right, bottom = left + columns * (wide + gap) - gap, top + rows * (_HIGH + gap) - gap
    out_left, out_top = (left, bottom + 74) if narrow else (PAGE + 3 - len(a) * side, top)
    step = (
        side if narrow else _HIGH + gap
    )  # from a row of the output to the next; next to the threads, theirs
    out_right, out_bottom = out_left + len(a) * side, out_top + len(b) * step
    canvas = sheet(max(right + (16 if narrow else 0), out_right) + 8, max(bottom + 50, out_bottom + 8))

    def x(column: int) -> int:
        return left + column * (wide + gap)

    def y(row: int) -> int:
        return top + row * (_HIGH + gap)

    for column in range(columns):
        name = Text("column {column}").of(column=column)
        canvas.label(x(column) + wide / 2, bottom + 30, name, "middle", size=Size.LABEL, quiet=True)
    canvas.label(x(0) - 20, above + _HIGH / 2, "a", "end", mono=True, bold=True)
    canvas.label(start + b_width / 2, y(0) - 20, "b", "middle", mono=True, bold=True)
    # Bands, since arrows from thread to thread would suggest that one passes the element to the next.
    for column in range(len(a)):
        last = y(max(thread // columns for thread in _readers(trace, _A, column))) + _HIGH
        canvas.band(x(column) - round_a, 1, wide + 2 * round_a, last + round_a - 1)
    for row in range(len(b)):
        last = x(max(thread % columns for thread in _readers(trace, _B, row))) + wide
        canvas.band(1, y(row) - round_b, last + round_b - 1, _HIGH + 2 * round_b)
    canvas.frame(left - 16, top - 16, right - left + 32, bottom - top + 32)
    for column, value in enumerate(a):
        canvas.cell(x(column), above, wide, _HIGH, number(value))
    for row, value in enumerate(b):
        canvas.cell(start, y(row), b_width, _HIGH, number(value))
        if not narrow:
            canvas.arrow(right + 78, y(row) + _HIGH / 2, out_left - 6, y(row) + _HIGH / 2)
    canvas.label(out_left, out_top - 14, "output", mono=True, bold=True)
    stored = {store.thread: store for store in trace.accesses("store", _OUTPUT)}
    for thread in range(columns * rows):
        row, column = divmod(thread, columns)
        if thread not in stored:
            canvas.cell(x(column), y(row), wide, _HIGH, ink=Ink.SPARE)
            continue
        terms = f"{number(a[column])} + {number(b[row])}"
        canvas.cell(x(column), y(row), wide, _HIGH, terms, ink=Ink.LIVE, size=Size.VALUE)
        down, along = divmod(stored[thread].element, len(a))
        corner = out_left + along * side, out_top + down * step
        size = side - 4, side - 4 if narrow else _HIGH
        canvas.cell(*corner, *size, number(stored[thread].value), ink=Ink.RESULT)
    for row in range(rows):
        name = Text("row {row}").of(row=row)
        if not narrow:
            canvas.label(right + 28, y(row) + _HIGH / 2, name, size=Size.LABEL, quiet=True)
    return canvas


def _readers(trace: Trace, buffer: int, element: int) -> list[int]:
    """The threads that read an element."""
    return [load.thread for load in trace.accesses("load", buffer) if load.element == element]


def draw_memory(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The three buffers as they are in memory: above each element the threads that access it."""
    trace = facts.trace("p05")
    columns = trace.block[0]
    data = facts.inputs("default")
    stored = {store.element: store.value for store in trace.accesses("store", _OUTPUT)}
    results = [stored[element] for element in sorted(stored)]
    canvas = sheet(0, 0)
    names = Text("threads"), Text("offset")
    left = math.ceil(_NEXT_TO + max(canvas.length(name, Size.LABEL) for name in names))
    spacing = 26 if narrow else 40
    count = len(data["a"])
    # On a narrow screen the output is below the vectors, and as wide as both.
    whole = (PHONE if narrow else PAGE) - 1 - left
    wide = (whole - spacing) / (2 * count) if narrow else (whole - 2 * spacing) / (2 * count + len(results))
    second = left + count * wide + spacing
    below = 2 * (_THREAD + GAP) + _REST + 32
    third = (left, below) if narrow else (second + count * wide + spacing, 0)
    last = whole / len(results) if narrow else wide
    buffers = (
        ("a", "load", _A, data["a"].tolist(), (left, 0), wide),
        ("b", "load", _B, data["b"].tolist(), (second, 0), wide),
        ("output", "store", _OUTPUT, results, third, last),
    )
    for name, action, buffer, values, (x, top), side in buffers:
        users: dict[int, list[tuple[int, int]]] = {}
        for access in trace.accesses(action, buffer):
            users.setdefault(access.element, []).append(divmod(access.thread, columns))
        lines = 1 if narrow and action == "store" else 2
        threads = top + 30 + lines * (_THREAD + GAP) - GAP  # the lower ends of the threads
        element = threads + _ARROW
        canvas.label(x, top + 10, name, bold=True, mono=True)
        if x == left:
            canvas.label(1, threads - _THREAD / 2, names[0], size=Size.LABEL, quiet=True)
            canvas.label(1, element + _HIGH + 14, names[1], size=Size.LABEL, quiet=True)
        for index, value in enumerate(values):
            corner = x + index * side
            middle = corner + side / 2
            for line, position in enumerate(reversed(users[index])):
                at = threads - _THREAD - line * (_THREAD + GAP)
                ink = Ink.MARK if position == _MARKED else Ink.LIVE
                text = f"({position[0]}, {position[1]})"
                canvas.cell(corner + GAP, at, side - 2 * GAP, _THREAD, text, ink=ink, size=Size.LABEL)
            ends = (element - 3, threads + 3) if action == "load" else (threads + 3, element - 3)
            canvas.arrow(middle, ends[0], middle, ends[1], marked=_MARKED in users[index])
            ink = Ink.PLAIN if action == "load" else Ink.RESULT
            canvas.cell(corner, element, side, _HIGH, number(value), ink=ink)
            canvas.label(middle, element + _HIGH + 14, str(index), "middle", size=Size.LABEL, quiet=True)
        canvas.width = max(canvas.width, round(x + len(values) * side) + 1)
        canvas.height = max(canvas.height, element + _HIGH + 24)
    return canvas


def draw_strides(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The vectors through layouts with a stride of 0, as the demonstration printed them, and their sum."""
    a, b, out = (re.findall(r"\d+\.\d", line) for line in facts.demo("repeat"))
    size = facts.constant("SIZE")
    grids = [
        Grid(
            name,
            [
                [
                    Square(number(float(values[offset])), ink, (), str(offset))
                    for offset in (row * down + col * along for col in range(size))
                ]
                for row in range(size)
            ],
            numbered(size),
            numbered(size),
            heading=Text("index"),
            below=Text("offset"),
        )
        for name, values, ink, down, along in (
            ("a", a, Ink.PLAIN, 0, 1),
            ("b", b, Ink.PLAIN, 1, 0),
            ("output", out, Ink.RESULT, size, 1),
        )
    ]
    if narrow:
        return draw_grids(sheet, grids, side=57, per_line=2, spacing=24)
    return draw_grids(sheet, grids, side=72, left=62, per_line=3, spacing=55)


FIGURES = (
    responsive("p05", draw_square, traces=("p05",)),
    responsive("p05-memory", draw_memory, traces=("p05",)),
    responsive("p05-strides", draw_strides),
)
