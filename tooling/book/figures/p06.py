"""Puzzle 6: nine elements for three blocks of four threads."""

from __future__ import annotations

from tooling.book.figures.canvas import Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive
from tooling.text import Text

_OUTPUT, _A = 0, 1  # indices of the kernel's pointer arguments
_HIGH = 34
_GAP = 44  # between the blocks and the vectors: room for an arrow


def draw_blocks(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The vector, the blocks with the numbers of their threads, and what the threads wrote."""
    trace = facts.trace("p06")
    a = facts.inputs("default")["a"].tolist()
    blocks, threads = trace.grid[0], trace.block[0]
    left, wide, cut, line, size = (6, 27, 13, 22, Size.SMALL) if narrow else (123, 48, 12, 0, Size.VALUE)
    inset, edge = (1.5, 3) if narrow else (0, 4)
    top = 24  # of the vector; narrow pictures have a line with its name above each row
    frame = top + _HIGH + _GAP
    first, second = frame + 30 + line, frame + 30 + 2 * line + _HIGH + 8
    end = second + _HIGH + 8
    below = end + _GAP + line

    def x(index: int) -> float:
        return left + index * wide + index // threads * cut

    def middle(index: int) -> float:
        return x(index) + wide / 2

    def cell(index: int, y: float, text: str, ink: Ink) -> None:
        canvas.cell(x(index) + inset, y, wide - 2 * inset, _HIGH, text, ink=ink, size=size)

    canvas = sheet(int(x(blocks * threads)) - cut + edge + 2, below + _HIGH + 6)
    for y, text in ((top, "a"), (first, "thread_idx.x"), (second, "i"), (below, "output")):
        if narrow:
            canvas.label(left + 1, y - 12, text, size=Size.LABEL, mono=True)
        else:
            canvas.name(y + _HIGH / 2, text)
    if not narrow:
        canvas.label(1, 12, Text("index"), size=Size.LABEL, quiet=True)
    for index, value in enumerate(a):
        cell(index, top, number(value), Ink.PLAIN)
        if not narrow:
            canvas.label(middle(index), 12, str(index), "middle", size=Size.LABEL, quiet=True)
    for block in range(blocks):
        start = block * threads
        canvas.frame(x(start) - edge, frame, threads * wide + 2 * edge, end - frame)
        name = Text("block {block}").of(block=block)
        canvas.label(x(start) + threads * wide / 2, frame + 14, name, "middle", bold=True, size=Size.VALUE)
        loads, stores = (list(trace.accesses(*which, block)) for which in (("load", _A), ("store", _OUTPUT)))
        for load in loads:
            canvas.arrow(middle(load.element), top + _HIGH + 3, middle(start + load.thread), frame - 3)
        for store in stores:
            canvas.arrow(middle(start + store.thread), end + 3, middle(store.element), below - 3 - line)
        for store in stores:
            cell(store.element, below, number(store.value), Ink.RESULT)
        busy = {access.thread for access in (*loads, *stores)}
        for thread in range(threads):
            works = thread in busy
            cell(start + thread, first, str(thread), Ink.PLAIN if works else Ink.SPARE)
            cell(start + thread, second, str(start + thread), Ink.LIVE if works else Ink.SPARE)
    return canvas


FIGURES = (responsive("p06", draw_blocks, traces=("p06",)),)
