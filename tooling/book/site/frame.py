"""The frame of a page: contents, language switcher, outline, and the links between the languages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape
from itertools import groupby
from urllib.parse import urlsplit

from msgspec import Struct

from tooling.book.editions import Edition
from tooling.book.marks import mark_of
from tooling.book.parts import glyph, part_number, part_style
from tooling.book.phrases import say
from tooling.book.site.icons import ICONS, draw_signs
from tooling.book.site.print_page import PRINT
from tooling.book.site.sections import mark_sections
from tooling.book.site.tree import (
    ADDRESSES,
    Node,
    Tree,
    children,
    inner,
    is_relative,
    prepend,
    replace,
    required,
)
from tooling.book.site.typography.tables import mark_cells
from tooling.book.summary import Entry

NOT_FOUND = "404.html"
COVER = "cover.html"
HOME = "index.html"
GLOSSARY = "glossary.html"
_TOKEN = re.compile(r"@(assets|home|print|repository)\b|@text:([\w-]+)")
_TITLE = re.compile(r"(\w+ \d+):\s+(.+)", re.DOTALL)
_PART = re.compile(r"--part: \d+")
_NUMBERED = re.compile(r"^\w+ (\d+): (.+)$")
_COLUMNS = '<colgroup><col class="name"><col></colgroup>'
_PUZZLE_PAGE = re.compile(r"(?:\.\./)*puzzle_(\d+)/")
_MANY_TERMS = 4  # of which the margin gives only the names


class Term(Struct, frozen=True):
    """An entry of the glossary, as HTML.

    Attributes:
        anchor: its id on the page of the glossary.
        name: the term.
        meaning: its definition.
    """

    anchor: str
    name: str
    meaning: str


class SiteContext(Struct, frozen=True):
    """The data that the frames of all pages of an edition share.

    Attributes:
        edition: the language.
        entries: its contents.
        stubs: the pages that are not written yet, and the puzzle of each.
        others: the other editions, with the pages that exist in each.
        pages: the pages that exist in this one.
        repository: the address of the source code.
        site: the address of the site, with a final slash.
        terms: for each page the terms that it explains first.
    """

    edition: Edition
    entries: tuple[Entry, ...]
    stubs: Mapping[str, str]
    others: Mapping[Edition, frozenset[str]]
    pages: frozenset[str]
    repository: str
    site: str
    terms: Mapping[str, tuple[Term, ...]]


def apply_layout(tree: Tree, page: str, around: SiteContext) -> None:
    """Fills in the frame of a page from mdBook.

    Args:
        tree: the page; its frame contains the placeholders of index.hbs.
        page: its address inside the edition, such as `puzzle_15/puzzle_15.html`.
        around: the rest of the site.
    """
    root, body, article = (required(tree, each) for each in ("html", "body", "article"))
    language = around.edition.language
    up = "../" * page.count("/")
    to_site = up + "../" * around.edition.prefix.count("/")
    if page == NOT_FOUND:  # it is shown at any address, so its own are those from the root of the server
        to_site = urlsplit(around.site).path
        up = to_site + around.edition.prefix
        for node in article.css("[href], [src]"):
            for name, address in node.attributes.items():
                if name in ADDRESSES and address and is_relative(address):
                    node.attrs[name] = up + address
        del root.attrs["data-root"]  # the search finds the site by its own address
    addresses = {
        "assets": f"{to_site}assets",
        "home": f"{up}index.html",
        "print": f"{up}{PRINT}",
        "repository": around.repository,
    }
    contents = {
        "@sidebar": sidebar(around, page, up),
        "@switcher": switcher(page, to_site, around),
        "@outline": margin(article, around.terms.get(page, ()), language, up),
        "@alternates": alternates(page, around),
        "@fonts": _fonts(around.edition, to_site),
        **{f"@icon:{name}": drawn for name, drawn in ICONS.items()},
    }
    _fill(root, article, addresses, contents, language)
    if around.entries and page in (HOME, COVER):
        body.attrs["class"] = "cover"
    if page in around.stubs:  # there is no chapter to edit
        for edit in tree.css("a.edit-link"):
            edit.attrs["href"] = f"{around.repository}/blob/main/problems/{around.stubs[page]}/puzzle.yaml"
            edit.inner_html = escape(say("manifest", language))
    for step in tree.css("a.step"):
        _name_step(step, language)
    _set_title(tree, page, around)
    heads = [say(each, language) for each in ("fact", "value")]
    for table in article.css("table"):
        if not table.attrs and [head.text() for head in table.css("thead > tr:first-child > th")] == heads:
            table.attrs["class"] = "facts"
            prepend(table, _COLUMNS)
    mark_cells(article)
    mark_sections(article, language)
    draw_signs(article)


def _fill(
    root: Node, article: Node, addresses: Mapping[str, str], contents: Mapping[str, str], language: str
) -> None:
    """Fills in the placeholders of a page outside of its article.

    Args:
        addresses: by the names of their placeholders.
        contents: HTML by the names of its placeholders, which are comments.
    """

    def filled(written: str) -> str:
        return _TOKEN.sub(lambda found: addresses[found[1]] if found[1] else say(found[2], language), written)

    def fill(node: Node) -> None:
        for child in children(node):
            if child.is_text_node:
                if "@" in child.text():
                    child.replace_with(filled(child.text()))
            elif child.is_comment_node:
                replace(child, contents[(child.comment_content or "").strip()])
            elif child.mem_id != article.mem_id:  # `==` compares their HTML
                fill(child)
        for name, value in node.attributes.items():
            if value and "@" in value:
                node.attrs[name] = filled(value)

    fill(root)


def _set_title(tree: Tree, page: str, around: SiteContext) -> None:
    """Sets the title of a page: in the head, and with its mark above the article."""
    heading = tree.css_first("article h1")
    if heading is None:
        return
    name = heading.text().strip()
    card = tree.css_first("article section.puzzle-card")
    part = _PART.match(card.attrs.sget("style")) if card else None
    number = int(card.attrs.sget("data-puzzle").removeprefix("p")) if card else None
    mark = mark_of(page, number)
    style = [*([part[0]] if part else []), *_position(page, number, around)]
    if mark:
        heading.attrs["class"] = "plate"
        if style:
            required(tree, "body").attrs["style"] = "; ".join(style)
    link = heading.first_child
    if link is not None and part:
        _name_page(link, mark, card.attrs.sget("data-name") if card else "")
    elif link is not None and mark:
        section = next((entry.part for entry in around.entries if entry.page == page), "")
        above = mark + escape(section or say("before-puzzles", around.edition.language))
        prepend(link, f'<span class="eyebrow" aria-hidden="true">{above}</span> ')
    book = tree.css_first(".bar-title > span")
    required(tree, "title").inner_html = escape(f"{name} · {book.text() if book else ''}", quote=False)


def _name_page(link: Node, mark: str, puzzle: str) -> None:
    """Sets the title of a puzzle's page below the puzzle's number and name."""
    written = link.first_child
    found = _TITLE.fullmatch(written.text()) if written is not None and written.is_text_node else None
    if written is None or found is None:
        return
    number = escape(found[1], quote=False)
    if puzzle:
        number = (
            f'<span class="separated"><span>{number}</span> <span>{escape(puzzle, quote=False)}</span></span>'
        )
    colon = '<span class="visually-hidden">:</span>'
    replace(written, f'<span class="eyebrow">{mark}{number}{colon}</span> {escape(found[2], quote=False)}')


def _position(page: str, number: int | None, around: SiteContext) -> list[str]:
    """The number of a page's puzzle and that of all puzzles, as CSS declarations.

    A page before the puzzles has the number 0, and one after them the number that follows the last one.
    """
    indices = {
        int(found[1]): index
        for index, entry in enumerate(around.entries)
        if (found := _NUMBERED.match(entry.title))
    }
    own = next((index for index, entry in enumerate(around.entries) if entry.page == page), None)
    if not indices or own is None:
        return []
    last = max(indices)
    position = number
    if position is None:
        position = max((each for each, index in indices.items() if index < own), default=0)
        position = last + 1 if position == last else position
    return [f"--puzzle: {position}", f"--puzzles: {last}"]


def _fonts(edition: Edition, to_site: str) -> str:
    """The link to the style sheet with the fonts of a language, where it needs any."""
    file = edition.fonts
    return f'<link rel="stylesheet" href="{to_site}assets/{file}">' if file else ""


def _name_step(step: Node, language: str) -> None:
    """Names the page of a puzzle with the puzzle's number in the link to a neighbouring page."""
    first, title = _PUZZLE_PAGE.match(step.attrs.sget("href")), step.last_child
    if first is None or title is None or _NUMBERED.match(title.text()):
        return
    name = title.text().replace("-", "-\N{WORD JOINER}")  # lines break elsewhere
    title.replace_with(f"{say('puzzle', language, number=int(first[1]))}: {name}")


