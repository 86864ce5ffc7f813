"""The checks of the book."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence

from tooling.book.checks import (
    causes,
    commands,
    contents,
    identifiers,
    manifest_texts,
    outputs,
    pages,
    replays,
    sources,
    unused,
    versions,
    words,
)
from tooling.book.checks.context import CheckContext, chapter_of
from tooling.book.checks.finding import RULES, BookFinding, Report
from tooling.book.editions import editions
from tooling.book.errors import BuildFailed
from tooling.book.site.build import build
from tooling.book.site.inputs import find_inputs
from tooling.platform.processes import temporary_folder
from tooling.project import Project

__all__ = ["RULES", "BookFinding", "Report", "check", "check_one_by_one"]

Check = Callable[[CheckContext], Iterator[BookFinding]]
CHECKS: dict[Check, tuple[str, ...]] = {
    sources.check_directives: ("directive", "include"),
    sources.check_links: ("link", "fragment", "image"),
    sources.check_full_files: ("full-file",),
    sources.check_cards: ("directive",),
    sources.check_repository: ("repository",),
    versions.check_versions: ("version",),
    sources.check_images: ("alt",),
    sources.check_figures: ("figure",),
    sources.check_formulas: ("formula",),
    contents.check_summary: ("summary",),
    contents.check_titles: ("title",),
    contents.check_orphans: ("orphan",),
    contents.check_headings: ("headings",),
    contents.check_fences: ("fence",),
    contents.check_markers: ("marker",),
    contents.check_page_figures: ("page-figure",),
    contents.check_parts: ("parts",),
    commands.check_commands: ("command", "vendor"),
    outputs.check_outputs: ("output",),
    outputs.check_pasted: ("pasted-output",),
    outputs.check_unused_recordings: ("unused-file",),
    replays.check_replays: ("replay",),
    causes.check_causes: ("cause",),
    identifiers.check_identifiers: ("identifier",),
    words.check_spelling: ("spelling",),
    words.check_register: ("register",),
    words.check_translations: ("parity", "glossary"),
    manifest_texts.check_manifest_texts: ("manifest-text", "manifest-language"),
    unused.check_unused_pictures: ("unused-file",),
    unused.check_unused_figures: ("unused-file",),
    unused.check_unused_anchors: ("unused-anchor",),
}
"""Each check of the sources, with the rules that it reports."""
OF_ONE_PAGE: tuple[Check, ...] = (
    sources.check_directives,
    sources.check_links,
    sources.check_full_files,
    sources.check_cards,
    sources.check_images,
    contents.check_headings,
    contents.check_fences,
    contents.check_markers,
    commands.check_commands,
    outputs.check_pasted,
    causes.check_causes,
    identifiers.check_identifiers,
    words.check_spelling,
    words.check_register,
    words.check_translations,
)
"""The checks that need one page and its translations alone."""


def check_one_by_one(project: Project, pages: Sequence[str]) -> Report:
    """Runs the checks of single pages on these, in every language; the site is not built.

    Args:
        pages: files, from the working folder or from the checkout.

    Raises:
        NotAChapter: one of them is not a page of the book.
    """
    every = editions(project)
    context = CheckContext(project, frozenset(chapter_of(project, every, page) for page in pages))
    found = {finding for each in OF_ONE_PAGE for finding in each(context)}
    rules = {rule for each in OF_ONE_PAGE for rule in CHECKS[each]}
    return Report(
        tuple(sorted(found)), len(context.chapters), 0, len(rules), "only these pages were asked for"
    )


def check(project: Project, *, build_pages: bool = True, rules: Container[str] = RULES) -> Report:
    """Runs the checks.

    Args:
        project: the checkout.
        build_pages: build the site too, and check its pages; with False only the sources are checked.
        rules: checks of the sources that report none of these do not run.

    Raises:
        MdbookMissing: the site cannot be built here. A check that cannot run must not pass.
        BookError: an input is not a regular file of the checkout.
    """
    find_inputs(project, editions(project))  # raises for files that the checks could not read
    context = CheckContext(project)
    chosen = [each for each, reported in CHECKS.items() if any(rule in rules for rule in reported)]
    found = {finding for each in chosen for finding in each(context)}
    count, unchecked = 0, "" if build_pages else "it was not built"
    if build_pages:
        with temporary_folder("book-") as folder:
            site = folder / "site"
            try:
                built = build(project, site, puzzle_index=context.puzzle_index)
                count = built.pages
                for edition in built.rendered:
                    found |= set(pages.check_rendered(edition))
                found |= set(pages.check_pages(context, site))
            except BuildFailed as error:
                unchecked = "it could not be built with these findings"
                if not {finding.rule for finding in found} & {"include", "directive", "summary"}:
                    # Otherwise the checks have reported it already, in more detail.
                    found.add(BookFinding("book", 0, "html", f"{error.what}: {error.why}"))
    return Report(tuple(sorted(found)), len(context.chapters), count, unchecked=unchecked)
