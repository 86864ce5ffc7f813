"""Highlights code at build time: one pattern per language, one pass over the text.

The classes are single letters, as in the style sheet: k keyword, t type, s string, n number,
c comment, f function, p prompt; `hole` is the comment that a learner replaces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from html import escape, unescape
from itertools import chain, repeat
from textwrap import dedent

from tooling.book.code_breaks import breakable, breakable_path
from tooling.book.listings import Listing, Listings, identifier
from tooling.book.phrases import say

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
        |(?P<f>(?<=\bdef\ )\w+|\b[a-z_]\w*(?=[ \t]*\(|\[(?:[^\[\]]|\[[^\[\]]*\])*\]\())
        |(?P<other>\w+)""",
        re.VERBOSE,
    )


_SHELL = re.compile(
    r"(?P<c>(?:^|(?<=\s))\#.*)|(?P<p>^[$>]\ )|(?P<s>\"[^\"\n]*\"|'[^'\n]*')|(?P<k>(?<!\S)--?[\w-]+)"
    r"|(?P<f>(?:^|(?<=&&\ ))(?:\w+=\S+\ )*[\w./-]+)",
    re.MULTILINE,
)
_PATTERNS: dict[str, Callable[[], re.Pattern[str]]] = {
    "mojo": lambda: _language(_words(_MOJO_KEYWORDS)),
    "python": lambda: _language(_words(_PYTHON_KEYWORDS)),
    "bash": lambda: _SHELL,
    "console": lambda: _SHELL,
    "sh": lambda: _SHELL,
}
_BLOCK = re.compile(
    r'(<pre[^>]*><code class="language-(\w+))([^"]*)(">)(.*?)(</code></pre>)'
    r'(?P<after>\s*(?:<p>)?<a class="filename"[^>]*>[^<]*</a>(?:</p>)?)?',
    re.DOTALL,
)
_NEXT = re.compile(
    r'href="([^"#]+)#[^"]*">[^<]*</a> (?:(?!</figure>).)*</figure>\s*<figure class="code'
    r'(?="><figcaption><a class="filename" href="\1#)',
    re.DOTALL,
)
"""A listing up to the next one of the same file, with nothing between: the head there need not name it."""
_LONG = re.compile(r"^( *)\S.{37,}$", re.MULTILINE)
"""A line of output that may go on below itself, further in than it begins."""
_TABLE_ROW = re.compile(r"^(?: {2}(?:\S+ )*|(?:\S+ ){0,3})\S+ {2,}\S.*? {2,}\S", re.MULTILINE)
"""Three columns, the first indented or of at most four words: a debugger's sentences have two spaces, too."""
_COLUMNS = 75
"""Letters in the rows of a table that fit on a phone, in small letters."""
_PROSE = re.compile(rf"^(?!{_TABLE_ROW.pattern[1:]})()\S.*")
"""A line of output among those of a table, which may go on below itself and is not scrolled with them.

It is not indented, so group 1 is empty.
"""
_TYPED = re.compile(
    r"^(?P<start><span class=\"wrapped\">)?(?P<prompt>\$ |\(cuda-gdb\) )(?P<typed>.+?)(?P<end></span>)?$",
    re.MULTILINE,
)
"""A command in a recorded session, with the prompt before it."""
_SHELLS = ("bash", "console", "sh")
_COMMAND = re.compile(r"^.+\n?", re.MULTILINE)
_KEYS = (("written", "", "changed-lines"), ("removed", "−", "removed-lines"), ("named", "▸", "named-lines"))
"""The marks of rows of a wrong answer, each with its sign and its phrase; a bar has no sign."""
_HYPHENATED = re.compile(r"(?<=/)\w+(?:-\w+)+")  # a part of an address
_LEFT_OUT = '<span class="line" data-line="⋮"><span class="left-out"></span>\n</span>'
"""The row in place of lines that are left out."""
_EMPTY = re.compile(r"<span[^>]*>\n</span>")


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
        token = escape(code[start:end], quote=False).split("\n")  # a string may have several lines
        pieces.append("\n".join(f'<span class="{kind}">{part}</span>' for part in token))
        done = end
    pieces.append(escape(code[done:], quote=False))
    return "".join(pieces)


def highlight_page(html: str, repository: str, language: str, listings: Listings) -> str:
    """A rendered page with its code blocks coloured, those of files with captions.

    Args:
        repository: the address of the source code.
        language: of the page.
        listings: of the edition.
    """

    def colour(block: re.Match[str]) -> str:
        name = identifier(block[3].split())
        classes = block[3].replace(f" {name}", "")
        return _colour(block, classes, listings[name] if name else Listing(), repository, language)

    return _NEXT.sub(r"\g<0> continued", _BLOCK.sub(colour, html))


