"""The frame of a page: contents, language switcher, outline, and the links between the languages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape, unescape
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
from tooling.book.site.typography.tables import mark_cells
from tooling.book.summary import Entry

NOT_FOUND = "404.html"
COVER = "cover.html"
GLOSSARY = "glossary.html"
_TERM = re.compile(
    r'<li><span id="(?P<anchor>term-[\w-]+)"><strong>(?P<name>[^<]*)\.</strong></span>'
    r'(?P<meaning>(?:(?!</li>).)*)<a href="(?P<page>[^"#]+)[^"]*">[^<]*</a></li>',
    re.DOTALL,
)
_HEADING = re.compile(r'<h2 id="([^"]+)">(.*?)</h2>', re.DOTALL)
_TOKEN = re.compile(r"@(assets|home|print|repository)\b|@text:([\w-]+)|<!-- @icon:(\w+) -->|<!-- @(\w+) -->")
_EDIT = re.compile(r'<a class="edit-link"[^>]*>[^<]*</a>')
_STEP = re.compile(
    r'(rel="(?:prev|next)" href="(?:\.\./)*(?P<page>[^"]+)">(?:<span>[^<]*</span>))(?P<title>[^<]+)'
)
_TITLE = re.compile(r"(<h1[^>]*><a[^>]*>)(\w+ \d+):\s+([^<]+)", re.DOTALL)
_HEAD = re.compile(r"<h1[^>]*><a[^>]*>")
_PART = re.compile(r'<section class="puzzle-card"[^>]*style="--part: (\d+)"')
_NAME = re.compile(r'<section class="puzzle-card"[^>]* data-name="([^"]+)"')
_PUZZLE = re.compile(r'<section class="puzzle-card"[^>]* data-puzzle="p(\d+)"')
_NUMBERED = re.compile(r"^\w+ (\d+): (.+)$")
_COLUMNS = '<colgroup><col class="name"><col></colgroup>'
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


def apply_layout(html: str, page: str, around: SiteContext) -> str:
    """A page from mdBook with its frame filled in.

    Args:
        html: the page; its frame contains the placeholders of index.hbs.
        page: its address inside the edition, such as `puzzle_15/puzzle_15.html`.
        around: the rest of the site.
    """
    head, opening, rest = html.partition("<article>")
    article, closing, tail = rest.partition("</article>")
    up = "../" * page.count("/")
    to_site = up + "../" * around.edition.prefix.count("/")
    if page == NOT_FOUND:  # it is shown at any address, so its own are those from the root of the server
        to_site = urlsplit(around.site).path
        up = to_site + around.edition.prefix
        article = re.sub(r'(href|src)="(?!\w+:|#|/)', rf'\1="{up}', article)
        head = head.replace(' data-root=""', "", 1)  # the search finds the site by its own address

    def fill(match: re.Match[str]) -> str:
        asset, text, icon, part = match.groups()
        if text:
            return escape(say(text, around.edition.language))
        if icon:
            return ICONS[icon]
        if asset:
            return {
                "assets": f"{to_site}assets",
                "home": f"{up}index.html",
                "print": f"{up}{PRINT}",
                "repository": around.repository,
            }[asset]
        return {
            "sidebar": lambda: sidebar(around, page, up),
            "switcher": lambda: switcher(page, to_site, around),
            "outline": lambda: margin(article, around.terms.get(page, ()), around.edition.language, up),
            "alternates": lambda: alternates(page, around),
            "fonts": lambda: _fonts(around.edition, to_site),
        }[part]()

    head, tail = _TOKEN.sub(fill, head), _TOKEN.sub(fill, tail)
    if around.entries and page in ("index.html", COVER):
        head = head.replace("<body>", '<body class="cover">', 1)
    if page in around.stubs:  # there is no chapter to edit
        manifest = f"{around.repository}/blob/main/problems/{around.stubs[page]}/puzzle.yaml"
        name = escape(say("manifest", around.edition.language))
        tail = _EDIT.sub(f'<a class="edit-link" href="{manifest}">{name}</a>', tail)
    tail = _STEP.sub(lambda step: _name_step(step, around), tail)
    title = re.search(r"<h1[^>]*>(.*?)</h1>", article, re.DOTALL)
    part = _PART.search(article)
    number = _PUZZLE.search(article)
    mark = mark_of(page, int(number[1]) if number else None)
    style = [*([f"--part: {part[1]}"] if part else []), *_position(page, number, around)]
    if mark and style:
        head = head.replace("<body", f'<body style="{"; ".join(style)}"', 1)
    if mark:
        article = article.replace("<h1", '<h1 class="plate"', 1)
    puzzle = _NAME.search(article)
    heads = (f"<th>{escape(say(each, around.edition.language))}</th>" for each in ("fact", "value"))
    article = re.sub(
        rf"<table>(?=\s*<thead>\s*<tr>{''.join(heads)}</tr>)", f'<table class="facts">{_COLUMNS}', article
    )
    if part:
        article = _TITLE.sub(lambda found: _name_page(found, mark, puzzle, around), article)
    elif mark:
        section = next((entry.part for entry in around.entries if entry.page == page), "")
        above = mark + escape(section or say("before-puzzles", around.edition.language))
        article = _HEAD.sub(
            rf'\g<0><span class="eyebrow" aria-hidden="true">{above}</span> ', article, count=1
        )
    if title:
        name = re.sub(r"<[^>]+>", "", title[1]).strip()
        book = re.search(r'class="bar-title"[^>]*>.*?<span>([^<]*)<', head)
        head = re.sub(
            r"<title>.*?</title>",
            lambda _: f"<title>{name} · {book[1] if book else ''}</title>",
            head,
            count=1,
        )
    article = mark_sections(mark_cells(article), around.edition.language)
    return head + opening + draw_signs(article) + closing + tail


def _name_page(title: re.Match[str], mark: str, puzzle: re.Match[str] | None, around: SiteContext) -> str:
    """The title of a puzzle's page below the puzzle's number and name."""
    start, number, name = title.groups()
    colon = '<span class="visually-hidden">:</span>'
    if puzzle:
        number = f'<span class="separated"><span>{number}</span> <span>{puzzle[1]}</span></span>'
    return f'{start}<span class="eyebrow">{mark}{number}{colon}</span> {name}'


def _position(page: str, number: re.Match[str] | None, around: SiteContext) -> list[str]:
    """The number of a page's puzzle and that of all puzzles, as CSS declarations.

    A page before the puzzles has the number 0, and one after them the number that follows the last one.
    """
    places = {
        int(found[1]): index
        for index, entry in enumerate(around.entries)
        if (found := _NUMBERED.match(entry.title))
    }
    own = next((index for index, entry in enumerate(around.entries) if entry.page == page), None)
    if not places or own is None:
        return []
    last = max(places)
    if number:
        place = int(number[1])
    else:
        place = max((each for each, index in places.items() if index < own), default=0)
        place = last + 1 if place == last else place
    return [f"--puzzle: {place}", f"--puzzles: {last}"]


def _fonts(edition: Edition, to_site: str) -> str:
    """The link to the style sheet with the fonts of a language, where it needs any."""
    file = edition.fonts
    return f'<link rel="stylesheet" href="{to_site}assets/{file}">' if file else ""


def _name_step(step: re.Match[str], around: SiteContext) -> str:
    """The link to a neighbouring page; a page of a puzzle is named with the puzzle's number."""
    first = re.match(r"(puzzle_(\d+))/", step["page"])
    if first is None or _NUMBERED.match(step["title"]):
        return step[0]
    number = say("puzzle", around.edition.language, number=int(first[2]))
    title = step["title"].replace("-", "-\N{WORD JOINER}")  # lines break elsewhere
    return f"{step[1]}{escape(number)}: {title}"


