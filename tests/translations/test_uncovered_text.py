"""Text that no page of its own covers: included texts, pins outside the history, pages without markers."""

from __future__ import annotations

from tests.translations.book_fixture import ENGLISH, KOREAN, Book
from tests.translations.conftest import Tool
from tooling.translations.marker import read_marker

INCLUDE = "\n{{#include _includes/note.md}}\n"


def with_note(book: Book) -> None:
    """A page that includes a text, which the translation has a copy of."""
    book.english("Wait for 5 threads.\n", "_includes/note.md")
    book.english(ENGLISH + INCLUDE)
    commit = book.commit("write")
    book.korean("스레드 5개를 기다립니다.\n", "_includes/note.md")
    book.korean(KOREAN + INCLUDE, commit=commit, blob=book.blob())
    book.commit("translate")


def test_an_included_text_that_changed_makes_the_page_fail(book: Book, tool: Tool) -> None:
    with_note(book)
    assert tool("--fail-on", "warning").status == 0
    book.edit("5", "9", "_includes/note.md")
    result = tool("--fail-on", "warning")
    assert result.status == 1
    assert (
        "i18n/ko/book/src/page.md:22: error[include:fragment] the included text "
        "book/src/_includes/note.md changed since the pin; the translation includes "
        "i18n/ko/book/src/_includes/note.md"
    ) in result.out
    note = book.target / "_includes/note.md"
    note.write_text("스레드 9개를 기다립니다.\n", "utf-8")
    assert tool("stamp", "page.md").status == 0
    assert tool("--fail-on", "warning").status == 0


def test_an_included_text_with_a_marker_has_a_state_of_its_own(book: Book, tool: Tool) -> None:
    with_note(book)
    blob = book.blob("_includes/note.md")
    book.korean("스레드 5개를 기다립니다.\n", "_includes/note.md", blob=blob)
    assert "2 current" in tool("--fail-on", "warning").out
    book.edit("5", "9", "_includes/note.md")
    result = tool("--fail-on", "warning")
    assert (result.status, "include:fragment" in result.out, "1 stale" in result.out) == (1, False, True)


def test_a_pin_outside_the_history_of_head_is_said(book: Book, tool: Tool) -> None:
    book.translated()
    book.git("checkout", "-q", "-b", "draft")
    book.edit("first item", "the first item")
    newer, blob = book.head(), book.blob()
    book.git("checkout", "-q", "main")
    book.korean(f"{KOREAN}\n이 글은 `page.md`입니다.\n", commit=newer, blob=blob)
    note = "  note: the pinned text is not in the history of HEAD: its commit is on another branch, or lost"
    assert note in tool("--axis", "freshness").out.splitlines()
    book.git("merge", "-q", "draft")
    book.edit("second item", "the second item")
    assert note not in tool("--axis", "freshness").out.splitlines()


def test_pages_without_markers_get_pins_from_their_own_history(book: Book, tool: Tool) -> None:
    expected = {}
    for number in (1, 2):
        name = f"part/{number}.md"
        book.english(f"{ENGLISH}\nIt has {number} steps.\n", name)
        expected[name] = book.commit("write")
        book.korean(f"{KOREAN}\n단계는 {number}개입니다.\n", name)
        book.commit("translate")
    book.edit("It has 1 steps", "It has 3 steps", "part/1.md")
    path = book.target / "part/1.md"
    path.write_text(path.read_text("utf-8").replace("둘째 항목", "두 번째 항목"), "utf-8")
    book.commit("correct a word")  # later than the new source, and not a translation of it
    result = tool("recover", "--apply", "i18n/ko/book/src/part")
    assert result.status == 0, result
    assert result.out.splitlines()[:2] == ["i18n/ko/book/src/part/1.md", "  it has no marker"]
    for name, commit in expected.items():
        pin = read_marker((book.target / name).read_bytes()).pin
        assert pin is not None and pin.commit == commit, name
    assert "1 current · 1 stale" in tool("--axis", "freshness").out


def test_an_untracked_page_is_offered_recovery(book: Book, tool: Tool) -> None:
    book.english()
    book.korean()
    book.commit("write")
    assert "  try: tooling check-translations recover i18n/ko/book/src/page.md" in tool().out.splitlines()


def test_a_page_without_a_known_source_is_inspected_in_its_own_language(book: Book, tool: Tool) -> None:
    book.english()
    book.korean(f"{KOREAN}\n[다른 글](nowhere.md)\n")
    book.commit("write")
    lines = [line.strip() for line in tool().out.splitlines() if "error[" in line]
    assert [line.partition("] ")[0] for line in lines] == [
        "i18n/ko/book/src/page.md:20: error[parity:link-missing-page"
    ]
