"""Puzzle 9: when the error of a kernel is reported, an incomplete window, a barrier that one thread skips."""

from __future__ import annotations

import re

from tooling.book.figures.canvas import PAGE, PHONE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure, responsive
from tooling.book.figures.grids import Grid, Square, draw_grids, numbered
from tooling.text import Text

_HOST = Text("host")
_ERROR = Text("error")
_BAD_READ = Text("invalid read")
_RETURNS, _WAITS = Text("returns at once"), Text("waits for the GPU")
_THREAD = Text("thread {thread}")
_OFFSETS = (-1, 0, 1)  # of the elements that a window should have


def draw_launch(_: Facts, sheet: Sheet) -> Canvas:
    """What the host and the GPU do, from left to right."""
    canvas = sheet(PAGE, 184)
    left = canvas.names_end([_HOST])
    call, failed = 190, 140  # the widths of the first and the last cell of the host
    end = PAGE - 1 - failed
    canvas.label(1, 40, _HOST)
    canvas.label(1, 136, "GPU")
    canvas.cell(left, 20, call, 40, "enqueue_function", size=Size.VALUE)
    canvas.label(left + 2, 76, _RETURNS, size=Size.LABEL, quiet=True)
    between = end - left - call - 12
    canvas.cell(left + call + 6, 20, between, 40, "synchronize()", ink=Ink.SPARE, size=Size.VALUE)
    canvas.cell(end, 20, failed, 40, _ERROR, ink=Ink.WRONG)
    canvas.label(left + call + 6 + between / 2, 76, _WAITS, "middle", size=Size.LABEL, quiet=True)
    canvas.curve(left + call - 46, 63, left + call + 38, 113)
    canvas.cell(left + call + 16, 116, end - left - call - 40, 40, "add_10", ink=Ink.LIVE)
    canvas.curve(end - 46, 113, end + failed / 2, 63)
    canvas.label(end - 26, 172, _BAD_READ, "end", size=Size.LABEL, quiet=True)
    return canvas


def draw_launch_narrow(_: Facts, sheet: Sheet) -> Canvas:
    """The same from top to bottom."""
    left, wide, right, end = 1, 172, 225, PHONE - 1
    canvas = sheet(end + 1, 270)
    canvas.label(left, 12, _HOST, bold=True)
    canvas.label(right, 12, "GPU", bold=True)
    calls = (
        (28, 56, "enqueue_function", _RETURNS, Ink.PLAIN),
        (90, 112, "synchronize()", _WAITS, Ink.SPARE),
    )
    for top, high, call, what, ink in calls:
        canvas.cell(left, top, wide, high, ink=ink)
        middle, colour = left + wide / 2, ink.text
        canvas.label(middle, top + high / 2 - 10, call, "middle", mono=True, colour=colour)
        canvas.label(middle, top + high / 2 + 11, what, "middle", size=Size.LABEL, colour=colour)
    canvas.cell(left, 208, wide, 44, _ERROR, ink=Ink.WRONG)
    canvas.side_curve(left + wide + 3, 56, right - 3, 118)
    canvas.cell(right, 98, end - right, 92, "add_10", ink=Ink.LIVE)
    canvas.label(end, 204, _BAD_READ, "end", size=Size.LABEL, quiet=True)
    canvas.side_curve(right - 3, 170, left + wide + 3, 230)
    return canvas


