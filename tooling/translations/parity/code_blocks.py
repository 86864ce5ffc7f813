"""Compares code, except for what a translator may translate.

Comments may be translated, and so may string literals (with the same placeholders) and, in a block of no
language, the labels of a drawing; everything else must be identical, the output of a program too.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import zip_longest
from textwrap import dedent

from msgspec import Struct

_STRING = r"\"\"\".*?\"\"\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
_HASH = re.compile(rf"({_STRING})|[ \t]*#[^\n]*", re.DOTALL)
_SHELL = re.compile(r"(\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*')|(?:^|(?<=\s))[ \t]*#[^\n]*", re.MULTILINE)
_SLASHES = re.compile(rf"({_STRING})|[ \t]*//[^\n]*|[ \t]*/\*.*?\*/", re.DOTALL)
_DASHES = re.compile(rf"({_STRING})|[ \t]*--[^\n]*", re.DOTALL)
_SEMICOLON = re.compile(r"(\"[^\"\n]*\")|[ \t]*;[^\n]*")
_MARKUP = re.compile(r"(\0)|<!--.*?-->", re.DOTALL)

_LITERAL = re.compile(_STRING, re.DOTALL)
_PLACEHOLDER = re.compile(r"\{[^{}]*\}|%[-+ 0-9.]*[a-z]")
_DRAWING = re.compile("->|<-|=>|--|\\+-|[|\u2190-\u21ff\u2500-\u257f]")
_SIGN = re.compile(r"[0-9]+|[^\w\s]")

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
        letters: a letter that marks a string literal, or a label of a drawing, as translated.
    """
    if source == target:
        return None
    ours, theirs = _significant(source, language), _significant(target, language)
    matcher = SequenceMatcher(None, [line for _, line in ours], [line for _, line in theirs], False)
    for tag, start, stop, other_start, other_stop in matcher.get_opcodes():
        if tag == "equal":
            continue
        lines, copies = ours[start:stop], theirs[other_start:other_stop]
        for line, copy in zip_longest(lines, copies, fillvalue=(None, "")):
            if line[0] is None or copy[0] is None or not _may_differ(line[1], copy[1], language, letters):
                return CodeDifference(line[0], copy[0], line[1], copy[1])
    return None


def _may_differ(line: str, copy: str, language: str, letters: re.Pattern[str]) -> bool:
    """Whether a line is translated: in its string literals, or in the labels of a drawing."""
    if letters.search(copy) is None:
        return False
    if language_name(language) in _COMMENTS:
        literals, copies = _LITERAL.findall(line), _LITERAL.findall(copy)
        return _LITERAL.sub("", line) == _LITERAL.sub("", copy) and all(
            one == other
            or (letters.search(other) and _PLACEHOLDER.findall(one) == _PLACEHOLDER.findall(other))
            for one, other in zip(literals, copies, strict=True)
        )
    return _DRAWING.search(line) is not None and _SIGN.findall(line) == _SIGN.findall(copy)
