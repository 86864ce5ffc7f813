r"""Parses the Markdown of a page with mdBook's own parser, with source positions.

mdBook 0.5.4 parses with pulldown-cmark 0.13.4, and so does pyromark 0.10.1, its Python binding. What is not
Markdown is replaced before parsing by a placeholder of the same length: directives (`{{#include …}}`), which
are expanded before Markdown is read, and formulas (`\\( … \\)`, `\\[ … \\]`, `$$ … $$`), which are drawn
before (`tooling.book.directives.formulas`) or typeset by a script afterwards.
"""

from __future__ import annotations

import re
from bisect import bisect_right
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
# Plane 15 is for private use, and each of its characters takes four bytes of UTF-8.
_FIRST, _LAST = 0xF0000, 0xFFFFD
_PLACEHOLDER = re.compile(f"[{chr(_FIRST)}-{chr(_LAST)}]0*")


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
        events: those of pulldown-cmark, each with its range of bytes in `parsed`.
        parsed: the UTF-8 text that was parsed, with placeholders.
        source: the text as written, as long as `parsed`; `\n` ends its lines, and it has no byte order mark.
        placeholders: by their first character.
    """

    events: list[tuple[Event, Range]]
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
        if not self.placeholders or text.isascii():
            return text
        return _PLACEHOLDER.sub(self._restore, text)

    def _restore(self, match: re.Match[str]) -> str:
        known = self.placeholders.get(match[0][0])
        if known is None or not match[0].startswith(known.mark):
            return match[0]
        return known.text + match[0][len(known.mark) :]

    def split(self, text: str) -> list[str | Placeholder]:
        """A piece of the parsed text cut at its placeholders."""
        if not self.placeholders or text.isascii():
            return [text]
        pieces: list[str | Placeholder] = []
        done = 0
        for match in _PLACEHOLDER.finditer(text):
            known = self.placeholders.get(match[0][0])
            if known is not None and match[0].startswith(known.mark):
                pieces += (text[done : match.start()], known)
                done = match.start() + len(known.mark)
        pieces.append(text[done:])
        return pieces


def parse(text: str, *, smart_punctuation: bool = False) -> Document:
    """The events of a page.

    Args:
        text: the Markdown, its directives not expanded; any line ends.
        smart_punctuation: turn quotes, `...` and `--` into typographic signs, as mdBook does. It changes
            nothing of the structure.
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
        list(_parser(smart_punctuation=smart_punctuation).events_with_range(masked)),
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
    character = _FIRST + number
    return chr(character) + "0" * (length - 4) if character <= _LAST else None


def _without_directives(text: str, placeholders: dict[str, Placeholder]) -> str:
    pieces: list[str] = []
    done = 0
    for directive in find_directives(text):
        if directive.kind is Kind.ESCAPED or "\n" in directive.text:
            continue
        mark = _mark(len(placeholders), len(directive.text.encode()))
        if mark is None:
            break
        placeholders[mark[0]] = Placeholder(mark, directive.text)
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
        written = _PLACEHOLDER.sub(lambda found: placeholders[found[0][0]].text, match[0])
        body = _QUOTED_LINE.sub("\n", written[3:-3] if match[3] is None else written[2:-2])
        placeholders[mark[0]] = Placeholder(mark, written, " ".join(body.split()), match[1] is None)
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
