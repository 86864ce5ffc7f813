"""Puzzle 11: elements into shared memory, and the window that slides over the cells."""

from __future__ import annotations

from tooling.book.figures.canvas import GAP, PAGE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure, responsive
from tooling.book.figures.grids import Grid, Square, draw_grids
from tooling.book.figures.traces import SHARED, Trace
from tooling.text import Text

_A, _OUTPUT = 1, 0  # indices of the kernel's pointer arguments
_THREAD = Text("thread {thread}")
_GAP = 36  # between the elements and the cells
_BARRIER = 62  # from the cells to the first window, with the barrier and a heading between them
_TO_BARRIER = 20


def draw_windows(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """`a`, shared memory after the barrier, and for each thread its window and its sum."""
    trace = facts.trace("p11")
    a = facts.inputs("default")["a"].reshape(-1)
    threads, window = facts.constant("TPB"), facts.constant("WINDOW")
    side, step, spacing = (28, 36, 28) if narrow else (35, 41, 48)
    canvas = sheet(0, 0)
    memories = Text("global memory"), Text("shared memory")
    names = 23 if narrow else canvas.names_end([_THREAD.of(thread=0)])
    # A row has the cells, those that do not exist, and the output.
    wide = 28 if narrow else (PAGE - 1 - spacing - names) // (threads + window)
    left = names + (window - 1) * wide
    right = left + threads * wide
    result = right + spacing if narrow else PAGE - 1 - wide
    end = result + wide
    first = 30 + 2 * side + _GAP + _BARRIER
    canvas.width, canvas.height = end + 1, first + threads * step
    for index in range(len(a)):
        canvas.label(left + (index + 0.5) * wide, 14, str(index), "middle", size=Size.LABEL, quiet=True)
        canvas.cell(left + index * wide, 30, wide, side, number(a[index]))
    canvas.name(30 + side / 2, "a", "" if narrow else memories[0])
    shared = 30 + side + _GAP
    held = {store.element: store for store in trace.accesses("store", SHARED, block=0)}
    read = _read(trace, _A)
    for cell, store in held.items():
        for element in read[store.thread]:
            start = left + (element + 0.5) * wide
            canvas.arrow(start, 30 + side + 3, left + (cell + 0.5) * wide, shared - 4)
        canvas.cell(left + cell * wide, shared, wide, side, number(store.value), ink=Ink.LIVE)
    canvas.name(shared + side / 2, "shared", "" if narrow else memories[1])
    barrier = shared + side + _TO_BARRIER
    canvas.arrow(1, barrier, end, barrier, head=False, dashed=True)
    canvas.plate(left + threads * wide / 2, barrier, 90, "barrier()")
    canvas.label(end, first - 15, "output", "end", mono=True)
    sums = {store.thread: store.value for store in trace.accesses("store", _OUTPUT, block=0)}
    for thread, cells in _read(trace, SHARED).items():
        top = first + thread * step
        label = f"T{thread}" if narrow else _THREAD.of(thread=thread)
        canvas.label(1, top + side / 2, label)
        for cell in range(thread - window + 1, 0):
            _no_cell(canvas, left + cell * wide, top, wide, side)
        for cell, store in held.items():
            ink = Ink.LIVE if cell in cells else Ink.SPARE
            text = number(store.value) if cell in cells else ""
            canvas.cell(left + cell * wide, top, wide, side, text, ink=ink)
        canvas.arrow(right + 3, top + side / 2, result - 4, top + side / 2)
        canvas.cell(result + GAP / 2, top, wide - GAP, side, number(sums[thread]), ink=Ink.RESULT)
    return canvas


def _no_cell(canvas: Canvas, x: float, y: float, width: float, height: float) -> None:
    """The outline of a cell that does not exist."""
    canvas.embed(
        f'<rect x="{x + 2:g}" y="{y + 2:g}" width="{width - 4:g}" height="{height - 4:g}" rx="4" fill="none" '
        f'stroke="{Ink.SPARE.text}" stroke-dasharray="3 3"/>',
        (x + 2, y + 2, x + width - 2, y + height - 2),
    )


def _read(trace: Trace, buffer: int) -> dict[int, list[int]]:
    """For each thread, the elements that it read, in its order."""
    read: dict[int, list[int]] = {}
    for load in trace.accesses("load", buffer, block=0):
        read.setdefault(load.thread, []).append(load.element)
    return read


def draw_edge(facts: Facts, sheet: Sheet) -> Canvas:
    """The elements of shared memory that the threads read if windows are not cut off at the left edge."""
    threads, window = facts.constant("TPB"), facts.constant("WINDOW")
    kept = {store.element: store.value for store in facts.trace("p11").accesses("store", SHARED)}
    squares = []
    for element in range(1 - window, threads):
        readers = [f"T{thread}" for thread in range(element, element + window) if 0 <= thread < threads]
        ink = Ink.LIVE if element in kept else Ink.WRONG
        text = number(kept[element]) if element in kept else ""
        squares.append(Square(text, ink, tuple(readers), number(element)))
    grid = Grid("shared", [squares], above=Text("threads"), below=Text("index"))
    return draw_grids(sheet, [grid], side=29)


FIGURES = (
    responsive("p11", draw_windows, traces=("p11",)),
    Figure("p11-edge", draw_edge, traces=("p11",)),
)
