"""Puzzle 5: a row and a column, and the block of threads that adds them into a square."""

from __future__ import annotations

import re
from functools import partial

from tooling.book.figures.canvas import PAGE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure
from tooling.book.figures.grids import Grid, Square, draw_grids, numbered
from tooling.book.figures.traces import Trace
from tooling.text import Text

_OUTPUT, _A, _B = 0, 1, 2  # indices of the kernel's pointer arguments
_HIGH = 40


def draw_square(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """`a` above the threads, `b` beside them, and the square that they write."""
    trace = facts.trace("p05")
    data = facts.inputs("default")
    a, b = data["a"].tolist(), data["b"].tolist()
    columns, rows = trace.block[:2]
    wide, gap, beside, side = (62, 16, 38, 50) if narrow else (100, 26, 56, 58)
    round_a, round_b = (6, 4) if narrow else (9, 6)  # from an element and its readers to the outline
    start, above = 1 + round_b, 1 + round_a  # of b, of a
    left, top = start + beside + (42 if narrow else 60), 104  # of the first thread
    right, bottom = left + columns * (wide + gap) - gap, top + rows * (_HIGH + gap) - gap
    out_left, out_top = (left + 12, bottom + 74) if narrow else (PAGE + 3 - len(a) * side, top)
    step = side if narrow else _HIGH + gap  # from a row of the output to the next; beside the threads, theirs
    out_right, out_bottom = out_left + len(a) * side, out_top + len(b) * step
    canvas = sheet(max(right + (16 if narrow else 0), out_right) + 8, max(bottom + 50, out_bottom + 8))

    def x(column: int) -> int:
        return left + column * (wide + gap)

    def y(row: int) -> int:
        return top + row * (_HIGH + gap)

    for column in range(columns):
        name = Text("column {column}").of(column=column)
        canvas.label(x(column) + wide / 2, bottom + 30, name, "middle", size=Size.LABEL, quiet=True)
    canvas.label(x(0) - 20, above + _HIGH / 2, "a", "end", mono=True)
    canvas.label(start + beside / 2, y(0) - 20, "b", "middle", mono=True)
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
        canvas.cell(start, y(row), beside, _HIGH, number(value))
        if not narrow:
            canvas.arrow(right + 78, y(row) + _HIGH / 2, out_left - 6, y(row) + _HIGH / 2)
    canvas.label((out_left + out_right) / 2, out_top - 14, "output", "middle", mono=True)
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


def draw_memory(facts: Facts, sheet: Sheet) -> Canvas:
    """The three buffers as they are in memory: above each element the threads that access it."""
    trace = facts.trace("p05")
    columns = trace.block[0]
    data = facts.inputs("default")
    users: dict[tuple[int, int], list[str]] = {}
    for action, buffer in (("load", _A), ("load", _B), ("store", _OUTPUT)):
        for access in trace.accesses(action, buffer):
            row, col = divmod(access.thread, columns)
            users.setdefault((buffer, access.element), []).append(f"({row}, {col})")
    stored = {store.element: store.value for store in trace.accesses("store", _OUTPUT)}
    buffers = (
        ("a", _A, Ink.PLAIN, data["a"].tolist()),
        ("b", _B, Ink.PLAIN, data["b"].tolist()),
        ("output", _OUTPUT, Ink.RESULT, [stored[element] for element in sorted(stored)]),
    )
    grids = [
        Grid(
            name,
            [
                [
                    Square(number(value), ink, tuple(users[buffer, element]), str(element))
                    for element, value in enumerate(values)
                ]
            ],
            above=Text("threads"),
            below=Text("offset"),
        )
        for name, buffer, ink, values in buffers
    ]
    return draw_grids(sheet, grids, side=70)


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
        return draw_grids(sheet, grids, side=52, beside=2, apart=24)
    return draw_grids(sheet, grids, side=72, left=62, beside=3, apart=55)


FIGURES = (
    Figure(
        "p05",
        Text(
            "A band joins an element with the threads that read it: an element of `a` with a column of "
            "threads, an element of `b` with a row. Pale threads read nothing."
        ),
        Text(
            "A block of 3 by 3 threads. Above it a with the elements 1 and 2, beside it b with the elements "
            "0 and 10. A band joins each element of a with the two threads below it, another "
            "one each element of b with the two threads to its right. These four threads hold 1 + 0, 2 + "
            "0, 1 + 10 and 2 + 10. The third row and the third column of threads are pale. The output is a "
            "square of 1 2 and, below, 11 12."
        ),
        draw_square,
        traces=("p05",),
        narrow=partial(draw_square, narrow=True),
    ),
    Figure(
        "p05-memory",
        Text(
            "The three buffers in memory, and the threads that access each element, as (row, col). Only the "
            "index makes `a` the row and `b` the column."
        ),
        Text(
            "Three lines of elements. a: 1 at offset 0, read by the threads (0, 0) and (1, 0); 2 at offset "
            "1, read by (0, 1) and (1, 1). b: 0 at offset 0, read by (0, 0) and (0, 1); 10 at offset 1, read "
            "by (1, 0) and (1, 1). output: 1, 2, 11 and 12 at the offsets 0 to 3, written by (0, 0), (0, 1), "
            "(1, 0) and (1, 1)."
        ),
        draw_memory,
        traces=("p05",),
    ),
    Figure(
        "p05-strides",
        Text(
            "In `a` the stride from row to row is 0, in `b` the stride from column to column: two elements "
            "have the same offset in memory."
        ),
        Text(
            "Three squares of two rows and two columns. a: 1 and 2 in both rows, at the offsets 0 and 1. b: "
            "0 and 0 in row 0, both at offset 0, 10 and 10 in row 1, both at offset 1. output: 1 and 2 at "
            "the offsets 0 and 1, 11 and 12 at the offsets 2 and 3."
        ),
        draw_strides,
        narrow=partial(draw_strides, narrow=True),
    ),
)
