"""Highlights code at build time: one pattern per language, one pass over the text.

The classes are single letters, as in the style sheet: k keyword, t type, s string, n number,
c comment, f function, p prompt; `hole` is the comment that a learner replaces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from html import escape
from itertools import chain, repeat
from textwrap import dedent

from tooling.book.code_breaks import breakable, breakable_path
from tooling.book.listings import Listing, Listings, identifier
from tooling.book.phrases import say
from tooling.book.site.tree import Node, add_class, fragment, next_element, wrap

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
_TYPED = re.compile(r"(\$ |\(cuda-gdb\) )(.+)")
"""A command in a recorded session, with the prompt before it."""
_SHELLS = ("bash", "console", "sh")
_COMMAND = re.compile(r"^.+\n?", re.MULTILINE)
_KEYS = (("written", "", "changed-lines"), ("removed", "−", "removed-lines"), ("named", "▸", "named-lines"))
"""The marks of rows of a wrong answer, each with its sign and its phrase; a bar has no sign."""
_HYPHENATED = re.compile(r"(?<=/)\w+(?:-\w+)+")  # a piece of an address
_LEFT_OUT = '<span class="line" data-line="⋮"><span class="left-out"></span>\n</span>'
"""The row in place of lines that are left out."""
_EMPTY_ROW = '">\n</span>'


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
        pieces.append("\n".join(f'<span class="{kind}">{line}</span>' for line in token))
        done = end
    pieces.append(escape(code[done:], quote=False))
    return "".join(pieces)


def highlight_page(page: Node, repository: str, language: str, listings: Listings) -> None:
    """Colours the code blocks of a page, and sets captions above those of files.

    Args:
        repository: the address of the source code.
        language: of the page.
        listings: of the edition.
    """
    for code in page.css('pre > code[class^="language-"]'):
        classes = code.attrs.sget("class").split()
        name = identifier(classes)
        listing = listings[name] if name else Listing()
        # An included region often ends with the blank lines that separate it from the next one.
        content = code.text().rstrip() + "\n"
        code.attrs["class"] = " ".join(each for each in classes if each != name)
        _colour(code, content, classes[0].removeprefix("language-"), listing)
        if listing.simulated:
            label = f'<span class="printed-on">{escape(say("printed-simulated", language))}</span>'
            for piece in fragment(label):
                code.insert_before(piece)
        block = code.parent
        if listing.file and block is not None:
            _set_caption(block, content.count("\n"), listing, repository, language)


def _colour(code: Node, content: str, language: str, listing: Listing) -> None:
    if language in _SHELLS:
        html = _own_lines(highlight(content, language))
    elif language in _PATTERNS:
        # It may also come from the inside of a function.
        html = _rows(highlight(dedent(content), language).splitlines(), listing)
    elif language != "text":
        html = escape(content, quote=False)
    elif len(_TABLE_ROW.findall(content)) > 1:
        lines = _tighten(content)
        add_class(code, "columns")
        width = max(len(line) for line in lines if not _PROSE.fullmatch(line))
        if width <= _COLUMNS:  # a wider one is scrolled
            code.attrs["style"] = f"--columns:{width}"
        html = "".join(
            f"{_typed(line, wrapped=_PROSE.fullmatch(line), first=not row)}\n"
            for row, line in enumerate(lines)
        )
    else:
        lines = content.splitlines()
        html = "".join(
            f"{_typed(line, wrapped=_LONG.fullmatch(line), first=not row)}\n"
            for row, line in enumerate(lines)
        )
    code.inner_html = html


def _set_caption(block: Node, rows: int, listing: Listing, repository: str, language: str) -> None:
    """Makes a block a figure whose caption names file and lines."""
    numbers = [number for number in listing.lines[:rows] if number]
    first, last = min(numbers), max(numbers)
    address = f"{repository}/blob/main/{listing.file}"
    following = next_element(block)  # it may be a paragraph with a link to the same file and nothing else
    if following is not None:
        link = following.first_child if following.tag == "p" else following
        if (
            link is not None
            and link.css_matches(f'a.filename[href="{address}"]')
            and following.text() == link.text()
        ):
            following.remove()
    lines = say("line" if first == last else "lines", language, first=first, last=last)
    path = breakable_path(listing.file)
    kind, keys = "code", ""
    name = f'<a class="filename" href="{address}#L{first}-L{last}">{path}</a>'
    if listing.changed:  # in no file of the repository
        kind, name = "code changed", f'<span class="filename">{path}</span>'
        keys = "".join(
            f'<span class="key" data-sign="{sign}">{escape(say(phrase, language))}</span>'
            for mark, sign, phrase in _KEYS
            if getattr(listing, mark)
        )
        keys = f'<span class="keys">{keys}</span>' if keys else ""
    of_api = f' <span class="api">{listing.api}</span>' if listing.api else ""
    caption = f"<figcaption>{name}{of_api} <span>{escape(lines)}</span>{keys}</figcaption>"
    wrap(block, f'<figure class="{kind}">{caption}</figure>')


def _typed(line: str, *, wrapped: re.Match[str] | None, first: bool) -> str:
    """A line of output; a command in a session has its prompt, and all but the first one space before it."""
    shown = escape(line, quote=False)
    pause = ""
    if command := _TYPED.fullmatch(line):
        prompt, typed = (escape(text, quote=False) for text in command.groups())
        shown = f'<span class="p">{prompt}</span><b>{typed}</b>'
        pause = "" if first else '<span class="pause"></span>'
    if wrapped:
        indent = f' style="--indent:{len(wrapped[1])}"' if wrapped[1] else ""
        shown = f'<span class="wrapped"{indent}>{shown}</span>'
    return pause + shown


def _rows(code: Sequence[str], listing: Listing) -> str:
    """Highlighted lines as elements with their numbers; empty lines next to a gap are left out, too.

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
            while shown and shown[-1].endswith(_EMPTY_ROW):
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
    """A highlighted line as an element, with its number at the left."""
    code = line.lstrip(" ")
    space = line[: len(line) - len(code)]
    kind = "line" + " removed" * removed + " named" * named
    attributes = "" if number is None else f' data-line="{number}"'
    if space:
        attributes += f' style="--indent:{len(space)}"'
    code = breakable(code, len(space))
    if removed:
        code = f"<del>{code}</del>"
    return f'<span class="{kind}"{attributes}>{space}{code}\n</span>'


def _tighten(code: str) -> list[str]:
    """A table that a program printed, with two spaces between its columns."""
    lines = code.splitlines()
    rows = [index for index, line in enumerate(lines) if _TABLE_ROW.match(line)]
    width = max(len(lines[index]) for index in rows)
    blank = [all(lines[index][column : column + 1] in ("", " ") for index in rows) for column in range(width)]
    kept = [
        column for column in range(width) if not all(blank[max(0, column - 2) : column + 1]) or column < 2
    ]
    for index in rows:
        lines[index] = "".join(lines[index][column : column + 1] for column in kept)
    return lines


def _own_lines(code: str) -> str:
    """Highlighted commands, an element for each: one that goes on below itself differs from the next one."""
    code = _HYPHENATED.sub(r'<wbr><span class="short">\g<0></span>', code)
    return _COMMAND.sub(r'<span class="command">\g<0></span>', code)
