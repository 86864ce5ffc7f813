"""Puzzle 27: three functions of a block, and what the threads hold before and after each."""

from __future__ import annotations

from itertools import accumulate

from tooling.book.figures.canvas import Canvas, Ink, Sheet
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive
from tooling.book.figures.lanes import WARP, Row, cells, draw_rows
from tooling.book.figures.traces import SHARED
from tooling.text import Text

_SUM = "p27_tile_tensor --block-sum-dot-product"
_BIN = 1  # the histogram's bin that is drawn
_UNKNOWN = "?"


def draw_functions(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The same elements as the argument of block.sum, block.prefix_sum and block.broadcast."""
    own = facts.inputs("normalize")["a"].tolist()
    threads = range(len(own))
    before = [0, *accumulate(own)]
    rows = (
        Row(Text("argument"), cells({i: number(own[i]) for i in threads}, Ink.PLAIN)),
        Row(
            "sum" if narrow else "block.sum",
            cells({**dict.fromkeys(threads, _UNKNOWN), 0: number(sum(own))}, Ink.SPARE, {0: Ink.LIVE}),
        ),
        Row(
            "prefix_sum" if narrow else "block.prefix_sum",
            cells({i: number(before[i]) for i in threads}, Ink.LIVE),
        ),
        Row(
            "broadcast" if narrow else "block.broadcast",
            cells(dict.fromkeys(threads, number(own[0])), Ink.LIVE),
        ),
    )
    columns = (0, 1, 2, 3, None, 126, 127) if narrow else (0, 1, 2, 3, 4, 5, None, 126, 127)
    return draw_rows(sheet, rows, columns, Text("thread"), narrow=narrow)


def draw_block_sum(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The sums of the warps, their way through shared memory, and the total."""
    trace = facts.trace(_SUM)
    sums = {store.element: number(store.value) for store in trace.accesses("store", SHARED, 0)}
    warps = range(trace.block[0] // WARP)
    (total,) = facts.expected("block-sum-dot-product")["out"].tolist()
    threads = {warp: f"{warp * WARP}–{warp * WARP + WARP - 1}" for warp in warps}
    sums = {warp: sums[warp] for warp in warps}
    rows = (
        Row(Text("threads"), cells(threads, Ink.PLAIN)),
        Row(
            Text("sum of the warp"), cells(sums, Ink.LIVE), call="warp.sum", separate=True, short=Text("sum")
        ),
        Row(
            Text("shared memory"),
            cells(sums, Ink.LIVE),
            tuple((warp, warp) for warp in warps),
            short=Text("shared"),
        ),
        Row(
            Text("total, thread 0"),
            cells({0: f"{total:.0f}"}, Ink.RESULT),
            tuple((warp, 0) for warp in warps),
            short=Text("total"),
            barrier=True,
        ),
    )
    return draw_rows(sheet, rows, tuple(warps), Text("warp"), narrow=narrow)


def draw_histogram(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """One launch of the histogram: which elements belong to the bin, and their indices in its row."""
    own = facts.inputs("histogram")["a"].tolist()
    bins = facts.constant("NUM_BINS")
    threads = range(len(own))
    chosen = [min(int(own[i] * bins), bins - 1) for i in threads]
    belongs = [int(each == _BIN) for each in chosen]
    index = [0, *accumulate(belongs)]
    other = {i: Ink.SPARE for i in threads if not belongs[i]}
    rows = (
        Row("own", cells({i: f"{own[i]:.2f}" for i in threads}, Ink.PLAIN)),
        Row("bin", cells({i: str(chosen[i]) for i in threads}, Ink.LIVE, other)),
        Row("belongs", cells({i: str(belongs[i]) for i in threads}, Ink.LIVE, other)),
        Row("place", cells({i: str(index[i]) for i in threads}, Ink.LIVE), call="block.prefix_sum"),
        Row(
            Text("index in row {row}").of(row=_BIN),
            cells({i: str(index[i]) for i in threads if belongs[i]}, Ink.RESULT),
            short=Text("index"),
        ),
    )
    columns: tuple[int | None, ...] = (12, 13, None, 24, 25, None, 93, 127)
    if not narrow:
        columns = (11, 12, 13, 14, None, 24, 25, None, 92, 93, 94, None, 127)
    return draw_rows(sheet, rows, columns, Text("thread"), narrow=narrow)


def draw_normalize(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """From all threads to one, and from one to all."""
    own = facts.inputs("normalize")["a"].tolist()
    result = facts.expected("normalize")["out"].tolist()
    threads = range(len(own))
    total = sum(own)
    mean = number(total / len(own))
    first = {0: Ink.LIVE}
    unknown = dict.fromkeys(threads, _UNKNOWN)
    ones = dict.fromkeys(threads, "1")
    rows = (
        Row("own", cells({i: number(own[i]) for i in threads}, Ink.PLAIN)),
        Row("total", cells({**unknown, 0: number(total)}, Ink.SPARE, first), call="block.sum"),
        Row("mean", cells({**ones, 0: mean}, Ink.SPARE, first)),
        Row("mean", cells(dict.fromkeys(threads, mean), Ink.LIVE), call="block.broadcast"),
        Row("output", cells({i: f"{result[i]:.3f}" for i in threads}, Ink.RESULT)),
    )
    columns = (0, 1, 2, 3, None, 126, 127) if narrow else (0, 1, 2, 3, 4, 5, None, 126, 127)
    return draw_rows(sheet, rows, columns, Text("thread"), narrow=narrow)


FIGURES = (
    responsive("p27", draw_functions),
    responsive("p27-sum", draw_block_sum, traces=(_SUM,)),
    responsive("p27-histogram", draw_histogram),
    responsive("p27-normalize", draw_normalize),
)
