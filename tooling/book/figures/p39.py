"""Puzzle 39: the ranks of a warp's keys in one round, and the elements to which a warp stores."""

from __future__ import annotations

import numpy as np

from tooling.book.figures.canvas import Canvas, Ink, Sheet
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import responsive
from tooling.book.figures.lanes import WARP, Row, cells, draw_rows
from tooling.text import Text

_ROUND = 2  # of the first warp
_OF_WARP = slice(WARP, 2 * WARP)  # the second one, whose first store has two digits


def draw_ranks(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The digits of a round, how many equal ones are in earlier rounds, and how many in the lanes below."""
    own = _digits(facts, "pass", facts.constant("SHIFT"))[: (_ROUND + 1) * WARP].tolist()
    before, now = own[: _ROUND * WARP], own[_ROUND * WARP :]
    counts = [before.count(digit) for digit in now]
    below = [now[:lane].count(digit) for lane, digit in enumerate(now)]
    ranks = [count + number for count, number in zip(counts, below, strict=True)]
    own_lane = tuple((lane, lane) for lane in range(WARP))
    rows = (
        Row(Text("digit"), _row(now, Ink.PLAIN)),
        Row(Text("equal digits in earlier rounds"), _row(counts, Ink.LIVE), short=Text("earlier rounds")),
        Row("pop_count(same & below)", _row(below, Ink.LIVE), call="lanes_with", short=Text("lanes below")),
        Row("ranks[r]", _row(ranks, Ink.RESULT), own_lane),
    )
    columns = (2, 3, 4, 5, None, 30, 31) if narrow else (0, 1, 2, 3, 4, 5, 6, 7, None, 29, 30, 31)
    return draw_rows(sheet, rows, columns, Text("lane"), narrow=narrow)


def draw_stores(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The elements to which a warp stores in the first pass, without and with the local sort."""
    digits = _digits(facts, "sort", 0)
    target = np.empty(digits.size, np.int64)
    target[np.argsort(digits, kind="stable")] = np.arange(digits.size)
    block = digits[: facts.constant("THREADS") * facts.constant("ROUNDS")]
    ordered = np.argsort(block, kind="stable")
    rows = (
        Row("scatter", _row(target[_OF_WARP].tolist(), Ink.RESULT)),
        Row("scatter_sorted", _row(target[ordered[_OF_WARP]].tolist(), Ink.RESULT)),
    )
    columns = (0, 1, None, 19, 20, None, 31) if narrow else (0, 1, 2, None, 18, 19, 20, 21, None, 30, 31)
    return draw_rows(sheet, rows, columns, Text("lane"), narrow=narrow)


def _digits(facts: Facts, mode: str, shift: int) -> np.ndarray:
    return facts.inputs(mode)["keys"] >> np.uint32(shift) & np.uint32((1 << facts.constant("BITS")) - 1)


def _row(values: list[int], ink: Ink) -> dict[int, tuple[str, Ink]]:
    return dict(cells(dict(enumerate(map(str, values))), ink))


FIGURES = (responsive("p39", draw_ranks), responsive("p39-stores", draw_stores))
