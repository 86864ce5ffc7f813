"""Names and replacements of the characters that the compiler calls unexpected, mostly from a copied text."""

from __future__ import annotations

import re
import unicodedata

from tooling.text import Text

UNEXPECTED = "unexpected character"
_NAMED = re.compile(rf"{UNEXPECTED} U\+([0-9A-F]{{4,6}})")
_WRITE = Text("write `{ascii}` in its place")
_SPACE = Text("type an ordinary space in its place; it often comes with copied text")
_INVISIBLE = Text("delete it: it is invisible, and often comes with copied text")
_OTHER = Text("delete or replace it: outside strings and comments, Mojo's code consists of ASCII characters")
_ASCII = {
    "‐‑‒–—−": "-",
    "“”„‟«»″": '"',
    "‘’‚‛′": "'",
    "×∙⋅·": "*",
    "÷∕": "/",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "→": "->",
    "…": "...",
}
_REPLACEMENTS = {letter: ascii for letters, ascii in _ASCII.items() for letter in letters}


def with_name(letter: str) -> str:
    """The compiler's message with the character: U+2212 MINUS SIGN; an ASCII character is its own name."""
    if letter.isascii() and letter.isprintable():
        return f"{UNEXPECTED} `{letter}`"
    name = unicodedata.name(letter, "")
    return f"{UNEXPECTED} U+{ord(letter):04X} {name}".rstrip()


def replacement_hint(message: str) -> Text | None:
    """What to write in place of the character that a message names; None for other messages."""
    match = _NAMED.match(message)
    if match is None:
        return None
    letter = chr(int(match[1], 16))
    category = unicodedata.category(letter)
    plain = _REPLACEMENTS.get(letter) or unicodedata.normalize("NFKC", letter)
    if category == "Zs":
        return _SPACE
    if category in ("Cf", "Cc"):
        return _INVISIBLE
    return _WRITE.of(ascii=plain) if plain.isascii() else _OTHER
