"""Puzzle 25: values that move between the lanes of a warp, to the next lane or from one lane to all."""

from __future__ import annotations

from functools import partial

from tooling.book.figures.canvas import Canvas, Ink, Sheet
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure
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
    Figure(
        "p25",
        Text(
            "`shuffle_down` by 1: each lane gets the value of the lane above. No lane is above the last "
            "one, so its value (pale) is not defined. Below, the difference that each lane writes."
        ),
        Text(
            "Columns for the lanes 0 to 31. Each lane has its own element, the square of its number: 0, "
            "1, 4, 9, 16 up to 784, 841, 900, 961. An arrow leads from each lane to the lane below it, "
            "so that lane 0 gets 1, lane 1 gets 4, and lane 30 gets 961. The cell of lane 31 is pale. "
            "The output is 1, 3, 5, 7, 9 up to 57, 59, 61, and 0 for the last lane."
        ),
        draw_shuffle,
        narrow=partial(draw_shuffle, narrow=True),
    ),
    Figure(
        "p25-window",
        Text(
            "The border between the two warps of `--average`. Pale values of `next` and `after_next` come "
            "from no other lane. There the window shrinks to two elements, then to one."
        ),
        Text(
            "Columns for the elements 28 to 34. A gap between 31 and 32 separates the two warps, whose "
            "lanes are 28 to 31 and 0 to 2. The elements are 435, 465, 496, 528, 561, 595 and 630. "
            "In lanes 28 and 29 next and after_next are the following two elements. Lane 30 has next, "
            "528, but no after_next, lane 31 has neither. The output is 465.33, 496.33, 512, 528, "
            "595.33, 630.33 and 666.33."
        ),
        draw_window,
        narrow=partial(draw_window, narrow=True),
    ),
    Figure(
        "p25-broadcast",
        Text(
            "Lane 0 adds the first four elements; in the other lanes `total` is still 0 (pale). The "
            "broadcast copies the value of lane 0 to all lanes."
        ),
        Text(
            "Columns for the lanes 0 to 31, whose elements are 1 to 32. Arrows lead from the elements 1, "
            "2, 3 and 4 to lane 0, where total is 10; in the other lanes it is 0. After warp.broadcast "
            "it is 10 in every lane. The output is 11, 12, 13, 14 up to 42."
        ),
        draw_broadcast,
        narrow=partial(draw_broadcast, narrow=True),
    ),
)
