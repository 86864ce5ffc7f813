"""Books of the translation tests live in fresh folders and speak to no network."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.translations.book_fixture import Book


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book.create(tmp_path / "book with 공백")
