"""Puzzle 30: the sectors that a warp requests in each of three kernels, and what the kernels took."""

from __future__ import annotations

from functools import partial

from tooling.book.figures.canvas import Canvas, Ink, Sheet
from tooling.book.figures.charts import Bar, draw_bars
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import Figure
from tooling.book.figures.h200 import Measured, measured, recorded
from tooling.text import Text

_RUNS = ("p30 --kernel1", "p30 --kernel2 unsolved", "p30 --kernel3 unsolved")
_REQUESTED = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"  # sectors
_FROM_MEMORY = "dram__bytes_read.sum"
_SECTOR = 32  # bytes
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
    return draw_requests(sheet, pictures, narrow=narrow, above=True, most_rows=3)


def counted_reads(facts: Facts) -> dict[str, tuple[int, int]]:
    """The bytes that the loads of each unsolved kernel requested, and those read from device memory."""
    profile = recorded(facts, "benchmarks.json", "profiles", "p30 --all, unsolved")
    return {
        kernel: (counts[_REQUESTED] * _SECTOR, counts[_FROM_MEMORY]) for kernel, counts in profile.items()
    }


def draw_reads(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Bars: the bytes that loads request, and those that come from device memory."""
    rows = {
        kernel: (
            Bar(requested, f"{requested / 1e6:,.0f} MB", Ink.LIVE),
            Bar(read, f"{read / 1e6:,.0f} MB", Ink.RESULT),
        )
        for kernel, (requested, read) in counted_reads(facts).items()
    }
    key = ((Ink.LIVE, Text("requested")), (Ink.RESULT, Text("from device memory")))
    return draw_bars(sheet, rows, key=key, narrow=narrow)


def draw_times(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Bars: the time of each kernel before the puzzle is solved and after it."""
    before, after = (measured(facts, run) for run in ("p30 --benchmark, unsolved", "p30 --benchmark"))

    def bar(one: Measured, ink: Ink) -> Bar:
        return Bar(one.microseconds, f"{one.microseconds:.1f} µs", ink)

    rows = {
        kernel: (bar(old[-1], Ink.LIVE), bar(after[kernel][-1], Ink.RESULT)) for kernel, old in before.items()
    }
    key = ((Ink.LIVE, Text("as given")), (Ink.RESULT, Text("repaired")))
    return draw_bars(sheet, rows, key=key, narrow=narrow)


FIGURES = (
    Figure(
        "p30-reads",
        Text(
            "What `ncu` counted on an H200 for the three unsolved kernels: the bytes that their loads "
            "request, sectors times 32, and the bytes that are read from device memory."
        ),
        Text(
            "Two bars for each kernel. kernel1 requests 134 MB and reads 134 MB from device memory. kernel2 "
            "requests 1,074 MB, eight times as much, and reads 147 MB. kernel3 requests 168 MB and reads "
            "134 MB."
        ),
        draw_reads,
        narrow=partial(draw_reads, narrow=True),
    ),
    Figure(
        "p30",
        Text(
            "What warp 1 of the first block reads of `a` in each kernel, before the puzzle is solved. "
            "Each offset labels 128 bytes, four sectors of 32 bytes; a number is the lane that reads "
            "there. A sector is moved as a whole, so words that no lane reads (hatched) are moved, too."
        ),
        Text(
            "Three maps of memory. In kernel1, lanes 0 to 31 of the warp fill the four sectors of one "
            "line. In kernel2 each lane reads the first word of a sector of its own, 2,048 bytes after "
            "that of the lane before; the other seven words are moved and not used. The first three of "
            "the 32 lines are drawn. In kernel3 the lanes read 32 neighbouring words from right to left, "
            "but these begin with the second word of a sector, so a fifth sector is moved for the last "
            "word."
        ),
        draw_requests_of_a,
        traces=_RUNS,
        narrow=partial(draw_requests_of_a, narrow=True),
    ),
    Figure(
        "p30-times",
        Text(
            "The time of each kernel on an H200 for 16,777,216 elements, as it is given and after the repair."
        ),
        Text(
            "Two bars for each kernel, before and after. kernel1: 75.9 and 75.5 microseconds. kernel2: 471.8 "
            "and 75.4 microseconds. kernel3: 93.1 and 76.5 microseconds."
        ),
        draw_times,
        narrow=partial(draw_times, narrow=True),
    ),
)
