"""A small HTML validator for the mistakes that occur in a book.

It checks (HTML Living Standard, 4 and 13.1.2) that every element is known and closed in order, that ids
are unique and references to ids exist, that phrasing content contains no blocks, and that lists and tables
contain only their own elements.
"""

from __future__ import annotations

from html.parser import HTMLParser
from typing import NamedTuple

from msgspec import Struct

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


BLOCKS = _names(
    "address article aside blockquote details dialog div dl fieldset figcaption figure footer form h1 h2 h3 "
    "h4 h5 h6 header hr main nav ol p pre section table ul"
)
INLINE = _names(
    "a abbr b bdi bdo button cite code data del dfn em i ins kbd label mark q s samp small span strong sub "
    "sup time u var"
)
OTHER = _names(
    "html head title body script style summary li dt dd thead tbody tfoot tr th td caption colgroup "
    "select option textarea template noscript iframe video audio picture object output progress meter"
)
FOREIGN = {"svg", "math"}
# Elements that only these parents may contain, and parents that may contain only these.
PARENTS = {
    "li": {"ol", "ul", "menu"},
    "tr": {"thead", "tbody", "tfoot", "table"},
    "td": {"tr"},
    "th": {"tr"},
    "summary": {"details"},
    "figcaption": {"figure"},
    "dt": {"dl", "div"},
    "dd": {"dl", "div"},
}
CHILDREN = {
    "ol": {"li", "script", "template"},
    "ul": {"li", "script", "template"},
    "tr": {"td", "th"},
    "thead": {"tr"},
    "tbody": {"tr"},
    "table": {"caption", "colgroup", "thead", "tbody", "tfoot", "tr"},
}
PHRASING_ONLY = {
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "span",
    "em",
    "strong",
    "code",
    "pre",
    "button",
    "label",
}
REFERENCES = ("aria-controls", "aria-labelledby", "aria-describedby", "for")
_ELEMENTS = VOID | BLOCKS | INLINE | OTHER | FOREIGN


class _Open(NamedTuple):
    """An element that is not closed yet."""

    name: str
    line: int
    foreign: bool  # in an element of another language, such as SVG, or one itself


class Flaw(Struct, frozen=True):
    """One violation of the rules.

    Attributes:
        line: of the page.
        message: says what is wrong.
        nesting: elements are not closed, or not allowed where they are. A parser repairs this, so that a page
            that was parsed and written again does not show it.
    """

    line: int
    message: str
    nesting: bool = False


class Validator(HTMLParser):
    """Parses one page, and collects violations in `flaws`."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.flaws: list[Flaw] = []
        self.ids: dict[str, int] = {}
        self.links: list[tuple[int, str]] = []  # values of href and src
        self._open: list[_Open] = []
        self._references: list[tuple[int, str, str]] = []
        self._names: dict[str, int] = {}

    def flaw(self, message: str, *, nesting: bool = False) -> None:
        self.flaws.append(Flaw(self.getpos()[0], message, nesting))

    @property
    def _foreign(self) -> bool:
        return bool(self._open) and self._open[-1].foreign

    def handle_decl(self, decl: str) -> None:
        if decl.lower() != "doctype html":
            self.flaw(f"unknown declaration <!{decl}>")

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._attributes(tag, attributes)
        if self._foreign:
            self._open.append(_Open(tag, self.getpos()[0], foreign=True))
            return
        if tag not in _ELEMENTS:
            self.flaw(f"<{tag}> is not an HTML element")
        self._placed(tag)
        if tag not in VOID:
            self._open.append(_Open(tag, self.getpos()[0], tag in FOREIGN))

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._attributes(tag, attributes)
        if not self._foreign and tag not in VOID:
            self.flaw(f"<{tag}/> is not closed by its slash")

    def _placed(self, tag: str) -> None:
        parent = self._open[-1].name if self._open else None
        misplaced = tag in PARENTS and parent not in PARENTS[tag]
        if misplaced or (parent in CHILDREN and tag not in CHILDREN[parent]):
            self.flaw(f"<{tag}> is not allowed in <{parent}>", nesting=True)
        elif tag in BLOCKS and parent in PHRASING_ONLY:
            self.flaw(f"the block <{tag}> is not allowed in <{parent}>", nesting=True)
        if tag in ("a", "button") and any(outer.name in ("a", "button") for outer in self._open):
            self.flaw(f"<{tag}> is inside another link or button")

    def _attributes(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        seen: set[str] = set()
        values = dict(attributes)
        for name, value in attributes:
            if name in seen:
                self.flaw(f"<{tag}> has two attributes `{name}`")
            seen.add(name)
            if name == "id":
                self._identify(value or "")
            elif name in REFERENCES:
                self._references += [(self.getpos()[0], name, target) for target in (value or "").split()]
            elif name in ("href", "src") and not self._foreign:
                self.links.append((self.getpos()[0], value or ""))
        if tag == "img" and "alt" not in values:
            self.flaw("<img> has no alt")
        if tag == "a" and "href" in values and not values["href"]:
            self.flaw("<a> has an empty href")

    def _identify(self, value: str) -> None:
        if value in self.ids:
            self.flaw(f"the id `{value}` is also in line {self.ids[value]}")
        elif not value or any(character.isspace() for character in value):
            self.flaw(f"`{value}` is not a valid id")
        self.ids[value] = self.getpos()[0]

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            self.flaw(f"</{tag}> closes a void element")
            return
        if not self._open or self._open[-1].name != tag:
            name, line = self._open[-1][:2] if self._open else ("nothing", 0)
            self.flaw(f"</{tag}> where <{name}> of line {line} is open", nesting=True)
            if any(outer.name == tag for outer in self._open):
                while self._open.pop().name != tag:
                    pass
            return
        self._open.pop()

    def finish(self) -> list[Flaw]:
        """All violations of the page."""
        self.close()
        for name, line, _ in self._open:
            self.flaws.append(Flaw(line, f"<{name}> is never closed", nesting=True))
        for line, name, target in self._references:
            if target not in self.ids:
                self.flaws.append(Flaw(line, f'{name}="{target}" names an id that does not exist'))
        return self.flaws
