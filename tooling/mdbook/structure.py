"""The structure of a Markdown page, collected from the events of mdBook's parser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct, field

from tooling.mdbook import slugs
from tooling.mdbook.html import Html
from tooling.mdbook.markdown import Document, Placeholder, parse
from tooling.mdbook.markup import (
    OBJECT,
    Alert,
    Code,
    Detail,
    Fence,
    Formula,
    Heading,
    Image,
    Link,
    Mark,
    Marker,
    Prose,
    Structure,
    Table,
)

if TYPE_CHECKING:
    from pyromark.event import Event, Range

__all__ = ["ALERT", "Structure", "scan"]

ALERT = re.compile(r"\[!([^\]\n]+)\][ \t]*$", re.MULTILINE)
_PIPE = re.compile(r"(?<!\\)\|")
_LANGUAGE_END = re.compile(r"[ \t,]+")
_ALIGNMENTS = {"None": "-", "Left": "<", "Right": ">", "Center": "^"}
_EMPHASIS = frozenset({"Emphasis", "Strong", "Strikethrough", "Link", "Image"})  # ends of marks inside text


def scan(text: str) -> Structure:
    """The structure of one chapter, its directives not expanded.

    Args:
        text: the Markdown; any line ends.
    """
    scanner = _Scanner(parse(text))
    scanner.read()
    titles = scanner.titles
    if scanner.dashes:  # only the parser determines which of them become signs that ids leave out
        exact = _Scanner(parse(text, smart_punctuation=True))
        exact.read()
        titles = exact.titles
    return scanner.result(titles)


class _Text(Struct):
    """The paragraph, heading or table row being read.

    Attributes:
        kind: as in `Prose`.
        line: its first line.
        implied: a paragraph without an event of its own, the text of a tight list item.
        title: whether it gets an id: a heading, or a term of a definition list.
        pieces: its prose.
        rendered: the text that the id of a heading is made from.
        start, end: bytes of its content.
        directives: the directives in it.
        plain: only text and directives have been read so far.
    """

    kind: str
    line: int
    implied: bool = False
    title: bool = False
    pieces: list[str] = field(default_factory=list)
    rendered: list[str] = field(default_factory=list)
    start: int = -1
    end: int = -1
    directives: list[Placeholder] = field(default_factory=list)
    plain: bool = True


class _Title(Struct):
    """A heading, or a term of a definition list, whose id is made when the page has been read."""

    explicit: str | None
    rendered: str
    index: int  # index of the heading in the marks, -1 for a term


class _Scanner:
    """Goes through the events of a page once."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.marks: list[Mark] = []
        self.links: list[Link] = []
        self.codes: list[Code] = []
        self.formulas: list[Formula] = []
        self.prose: list[Prose] = []
        self.ids: set[str] = set()
        self.details: list[Detail] = []
        self.html = Html(self.marks, self.links, self.prose, self.ids, self.details)
        self.lists: list[str] = []  # the bullets of the open lists
        self.begun: list[int] = []  # the piece of the text at which each open link, picture or key begins
        self.titles: list[_Title] = []
        self.dashes = False  # a title contains two adjacent hyphens
        self.footnotes: dict[str, int] = {}
        self.text: _Text | None = None
        self.code: list[str] | None = None  # pieces of an open code block
        self.block: list[str] | None = None  # pieces of an open HTML block
        self.opened = 0  # the byte at which the open block starts
        self.info: str | None = None  # of a fence
        self.pictures = 0  # the nesting depth of images
        self.cells: list[int] = []
        self.alignment = ""
        self.first_cell = False
        self.in_quote = False  # the event before opened a block quote
        self.skipped = 0  # text before this byte has been reported otherwise

    def read(self) -> None:
        for event, span in self.document.events:
            in_quote, self.in_quote = self.in_quote, False
            if isinstance(event, str):
                self.bare(event, span)
            elif "Text" in event:
                self.read_text(event["Text"], span)
            elif "Start" in event:
                tag = event["Start"]
                if isinstance(tag, str):
                    self.start_plain(tag, span, in_quote=in_quote)
                else:
                    self.start(event, span)
            elif "End" in event:
                end = event["End"]
                self.end(end if isinstance(end, str) else next(iter(end)), span)
            elif "Code" in event:
                self.read_code(event["Code"], span)
            elif "Html" in event:
                assert self.block is not None
                self.block.append(event["Html"])
            elif "InlineHtml" in event:
                self.read_tag(event["InlineHtml"], span)
            elif "FootnoteReference" in event:
                self.note("footnote", event["FootnoteReference"], span)
                number = self.footnotes.setdefault(event["FootnoteReference"], len(self.footnotes) + 1)
                self.inside(span).rendered.append(str(number))
            elif "TaskListMarker" in event:
                self.inside(span)
                self.note("task", "[x]" if event["TaskListMarker"] else "[ ]", span)
        self.close_implied()

    def note(self, kind: str, name: str, span: Range) -> None:
        """Adds a detail."""
        self.details.append(Detail(kind, name, self.document.line(span["start"])))

    def begin(self) -> None:
        """A link, picture or key begins, whose text will be noted."""
        assert self.text is not None
        self.begun.append(len(self.text.pieces))

    def note_text(self, kind: str, span: Range) -> None:
        """Notes the text of the link, picture or key that ends."""
        if self.begun and self.text is not None:
            self.note(kind, "".join(self.text.pieces[self.begun.pop() :]).strip(), span)

    # ---- text ----

    def inside(self, span: Range) -> _Text:
        """The text that this event is part of."""
        text = self.text
        if text is None:
            text = self.text = _Text("paragraph", self.document.line(span["start"]), implied=True)
        if text.start < 0:
            text.start = span["start"]
        text.end = span["end"]
        return text

    def bare(self, event: str, span: Range) -> None:
        if event == "Rule":
            self.close_implied()
            return
        text = self.inside(span)
        if span["start"] >= self.skipped:
            text.pieces.append("\n")
            if event == "SoftBreak":
                text.rendered.append("\n")

    def read_text(self, piece: str, span: Range) -> None:
        if self.code is not None:
            self.code.append(piece)
            return
        if self.block is not None:
            self.block.append(piece)
            return
        text = self.inside(span)
        if span["start"] < self.skipped:
            return
        if piece.isascii() or not self.document.placeholders:
            text.pieces.append(piece)
        else:
            self.read_pieces(piece, span["start"], text)
        if text.title and not self.pictures:
            self.dashes |= "--" in piece
            text.rendered.append(self.document.restored(piece))

    def read_pieces(self, piece: str, offset: int, text: _Text) -> None:
        for token in self.document.split(piece):
            if isinstance(token, str):
                text.pieces.append(token)
                offset += len(token.encode())
                continue
            if token.formula is None:
                text.directives.append(token)
            else:
                text.pieces.append(OBJECT)
                self.formulas.append(Formula(token.formula, token.display, self.document.line(offset)))
            offset += len(token.mark.encode())

    def read_code(self, code: str, span: Range) -> None:
        text = self.inside(span)
        code = self.document.restored(code)
        if self.pictures:  # an alternative text is plain
            text.pieces.append(code)
            return
        text.pieces.append(OBJECT)
        text.rendered.append(code)
        self.codes.append(Code(" ".join(code.split()), self.document.line(span["start"])))

    def read_tag(self, tag: str, span: Range) -> None:
        text = self.inside(span)
        text.plain = False
        if self.pictures:
            return
        if self.html.inline(self.document.restored(tag), self.document.line(span["start"])):
            text.pieces.append(" ")
        elif tag.startswith("<kbd"):
            self.begin()
        elif tag.startswith("</kbd"):
            self.note_text("key", span)

    def close_implied(self) -> None:
        if self.text is not None and self.text.implied:
            self.close_text()

    def close_text(self) -> None:
        text, self.text = self.text, None
        assert text is not None
        prose = "".join(text.pieces)
        if text.plain and len(text.directives) == 1 and not prose.strip():
            self.marks.append(Marker(text.directives[0].text, text.line))
            return
        self.prose.append(Prose(prose, text.line, text.kind))

    # ---- blocks ----

    def start_plain(self, tag: str, span: Range, *, in_quote: bool) -> None:
        if tag in _EMPHASIS:
            self.inside(span).plain = False
            return
        if tag == "TableCell":
            assert self.text is not None
            if not self.first_cell:
                self.text.pieces.append(" | ")
            self.first_cell = False
            return
        self.close_implied()
        if tag == "Paragraph":
            skipped = in_quote and self.read_unknown_alert(span)
            self.text = _Text("paragraph", self.document.line(span["start"]) + skipped)
        elif tag == "HtmlBlock":
            self.block, self.opened = [], span["start"]
        elif tag == "DefinitionListTitle":
            self.text = _Text("paragraph", self.document.line(span["start"]), title=True)
        elif tag == "Item":
            self.note("item", " " * (len(self.lists) - 1) + self.lists[-1], span)
        elif tag in ("TableHead", "TableRow"):
            self.text = _Text("row", self.document.line(span["start"]))
            self.first_cell = True

    def start(self, event: Event, span: Range) -> None:
        assert not isinstance(event, str) and "Start" in event
        tag = event["Start"]
        assert not isinstance(tag, str)
        line = self.document.line(span["start"])
        if "Link" in tag:
            self.inside(span).plain = False
            self.begin()
            link = tag["Link"]
            if not self.pictures:
                target = self.document.restored(link["dest_url"])
                self.html.address(target, line)
                self.links.append(Link(f"mailto:{target}" if link["link_type"] == "Email" else target, line))
            return
        if "Image" in tag:
            self.inside(span).plain = False
            self.begin()
            if not self.pictures:
                self.marks.append(Image(self.document.restored(tag["Image"]["dest_url"]), line))
            self.pictures += 1
            return
        self.close_implied()
        if "Heading" in tag:
            heading = tag["Heading"]
            # Its text and its id are known when it has been read; pictures in it come after it.
            self.titles.append(_Title(heading["id"], "", len(self.marks)))
            level = int(heading["level"][1])
            self.marks.append(Heading(level, "", "", heading["id"] is not None, line))
            self.text = _Text("heading", line, title=True)
        elif "CodeBlock" in tag:
            kind = tag["CodeBlock"]
            self.code, self.opened = [], span["start"]
            self.info = None if isinstance(kind, str) else self.document.restored(kind["Fenced"]).strip()
        elif "BlockQuote" in tag:
            if tag["BlockQuote"] is None:
                self.in_quote = True
            else:
                name = ALERT.search(self.document.written(span["start"], span["end"]))
                assert name is not None
                self.marks.append(Alert(name[1], known=True, line=line))
        elif "FootnoteDefinition" in tag:
            self.ids.add(f"footnote-{tag['FootnoteDefinition']}")
            self.note("footnote-definition", tag["FootnoteDefinition"], span)
        elif "List" in tag:
            self.lists.append("-" if tag["List"] is None else "1.")
        elif "Table" in tag:
            self.cells = []
            self.alignment = "".join(_ALIGNMENTS[column] for column in tag["Table"])

    def read_unknown_alert(self, span: Range) -> bool:
        """Records `[!…]` with an alert type that mdBook does not know, alone on the first line of a quote."""
        first, _, _ = self.document.written(span["start"], span["end"]).partition("\n")
        alert = ALERT.match(first)
        if alert is None:
            return False
        self.marks.append(Alert(alert[1], known=False, line=self.document.line(span["start"])))
        self.skipped = span["start"] + len(first.encode()) + 1
        return True

    def end(self, tag: str, span: Range) -> None:
        if tag == "TableCell":
            return
        if tag in _EMPHASIS:
            self.inside(span)
            self.pictures -= tag == "Image"
            if tag in ("Image", "Link"):
                self.note_text("picture" if tag == "Image" else "link", span)
            return
        if tag == "CodeBlock":
            self.close_code()
        elif tag == "HtmlBlock":
            assert self.block is not None
            text, self.block = self.document.restored("".join(self.block)), None
            self.html.block(text, self.document.line(self.opened))
        elif tag == "Heading":
            self.close_heading()
        elif tag == "DefinitionListTitle":
            assert self.text is not None
            self.titles.append(_Title(None, "".join(self.text.rendered), -1))
            self.close_text()
        elif tag == "Paragraph":
            self.close_text()
        elif tag in ("TableHead", "TableRow"):
            self.cells.append(_cells(self.document.parsed[span["start"] : span["end"]].decode()))
            self.close_text()
        elif tag == "Table":
            line = self.document.line(span["start"])
            self.marks.append(Table(tuple(self.cells), self.alignment, line))
        else:
            self.close_implied()
            if tag == "List":
                self.lists.pop()

    def close_heading(self) -> None:
        text, title = self.text, self.titles[-1]
        assert text is not None
        title.rendered = "".join(text.rendered)
        mark = self.marks[title.index]
        assert isinstance(mark, Heading)
        written = self.document.written(text.start, text.end) if text.start >= 0 else ""
        self.marks[title.index] = Heading(mark.level, written, "", mark.explicit, mark.line)
        self.close_text()

    def close_code(self) -> None:
        assert self.code is not None
        pieces, self.code = self.code, None
        code = self.document.restored("".join(pieces)).removesuffix("\n")
        info = self.info or ""
        language = _LANGUAGE_END.split(info, maxsplit=1)[0]
        line = self.document.line(self.opened)
        self.marks.append(Fence(language, info, code, line, self.info is not None))

    def result(self, titles: list[_Title]) -> Structure:
        """The structure, with the ids that mdBook gives to these headings and terms."""
        taken: set[str] = set()
        for title in titles:
            identifier = title.explicit
            if identifier is None:
                identifier = slugs.unique(slugs.slug(title.rendered), taken)
            self.ids.add(identifier)
            if title.index >= 0:
                mark = self.marks[title.index]
                assert isinstance(mark, Heading)
                self.marks[title.index] = Heading(mark.level, mark.text, identifier, mark.explicit, mark.line)
        return Structure(
            tuple(self.marks),
            tuple([mark for mark in self.marks if isinstance(mark, Heading)]),
            frozenset(self.ids),
            tuple(self.links),
            tuple(self.codes),
            tuple(self.formulas),
            tuple(self.prose),
            tuple(self.html.active),
            tuple(self.details),
        )


def _cells(row: str) -> int:
    """The cells that are written in a row; mdBook drops those beyond the head's, and adds empty ones."""
    row = row.strip().removeprefix("|")
    if row.endswith("|") and not row.endswith("\\|"):
        row = row[:-1]
    return len(_PIPE.findall(row)) + 1