def _colour(block: re.Match[str], classes: str, listing: Listing, repository: str, edition: str) -> str:
    opening, language, _, middle, code, closing = block.groups()[:6]
    # An included region often ends with the blank lines that separate it from the next one.
    code = code.rstrip() + "\n"
    if language in _SHELLS:
        code = _own_lines(highlight(unescape(code), language))
    elif language in _PATTERNS:
        # It may also come from the inside of a function.
        lines = highlight(dedent(unescape(code)), language).splitlines()
        code = _rows(lines, listing)
    elif language == "text" and len(_TABLE_ROW.findall(code)) > 1:
        code = _tighten(code)
        width = max(len(line) for line in unescape(code).splitlines() if not _PROSE.fullmatch(line))
        code = "\n".join(_PROSE.sub(_wrapped, line) for line in code.splitlines()) + "\n"
        size = f'" style="--columns:{width}' if width <= _COLUMNS else ""  # a wider one is scrolled
        middle = f" columns{size}{middle}"
    elif language == "text":
        code = _LONG.sub(_wrapped, code)
    if language == "text":
        code = _TYPED.sub(_typed, code)
    if listing.simulated:
        label = f'<span class="printed-on">{escape(say("printed-simulated", edition))}</span>'
        opening = opening.replace("<code", f"{label}<code")
    shown = f"{opening}{classes}{middle}{code}{closing}"
    if not listing.file:
        return shown + (block["after"] or "")
    numbers = [number for number in listing.lines[: len(lines)] if number]
    address = f"{repository}/blob/main/{listing.file}"
    after = "" if f'"{address}"' in (block["after"] or f'"{address}"') else block["after"]
    first, last = min(numbers), max(numbers)
    lines_shown = say("line" if first == last else "lines", edition, first=first, last=last)
    path = breakable_path(listing.file)
    kind, keys = "code", ""
    name = f'<a class="filename" href="{address}#L{first}-L{last}">{path}</a>'
    if listing.changed:  # in no file of the repository
        kind, name = "code changed", f'<span class="filename">{path}</span>'
        keys = "".join(
            f'<span class="key" data-sign="{sign}">{escape(say(phrase, edition))}</span>'
            for mark, sign, phrase in _KEYS
            if getattr(listing, mark)
        )
        keys = f'<span class="keys">{keys}</span>' if keys else ""
    of_api = f' <span class="api">{listing.api}</span>' if listing.api else ""
    caption = f"<figcaption>{name}{of_api} <span>{escape(lines_shown)}</span>{keys}</figcaption>"
    return f'<figure class="{kind}">{caption}{shown}</figure>{after}'


def _wrapped(line: re.Match[str]) -> str:
    indent = f' style="--indent:{len(line[1])}"' if line[1] else ""
    return f'<span class="wrapped"{indent}>{line[0]}</span>'


def _typed(line: re.Match[str]) -> str:
    """A command in a session with its prompt; there is some space before all but the first one."""
    pause = '<span class="pause"></span>' if line.start() else ""
    command = f'<span class="p">{line["prompt"]}</span><b>{line["typed"]}</b>'
    return f"{pause}{line['start'] or ''}{command}{line['end'] or ''}"


def _rows(code: Sequence[str], listing: Listing) -> str:
    """Highlighted lines as elements with their numbers; beside lines that are left out, empty ones are, too.

    Marks for teaching are not shown; only in an excerpt is there a sign in their place. On a narrow screen a
    line goes on below itself, further in than it begins.
    """
    starts, stops = ({row[edge] for row in listing.written} for edge in (0, 1))
    shown: list[str] = []
    before: int | None = None
    gap = False
    for row, (line, number) in enumerate(zip(code, chain(listing.lines, repeat(None)), strict=False)):
        if row in starts:
            shown.append('<span class="written">')
        removed = row in listing.removed
        skipped = listing.changed and before is not None and number is not None and number != before + 1
        if number == 0 or skipped:
            while shown and _EMPTY.fullmatch(shown[-1]):
                shown.pop()
            gap = True
        before = number
        if number != 0 and (line or not gap):
            if gap:
                shown.append(_LEFT_OUT)
                gap = False
            shown.append(_row(line, "−" if removed else number, removed=removed, named=row in listing.named))
        if row + 1 in stops:
            shown.append("</span>")
    return "".join(shown)


def _row(line: str, number: int | str | None, *, removed: bool, named: bool) -> str:
    """A highlighted line as an element, with what is beside it."""
    code = line.lstrip(" ")
    space = line[: len(line) - len(code)]
    kind = "line" + " removed" * removed + " named" * named
    beside = "" if number is None else f' data-line="{number}"'
    if space:
        beside += f' style="--indent:{len(space)}"'
    code = breakable(code, len(space))
    if removed:
        code = f"<del>{code}</del>"
    return f'<span class="{kind}"{beside}>{space}{code}\n</span>'


def _tighten(code: str) -> str:
    """A table that a program printed, with two spaces between its columns."""
    lines = unescape(code).splitlines()
    rows = [index for index, line in enumerate(lines) if _TABLE_ROW.match(line)]
    width = max(len(lines[index]) for index in rows)
    blank = [all(lines[index][place : place + 1] in ("", " ") for index in rows) for place in range(width)]
    kept = [place for place in range(width) if not all(blank[max(0, place - 2) : place + 1]) or place < 2]
    for index in rows:
        lines[index] = "".join(lines[index][place : place + 1] for place in kept)
    return escape("\n".join(lines) + "\n", quote=False)


def _own_lines(code: str) -> str:
    """Highlighted commands, an element for each: one that goes on below itself differs from the next one."""
    code = _HYPHENATED.sub(r'<wbr><span class="short">\g<0></span>', code)
    return _COMMAND.sub(r'<span class="command">\g<0></span>', code)
