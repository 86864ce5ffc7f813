"""Puzzle 8: two blocks, each with cells of its own between the input and the output."""

from __future__ import annotations

from msgspec import Struct

from tooling.book.figures.canvas import PAGE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure
from tooling.book.figures.traces import BARRIER, SHARED, Access, Trace
from tooling.text import Text

_OUTPUT, _A = 0, 1  # the kernel's arguments
_GLOBAL, _OF_BLOCK = Text("global memory"), Text("one for each block")
_APART = 16  # between the blocks
_INDEX = 40  # how far the names of the indices reach beyond those of the rows


class NumberPath(Struct, frozen=True):
    """The path of one number through the kernel.

    Attributes:
        block: of the thread that carries it.
        source: the element of the input.
        cell: its cell in the block's shared memory.
        kept: the cell's value.
        target: the element of the output.
        result: its value.
    """

    block: int
    source: int
    cell: int
    kept: float
    target: int
    result: float


def number_paths(trace: Trace) -> list[NumberPath]:
    """The path of every thread's number, in the order of the output."""
    found = []
    for block in range(trace.grid[0]):
        loads = _by_thread(trace, "load", _A, block)
        reads = _by_thread(trace, "load", SHARED, block)
        kept = {store.element: store for store in trace.accesses("store", SHARED, block)}
        for store in trace.accesses("store", _OUTPUT, block):
            cell = kept[reads[store.thread].element]
            source = loads[cell.thread].element
            found.append(NumberPath(block, source, cell.element, cell.value, store.element, store.value))
    return sorted(found, key=lambda path: path.target)


def draw_blocks(facts: Facts, sheet: Sheet) -> Canvas:
    """Input, cells and output as three rows, a frame around the cells of each block."""
    a = facts.inputs("default")["a"].reshape(-1).tolist()
    trace = facts.trace("p08")
    threads = trace.block[0]
    high, small = 38, 42
    source, frame, frame_high, kept, output = 28, 86, 152, 154, 270  # the upper ends of what is drawn
    canvas = sheet(PAGE, 0)
    left = canvas.beside(["shared", "output"], [_GLOBAL, _OF_BLOCK]) + _INDEX
    apart = (trace.grid[0] - 1) * _APART
    pitch = (PAGE - 3 - left - apart) // len(a)
    left = PAGE - 3 - apart - len(a) * pitch
    numbers = (source - 14, "global_i"), (kept - 14, "local_i"), (output + high + 14, "global_i")
    canvas.height = numbers[-1][0] + 10

    def start(index: int) -> float:
        return left + index * pitch + index // threads * _APART

    canvas.name(source + high / 2, "a", _GLOBAL)
    canvas.name(kept + high / 2, "shared", _OF_BLOCK)
    canvas.name(output + high / 2, "output", _GLOBAL)
    for y, of_row in numbers:
        canvas.label(left - 6, y, of_row, "end", size=Size.LABEL, quiet=True, mono=True)
    for index, value in enumerate(a):
        canvas.label(start(index) + pitch / 2, source - 14, str(index), "middle", size=Size.LABEL, quiet=True)
        canvas.cell(start(index), source, pitch, high, number(value))
    waits, barrier = any(event.action == BARRIER for event in trace.events), kept + high + 24
    if waits:
        canvas.label(1, barrier, "barrier()", mono=True)
    for block in range(trace.grid[0]):
        x = start(block * threads)
        canvas.frame(x - 2, frame, threads * pitch + 4, frame_high)
        name = Text("block {block}").of(block=block)
        canvas.label(x + threads * pitch / 2, frame + 17, name, "middle", bold=True)
        if waits:
            canvas.arrow(x + 8, barrier, x + threads * pitch - 8, barrier, head=False, dashed=True)
    for path in number_paths(trace):
        middle = start(path.block * threads + path.cell) + pitch / 2
        canvas.arrow(start(path.source) + pitch / 2, source + high + 3, middle, kept - 24)
        canvas.label(middle, kept - 14, f"T{path.cell}", "middle", size=Size.LABEL, quiet=True)
        canvas.cell(middle - small / 2, kept, small, high, number(path.kept), ink=Ink.LIVE)
        to = start(path.target) + pitch / 2
        canvas.arrow(middle, kept + high + 3, to, output - 4)
        canvas.cell(to - pitch / 2, output, pitch, high, number(path.result), ink=Ink.RESULT)
        canvas.label(to, output + high + 14, str(path.target), "middle", size=Size.LABEL, quiet=True)
    return canvas


def draw_blocks_narrow(facts: Facts, sheet: Sheet) -> Canvas:
    """The same as three columns, with the numbers from left to right."""
    a = facts.inputs("default")["a"].reshape(-1).tolist()
    trace = facts.trace("p08")
    threads = trace.block[0]
    top, pitch, wide = 44, 36, 50
    source, frame, cell, barrier, name, target = 18, 98, 126, 182, 223, 292
    of_block = 166  # the width of a block
    bottom = top + len(a) * pitch + (trace.grid[0] - 1) * _APART

    def start(index: int) -> float:
        return top + index * pitch + index // threads * _APART

    canvas = sheet(target + wide + 20, bottom + 26)
    for x, text, below in (
        (source + wide / 2, "a", Text("global")),
        (cell + 20, "shared", Text("of the block")),
        (target + wide / 2, "output", Text("global")),
    ):
        canvas.label(x, 12, text, "middle", size=Size.VALUE, mono=True)
        canvas.label(x, 29, below, "middle", size=Size.LABEL, quiet=True)
    for index, value in enumerate(a):
        canvas.label(9, start(index) + pitch / 2, str(index), "middle", size=Size.LABEL, quiet=True)
        canvas.cell(source, start(index), wide, pitch, number(value))
    waits = any(event.action == BARRIER for event in trace.events)
    if waits:
        canvas.label(barrier, bottom + 13, "barrier()", "middle", size=Size.LABEL, mono=True)
    for block in range(trace.grid[0]):
        y = start(block * threads)
        canvas.frame(frame, y - 2, of_block, threads * pitch + 4)
        middle = y + threads * pitch / 2
        canvas.label(
            name, middle, Text("block {block}").of(block=block), "middle", size=Size.LABEL, bold=True
        )
        if waits:
            canvas.arrow(barrier, y + 8, barrier, y + threads * pitch - 8, head=False, dashed=True)
    for path in number_paths(trace):
        middle = start(path.block * threads + path.cell) + pitch / 2
        canvas.arrow(source + wide + 3, start(path.source) + pitch / 2, frame + 3, middle)
        canvas.label(cell - 11, middle, f"T{path.cell}", "middle", size=Size.LABEL, quiet=True)
        canvas.cell(cell, middle - 14, 40, 28, number(path.kept), ink=Ink.LIVE)
        to = start(path.target) + pitch / 2
        canvas.arrow(cell + 43, middle, target - 3, to)
        canvas.cell(target, to - pitch / 2 + 1, wide, pitch - 2, number(path.result), ink=Ink.RESULT)
        canvas.label(target + wide + 10, to, str(path.target), "middle", size=Size.LABEL, quiet=True)
    return canvas


def _by_thread(trace: Trace, action: str, buffer: int, block: int) -> dict[int, Access]:
    return {access.thread: access for access in trace.accesses(action, buffer, block)}


FIGURES = (Figure("p08", draw_blocks, traces=("p08",), narrow=draw_blocks_narrow),)
