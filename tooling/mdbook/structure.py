"""Finds the parts of a Markdown page, in one pass over its lines.

This is the block structure of CommonMark as mdBook reads it (tables, alerts, heading ids), without
a tree: containers are a short stack, and a line of plain text costs one look at its first character.
"""

from __future__ import annotations

import re

from tooling.mdbook import slugs
from tooling.mdbook.html_blocks import BLANK, end_of_block, take_apart
from tooling.mdbook.inlines import Inlines, normal_label
from tooling.mdbook.markup import Alert, Fence, Heading, Mark, Structure, Table

__all__ = ["Structure", "scan"]

_SPECIAL = frozenset(" \t#>`~<|-*+=:[_0123456789")
_CONTAINER_START = frozenset(" >-*+0123456789")
_LEAF_START = frozenset("#`~<|=[")  # no container starts with these
_CODE_END = frozenset(" \t`~")
_QUOTE = -1  # a container: block quote; any other number is the indentation of a list item's content

_QUOTE_MARK = re.compile(r" {0,3}> ?")
_ITEM = re.compile(r"( {0,3}(?:[-*+]|(\d{1,9})[.)]))( +|$)")
_CONTAINER = re.compile(r" {0,3}(?:(>) ?|(?:[-*+]|\d{1,9}[.)])(?: |$))")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(?:(=+)|-+)[ \t]*$")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_FENCE = re.compile(r"( {0,3})(?:(`{3,})([^`]*)|(~{3,})(.*))$")
_REFERENCE = re.compile(
    r" {0,3}\[(?!\^)([^\]\[]+)\]:[ \t]*(<[^<>]*>|\S+)(?:[ \t]+(?:\".*\"|'.*'|\(.*\)))?[ \t]*$"
)
_FOOTNOTE = re.compile(r" {0,3}\[\^([^\]\s]+)\]:[ \t]*")
_DEFINITION = re.compile(r" {0,3}:[ \t]+")
_ALERT = re.compile(r" {0,3}\[!([^\]\n]+)\][ \t]*$")
_ALERTS = frozenset({"NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"})
_ALIGNMENT = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_PIPE = re.compile(r"(?<!\\)\|")
_PREFIX = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*")
_LANGUAGE_END = re.compile(r"[ \t,]+")


def scan(text: str) -> Structure:
    """The structure of one chapter, its directives not expanded.

    Args:
        text: the Markdown; any line endings.
    """
    scanner = _Scanner()
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    scanner.run(text.removeprefix("\ufeff").split("\n"))
    return scanner.result()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _cells(row: str) -> int:
    row = row.strip()
    if row.startswith("|"):
        row = row[1:]
    if row.endswith("|") and not row.endswith("\\|"):
        row = row[:-1]
    return len(_PIPE.findall(row)) + 1


def _interrupts(rest: str) -> bool:
    """Would this line start a block of its own, so that it cannot lazily continue a paragraph?"""
    if not rest or rest.isspace():
        return True
    return bool(
        _ATX.match(rest)
        or _FENCE.match(rest)
        or _QUOTE_MARK.match(rest)
        or _RULE.match(rest)
        or _ITEM.match(rest)
        or end_of_block(rest, in_paragraph=True)
    )


