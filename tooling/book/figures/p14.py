"""Puzzle 14: the steps of a scan, the race of its naive form, and the two kernels of a scan over blocks."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tooling.book.figures.canvas import PAGE, PHONE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure, responsive
from tooling.book.figures.reduction import CELL, beside_cells, curves_high
from tooling.book.figures.traces import Access, Move, shared_moves
from tooling.text import Text

_OUTPUT, _A = 0, 1  # the kernels' arguments
_SIMPLE = "p14_tile_tensor --simple"
_COMPLETE = "p14_tile_tensor --complete"
_RACE, _RACE_NARROW = 336, PHONE - 2  # the width of one order of a race
_KEY, _KEY_LINE = 30, 24  # the height of the legend, and from its first line to the second
_NAMES = 160  # from the left edge of one order to its cells
_WRITTEN, _UNCHANGED = (Ink.LIVE, Text("just written")), (Ink.SPARE, Text("unchanged"))


def offset(move: Move) -> int:
    """How far before its own element a thread read in a step."""
    return max(thread - min(slots) for thread, slots in move.read.items())


def _to_last(moves: Sequence[Move]) -> list[set[tuple[int, int]]]:
    """For each move the reads, as element and thread, whose values become part of the last element."""
    needed = {len(moves[0].cells) - 1}
    found = []
    for move in reversed(moves):
        reads = {(slot, thread) for thread in needed for slot in move.read.get(thread, ())}
        needed |= {slot for slot, _ in reads}
        found.append(reads)
    return found[::-1]


def draw_steps(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Shared memory after the load and after each step, with an arrow for each value read."""
    moves = shared_moves(facts.trace(_SIMPLE), block=0)
    threads = len(moves[0].cells)
    loaded, after = Text("loaded"), Text("offset {move}") if narrow else Text("after offset {move}")
    canvas = sheet(0, 0)
    left, wide = (63, 37) if narrow else beside_cells(canvas, (loaded, after.of(move=1)), threads)
    top = 34
    canvas.width = left + threads * wide + 1
    for thread in range(threads):
        canvas.label(left + (thread + 0.5) * wide, 16, f"T{thread}", "middle", size=Size.LABEL, quiet=True)
    ways = _to_last(moves)
    for index, move in enumerate(moves):
        gap = 0
        if index:
            gap = curves_high(offset(move))
            top += CELL + gap
        label = after.of(move=offset(move)) if index else loaded
        canvas.name(top + CELL / 2, label, size=Size.SMALL if narrow else Size.VALUE)
        for slot, value in enumerate(move.cells):
            ink = Ink.LIVE if slot in move.written else Ink.SPARE
            text = "" if value is None else number(value)
            canvas.cell(left + slot * wide, top, wide, CELL, text, ink=ink)
        arrows = [(slot, thread) for thread, slots in move.read.items() if index for slot in slots]
        for slot, thread in sorted(arrows, key=ways[index].__contains__):
            start, end = left + (slot + 0.5) * wide, left + (thread + 0.5) * wide
            end -= 7 if slot != thread else 0
            canvas.curve(start, top - gap + 2, end, top - 3, marked=(slot, thread) in ways[index])
    canvas.height = top + CELL + 40
    canvas.legend(1, canvas.height - 10, _WRITTEN, _UNCHANGED)
    return canvas


class _Moment(Struct, frozen=True):
    """Neighbouring elements of shared memory after one action.

    Attributes:
        label: the action.
        values: what the elements hold.
        inks: of the elements.
    """

    label: Text
    values: tuple[float, ...]
    inks: tuple[Ink, ...]


class _Order(Struct, frozen=True):
    """One order of the read and the write of the same element.

    Attributes:
        title: what comes first.
        moments: from top to bottom.
        read: which of them is the read; the value was stored in the one before it.
        write: which of them is the write.
        verdict: the sum that the reader stores.
        wrong: whether this is not the sum of the loaded elements.
    """

    title: Text
    moments: tuple[_Moment, ...]
    read: int
    write: int
    verdict: Text
    wrong: bool


_WRITER, _READER = 3, 4  # the threads of the race, and the elements that they write


