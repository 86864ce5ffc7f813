"""Puzzle 38: what the blocks have published when one of them looks back, and what it adds."""

from __future__ import annotations

import numpy as np

from tooling.book.figures.canvas import Canvas, Ink, Sheet
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import responsive
from tooling.book.figures.lanes import Row, cells, draw_rows
from tooling.text import Text

_BLOCK = 6  # looks back
_KNOWN = 3  # blocks know the sum of all elements up to their last one


def draw_look_back(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The flag and the value of each block before the one that looks back, and the values that it adds."""
    tile = facts.constant("THREADS") * facts.constant("ROUNDS") * 4
    a = facts.inputs("scan")["a"]
    aggregates = np.add.reduceat(a, range(0, a.size, tile))[:_BLOCK]
    prefixes = aggregates.cumsum()
    published = [int(prefixes[i] if i < _KNOWN else aggregates[i]) for i in range(_BLOCK)]
    added = range(_KNOWN - 1, _BLOCK)
    known = dict.fromkeys(range(_KNOWN), Ink.SUM)
    first = facts.expected("scan")["out"][_BLOCK * tile - 1]
    assert sum(published[i] for i in added) == first
    rows = (
        Row(Text("flag"), cells({i: "P" if i < _KNOWN else "A" for i in range(_BLOCK)}, Ink.PLAIN)),
        Row(Text("value"), cells({i: str(value) for i, value in enumerate(published)}, Ink.LIVE, known)),
        Row(
            Text("adds"),
            cells({i: str(published[i]) for i in added}, Ink.LIVE, known),
            tuple((i, i) for i in added),
        ),
        Row("prefix", cells({_BLOCK: str(first)}, Ink.RESULT), tuple((i, _BLOCK) for i in added)),
    )
    return draw_rows(sheet, rows, tuple(range(_BLOCK + 1)), Text("block"), narrow=narrow)


FIGURES = (responsive("p38", draw_look_back),)
