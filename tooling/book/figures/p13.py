"""Puzzle 13: the windows of a convolution, the cells of one block, and the halo of two."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from tooling.book.figures.canvas import GAP, PAGE, PHONE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure, responsive
from tooling.book.figures.traces import SHARED, Access, Trace
from tooling.text import Text

_OUTPUT, _A, _B = 0, 1, 2  # the kernels' arguments
_SIMPLE = "p13_tile_tensor --simple"
_BOUNDARY = "p13_tile_tensor --block-boundary"
_NARROW_END = PHONE - 1  # of a drawing on a narrow screen
_AROUND = 8  # from the cells of a block to its frame
_ASIDE = 7  # from the middle of an element to the arrow to a halo


class Cell(Struct, frozen=True):
    """One cell of shared memory after the loads.

    Attributes:
        index: counted from the start of the block's shared memory.
        thread: the one that stored it.
        value: what it holds.
        source: the element of the input that was loaded; None for a zero without a load.
    """

    index: int
    thread: int
    value: float
    source: int | None


def cells_of(trace: Trace, block: int, buffer: int) -> list[Cell]:
    """The cells that a block filled from one buffer, zeros in place of missing elements included.

    A store belongs to the load of the same line; a line that loaded nothing stored zeros in place of elements
    of `a`.
    """
    loads: dict[int, tuple[int, dict[int, int]]] = {}
    found = []
    for event in trace.of_block(block):
        if event.action == "load" and event.buffer != SHARED:
            loads[event.line] = event.buffer, dict(zip(event.threads, event.elements, strict=True))
        elif event.action == "store" and event.buffer == SHARED:
            origin, elements = loads.get(event.line, (_A, {}))
            if origin == buffer:
                stored = zip(event.elements, event.threads, event.values, strict=True)
                found += [Cell(cell, thread, value, elements.get(thread)) for cell, thread, value in stored]
    return found


class Block(Struct, frozen=True):
    """One block of the second kernel.

    Attributes:
        trace: of the kernel.
        index: of the block.
        threads: how many elements are its own; those after them are the halo.
        cells: its part of `a` in shared memory.
        stores: to the output, in the order of the threads.
    """

    trace: Trace
    index: int
    threads: int
    cells: tuple[Cell, ...]
    stores: tuple[Access, ...]


def blocks_of(facts: Facts) -> list[Block]:
    """Every block of the second kernel."""
    trace = facts.trace(_BOUNDARY)
    return [
        Block(
            trace,
            index,
            facts.constant("TPB"),
            tuple(cells_of(trace, index, _A)),
            tuple(trace.accesses("store", _OUTPUT, index)),
        )
        for index in range(trace.grid[0])
    ]


def draw_products(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """`a` with the zeros behind it, and for each element of the output its products and their sum."""
    data = facts.inputs("simple")
    a, b = data["a"].tolist(), data["b"].tolist()
    sums = facts.expected("simple")["out"].tolist()
    columns = len(a) + len(b) - 1
    side, high, pitch, size = (35, 30, 37, Size.LABEL) if narrow else (67, 32, 42, Size.VALUE)
    left, end = (19, _NARROW_END) if narrow else (60, PAGE - 1)
    result = end - side
    first = 24 + high + 36
    canvas = sheet(end + 1, first + len(sums) * pitch)
    for column in range(columns):
        middle = left + (column + 0.5) * side
        canvas.label(middle, 12, str(column), "middle", size=Size.LABEL, quiet=True)
        inside = column < len(a)
        ink = Ink.PLAIN if inside else Ink.SPARE
        canvas.cell(left + column * side, 24, side, high, number(a[column]) if inside else "0", ink=ink)
    canvas.name(24 + high / 2, "a")
    canvas.label(end, first - 15, "output", "end", mono=True)
    for i, total in enumerate(sums):
        top = first + i * pitch
        name = str(i) if narrow else f"*i* = {i}"
        canvas.label(1, top + high / 2, name)
        for j, factor in enumerate(b):
            value = a[i + j] if i + j < len(a) else 0
            ink = Ink.PLAIN if i + j < len(a) else Ink.SPARE
            text = f"{number(value)}·{number(factor)}"
            canvas.cell(left + (i + j) * side, top, side, high, text, ink=ink, size=size)
        after = left + (i + len(b)) * side
        canvas.arrow(after + 3, top + high / 2, result - 3, top + high / 2)
        canvas.cell(result, top, side, high, number(total), ink=Ink.RESULT)
    return canvas


def draw_cells(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Both inputs, the block's cells, and the windows of the first and the last thread with an element."""
    trace = facts.trace(_SIMPLE)
    data = {name: values.tolist() for name, values in facts.inputs("simple").items()}
    taps = facts.constant("CONV")
    stores = list(trace.accesses("store", _OUTPUT, 0))
    shown = [stores[0], stores[-1]]
    label = Text("window of T{thread}") if narrow else Text("window of thread {thread}")
    labels = [label.of(thread=store.thread) for store in shown]
    canvas = sheet(0, 0)
    side, wide = (30, 28) if narrow else (38, 47)
    left = _AROUND + (1 if narrow else canvas.names_end(labels))
    end = (_NARROW_END if narrow else PAGE - 1) - _AROUND
    right = end - taps * wide  # of the filter
    shared, pitch = 98, side + 12
    barrier, windows = shared + side + 56, shared + side + 102
    canvas.width, canvas.height = end + _AROUND + 1, windows + 2 * pitch
    for x, buffer, name in ((left, _A, "a"), (right, _B, "b")):
        own = cells_of(trace, 0, buffer)
        base = min(cell.index for cell in own)
        canvas.label(x, 12, name, mono=True)
        canvas.label(x, shared + side + 15, f"shared_{name}", mono=True)
        for index, value in enumerate(data[name]):
            canvas.cell(x + index * wide, 26, wide, side, number(value))
        for cell in own:
            at = x + (cell.index - base) * wide
            if cell.source is not None:
                start = x + (cell.source + 0.5) * wide
                canvas.arrow(start, 26 + side + 3, at + wide / 2, shared - 3)
            else:
                thread = f"T{cell.thread}"
                canvas.label(at + wide / 2, shared - 12, thread, "middle", size=Size.LABEL, quiet=True)
            ink = Ink.LIVE if cell.source is not None else Ink.SPARE
            canvas.cell(at, shared, wide, side, number(cell.value), ink=ink)
    canvas.frame(left - _AROUND, shared - 25, end - left + 2 * _AROUND, side + 59)
    if not narrow:
        canvas.label(1, 26 + side / 2, Text("global memory"))
        canvas.label(1, shared + side / 2, Text("block 0"))
    canvas.arrow(1, barrier, end + _AROUND, barrier, head=False, dashed=True)
    canvas.plate((left + end) / 2, barrier, 90, "barrier()")
    canvas.label(right, windows - 15, "output", mono=True)
    held = {cell.index: cell for cell in cells_of(trace, 0, _A)}
    for row, (store, text) in enumerate(zip(shown, labels, strict=True)):
        top = windows + row * pitch
        window = _window(trace, store, held.values())
        for index in window:
            ink = Ink.LIVE if held[index].source is not None else Ink.SPARE
            canvas.cell(left + index * wide, top, wide, side, number(held[index].value), ink=ink)
        first, after = left + window[0] * wide, left + (window[-1] + 1.0) * wide
        if not narrow:
            canvas.label(1, top + side / 2, text)
        elif window[0]:
            canvas.label(first - 8, top + side / 2, text, "end", size=Size.LABEL)
        else:
            canvas.label(after + 8, top + side / 2, text, size=Size.LABEL)
            after += 9 + canvas.length(text, Size.LABEL)
        canvas.arrow(after + 3, top + side / 2, right - 3, top + side / 2)
        alone = right + GAP / 2, top, wide - GAP, side  # as wide as a cell among others
        canvas.cell(*alone, number(store.value), ink=Ink.RESULT)
    return canvas


