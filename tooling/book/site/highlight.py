"""Highlights code at build time: one pattern per language, one pass over the text.

The classes are single letters, as in the style sheet: k keyword, t type, s string, n number,
c comment, f function, p prompt; `hole` is the comment that a learner replaces.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from html import escape, unescape
from textwrap import dedent

_MOJO_KEYWORDS = (
    "abi alias and as assert break capturing case comptime continue def deinit del elif else except "
    "finally for from global if imm import in is lambda match mut not or pass raise raises read ref "
    "return self struct thin trait try unified var where while with yield async await"
)
_MOJO_CONSTANTS = "True False None Self"
_PYTHON_KEYWORDS = (
    "and as assert async await break case class continue def del elif else except finally for from "
    "global if import in is lambda match nonlocal not or pass raise return try while with yield"
)


def _words(words: str) -> str:
    return "|".join(words.split())


@lru_cache  # compiled when a page first shows the language
def _language(keywords: str) -> re.Pattern[str]:
    return re.compile(
        rf"""(?P<hole>\#\ FILL\ ME\ IN.*)
        |(?P<c>\#.*)
        |(?P<s>(?:\b[tfrb])?(?:\"\"\"(?:.|\n)*?\"\"\"|\"(?:\\.|[^"\\\n])*\"|'(?:\\.|[^'\\\n])*'))
        |(?P<n>\b(?:0[xb][0-9a-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\b)
        |(?P<k>@\w+|\bout\b(?=\ [a-z_])|\b(?:{keywords})\b(?!\s*=[^=]))
        |(?P<t>\b(?:[A-Z]\w*[a-z]\w*|SIMD|{_words(_MOJO_CONSTANTS)})\b)
        |(?P<f>\b[a-z_]\w*(?=\s*\(|\[[^\]\n]*\]\())
        |(?P<other>\w+)""",
        re.VERBOSE,
    )


_SHELL = re.compile(
    r"(?P<c>(?:^|(?<=\s))\#.*)|(?P<p>^[$>]\ )|(?P<s>\"[^\"\n]*\"|'[^'\n]*')|(?P<k>(?<!\S)--?[\w-]+)"
    r"|(?P<f>^(?:\w+=\S+\ )*[\w.-]+)",
    re.MULTILINE,
)
_PATTERNS: dict[str, Callable[[], re.Pattern[str]]] = {
    "mojo": lambda: _language(_words(_MOJO_KEYWORDS)),
    "python": lambda: _language(_words(_PYTHON_KEYWORDS)),
    "bash": lambda: _SHELL,
    "console": lambda: _SHELL,
    "sh": lambda: _SHELL,
}
_BLOCK = re.compile(r'(<pre[^>]*><code class="language-(\w+)[^"]*">)(.*?)(</code></pre>)', re.DOTALL)


@lru_cache(maxsize=4096)  # both editions show the same code
def highlight(code: str, language: str) -> str:
    """Code as HTML; text in an unknown language is only escaped."""
    if language not in _PATTERNS:
        return escape(code, quote=False)
    pattern = _PATTERNS[language]()
    pieces: list[str] = []
    done = 0
    for match in pattern.finditer(code):
        kind = match.lastgroup
        if kind == "other":
            continue
        start, end = match.span()
        pieces.append(escape(code[done:start], quote=False))
        pieces.append(f'<span class="{kind}">{escape(code[start:end], quote=False)}</span>')
        done = end
    pieces.append(escape(code[done:], quote=False))
    return "".join(pieces)


def highlight_page(html: str) -> str:
    """A rendered page with its code blocks coloured."""
    return _BLOCK.sub(_colour, html)


def _colour(match: re.Match[str]) -> str:
    opening, language, code, closing = match.groups()
    # An included region often ends with the blank lines that separate it from the next one.
    code = code.rstrip() + "\n"
    if language in _PATTERNS:
        # It may also come from the inside of a function.
        code = highlight(dedent(unescape(code)), language)
    return opening + code + closing
