"""Puzzle 46: an online softmax in numbers, a thread's part of a product, and the tiles of a causal mask."""

from __future__ import annotations

import math

from tooling.book.figures.canvas import PAGE, PHONE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import responsive
from tooling.text import Sentence, Text

_TILES = ((1.0, 3.0), (2.0, 0.0), (4.0, 3.0))
"""The scores of a query, in tiles of two keys."""
_LANE = 5


def draw_online(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """A column for each tile: its scores, the maximum so far, the correction, and the sum of the weights."""
    del facts
    names: list[Sentence] = [Text("scores"), Text("maximum"), Text("correction"), Text("sum of the weights")]
    canvas = sheet(0, 0)
    full = PHONE if narrow else PAGE
    left = canvas.names_end(names)
    wide, high, top = (full - 1 - left) / len(_TILES), 32, 24
    most, total = -math.inf, 0.0
    for number, scores in enumerate(_TILES):
        x = left + number * wide
        canvas.label(
            x + wide / 2, 10, Text("tile {number}").of(number=number), "middle", size=Size.LABEL, quiet=True
        )
        new = max(most, *scores)
        correction = math.exp(most - new)
        total = total * correction + sum(math.exp(score - new) for score in scores)
        for i, score in enumerate(scores):
            ink = Ink.MARK if score == new > most else Ink.LIVE
            canvas.cell(x + i * wide / len(scores), top, wide / len(scores), high, f"{score:g}", ink=ink)
        values = (f"{new:g}", f"{correction:.2f}", f"{total:.2f}")
        for row, value in enumerate(values, start=1):
            ink = Ink.RESULT if row == len(values) else Ink.PLAIN
            canvas.cell(x, top + row * high, wide, high, value, ink=ink)
        most = new
    for row, name in enumerate(names):
        canvas.name(top + row * high + high / 2, name)
    bottom = top + len(names) * high + 22
    canvas.legend(left, bottom, (Ink.MARK, Text("a new maximum")))
    canvas.width, canvas.height = full, round(bottom + 14)
    return canvas


def draw_part(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The first 16 columns of a warp's 16 rows: what one lane has of them, and its row's other lanes."""
    del facts
    side = 16
    canvas = sheet(0, 0)
    full = PHONE if narrow else PAGE
    left, top, high = 26, 22, 20
    wide = (full - left - 2) / side
    for row in range(side):
        if row % 8 == 0:
            canvas.label(left - 6, top + row * high + high / 2, str(row), "end", size=Size.SMALL, quiet=True)
        for column in range(side):
            x = left + column * wide
            if not row:
                canvas.label(x + wide / 2, 10, str(column), "middle", size=Size.SMALL, quiet=True)
            lane = row % 8 * 4 + column % 8 // 2
            own = lane == _LANE
            number = column // 8 * 4 + row // 8 * 2 + column % 2
            ink = Ink.MARK if own else Ink.LIVE if lane // 4 == _LANE // 4 else Ink.PLAIN
            canvas.cell(x, top + row * high, wide, high, str(number) if own else "", ink=ink, size=Size.LABEL)
    bottom = top + side * high + 22
    canvas.legend(
        left,
        bottom,
        (Ink.MARK, Text("elements of lane {lane}").of(lane=_LANE)),
        (Ink.LIVE, Text("other lanes of the same rows")),
        across=1 if narrow else 2,
    )
    canvas.width, canvas.height = full, round(bottom + (34 if narrow else 14))
    return canvas


def draw_causal(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """A row for the queries of each warpgroup, a column for each tile of keys."""
    positions, keys = facts.constant("POSITIONS"), facts.constant("KEYS")
    queries, block = facts.constant("GROUP_ROWS"), facts.constant("GROUPS") * facts.constant("GROUP_ROWS")
    rows, columns = -(-positions // queries), -(-positions // keys)
    said: list[Sentence] = [
        Text("queries {first}–{last}").of(
            first=row * queries, last=min(positions, row * queries + queries) - 1
        )
        for row in range(rows)
    ]
    canvas = sheet(0, 0)
    full = PHONE if narrow else PAGE
    left = canvas.names_end(said)
    wide, high, top = (full - 1 - left) / columns, 44, 24
    for column in range(columns):
        last = min(positions, column * keys + keys) - 1
        canvas.label(
            left + column * wide + wide / 2,
            10,
            str(column * keys) if narrow else Text("keys {first}–{last}").of(first=column * keys, last=last),
            "middle",
            size=Size.SMALL,
            quiet=True,
        )
    for row in range(rows):
        canvas.name(top + row * high + high / 2, said[row])
        for column in range(columns):
            first_key, last_key = column * keys, column * keys + keys - 1
            if first_key > row * queries // block * block + block - 1:
                ink = Ink.PLAIN
            elif first_key > row * queries + queries - 1:
                ink = Ink.SPARE
            elif last_key > row * queries:
                ink = Ink.MARK
            else:
                ink = Ink.LIVE
            canvas.cell(left + column * wide, top + row * high, wide, high, ink=ink)
    bottom = top + rows * high + 22
    canvas.legend(
        left,
        bottom,
        (Ink.LIVE, Text("every score counts")),
        (Ink.MARK, Text("some are hidden")),
        (Ink.SPARE, Text("all are hidden")),
        (Ink.PLAIN, Text("not copied")),
        across=1 if narrow else 2,
    )
    canvas.width, canvas.height = full, round(bottom + (74 if narrow else 34))
    return canvas


FIGURES = (
    responsive("p46", draw_online),
    responsive("p46-wgmma", draw_part),
    responsive("p46-causal", draw_causal),
)
