"""The marks of pages: signs drawn with the cells that the figures use for elements.

A page of a puzzle shows the puzzle's number, another page one or two signs that stand for what it is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

_SIGNS = {
    "0": "###/#.#/#.#/#.#/###",
    "1": ".#./##./.#./.#./###",
    "2": "###/..#/###/#../###",
    "3": "###/..#/###/..#/###",
    "4": "#.#/#.#/###/..#/..#",
    "5": "###/#../###/..#/###",
    "6": "###/#../###/#.#/###",
    "7": "###/..#/..#/.#./.#.",
    "8": "###/#.#/###/#.#/###",
    "9": "###/#.#/###/..#/###",
    "?": "###/..#/.##/.../.#.",
    "!": ".#./.#./.#./.../.#.",
    ">": "#../.#./..#/.#./#..",
    "_": ".../.../.../.../###",
    "[": "##./#../#../#../##.",
    "]": ".##/..#/..#/..#/.##",
    "=": ".../###/.../###/...",
    "+": ".../.#./###/.#./...",
    "▣": ".#.#.#./#######/.#@@@#./##@@@##/.#@@@#./#######/.#.#.#.",
    "A": ".#./#.#/###/#.#/#.#",
    "Z": "###/..#/.#./#../###",
}
"""The rows of each sign: five of three cells, and of the only sign of its page, a chip with pins, seven.

The cells of its core, written as @, touch each other.
"""

_PAGES = {
    "introduction.html": "?!",
    "howto.html": ">_",
    "basics/mojo.html": "[]",
    "basics/why.html": "?>",
    "basics/gpu.html": "▣",
    "basics/warps.html": "=>",
    "bonuses/part4.html": "+1",
    "next.html": ">>",
    "trust.html": "==",
    "glossary.html": "AZ",
}
_COLUMNS, _ROWS = 9, 7


def mark_of(page: str, puzzle: int | None) -> str:
    """The mark of a page as inline SVG, hidden from screen readers; empty for a page without one.

    Args:
        page: its address in the edition.
        puzzle: the number of its puzzle, if it belongs to one.
    """
    signs = _PAGES.get(page, "") if puzzle is None else f"{puzzle:02}"
    return draw(signs) if signs else ""


def cells_path(rows: Sequence[str], sign: str, side: int) -> str:
    """The SVG path of the cells with this sign in rows of signs: squares with a unit between them."""
    pitch = side + 1
    return "".join(
        f"M{pitch * x} {pitch * y}h{side}v{side}h-{side}z"
        for y, row in enumerate(rows)
        for x, each in enumerate(row)
        if each == sign
    )


@lru_cache
def draw(signs: str) -> str:
    """Signs, strong, in the middle of a grid of 9 by 7 pale cells."""
    lines = [".".join(parts) for parts in zip(*(_SIGNS[sign].split("/") for sign in signs), strict=True)]
    left, top = (_COLUMNS - len(lines[0])) // 2, (_ROWS - len(lines)) // 2
    cells = {(left + x, top + y): cell for y, line in enumerate(lines) for x, cell in enumerate(line)}
    every = [(x, y) for y in range(_ROWS) for x in range(_COLUMNS)]

    def drawn(x: int, y: int) -> str:
        wide, high = (
            4 if cells.get((x, y)) == cells.get(neighbour) == "@" else 3
            for neighbour in ((x + 1, y), (x, y + 1))
        )
        return f"M{4 * x} {4 * y}h{wide}v{high}h-{wide}z"

    shown = "".join(drawn(*cell) for cell in every if cells.get(cell, ".") != ".")
    pale = "".join(drawn(*cell) for cell in every if cells.get(cell, ".") == ".")
    return (
        f'<svg class="glyph" viewBox="0 0 {4 * _COLUMNS - 1} {4 * _ROWS - 1}" aria-hidden="true">'
        f'<path d="{shown}"/><path class="pale" d="{pale}"/></svg>'
    )
