"""The checks of the book."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tooling.book.checks import (
    commands,
    contents,
    identifiers,
    outputs,
    pages,
    replays,
    sources,
    unused,
    versions,
    words,
)
from tooling.book.checks.context import CheckContext
from tooling.book.checks.finding import RULES, BookFinding, Report
from tooling.book.editions import editions
from tooling.book.errors import BuildFailed
from tooling.book.site.build import build
from tooling.book.site.inputs import find_inputs
from tooling.project import Project

__all__ = ["RULES", "BookFinding", "Report", "check"]

Check = Callable[[CheckContext], Iterator[BookFinding]]
CHECKS: tuple[Check, ...] = (
    sources.check_directives,
    sources.check_links,
    sources.check_full_files,
    sources.check_repository,
    versions.check_versions,
    sources.check_images,
    sources.check_figures,
    sources.check_formulas,
    contents.check_summary,
    contents.check_titles,
    contents.check_orphans,
    contents.check_headings,
    contents.check_fences,
    contents.check_markers,
    contents.check_parts,
    commands.check_commands,
    outputs.check_outputs,
    outputs.check_pasted,
    outputs.check_unused_recordings,
    replays.check_replays,
    identifiers.check_identifiers,
    words.check_spelling,
    words.check_register,
    words.check_translations,
    unused.check_unused_pictures,
    unused.check_unused_anchors,
)


def check(project: Project, *, build_pages: bool = True) -> Report:
    """Runs every check.

    Args:
        project: the checkout.
        build_pages: build the site too, and check its pages; with False only the sources are checked.

    Raises:
        MdbookMissing: the site cannot be built here. A check that cannot run must not pass.
        BookError: an input is not a regular file of the checkout.
    """
    find_inputs(project, editions(project))  # raises for files that the checks could not read
    context = CheckContext(project)
    found = {finding for each in CHECKS for finding in each(context)}
    count = 0
    if build_pages:
        with tempfile.TemporaryDirectory(prefix="book-") as folder:
            site = Path(folder) / "site"
            try:
                count = build(project, site).pages
                found |= set(pages.check_pages(context, site))
            except BuildFailed as error:
                if not {finding.rule for finding in found} & {"include", "directive", "summary"}:
                    # Otherwise the checks have reported it already, in more detail.
                    found.add(BookFinding("book", 0, "html", f"{error.what}: {error.why}"))
    return Report(tuple(sorted(found)), len(context.chapters), count)