def sidebar(around: SiteContext, page: str, up: str) -> str:
    """The contents of the edition as nested lists, one for each part; the current page is marked.

    The parts are closed, except that of the page.
    """
    if page == "index.html" and around.entries:
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
        page = "index.html"
    return "".join(switch_link(other, to_site, page) for other in around.others)


def switch_link(other: Edition, to_site: str, page: str) -> str:
    """The link to a page in another language; `to_site` is the relative path to the site's root."""
    label = say("switch", other.language, name=other.name)
    return (
        f'<a class="bar-button switcher" href="{to_site}{other.prefix}{escape(page)}" '
        f'hreflang="{other.language}" lang="{other.language}" title="{escape(label)}">'
        f"{escape(other.name)}</a>"
    )


def margin(article: str, terms: Sequence[Term], language: str, up: str) -> str:
    """What is beside the text in wide windows: the page's sections, and the terms that it explains first."""
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


def read_terms(html: str) -> dict[str, tuple[Term, ...]]:
    """The terms of a glossary's page as mdBook renders it, by the page that explains each first."""
    found: dict[str, list[Term]] = {}
    for anchor, name, meaning, page in _TERM.findall(html):
        found.setdefault(page, []).append(Term(anchor, name, re.sub(r"</?a\b[^>]*>", "", meaning).strip()))
    return {page: tuple(terms) for page, terms in found.items()}


def outline(article: str, language: str) -> str:
    """The page's sections, for wide windows; nothing for a page with fewer than two."""
    sections = _HEADING.findall(article)
    if len(sections) < 2:
        return ""
    items = "".join(
        f'<li><a href="#{id_}">{escape(unescape(re.sub(r"<[^>]+>", "", title)).strip())}</a></li>\n'
        for id_, title in sections
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
    if page == "index.html" and around.entries:
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
