"""The data of the search: the sections of an edition, as a script that any page can load.

It is a script and not JSON because a page opened from `file://` may load scripts but not fetch files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from msgspec import Struct

from tooling.book.site.tree import Node, children
from tooling.translations.parity.glossary import Term

_UNSEEN = frozenset(
    {"math", "svg", "aside", "p.tab-title", "div.tab-labels", "span.head"}
    | {"section.puzzle-card", "a.filename"}
)
_HEADINGS = frozenset({"h1", "h2", "h3"})
_BLOCKS = _HEADINGS | frozenset(
    {"p", "br", "li", "dl", "dt", "dd", "h4", "h5", "h6", "td", "th", "thead", "tr", "div", "pre"}
    | {"details", "summary", "figcaption", "blockquote"}
)
_JOINER = "\N{WORD JOINER}"  # keeps words on a line


class Section(Struct, frozen=True):
    """A heading of a page with the text below it.

    Attributes:
        page: address inside the edition.
        fragment: id of the heading; empty for the page's own title.
        title: of the page.
        heading: of the section; the page's title for the first one.
        text: the text below it, without tags.
    """

    page: str
    fragment: str
    title: str
    heading: str
    text: str


def sections(article: Node, page: str) -> Iterator[Section]:
    """The sections of a rendered page."""
    found: list[tuple[Node, list[str]]] = []
    for piece in _pieces(article):
        if not isinstance(piece, str):
            found.append((piece, []))
        elif found:
            found[-1][1].append(piece)
    titles = [_plain(piece for piece in _pieces(heading) if isinstance(piece, str)) for heading, _ in found]
    for (heading, pieces), title in zip(found, titles, strict=True):
        fragment = "" if heading.tag == "h1" else heading.id or ""
        yield Section(page, fragment, titles[0], title, _plain(pieces))


def _pieces(node: Node) -> Iterator[str | Node]:
    """The text of a node that is searched, with spaces between its blocks, and the headings with an id."""
    for child in children(node):
        if child.is_text_node:
            yield child.text()
        elif child.is_element_node:
            kind = child.attrs.sget("class")
            if child.tag in _UNSEEN or f"{child.tag}.{kind}" in _UNSEEN:
                yield " "
            elif child.tag in _HEADINGS and child.id:
                yield child
            else:
                is_cell = child.tag == "span" and kind.startswith("map-")  # of the map of the puzzles
                space = " " * (child.tag in _BLOCKS or is_cell)
                yield space
                yield from _pieces(child)
                yield space * (not is_cell)


def _plain(pieces: Iterable[str]) -> str:
    return " ".join("".join(pieces).replace(_JOINER, "").split())


def synonyms(terms: Iterable[Term]) -> dict[str, str]:
    """What readers may type, and what the book writes: other forms of terms, and the words they differ in.

    The forms that a glossary tells translators to avoid are those that readers know.
    """
    found: dict[str, str] = {}
    for term in terms:
        written, *others = term.accepted
        for form in (*others, *term.rivals):
            found.setdefault(form, written)
            words, meant = form.split(), written.split()
            if len(words) == len(meant):
                for word, other in zip(words, meant, strict=True):
                    found.setdefault(word, other)
    return {form: written for form, written in found.items() if form != written}


def script(found: list[Section], other_words: dict[str, str]) -> str:
    """The script with the data of the search: the sections of an edition, and what readers may type."""
    rows = [[each.page, each.fragment, each.title, each.heading, each.text] for each in found]
    return f"window.searchSections = {_json(rows)};\nwindow.searchSynonyms = {_json(other_words)};\n"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
