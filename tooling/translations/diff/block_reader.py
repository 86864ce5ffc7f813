"""Cuts a page into the blocks that are translated one by one, from the events of mdBook's own parser."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct, field

from tooling.mdbook.markdown import Document, Placeholder, definitions, parse
from tooling.mdbook.structure import ALERT
from tooling.translations.diff.blocks import Block, BlockKind

if TYPE_CHECKING:
    from pyromark.event import Event, Range

_QUOTE_MARK = re.compile(r"[ \t]*>[ \t]?")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_INLINE = frozenset({"Emphasis", "Strong", "Strikethrough", "Link", "Image"})
_ROWS = frozenset({"TableHead", "TableRow"})
_PARAGRAPHS = frozenset({"Paragraph", "DefinitionListTitle"})


class RawSection(Struct, frozen=True):
    """A heading with all that follows it up to the next heading, or what precedes the first one.

    Attributes:
        level: of the heading, 0 without one.
        first: its first line in the page.
    """

    level: int
    first: int
    _document: Document
    _events: list[tuple[Event, Range]]

    def blocks(self) -> tuple[Block, ...]:
        """Its blocks in order; HTML comments, blank lines and delimiter rows of tables are left out."""
        return tuple(_Reader(self._document, self._events).run())


class RawPage(Struct, frozen=True):
    """A page cut at its headings, except those in quotes and lists.

    Attributes:
        sections: what precedes the first heading, then one section for each heading.
        definitions: the targets of link definitions, by folded label.
    """

    sections: tuple[RawSection, ...]
    definitions: dict[str, str]


def read_sections(text: str) -> RawPage:
    """Cuts a page at its headings; any line endings."""
    starts = [0]
    levels = [0]
    kept: list[tuple[Event, Range]] = []

    def keep(events: Iterable[tuple[Event, Range]]) -> Iterable[tuple[Event, Range]]:
        """The events without those inside paragraphs and rows, which `_Reader` skips; notes the headings.

        Paragraphs in lists are kept whole: `_Reader` may need them.
        """
        depth = items = 0
        closing = ""
        for one in events:
            event = one[0]
            if closing:
                if isinstance(event, str) or event.get("End") != closing:
                    continue
                closing = ""
                depth -= 1
            elif not isinstance(event, str):
                if "Start" in event:
                    tag = event["Start"]
                    if not isinstance(tag, str):
                        if depth == 0 and "Heading" in tag:
                            starts.append(len(kept))
                            levels.append(int(tag["Heading"]["level"][1]))
                    elif tag == "Item":
                        items += 1
                    elif tag in _ROWS or (tag in _PARAGRAPHS and not items):
                        closing = tag
                    depth += 1
                elif "End" in event:
                    depth -= 1
                    items -= event["End"] == "Item"
            kept.append(one)
        return kept

    document = parse(text, keep=keep)
    firsts = [1, *(document.line(kept[start][1]["start"]) for start in starts[1:])]
    ends = [*starts[1:], len(kept)]
    sections = tuple(
        RawSection(level, first, document, kept[start:end])
        for level, first, start, end in zip(levels, firsts, starts, ends, strict=True)
    )
    labels = {fold_label(label): target for label, target in definitions(document).items()}
    return RawPage(sections, labels)


def fold_label(label: str) -> str:
    """Link labels match regardless of case and runs of spaces."""
    return " ".join(label.split()).casefold()


class _Text(Struct):
    """The bytes of a paragraph or heading being read; `implied` is the text of a tight list item."""

    start: int = -1
    end: int = -1
    implied: bool = False


class _Reader(Struct):
    document: Document
    events: list[tuple[Event, Range]]
    blocks: list[Block] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)  # the open lists: `1.` for a numbered one, else empty
    item: int | None = None  # the byte at which an item starts that has no text yet
    quote: int = 0
    text: _Text | None = None
    code: list[str] | None = None  # pieces of an open code block
    html: list[str] | None = None
    info: str | None = None  # of a fence
    level: int = 0  # of the open heading
    explicit: str | None = None  # its id, where that is written
    in_quote: bool = False  # the event before opened a block quote
    closing: str = ""  # the tag whose end is awaited

    def run(self) -> list[Block]:
        for event, span in self.events:
            if self.closing:  # the inside of a paragraph or a row is skipped
                if isinstance(event, str) or event.get("End") != self.closing:
                    continue
                self.closing = ""
            in_quote, self.in_quote = self.in_quote, False
            if isinstance(event, str):
                self._bare(event, span)
            elif "Text" in event:
                if self.code is not None:
                    self.code.append(event["Text"])
                elif self.html is not None:
                    self.html.append(event["Text"])
                else:
                    self._extend(span)
            elif "Start" in event:
                self._start(event, span, in_quote=in_quote)
            elif "End" in event:
                end = event["End"]
                self._end(end if isinstance(end, str) else next(iter(end)), span)
            elif "Html" in event:
                assert self.html is not None
                self.html.append(event["Html"])
            else:
                self._extend(span)
        self._close_implied()
        return self.blocks

    def _extend(self, span: Range) -> None:
        text = self.text
        if text is None:
            text = self.text = _Text(implied=True)
        if text.start < 0 or span["start"] < text.start:
            text.start = span["start"]
        text.end = max(text.end, span["end"])

    def _bare(self, event: str, span: Range) -> None:
        if event != "Rule":
            self._extend(span)
            return
        self._begin()
        self._add(BlockKind.RULE, (), span["start"], span["end"])

    def _add(
        self, kind: BlockKind, lines: tuple[str, ...], start: int, end: int, *, level: int = 0, info: str = ""
    ) -> None:
        first = self.document.line(start)
        # Most blocks end where the line after them starts.
        last = max(first, self.document.line(end - 1))
        self.blocks.append(Block(kind, lines, first, last, level, self.quote, info))

    def _begin(self) -> None:
        """Called where a block begins: ends the text of a tight item, and notes an item without text."""
        self._close_implied()
        if self.item is not None:
            start, self.item = self.item, None
            self._add(BlockKind.ITEM, (), start, start + 1, level=len(self.lists), info=self.lists[-1])

    def _close_implied(self) -> None:
        if self.text is not None and self.text.implied:
            self._close_text()

    def _start(self, event: Event, span: Range, *, in_quote: bool) -> None:
        assert not isinstance(event, str) and "Start" in event
        tag = event["Start"]
        start = span["start"]
        if isinstance(tag, str):
            if tag in _INLINE:
                self._extend(span)
            elif tag in _PARAGRAPHS:
                self._close_implied()
                self.text = _Text(start, span["end"])
                if self.item is None or self.document.source[start - 2 : start - 1] != b"]":
                    self.closing = tag
                if in_quote:
                    self._skip_unknown_alert(self.text, span)
            elif tag == "Item":
                self._begin()
                self.item = start
            elif tag in _ROWS:
                row = self.document.written(start, span["end"]).strip()
                self._add(BlockKind.ROW, (row,), start, span["end"])
                self.closing = tag
            elif tag == "HtmlBlock":
                self._begin()
                self.html = []
            return
        if "Link" in tag or "Image" in tag:
            self._extend(span)
            return
        if "List" in tag:
            self._begin()
            self.lists.append("" if tag["List"] is None else "1.")
            return
        self._begin()
        if "Heading" in tag:
            heading = tag["Heading"]
            self.text, self.level, self.explicit = _Text(), int(heading["level"][1]), heading["id"]
        elif "CodeBlock" in tag:
            kind = tag["CodeBlock"]
            self.code = []
            self.info = None if isinstance(kind, str) else self.document.restored(kind["Fenced"]).strip()
        elif "BlockQuote" in tag:
            self.quote += 1
            if tag["BlockQuote"] is None:
                self.in_quote = True
            else:
                mark = ALERT.search(self.document.written(start, span["end"]))
                assert mark is not None
                self._add(BlockKind.ALERT, (mark[0].strip(),), start, start + 1)

    def _skip_unknown_alert(self, text: _Text, span: Range) -> None:
        """`[!…]` with an alert type that mdBook does not know, alone on the first line of a quote."""
        first, _, _ = self.document.written(span["start"], span["end"]).partition("\n")
        if ALERT.match(first):
            self._add(BlockKind.ALERT, (first.strip(),), span["start"], span["start"] + 1)
            text.start = min(span["start"] + len(first.encode()) + 1, span["end"])

    def _end(self, tag: str, span: Range) -> None:
        if tag in _INLINE:
            return
        if tag in _PARAGRAPHS:
            self._close_text()
        elif tag == "Heading":
            self._close_heading(span)
        elif tag == "CodeBlock":
            self._close_code(span)
        elif tag == "HtmlBlock":
            self._close_html(span)
        elif tag == "Item":
            self._begin()  # an empty item
        elif tag == "List":
            self._close_implied()
            self.lists.pop()
        elif tag == "BlockQuote":
            self._close_implied()
            self.quote -= 1
        elif tag in ("FootnoteDefinition", "DefinitionListDefinition"):
            self._close_implied()

    def _close_heading(self, span: Range) -> None:
        text, self.text = self.text, None
        assert text is not None
        title = self.document.written(text.start, text.end) if text.start >= 0 else ""
        title = " ".join(self._unquoted(line) for line in title.split("\n"))
        if self.explicit is not None:
            title = f"{title} {{#{self.explicit}}}".lstrip()
        self._add(BlockKind.HEADING, (title,), span["start"], span["end"], level=self.level)

    def _close_code(self, span: Range) -> None:
        assert self.code is not None
        code, self.code = self.document.restored("".join(self.code)), None
        lines = tuple(line.rstrip() for line in code.rstrip().split("\n")) if code.strip() else ()
        kind = BlockKind.CODE if self.info is None else BlockKind.FENCE
        self._add(kind, lines, span["start"], span["end"], info=self.info or "")

    def _close_html(self, span: Range) -> None:
        assert self.html is not None
        html, self.html = self.document.restored("".join(self.html)), None
        lines = tuple(line.strip() for line in _COMMENT.sub("", html).split("\n") if line.strip())
        if lines:
            self._add(BlockKind.HTML, lines, span["start"], span["end"])

    def _close_text(self) -> None:
        """Ends a paragraph; a directive or a displayed formula on a line of its own is a block of its own."""
        text, self.text = self.text, None
        assert text is not None
        lines: list[str] = []
        first, end = text.start, text.start
        start, item = text.start, self.item is not None
        if self.item is not None:
            first, self.item = self.item, None
        for raw in self.document.parsed[text.start : text.end].split(b"\n"):
            line = self._unquoted(raw.decode())
            alone = None if item else self._alone(line)
            if alone is not None:
                self._add_paragraph(lines, first, end)
                lines, first = [], start + len(raw) + 1
                if alone.formula is None:
                    self._add(BlockKind.DIRECTIVE, (alone.text,), start, start + len(raw))
                else:
                    formula = tuple(one.strip("> \t") for one in alone.text.split("\n"))
                    self._add(BlockKind.MATH, formula, start, start + len(raw))
            elif line:
                lines.append(self.document.restored(line))
                end = start + len(raw)
            start += len(raw) + 1
        if item:
            self._add(
                BlockKind.ITEM,
                tuple(lines),
                first,
                max(end, first + 1),
                level=len(self.lists),
                info=self.lists[-1],
            )
        else:
            self._add_paragraph(lines, first, end)

    def _add_paragraph(self, lines: list[str], start: int, end: int) -> None:
        if lines:
            self._add(BlockKind.PARAGRAPH, tuple(lines), start, end)

    def _alone(self, line: str) -> Placeholder | None:
        """The directive or displayed formula that fills this line; None for any other line."""
        if not line or line.isascii():
            return None
        known = self.document.placeholder(line)
        return (
            known
            if known is not None and known.mark == line and (known.formula is None or known.display)
            else None
        )

    def _unquoted(self, line: str) -> str:
        """A line of a paragraph without the quote marks in front of it."""
        for _ in range(self.quote):
            mark = _QUOTE_MARK.match(line)
            if mark is None:
                break
            line = line[mark.end() :]
        return line.strip()
