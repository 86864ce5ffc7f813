"""Puzzle 23: a vector cut into tiles, one thread for each tile."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tooling.book.figures.canvas import Canvas, Ink
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import Figure
from tooling.text import Text

Sheet = Callable[[int, int], Canvas]


def draw_tiles(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """All tiles in a strip; one of them enlarged, with the steps of its thread."""
    size, tile = facts.constant("SIZE"), facts.constant("TILE_SIZE")
    tiles = size // tile
    strip: tuple[int | None, ...] = (0, 1, None, tiles - 1) if narrow else (0, 1, 2, 3, None, tiles - 1)
    steps: tuple[int | None, ...] = (0, 1, 2, 3, 4, None, tile - 2, tile - 1)
    if narrow:
        steps = (0, 1, 2, None, tile - 1)
    left, width, skipped = (4, 92, 40) if narrow else (24, 112, 112)
    whole = (len(strip) - 1) * width + skipped
    canvas = sheet(left + whole + left, 300)
    canvas.label(left, 22, Text("{size} elements in {tiles} tiles").of(size=size, tiles=tiles), bold=True)
    x: float = left
    for number in strip:
        if number is None:
            canvas.label(x + skipped / 2, 104, "…", "middle", size=20, quiet=True)
            x += skipped
            continue
        name = Text("thread {number}").of(number=number)
        canvas.label(x + width / 2, 54, name, "middle", size=13, quiet=True)
        canvas.arrow(x + width / 2, 64, x + width / 2, 82)
        ink = Ink.LIVE if number == 1 else Ink.PLAIN
        span = f"{number * tile}–{number * tile + tile - 1}"
        canvas.cell(x + 3, 86, width - 6, 38, span, ink=ink, size=13 if narrow else 14)
        tile_id, small = f"tile_id = {number}", 11 if narrow else 12
        canvas.label(x + width / 2, 138, tile_id, "middle", size=small, quiet=True, mono=True)
        x += width
    canvas.arrow(left + width + 3, 150, left, 192, head=False, dashed=True)
    canvas.arrow(left + 2 * width - 3, 150, left + whole, 192, head=False, dashed=True)
    cell = whole / len(steps)
    for index, step in enumerate(steps):
        x = left + index * cell
        if step is None:
            canvas.label(x + cell / 2, 218, "…", "middle", size=20, quiet=True)
            continue
        canvas.cell(x + 2, 198, cell - 4, 40, str(tile + step), ink=Ink.LIVE)
        canvas.label(x + cell / 2, 254, Text("step {step}").of(step=step), "middle", size=12, quiet=True)
    canvas.label(
        left + whole / 2,
        282,
        Text("thread 1, one element after the other"),
        "middle",
        quiet=True,
    )
    return canvas


def draw_step(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The request that a warp makes in the first step of its loop."""
    from tooling.book.figures.requests import draw_request, request  # noqa: PLC0415 - brings NumPy

    trace = facts.trace("p23 --tiled")
    first = next(event for event in trace.events if event.action == "load")
    return draw_request(sheet, request(trace, first), narrow=narrow)


FIGURES = (
    Figure(
        "p23-tiles",
        Text("One thread for each tile. Inside its tile the thread works alone, an element at a time."),
        Text(
            "A strip of 1024 elements cut into 32 tiles of 32. Thread 0 has elements 0 to 31, thread 1 "
            "has 32 to 63, and so "
            "on to thread 31 with 992 to 1023. Enlarged: thread 1 adds element 32 in step 0, 33 in step "
            "1, up to 63 in step 31."
        ),
        draw_tiles,
        narrow=partial(draw_tiles, narrow=True),
    ),
    Figure(
        "p23-memory",
        Text(
            "The memory request of one step of the loop. Each row is 128 bytes, with its offset on the "
            "left, and a number is the thread that reads there. Memory is transferred in sectors of 32 "
            "bytes (coloured): every thread needs 4 bytes and transfers 32."
        ),
        Text(
            "A map of the input, a row for every 128 bytes. In each row the first of four 32-byte sectors "
            "is coloured, and its first word belongs to one thread: thread 0 in the first row, thread 1 "
            "in the second, and so on, to 32 rows for the 32 threads of the warp."
        ),
        draw_step,
        traces=("p23 --tiled",),
        narrow=partial(draw_step, narrow=True),
    ),
)
