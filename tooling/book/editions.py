"""The languages of the book: the folders of their chapters, and of their pages in the site."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from tooling.book.errors import BookError, malformed
from tooling.platform.errors import Location
from tooling.platform.regular_files import read_text
from tooling.project import Project

LANGUAGES = "i18n/languages.toml"
_CODE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")


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
        BookError: that file is missing or malformed.
    """
    path = project.root / LANGUAGES
    try:
        text = read_text(path)
    except FileNotFoundError as error:
        if not (project.root / "book").is_dir():
            raise BookError(
                "there is no book in this folder",
                where=Location(project.root),
                why="it has the puzzles alone",
                hint="`tooling start` shows the address of the next page; "
                "to build the book, clone the repository",
            ) from error
        raise BookError(
            "the list of the book's languages is missing",
            where=Location(path),
            hint="git checkout it, or add a language with `tooling check-translations new-lang`",
        ) from error
    translations = (
        Edition(code, project.root / "i18n" / code / "book", f"{code}/", name, _fonts(project, code))
        for code, name in _languages(text, path)
    )
    return (Edition("en", project.root / "book", "", "English"), *translations)


def _fonts(project: Project, code: str) -> str:
    name = f"fonts-{code}.css"
    return name if (project.root / "book" / "theme" / "assets" / name).is_file() else ""


@lru_cache(maxsize=8)
def _languages(text: str, path: Path) -> tuple[tuple[str, str], ...]:
    """Code and name of each translation."""
    import tomllib  # noqa: PLC0415 - this list alone is written in TOML

    try:
        rows = tomllib.loads(text).get("language", [])
        found = tuple((str(row["code"]), str(row["name"])) for row in rows)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError) as error:
        hint = 'each language is a `[[language]]` with `code = "ko"` and `name = "한국어"`'
        raise malformed("list of languages", path, error, hint) from error
    codes = [code for code, _ in found]
    for code in codes:
        if code == "en" or codes.count(code) > 1 or not _CODE.fullmatch(code):
            raise BookError(
                f"the language `{code}` cannot be added",
                where=Location(path),
                why="a translation has a language code of its own, and English is the source",
            )
    return found


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
