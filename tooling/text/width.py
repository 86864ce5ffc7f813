"""The width of a text on a terminal."""

from __future__ import annotations

from unicodedata import east_asian_width


def columns(text: str) -> int:
    """Columns on a terminal: wide characters such as Hangul take two."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
