"""Books of the translation tests are in new folders and use no network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.translations.book_fixture import Book
from tooling.cli import main


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book.create(tmp_path / "book with 공백")


@dataclass(frozen=True, slots=True)
class Result:
    status: int
    out: str
    err: str


Tool = Callable[..., Result]


@pytest.fixture
def tool(book: Book, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tool:
    """Runs `tooling check-translations` in the book."""
    monkeypatch.chdir(book.root)
    # Hints show a command in the form that its reader used: here, called directly.
    for name in ("GITHUB_ACTIONS", "UV", "POE_ACTIVE", "PIXI_ENVIRONMENT_NAME"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str) -> Result:
        status = main(["check-translations", *arguments])
        captured = capsys.readouterr()
        return Result(status, captured.out, captured.err)

    return run
