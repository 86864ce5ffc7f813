"""The marks of the parts: a pattern of cells and a hue each, the same wherever a part is named."""

from __future__ import annotations

import re
from functools import lru_cache

from tooling.book.marks import cells_path
from tooling.catalog.model import PartNumber

_NUMBER = re.compile(r"\b([IVX]+|\d+)(?=:|부:)")
_PATTERNS = {
    1: "####/..../..../++++",  # one element, one thread, one result
    2: "++++/++#+/++++/++++",  # one that is wrong
    3: "++++/##++/#+++/#+++",  # a tree of additions
    4: "..#./.###/..#./.#.#",  # a graph
    5: "#..#/++++/++++/#..#",  # a table, of which rows are read
    6: "##.+/##.+/..../+..+",  # tiles and elements
    7: "#..#/.##./.##./#..#",  # lanes that exchange values
    8: "####/#++#/#++#/####",  # a block
    9: "##++/##++/++##/++##",  # two buffers in turn
    10: "...#/.#.#/.###/####",  # measurements
    11: "#+#+/+#+#/#+#+/+#+#",  # the fragments of a matrix
    12: "#+++/.#++/..#+/...#",  # an offset from line to line
    13: "#.+./#.+./#.+./#.+.",  # elements of one thread, a step apart
    14: "##../##../..++/..++",  # a tile that is copied
    15: "##.#/##+#/#+##/#.##",  # two devices that exchange their borders
}
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
    rows = _PATTERNS[number].split("/")
    strong, pale, faint = (cells_path(rows, sign, 3) for sign in "#+.")
    return (
        f'<svg class="glyph" viewBox="0 0 15 15" aria-hidden="true"><path d="{strong}"/>'
        f'<path opacity=".35" d="{pale}"/><path opacity=".14" d="{faint}"/></svg>'
    )
