"""Checks includes, directives, links, pictures and the repository's address in the chapters."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from tooling.book.checks.context import Chapter, CheckContext
from tooling.book.checks.finding import BookFinding
from tooling.book.directives import formulas
from tooling.book.directives.chapter_renderer import IncludeError
from tooling.book.editions import repository_address
from tooling.book.errors import BookError
from tooling.book.figures import every_figure
from tooling.book.figures.facts import Facts
from tooling.mdbook.books import LinkFault
from tooling.mdbook.includes import find_directives
from tooling.platform.regular_files import names_file

_RULE_OF = {
    LinkFault.MISSING_PAGE: "link",
    LinkFault.MISSING_FRAGMENT: "fragment",
    LinkFault.MISSING_IMAGE: "image",
}
_PUZZLE_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\([^)\s]*puzzle_(?P<number>\d+)/")
_PUZZLE = re.compile(r"(?:[Pp]uzzle|퍼즐)\s*(\d+)")
_FULL_FILE = re.compile(
    r'<a class="filename" href="(?P<base>.*?)/blob/main/(?P<path>[^"]*)">(?P<label>.*?)</a>', re.DOTALL
)
_IN_REPOSITORY = re.compile(r"repo_url\.md\s*\}\}/(?:blob|tree)/main/(?P<path>[^)\s\"#>]+)")
_IMAGE = re.compile(r"!\[(?P<alt>[^\]]*)\]\(|<img\b(?P<attributes>[^>]*)>")


def check_directives(context: CheckContext) -> Iterator[BookFinding]:
    """Reports the problems found while rendering the chapters."""
    for renderer in context.renderers:
        for problem in renderer.problems:
            rule = "include" if isinstance(problem, IncludeError) else "directive"
            path = context.name(problem.where.path) if problem.where else ""
            line = (problem.where.line if problem.where else 0) or 0
            message = f"{problem.what} ({problem.why})" if problem.why else problem.what
            yield BookFinding(path, line, rule, message, problem.hint or "")


def check_links(context: CheckContext) -> Iterator[BookFinding]:
    """Links, fragments and pictures as written."""
    for chapter in context.chapters:
        for problem in context.library.check(chapter.page):
            if problem.fault is LinkFault.UNTRANSLATED_PAGE:
                continue  # the site has a substitute page there
            yield context.finding(
                chapter, problem.line, _RULE_OF[problem.fault], problem.message, problem.hint
            )
        for link in chapter.page.structure.links:
            if link.target.startswith("http://"):
                yield context.finding(
                    chapter, link.line, "link", f"{link.target} is not encrypted", "write https://"
                )
        for match in _PUZZLE_LINK.finditer(chapter.text):
            named, leads_to = [int(number) for number in _PUZZLE.findall(match["text"])], int(match["number"])
            if named and leads_to not in named:
                message = f"`{match['text']}` leads to the pages of puzzle {leads_to}"
                yield context.finding(chapter, chapter.line_of(match.start()), "link", message)


def check_full_files(context: CheckContext) -> Iterator[BookFinding]:
    """`View full file`: link, label and the include above it name the same file, which exists.

    Every other link into the repository leads to a file or folder, too.
    """
    for chapter in context.chapters:
        text = chapter.text
        for match in _IN_REPOSITORY.finditer(text):
            target = context.project.root / match["path"]
            if not names_file(target) and not target.is_dir():
                message = f"there is no file {match['path']}"
                yield context.finding(chapter, chapter.line_of(match.start()), "full-file", message)
        for match in _FULL_FILE.finditer(text):
            line = chapter.line_of(match.start())
            path, label = match["path"], match["label"].rpartition(": ")[2]
            if label != path:
                yield context.finding(
                    chapter, line, "full-file", f"the link leads to {path}, its label says {label}"
                )
            shown = _last_include(context, chapter, match.start())
            if shown is not None and shown != Path(context.library.files.real(context.project.root, path)):
                yield context.finding(
                    chapter,
                    line,
                    "full-file",
                    f"the code above is from {context.name(shown)}, the link leads to {path}",
                )


def check_cards(context: CheckContext) -> Iterator[BookFinding]:
    """The card of a puzzle is on the pages of this puzzle."""
    for chapter in context.chapters:
        puzzle = context.puzzle_of(chapter.path)
        for directive in find_directives(chapter.text):
            named = directive.argument.split()
            if directive.name == "puzzle" and puzzle is not None and named and named[0] != puzzle.id:
                line = chapter.line_of(directive.start)
                message = f"the card of {named[0]} is on a page of {puzzle.id}"
                yield context.finding(
                    chapter, line, "directive", message, f"write {{{{#puzzle {puzzle.id}}}}}"
                )


def _last_include(context: CheckContext, chapter: Chapter, offset: int) -> Path | None:
    for directive in reversed(list(find_directives(chapter.text[:offset]))):
        if directive.includes and directive.path.endswith((".mojo", ".py")):
            return Path(
                os.path.normpath(context.library.files.real(chapter.page.path.parent, directive.path))
            )
    return None


def check_repository(context: CheckContext) -> Iterator[BookFinding]:
    """The address is written in `_includes/repo_url.md` alone, and is the same in every edition."""
    source, *others = context.editions
    address = repository_address(source)
    for other in others:
        path = other.source / "_includes" / "repo_url.md"
        if not path.is_file() or repository_address(other) != address:
            message = f"the address is not that of the {source.name} edition, {address}"
            yield BookFinding(context.name(path), 1, "repository", message)
    for chapter in context.chapters:
        for match in re.finditer(re.escape(address) + r"|(?<=href=\")[^\"{]*(?=/blob/main/)", chapter.text):
            yield context.finding(
                chapter,
                chapter.line_of(match.start()),
                "repository",
                f"`{match[0]}` is written out",
                "write {{#include ../_includes/repo_url.md}} instead",
            )


def check_images(context: CheckContext) -> Iterator[BookFinding]:
    """Alternative texts."""
    for chapter in context.chapters:
        for match in _IMAGE.finditer(chapter.text):
            if match["attributes"] is not None:
                described = re.search(r'alt="[^"]*\S[^"]*"', match["attributes"])
            else:
                described = re.search(r"\S", match["alt"])
            if not described:
                line = chapter.line_of(match.start())
                yield context.finding(
                    chapter, line, "alt", "the picture has no description", "say what it shows"
                )


def check_figures(context: CheckContext) -> Iterator[BookFinding]:
    """Figures are drawn from traces of the programs as they are now.

    Where one cannot be drawn, `check_directives` reports it on its page.
    """
    for figure in every_figure():
        for run in figure.traces:
            try:
                Facts(context.puzzle_index, figure.puzzle).require_current(run)
            except BookError as error:
                file = context.name(error.where.path) if error.where else figure.name
                yield BookFinding(file, 0, "figure", error.what, error.hint or "")


def check_formulas(context: CheckContext) -> Iterator[BookFinding]:
    """Recorded formulas are as they would be drawn now."""
    path, update = context.name(formulas.record_path(context.project)), "tooling book formulas"
    try:
        recorded = formulas.load(context.project)
    except BookError as error:
        yield BookFinding(path, 0, "formula", f"{error.what} ({error.why})", update)
        return
    drawn = {key: picture for renderer in context.renderers for key, picture in renderer.formulas.items()}
    for key, picture in drawn.items():
        if recorded.get(key) != picture:
            yield BookFinding(path, 0, "formula", f"not recorded as it would be drawn: {key}", update)
    if not any(renderer.problems for renderer in context.renderers):
        for key in recorded.keys() - drawn:
            yield BookFinding(path, 0, "formula", f"no page shows this formula: {key}", update)
