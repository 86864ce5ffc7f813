"""Formats text for a terminal: Korean syllables are two columns wide, and colour is optional."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import TextIO

from msgspec import Struct

from tooling.text import ENGLISH, Sentence, in_language
from tooling.text.colours import style_codes, wants_colour

_PLAIN = str.maketrans(
    {"→": "->", "§": "section ", "…": "...", "·": "-", "—": "-", "─": "-", "“": '"', "”": '"'}
)
_COMBINING_JAMO = range(0x1160, 0x1200)  # vowels and final consonants that join the syllable before them


class Style(Struct, frozen=True):
    """Whether to use colour, and the language of sentences."""

    colour: bool = False
    language: str = ENGLISH

    def __call__(self, sentence: str | Sentence, *names: str) -> str:
        text: str = in_language(sentence, self.language)
        if not self.colour or not text or not names:
            return text
        codes = style_codes()
        return f"\x1b[{';'.join(codes[name] for name in names)}m{text}\x1b[0m"


def style_for(stream: TextIO, language: str) -> Style:
    return Style(wants_colour(stream), language)


def encodable(text: str, encoding: str | None) -> str:
    """The text with what an encoding lacks replaced by something readable."""
    name = encoding or "ascii"
    try:
        text.encode(name)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(name, "replace").decode(name)
    return text


def width(text: str) -> int:
    """The width of the text on a terminal, in columns."""
    if text.isascii():
        return len(text)
    columns = 0
    for character in text:
        if unicodedata.combining(character) or ord(character) in _COMBINING_JAMO:
            continue
        if unicodedata.category(character) in ("Cf", "Me", "Mn"):
            continue
        columns += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return columns


def pad(text: str, columns: int) -> str:
    """The text followed by spaces up to a number of columns."""
    return text + " " * max(0, columns - width(text))


def table(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The rows with every cell but the last padded to its column's width."""
    if not rows:
        return []
    columns = [max(width(row[index]) for row in rows) for index in range(len(rows[0]))]
    return [
        [pad(cell, columns[index]) if index < len(row) - 1 else cell for index, cell in enumerate(row)]
        for row in rows
    ]
