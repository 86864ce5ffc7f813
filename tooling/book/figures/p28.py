"""Puzzle 28: what the threads of a block do while its tile is being copied, and the windows of a tile."""

from __future__ import annotations

from functools import partial

from tooling.book.figures.canvas import PHONE, SMALL, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure
from tooling.book.figures.lanes import Row, cells, draw_rows
from tooling.book.figures.traces import BARRIER, SHARED
from tooling.text import Text

_PROGRAM = "p28_tile_tensor"
_A, _WEIGHTS = 1, 2  # the kernel's arguments
_BLOCK = 1  # whose tile is drawn; its first element is not the vector's


def draw_overlap(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The steps of the threads from top to bottom, and the copy beside those that it overlaps with."""
    events = list(facts.trace(_PROGRAM).of_block(_BLOCK))
    barrier = next(place for place, event in enumerate(events) if event.action == BARRIER)
    tile, weights = (
        next(event for event in events[:barrier] if (event.action, event.buffer) == ("load", buffer))
        for buffer in (_A, _WEIGHTS)
    )
    windows = [e for e in events[barrier:] if (e.action, e.buffer) == ("load", SHARED)]
    counts = {len(event.threads) for event in windows}
    steps: tuple[tuple[Text | str, Text | None, Ink], ...] = (
        (Text("start the copy of the tile"), _threads(len(tile.threads)), Ink.LIVE),
        (Text("load the weights"), _threads(len(weights.threads)), Ink.LIVE),
        ("async_copy_wait_all()", None, Ink.PLAIN),
        ("barrier()", None, Ink.PLAIN),
        (Text("compute the sums"), _threads(max(counts)), Ink.RESULT),
        (Text("copy the edges"), _threads(min(counts)), Ink.RESULT),
    )
    left, wide, high, pitch, gap = (1, 206, 40, 54, 32) if narrow else (1, 250, 44, 60, 44)
    x = left + wide + gap
    side = (PHONE if narrow else SMALL) - 1 - x
    canvas = sheet(x + side + 1, 30 + len(steps) * pitch)
    canvas.label(left, 12, Text("threads of a block"), size=Size.VALUE, bold=True)
    canvas.label(x, 12, Text("hardware"), size=Size.VALUE, bold=True)
    for index, (title, count, ink) in enumerate(steps):
        top = 28 + index * pitch
        middle = left + wide / 2
        canvas.cell(left, top, wide, high, ink=ink)
        colour = canvas.shade.marks[ink][2]
        shift = 9 if count else 0
        size = Size.LABEL if narrow else Size.VALUE
        canvas.label(
            middle,
            top + high / 2 - shift,
            title,
            "middle",
            size=size,
            colour=colour,
            mono=isinstance(title, str),
        )
        if count:
            canvas.label(middle, top + high / 2 + shift, count, "middle", size=Size.SMALL, colour=colour)
        if index:
            canvas.arrow(middle, top - (pitch - high) + 2, middle, top - 3)
    begin, end = 28 + high / 2, 28 + 2 * pitch + high / 2
    canvas.cell(x, begin, side, end - begin, ink=Ink.LIVE)
    colour = canvas.shade.marks[Ink.LIVE][2]
    canvas.label(
        x + side / 2,
        (begin + end) / 2,
        Text("copies the tile"),
        "middle",
        size=Size.LABEL if narrow else Size.VALUE,
        colour=colour,
    )
    canvas.arrow(left + wide + 2, begin, x - 3, begin)
    canvas.arrow(x - 2, end, left + wide + 3, end)
    return canvas


def draw_tile(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The first and last elements of a tile: copied or computed."""
    size, halo = facts.constant("CONV_TILE_SIZE"), facts.constant("HALO_SIZE")
    start = _BLOCK * size
    a = facts.inputs("default")["a"].tolist()[start : start + size]
    out = facts.expected("default")["out"].tolist()[start : start + size]
    threads = range(size)
    edge = {i: Ink.SPARE for i in threads if i < halo or i >= size - halo}
    window = tuple((i, halo) for i in range(2 * halo + 1))
    copies = tuple((i, i) for i in edge)
    rows = (
        Row("a_shared", cells({i: number(a[i]) for i in threads}, Ink.LIVE)),
        Row("output", cells({i: number(out[i]) for i in threads}, Ink.RESULT, edge), window + copies),
    )
    columns: tuple[int | None, ...] = (0, 1, 2, 3, 4, None, 255)
    if not narrow:
        columns = (0, 1, 2, 3, 4, 5, None, 251, 252, 253, 254, 255)
    return draw_rows(sheet, rows, columns, Text("thread"), narrow=narrow)


def _threads(count: int) -> Text:
    return Text("{count} threads").of(count=count)


FIGURES = (
    Figure(
        "p28",
        Text(
            "The threads start the copy and load the weights while the hardware copies the tile. The copy "
            "must be complete before a thread passes `async_copy_wait_all()`."
        ),
        Text(
            "Two columns. On the left the steps of the threads of a block, one below the other: start the "
            "copy of the tile (256 threads), load the weights (5 threads), async_copy_wait_all(), "
            "barrier(), compute the sums (252 threads), copy the edges (4 threads). On the right a box for "
            "the hardware that copies the tile to shared memory. It extends from the first step to the "
            "wait. An arrow leads from the first step to it, another one from it to the wait."
        ),
        draw_overlap,
        traces=(_PROGRAM,),
        narrow=partial(draw_overlap, narrow=True),
    ),
    Figure(
        "p28-tile",
        Text(
            "The tile of block 1. Two elements at each end are copied (pale). Every other element is a sum "
            "of five products; the arrows that meet show the first window."
        ),
        Text(
            "Columns for the threads 0 to 5 and 251 to 255. The elements in shared memory are 257 to 262 and "
            "508 to 512. The output is 257, 258, 3895, 3910, 3925, 3940 and at the other end 7630, 7645, "
            "7660, 511, 512. Five arrows lead to thread 2, from the elements 0 to 4."
        ),
        draw_tile,
        narrow=partial(draw_tile, narrow=True),
    ),
)