def _orders(facts: Facts) -> tuple[_Order, _Order]:
    """The two orders in which thread 4 may read the element that thread 3 writes."""
    loaded = shared_moves(facts.trace(_SIMPLE), block=0)[0].cells
    held = tuple(value for value in loaded[_WRITER - 1 : _READER + 1] if value is not None)
    left, own, last = held
    read = Text("T{reader} reads `shared[{writer}]`").of(reader=_READER, writer=_WRITER)
    write = Text("T{writer} writes `shared[{writer}]`").of(writer=_WRITER)
    finish = Text("T{reader} writes `shared[{reader}]`").of(reader=_READER)
    spare, live = Ink.SPARE, Ink.LIVE
    orders = []
    for reads_first in (True, False):
        seen = own if reads_first else left + own
        reading = _Moment(read, (left, seen, last), (spare, Ink.MARK, spare))
        writing = _Moment(write, (left, left + own, last), (spare, live, spare))
        got, right = last + seen, last + own
        sums = {"reader": _READER, "last": number(last), "seen": number(seen), "got": number(got)}
        orders.append(
            _Order(
                Text("T{reader} reads before T{writer} writes").of(reader=_READER, writer=_WRITER)
                if reads_first
                else Text("T{writer} writes before T{reader} reads").of(reader=_READER, writer=_WRITER),
                (
                    _Moment(Text("loaded"), held, (live,) * 3),
                    *((reading, writing) if reads_first else (writing, reading)),
                    _Moment(
                        finish,
                        (left, left + own, got),
                        (spare, spare, live if got == right else Ink.WRONG),
                    ),
                ),
                1 if reads_first else 2,
                2 if reads_first else 1,
                Text("`shared[{reader}]` = {last} + {seen} = {got}, right").of(**sums)
                if got == right
                else Text("`shared[{reader}]` = {last} + {seen} = {got}, not {right}: wrong").of(
                    right=number(right), **sums
                ),
                got != right,
            )
        )
    return orders[0], orders[1]


