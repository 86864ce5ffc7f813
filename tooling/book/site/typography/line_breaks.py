"""Prevents line breaks in code, flags, tuples and `8 KiB`, and before particles."""

from __future__ import annotations

import re

from tooling.book.code_breaks import breakable_path

_LONGEST = 26  # letters that fit beside a list's bullet on a screen of 360 pixels
_SHORT = re.compile(rf"<code>((?!uv run )[^<]{{1,{_LONGEST}}})</code>")
_MEDIUM = 48
"""Letters of code that stay in one line on wider screens."""
_LONG = re.compile(r"<code>([^<]+)</code>")
_PARTS = re.compile(
    r"(?<=<code>)uv run(?= )|(?<= )tooling [a-z-]+(?: [\w.]+)?|(?<=<code>)(?:var )?\w+ \+?=(?= )"
    r"|(?<=\s)(?:--[a-z][\w-]*(?: [a-z][\w./-]*)?|-\w+)"
    r"|(?<=\s)\w+\[[^\[\]<>]+\](?=</code>)"
)
"""What stays in one line of longer code: a command with its program, an option with its value, `a[i]`."""
_COMMAND = re.compile(r'<span class="short">uv run</span> <span class="\w+">tooling [^<]*</span>')
"""The start of a longer command, which stays in one line on wider screens."""
_PUZZLE = re.compile(r"<a (?=[^>]*>(?:[Pp]uzzle|퍼즐) \d+</a>)")
_EQUATION = re.compile(
    r"(</code>|</em>) ([=%<>≤×·−+-]) (?=<code|<em>|\d)|(?<=</em>) (mod) (?=\d)|(\d) ([=%×·]) (?=<code|<em>)"
)
"""An operator between short terms, one of which is code or a variable."""
_PARTICLE = re.compile(r"</(?:code|math)>(?=[가-힣])")
_COUNTED = (
    r"(?:threads?|lanes?|warps?|blocks?|banks?|sectors?|requests?|passes|steps?|tiles?|rows?|columns?|cells?"
    r"|elements?|words?|bytes?|bits?|terms?|times|lines?|microseconds?)"
)
"""What follows a small number in the same line."""
_UNBROKEN = re.compile(
    r"<(head|nav|h[1-6]|pre|code|svg|math|script|style)\b.*?</\1>|<[^>]*>"  # stay as they are
    r"|\b(?:[Pp]uzzle|[Pp]art|[Ll]ane|[Tt]hread|[Ww]arp|[Bb]lock) \d+\b"
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
    re.DOTALL,
)
_NO_BREAK = "\N{NO-BREAK SPACE}"
_JOINER = "\N{WORD JOINER}"


def keep_together(html: str) -> str:
    """The rendered page without these line breaks."""
    html = _PUZZLE.sub('<a class="short" ', html)
    html = _SHORT.sub(r'<code class="short">\1</code>', html)
    html = _LONG.sub(_broken_between_parts, html)
    html = _EQUATION.sub(_unbroken_equation, html)
    html = _UNBROKEN.sub(lambda found: found[0] if found[0][0] == "<" else _joined(found[0]), html)
    return _PARTICLE.sub(rf"\g<0>{_JOINER}", html)


def _broken_between_parts(code: re.Match[str]) -> str:
    parts = _PARTS.sub(lambda part: f'<span class="{_size(part[0])}">{part[0]}</span>', code[0])
    parts = _COMMAND.sub(r'<span class="medium">\g<0></span>', parts)
    if len(code[1]) > _LONGEST and " " not in code[1]:
        parts = f"<code>{breakable_path(code[1])}</code>"
    return parts.replace("<code>", '<code class="medium">', 1) if len(code[1]) <= _MEDIUM else parts


def _size(part: str) -> str:
    return "short" if len(part) <= _LONGEST else "medium"


def _unbroken_equation(found: re.Match[str]) -> str:
    before, operator = found[1] or found[4] or "", found[2] or found[3] or found[5]
    return f"{before}{_NO_BREAK}{operator}{_NO_BREAK}"


def _joined(words: str) -> str:
    if words == "(":
        return _JOINER + words
    return words + _JOINER if words in ")%" or words[-1] == "-" else words.replace(" ", _NO_BREAK)
