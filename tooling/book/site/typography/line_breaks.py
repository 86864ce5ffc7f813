"""Prevents line breaks in code, flags, tuples and `8 KiB`, and before particles."""

from __future__ import annotations

import re
from html import escape

from tooling.book.code_breaks import breakable_path
from tooling.book.site.tree import Node, add_class, only_text, substituted, texts

_LONGEST = 26  # letters that fit in a list's item on a screen of 360 pixels
_MEDIUM = 48
"""Letters of code that stay in one line on wider screens."""
_PARTS = re.compile(
    r"^uv run (?P<command>tooling [a-z-]+(?: [\w.]+)?)"
    r"|^uv run(?= )|(?<= )tooling [a-z-]+(?: [\w.]+)?|^(?:var )?\w+ \+?=(?= )"
    r"|(?<=\s)(?:--[a-z][\w-]*(?: [a-z][\w./-]*)?|-\w+)"
    r"|(?<=\s)\w+\[[^\[\]]+\]$"
)
"""What stays in one line of longer code: a command with its program, an option with its value, `a[i]`."""
_PUZZLE = re.compile(r"(?:[Pp]uzzle|퍼즐) \d+")
_AFTER_TERM = re.compile(r" (?:[=%≤×·−+-] (?=\d|\Z)|mod (?=\d))")
_BEFORE_TERM = re.compile(r"(?<=\d) [=%×·] \Z")
"""An operator between short terms, one of which is code or a variable."""
_PARTICLE = re.compile(r"[가-힣]")
_COUNTED = (
    r"(?:threads?|lanes?|warps?|blocks?|banks?|sectors?|requests?|passes|steps?|tiles?|rows?|columns?|cells?"
    r"|elements?|words?|bytes?|bits?|terms?|times|lines?|microseconds?)"
)
"""What follows a small number in the same line."""
_UNBROKEN = re.compile(
    r"\b(?:[Pp]uzzle|[Pp]art|[Ll]ane|[Tt]hread|[Ww]arp|[Bb]lock) \d+\b"
    r"|\b(?:[Rr]ow|[Cc]olumn|[Bb]ank|[Ss]tep|[Tt]ile) \d+\b"
    r"|(?:퍼즐|레인|스레드|워프|블록|행|열|뱅크|타일) \d+"
    r"|(?<![가-힣])(?:한|두|세|네|다섯|여섯|일곱|여덟|몇|첫) (?:개|번|가지|줄|행|열|쪽|칸|값|배|단계)"
    r"|\d (?:[KMG]iB?|[kMG]B|[mµn]s|[kMGT]B/s|[GT]FLOP/s)\b"
    r"|수 (?=[있없])"
    r"|(?<![\w.,])\d{1,5} (?:to|or) \d{1,5}\b(?: (?=[a-z(]))?"
    rf"|(?<![\w.,])\d{{1,3}} (?={_COUNTED}\b)"
    rf"|(?<=\d-byte) (?={_COUNTED}\b)"
    r"|\bGPU \d|\b(?:[\d,]+-(?=byte)|x86-(?=64)|[a-z]{1,4}-(?=[a-z]{1,3}\b))"
    r"|(?<=\d)(?: [=·×+−] \d[\d,.]*)+(?<=\d)"
    r"|(?:\b(?:thread|block) |(?:스레드|블록) )?\((?:(?:\d+|[a-z]), )+(?:\d+|[a-z])\)"
    r"|(?<=\w)\)(?=[가-힣])|(?<=\d)%(?=[가-힣])"  # before a particle
    r"|(?<=[가-힣])\(",  # before a gloss
)
_AS_THEY_ARE = frozenset(
    {"nav", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "code", "svg", "math", "script", "style"}
)
_NO_BREAK = "\N{NO-BREAK SPACE}"
_JOINER = "\N{WORD JOINER}"


def keep_together(page: Node) -> None:
    """Prevents these line breaks in a page."""
    for link in page.css("a"):
        child = link.first_child
        if child is not None and child.is_text_node and child.next is None and _PUZZLE.fullmatch(link.text()):
            add_class(link, "short")
    for code in page.css("code"):
        if content := only_text(code):
            _keep_code(code, content)
    for node in texts(page):
        _join_to_terms(node)
    for node in texts(page, _AS_THEY_ARE):
        _rewrite(node, _UNBROKEN.sub(lambda found: _joined(found[0]), node.text()))


def _keep_code(code: Node, content: str) -> None:
    if len(content) <= _LONGEST and not content.startswith("uv run "):
        code.attrs["class"] = "short"
        return
    if len(content) <= _MEDIUM:
        code.attrs["class"] = "medium"
    is_path = len(content) > _LONGEST and " " not in content
    code.inner_html = (
        breakable_path(escape(content)) if is_path else substituted(_PARTS, _unbroken_code, content)
    )


def _unbroken_code(found: re.Match[str]) -> str:
    """A piece of code that stays in one line; so does a command that `uv run` starts, on wider screens."""
    if found["command"]:
        return f'<span class="medium">{_span("uv run")} {_span(found["command"])}</span>'
    return _span(found[0])


def _span(code: str) -> str:
    return (
        f'<span class="{"short" if len(code) <= _LONGEST else "medium"}">{escape(code, quote=False)}</span>'
    )


def _join_to_terms(node: Node) -> None:
    """Operators between code or variables, and particles after code or a formula."""
    content, before, after = node.text(), node.prev, node.next
    is_term = [each is not None and each.tag in ("code", "em") for each in (before, after)]
    operator = _AFTER_TERM.match(content) if is_term[0] else None
    if operator and (is_term[1] or operator.end() < len(content)):
        content = operator[0].replace(" ", _NO_BREAK) + content[operator.end() :]
    if is_term[1]:
        content = _BEFORE_TERM.sub(lambda found: found[0].replace(" ", _NO_BREAK), content)
    if before is not None and before.tag in ("code", "math") and _PARTICLE.match(content):
        content = _JOINER + content
    _rewrite(node, content)


def _rewrite(node: Node, content: str) -> None:
    if content != node.text():
        node.replace_with(content)


def _joined(words: str) -> str:
    if words == "(":
        return _JOINER + words
    return words + _JOINER if words in ")%" or words[-1] == "-" else words.replace(" ", _NO_BREAK)
