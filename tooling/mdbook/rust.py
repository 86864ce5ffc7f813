"""Rust's definitions of a line, a space, a word character and a number, where Python's differ.

mdBook is written in Rust and parses its directives with `str::lines`, `split_whitespace`, `usize::from_str`
and the Unicode classes of the regex crate. Each function here agrees with one of them for every input.
"""

from __future__ import annotations

import re
import sys
import unicodedata

# White_Space of the Unicode character database. Python's `\s` has U+001C to U+001F besides.
SPACES = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
SPACES += "\u2028\u2029\u202f\u205f\u3000"

_NOT_SPACE = re.compile(f"[^{SPACES}]+")
_DIGITS = re.compile(r"\+?[0-9]+")
_ASCII_NAME = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_USIZE_MAX = 2 * sys.maxsize + 1
# Circled and squared letters: category So, yet Other_Alphabetic, hence `\w` of the regex crate.
_OTHER_ALPHABETIC = ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))
_WORD_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nl", "Mn", "Mc", "Me", "Nd", "Pc"})


def lines(text: str) -> list[str]:
    r"""The lines of `str::lines`: ended by `\n` or `\r\n`, an empty last one dropped, a lone `\r` kept."""
    found = text.split("\n")
    last = found.pop()
    if "\r" in text:
        found = [line[:-1] if line.endswith("\r") else line for line in found]
    if last:
        found.append(last)
    return found


def words(text: str) -> list[str]:
    """The words of `str::split_whitespace`."""
    return _NOT_SPACE.findall(text)


def usize(text: str) -> int | None:
    """The number that `str::parse::<usize>` reads, or None: digits only, `+` allowed, 64 bits."""
    if not _DIGITS.fullmatch(text):
        return None
    number = int(text)
    return number if number <= _USIZE_MAX else None


def is_word(character: str) -> bool:
    r"""Whether `\w` of the regex crate matches this character."""
    if character.isascii():
        return character.isalnum() or character == "_"
    if unicodedata.category(character) in _WORD_CATEGORIES or character in "\u200c\u200d":
        return True
    code = ord(character)
    return any(first <= code <= last for first, last in _OTHER_ALPHABETIC)


def leading_name(text: str) -> str:
    r"""What `[\w-]*` of the regex crate matches at the start of a text."""
    end = len(text) - len(text.lstrip(_ASCII_NAME))
    while end < len(text) and (text[end] == "-" or is_word(text[end])):
        end += 1
    return text[:end]


def is_alphanumeric(character: str) -> bool:
    """Whether `char::is_alphanumeric` holds: Alphabetic, or of category Nd, Nl or No."""
    if character.isalnum():
        return True
    code = ord(character)
    # Vowel signs of Indic scripts are marks and yet Alphabetic; a nukta or virama is not.
    return any(first <= code <= last for first, last in _OTHER_ALPHABETIC)