def draw_windows(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """For each thread, the elements that its loop adds, the one that it misses, and both sums."""
    values = facts.inputs("second-case")["input"].tolist()
    expected = facts.expected("second-case")["result"].tolist()
    steps = facts.constant("ITER")
    count = len(values)
    side, step, size = (40, 50, Size.VALUE) if narrow else (48, 58, Size.VALUE)
    canvas = sheet(0, 34 + count * step)
    left = 30 if narrow else canvas.names_end([_THREAD.of(thread=0)])
    got_at = left + count * side + (38 if narrow else 32)
    right_at = got_at + side + (38 if narrow else 32)
    canvas.width = right_at + side + (10 if narrow else 24)
    canvas.label(left + count * side / 2, 14, "input", "middle", mono=True, size=Size.LABEL)
    canvas.label(got_at + side / 2, 14, "result", "middle", mono=True, size=Size.LABEL)
    canvas.label(
        right_at + side / 2, 14, Text("expected", context="figure"), "middle", size=Size.LABEL, quiet=True
    )
    for thread in range(count):
        top = 30 + thread * step
        title = f"T{thread}" if narrow else _THREAD.of(thread=thread)
        canvas.label(1, top + side / 2, title, size=size)
        window = [thread + offset for offset in _OFFSETS if 0 <= thread + offset < count]
        added = [thread + offset for offset in _OFFSETS[:steps] if 0 <= thread + offset < count]
        for element, value in enumerate(values):
            x = left + element * side
            if element in window and element not in added:
                _missed(canvas, x, top, side, number(value))
            else:
                ink = Ink.LIVE if element in added else Ink.SPARE
                canvas.cell(x, top, side, side, number(value), ink=ink, size=size)
        got = sum(values[element] for element in added)
        canvas.arrow(left + count * side + 4, top + side / 2, got_at - 4, top + side / 2)
        ink = Ink.RESULT if got == expected[thread] else Ink.WRONG
        canvas.cell(got_at, top, side, side, number(got), ink=ink, size=size)
        canvas.cell(right_at, top, side, side, number(expected[thread]), size=size)
    return canvas


def draw_barrier(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Every thread up to the barrier; the last one returns before it."""
    threads = facts.constant("SIZE")
    left, wide, line = (32, 172, 262) if narrow else (76, 194, 332)
    high, step, size = 38, 52, Size.VALUE
    bottom = 40 + threads * step
    canvas = sheet(line + 120, bottom + 4)
    canvas.arrow(line, 30, line, bottom - 8, head=False, dashed=True)
    canvas.plate(line, 16, 90, "barrier()")
    for thread in range(threads):
        top = 40 + thread * step
        title = f"T{thread}" if narrow else _THREAD.of(thread=thread)
        canvas.label(1, top + high / 2, title)
        if thread < threads - 1:
            canvas.cell(left, top, wide, high, f"shared[{thread}] = …", ink=Ink.LIVE, size=size)
            canvas.arrow(left + wide + 4, top + high / 2, line - 3, top + high / 2)
            waits = Text("waits")
            canvas.label(line + 10, top + high / 2, waits, size=Size.LABEL, quiet=True)
        else:
            canvas.cell(left, top, wide, high, Text("returns", context="figure"), ink=Ink.SPARE, size=size)
            canvas.label(line + 10, top + high / 2, Text("never arrives"), size=Size.LABEL)
    return canvas


def _missed(canvas: Canvas, x: float, y: float, side: float, text: str) -> None:
    """An element that should have been added and was not."""
    canvas.embed(
        f'<rect x="{x + 2:g}" y="{y + 2:g}" width="{side - 4:g}" height="{side - 4:g}" rx="4" fill="none" '
        f'stroke="{Ink.LIVE.line}" stroke-dasharray="4 3"/>',
        (x + 2, y + 2, x + side - 2, y + side - 2),
    )
    canvas.label(x + side / 2, y + side / 2, text, "middle", colour=Ink.LIVE.text, mono=True)


def draw_short_buffer(facts: Facts, sheet: Sheet) -> Canvas:
    """A buffer of one element, and the addresses that the threads read."""
    squares = [
        Square(
            "" if thread else number(0),
            Ink.WRONG if thread else Ink.PLAIN,
            (f"i = {thread}",),
            f"+{4 * thread}",
        )
        for thread in range(facts.constant("SIZE"))
    ]
    return draw_grids(sheet, [Grid("input", [squares])])


def draw_printing(facts: Facts, sheet: Sheet) -> Canvas:
    """The threads of the demonstration, and those that printed a line."""
    printed = {}
    for line in facts.demo("printing"):
        found = re.fullmatch(r"block \d+ i (\d+) reads (.+)", line)
        if found is None:
            raise ValueError(f"not a line of printing.mojo: {line}")
        printed[int(found[1])] = float(found[2])
    blocks = len(printed)
    threads = 4
    rows = [
        [
            Square(f"i = {i}", Ink.LIVE if i in printed else Ink.SPARE)
            for i in range(block * threads, (block + 1) * threads)
        ]
        for block in range(blocks)
    ]
    names = [Text("block {block}").of(block=block) for block in range(blocks)]
    return draw_grids(sheet, [Grid("", rows, numbered(threads), names, heading="thread_idx.x")], side=58)


FIGURES = (
    Figure("p09", draw_launch, narrow=draw_launch_narrow),
    responsive("p09-window", draw_windows),
    responsive("p09-barrier", draw_barrier),
    Figure("p09-short", draw_short_buffer),
    Figure("p09-printing", draw_printing),
)
