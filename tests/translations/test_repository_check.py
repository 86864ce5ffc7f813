"""The report of `tooling check` on the translations: warnings fail, and are listed."""

from __future__ import annotations

import pytest

from tests.translations.book_fixture import Book
from tooling.project import Project
from tooling.repository_checks import CHECKS, CheckOutcome, CheckResult, run_checks

SOURCE = """\
# Barriers

A block has 256 threads, see [puzzle 15](other.md) and `barrier()`.

- The first 8 threads wait.
- All the others go on with the work.

| size | blocks |
|---|---|
| 1024 | 4 |
"""
TARGET = """\
# 배리어

블록에는 스레드가 256개 있습니다. [퍼즐 15](other.md)와 `barrier()`를 봅니다.

- 처음 8개 스레드는 기다립니다.
- 나머지는 작업을 계속합니다.

| 크기 | 블록 |
|---|---|
| 1024 | 4 |
"""
EDITS = {
    "a number in prose": ("256개", "265개", "the number `265` is not in the source"),
    "a number in a table": ("| 1024 | 4 |", "| 1024 | 5 |", "the number `5` is not in the source"),
    "inline code": ("`barrier()`", "`barier()`", "the code `barier()` is not in the source"),
    "the number in the text of a link": ("퍼즐 15", "퍼즐 16", "the number `16` is not in the source"),
    "a list item": (
        "- 나머지는 작업을 계속합니다.\n",
        "",
        "this section has 2 paragraphs and list items; its source has 3",
    ),
    "half a list item in English": (
        "나머지는 작업을 계속합니다.",
        "나머지는, all the others go on with the work as before.",
        "`all the others go on with the work as before` is left in English in the middle of Korean text",
    ),
}


def checked(book: Book, target: str) -> CheckOutcome:
    book.english(SOURCE)
    book.english("# Other\n", "other.md")
    commit = book.commit("write")
    book.korean(target, commit=commit, blob=book.blob())
    book.korean("# 다른 글\n", "other.md", commit=commit, blob=book.blob("other.md"))
    (book.root / "i18n/languages.toml").write_text('[[language]]\ncode = "ko"\nname = "한국어"\n')
    book.commit("translate")
    (outcome,) = run_checks(Project(book.root), [one for one in CHECKS if one.name == "translations"])
    return outcome


def test_a_faithful_translation_passes(book: Book) -> None:
    outcome = checked(book, TARGET)
    assert (outcome.finding, outcome.output.splitlines()[-1]) == (CheckResult.NOTHING, "0 errors, 0 warnings")


@pytest.mark.parametrize("name", EDITS)
def test_a_change_of_the_translation_fails_and_is_listed(name: str, book: Book) -> None:
    old, new, message = EDITS[name]
    outcome = checked(book, TARGET.replace(old, new))
    assert outcome.finding is CheckResult.SOMETHING
    assert f"] {message}" in outcome.output
    assert "failed: " in outcome.output
