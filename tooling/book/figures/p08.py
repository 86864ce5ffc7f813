"""Puzzle 8: two blocks, each with cells of its own between the input and the output."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tooling.book.figures.canvas import PAGE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive
from tooling.book.figures.traces import BARRIER, SHARED, Access, Trace
from tooling.text import Text

_OUTPUT, _A = 0, 1  # the kernel's arguments
_GLOBAL, _OF_BLOCK = Text("global memory"), Text("one for each block")
_SPACING = 16  # between the blocks
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


def draw_blocks(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Input, cells and output as three rows, a frame around the cells of each block.

    On a narrow screen as three columns: what is along the rows is down the columns.
    """
    a = facts.inputs("default")["a"].reshape(-1).tolist()
    trace = facts.trace("p08")
    threads, blocks = trace.block[0], trace.grid[0]
    canvas = sheet(PAGE, 0)
    # Of the rows or columns: where they begin and how deep they are, from the input to the output.
    deep, inner, source, kept, output = (50, 40, 18, 126, 292) if narrow else (38, 38, 28, 154, 270)
    frame, deep_frame, name, barrier = (98, 166, 223, 182) if narrow else (86, 152, 103, 216)
    enter = frame + 3 if narrow else kept - 24
    pitch, small, first = 36, 28, 44  # along them
    if not narrow:
        left = canvas.names_end(["shared", "output"], [_GLOBAL, _OF_BLOCK]) + _INDEX
        pitch, small = (PAGE - 3 - left - (blocks - 1) * _SPACING) // len(a), 42
        first = PAGE - 3 - (blocks - 1) * _SPACING - len(a) * pitch
    end = first + len(a) * pitch + (blocks - 1) * _SPACING
    canvas.width, canvas.height = (output + deep + 20, end + 26) if narrow else (PAGE, output + deep + 24)

    def at(along: float, depth: float) -> tuple[float, float]:
        return (depth, along) if narrow else (along, depth)

    def start(index: int) -> float:
        return first + index * pitch + index // threads * _SPACING

    def label(along: float, depth: float, text: str) -> None:
        canvas.label(*at(along, depth), text, "middle", size=Size.LABEL, quiet=True)

    before, after = (source - 9, output + deep + 10) if narrow else (source - 14, output + deep + 14)
    _name_rows(canvas, (source, kept, output), (deep, inner, deep), first, narrow=narrow)
    if not narrow:
        for depth, of_row in (before, "global_i"), (kept - 14, "local_i"), (after, "global_i"):
            canvas.label(first - 6, depth, of_row, "end", size=Size.LABEL, quiet=True, mono=True)
    for index, value in enumerate(a):
        label(start(index) + pitch / 2, before, str(index))
        canvas.cell(*at(start(index), source), *at(pitch, deep), number(value))
    waits = any(event.action == BARRIER for event in trace.events)
    if waits:
        size, anchor = (Size.LABEL, "middle") if narrow else (Size.VALUE, "start")
        canvas.label(*at(end + 13 if narrow else 1, barrier), "barrier()", anchor, size=size, mono=True)
    for block in range(blocks):
        begin, long = start(block * threads), threads * pitch
        canvas.frame(*at(begin - 2, frame), *at(long + 4, deep_frame))
        said, size = Text("block {block}").of(block=block), Size.LABEL if narrow else Size.VALUE
        canvas.label(*at(begin + long / 2, name), said, "middle", size=size, bold=True)
        if waits:
            ends = *at(begin + 8, barrier), *at(begin + long - 8, barrier)
            canvas.arrow(*ends, head=False, dashed=True)
    for path in number_paths(trace):
        middle = start(path.block * threads + path.cell) + pitch / 2
        to = start(path.target) + pitch / 2
        canvas.arrow(*at(start(path.source) + pitch / 2, source + deep + 3), *at(middle, enter))
        label(middle, kept - (11 if narrow else 14), f"T{path.cell}")
        canvas.cell(*at(middle - small / 2, kept), *at(small, inner), number(path.kept), ink=Ink.LIVE)
        canvas.arrow(*at(middle, kept + inner + 3), *at(to, output - 4))
        canvas.cell(*at(to - pitch / 2, output), *at(pitch, deep), number(path.result), ink=Ink.RESULT)
        label(to, after, str(path.target))
    return canvas


def _name_rows(
    canvas: Canvas, depths: Sequence[int], deep: Sequence[int], first: float, *, narrow: bool
) -> None:
    """The names of the input, the cells and the output: before the rows, or above the columns."""
    memories = (_GLOBAL, _OF_BLOCK, _GLOBAL)
    if narrow:
        memories = Text("global"), Text("of the block"), Text("global")
    for name, memory, depth, size in zip(("a", "shared", "output"), memories, depths, deep, strict=True):
        if narrow:
            canvas.label(depth + size / 2, first - 32, name, "middle", mono=True)
            canvas.label(depth + size / 2, first - 15, memory, "middle", size=Size.LABEL, quiet=True)
        else:
            canvas.name(depth + size / 2, name, memory)


def _by_thread(trace: Trace, action: str, buffer: int, block: int) -> dict[int, Access]:
    return {access.thread: access for access in trace.accesses(action, buffer, block)}


FIGURES = (responsive("p08", draw_blocks, traces=("p08",)),)
