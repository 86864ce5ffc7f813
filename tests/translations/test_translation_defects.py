"""Seeded defects and legitimate variations of a translated page: what is found, and with which message."""

from __future__ import annotations

import pytest

from benchmarks.translations_defects import ALIKE, DEFECTS, ENGLISH, KOREAN, VARIATIONS, Book, edited, measure
from tests.translations.book_fixture import english
from tooling.mdbook.books import Library
from tooling.mdbook.pages import Page
from tooling.translations.parity import comparison

MESSAGES = {
    "morning for afternoon": "unit: `오전` contradicts the source, which has `p.m.` here",
    "bits for bytes": "unit: `16비트` contradicts the source, which has `16 byte` here",
    "double for half": "unit: `두 배` contradicts the source, which has `half` here",
    "twice in words": "number-word: `세 번 기다리지 않는` says 3; its source says 2",
    "a line of code replaced by words": (
        "fence-code: the code has `tile은 a 더하기 1`; its source has `tile[i] = a[i] + 1`"
    ),
    "a line of code added": 'fence-code: the code has `print("안녕")`; its source has no such line',
    "output translated": "fence-code: the code has `결과: 42`; its source has `result: 42`",
    "an unknown scheme": (
        "link-scheme: `htps:` of htps://docs.example.org/en/gpu/ is not the scheme of an address"
    ),
    "a link without a text": "link-text: the link has no text",
    "a picture without a description": "image-alt: the picture has no description",
    "an <img> without a description": "image-alt: the picture has no description",
    "a list to a numbered list": (
        "list-kind: this is a numbered item; its source is an item of a list with bullets"
    ),
    "an item nested": (
        "list-kind: this is an item of a list with bullets, inside 1 other list; its source is an item of a "
        "list with bullets"
    ),
    "another key": "key-missing: the key `Ctrl` of the source is missing",
    "a <kbd> that is never closed": "tag-missing: the tag `</kbd>` of the source is missing",
    "a task undone": "task: the task is marked `[ ]`; its source is marked `[x]`",
    "an empty summary": "summary-empty: the summary has no text; its source is `Answer`",
    "a footnote reference dropped": "footnote-missing: the footnote `[^1]` of the source is missing",
    "a footnote that is not defined": "footnote-undefined: the footnote `[^3]` is not defined on this page",
    "an English cell": "untranslated: `lanes` is not translated",
    "an English summary": "untranslated: `Answer` is not translated",
    "a zero-width space": "invisible: an invisible character, U+200B, follows `블록의 스`",
    "a right-to-left override": "invisible: an invisible character, U+202E, follows `배리어에서 서로`",
    "a TODO in a sentence": "todo: `TODO` is left in the text, and is not in the source",
    "conflict markers": "conflict: `<<<<<<< HEAD` is left of a merge conflict",
}


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Book:
    return Book(tmp_path_factory.mktemp("book"))


def test_few_defects_are_silent_and_few_variations_are_reported() -> None:
    counts = measure()
    assert counts.silent == (
        # Their numbers are those of the source, in another order of its language.
        "an ordinal",  # the page has both, first and second
        # Single words that the page has nowhere else: they may be names.
        "an English text of a link",
        "an English description of two words",
        "an English heading of one word",
        "a term in English",  # as in the name of a product or an option
        # What these sentences mean is not compared.
        "a sentence without numbers dropped",
        "a meaning negated",
        "an emphasis dropped",
        "the same heading twice (English)",  # sections of several kinds may have the same title
    )
    assert [name for name, _ in counts.false] == ["paragraphs merged", "an item split"]
    assert (counts.defects, counts.variations) == (len(DEFECTS) + len(ALIKE), 55)


@pytest.mark.parametrize("name", MESSAGES)
def test_a_defect_is_reported(name: str, book: Book) -> None:
    edit = next(edit for edit in DEFECTS if edit.name == name)
    found = [f"{one.kind}: {english(one.message)}" for one in book.findings(ENGLISH, edit.apply(KOREAN))]
    assert MESSAGES[name] in found


def test_a_split_paragraph_is_information(book: Book) -> None:
    text = next(text for edit, text in edited(VARIATIONS, KOREAN) if edit.name == "a paragraph split")
    assert book.findings(ENGLISH, text) == []
    source = Page.of(book.source / "page.md", book.source, ENGLISH)
    target = Page.of(book.target / "page.md", book.target, text)
    (found,) = comparison.compare(source, target, Library(assets=(book.source,)))
    assert (found.kind, found.severity, english(found.message)) == (
        "block-count", "info", "this section has 5 paragraphs and list items; its source has 4",
    )  # fmt: skip


ENGLISH_DEFECTS = {
    "Hangul in an English page": "foreign-script: `스레드` is Korean",
    "a zero-width space": "invisible: an invisible character, U+200B, follows `The thr`",
    "an unknown scheme": (
        "link-scheme: `htps:` of htps://docs.example.org/en/gpu/ is not the scheme of an address"
    ),
    "a footnote that is not defined": "footnote-undefined: the footnote `[^3]` is not defined on this page",
}


@pytest.mark.parametrize("name", ENGLISH_DEFECTS)
def test_a_defect_of_an_english_page_is_reported(name: str, book: Book) -> None:
    edit = next(edit for edit in ALIKE if edit.name == name)
    page = Page.of(book.source / "page.md", book.source, edit.apply(ENGLISH))
    found = [
        f"{one.kind}: {english(one.message)}"
        for one in comparison.inspect_source(page, Library(assets=(book.source,)))
    ]
    assert found == [ENGLISH_DEFECTS[name]]
