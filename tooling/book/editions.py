"""The languages of the book: the folders of their chapters, and of their pages in the site."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from tooling.book.errors import BookError
from tooling.platform.errors import Location
from tooling.platform.regular_files import read_text
from tooling.project import Project
from tooling.translations.settings import LANGUAGES, read_settings


class Edition(Struct, frozen=True):
    """One language of the book.

    Attributes:
        language: its code, as in `<html lang>`.
        folder: the folder of its book.toml.
        prefix: the folder of its pages in the site: empty, or with a final slash.
        name: the language's own name.
        fonts: the style sheet among the theme's assets with the fonts of its script; empty for Latin letters.
    """

    language: str
    folder: Path
    prefix: str
    name: str
    fonts: str = ""

    @property
    def source(self) -> Path:
        return self.folder / "src"

    def page(self, path: str) -> Path:
        """The file of a chapter, such as `puzzle_15/puzzle_15.md`."""
        return self.source / path


def editions(project: Project) -> tuple[Edition, ...]:
    """English, the source, first; then its translations, in the order of `i18n/languages.toml`.

    Raises:
        BookError: that file is missing.
        SettingsError: it is malformed.
    """
    settings = read_settings(project.root)
    if settings.path is None:
        raise _missing(project)
    translations = (
        Edition(code, project.root / "i18n" / code / "book", f"{code}/", name, _fonts(project, code))
        for code, name in ((one.code, one.name) for one in settings.languages)
    )
    return (Edition("en", project.root / "book", "", "English"), *translations)


def _missing(project: Project) -> BookError:
    if not (project.root / "book").is_dir():
        return BookError(
            "there is no book in this folder",
            where=Location(project.root),
            why="it has the puzzles alone",
            hint="`tooling start` shows the address of the next page; "
            "to build the book, clone the repository",
        )
    return BookError(
        "the list of the book's languages is missing",
        where=Location(project.root / LANGUAGES),
        hint="git checkout it, or add a language with `tooling check-translations new-lang`",
    )


def _fonts(project: Project, code: str) -> str:
    name = f"fonts-{code}.css"
    return name if (project.root / "book" / "theme" / "assets" / name).is_file() else ""


def repository_address(edition: Edition) -> str:
    """The repository's address, kept in one file that chapters include too.

    Raises:
        OSError: the file is missing.
    """
    return read_text(edition.source / "_includes" / "repo_url.md").strip()


def site_address(repository: str) -> str:
    """Where the site of a repository is published: `https://OWNER.github.io/NAME/`, with a final slash."""
    owner, name = repository.rstrip("/").split("/")[-2:]
    return f"https://{owner.lower()}.github.io/{name}/"
