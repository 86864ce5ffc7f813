"""Puzzle 26: partners by XOR, the last steps of a butterfly, and the indices of a partition."""

from __future__ import annotations

from itertools import accumulate

from tooling.book.figures.canvas import Canvas, Ink, Sheet
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive
from tooling.book.figures.lanes import WARP, Row, cells, draw_rows
from tooling.text import Text

_LANES = range(WARP)
_FEW = range(8)


def draw_partners(_: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The first eight lanes in binary, and the partners of each for three masks."""
    rows = [Row(Text("lane, binary"), cells({lane: f"{lane:03b}" for lane in _FEW}, Ink.PLAIN))]
    for mask in (1, 2, 4):
        label = Text("partner, mask {mask}").of(mask=f"{mask:03b}")
        rows.append(Row(label, cells({lane: str(lane ^ mask) for lane in _FEW}, Ink.LIVE)))
    return draw_rows(sheet, rows, tuple(_FEW), Text("lane"), narrow=narrow)


def draw_butterfly(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """--parallel-max in the last eight lanes: what each knows after each exchange."""
    values = facts.inputs("parallel-max")["a"].tolist()
    lanes = tuple(range(WARP - len(_FEW), WARP))
    own = cells({lane: number(values[lane]) for lane in lanes}, Ink.PLAIN)
    reached = frozenset({WARP - 1})  # the lanes that have got the last lane's element
    rows = [Row("a[global_i]", own, short="a", reached=reached)]
    mask = WARP // 2
    while mask:
        values = [max(values[lane], values[lane ^ mask]) for lane in _LANES]
        inside = mask < len(_FEW)
        label, step = (
            (Text("after mask {mask}"), str(mask)) if inside else (Text("after masks 16 and 8"), "16, 8")
        )
        arrows = tuple(
            (source, lane) for lane in lanes for source in ((lane, lane ^ mask) if inside else (lane,))
        )
        if mask <= len(_FEW):
            marked = frozenset(arrow for arrow in arrows if arrow[0] in reached and inside)
            reached |= {lane for _, lane in marked}
            held = cells({lane: number(values[lane]) for lane in lanes}, Ink.LIVE)
            text = label.of(mask=mask)
            rows.append(Row(text, held, arrows, marked, dashed=not inside, step=step, reached=reached))
        mask //= 2
    return draw_rows(sheet, rows, lanes, Text("lane"), steps=Text("mask"), narrow=narrow)


def draw_partition(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """--partition in the first lanes: the flags, their exclusive scan, and the index of each element."""
    own = facts.inputs("partition")["a"].tolist()
    pivot = facts.constant("PIVOT")
    flags = [int(value < pivot) for value in own]
    before = [0, *accumulate(flags)][:-1]
    total = sum(flags)
    index = [before[i] if flags[i] else total + i - before[i] for i in _LANES]
    right = {lane: Ink.SPARE for lane in _LANES if not flags[lane]}
    texts = ((lane, number(own[lane])) for lane in _LANES)
    rows = (
        Row("own", cells(dict(texts), Ink.PLAIN)),
        Row("goes_left", cells({lane: str(flags[lane]) for lane in _LANES}, Ink.LIVE, right)),
        Row(
            "left_before",
            cells({lane: str(before[lane]) for lane in _LANES}, Ink.LIVE),
            call="warp.prefix_sum[exclusive=True]",
        ),
        Row(
            Text("index in output"),
            cells({lane: str(index[lane]) for lane in _LANES}, Ink.RESULT),
            short=Text("index"),
        ),
    )
    columns = (0, 1, 2, 3, 4, None, 30, 31) if narrow else (0, 1, 2, 3, 4, 5, 6, 7, None, 29, 30, 31)
    return draw_rows(sheet, rows, columns, Text("lane"), narrow=narrow)


FIGURES = (
    responsive("p26", draw_partners),
    responsive("p26-butterfly", draw_butterfly),
    responsive("p26-partition", draw_partition),
)
