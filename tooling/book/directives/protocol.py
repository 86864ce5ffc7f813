"""mdBook's preprocessor protocol: `[context, book]` as JSON on standard input, the book on standard output.

The chapters of a book are called `sections` up to mdBook 0.4 and `items` from 0.5 on; both are read, and the
book is returned under the name that it had.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from msgspec import Struct

from tooling.book.errors import BookError

_GENERATIONS = ("items", "sections")


class ProtocolError(BookError):
    """The input from mdBook does not follow the protocol."""


class Context(Struct, frozen=True):
    """The context that mdBook passes: the book that it builds.

    Attributes:
        root: the folder of book.toml.
        language: of the edition.
        source: the folder of the chapters.
        version: of mdBook.
    """

    root: Path
    language: str
    source: Path
    version: str


class Chapter:
    """One chapter, a view of the JSON object that is returned to mdBook."""

    __slots__ = ("_fields",)

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    @property
    def path(self) -> str:
        """The chapter's file, relative to the source folder; empty for a draft."""
        return self._fields.get("source_path") or self._fields.get("path") or ""

    @property
    def content(self) -> str:
        return str(self._fields["content"])

    @content.setter
    def content(self, text: str) -> None:
        self._fields["content"] = text

    @property
    def children(self) -> list[dict[str, Any]]:
        children: list[dict[str, Any]] = self._fields.get("sub_items", [])
        return children


class Book(Struct, frozen=True):
    """The chapters of one edition, on their way through the preprocessor."""

    document: dict[str, Any]

    def chapters(self) -> Iterator[Chapter]:
        """Every chapter, in reading order. Separators and part titles are passed over.

        Raises:
            ProtocolError: the book has no known field for its chapters.
        """
        for name in _GENERATIONS:
            if name in self.document:
                return _walk(self.document[name])
        raise ProtocolError(
            "the book from mdBook has neither `items` nor `sections`",
            why=f"its fields are: {', '.join(self.document)}",
            hint="use the mdBook version that pyproject.toml pins",
        )

    def write(self, stream: IO[str]) -> None:
        json.dump(self.document, stream, ensure_ascii=False)


def _walk(items: list[Any]) -> Iterator[Chapter]:
    for item in items:
        if isinstance(item, dict) and "Chapter" in item:
            chapter = Chapter(item["Chapter"])
            yield chapter
            yield from _walk(chapter.children)


def read(stream: IO[str]) -> tuple[Context, Book]:
    """Reads the input from mdBook.

    Raises:
        ProtocolError: the input is not a pair of context and book.
    """
    try:
        context, book = json.load(stream)
        config = context["config"]["book"]
        root = Path(context["root"])
        return (
            Context(
                root,
                config.get("language") or "en",
                root / (config.get("src") or "src"),
                context["mdbook_version"],
            ),
            Book(book),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ProtocolError(
            "the input is not mdBook's `[context, book]`",
            why=f"{type(error).__name__}: {error}",
            hint="this program is started by mdBook; to build the site run `tooling book build`",
        ) from error
