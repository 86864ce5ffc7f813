"""Puzzle 28: what the threads of a block do while its tile is being copied, and the windows of a tile."""

from __future__ import annotations

from msgspec import Struct

from tooling.book.figures.canvas import PAGE, PHONE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure, responsive
from tooling.book.figures.lanes import Row, cells, draw_rows
from tooling.book.figures.traces import BARRIER, SHARED
from tooling.text import Text

_PROGRAM = "p28_tile_tensor"
_A, _WEIGHTS = 1, 2  # the kernel's arguments
_BLOCK = 1  # whose tile is drawn; its first element is not the vector's


class _Step(Struct, frozen=True):
    """What threads of a block do between two synchronisation points, and how many do it."""

    title: Text
    threads: Text
    ink: Ink


def _steps(facts: Facts) -> tuple[_Step, _Step, _Step, _Step]:
    """The steps before the synchronisation points, and those after them, by the trace of a block."""
    events = list(facts.trace(_PROGRAM).of_block(_BLOCK))
    barrier = next(position for position, event in enumerate(events) if event.action == BARRIER)
    tile, weights = (
        next(event for event in events[:barrier] if (event.action, event.buffer) == ("load", buffer))
        for buffer in (_A, _WEIGHTS)
    )
    windows = [e for e in events[barrier:] if (e.action, e.buffer) == ("load", SHARED)]
    counts = {len(event.threads) for event in windows}
    return (
        _Step(Text("start the copy"), _threads(len(tile.threads)), Ink.LIVE),
        _Step(Text("load the weights"), _threads(len(weights.threads)), Ink.LIVE),
        _Step(Text("compute the sums"), _threads(max(counts)), Ink.RESULT),
        _Step(Text("copy the edges"), _threads(min(counts)), Ink.RESULT),
    )


def draw_overlap(facts: Facts, sheet: Sheet) -> Canvas:
    """The steps of the threads from left to right, and below them the copy that they overlap with.

    A line across both is the wait for the copy, a shorter one the barrier. Different threads take the steps
    after it, so these are above each other.
    """
    start, weights, *last = _steps(facts)
    names = Text("threads"), Text("hardware")
    canvas = sheet(PAGE, 0)
    left = canvas.names_end(names)
    waits = Text("waits")
    wide = [_width(canvas, step) for step in (start, weights)]
    high, top, spacing = 72, 38, 6
    second = left + wide[0] + spacing
    wait = second + wide[1] + spacing
    copied = wait + canvas.length(waits, Size.LABEL) + 36  # where the wait for the copy ends
    synchronised = copied + 30
    below, end = top + high + 46, PAGE - 1
    canvas.height = below + 50
    canvas.name(top + high / 2, names[0])
    canvas.name(below + 20, names[1])
    for x, width, step in ((left, wide[0], start), (second, wide[1], weights)):
        canvas.cell(x, top, width, high, ink=step.ink)
        _write(canvas, (x + width / 2, top + high / 2), step)
    canvas.cell(wait, top, copied - 8 - wait, high, waits, ink=Ink.SPARE, size=Size.LABEL)
    for line, step in enumerate(last):
        x, y = synchronised + 10, top + line * high / 2
        canvas.cell(x, y, end - x, high / 2, ink=step.ink)
        colour = step.ink.text
        canvas.label(x + 14, y + high / 4, step.title, colour=colour)
        canvas.label(end - 14, y + high / 4, step.threads, "end", size=Size.SMALL, colour=colour)
    middle = left + wide[0] / 2
    canvas.cell(middle, below, copied - 8 - middle, 40, Text("copies the tile"), ink=Ink.LIVE)
    canvas.arrow(middle + 24, top + high + 4, middle + 24, below - 4)
    for x, name, anchor, bottom in (
        (copied, "async_copy_wait_all()", "end", below + 50),
        (synchronised, "barrier()", "start", top + high + 10),
    ):
        canvas.label(x, 13, name, anchor, mono=True, size=Size.LABEL)
        canvas.arrow(x, 26, x, bottom, head=False, dashed=True)
    return canvas


def _width(canvas: Canvas, step: _Step) -> float:
    """How wide the cell of a step is."""
    return 28 + max(canvas.length(step.title, Size.VALUE), canvas.length(step.threads, Size.SMALL))


def _write(canvas: Canvas, middle: tuple[float, float], step: _Step, size: Size = Size.VALUE) -> None:
    """The two lines of a step in its cell."""
    x, y = middle
    colour = step.ink.text
    canvas.label(x, y - 9, step.title, "middle", size=size, colour=colour)
    canvas.label(x, y + 9, step.threads, "middle", size=Size.SMALL, colour=colour)


def draw_overlap_narrow(facts: Facts, sheet: Sheet) -> Canvas:
    """The steps from top to bottom, and the copy next to those that it overlaps with."""
    start, weights, sums, edges = _steps(facts)
    steps: tuple[_Step | str, ...] = (start, weights, "async_copy_wait_all()", "barrier()", sums, edges)
    left, wide, high, pitch, gap = 1, 206, 40, 54, 32
    x = left + wide + gap
    side = PHONE - 1 - x
    canvas = sheet(x + side + 1, 30 + len(steps) * pitch)
    canvas.label(left, 12, Text("threads of a block"), size=Size.VALUE, bold=True)
    canvas.label(x, 12, Text("hardware"), size=Size.VALUE, bold=True)
    middle = left + wide / 2
    for index, step in enumerate(steps):
        top = 28 + index * pitch
        if isinstance(step, str):
            canvas.cell(left, top, wide, high, step, size=Size.LABEL)
        else:
            canvas.cell(left, top, wide, high, ink=step.ink)
            _write(canvas, (middle, top + high / 2), step, Size.LABEL)
        if index:
            canvas.arrow(middle, top - (pitch - high) + 2, middle, top - 3)
    begin, end = 28 + high / 2, 28 + 2 * pitch + high / 2
    canvas.cell(x, begin, side, end - begin, Text("copies the tile"), ink=Ink.LIVE, size=Size.LABEL)
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
    Figure("p28", draw_overlap, traces=(_PROGRAM,), narrow=draw_overlap_narrow),
    responsive("p28-tile", draw_tile),
)
