"""The elements of a Markdown page, each with its line, counted from 1."""

from __future__ import annotations

from msgspec import Struct


class Heading(Struct, frozen=True):
    """A heading.

    Attributes:
        level: 1 to 6.
        text: its Markdown, without marks and without `{#id}`.
        id: the id that mdBook gives it: the explicit one, or one made of its text.
        explicit: whether the id is written in the page.
    """

    level: int
    text: str
    id: str
    explicit: bool
    line: int


class Fence(Struct, frozen=True):
    """A code block; `language` is the first word of its info string, `fenced` False for an indented one."""

    language: str
    info: str
    code: str
    line: int
    fenced: bool = True


class Table(Struct, frozen=True):
    """A table: the number of cells of each row, the head first. `alignment` has one of `-<>^` per column."""

    cells: tuple[int, ...]
    alignment: str
    line: int


class Tag(Struct, frozen=True):
    """An HTML tag of a block of HTML."""

    name: str
    closing: bool
    attributes: tuple[tuple[str, str], ...]
    line: int

    def get(self, name: str) -> str:
        """The value of an attribute, or the empty string."""
        return next((value for key, value in self.attributes if key == name), "")


class Image(Struct, frozen=True):
    """A picture, `![…](target)` or `<img src=target>`."""

    target: str
    line: int


class Alert(Struct, frozen=True):
    """`> [!NOTE]`; `known` where mdBook renders it as a box."""

    name: str
    known: bool
    line: int


class Marker(Struct, frozen=True):
    """A paragraph that consists of one directive, such as `{{#run p15}}`."""

    text: str
    line: int


Mark = Heading | Fence | Table | Tag | Image | Alert | Marker


class Link(Struct, frozen=True):
    """A link of any form: inline, by reference, `<https://…>`, or `<a href=…>`."""

    target: str
    line: int


class Code(Struct, frozen=True):
    """A code span in a paragraph."""

    text: str
    line: int


class Formula(Struct, frozen=True):
    r"""A formula between `\\(` and `\\)`, `\\[` and `\\]`, or `$$` and `$$`."""

    text: str
    display: bool
    line: int


class Active(Struct, frozen=True):
    """What a browser runs, loads or applies: a script, a style sheet, a handler, a `javascript:` address."""

    text: str
    line: int


class Detail(Struct, frozen=True):
    """A small element of the text.

    Attributes:
        kind: footnote (a reference) or footnote-definition, with its label; item (of a list), with `-` or
            `1.` after a space for each list around its own; task, with `[x]` or `[ ]`; tag, one inside text;
            key, the text of a `<kbd>`; link, its text; picture, its description.
    """

    kind: str
    name: str
    line: int


class Prose(Struct, frozen=True):
    """Text for readers, free of code, formulas, tags and targets of links.

    Each removed code span or formula leaves one `OBJECT`, so that the words around it are not joined.
    `kind` is heading, paragraph, row (of a table), html, or attribute (a title or alternative text).
    """

    text: str
    line: int
    kind: str


OBJECT = "\ufffc"


class Structure(Struct, frozen=True):
    """The elements of one page.

    Attributes:
        marks: headings, code blocks, tables, block-level tags, images, alerts and lone directives, in order.
        headings: those of the marks that are headings.
        ids: all targets of fragments.
        links, codes, formulas: those inside text, in order.
        prose: the text itself.
        active: what a browser runs, loads or applies.
        details: small elements of the text, in order.
    """

    marks: tuple[Mark, ...]
    headings: tuple[Heading, ...]
    ids: frozenset[str]
    links: tuple[Link, ...]
    codes: tuple[Code, ...]
    formulas: tuple[Formula, ...]
    prose: tuple[Prose, ...]
    active: tuple[Active, ...]
    details: tuple[Detail, ...] = ()