def draw_halo(facts: Facts, sheet: Sheet) -> Canvas:
    """`a` above, both blocks with their own elements and their halo side by side, the output below."""
    blocks = blocks_of(facts)
    a = facts.inputs("block-boundary")["a"].tolist()
    side, gap, left = 31, 30, 1 + _AROUND  # of an element; between the cells of the blocks; before them
    top, shared, output = 28, 132, 290
    canvas = sheet(PAGE, output + side + 24)
    wide = len(blocks[0].cells) * side
    # The elements of the last block are straight above its own cells.
    start = left + wide + gap - blocks[0].threads * side
    canvas.name(top + side / 2, "a", Text("global memory"))
    for index, value in enumerate(a):
        middle = start + (index + 0.5) * side
        canvas.label(middle, 12, str(index), "middle", size=Size.LABEL, quiet=True)
        canvas.cell(middle - side / 2, top, side, side, number(value))
    for block in blocks:
        x = left + block.index * (wide + gap)
        for cell in block.cells:
            if cell.source is not None:
                source, target = start + (cell.source + 0.5) * side, x + (cell.index + 0.5) * side
                marked = cell.index >= block.threads
                aside = _ASIDE if marked else 0  # the next block loads the same element
                canvas.curve(source - aside, top + side + 3, target, shared - 3, marked=marked)
        _draw_block(canvas, block, x, shared, side)
        _draw_outputs(canvas, block, x, output, side)
    return canvas