def draw_race(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """shared[2:5] in the first step without a barrier in the middle, in two orders of two threads."""
    orders = _orders(facts)
    high = 296
    wide = _RACE_NARROW if narrow else _RACE
    canvas = sheet(wide + 2, 2 * high + 20 + _KEY + _KEY_LINE) if narrow else sheet(PAGE, high + _KEY)
    for index, order in enumerate(orders):
        corner = (1, index * (high + 20)) if narrow else (1 + index * (PAGE - 2 - wide), 0)
        _draw_order(canvas, order, corner, wide)
    canvas.legend(
        1,
        canvas.height - 11 - (_KEY_LINE if narrow else 0),
        _WRITTEN,
        _UNCHANGED,
        (Ink.MARK, Text("read by T{reader}").of(reader=_READER)),
        (Ink.WRONG, Text("wrong")),
        across=2 if narrow else None,
    )
    return canvas


def _draw_order(canvas: Canvas, order: _Order, corner: tuple[float, float], wide: float) -> None:
    """The elements after each action, with an arrow for each value that is added."""
    x, y = corner
    side, high, pitch = 40, 34, 54
    gap = (wide - _NAMES - 3 * side) / 2
    canvas.label(x, y + 8, order.title, bold=True)

    def left(element: int) -> float:
        return x + _NAMES + element * (side + gap)

    def top(moment: int) -> float:
        return y + 52 + moment * pitch

    canvas.label(left(0) - 6, y + 34, "shared", "end", size=Size.LABEL, mono=True)
    for element in range(3):
        name = f"[{_WRITER - 1 + element}]"
        middle = left(element) + side / 2
        canvas.label(middle, y + 34, name, "middle", size=Size.LABEL, mono=True, bold=element == 1)
    first = min(order.read, order.write)
    canvas.frame(left(1) - 6, top(first) - 6, side + 12, pitch + high + 12, dashed=True)
    for index, moment in enumerate(order.moments):
        canvas.label(x, top(index) + high / 2, moment.label, quiet=not index)
        for element, (value, ink) in enumerate(zip(moment.values, moment.inks, strict=True)):
            canvas.cell(left(element), top(index), side, high, number(value), ink=ink)
    middle = high / 2
    canvas.side_curve(left(0) + side + 2, top(0) + middle, left(1) - 8, top(order.write) + middle)
    path = left(1) + side / 2
    canvas.curve(path, top(order.read - 1) + high + 2, path, top(order.read) - 2, marked=True)
    canvas.side_curve(left(1) + side + 8, top(order.read) + middle, left(2) - 2, top(3) + middle, marked=True)
    colour = Ink.WRONG.text if order.wrong else None
    canvas.label(x + wide, top(3) + high + 20, order.verdict, "end", colour=colour)


def draw_complete(facts: Facts, sheet: Sheet) -> Canvas:
    """The input, the output after the first kernel, and the output after the second."""
    stores, a, result, threads = _complete(facts)
    size, blocks = len(a), len(result) - len(a)
    side, gap, spacing = 35, 14, 14
    canvas = sheet(0, 0)
    memory, kernels = Text("global memory"), (Text("after kernel 1"), Text("after kernel 2"))
    left = PAGE - 1 - (size + blocks) * side - (blocks - 1) * spacing - gap  # right of the names
    slots = left + size * side + (blocks - 1) * spacing + gap  # of the blocks' sums
    rows = (28, 134, 272)
    canvas.width, canvas.height = PAGE, rows[2] + side + 26

    def at(element: int) -> float:
        if element >= size:
            return slots + (element - size) * side
        return left + element * side + element // threads * spacing

    canvas.name(rows[0] + side / 2, "a", memory)
    for row, kernel in zip(rows[1:], kernels, strict=True):
        canvas.name(row + side / 2, "output", kernel)
    for element, value in enumerate(a):
        canvas.label(at(element) + side / 2, 13, str(element), "middle", size=Size.LABEL, quiet=True)
        canvas.cell(at(element), rows[0], side, side, number(value))
    canvas.label(PAGE - 1, rows[1] - 17, Text("block sums"), "end", size=Size.LABEL, quiet=True)
    for block in range(blocks):
        first, last = block * threads, min((block + 1) * threads, size)
        x, width = at(first), (last - first) * side  # of the block's elements
        middle = x + width / 2
        canvas.arrow(middle, rows[0] + side + 4, middle, rows[1] - 34)
        name = Text("block {block}: scan").of(block=block)
        canvas.frame(x - 4, rows[1] - 32, width + 8, side + 38)
        canvas.label(middle, rows[1] - 17, name, "middle", size=Size.LABEL, bold=True)
        for store in (each for each in stores if each.block == block):
            canvas.cell(at(store.element), rows[1], side, side, number(store.value), ink=Ink.RESULT)
        added = sum(store.value for store in stores if store.element >= size and store.block < block)
        canvas.arrow(middle, rows[1] + side + 10, middle, rows[2] - 6)
        plate = (rows[1] + side + rows[2]) / 2 + 2
        canvas.plate(middle, plate, 50, f"+ {number(added)}")
        for before in range(block):
            canvas.bend(at(size + before) + side / 2, rows[1] + side + 4, middle + 30, plate)
    for element, value in enumerate(result):
        canvas.cell(at(element), rows[2], side, side, number(value), ink=Ink.RESULT)
        canvas.label(
            at(element) + side / 2, rows[2] + side + 13, str(element), "middle", size=Size.LABEL, quiet=True
        )
    return canvas


def draw_complete_narrow(facts: Facts, sheet: Sheet) -> Canvas:
    """The same, one row for each block in each of the three stages."""
    stores, a, result, threads = _complete(facts)
    size, blocks = len(a), len(result) - len(a)
    side, wide, left = 38, (PHONE - 2) // threads, 1
    pitch = side + 28
    after = (None, {store.element: store.value for store in stores}, dict(enumerate(result)))
    titles: tuple[Text | str, ...] = (
        "a",
        Text("output after kernel 1"),
        Text("output after kernel 2"),
    )
    high = (24 + blocks * (side + 3), 24 + blocks * pitch + pitch, 24 + blocks * pitch)
    canvas = sheet(left + threads * wide + 8, sum(high) + 2 * 16 + 6)
    y = 0.0
    for stage, (title, held) in enumerate(zip(titles, after, strict=True)):
        canvas.label(left, y + 12, title, bold=True, size=Size.VALUE)
        top = y + 24
        for block in range(blocks):
            first, last = block * threads, min((block + 1) * threads, size)
            if stage:
                added = sum(result[size + each] for each in range(block))
                text = (
                    Text("block {block}: scan").of(block=block)
                    if stage == 1
                    else Text("block {block}: + {added}").of(block=block, added=number(added))
                )
                canvas.label(left, top + 12, text, size=Size.LABEL, quiet=True)
                top += 24
            for element in range(first, last):
                value = a[element] if held is None else held[element]
                ink = Ink.PLAIN if held is None else Ink.RESULT
                canvas.cell(left + (element - first) * wide, top, wide, side, number(value), ink=ink)
            top += side + (4 if stage else 3)
        if stage == 1 and held is not None:
            canvas.label(left, top + 12, Text("block sums"), size=Size.LABEL, quiet=True)
            for block in range(blocks):
                value = held[size + block]
                canvas.cell(left + block * wide, top + 24, wide, side, number(value), ink=Ink.RESULT)
        y += high[stage] + 16
    return canvas


def _complete(facts: Facts) -> tuple[list[Access], list[float], list[float], int]:
    """The stores of the first kernel to the output, the input, the final output, the threads of a block."""
    stores = list(facts.trace(_COMPLETE).accesses("store", _OUTPUT))
    a = facts.inputs("complete")["a"].tolist()
    return stores, a, facts.expected("complete")["out"].tolist(), facts.constant("TPB")


FIGURES = (
    responsive("p14", draw_steps, traces=(_SIMPLE,)),
    responsive("p14-race", draw_race, traces=(_SIMPLE,)),
    Figure("p14-complete", draw_complete, traces=(_COMPLETE,), narrow=draw_complete_narrow),
)
