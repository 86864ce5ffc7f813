"""mdBook 0.5's directives: `{{#include …}}` and its relatives, found in raw text before any Markdown.

The grammar is that of `links.rs` in mdBook 0.5.4, and `tests/mdbook` compares every rule with the binary:

    escaped    \\{{# … }}          to the LAST `}}` of the line; loses its backslash and nothing else
    directive  {{ #name word … }}  name of [a-zA-Z0-9_], then spaces, then anything without `}`

A directive works everywhere: in code, in fences, in HTML comments. Unknown names stay as text without a
warning; they may belong to a preprocessor of the book.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache

from msgspec import Struct

from tooling.mdbook import anchors, rust

_HEAD = re.compile(rf"\\\{{\{{\#|\{{\{{[{rust.SPACES}]*\#(?P<name>[a-zA-Z0-9_]+)(?P<spaces>[{rust.SPACES}]+)")


class Kind(Enum):
    """The type of a directive."""

    INCLUDE = "include"
    RUSTDOC_INCLUDE = "rustdoc_include"  # the whole file, all other lines hidden by `# `
    PLAYGROUND = "playground"  # the whole file in a rust fence
    TITLE = "title"
    ESCAPED = "escaped"
    OTHER = "other"  # not mdBook's own: left as text


_KINDS = {
    "include": Kind.INCLUDE,
    "rustdoc_include": Kind.RUSTDOC_INCLUDE,
    "playground": Kind.PLAYGROUND,
    "playpen": Kind.PLAYGROUND,
    "title": Kind.TITLE,
}


class LineRange(Struct, frozen=True):
    """Lines `start` to `stop` (exclusive), counted from 0; None is the end of the file."""

    start: int = 0
    stop: int | None = None

    def __contains__(self, index: int) -> bool:
        return index >= self.start and (self.stop is None or index < self.stop)


WHOLE_FILE = LineRange()


class Directive(Struct, frozen=True):
    """One directive of a page.

    Attributes:
        kind, name: its type, and the word it is written with (`playpen` is an old name of `playground`).
        start, end: its offsets in the text.
        text: the directive as written.
        path: the file, relative to the folder of the file that holds the directive.
        selector: the lines or the name of the anchor to include.
        argument: everything after the name, for `title` and for directives that are not mdBook's own.
        attributes: the words after a playground's path.
    """

    kind: Kind
    name: str
    start: int
    end: int
    text: str
    path: str = ""
    selector: LineRange | str = WHOLE_FILE
    argument: str = ""
    attributes: tuple[str, ...] = ()

    @property
    def includes(self) -> bool:
        """Whether it includes a file."""
        return self.kind in (Kind.INCLUDE, Kind.RUSTDOC_INCLUDE, Kind.PLAYGROUND)


def parse_selector(text: str | None) -> LineRange | str:
    """Parses the text after the path: `5`, `5:`, `:9`, `5:9` or the name of an anchor.

    Everything after a second colon is ignored, and so is an end that is not a number.
    """
    pieces = (text or "").split(":", 2)
    first = rust.usize(pieces[0])
    if first is None and pieces[0] != "":
        return pieces[0]
    start = max(first - 1, 0) if first is not None else 0
    if len(pieces) > 1:
        return LineRange(start, rust.usize(pieces[1]))
    return LineRange(start, start + 1 if first is not None else None)


def _parse(text: str, name: str | None, argument: str, start: int, end: int) -> Directive:
    if name is None:
        return Directive(Kind.ESCAPED, "", start, end, text)
    kind = _KINDS.get(name, Kind.OTHER)
    if kind in (Kind.TITLE, Kind.OTHER):
        return Directive(kind, name, start, end, text, argument=argument)
    words = rust.words(argument)
    if not words:  # `{{#include  }}`: mdBook leaves it as text
        return Directive(Kind.OTHER, name, start, end, text, argument=argument)
    if kind is Kind.PLAYGROUND:
        return Directive(kind, name, start, end, text, words[0], attributes=tuple(words[1:]))
    path, colon, selector = words[0].partition(":")
    return Directive(kind, name, start, end, text, path, parse_selector(selector if colon else None))


def find_directives(text: str) -> tuple[Directive, ...]:
    """Every directive of a text, in order, including those that are left as text."""
    return _find(text) if "{{" in text else ()


@lru_cache(maxsize=256)  # several checks of a page parse the same text in turn
def _find(text: str) -> tuple[Directive, ...]:
    return tuple(_parse(text[start:end], name, words, start, end) for name, words, start, end in _spans(text))


def _spans(text: str) -> Iterator[tuple[str | None, str, int, int]]:
    """Name (None: escaped), argument, start and end of every directive.

    A closing brace is searched once for all the heads before it: one regular expression would search it again
    for each of them.
    """
    position, brace, line_end, last = 0, -1, -1, -1
    while head := _HEAD.search(text, position):
        start = head.start()
        position = start + 1
        if head["name"] is None:  # escaped: to the last `}}` of the line
            if line_end < start:
                line_end = text.find("\n", start)
                line_end = len(text) if line_end < 0 else line_end
                last = text.rfind("}}", start, line_end)
            if last >= head.end():
                position = last + 2
                yield None, "", start, position
            continue
        if brace < head.end():
            brace = text.find("}", head.end())
            if brace < 0:
                brace = len(text)
        # An argument of spaces alone has one of those that are before it.
        begin = head.end() if brace > head.end() else head.end() - 1
        if begin > head.start("spaces") and text.startswith("}}", brace):
            position = brace + 2
            yield head["name"], text[begin:brace], start, position


class Excerpt(Struct, frozen=True):
    """What a directive takes from a file.

    Attributes:
        text: the lines, joined by line feeds, without a final one.
        numbers: for each line of the text, its number in the file, counted from 1.
        hidden: for each line, whether it is hidden by `# ` (rustdoc_include only).
    """

    text: str
    numbers: tuple[int, ...]
    hidden: tuple[bool, ...]


def take(kind: Kind, selector: LineRange | str, content: str) -> Excerpt:
    """The lines of a file that an `include` or `rustdoc_include` shows.

    - a range keeps the anchor lines inside it; an anchor drops every line that opens or closes any anchor;
    - `include` shows the first region of the name, `rustdoc_include` all of them;
    - an anchor that is missing gives nothing, one that is never closed runs to the end of the file.
    """
    lines = rust.lines(content)
    if kind is Kind.RUSTDOC_INCLUDE:
        chosen = list(_rustdoc_lines(selector, lines))
    elif isinstance(selector, LineRange):
        stop = len(lines) if selector.stop is None else min(selector.stop, len(lines))
        chosen = [(index, False) for index in range(selector.start, stop)]
    else:
        chosen = [(index, False) for index in _first_region(selector, lines)]
    text = "\n".join(f"# {lines[index]}" if hidden else lines[index] for index, hidden in chosen)
    return Excerpt(text, tuple(index + 1 for index, _ in chosen), tuple(hidden for _, hidden in chosen))


def _first_region(name: str, lines: list[str]) -> Iterator[int]:
    inside = False
    for index, line in enumerate(lines):
        if "ANCHOR" not in line:  # most lines; tested here, because a function call costs ten times as much
            if inside:
                yield index
            continue
        if not inside:
            inside = anchors.opened(line) == name
            continue
        closing = anchors.closed(line)
        if closing == name:
            return
        if closing is None and anchors.opened(line) is None:
            yield index


def _rustdoc_lines(selector: LineRange | str, lines: list[str]) -> Iterator[tuple[int, bool]]:
    if isinstance(selector, LineRange):
        for index in range(len(lines)):
            yield index, index not in selector
        return
    inside = False
    for index, line in enumerate(lines):
        opening, closing = anchors.opened(line), anchors.closed(line)
        if inside:
            if closing is not None:
                inside = closing != selector
            elif opening is None:
                yield index, False
        elif opening is not None:
            inside = opening == selector
        elif closing is None:
            yield index, True
