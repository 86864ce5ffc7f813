"""Puzzle 25: values that move between the lanes of a warp, to the next lane or from one lane to all."""

from __future__ import annotations

from tooling.book.figures.canvas import Canvas, Ink, Sheet
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive
from tooling.book.figures.lanes import WARP, Row, cells, draw_rows
from tooling.text import Text

_LANES = range(WARP)
_LAST = WARP - 1


def draw_shuffle(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """--neighbor: each lane's element, the one it gets from the lane above, and the difference."""
    own = facts.inputs("neighbor")["a"].tolist()
    difference = facts.expected("neighbor")["out"].tolist()
    # The last lane gets its own value back, on the GPUs that the book shows.
    following = {lane: number(own[min(lane + 1, _LAST)]) for lane in _LANES}
    down = tuple((lane, max(lane - 1, 0)) for lane in _LANES if lane)
    rows = (
        Row("own", cells({lane: number(own[lane]) for lane in _LANES}, Ink.PLAIN)),
        Row("next", cells(following, Ink.LIVE, {_LAST: Ink.SPARE}), down),
        Row("output", cells({lane: number(difference[lane]) for lane in _LANES}, Ink.RESULT)),
    )
    columns = (0, 1, 2, None, 29, 30, 31) if narrow else (0, 1, 2, 3, 4, None, 28, 29, 30, 31)
    return draw_rows(sheet, rows, columns, Text("lane"), narrow=narrow)


def draw_window(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """--average: the windows where the first warp ends and the second begins."""
    own = facts.inputs("average")["a"].tolist()
    means = facts.expected("average")["out"].tolist()
    columns = (29, 30, 31, 32, 33) if narrow else (28, 29, 30, 31, 32, 33, 34)

    def received(offset: int) -> dict[int, str]:
        return {i: number(own[i + offset if i % WARP + offset < WARP else i]) for i in columns}

    def outside(offset: int) -> dict[int, Ink]:
        return {i: Ink.SPARE for i in columns if i % WARP + offset >= WARP}

    rows = (
        Row("own", cells({i: number(own[i]) for i in columns}, Ink.PLAIN)),
        Row("next", cells(received(1), Ink.LIVE, outside(1))),
        Row("after_next", cells(received(2), Ink.LIVE, outside(2))),
        Row("output", cells({i: f"{means[i]:.{4 if narrow else 5}g}" for i in columns}, Ink.RESULT)),
    )
    return draw_rows(sheet, rows, columns, "global_i", warp=WARP, narrow=narrow)


def draw_broadcast(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """--broadcast-basic: the sum that lane 0 computes, and that all lanes add."""
    own = facts.inputs("broadcast-basic")["a"].tolist()
    result = facts.expected("broadcast-basic")["out"].tolist()
    total = number(sum(own[:4]))
    zeros = dict.fromkeys(_LANES, "0")
    rows = (
        Row("a[global_i]", cells({lane: number(own[lane]) for lane in _LANES}, Ink.PLAIN), short="a"),
        Row("total", cells({**zeros, 0: total}, Ink.SPARE, {0: Ink.LIVE}), tuple((i, 0) for i in range(4))),
        Row("total", cells(dict.fromkeys(_LANES, total), Ink.LIVE), call="warp.broadcast"),
        Row("output", cells({lane: number(result[lane]) for lane in _LANES}, Ink.RESULT)),
    )
    columns = (0, 1, 2, 3, None, 31) if narrow else (0, 1, 2, 3, 4, 5, None, 30, 31)
    return draw_rows(sheet, rows, columns, Text("lane"), narrow=narrow)


FIGURES = (
    responsive("p25", draw_shuffle),
    responsive("p25-window", draw_window),
    responsive("p25-broadcast", draw_broadcast),
)
