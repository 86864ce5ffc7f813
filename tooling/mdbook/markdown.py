r"""Parses the Markdown of a page with mdBook's own parser, with source positions.

mdBook 0.5.4 parses with pulldown-cmark 0.13.4, and so does pyromark 0.10.1, its Python binding. What is not
Markdown is replaced before parsing by a placeholder of the same length: directives (`{{#include …}}`), which
are expanded before Markdown is read, and formulas (`\\( … \\)`, `\\[ … \\]`, `$$ … $$`), which are drawn
before (`tooling.book.directives.formulas`) or typeset by a script afterwards.
"""

from __future__ import annotations

import re
import string
from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from msgspec import Struct

from tooling.mdbook.includes import Kind, find_directives

if TYPE_CHECKING:
    import pyromark
    from pyromark.event import Event, Range

_FORMULA = re.compile(r"\\\\\((.+?)\\\\\)|\\\\\[(.+?)\\\\\]|\$\$(.+?)\$\$", re.DOTALL)
_BLANK_LINE = re.compile(r"\n[ \t>]*\n")
_QUOTED_LINE = re.compile(r"\n[ \t]*(?:>[ \t]?)+")
_MARK = "\ufdd0"
"""A noncharacter: Unicode reserves these for use inside a program, and Markdown gives them no meaning."""
_DIGITS = string.digits + string.ascii_lowercase
_HEAD = 3  # letters: the mark and a number of two digits, five bytes like the shortest formula
_PLACEHOLDER = re.compile(rf"{_MARK}[{_DIGITS}]{{2}}0*")
"""The number of what is replaced, and zeros up to the length of that."""


class Placeholder(Struct, frozen=True):
    """The text that a placeholder replaces.

    Attributes:
        mark: the placeholder as it is in the parsed text; no other text of the page is equal to it.
        text: the directive or formula as written.
        formula: what is between the delimiters of a formula, None for a directive.
        display: whether the formula is displayed on lines of its own.
    """

    mark: str
    text: str
    formula: str | None = None
    display: bool = False


class Document(Struct, frozen=True):
    """A parsed page.

    Attributes:
        events: those of pulldown-cmark, each with its range of bytes in `parsed`; they are read once.
        parsed: the UTF-8 text that was parsed, with placeholders.
        source: the text as written, as long as `parsed`; `\n` ends its lines, and it has no byte order mark.
        placeholders: by their first characters, see `placeholder`.
    """

    events: Iterable[tuple[Event, Range]]
    parsed: bytes
    source: bytes
    placeholders: dict[str, Placeholder]
    _line_starts: list[int]

    def line(self, offset: int) -> int:
        """The line, counted from 1, of a byte."""
        return bisect_right(self._line_starts, offset)

    def written(self, start: int, end: int) -> str:
        """The source from one byte to another."""
        return self.source[start:end].decode()

    def restored(self, text: str) -> str:
        """A piece of the parsed text with directives and formulas as written."""
        if not self.placeholders:
            return text
        return "".join(each if isinstance(each, str) else each.text for each in self.split(text))

    def placeholder(self, text: str) -> Placeholder | None:
        """The placeholder that a text starts with."""
        known = self.placeholders.get(text[:_HEAD])
        return known if known is not None and text.startswith(known.mark) else None

    def split(self, text: str) -> list[str | Placeholder]:
        """A piece of the parsed text cut at its placeholders."""
        if not self.placeholders or text.isascii():
            return [text]
        pieces: list[str | Placeholder] = []
        done = 0
        for match in _PLACEHOLDER.finditer(text):
            known = self.placeholder(match[0])
            if known is not None:
                pieces += (text[done : match.start()], known)
                done = match.start() + len(known.mark)
        pieces.append(text[done:])
        return pieces


