"""`check-translations` speaks the language of its reader; what programs read stays English."""

from __future__ import annotations

import json
import re

import pytest

from tests.translations.book_fixture import DAY, Book
from tests.translations.conftest import Tool
from tooling.cli import main

_ENGLISH = re.compile(r"\b(?:the|is|are|of|and|with|this|not)\b", re.IGNORECASE)


def stale_and_wrong(book: Book) -> None:
    """A page whose source has changed, one without a translation, and one with another number."""
    book.translated()
    book.edit("Threads of a block", "All threads of a block")
    book.translated("other.md")
    book.korean(
        "# 배리어\n\n`이 글` 옛 [퍼즐](gone.md) 3\n",
        "third.md",
        commit=book.head(),
        blob=book.git("rev-parse", "HEAD:book/src/other.md"),
    )
    book.english("# New\n\nText.\n", "new.md")
    book.commit("new page")


def test_a_report_in_korean_has_no_english_sentence(
    book: Book, tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stale_and_wrong(book)
    monkeypatch.setenv("PUZZLE_LANG", "ko")
    for options in (
        (),
        ("--format", "md"),
        ("--format", "todo"),
        ("--format", "html"),
        ("--format", "github"),
    ):
        out = tool(*options).out
        prose = re.sub(r"<style>.*</style>|<script>.*</script>", "", out, flags=re.DOTALL)
        prose = re.sub(r"`[^`]*`|<[^>]*>", "", prose)
        assert "번역 없음" in out or "번역이 없는" in out
        assert _ENGLISH.search(prose) is None, options


def test_the_korean_report_of_a_stale_page(book: Book, tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    book.translated()
    book.edit("Threads of a block", "All threads of a block")
    english = tool("--no-cache").out
    monkeypatch.setenv("PUZZLE_LANG", "ko")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(book.clock + DAY))
    assert tool("--no-cache").out.splitlines()[1:] == [
        "",
        "페이지   최신 여부    뒤처짐         일치 여부",
        "page.md  오래됨 (글)  커밋 1개, 1일  일치",
        "",
        "i18n/ko/book/src/page.md",
        '  §1 "Barriers" (글, 블록 1개) → 5번 줄',
        "  해 볼 것: tooling check-translations diff i18n/ko/book/src/page.md",
        "",
        "오래됨 1개",
        "오류 1개, 경고 0개",
        "보고만 합니다. --check를 붙이면 실패합니다: 실패로 판정하는 문제 1개",
    ]
    assert "stale (prose)" in english


def test_results_of_an_english_run_are_shown_in_korean(
    book: Book, tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache holds facts, not sentences of one language."""
    book.translated()
    text = (book.target / "page.md").read_text("utf-8")
    (book.target / "page.md").write_text(text.replace("`shared`", "`공유`"), "utf-8")
    english = tool().out
    assert "the code `shared` of the source is missing" in english
    monkeypatch.setenv("PUZZLE_LANG", "ko")
    assert "원문의 코드 `shared`가 빠져 있습니다" in tool().out
    monkeypatch.delenv("PUZZLE_LANG")
    assert tool().out == english


def test_json_and_sarif_are_english(book: Book, tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    stale_and_wrong(book)
    english = [json.loads(tool("--format", form).out) for form in ("json", "sarif")]
    monkeypatch.setenv("PUZZLE_LANG", "ko")
    korean = [json.loads(tool("--format", form).out) for form in ("json", "sarif")]
    for documents in (english, korean):
        documents[0].pop("generated")
    assert korean == english


def test_errors_are_korean(book: Book, tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    book.translated()
    monkeypatch.setenv("PUZZLE_LANG", "ko")
    assert tool("stamp").err.splitlines() == [
        "오류: 모든 페이지를 기록하게 됩니다",
        "  이유: 기록은 페이지를 원문과 비교했다는 뜻입니다",
        "  해 볼 것: 페이지를 지정합니다. 모두 비교했다면 --all을 붙입니다",
    ]
    assert tool("gone.md").err.splitlines()[0].endswith("gone.md: 그런 페이지가 없습니다")


def test_new_puzzle_refuses_in_korean(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUZZLE_LANG", "ko")
    assert main(["new-puzzle", "36", "Vector scale"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "오류: `36`은 퍼즐 이름으로 사용할 수 없습니다",
        "  이유: 이름은 p와 두 자리 이상의 숫자입니다",
        "  해 볼 것: `p36`",
    ]