def sidebar(around: SiteContext, page: str, up: str) -> str:
    """The contents of the edition as nested lists, one for each part; the current page is marked.

    The parts are closed, except that of the page.
    """
    if page == HOME and around.entries:
        page = around.entries[0].page
    link = f'<a href="{up}{escape(page)}"'
    blocks = _contents(around.entries, frozenset(around.stubs), up, around.edition.language)
    blocks = tuple(
        block if link in block else block.replace("<details open>", "<details>") for block in blocks
    )
    return "\n".join(blocks).replace(link, f'{link} aria-current="page"', 1)


@lru_cache(maxsize=64)  # the same for all pages of one depth
def _contents(entries: tuple[Entry, ...], stubs: frozenset[str], up: str, language: str) -> tuple[str, ...]:
    """A block for each part."""
    blocks = []
    for part, members in groupby(entries, key=lambda entry: entry.part):
        number = part_number(part)
        mark, style = (glyph(number), f" {part_style(number)}") if number else ("", "")
        items = f"<ol>\n{_items(list(members), stubs, up, language)}</ol>"
        if part:
            heading = f"<summary><h2>{mark}{_part_name(part)}</h2></summary>"
            items = f"<details open>{heading}\n{items}</details>"
        blocks.append(f"<section{style}>{items}</section>")
    return tuple(blocks)


