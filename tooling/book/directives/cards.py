"""The card at the top of a puzzle, and the table of compatibility."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby

from tooling.book.directives.commands import runs_of
from tooling.book.editions import editions, repository_address
from tooling.book.errors import BookError
from tooling.book.marks import draw
from tooling.book.page import PageContext, Words
from tooling.book.parts import glyph, part_number, part_style
from tooling.book.phrases import PART_TITLES, pick, say
from tooling.book.stubs import complete_contents, missing
from tooling.book.summary import read_summary
from tooling.book.variants import each_version
from tooling.catalog.catalogue import Selection
from tooling.catalog.model import ModeKind, PartNumber, ProgramLanguage, Puzzle, Requirement, Vendor
from tooling.catalog.needs import ModeNeeds, Needs
from tooling.text import ENGLISH, as_sentence

_LINK = re.compile(r"`[^`]*`|\]\(")
"""Code, which stays as it is, or what would be a link in Markdown, as in `tile[4](i)` without the marks."""
_CODE = re.compile(r"`([^`]+)`")
_TERM = re.compile(r'<span id="(term-[a-z-]+)">\*\*(.+?)\.\*\*')
_SYLLABLES, _EACH = "가가나다다라마바바사사아자자차카타파하", 588  # Unicode has 588 with each first consonant
_WORDS_A_MINUTE = 180  # English technical prose, read carefully
_SYLLABLES_A_MINUTE = 420  # Korean


def puzzle(page: PageContext, words: Words) -> str:
    """`{{#puzzle pNN}}`: part, reading time, the GPUs that cannot run every mode, the extra it needs.

    On the first page of a puzzle also what it computes, and on every page that runs it the files.
    """
    (name,) = words
    found, main = page.puzzle_index.program(name)
    language = page.language
    number = int(PartNumber(found.part))
    minutes = say("minutes", language, minutes=reading_minutes(page.text)).replace(" ", "\N{NO-BREAK SPACE}")
    facts = " ".join(
        f"<span>{escape(fact)}</span>" for fact in (pick(PART_TITLES[found.part], language), minutes)
    )
    # By reason: the vendors of each chip, and those without one.
    lines: dict[str, tuple[dict[tuple[str, str], list[str]], list[str]]] = {}
    for vendor in Vendor:
        requirement = _common(found, vendor)
        kind, text = _verdict(requirement, language)
        reason = pick(requirement.because, language) if requirement.because else ""
        if kind == "yes" and not reason:
            continue
        chips, vendors = lines.setdefault(reason, ({}, []))
        if kind == "yes":
            vendors.append(vendor.named)
        else:
            chips.setdefault((kind, text), []).append(vendor.named)
    below = "".join(
        f'<div class="chip-row">\n{_chips(chips)}{_reason(reason, vendors)}</div>\n'
        for reason, (chips, vendors) in lines.items()
    )
    if main.language is ProgramLanguage.PYTHON:
        needed = say(f"extra-{main.extra.value}", language)
        below += f'<div class="chip-row">\n<p class="chip-why">{needed}</p>\n</div>\n'
    if below:
        below = f'<div class="chip-rows">\n{below}</div>\n'
    first = page.path == found.chapters[0]
    name = "" if first else f' data-name="{escape(pick(found.title, language))}"'
    return (
        f'<section class="puzzle-card" data-puzzle="{found.id}"{name} {part_style(number)}>\n'
        f'<p class="puzzle-facts">{glyph(number)}<span class="separated">{facts}</span></p>\n'
        f"{_files(page, found)}{_task(page, found) if first else ''}"
        f"{below}</section>\n"
    )


def _chips(chips: Mapping[tuple[str, str], Sequence[str]]) -> str:
    """A chip for each limit, with the vendors that have it."""
    items = "".join(
        f'<li class="chip-{kind}">{", ".join(vendors)}: {text}</li>'
        for (kind, text), vendors in chips.items()
    )
    return f'<ul class="chips">{items}</ul>\n' if items else ""


def _reason(reason: str, vendors: Sequence[str]) -> str:
    """Why a limit exists; a vendor is named where no chip next to it does."""
    named = f"{', '.join(vendors)}: " if vendors else ""
    return f'<p class="chip-why">{_html(as_sentence(named + reason))}</p>\n' if reason else ""


def _html(text: str) -> str:
    """A text of the manifest as HTML, with its code marked up."""
    return _CODE.sub(r"<code>\1</code>", escape(text))


def _task(page: PageContext, found: Puzzle) -> str:
    """What a puzzle computes."""
    if not found.summary:
        return ""
    return f'<p class="puzzle-summary">{_html(pick(found.summary, page.language))}</p>\n'


def _shown_run(page: PageContext, found: Puzzle) -> Selection | None:
    """What the files of a card are those of: of a later page, what it runs first."""
    if page.path == found.chapters[0]:
        mode = next((each for each in found.modes if each.kind is ModeKind.PUZZLE), found.modes[0])
        program = next(each for each in found.programs if each.name in mode.programs)
        return Selection(found, program, mode)
    return next((selection for _, selection in runs_of(page) if selection.puzzle.id == found.id), None)


def _files(page: PageContext, found: Puzzle) -> str:
    """For each version on the page its files."""
    selection = _shown_run(page, found)
    if selection is None:
        return ""
    blob = f"{repository_address(page.edition)}/blob/main/"
    label = escape(say("files", page.language))

    def files(version: Selection) -> str:
        paths = [
            source.problem.relative_to(page.puzzle_index.project.root).as_posix()
            for source in version.program.sources
        ]
        links = "".join(f'<li><a href="{blob}{path}">{path}</a></li>' for path in paths)
        return f'<ul class="puzzle-files" aria-label="{label}">{links}</ul>'

    return f"\n{each_version(page, selection, files)}\n"


def compatibility(page: PageContext, words: Words) -> str:
    """`{{#compatibility pNN …|all}}`: a table of modes and vendors; of all puzzles only the exceptions."""
    if words == ["all"]:
        puzzles = tuple(found for found in page.puzzle_index.needs() if _limited(found))
    else:
        puzzles = tuple(Needs.of(page.puzzle_index.program(name)[0]) for name in words)
    if not puzzles:
        raise BookError("there is no puzzle to show in a table")
    language = page.language
    head = "".join(f'<th scope="col">{vendor.named}</th>' for vendor in Vendor)
    rows = [row for found in puzzles for row in _rows(found, page.up, language)]
    return (
        '<div class="table-wrapper">\n<table class="matrix">\n<thead><tr>'
        f'<th scope="col">{escape(say("mode", language))}</th>{head}'
        f'<th scope="col">{escape(say("simulated", language))}</th></tr></thead>\n'
        f"<tbody>\n{''.join(rows)}</tbody>\n</table>\n</div>\n"
    )


def puzzle_map(page: PageContext, words: Words) -> str:
    """`{{#map all}}`: every puzzle of the book, part by part, with a link and what it computes."""
    if words != ["all"]:
        raise ValueError("write `all`")
    language, index = page.language, page.puzzle_index
    source = editions(index.project)[0]
    unwritten = missing(read_summary(source.source), index.needs())
    entries = complete_contents(read_summary(page.edition.source), unwritten, index.needs(), language)
    parts = {entry.path: entry.part for entry in entries}
    blocks, styles = [], list[str]()
    for part, members in groupby(index.needs(), key=lambda each: parts.get(each.chapter, "")):
        title, _, name = part.partition(": ")
        number = part_number(part)
        style, mark = (f" {part_style(number)}", glyph(number)) if number else ("", "")
        stations = [_station(each, page, each in unwritten) for each in members]
        styles += [style] * len(stations)
        blocks.append(
            f'<section class="map-part"{style}>\n'
            f"<h3>{mark}<span>{escape(title)}</span> <b>{escape(name)}</b></h3>\n"
            f"<ol>\n{''.join(stations)}</ol>\n</section>\n"
        )
    strip = "".join(f"<i{style}></i>" for style in styles)
    return (
        f'<p class="map-mark" aria-hidden="true">{draw(str(len(styles)))}</p>\n'
        f'<p class="map-strip" aria-hidden="true">{strip}</p>\n<div class="map">\n{"".join(blocks)}</div>\n'
    )


def _station(found: Needs, page: PageContext, unwritten: bool) -> str:
    """The line of a puzzle in the map."""
    language = page.language
    address = f"{page.up}{found.chapter.removesuffix('.md')}.html"
    note = f' class="unwritten" title="{escape(say("stub", language))}"' if unwritten else ""
    summary = (
        f'<span class="map-summary">{_html(pick(found.summary, language))}</span>' if found.summary else ""
    )
    return (
        f'<li data-puzzle="{found.id}"><a href="{escape(address)}"{note}>'
        f'<span class="map-number">{found.number}</span>'
        f'<span class="map-title">{escape(pick(found.title, language))}</span>{summary}</a></li>\n'
    )


def letters(page: PageContext, words: Words) -> str:
    """`{{#letters all}}`: links to the first term of each letter, in the order of this page."""
    if words != ["all"]:
        raise ValueError("write `all`")
    first: dict[str, str] = {}
    for anchor, head in _TERM.findall(page.text):
        first.setdefault(_initial(head), anchor)
    links = " ".join(f'<a href="#{anchor}">{letter}</a>' for letter, anchor in first.items())
    return f'<p class="letters">{links}</p>\n'


def _initial(head: str) -> str:
    """The letter that a word is listed under: Korean ones by their first consonant, from 가 to 하."""
    syllable = ord(head[0]) - ord("가")
    return _SYLLABLES[syllable // _EACH] if 0 <= syllable < len(_SYLLABLES) * _EACH else head[0].upper()


def hints(page: PageContext, words: Words) -> str:
    """`{{#hints PROGRAM [FLAGS]}}`: the hints of a mode, folded, in increasing detail."""
    name, *flags = words
    selection = page.puzzle_index.selection(name, flags)
    title = say("tips", page.language)
    if flags and page.text.count("{{#hints ") > 1:
        title = say("tips-for", page.language, flags=f"<code>{' '.join(flags)}</code>")
    items = "\n".join(
        f"{number}. {_LINK.sub(_no_link, pick(hint, page.language).strip())}"
        for number, hint in enumerate(selection.mode.hints, 1)
    )
    return (
        f"<details>\n<summary>{title}</summary>\n"
        f'<div class="solution-tips">\n\n{items}\n\n</div>\n</details>\n'
    )


def _no_link(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith("`") else "]\\("


def reading_minutes(text: str) -> int:
    """How long a page takes to read, code included, at least one minute."""
    prose = re.sub(r"<[^>]+>|\{\{.*?\}\}|```", " ", text)
    syllables = sum(map(len, re.findall(r"[가-힣]+", prose)))
    words = len(re.findall(r"[A-Za-z0-9_]+", prose))
    return max(1, round(syllables / _SYLLABLES_A_MINUTE + words / _WORDS_A_MINUTE))


def _limited(found: Needs) -> bool:
    """Whether some GPU cannot run a mode of this puzzle."""
    return any(_verdict(each, ENGLISH)[0] != "yes" for mode in found.modes for each in mode.requirements)


def _rows(found: Needs, up: str, language: str) -> list[str]:
    groups: dict[tuple[Requirement, ...], list[ModeNeeds]] = {}
    for mode in found.modes:
        groups.setdefault(mode.requirements, []).append(mode)
    address = f"{up}{found.chapter.removesuffix('.md')}.html"
    name = escape(f"{found.number} {pick(found.title, language)}")
    title = f'<a href="{escape(address)}">{name}</a>'
    yes = escape(say("yes", language))
    rows = []
    for requirements, modes in groups.items():
        flags = ", ".join(f"<code>{' '.join(mode.flags)}</code>" for mode in modes)
        label = title if len(groups) == 1 else f"{title} {flags}"
        cells = "".join(_cell(requirement, language) for requirement in requirements)
        rows.append(f'<tr><th scope="row">{label}</th>{cells}<td class="yes">{yes}</td></tr>\n')
    return rows


def _cell(requirement: Requirement, language: str) -> str:
    kind, text = _verdict(requirement, language)
    because = pick(requirement.because, language).replace("`", "") if requirement.because else ""
    title = f' title="{escape(because)}"' if because else ""
    return f'<td class="{kind}"{title}>{escape(text)}</td>'


def _verdict(requirement: Requirement, language: str) -> tuple[str, str]:
    if requirement.unsupported:
        return "no", say("unsupported", language)
    if requirement.compute:
        return "limit", say("compute", language, compute=".".join(map(str, requirement.compute)))
    if requirement.lanes:
        return "limit", say("lanes", language, lanes=requirement.lanes)
    return "yes", say("yes", language)


def _common(found: Puzzle, vendor: Vendor) -> Requirement:
    """What a vendor's GPU needs to run at least one mode of a puzzle: the lowest requirement of a mode."""
    requirements = [mode.requirement(vendor) for mode in found.modes]
    return min(requirements, key=lambda each: (each.unsupported, each.compute or (0, 0), each.lanes))
