"""The glossary: sorted, each term once, linked to a page that uses it; in Korean as glossary.yaml says."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tooling.book.directives.cards import letters
from tooling.book.editions import editions
from tooling.book.page import PageContext
from tooling.book.puzzle_index import PuzzleIndex
from tooling.project import Project

ROOT = Path(__file__).parents[2]
ENGLISH, KOREAN = ROOT / "book/src", ROOT / "i18n/ko/book/src"
ENTRY = re.compile(
    r'- <span id="term-(?P<id>[a-z-]+)">\*\*(?P<head>.+?)\.\*\*</span> (?P<meaning>.+) '
    r"\[[^\]]+\]\((?P<page>[\w/-]+\.md)\)"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One term: its anchor, its headword as printed, and the page that explains it first."""

    id: str
    head: str
    page: str


def entries(source: Path) -> list[Entry]:
    lines = [line for line in (source / "glossary.md").read_text("utf-8").splitlines() if line[:2] == "- "]
    matches = [ENTRY.fullmatch(line) for line in lines]
    assert None not in matches, lines[matches.index(None)]
    return [Entry(match["id"], match["head"], match["page"]) for match in matches if match]


def korean(entry: Entry) -> str:
    """The Korean headword, without the English term in parentheses."""
    return entry.head.partition("(")[0]


def test_the_english_terms_are_sorted_and_have_their_own_anchors() -> None:
    found = entries(ENGLISH)
    heads = [entry.head.lower() for entry in found]
    assert heads == sorted(set(heads))
    assert [entry.id for entry in found] == [head.replace(" ", "-") for head in heads]


@pytest.mark.parametrize(("language", "last"), [("en", "W"), ("ko", "S")])
def test_each_letter_leads_to_its_first_term(language: str, last: str) -> None:
    project = Project(ROOT)
    edition = next(each for each in editions(project) if each.language == language)
    text = edition.page("glossary.md").read_text("utf-8")
    row = letters(PageContext(edition, "glossary.md", text, PuzzleIndex(project)), ["all"])
    links = re.findall(r'<a href="#term-([a-z-]+)">(\S)</a>', row)
    ids = [entry.id for entry in entries(edition.source)]
    assert len(links) == {"en": 17, "ko": 16}[language]
    assert [ids.index(anchor) for anchor, _ in links] == sorted(ids.index(anchor) for anchor, _ in links)
    assert links[0] == {"en": ("alignment", "A"), "ko": ("guard", "가")}[language]
    assert links[-1][1] == last


def test_each_english_page_uses_the_term() -> None:
    missing = [
        entry.head
        for entry in entries(ENGLISH)
        if not re.search(
            re.escape(entry.head).replace(r"\ ", "[ -]"), (ENGLISH / entry.page).read_text("utf-8"), re.I
        )
    ]
    assert missing == []


def test_the_korean_glossary_has_the_same_terms_and_pages() -> None:
    assert {entry.id: entry.page for entry in entries(KOREAN)} == {
        entry.id: entry.page for entry in entries(ENGLISH)
    }


def test_the_korean_terms_are_sorted_with_latin_letters_last() -> None:
    heads = [korean(entry) for entry in entries(KOREAN)]
    assert heads == sorted(set(heads), key=lambda head: (head.isascii(), head.lower()))


def test_each_korean_headword_is_the_standard_form_and_its_page_uses_it() -> None:
    terms = yaml.safe_load((ROOT / "i18n/ko/glossary.yaml").read_text("utf-8"))["terms"]
    standard = {name: term["ko"][0] for term in terms for name in (term["en"], *term.get("forms", ()))}
    for entry in entries(KOREAN):
        english = entry.id.replace("-", " ")
        assert standard.get(english, korean(entry)) == korean(entry)
        assert korean(entry) in (KOREAN / entry.page).read_text("utf-8"), entry.page
        in_parentheses = entry.head.removeprefix(korean(entry)).strip("()").replace("-", " ")
        assert in_parentheses.lower() == ("" if korean(entry).isascii() else english)


def test_a_page_that_emphasises_a_term_again_links_to_the_page_that_explains_it() -> None:
    """A word in italics is one that the page explains; the glossary names the page that does so in full."""
    missing = []
    pages = {path.relative_to(ENGLISH).as_posix(): path.read_text("utf-8") for path in ENGLISH.rglob("*.md")}
    for entry in entries(ENGLISH):
        italics = re.compile(rf"(?<![*\w])\*{re.escape(entry.head)}s?\*(?![*\w])", re.IGNORECASE)
        for name, text in pages.items():
            if name == entry.page or not italics.search(text):
                continue
            targets = re.findall(r"\]\(([^)#\s]+\.md)", text)
            linked = {os.path.normpath(Path(name).parent / target) for target in targets}
            if entry.page not in linked:
                missing.append(f"{name}: {entry.head} ({entry.page})")
    assert missing == []