def _part_name(part: str) -> str:
    """The title of a part, its number behind the name."""
    number, colon, name = part.partition(": ")
    if not colon:
        return f"<span>{escape(part)}</span>"
    return (
        f'<span><span class="visually-hidden">{escape(number)}: </span>{escape(name)}</span>'
        f'<span class="numeral" aria-hidden="true">{escape(number.removeprefix("Part "))}</span>'
    )


def _items(entries: Sequence[Entry], stubs: frozenset[str], up: str, language: str) -> str:
    unwritten = escape(say("stub", language))
    pieces: list[str] = []
    level = 0
    for index, entry in enumerate(entries):
        if index:
            if entry.level > level:
                pieces.append("\n<ol>\n")
            else:
                pieces.append("</li>\n" + "</ol>\n</li>\n" * (level - entry.level))
        level = entry.level
        numbered = _NUMBERED.match(entry.title)
        number = f'<span class="number">{numbered[1]}</span>' if numbered else ""
        title = escape(numbered[2] if numbered else entry.title)
        stub = f' class="unwritten" title="{unwritten}"' if entry.page in stubs else ""
        pieces.append(f'<li><a href="{up}{escape(entry.page)}"{stub}>{number}<span>{title}</span></a>')
    pieces.append("</li>\n" + "</ol>\n</li>\n" * level)
    return "".join(pieces)


def switcher(page: str, to_site: str, around: SiteContext) -> str:
    """One link for each other language, to the same page, which always exists (see `assembly`)."""
    if page == NOT_FOUND:
        page = HOME
    return "".join(switch_link(other, to_site, page) for other in around.others)


