"""Puzzle 37: the bins of each block and their sums, and the lanes of a warp that have equal bytes."""

from __future__ import annotations

import numpy as np

from tooling.book.figures.canvas import Canvas, Ink, Sheet
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import responsive
from tooling.book.figures.lanes import WARP, Row, cells, draw_rows
from tooling.text import Text

_WARP = 15  # of the array: the first one with two values


def draw_bins(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The counts of some values in each block, and in all of them."""
    blocks, threads, bins = map(facts.constant, ("BLOCKS", "TPB", "BINS"))
    a = facts.inputs("shared")["a"]
    block_of = np.arange(a.size) // threads % blocks
    rows = []
    for block in range(blocks):
        counts = np.bincount(a[block_of == block], minlength=bins).tolist()
        label = Text("block {number}").of(number=block)
        rows.append(Row(label, cells(dict(enumerate(map(str, counts))), Ink.LIVE)))
    total = facts.expected("shared")["out"].tolist()
    same = tuple((i, i) for i in range(bins))
    rows.append(Row("counts", cells(dict(enumerate(map(str, total))), Ink.RESULT), same))
    columns = (0, 1, 2, None, 254, 255) if narrow else (0, 1, 2, 3, 4, None, 253, 254, 255)
    return draw_rows(sheet, rows, columns, Text("bin"), narrow=narrow)


def draw_merged(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The bytes of a warp, how many lanes have the byte of each, and what the first of them adds."""
    own = facts.inputs("merged")["a"][_WARP * WARP : (_WARP + 1) * WARP].tolist()
    number = {lane: str(own.count(own[lane])) for lane in range(WARP)}
    leaders = {lane: number[lane] for lane in range(WARP) if own.index(own[lane]) == lane}
    other = {lane: Ink.SPARE for lane in range(WARP) if lane not in leaders}
    rows = (
        Row("byte", cells({lane: str(own[lane]) for lane in range(WARP)}, Ink.PLAIN)),
        Row("pop_count(same)", cells(number, Ink.LIVE, other), call="lanes_with", short="number"),
        Row(
            Text("adds to its bin"),
            cells(leaders, Ink.RESULT),
            tuple((lane, lane) for lane in leaders),
            short=Text("adds"),
        ),
    )
    columns = (0, 1, None, 19, 20, 21, None, 31) if narrow else (0, 1, 2, None, 18, 19, 20, 21, None, 30, 31)
    return draw_rows(sheet, rows, columns, Text("lane"), narrow=narrow)


FIGURES = (responsive("p37", draw_bins), responsive("p37-merged", draw_merged))