class _Scanner:
    """The state between two lines: which containers and which leaf block are open."""

    def __init__(self) -> None:
        self.inlines = Inlines()
        self.marks: list[Mark] = self.inlines.marks
        self.containers: list[int] = []
        self.line = 0
        self.paragraph: list[str] = []
        self.paragraph_line = 0
        self.code: list[str] | None = None  # lines of an open fence, or of an indented block
        self.code_line = 0
        self.code_info = ""
        self.code_indent = 0
        self.code_end: re.Pattern[str] | None = None  # None for an indented block
        self.html: list[str] | None = None
        self.html_line = 0
        self.html_end = BLANK
        self.table: list[str] | None = None
        self.table_line = 0
        self.fresh_quote = False
        self.titles: list[tuple[int, str | None, str]] = []  # place in marks or -1, explicit id, text

    def run(self, lines: list[str]) -> None:
        paragraph = self.paragraph
        containers = self.containers
        for number, line in enumerate(lines, 1):
            self.line = number
            if containers:
                self.slow(line)
            elif self.code is not None:
                if line and line[0] not in _CODE_END and self.code_end is not None and not self.code_indent:
                    self.code.append(line)
                else:
                    self.slow(line)
            elif self.html is not None:
                self.continue_html(line)
            elif not line:
                self.close()
            elif self.table is not None:
                self.slow(line)
            elif line[0] in _LEAF_START:
                self.leaf(line)
            elif line[0] in _SPECIAL:
                self.slow(line)
            else:
                if not paragraph:
                    self.paragraph_line = number
                paragraph.append(line)
        self.close()

    # ---- containers ----

    def slow(self, line: str) -> None:
        if "\t" in line and (self.code is None or self.containers):
            prefix = _PREFIX.match(line)
            end = prefix.end() if prefix is not None else 0
            line = line[:end].expandtabs(4) + line[end:]
        rest, matched = self.match_containers(line)
        if matched < len(self.containers):
            lazy = bool(self.paragraph) and (_indent(rest) >= 4 or not _interrupts(rest))
            if lazy:
                self.paragraph.append(rest.strip())
                return
            self.close()
            del self.containers[matched:]  # in place: `run` looks at the same list
        if self.code is not None and self.continue_code(rest):
            return
        if self.html is not None:
            self.continue_html(rest)
            return
        rest = self.open_containers(rest)
        self.leaf(rest)

    def match_containers(self, line: str) -> tuple[str, int]:
        rest, matched = line, 0
        for container in self.containers:
            if container == _QUOTE:
                mark = _QUOTE_MARK.match(rest)
                if mark is None:
                    break
                rest = rest[mark.end() :]
            elif _indent(rest) >= container:
                rest = rest[container:]
            elif not rest.strip():
                rest = ""
            else:
                break
            matched += 1
        return rest, matched

    def open_containers(self, rest: str) -> str:
        while True:
            if not rest or rest[0] not in _CONTAINER_START or rest.startswith("    "):
                return rest
            mark = _CONTAINER.match(rest)
            if mark is None:
                return rest
            if mark.lastindex is not None:
                self.close()
                self.containers.append(_QUOTE)
                self.fresh_quote = True
                rest = rest[mark.end() :]
                continue
            item = _ITEM.match(rest)
            if item is None or _RULE.match(rest) or (self.paragraph and _SETEXT.match(rest)):
                return rest
            if self.paragraph and (not rest[item.end() :].strip() or item.group(2) not in (None, "1")):
                return rest
            self.close()
            spaces = len(item.group(3))
            if not 1 <= spaces <= 4:
                spaces = 1
            width = len(item.group(1)) + spaces
            self.containers.append(width)
            rest = rest[width:]

    # ---- leaves ----

    def leaf(self, rest: str) -> None:
        if not rest or rest.isspace():
            self.close()
            return
        fresh_quote, self.fresh_quote = self.fresh_quote, False
        if self.table is not None:
            if not _interrupts(rest):
                self.table.append(rest)
                return
            self.close()
        if _indent(rest) >= 4:
            if self.paragraph:
                self.paragraph.append(rest.strip())
            else:
                self.start_code("", None, 4, rest[4:])
            return
        first = rest.lstrip(" ")[0]
        if first == "#":
            heading = _ATX.match(rest)
            if heading is not None:
                self.close()
                self.heading(len(heading.group(1)), heading.group(2) or "", self.line)
                return
        elif first in "`~":
            fence = _FENCE.match(rest)
            if fence is not None:
                self.close()
                run = fence.group(2) or fence.group(4)
                end = re.compile(rf" {{0,3}}{re.escape(run)}{re.escape(run[0])}*[ \t]*$")
                self.start_code((fence.group(3) or fence.group(5) or "").strip(), end, len(fence.group(1)))
                return
        elif first == "<":
            html_end = end_of_block(rest, in_paragraph=bool(self.paragraph))
            if html_end is not None:
                self.close()
                self.html, self.html_line, self.html_end = [], self.line, html_end
                self.continue_html(rest)
                return
        elif first in "=-" and self.paragraph and (setext := _SETEXT.match(rest)) is not None:
            text = "\n".join(self.paragraph)
            line = self.paragraph_line
            self.paragraph.clear()
            self.heading(1 if setext.group(1) else 2, text, line)
            return
        if first in "|:-" and self.start_table(rest):
            return
        if first in "-*_" and _RULE.match(rest):
            self.close()
            return
        if first == ":" and self.paragraph and (definition := _DEFINITION.match(rest)) is not None:
            self.titles.append((-1, None, self.paragraph[-1].strip()))
            self.close()
            rest = rest[definition.end() :]
        elif first == "[" and not self.paragraph:
            if fresh_quote and (alert := _ALERT.match(rest)) is not None:
                name = alert.group(1)
                self.marks.append(Alert(name, name.upper() in _ALERTS, self.line))
                return
            reference = _REFERENCE.match(rest)
            if reference is not None:
                target = reference.group(2).strip("<>")
                self.inlines.references.setdefault(normal_label(reference.group(1)), target)
                return
            footnote = _FOOTNOTE.match(rest)
            if footnote is not None:
                self.inlines.ids.add(f"footnote-{footnote.group(1)}")
                rest = rest[footnote.end() :]
        if not self.paragraph:
            self.paragraph_line = self.line
        self.paragraph.append(rest.strip() if first != rest[0] else rest)

    def heading(self, level: int, text: str, line: int) -> None:
        text, explicit = slugs.split_explicit_id(text.strip())
        self.titles.append((len(self.marks), explicit, text))
        self.marks.append(Heading(level, text, "", explicit is not None, line))
        self.inlines.scan(text, line, "heading")

    def start_table(self, rest: str) -> bool:
        """Dashes under the head of a table; the head interrupts a paragraph if it starts with `|`."""
        if not self.paragraph or not _ALIGNMENT.match(rest):
            return False
        head = self.paragraph[-1]
        if "|" not in head + rest or _cells(head) != _cells(rest):
            return False
        if len(self.paragraph) > 1 and not head.startswith("|"):
            return False
        self.paragraph.pop()
        self.close()
        self.table, self.table_line = [head, rest], self.line - 1
        return True

    def start_code(self, info: str, end: re.Pattern[str] | None, indent: int, *lines: str) -> None:
        self.code, self.code_line, self.code_info = list(lines), self.line, info
        self.code_end, self.code_indent = end, indent

    def continue_code(self, rest: str) -> bool:
        """Adds a line to the open code block; False where the line is not part of it."""
        assert self.code is not None
        if self.code_end is None:
            if rest.strip() and _indent(rest) < 4:
                self.close_code()
                return False
            self.code.append(rest[4:])
            return True
        if self.code_end.match(rest):
            self.close_code()
            return True
        self.code.append(rest[min(_indent(rest), self.code_indent) :] if self.code_indent else rest)
        return True

    def continue_html(self, rest: str) -> None:
        assert self.html is not None
        if self.html_end is BLANK:
            if not rest or rest.isspace():
                self.close_html()
                return
            self.html.append(rest)
            return
        self.html.append(rest)
        if self.html_end.search(rest):
            self.close_html()

    # ---- ends ----

    def close(self) -> None:
        """Ends whichever leaf block is open."""
        if self.paragraph:
            self.close_paragraph()
        elif self.code is not None:
            self.close_code()
        elif self.html is not None:
            self.close_html()
        elif self.table is not None:
            self.close_table()

    def close_paragraph(self) -> None:
        paragraph = self.paragraph
        text = paragraph[0] if len(paragraph) == 1 else "\n".join(paragraph)
        paragraph.clear()
        self.inlines.scan(text, self.paragraph_line, "paragraph")

    def close_code(self) -> None:
        assert self.code is not None
        lines, self.code = self.code, None
        fenced = self.code_end is not None
        if not fenced:
            while lines and not lines[-1].strip():
                lines.pop()
        language = _LANGUAGE_END.split(self.code_info, maxsplit=1)[0]
        self.marks.append(Fence(language, self.code_info, "\n".join(lines), self.code_line, fenced))

    def close_html(self) -> None:
        assert self.html is not None
        lines, self.html = self.html, None
        take_apart("\n".join(lines), self.html_line, self.inlines)

    def close_table(self) -> None:
        assert self.table is not None
        rows, self.table = self.table, None
        alignment = "".join(_column(cell) for cell in rows[1].strip().strip("|").split("|"))
        counts = tuple(_cells(row) for index, row in enumerate(rows) if index != 1)
        self.marks.append(Table(counts, alignment, self.table_line))
        for index, row in enumerate(rows):
            if index != 1:
                self.inlines.scan(row.replace("\\|", "|"), self.table_line + index, "row")

    def result(self) -> Structure:
        inlines = self.inlines
        taken: set[str] = set()
        for place, explicit, text in self.titles:
            if explicit is not None:
                identifier = explicit
            else:
                plain = slugs.rendered_text(text, inlines.references)
                identifier = slugs.unique(slugs.slug(plain), taken)
            inlines.ids.add(identifier)
            if place >= 0:
                mark = self.marks[place]
                assert isinstance(mark, Heading)
                self.marks[place] = Heading(mark.level, mark.text, identifier, mark.explicit, mark.line)
        inlines.resolve_references()
        return Structure(
            tuple(self.marks),
            tuple(mark for mark in self.marks if isinstance(mark, Heading)),
            frozenset(inlines.ids),
            tuple(inlines.links),
            tuple(inlines.codes),
            tuple(inlines.formulas),
            tuple(inlines.tags),
            tuple(inlines.prose),
        )


def _column(cell: str) -> str:
    cell = cell.strip()
    return {(False, False): "-", (True, False): "<", (False, True): ">", (True, True): "^"}[
        cell.startswith(":"), cell.endswith(":")
    ]