def switch_link(other: Edition, to_site: str, page: str) -> str:
    """The link to a page in another language; `to_site` is the relative path to the site's root."""
    label = say("switch", other.language, name=other.name)
    return (
        f'<a class="bar-button switcher" href="{to_site}{other.prefix}{escape(page)}" '
        f'hreflang="{other.language}" lang="{other.language}" title="{escape(label)}">'
        f"{escape(other.name)}</a>"
    )


def margin(article: Node, terms: Sequence[Term], language: str, up: str) -> str:
    """The margin of wide windows: the page's sections, and the terms that it explains first."""
    noted = _terms(terms, language, up)
    return f'<div class="margin">\n{outline(article, language)}\n{noted}</div>'


def _terms(terms: Sequence[Term], language: str, up: str) -> str:
    """The new terms of a page with links to the glossary; a few of them with their definitions."""
    if not terms:
        return ""
    name = escape(say("new-terms", language))
    links = [f'<a href="{up}{GLOSSARY}#{term.anchor}">{term.name}</a>' for term in terms]
    if len(terms) > _MANY_TERMS:
        shown = "".join(f"<li>{link}</li>\n" for link in links)
        listed = f"<ul>\n{shown}</ul>"
    else:
        shown = "".join(
            f"<dt>{link}</dt><dd>{term.meaning}</dd>\n" for link, term in zip(links, terms, strict=True)
        )
        listed = f"<dl>\n{shown}</dl>"
    return f'<aside class="new-terms" aria-label="{name}">\n<h2>{name}</h2>\n{listed}\n</aside>\n'


def read_terms(glossary: Tree) -> dict[str, tuple[Term, ...]]:
    """The terms of a glossary's page as mdBook renders it, by the page that explains each first."""
    found: dict[str, list[Term]] = {}
    for item in glossary.css('li:has(> span[id^="term-"]):has(a)'):
        entry, page = required(item, "span"), item.css("a")[-1]
        term, address = entry.id or "", page.attrs.sget("href").partition("#")[0]
        name = entry.text().removesuffix(".")
        entry.remove()
        page.remove()
        item.unwrap_tags(["a"])
        found.setdefault(address, []).append(Term(term, escape(name, quote=False), inner(item).strip()))
    return {page: tuple(terms) for page, terms in found.items()}


def outline(article: Node, language: str) -> str:
    """The page's sections, for wide windows; nothing for a page with fewer than two."""
    sections = article.css("h2[id]")
    if len(sections) < 2:
        return ""
    items = "".join(
        f'<li><a href="#{section.id}">{escape(section.text()).strip()}</a></li>\n' for section in sections
    )
    name = escape(say("outline", language))
    return f'<nav class="outline" aria-label="{name}">\n<h2>{name}</h2>\n<ol>\n{items}</ol>\n</nav>'


def alternates(page: str, around: SiteContext) -> str:
    """The links for search engines to the versions of a page in other languages, as far as they exist."""
    if page == NOT_FOUND:
        return '<meta name="robots" content="noindex">'
    links = language_addresses(page, around)
    lines = [f'<link rel="alternate" hreflang="{code}" href="{escape(address)}">' for code, address in links]
    own = dict(links).get(around.edition.language) or (links[0][1] if links else "")
    return "\n".join([f'<link rel="canonical" href="{escape(own)}">', *lines])


def language_addresses(page: str, around: SiteContext) -> list[tuple[str, str]]:
    """Language code and address of every version of a page, `x-default` last."""
    if page == HOME and around.entries:
        page = around.entries[0].page
    found = [
        (edition.language, f"{around.site}{edition.prefix}{page}")
        for edition, pages in [(around.edition, around.pages), *around.others.items()]
        if page in pages
    ]
    found.sort(key=lambda each: each[0])
    if found:
        default = dict(found).get("en", found[0][1])
        found.append(("x-default", default))
    return found
