"""The marks of pages: signs drawn with the cells that the figures use for elements.

A page of a puzzle shows the puzzle's number, another page one or two signs that stand for what it is about.
"""

from __future__ import annotations

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
    "▣": ".#.#.#./#######/.#...#./##.#.##/.#...#./#######/.#.#.#.",
    "A": ".#./#.#/###/#.#/#.#",
    "Z": "###/..#/.#./#../###",
}
"""The rows of each sign: five of three cells, and of the only sign of its page, a chip with pins, seven."""

_PAGES = {
    "introduction.html": "?!",
    "howto.html": ">_",
    "basics/mojo.html": "[]",
    "basics/gpu.html": "▣",
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


@lru_cache
def draw(signs: str) -> str:
    """Signs, strong, in the middle of a grid of 9 by 7 pale cells."""
    lines = [".".join(parts) for parts in zip(*(_SIGNS[sign].split("/") for sign in signs), strict=True)]
    left, top = (_COLUMNS - len(lines[0])) // 2, (_ROWS - len(lines)) // 2
    strong = {
        (left + x, top + y) for y, line in enumerate(lines) for x, cell in enumerate(line) if cell == "#"
    }
    every = [(x, y) for y in range(_ROWS) for x in range(_COLUMNS)]

    def path(cells: list[tuple[int, int]]) -> str:
        return "".join(f"M{4 * x} {4 * y}h3v3h-3z" for x, y in cells)

    shown = path([cell for cell in every if cell in strong])
    pale = path([cell for cell in every if cell not in strong])
    return (
        f'<svg class="glyph" viewBox="0 0 {4 * _COLUMNS - 1} {4 * _ROWS - 1}" aria-hidden="true">'
        f'<path d="{shown}"/><path class="pale" d="{pale}"/></svg>'
    )
