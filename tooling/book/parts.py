"""The marks of the parts: a pattern of cells and a hue each, the same wherever a part is named."""

from __future__ import annotations

import re
from functools import lru_cache

from tooling.book.marks import cells_path
from tooling.catalog.model import PartNumber

_NUMBER = re.compile(r"\b([IVX]+|\d+)(?=:|부:)")
_PATTERNS = (
    "####/..../..../++++",  # one element, one thread, one result
    "++++/++#+/++++/++++",  # one that is wrong
    "++++/##++/#+++/#+++",  # a tree of additions
    "..#./.###/..#./.#.#",  # a graph
    "#..#/++++/++++/#..#",  # a table, of which rows are read
    "##.+/##.+/..../+..+",  # tiles and elements
    "#..#/.##./.##./#..#",  # lanes that exchange values
    "####/#++#/#++#/####",  # a block
    "##++/##++/++##/++##",  # two buffers in turn
    "...#/.#.#/.###/####",  # measurements
    "#+#+/+#+#/#+#+/+#+#",  # the fragments of a matrix
    "#+++/.#++/..#+/...#",  # an offset from line to line
    "#.+./#.+./#.+./#.+.",  # elements of one thread, a step apart
)
"""For each part the rows of its pattern: `#` strong, `+` pale, `.` hardly visible."""


def part_number(title: str) -> int | None:
    """The number in the title of a part, such as `Part III: …` or `3부: …`; None where it has none."""
    found = _NUMBER.search(title)
    if found is None:
        return None
    return int(found[1]) if found[1].isdigit() else int(PartNumber(found[1]))


def part_style(number: int) -> str:
    """The attribute that gives an element the hue of a part; the style sheet computes it."""
    return f'style="--part: {number}"'


@lru_cache
def glyph(number: int) -> str:
    """The pattern of a part as inline SVG, hidden from screen readers: the name is next to it."""
    rows = _PATTERNS[number - 1].split("/")
    strong, pale, faint = (cells_path(rows, sign, 3) for sign in "#+.")
    return (
        f'<svg class="glyph" viewBox="0 0 15 15" aria-hidden="true"><path d="{strong}"/>'
        f'<path opacity=".35" d="{pale}"/><path opacity=".14" d="{faint}"/></svg>'
    )
