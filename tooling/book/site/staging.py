"""Stages the pages of an edition for mdBook, with every directive rendered.

A build renders all editions in its own process and needs no preprocessor: starting Python again for each
edition would take longer than mdBook itself. `mdbook build` by hand goes through
`tooling.book.directives.preprocessor`, which does the same work with the same code.

A page is rendered again only if an input has changed: its own text, the numbers of the figures that it shows
or refers to, the state of the translation, or any file that `tooling.book.site.inputs` reads.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from tooling.book.chapters import NOT_FOUND
from tooling.book.directives import banner, formulas
from tooling.book.editions import Edition, editions
from tooling.book.errors import BookErrors, BuildFailed
from tooling.book.figure_numbers import FigureNumber, number_figures, numbered_in
from tooling.book.listings import Listings
from tooling.book.site.configuration import staged_configuration
from tooling.book.site.inputs import Inputs, digest
from tooling.book.summary import Entry, read_summary, summary_text
from tooling.platform.atomic_write import write_atomically
from tooling.platform.regular_files import read_text
from tooling.platform.state_file import encoded, read_cached
from tooling.project import Project

if TYPE_CHECKING:
    from tooling.book.directives.chapter_renderer import ChapterRenderer
    from tooling.book.puzzle_index import PuzzleIndex


class Contents(Struct, frozen=True):
    """The contents of an edition, with stubs for the puzzles without a chapter.

    Attributes:
        key: digest of the inputs.
        entries: all pages.
        stubs: the stubs among them: the path of each, and its puzzle.
    """

    key: str
    entries: tuple[Entry, ...]
    stubs: dict[str, str]


class Staged(Struct, frozen=True):
    """A book that mdBook can render without a preprocessor.

    Attributes:
        folder: its folder.
        digest: of all its files.
        contents: of the edition.
        listings: of all its pages.
    """

    folder: Path
    digest: str
    contents: Contents
    listings: Listings


class Stage(Struct):
    """The staging of the editions of one build.

    Attributes:
        project: the checkout.
        inputs: the inputs of the pages.
        work: the folder for the staged books and for what is kept between builds.
        puzzle_index: made when a page is rendered, unless it is given.
    """

    project: Project
    inputs: Inputs
    work: Path
    puzzle_index: PuzzleIndex | None = None
    _first: ChapterRenderer | None = None
    _numbers: dict[str, FigureNumber] | None = None

    def render(self, edition: Edition) -> Staged:
        """Writes the book of an edition; files that are there already are left alone.

        Chapters that are not translated are left out: mdBook would fail on them, and the site shows the other
        language's page instead.

        Raises:
            BuildFailed: errors in the pages; the message lists all of them.
        """
        folder = self.work / f"{edition.language}-pages"
        states = banner.load(self.project, edition) if edition.prefix else None
        kept = _PageCache.load(self.work / f"{edition.language}-pages.json", folder / "src")
        contents = self._contents(edition)
        renderer: ChapterRenderer | None = None
        wanted: dict[Path, str] = {}
        right: set[Path] = set()
        untranslated: set[str] = set()
        listings: Listings = {}
        for entry in contents.entries:
            if not entry.path:
                continue
            stub = contents.stubs.get(entry.path, "")
            try:
                text = "" if stub else read_text(edition.page(entry.path))
            except FileNotFoundError:
                if edition.prefix:
                    untranslated.add(entry.path)
                continue  # in the source language mdBook reports it
            numbers = [self._figure_numbers().get(name) for name in numbered_in(text)]
            state = repr(states and states.of(entry.path))
            key = digest(self.inputs.digest, entry.path, stub, state, repr(numbers), text)
            page = kept.page(entry.path, key)
            if page is not None:
                right.add(folder / "src" / entry.path)
                listings |= kept.pages[entry.path].listings
            else:
                renderer = renderer or self._renderer(edition, states)
                if stub:
                    from tooling.book.stubs import stub_page  # noqa: PLC0415 - as below

                    puzzle, _ = renderer.puzzle_index.program(stub)
                    text = stub_page(self.project, edition, puzzle)
                page = renderer.render(entry.path, text, generated=bool(stub))
                if self.inputs.hold(renderer.included):
                    kept.add(entry.path, key, page, renderer.listings)
                listings |= renderer.listings
            wanted[folder / "src" / entry.path] = page
        if renderer and renderer.problems:
            raise BuildFailed(
                f"the {edition.name} edition could not be built", why=f"\n{BookErrors(renderer.problems)}"
            )
        not_found = edition.page(NOT_FOUND)
        if not_found.is_file():
            wanted[folder / "src" / NOT_FOUND] = read_text(not_found)
        listed = [entry for entry in contents.entries if entry.path not in untranslated]
        wanted[folder / "src" / "SUMMARY.md"] = summary_text(listed)
        wanted[folder / "book.toml"] = staged_configuration(edition.folder / "book.toml")
        _write(folder, wanted, right)
        if renderer:
            kept.save()
        texts = (each for path, text in wanted.items() for each in (str(path), text))
        return Staged(folder, digest(*texts), contents, listings)

    def _contents(self, edition: Edition) -> Contents:
        """The contents of SUMMARY.md, with a stub for each puzzle that the source language does not list."""
        path = self.work / f"{edition.language}-contents.json"
        kept = read_cached(path, Contents)
        if kept is not None and kept.key == self.inputs.digest:
            return kept
        from tooling.book.stubs import complete_contents, missing  # noqa: PLC0415 - as below

        puzzles = self._puzzles().needs()
        wanted = missing(read_summary(editions(self.project)[0].source), puzzles)
        entries = complete_contents(read_summary(edition.source), wanted, puzzles, edition.language)
        found = Contents(self.inputs.digest, entries, {each.chapter: each.id for each in wanted})
        write_atomically(path, encoded(found))
        return found

    def _figure_numbers(self) -> dict[str, FigureNumber]:
        """The numbers of all figures, which depend on the chapters of the source language."""
        if self._numbers is None:
            self._numbers = number_figures(editions(self.project)[0])
        return self._numbers

    def _puzzles(self) -> PuzzleIndex:
        from tooling.book.puzzle_index import PuzzleIndex  # noqa: PLC0415 - as below

        self.puzzle_index = self.puzzle_index or PuzzleIndex(self.project)
        return self.puzzle_index

    def _renderer(self, edition: Edition, states: banner.States | None) -> ChapterRenderer:
        # Not imported when every page is cached: importing is most of the cost of a build without changes.
        from tooling.book.directives.chapter_renderer import ChapterRenderer  # noqa: PLC0415
        from tooling.mdbook.files import Files  # noqa: PLC0415

        first = self._first
        if first is not None:  # the editions show the same puzzles, formulas and files
            return ChapterRenderer(
                edition, first.puzzle_index, states, first.files, first.formulas, first.numbers
            )
        files, drawn = Files(self.project.root), formulas.load(self.project)
        numbers = self._figure_numbers()
        self._first = ChapterRenderer(edition, self._puzzles(), states, files, drawn, numbers)
        return self._first


class _Cached(Struct, frozen=True):
    """A page that an earlier build has rendered.

    Attributes:
        key: a digest of its inputs.
        result: a digest of the page.
        listings: of the page.
    """

    key: str
    result: str
    listings: Listings


class _PageCache(Struct):
    """The pages that earlier builds have rendered, in the folder of a staged book.

    Attributes:
        path: the index file.
        folder: the pages.
        pages: what is known of each.
    """

    path: Path
    folder: Path
    pages: dict[str, _Cached]

    @classmethod
    def load(cls, path: Path, folder: Path) -> _PageCache:
        # Without an index, as in the first build, every page is rendered again.
        return cls(path, folder, read_cached(path, dict[str, _Cached]) or {})

    def page(self, name: str, key: str) -> str | None:
        """The rendered page, if its inputs are the same and its file is unchanged."""
        known = self.pages.get(name)
        if known is None or known.key != key:
            return None
        try:
            page = read_text(self.folder / name)
        except (OSError, ValueError):
            return None
        return page if digest(page) == known.result else None

    def add(self, name: str, key: str, page: str, listings: Listings) -> None:
        self.pages[name] = _Cached(key, digest(page), listings)

    def save(self) -> None:
        write_atomically(self.path, encoded(self.pages))


def _write(folder: Path, wanted: dict[Path, str], right: set[Path]) -> None:
    """Makes the folder contain exactly these files; some are known to be up to date."""
    there = {path for path in folder.rglob("*") if path.is_file()}
    for path in there - wanted.keys():
        path.unlink()
    for path, text in wanted.items():
        if path in right or (path in there and read_text(path) == text):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
