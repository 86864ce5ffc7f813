"""The languages of the book: where each one's chapters lie, and where its pages go."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tooling.project import Project


@dataclass(frozen=True, slots=True)
class Edition:
    """One language of the book.

    Attributes:
        language: its code, as in `<html lang>`.
        folder: where its book.toml lies.
        prefix: where its pages lie in the site: empty, or a folder with a final slash.
        name: what its own readers call the language.
    """

    language: str
    folder: Path
    prefix: str
    name: str

    @property
    def source(self) -> Path:
        return self.folder / "src"

    def page(self, path: str) -> Path:
        """The file of a chapter, such as `puzzle_15/puzzle_15.md`."""
        return self.source / path


def editions(project: Project) -> tuple[Edition, ...]:
    """English, the source, first; then its translations."""
    return (
        Edition("en", project.root / "book", "", "English"),
        Edition("ko", project.root / "i18n" / "ko" / "book", "ko/", "한국어"),
    )


def repository_address(edition: Edition) -> str:
    """The repository's address, kept in one file that chapters include too.

    Raises:
        OSError: the file is missing.
    """
    return (edition.source / "_includes" / "repo_url.md").read_text(encoding="utf-8").strip()


def site_address(repository: str) -> str:
    """Where the site of a repository is published: `https://OWNER.github.io/NAME/`, with a final slash."""
    owner, name = repository.rstrip("/").split("/")[-2:]
    return f"https://{owner.lower()}.github.io/{name}/"
