"""Puzzle 30: the sectors that a warp requests in each of three kernels, and what the kernels took."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tooling.book.figures.canvas import Canvas
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import Figure
from tooling.text import Text

Sheet = Callable[[int, int], Canvas]

_RUNS = ("p30 --kernel1", "p30 --kernel2 unsolved", "p30 --kernel3 unsolved")
_WARP = 1  # of the first block; warp 0 of kernel3 also has the element where it wraps around


def draw_requests_of_a(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """What one warp reads of `a`, kernel by kernel."""
    from tooling.book.figures.requests import draw_requests, request  # noqa: PLC0415 - brings NumPy

    pictures = []
    for run in _RUNS:
        trace = facts.trace(run)
        load = next(event for event in trace.events if event.action == "load")
        heading = run.split()[1].removeprefix("--")
        pictures.append((heading, request(trace, load, _WARP)))
    return draw_requests(sheet, pictures, narrow=narrow, left=72 if narrow else 80)


FIGURES = (
    Figure(
        "p30",
        Text(
            "What warp 1 of the first block reads of a in each kernel, before the puzzle is solved. "
            "Each line is 128 bytes, cut into sectors of 32 bytes; a number is the thread that reads "
            "there. A coloured sector is moved as a whole."
        ),
        Text(
            "Three maps of memory. In kernel1, threads 0 to 31 of the warp fill the four sectors of "
            "one line. In kernel2 each thread reads the first word of a sector of its own, 2,048 "
            "bytes after that of the thread before; the other seven words are moved and not used. In "
            "kernel3 the threads read 32 neighbouring words from right to left, but these begin with "
            "the second word of a sector, so a fifth sector is moved for the last word."
        ),
        draw_requests_of_a,
        traces=_RUNS,
        narrow=partial(draw_requests_of_a, narrow=True),
    ),
)
