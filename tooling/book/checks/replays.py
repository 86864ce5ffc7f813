"""Checks that pages about threads that work together have replays."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tooling.book.checks.context import CheckContext
from tooling.book.checks.finding import BookFinding
from tooling.book.directives.commands import runs_of
from tooling.book.directives.replays import SOLVED, replays_of, same_run
from tooling.book.page import PageContext
from tooling.catalog.catalogue import Selection
from tooling.catalog.model import ProgramLanguage
from tooling.mdbook.includes import Directive
from tooling.platform.errors import ToolingError
from tooling.platform.regular_files import read_text

_TOGETHER = re.compile(
    r"\b(?:barrier|cluster_(?:arrive|wait|sync)|mbarrier_\w+|async_copy_wait_all)\(|\b(?:warp|block)\.[a-z]\w*[\[(]"
)

_TOO_LARGE = {
    "p44 --tile-loop": "each step copies and multiplies 16,384 numbers",
    "p46 --wgmma": "of 384 threads and their matrices, a trace is larger than a page may load",
}
"""Runs without replays, and why."""


def check_replays(context: CheckContext) -> Iterator[BookFinding]:
    """A page that has readers write threads which wait for each other, or exchange values, shows replays.

    Each of its modes needs one of the solution, and one of an answer that is wrong.
    """
    for chapter in context.real_chapters():
        page = PageContext(chapter.edition, chapter.path, chapter.text, context.puzzle_index)
        try:
            shown = list(replays_of(page))
            asked = list(_taught(page))
        except ToolingError:
            continue  # a directive that names no run: `check_directives` reports it with its line
        for directive, selection in asked:
            states = {state for other, state in shown if same_run(other, selection)}
            missing = [
                *(["the solution"] if SOLVED not in states else []),
                *(["a wrong answer"] if not states - {SOLVED} else []),
            ]
            words = " ".join([selection.program.name, *selection.mode.flags])
            if missing and words not in _TOO_LARGE:
                yield context.finding(
                    chapter,
                    chapter.line_of(directive.start),
                    "replay",
                    f"the threads of {words} work together, and no replay shows {' and '.join(missing)}",
                    f"add {{{{#replay {words}}}}} {{{{#replay {words} ANSWER}}}} to the solution",
                )


def _taught(page: PageContext) -> Iterator[tuple[Directive, Selection]]:
    """The runs of a page whose solution synchronises threads, each with its directive."""
    for directive, selection in runs_of(page):
        if selection.program.language is ProgramLanguage.MOJO and _TOGETHER.search(_solution(selection)):
            yield directive, selection


def _solution(selection: Selection) -> str:
    """The regions of the solution that readers write, without comments."""
    text = "\n".join(read_text(each.solution) for each in selection.program.sources)
    regions = [
        text.partition(f"# ANCHOR: {anchor}_solution\n")[2].partition(f"# ANCHOR_END: {anchor}_solution")[0]
        for anchor in selection.mode.anchors.get(selection.program.name, ())
    ]
    return re.sub(r"#.*", "", "\n".join(regions))
