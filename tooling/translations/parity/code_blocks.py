"""Compares code, except for what a translator may translate.

Comments may be translated, and so may any line with letters of the translation's language that English does
not have; everything else must be identical.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from textwrap import dedent

from msgspec import Struct

_STRING = r"\"\"\".*?\"\"\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
_HASH = re.compile(rf"({_STRING})|[ \t]*#[^\n]*", re.DOTALL)
_SHELL = re.compile(r"(\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*')|(?:^|(?<=\s))[ \t]*#[^\n]*", re.MULTILINE)
_SLASHES = re.compile(rf"({_STRING})|[ \t]*//[^\n]*|[ \t]*/\*.*?\*/", re.DOTALL)
_DASHES = re.compile(rf"({_STRING})|[ \t]*--[^\n]*", re.DOTALL)
_SEMICOLON = re.compile(r"(\"[^\"\n]*\")|[ \t]*;[^\n]*")
_MARKUP = re.compile(r"(\0)|<!--.*?-->", re.DOTALL)

_COMMENTS: dict[str, re.Pattern[str]] = {
    **dict.fromkeys(("mojo", "python", "py", "toml", "yaml", "yml", "ruby", "r", "make", "cmake"), _HASH),
    **dict.fromkeys(("bash", "sh", "shell", "zsh", "console", "dockerfile"), _SHELL),
    **dict.fromkeys(("c", "cpp", "c++", "cuda", "rust", "js", "javascript", "ts", "go", "java"), _SLASHES),
    **dict.fromkeys(("ptx", "css", "hip", "metal", "json5", "swift", "kotlin"), _SLASHES),
    **dict.fromkeys(("sql", "lua", "haskell"), _DASHES),
    **dict.fromkeys(("asm", "ini", "lisp"), _SEMICOLON),
    **dict.fromkeys(("html", "xml", "svg", "markdown", "md"), _MARKUP),
}


class CodeDifference(Struct, frozen=True):
    """The first difference between two pieces of code; lines count from 0; None: no such line."""

    source_line: int | None
    target_line: int | None
    source_text: str
    target_text: str


def language_name(language: str) -> str:
    """The canonical name of a fence's language; no language is `text`."""
    name = language.lower()
    return name if name not in ("", "txt", "plaintext") else "text"


def _significant(code: str, language: str) -> list[tuple[int, str]]:
    """Line number and text of each line that has more than a comment."""
    comments = _COMMENTS.get(language_name(language))
    if comments is not None:
        code = comments.sub(lambda match: match[1] if match[1] else "\n" * match[0].count("\n"), code)
    lines = dedent(code).split("\n")  # in a list a block may be indented
    return [(number, line.rstrip()) for number, line in enumerate(lines) if line.strip()]


def difference(source: str, target: str, language: str, letters: re.Pattern[str]) -> CodeDifference | None:
    """The first difference between the code of source and translation, or None.

    Args:
        language: the programming language.
        letters: a letter that marks a line as translated.
    """
    if source == target:
        return None
    ours, theirs = _significant(source, language), _significant(target, language)
    left, right = [line for _, line in ours], [line for _, line in theirs]
    if left == right:
        return None
    if len(left) == len(right):
        for (number, line), (other_number, other) in zip(ours, theirs, strict=True):
            if line != other and not letters.search(other):
                return CodeDifference(number, other_number, line, other)
        return None
    for tag, start, stop, other_start, other_stop in SequenceMatcher(None, left, right, False).get_opcodes():
        if tag == "equal":
            continue
        missing = ours[start:stop]
        added = [entry for entry in theirs[other_start:other_stop] if not letters.search(entry[1])]
        free = (other_stop - other_start) - len(added)  # a translated line may replace any line
        if len(missing) > free + len(added) or added:
            first = missing[0] if missing else (None, "")
            second = added[0] if added else (None, "")
            return CodeDifference(first[0], second[0], first[1], second[1])
    return None
