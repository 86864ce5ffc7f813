"""Checks that a page runs the file that it shows, for each tensor API."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tooling.book.checks.context import Chapter, CheckContext
from tooling.book.checks.finding import BookFinding
from tooling.book.variants import API_LABELS, api_tabs
from tooling.catalog.model import Program, Puzzle
from tooling.mdbook.includes import Directive, find_directives

_CODE = re.compile(r"/(?:problems|solutions)/(?P<puzzle>p\d\d)/(?P<file>[\w/]+\.(?:mojo|py))$")


def check_versions(context: CheckContext) -> Iterator[BookFinding]:
    """A tab shows programs of its API alone; commands run the program that the page shows.

    On a page with the tabs, `{{#run}}` and `{{#output}}` show the version whose tab is open, so the text need
    not name the others.
    """
    for chapter in context.real_chapters():
        puzzle = context.puzzle_of(chapter.path)
        if puzzle is None:
            continue
        directives = list(find_directives(chapter.text))
        if api_tabs(chapter.text):
            yield from _wrong_tabs(context, chapter, puzzle, directives)
            yield from _named_versions(context, chapter, puzzle)
        else:
            yield from _wrong_commands(context, chapter, puzzle, directives)


def _wrong_tabs(
    context: CheckContext, chapter: Chapter, puzzle: Puzzle, directives: Sequence[Directive]
) -> Iterator[BookFinding]:
    tab = group = ""
    for directive in directives:
        if directive.name == "tabs":
            group = directive.argument.strip()
        elif directive.name == "end":
            tab = group = ""
        elif directive.name == "tab":
            tab = directive.argument.strip()
        programs = _shown(puzzle, directive)
        if group == "api" and tab and programs and tab not in {API_LABELS[each.api] for each in programs}:
            line = chapter.line_of(directive.start)
            message = f"the tab `{tab}` shows {programs[0].name}, which uses {API_LABELS[programs[0].api]}"
            hint = "the commands below run the program of the tab's API"
            yield context.finding(chapter, line, "version", message, hint)


def _wrong_commands(
    context: CheckContext, chapter: Chapter, puzzle: Puzzle, directives: Sequence[Directive]
) -> Iterator[BookFinding]:
    shown = {program.name for each in directives for program in _shown(puzzle, each)}
    for directive in directives:
        name = directive.argument.split(maxsplit=1)[0] if directive.argument.strip() else ""
        own = name in {program.name for program in puzzle.programs}
        if directive.name == "run" and own and shown and name not in shown:
            line = chapter.line_of(directive.start)
            message = f"the command runs {name}, but the page shows {', '.join(sorted(shown))}"
            hint = "run the program that the page shows, or show each version in a tab of `{{#tabs api}}`"
            yield context.finding(chapter, line, "version", message, hint)


def _named_versions(context: CheckContext, chapter: Chapter, puzzle: Puzzle) -> Iterator[BookFinding]:
    names = {program.name for program in puzzle.programs}
    for code in chapter.page.structure.codes:
        if code.text in names:
            message = f"the text names the program `{code.text}`, but the commands follow the open tab"
            yield context.finding(chapter, code.line, "version", message, "delete the sentence")


def _shown(puzzle: Puzzle, directive: Directive) -> tuple[Program, ...]:
    """The programs of the puzzle to which the code of an include belongs."""
    match = _CODE.search(directive.path) if directive.includes else None
    if match is None or match["puzzle"] != puzzle.id:
        return ()
    return tuple(
        program for program in puzzle.programs if match["file"] in {source.name for source in program.sources}
    )
