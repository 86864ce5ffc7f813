"""The pages of an edition as mdBook gets them from a build: every directive carried out already.

A build sets all editions in its own process and needs no preprocessor: starting Python once more for each
edition would cost more than all of mdBook. `mdbook build` by hand goes through
`tooling.book.directives.preprocessor`, which does the same work with the same code.

A page is set again only if something has changed that it may depend on: its own text, the state of the
translation, or anything at all of what `tooling.book.site.inputs` reads.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from tooling.atomic_write import write_atomically
from tooling.book.chapters import NOT_FOUND
from tooling.book.directives import banner, formulas
from tooling.book.editions import Edition
from tooling.book.errors import BookErrors, BuildFailed
from tooling.book.site.inputs import Inputs, digest
from tooling.book.summary import read_summary
from tooling.project import Project
from tooling.state_file import encoded, read_cached

if TYPE_CHECKING:
    from tooling.book.directives.chapter_renderer import ChapterRenderer

_PREPROCESSORS = re.compile(r"^\[preprocessor\b.*?(?=^\[|\Z)", re.MULTILINE | re.DOTALL)


class Staged(Struct, frozen=True):
    """A book that mdBook can render by itself.

    Attributes:
        folder: where it lies.
        digest: of all its files.
    """

    folder: Path
    digest: str


class Stage(Struct):
    """Where the editions of one build are set.

    Attributes:
        project: the checkout.
        inputs: what the pages are made from.
        work: the folder for the staged books and for what is kept between builds.
    """

    project: Project
    inputs: Inputs
    work: Path
    _first: ChapterRenderer | None = None

    def set(self, edition: Edition) -> Staged:
        """Writes the book of an edition; files that are there already are left alone.

        Chapters that nobody has translated are left out. mdBook would stop at them, while the site shows the
        other language's page in their place.

        Raises:
            BuildFailed: something is wrong in the pages; the message holds all of it.
        """
        folder = self.work / f"{edition.language}-pages"
        summary = (edition.source / "SUMMARY.md").read_text(encoding="utf-8").splitlines(keepends=True)
        states = banner.load(self.project, edition) if edition.prefix else None
        kept = _Kept.load(self.work / f"{edition.language}-pages.json", folder / "src")
        renderer: ChapterRenderer | None = None
        wanted: dict[Path, str] = {}
        right: set[Path] = set()
        missing: set[int] = set()
        for entry in read_summary(edition.source):
            if not entry.path:
                continue
            try:
                text = edition.page(entry.path).read_text(encoding="utf-8")
            except FileNotFoundError:
                if edition.prefix:
                    missing.add(entry.line)
                continue  # in the source language mdBook says so, with the line
            key = digest(self.inputs.digest, entry.path, repr(states and states.of(entry.path)), text)
            page = kept.page(entry.path, key)
            if page is not None:
                right.add(folder / "src" / entry.path)
            else:
                renderer = renderer or self._renderer(edition, states)
                page = renderer.render(entry.path, text)
                if self.inputs.hold(renderer.included):
                    kept.add(entry.path, key, page)
            wanted[folder / "src" / entry.path] = page
        if renderer and renderer.problems:
            raise BuildFailed(
                f"the {edition.name} edition could not be built", why=f"\n{BookErrors(renderer.problems)}"
            )
        not_found = edition.page(NOT_FOUND)
        if not_found.is_file():
            wanted[folder / "src" / NOT_FOUND] = not_found.read_text(encoding="utf-8")
        lines = "".join(line for number, line in enumerate(summary, 1) if number not in missing)
        wanted[folder / "src" / "SUMMARY.md"] = lines
        config = (edition.folder / "book.toml").read_text(encoding="utf-8")
        wanted[folder / "book.toml"] = _PREPROCESSORS.sub("", config)
        _write(folder, wanted, right)
        if renderer:
            kept.save()
        return Staged(folder, digest(*(part for path, text in wanted.items() for part in (str(path), text))))

    def _renderer(self, edition: Edition, states: banner.States | None) -> ChapterRenderer:
        # With every page kept, none of this is loaded: it is most of what a build without changes would cost.
        from tooling.book.directives.chapter_renderer import ChapterRenderer  # noqa: PLC0415
        from tooling.book.puzzle_index import PuzzleIndex  # noqa: PLC0415
        from tooling.mdbook.files import Files  # noqa: PLC0415

        first = self._first
        if first is not None:  # the editions show the same puzzles, formulas and files
            return ChapterRenderer(edition, first.puzzle_index, states, first.files, first.formulas)
        files, drawn = Files(self.project.root), formulas.load(self.project)
        self._first = ChapterRenderer(edition, PuzzleIndex(self.project), states, files, drawn)
        return self._first


class _Kept(Struct):
    """The pages that former builds have set, in the folder where they lie.

    Attributes:
        path: the list of them.
        folder: the pages.
        keys: for each page what it was set from, and a digest of what came of it.
    """

    path: Path
    folder: Path
    keys: dict[str, tuple[str, str]]

    @classmethod
    def load(cls, path: Path, folder: Path) -> _Kept:
        # Without a list, as in the first build, every page is set anew.
        return cls(path, folder, read_cached(path, dict[str, tuple[str, str]]) or {})

    def page(self, name: str, key: str) -> str | None:
        """The page as set, if it was set from the same as now and lies there untouched."""
        known, result = self.keys.get(name, ("", ""))
        if known != key:
            return None
        try:
            page = (self.folder / name).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return None
        return page if digest(page) == result else None

    def add(self, name: str, key: str, page: str) -> None:
        self.keys[name] = (key, digest(page))

    def save(self) -> None:
        write_atomically(self.path, encoded(self.keys))


def _write(folder: Path, wanted: dict[Path, str], right: set[Path]) -> None:
    """Makes the folder hold these files and no other ones; some are known to be there and right already."""
    there = {path for path in folder.rglob("*") if path.is_file()}
    for path in there - wanted.keys():
        path.unlink()
    for path, text in wanted.items():
        if path in right or (path in there and path.read_text(encoding="utf-8") == text):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
