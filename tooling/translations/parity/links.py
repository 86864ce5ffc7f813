"""Compares what two pages refer to: included files and anchors, linked pages and sections, addresses."""

from __future__ import annotations

import re
from functools import lru_cache

from tooling.mdbook.includes import Kind, find_directives
from tooling.mdbook.markup import Link
from tooling.mdbook.pages import Page
from tooling.text import Text
from tooling.translations.parity.findings import Lines, quoted
from tooling.translations.parity.names import Names
from tooling.translations.parity.pair import ComparedPages, Item, difference

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|\{\{")


@lru_cache
def _edition(code: str) -> re.Pattern[str]:
    """Matches what an address has of an edition: `en.`, `/ko-kr/`, `?hl=ko`."""
    name = rf"(?:en|{re.escape(code)})(?:-[a-z]{{2}})?"
    return re.compile(
        rf"(?<=//){name}\.|(?<!/)/{name}(?=/|$)|[?&](?:hl|lang|locale)={name}(?=&|$)", re.IGNORECASE
    )


_ARTICLE = re.compile(r"(//(?:[a-z-]+\.)?(?:m\.)?wikipedia\.org/wiki/).*")
_SHOWN = frozenset({"include", "rustdoc_include", "playground"})


def compare_directives(pair: ComparedPages) -> None:
    """The files and anchors that the pages show, and the directives of the book's own preprocessor."""
    if "{{" not in pair.source.text and "{{" not in pair.target.text:
        return
    ours, theirs = _directives(pair.source, pair.names), _directives(pair.target, pair.names)
    found = difference(ours, theirs, pair.alignment)
    if not found:
        _compare_order(pair)
        return
    extra = list(found.extra)
    for item in found.missing:
        partner = next((other for other in extra if _word(other) == _word(item)), None)
        lines: Lines
        if partner is not None:
            extra.remove(partner)
            lines = (item.line, partner.line)
            message = Text("it shows {name}; its source shows {name2}").of(
                name=quoted(partner.name, 90), name2=quoted(item.name, 90)
            )
        else:
            lines = pair.alignment.at_source(item.line)
            message = Text("{name} of the source is missing").of(name=quoted(item.name, 90))
        hint = Text("name the same file and anchor as the source")
        pair.findings.error(_directive_kind(item), lines, message, hint=hint, subject=item.name)
    for item in extra:
        lines = pair.alignment.at_target(item.line)
        message = Text("{name} is not in the source").of(name=quoted(item.name, 90))
        hint = Text("remove it, or add it to the source")
        pair.findings.error(_directive_kind(item), lines, message, hint=hint, subject=item.name)


def _directives(page: Page, names: Names) -> list[Item]:
    items: list[Item] = []
    line, counted = 1, 0
    for directive in find_directives(page.text):
        if directive.kind is Kind.ESCAPED:
            continue
        line += page.text.count("\n", counted, directive.start)
        counted = directive.start
        items.append(Item(names.directive(page, directive), line))
    return items


_ALONE = re.compile(r"^[ \t>]*(\{\{.*\}\})[ \t]*$", re.MULTILINE)


def _compare_order(pair: ComparedPages) -> None:
    """Directives on a line of their own must be in the order of the source."""
    for match, copy in zip(
        _ALONE.finditer(pair.source.text), _ALONE.finditer(pair.target.text), strict=False
    ):
        ours, theirs = pair.names.text(pair.source, match[1]), pair.names.text(pair.target, copy[1])
        if ours != theirs:
            line = pair.source.text.count("\n", 0, match.start(1)) + 1
            copied = pair.target.text.count("\n", 0, copy.start(1)) + 1
            pair.findings.error(
                "include-place",
                (line, copied),
                Text("it shows {theirs}; its source shows {ours} here").of(
                    theirs=quoted(theirs, 90), ours=quoted(ours, 90)
                ),
                hint=Text("show the same things in the same order"),
                subject=ours,
            )
            return  # later ones are shifted


def _word(item: Item) -> str:
    return item.name.partition(" ")[0]


def _directive_kind(item: Item) -> str:
    return "include" if _word(item) in _SHOWN else "directive"


def compare_links(pair: ComparedPages) -> None:
    """Compares links inside the book by page (with a library, by section), external addresses as a set."""
    inside, outside = _links(pair.source, pair)
    copied_inside, copied_outside = _links(pair.target, pair)
    found = difference(inside, copied_inside, pair.alignment)
    for item in found.missing:
        message = Text("the link to {name} of the source is missing").of(name=item.name)
        lines = pair.alignment.at_source(item.line)
        pair.findings.error(
            "link-missing", lines, message, hint=Text("link the same page"), subject=item.name
        )
    linked = {item.name for item in inside}
    for item in found.extra:
        if item.name in linked:
            continue  # mentioned once more
        message = Text("the source has no link to {name} here").of(name=item.name)
        lines = pair.alignment.at_target(item.line)
        pair.findings.error(
            "link-extra", lines, message, hint=Text("link what the source links"), subject=item.name
        )
    if not found:
        _compare_sections(pair)
    _compare_addresses(pair, outside, copied_outside)


def _links(page: Page, pair: ComparedPages) -> tuple[list[Item], list[Item]]:
    """Targets inside the book, by the common name of the page, and external addresses."""
    inside: list[Item] = []
    outside: list[Item] = []
    names, edition = pair.names, _edition(pair.writing.code)
    for link in page.structure.links:
        target = link.target
        if _SCHEME.match(target):
            address = names.text(page, target).rstrip("/")
            outside.append(Item(_common_address(edition.sub("", address)), link.line))
        else:
            path, mark, _ = target.partition("#")
            inside.append(Item(names.page(page, path) + mark, link.line))
    return inside, outside


def _common_address(address: str) -> str:
    """An address without its edition; the titles of articles of an encyclopedia are translated."""
    address = address.rstrip("/")
    return _ARTICLE.sub(r"\1", address)


def _compare_addresses(pair: ComparedPages, outside: list[Item], copied: list[Item]) -> None:
    ours = {item.name: item for item in reversed(outside)}
    theirs = {item.name: item for item in reversed(copied)}
    if ours.keys() == theirs.keys():
        return
    for name, item in ours.items():
        if name not in theirs:
            message = Text("the address {name} of the source is missing").of(name=name)
            hint = Text("link it, or its {name} edition").of(name=pair.writing.name)
            lines = pair.alignment.at_source(item.line)
            pair.findings.warning("url-missing", lines, message, hint=hint, subject=name)
    for name, item in theirs.items():
        if name not in ours:
            message = Text("the address {name} is not in the source").of(name=name)
            hint = Text("add it to the source, or remove it")
            lines = pair.alignment.at_target(item.line)
            pair.findings.warning("url-extra", lines, message, hint=hint, subject=name)


def _compare_sections(pair: ComparedPages) -> None:
    """A fragment must lead to the heading of the same number as the source's fragment."""
    ours, theirs = _with_fragment(pair.source), _with_fragment(pair.target)
    if len(ours) != len(theirs):
        return
    for link, copy in zip(ours, theirs, strict=True):
        wanted = _heading_number(pair, pair.source, link.target)
        got = _heading_number(pair, pair.target, copy.target)
        if wanted is None or got is None or wanted == got:
            continue  # a fragment without a target is reported by `Library.check`
        pair.findings.error(
            "link-section",
            (link.line, copy.line),
            Text("{target} leads to heading {got} of its page; {target2} to heading {wanted}").of(
                target=copy.target, got=got + 1, target2=link.target, wanted=wanted + 1
            ),
            hint=Text("use the id of the translated heading"),
            subject=link.target,
        )


def _with_fragment(page: Page) -> list[Link]:
    return [link for link in page.structure.links if "#" in link.target and not _SCHEME.match(link.target)]


def _heading_number(pair: ComparedPages, page: Page, target: str) -> int | None:
    """The number, from 0, of the heading that a link leads to; None where it is unknown."""
    structure = page.structure
    address, _, fragment = target.partition("#")
    if address:
        if pair.library is None:
            return None
        destination = pair.library.destination(page, target)
        fragment = destination.fragment
        try:
            structure = pair.library.structure(destination.path or "")
        except (OSError, UnicodeDecodeError):
            return None
    ids = [heading.id for heading in structure.headings]
    return ids.index(fragment) if fragment in ids else None
