"""Checks contents and titles: the same existing chapters in both editions, with the manifests' titles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise, zip_longest

from tooling.book.chapters import NOT_FOUND
from tooling.book.checks.context import Chapter, CheckContext
from tooling.book.checks.finding import BookFinding
from tooling.book.figures import texts
from tooling.book.phrases import pick, say
from tooling.mdbook.includes import find_directives
from tooling.mdbook.markup import Fence
from tooling.platform.regular_files import names_file

_MARKER = re.compile(
    r"(<!-- i18n-source-commit: [0-9a-f]{40} -->\n)?<!-- i18n-source-blob: [0-9a-f]{40} -->\n"
)
_INTERNAL = ("_includes", texts.TEXTS_PAGE)
_NUMBER = re.compile(r"\d+")
_WITHOUT_FIGURE = {  # and what they show instead
    "introduction.md": "an output and a verdict",
    "howto.md": "commands",
    "glossary.md": "a list of terms",
    "basics/mojo.md": "programs with their output",
    "bonuses/part4.md": "exercises on programs that other pages show",
}


def check_summary(context: CheckContext) -> Iterator[BookFinding]:
    """Both SUMMARY files list the same files at the same depth, and every file exists once."""
    source, *others = context.editions
    wanted = context.summaries[source.language]
    for edition in context.editions:
        path = context.name(edition.source / "SUMMARY.md")
        seen: set[str] = set()
        for entry in context.summaries[edition.language]:
            # A page that is not translated yet is shown in the source language.
            if edition is source and entry.path and not names_file(edition.page(entry.path)):
                yield BookFinding(path, entry.line, "summary", f"there is no chapter {entry.path}")
            if entry.path in seen:
                yield BookFinding(path, entry.line, "summary", f"{entry.path} is listed twice")
            seen.add(entry.path)
    for edition in others:
        path = context.name(edition.source / "SUMMARY.md")
        for one, other in zip_longest(wanted, context.summaries[edition.language]):
            if one is None:
                yield BookFinding(
                    path, other.line, "summary", f"{other.path} is not in the {source.name} contents"
                )
            elif other is None:
                yield BookFinding(path, 0, "summary", f"{one.path} is missing at the end")
            elif (one.path, one.level) != (other.path, other.level):
                message = f"this is {other.path}, but the {source.name} contents have {one.path}"
                if one.path == other.path:
                    message = f"{one.path} has another depth than in the {source.name} contents"
                yield BookFinding(path, other.line, "summary", message)
                break
        parts = [
            len({entry.part for entry in entries})
            for entries in (wanted, context.summaries[edition.language])
        ]
        if parts[0] != parts[1]:
            yield BookFinding(
                path, 0, "summary", f"{parts[1]} parts here, {parts[0]} in the {source.name} contents"
            )


def check_titles(context: CheckContext) -> Iterator[BookFinding]:
    """A puzzle's first page has its number and title; every page's heading agrees with the contents."""
    for edition in context.editions:
        language = edition.language
        chapters = context.chapters_of(language)
        path = context.name(edition.source / "SUMMARY.md")
        for entry in context.summaries[language]:
            chapter = chapters.get(entry.path)
            if chapter is None or not chapter.page.structure.headings:
                continue
            heading = chapter.page.structure.headings[0]
            puzzle = context.puzzle_of(entry.path)
            if puzzle is None:
                if heading.text != entry.title:
                    message = f"the contents call it `{entry.title}`, the page `{heading.text}`"
                    yield context.finding(chapter, heading.line, "title", message)
                continue
            number = say("puzzle", language, number=puzzle.number)
            if entry.path not in puzzle.chapters:
                yield BookFinding(
                    path,
                    entry.line,
                    "title",
                    f"{entry.path} is not a chapter of {puzzle.id}",
                    f"see {puzzle.id}/puzzle.yaml",
                )
            is_first = entry.path == puzzle.chapters[0]
            wanted = f"{number}: {pick(puzzle.title, language) if is_first else entry.title}"
            if is_first and entry.title != wanted:
                yield BookFinding(path, entry.line, "title", f"`{entry.title}` should be `{wanted}`")
            if heading.text != wanted:
                message = f"the heading is `{heading.text}`, by the contents and the manifest `{wanted}`"
                yield context.finding(chapter, heading.line, "title", message)


def check_orphans(context: CheckContext) -> Iterator[BookFinding]:
    """Chapter files that no SUMMARY names."""
    for edition in context.editions:
        listed = {entry.path for entry in context.summaries[edition.language]} | {"SUMMARY.md", NOT_FOUND}
        for file in sorted(edition.source.rglob("*.md")):
            path = file.relative_to(edition.source)
            if path.as_posix() not in listed and path.parts[0] not in _INTERNAL:
                yield BookFinding(context.name(file), 0, "orphan", "no SUMMARY.md names this chapter")


def check_headings(context: CheckContext) -> Iterator[BookFinding]:
    """One heading of level 1, at the top, and no level skipped on the way down."""
    for chapter in context.chapters:
        headings = chapter.page.structure.headings
        if not headings or headings[0].level != 1:
            line = headings[0].line if headings else 1
            yield context.finding(
                chapter, line, "headings", "the page does not begin with a heading of level 1"
            )
            continue
        for before, heading in pairwise(headings):
            if heading.level == 1:
                yield context.finding(chapter, heading.line, "headings", "a second heading of level 1")
            elif heading.level > before.level + 1:
                yield context.finding(
                    chapter, heading.line, "headings", f"level {heading.level} below level {before.level}"
                )


def check_fences(context: CheckContext) -> Iterator[BookFinding]:
    """Code blocks name their language and are closed."""
    for chapter in context.chapters:
        for mark in chapter.page.structure.marks:
            if isinstance(mark, Fence) and mark.fenced and not mark.language:
                yield context.finding(
                    chapter, mark.line, "fence", "the code block names no language", "`text` if it is none"
                )
        if len(re.findall(r"^ {0,3}```", chapter.text, re.MULTILINE)) % 2:
            yield context.finding(chapter, 0, "fence", "a code block is never closed")


def check_markers(context: CheckContext) -> Iterator[BookFinding]:
    """Translated pages begin with the marker of their source; source pages have no marker."""
    for chapter in context.chapters:
        translated = chapter.edition.prefix != ""
        if translated and not _MARKER.match(chapter.text):
            yield context.finding(
                chapter,
                1,
                "marker",
                "the page does not begin with the marker of its source",
                "tooling check-translations stamp",
            )
        if not translated and "i18n-source-" in chapter.text:
            yield context.finding(chapter, 1, "marker", "a source page has the marker of a translation")


def check_page_figures(context: CheckContext) -> Iterator[BookFinding]:
    """A page shows a figure or a replay, and no figure is on two pages: each shows what its own text says."""
    shown: dict[tuple[str, str], str] = {}
    for chapter in context.real_chapters():
        pictures = [each for each in find_directives(chapter.text) if each.name in {"figure", "replay"}]
        if not pictures and chapter.path not in _WITHOUT_FIGURE:
            message = "the page has neither a figure nor a replay"
            yield context.finding(chapter, 0, "page-figure", message, "see `Directives` in book/WRITING.md")
        for each in pictures:
            name = each.argument.strip()
            other = shown.setdefault((chapter.edition.language, name), chapter.path)
            if each.name == "figure" and other != chapter.path:
                line = chapter.line_of(each.start)
                message = f"the figure {name} is on {other} as well"
                yield context.finding(chapter, line, "page-figure", message, "link to that page")


def check_parts(context: CheckContext) -> Iterator[BookFinding]:
    """A page with code to complete has all the elements that a reader needs."""
    for chapter in context.real_chapters():
        if not _shows_code_to_complete(context, chapter):
            continue
        for mark, meaning in (
            ("{{#puzzle ", "what the puzzle needs"),
            ("{{#run ", "commands"),
            ("{{#hints ", "tips"),
            ("{{#output ", "output"),
            ('<details class="solution-details">', "folded solution"),
            ('<div class="solution-explanation">', "explanation of the solution"),
            ('class="filename"', "link to the full file"),
        ):
            if mark not in chapter.text:
                yield context.finding(
                    chapter, 0, "parts", f"the page has no {meaning}", f"add {mark.strip()} …"
                )
        _, _, rest = chapter.text.partition('<details class="solution-details">')
        yield from _open_solutions(context, chapter, len(chapter.text) - len(rest))


def _shows_code_to_complete(context: CheckContext, chapter: Chapter) -> bool:
    """Whether a page includes a region that the learner fills in, not only the program around it."""
    shown = set(re.findall(r"\{\{#include \S*/problems/[^\s:}]+:(\w+)", chapter.text))
    puzzle = context.puzzle_of(chapter.path)
    if puzzle is None:
        return bool(shown)
    return bool(shown & puzzle.regions_to_complete)


def _open_solutions(context: CheckContext, chapter: Chapter, folded_from: int) -> Iterator[BookFinding]:
    """Solutions must be folded, so that readers do not see them by accident."""
    for match in re.finditer(r"\{\{#include \S*/solutions/", chapter.text):
        if match.start() < folded_from:
            line = chapter.line_of(match.start())
            yield context.finding(chapter, line, "parts", "a solution is not folded", "fold it")
