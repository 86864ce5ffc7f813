"""The chapters of the editions, as files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from tooling.book.editions import Edition
from tooling.book.summary import read_summary
from tooling.platform.regular_files import read_text

NOT_FOUND = "404.md"  # mdBook renders it although it is not in any SUMMARY


class ChapterFile(Struct, frozen=True):
    """One chapter file that exists.

    Attributes:
        edition: its language.
        path: relative to `src`, with forward slashes.
        file: the file itself.
        text: what is in it.
    """

    edition: Edition
    path: str
    file: Path
    text: str


def chapter_files(edition: Edition) -> Iterator[ChapterFile]:
    """The existing chapters of the contents, then the page for wrong addresses."""
    for path in [
        *dict.fromkeys(entry.path for entry in read_summary(edition.source) if entry.path),
        NOT_FOUND,
    ]:
        file = edition.page(path)
        if file.is_file():
            yield ChapterFile(edition, path, file, read_text(file))