def draw_halo_narrow(facts: Facts, sheet: Sheet) -> Canvas:
    """One block below the other, each with the elements that it loads."""
    blocks = blocks_of(facts)
    side, left, shared, output = 30, 1 + _AROUND, 112, 270
    high = output + side + 46
    canvas = sheet(left + len(blocks[0].cells) * side + _AROUND + 1, len(blocks) * high - 22)
    for block in blocks:
        y = block.index * high
        canvas.label(left, y + 10, "a", mono=True)
        for cell in block.cells:
            if cell.source is not None:
                middle = left + (cell.index + 0.5) * side
                canvas.label(middle, y + 29, str(cell.source), "middle", size=Size.LABEL, quiet=True)
                canvas.cell(middle - side / 2, y + 42, side, side, number(cell.value))
                marked = cell.index >= block.threads
                canvas.curve(middle, y + 45 + side, middle, y + shared - 3, marked=marked)
        _draw_block(canvas, block, left, y + shared, side)
        _draw_outputs(canvas, block, left, y + output, side)
    return canvas


def _draw_block(canvas: Canvas, block: Block, x: float, y: float, side: float) -> None:
    """The shared memory of a block with its indices, and what the two parts are called."""
    wide = len(block.cells) * side
    for cell in block.cells:
        ink = Ink.LIVE if cell.source is not None else Ink.SPARE
        middle = x + (cell.index + 0.5) * side
        canvas.cell(middle - side / 2, y, side, side, number(cell.value), ink=ink)
        canvas.label(middle, y + side + 12, str(cell.index), "middle", size=Size.LABEL, quiet=True)
    canvas.frame(x - _AROUND, y - 14, wide + 2 * _AROUND, side + 86)
    name = Text("block {index}").of(index=block.index)
    below = y + side + 34
    canvas.label(x, below, name, bold=True)
    canvas.label(x + canvas.length(name, Size.VALUE) + 12, below, "shared_a", mono=True)
    halo = x + (block.threads + len(block.cells)) / 2 * side
    canvas.label(halo, below, Text("halo"), "middle", size=Size.LABEL, quiet=True)
    barrier = y + side + 56
    canvas.arrow(x, barrier, x + wide, barrier, head=False, dashed=True)
    canvas.plate(x + wide / 2, barrier, 90, "barrier()")


def _draw_outputs(canvas: Canvas, block: Block, x: float, y: float, side: float) -> None:
    """The elements that a block stores, and the window of the last of them."""
    for store in block.stores:
        at = x + store.thread * side
        canvas.cell(at, y, side, side, number(store.value), ink=Ink.RESULT)
        canvas.label(at + side / 2, y + side + 12, str(store.element), "middle", size=Size.LABEL, quiet=True)
    canvas.label(x + len(block.stores) * side + 10, y + side / 2, "output", mono=True)
    last = block.stores[-1]
    window = _window(block.trace, last, block.cells)
    begin, end, bracket = x + window[0] * side + 2, x + (window[-1] + 1) * side - 2, y - 34
    canvas.arrow(begin, bracket, end, bracket, head=False)
    for edge in (begin, end):
        canvas.arrow(edge, bracket - 6, edge, bracket, head=False)
    target = x + (last.thread + 0.5) * side
    canvas.arrow(target, bracket, target, y - 3)
    canvas.label(target + 12, y - 17, Text("window of T{thread}").of(thread=last.thread), size=Size.LABEL)


def _window(trace: Trace, store: Access, cells: Iterable[Cell]) -> list[int]:
    """The indices of the cells that a thread read for what it stored, in ascending order."""
    loads = trace.accesses("load", SHARED, store.block)
    read = {load.element for load in loads if load.thread == store.thread}
    return sorted(read & {cell.index for cell in cells})


FIGURES = (
    responsive("p13", draw_products),
    responsive("p13-simple", draw_cells, traces=(_SIMPLE,)),
    Figure("p13-halo", draw_halo, traces=(_BOUNDARY,), narrow=draw_halo_narrow),
)
