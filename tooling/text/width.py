"""The width of a text on a terminal, and its lines."""

from __future__ import annotations

from unicodedata import east_asian_width


def columns(text: str) -> int:
    """Columns on a terminal: wide characters such as Hangul take two."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def wrapped(text: str, width: int) -> list[str]:
    """The lines of a text, broken at spaces, each of at most `width` columns if its words allow it."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and columns(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
