"""Reads the buffers that a program prints: `out: HostBuffer([0.0, 1.5, ..., 7.0])`.

Grammar (white space between tokens is ignored, so a matrix may span lines):

    line    = label ":" value
    value   = ("HostBuffer" | "DeviceBuffer") "(" list ")" | list
    list    = "[" [ item { "," item } ] "]"
    item    = number | "..." | list
    number  = ["+" | "-"] ( digits ["." digits] [exponent] | "nan" | "inf" ) | "True" | "False"
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

_START = re.compile(
    r"^[ \t]*(?P<label>[^\n:\[\]()]{1,80}?):[ \t]*(?:(?P<kind>HostBuffer|DeviceBuffer)\()?(?=\[)", re.M
)
_TOKEN = re.compile(
    r"\s*(?:(?P<number>[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|nan|inf)|True|False)"
    r"|(?P<elision>\.\.\.)|(?P<mark>[\[\],]))"
)
_MOST_ITEMS = 1_000_000


class Elision(Struct, frozen=True):
    """The `...` in place of the elements of a long buffer that are not printed."""


class Listing(Struct, frozen=True):
    """One printed buffer."""

    label: str
    kind: str  # HostBuffer, DeviceBuffer, or "" for a bare list
    items: tuple[object, ...]  # float, Elision or a nested tuple of these
    line: int  # where it begins in the text, from 1
    column: int

    def numbers(self) -> Iterator[float]:
        """All numbers that are printed, in order."""
        yield from _flatten(self.items)


def parse_listings(text: str) -> tuple[Listing, ...]:
    """Every printed buffer of a text, in order; other text is ignored."""
    found: list[Listing] = []
    position = 0
    while match := _START.search(text, position):
        position = match.end()
        parsed = _parse_list(text, match.end())
        if parsed is None:
            continue
        items, end = parsed
        if match.group("kind"):
            if not text.startswith(")", end):
                continue
            end += 1
        begin = match.start("label")
        line_start = text.rfind("\n", 0, begin) + 1
        found.append(
            Listing(
                match.group("label").strip(),
                match.group("kind") or "",
                items,
                text.count("\n", 0, begin) + 1,
                begin - line_start + 1,
            )
        )
        position = end
    return tuple(found)


def _parse_list(text: str, position: int) -> tuple[tuple[object, ...], int] | None:
    """The list that begins at `position`, and where it ends; None where the text is not a list."""
    stack: list[list[object]] = []
    separated = True  # the next item follows a comma or is the first one
    count = 0
    while match := _TOKEN.match(text, position):
        position = match.end()
        mark = match.group("mark")
        if mark == ",":
            if separated or not stack:
                return None
            separated = True
            continue
        if mark == "]":
            if not stack or (separated and stack[-1]):
                return None
            done = tuple(stack.pop())
            if not stack:
                return done, position
            stack[-1].append(done)
            separated = False
            continue
        if not separated:
            return None
        if mark == "[":
            stack.append([])
            continue
        if not stack:
            return None
        stack[-1].append(Elision() if match.group("elision") else _number(match.group("number")))
        separated = False
        count += 1
        if count > _MOST_ITEMS:
            return None
    return None


def _number(text: str) -> float:
    if text in ("True", "False"):
        return float(text == "True")
    return float(text)


def _flatten(items: tuple[object, ...]) -> Iterator[float]:
    for item in items:
        if isinstance(item, tuple):
            yield from _flatten(item)
        elif isinstance(item, float):
            yield item