def parse(
    text: str,
    *,
    smart_punctuation: bool = False,
    keep: Callable[[Iterable[tuple[Event, Range]]], Iterable[tuple[Event, Range]]] = iter,
) -> Document:
    """The events of a page.

    Args:
        text: the Markdown, its directives not expanded; any line ends.
        smart_punctuation: turn quotes, `...` and `--` into typographic signs, as mdBook does. It changes
            nothing of the structure.
        keep: takes the events that are needed; by default all of them, each made when it is asked for.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = text.removeprefix("\ufeff")
    placeholders: dict[str, Placeholder] = {}
    masked = _without_directives(text, placeholders) if "{{" in text else text
    if "\\\\(" in masked or "\\\\[" in masked or "$$" in masked:
        masked = _without_formulas(masked, placeholders)
    source = text.encode()
    return Document(
        keep(_parser(smart_punctuation=smart_punctuation).events_with_range(masked)),
        masked.encode() if placeholders else source,
        source,
        placeholders,
        [0, *accumulate(map(len, source.splitlines(keepends=True)))],
    )


def definitions(document: Document) -> dict[str, str]:
    """The targets of the page's link definitions (`[label]: target`) by label, as first written."""
    if b"]:" not in document.parsed:
        return {}
    found = _parser().reference_definitions(document.parsed.decode())
    return {label: document.restored(definition["dest"]) for label, definition in found.items()}


@cache
def _parser(*, smart_punctuation: bool = False) -> pyromark.Markdown:
    """pulldown-cmark with the extensions that mdBook 0.5 enables."""
    import pyromark  # noqa: PLC0415 -- most commands read no page
    from pyromark import Options  # noqa: PLC0415

    return pyromark.Markdown(
        options=(Options.ENABLE_SMART_PUNCTUATION if smart_punctuation else Options(0))
        | Options.ENABLE_TABLES
        | Options.ENABLE_FOOTNOTES
        | Options.ENABLE_STRIKETHROUGH
        | Options.ENABLE_TASKLISTS
        | Options.ENABLE_HEADING_ATTRIBUTES
        | Options.ENABLE_DEFINITION_LIST
        | Options.ENABLE_GFM
    )


def _mark(number: int, length: int) -> str | None:
    """The placeholder of this number, `length` bytes long; None where the numbers are exhausted."""
    high, low = divmod(number, len(_DIGITS))
    if high >= len(_DIGITS):
        return None
    head = _MARK + _DIGITS[high] + _DIGITS[low]
    return head + "0" * (length - len(head.encode()))


def _without_directives(text: str, placeholders: dict[str, Placeholder]) -> str:
    pieces: list[str] = []
    done = 0
    for directive in find_directives(text):
        if directive.kind is Kind.ESCAPED or "\n" in directive.text:
            continue
        mark = _mark(len(placeholders), len(directive.text.encode()))
        if mark is None:
            break
        placeholders[mark[:_HEAD]] = Placeholder(mark, directive.text)
        pieces += (text[done : directive.start], mark)
        done = directive.end
    pieces.append(text[done:])
    return "".join(pieces)


def _without_formulas(text: str, placeholders: dict[str, Placeholder]) -> str:
    code = _code(text)
    pieces: list[str] = []
    done = position = offset = counted = 0
    while (match := _FORMULA.search(text, position)) is not None:
        offset += len(text[counted : match.start()].encode())
        counted = match.start()
        position = match.start() + 1
        if _BLANK_LINE.search(match[0]) or any(start <= offset < end for start, end in code):
            continue
        mark = _mark(len(placeholders), len(match[0].encode()))
        if mark is None:
            break
        written = match[0]
        for known in placeholders.values() if _MARK in written else ():
            written = written.replace(known.mark, known.text, 1)
        body = _QUOTED_LINE.sub("\n", written[3:-3] if match[3] is None else written[2:-2])
        placeholders[mark[:_HEAD]] = Placeholder(mark, written, " ".join(body.split()), match[1] is None)
        pieces += (text[done : match.start()], mark)
        done = position = match.end()
    pieces.append(text[done:])
    return "".join(pieces)


def _code(text: str) -> list[tuple[int, int]]:
    """The bytes of code and of HTML blocks, where dollars and backslashes do not delimit formulas."""
    found: list[tuple[int, int]] = []
    for event, span in _parser().events_with_range(text):
        if isinstance(event, str):
            continue
        if "Code" in event:
            found.append((span["start"], span["end"]))
        elif "Start" in event:
            tag = event["Start"]
            if tag == "HtmlBlock" or (not isinstance(tag, str) and "CodeBlock" in tag):
                found.append((span["start"], span["end"]))
    return found
