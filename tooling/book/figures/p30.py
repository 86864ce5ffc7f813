"""Puzzle 30: the sectors that a warp requests in each of three kernels, their times and bandwidths."""

from __future__ import annotations

from tooling.book.figures.canvas import Canvas, Ink, Sheet
from tooling.book.figures.charts import Bar, Limit, draw_bars
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import responsive
from tooling.book.figures.h200 import measured, recorded
from tooling.text import Text

_RUNS = ("p30 --kernel1", "p30 --kernel2 unsolved", "p30 --kernel3 unsolved")
_REQUESTED = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"  # sectors
_FROM_MEMORY = "dram__bytes_read.sum"
_BEFORE, _AFTER = "p30 --benchmark, unsolved", "p30 --benchmark"
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
    return draw_requests(sheet, pictures, narrow=narrow, most_rows=2, counted=True)


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
            Bar(requested / 1e6, f"{requested / 1e6:,.0f}", Ink.LIVE, Text("requested")),
            Bar(read / 1e6, f"{read / 1e6:,.0f}", Ink.RESULT, Text("from device memory")),
        )
        for kernel, (requested, read) in counted_reads(facts).items()
    }
    return draw_bars(sheet, rows, Text("data (MB)"), narrow=narrow)


def draw_times(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Bars: the time of each kernel before the puzzle is solved."""
    rows = {
        kernel: (Bar(one.microseconds, f"{one.microseconds:.1f}", Ink.LIVE),)
        for kernel, (one,) in measured(facts, _BEFORE).items()
    }
    return draw_bars(sheet, rows, Text("time (µs)"), narrow=narrow)


def draw_bandwidths(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Bars: the bandwidth of each kernel before the puzzle is solved and after it, and that of a copy."""
    runs = [measured(facts, run) for run in (_BEFORE, _AFTER)]
    states = ((Text("as given"), Ink.LIVE), (Text("repaired"), Ink.RESULT))
    rows = {
        kernel: [
            Bar(run[kernel][0].bandwidth, f"{run[kernel][0].bandwidth:,.0f}", ink, name)
            for run, (name, ink) in zip(runs, states, strict=True)
        ]
        for kernel in runs[0]
    }
    copies = [one.of_a_copy for run in runs for (one,) in run.values()]
    copy = round(sum(copies) / len(copies), -2)  # the ratios have three digits
    limit = Limit(copy, Text("a copy: {speed} GB/s").of(speed=f"{copy:,.0f}"))
    return draw_bars(sheet, rows, Text("bandwidth (GB/s)"), limits=[limit], narrow=narrow)


FIGURES = (
    responsive("p30-reads", draw_reads),
    responsive("p30", draw_requests_of_a, traces=_RUNS),
    responsive("p30-times", draw_times),
    responsive("p30-bandwidths", draw_bandwidths),
)
