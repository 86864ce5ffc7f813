"""Finds pictures, figures and anchors that are no longer used."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tooling.book.checks.context import CheckContext
from tooling.book.checks.finding import BookFinding
from tooling.book.figure_numbers import figures_of
from tooling.book.figures import every_figure
from tooling.book.figures.texts import TEXTS_PAGE, texts_of
from tooling.catalog.model import Puzzle
from tooling.mdbook import expansion
from tooling.mdbook.markup import Image

_PICTURES = {".svg", ".png", ".jpg", ".jpeg", ".gif", ".webp"}


def check_unused_pictures(context: CheckContext) -> Iterator[BookFinding]:
    """Pictures of an edition that none of its pages shows."""
    for edition in context.editions:
        used: set[str] = set()
        for chapter in context.chapters:
            if chapter.edition is not edition:
                continue
            page = chapter.page
            for mark in page.structure.marks:
                if isinstance(mark, Image):
                    used.add(context.library.destination(page, mark.target).path or "")
        for file in sorted(edition.source.rglob("*")):
            if file.suffix in _PICTURES and str(file.resolve()) not in used:
                yield BookFinding(
                    context.name(file), 0, "unused-file", "no page shows this picture", "delete it"
                )


def check_unused_figures(context: CheckContext) -> Iterator[BookFinding]:
    """Figures that no page in the source language shows, and captions of no figure."""
    source = context.chapters_of(context.editions[0].language)
    shown = {name for chapter in source.values() for name in figures_of(chapter.text)}
    for figure in every_figure():
        if figure.name not in shown:
            file = f"tooling/book/figures/{figure.puzzle}.py"
            message = f"no page shows the figure `{figure.name}`"
            yield BookFinding(file, 0, "unused-file", message, "delete it")
    drawn = {figure.name for figure in every_figure()}
    for edition in context.editions:
        for name in texts_of(edition).keys() - drawn:
            message = f"there is no figure `{name}`, which has a caption here"
            yield BookFinding(context.name(edition.page(TEXTS_PAGE)), 0, "unused-file", message, "delete it")


def check_unused_anchors(context: CheckContext) -> Iterator[BookFinding]:
    """Anchors of a puzzle's programs that no page includes.

    An anchor that the manifest names may be unused as long as a chapter of the manifest is not yet in
    the contents. Where a page shows a region of the problem without anything to complete, the same region
    of the solution need not be shown, whether it has the same name or ends in `_solution`.
    """
    uses: set[expansion.Use] = set()
    for chapter in context.chapters:
        uses |= expansion.check(chapter.text, chapter.page.path, context.library.files)[1]
    listed = {entry.path for entries in context.summaries.values() for entry in entries}
    for puzzle in context.puzzles:
        if not listed.intersection(puzzle.chapters):
            continue  # its pages are still to be written
        finished = set(puzzle.chapters) <= listed
        named = _named(puzzle)
        waiting = set() if finished else set(named)
        sources = [source for program in puzzle.programs for source in program.sources]
        problems = {str(source.problem.resolve()) for source in sources}
        shown = {use.anchor for use in uses if use.anchor and use.path in problems}
        waiting |= {name for anchor in shown for name in (anchor, f"{anchor}_solution")} - named
        files = [path for source in sources for path in (source.problem, source.solution)]
        for path, region in expansion.unused_anchors(
            uses, [path for path in files if path.is_file()], context.library.files
        ):
            if region.name not in waiting:
                yield BookFinding(
                    context.name(path), region.opening, "unused-anchor", f"no page shows `{region.name}`"
                )


def _named(puzzle: Puzzle) -> frozenset[str]:
    names = puzzle.regions_to_complete
    return names | {f"{re.sub('_solution$', '', name)}_solution" for name in names}
