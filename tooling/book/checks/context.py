"""The inputs of the checks, each read once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from tooling.book.chapters import NOT_FOUND, chapter_files
from tooling.book.checks.finding import BookFinding
from tooling.book.directives.chapter_renderer import ChapterRenderer, render_everything
from tooling.book.editions import Edition, editions
from tooling.book.puzzle_index import PuzzleIndex
from tooling.book.summary import Entry, read_summary
from tooling.catalog.model import Puzzle
from tooling.mdbook.books import Library
from tooling.mdbook.pages import Page
from tooling.platform.errors import ToolingError
from tooling.project import Project
from tooling.text import ENGLISH, Sentence, in_language


class Chapter(Struct, frozen=True):
    """One chapter file.

    Attributes:
        edition: its language.
        path: relative to `src`.
        page: its text and structure.
    """

    edition: Edition
    path: str
    page: Page

    @property
    def text(self) -> str:
        return self.page.text

    def line_of(self, offset: int) -> int:
        """The line of an offset in the text, counted from 1."""
        return self.text.count("\n", 0, offset) + 1


class NotAChapter(ToolingError):
    """A file that was named is not a page of the book."""


def chapter_of(project: Project, every: Sequence[Edition], page: str) -> str:
    """The path of a chapter, such as `puzzle_15/puzzle_15.md`, from that of its file in any language.

    Raises:
        NotAChapter: it is not in the contents.
    """
    source = every[0]
    known = {chapter.path for chapter in chapter_files(source)}
    for start in (Path.cwd(), project.root, source.source):
        file = Path(os.path.normpath(start / page))
        for edition in every:
            if file.is_relative_to(edition.source):
                path = file.relative_to(edition.source).as_posix()
                if path in known:
                    return path
    raise NotAChapter(
        f"{page} is not a page of the book",
        why="pages are the chapters of SUMMARY.md",
        hint="name a file such as book/src/puzzle_15/puzzle_15.md",
    )


class CheckContext:
    """The inputs of the checks of the book, each read once.

    Args:
        only: the chapters to read, None for all.
    """

    def __init__(self, project: Project, only: frozenset[str] | None = None) -> None:
        self.project = project
        self.only = only
        self.puzzle_index = PuzzleIndex(self.project)
        self.library = Library(tuple(edition.source for edition in self.editions), self.project.root)

    @cached_property
    def editions(self) -> tuple[Edition, ...]:
        return editions(self.project)

    @cached_property
    def summaries(self) -> dict[str, tuple[Entry, ...]]:
        """The contents of each edition, by language."""
        return {edition.language: read_summary(edition.source) for edition in self.editions}

    @cached_property
    def chapters(self) -> tuple[Chapter, ...]:
        """Every chapter of every edition that exists."""
        return tuple(
            Chapter(edition, each.path, Page.of(each.file, edition.source, each.text))
            for edition in self.editions
            for each in chapter_files(edition)
            if self.only is None or each.path in self.only
        )

    @cached_property
    def renderers(self) -> tuple[ChapterRenderer, ...]:
        """The renderer of each edition after it has rendered every chapter, as a build would."""
        return render_everything(self.project, self.puzzle_index, self.only)

    @cached_property
    def puzzles(self) -> tuple[Puzzle, ...]:
        return self.puzzle_index.puzzles()

    def chapters_of(self, language: str) -> dict[str, Chapter]:
        """The chapters of one edition by path."""
        return {chapter.path: chapter for chapter in self.chapters if chapter.edition.language == language}

    def puzzle_of(self, path: str) -> Puzzle | None:
        """The puzzle that a chapter such as `puzzle_15/puzzle_15.md` belongs to."""
        folder = path.partition("/")[0]
        number = folder.removeprefix("puzzle_")
        return next((puzzle for puzzle in self.puzzles if puzzle.id == f"p{number}"), None)

    def name(self, path: Path | str) -> str:
        """A file as findings show it: relative to the checkout."""
        path = Path(path)
        return (
            path.relative_to(self.project.root).as_posix()
            if path.is_relative_to(self.project.root)
            else str(path)
        )

    def finding(
        self, chapter: Chapter, line: int, rule: str, message: str | Sentence, hint: str | Sentence = ""
    ) -> BookFinding:
        """A finding in a chapter."""
        path = self.name(chapter.page.path)
        return BookFinding(path, line, rule, in_language(message, ENGLISH), in_language(hint, ENGLISH))

    def real_chapters(self) -> Iterator[Chapter]:
        """The chapters without the page for wrong addresses."""
        return (chapter for chapter in self.chapters if chapter.path != NOT_FOUND)
