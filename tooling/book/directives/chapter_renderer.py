"""Renders one chapter to the Markdown that mdBook reads.

Order matters: first the directives of this book are rendered and replaced by placeholders, then mdBook's
includes are expanded strictly, then the placeholders are replaced by the results. A directive can therefore
be anywhere, and every problem names the line in the chapter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field

from tooling.book import recordings
from tooling.book.chapters import chapter_files
from tooling.book.directives import (
    banner,
    cards,
    commands,
    contents,
    demos,
    measurements,
    messages,
    pictures,
    replays,
    verdicts,
)
from tooling.book.directives.captions import name_sources, without_marks
from tooling.book.directives.formulas import render_formulas
from tooling.book.directives.tabs import OpenTabs
from tooling.book.editions import Edition, editions
from tooling.book.errors import BookError
from tooling.book.figure_numbers import FigureNumber, number_figures
from tooling.book.listings import Listings
from tooling.book.page import PageContext, Renderer, Words
from tooling.book.phrases import say
from tooling.book.puzzle_index import PuzzleIndex
from tooling.mdbook.expansion import expand
from tooling.mdbook.files import Files
from tooling.mdbook.includes import Directive, Kind, find_directives
from tooling.platform.errors import Location, ToolingError
from tooling.project import Project


def constant(page: PageContext, words: Words) -> str:
    """`{{#constant PROGRAM NAME}}`: an integer constant of the program, or a tuple of integers."""
    program, name = words
    return page.puzzle_index.shown_constant(program, name)


DIRECTIVES: dict[str, Renderer] = {
    "puzzle": cards.puzzle,
    "compatibility": cards.compatibility,
    "map": cards.puzzle_map,
    "count": contents.count,
    "path": contents.path,
    "letters": cards.letters,
    "hints": cards.hints,
    "run": commands.run,
    "output": recordings.output,
    "verdict": verdicts.verdict,
    "wrong": verdicts.wrong_code,
    "corrected": verdicts.corrected_code,
    "demo": demos.demo,
    "times": measurements.times,
    "sizes": measurements.sizes,
    "says": messages.says,
    "version": messages.version,
    "figure": pictures.figure,
    "figure_ref": pictures.figure_ref,
    "replay": replays.replay,
    "constant": constant,
}
TAB_DIRECTIVES = ("tabs", "tab", "end")


class IncludeError(BookError):
    """An include does not show what its author intended."""


_MARKER = re.compile(r"\A<!-- i18n-source-commit: [^\n]*-->\n(?:<!-- i18n-source-blob: [^\n]*-->\n)?")
_EMPTY_SUMMARY = "<summary></summary>"
_UNKNOWN = re.compile(r"\{\{\s*#\s*(\w+)[^}]*\}?\}?")
_PLACEHOLDER = "\x02{}\x03"
_PLACEHOLDERS = re.compile("\x02(\\d+)\x03")


class ChapterRenderer(Struct):
    """Renders the chapters of one edition.

    Attributes:
        edition: the language.
        puzzle_index: the puzzles.
        states: how fresh each translated page is; None for the source language.
        files: what the pages include, as read so far; its root is the checkout.
        formulas: as drawn so far, see `formulas.render_formulas`.
        numbers: of the figures, see `figure_numbers.number_figures`.
        problems: all problems found so far.
        included: the real paths of the files that the last rendered page includes.
        listings: of the last rendered page.
    """

    edition: Edition
    puzzle_index: PuzzleIndex
    states: banner.States | None
    files: Files
    formulas: dict[str, str] = field(default_factory=dict)
    numbers: Mapping[str, FigureNumber] = field(default_factory=dict)
    problems: list[ToolingError] = field(default_factory=list)
    included: frozenset[str] = frozenset()
    listings: Listings = field(default_factory=dict)

    def render(self, path: str, text: str, *, generated: bool = False) -> str:
        """The chapter for mdBook; problems are added to `problems`.

        Args:
            path: the chapter file, relative to `src`.
            text: the chapter as written.
            generated: the text was made from the puzzle, so it is not a translation.
        """
        page = PageContext(self.edition, path, text, self.puzzle_index, self.numbers)
        # The folder of a generated page may not exist, so its includes start at `src`.
        source = self.edition.page("SUMMARY.md" if generated else path)
        masked, results = self._extract_directives(page)
        masked = name_sources(masked, source, self.files, self.puzzle_index.project.root, page.listings)
        self.listings = page.listings
        expansion = expand(masked, source, self.files)
        self.included = frozenset(use.path for use in expansion.uses)
        self.problems += [
            IncludeError(problem.message, where=problem.where, hint=problem.hint)
            for problem in expansion.problems
        ]
        body = without_marks(expansion.text)
        body = _PLACEHOLDERS.sub(lambda match: results[int(match[1])], body)
        body = body.replace(_EMPTY_SUMMARY, f"<summary>{say('solution', self.edition.language)}</summary>")
        try:
            body = render_formulas(body, self.formulas)
        except BookError as error:
            self.problems.append(_with_source(error, source))
        if self.states is None or generated:
            return body
        return banner.insert(body, banner.render(page, self.states), _MARKER)

    def _extract_directives(self, page: PageContext) -> tuple[str, list[str]]:
        """The text with each directive of the book replaced by a placeholder, and the rendered directives."""
        found = [each for each in find_directives(page.text) if each.kind is Kind.OTHER]
        tabs = OpenTabs(_labels(found))
        results: list[str] = []
        text: list[str] = []
        done = 0
        for directive in found:
            text += (page.text[done : directive.start], _PLACEHOLDER.format(len(results)))
            text.append("\n" * directive.text.count("\n"))
            done = directive.end
            results.append(self._render(page, directive, tabs))
        text.append(page.text[done:])
        self._try(page, len(page.text), tabs.finish)
        masked = "".join(text)
        known = {directive.start for directive in find_directives(page.text)}
        for match in _UNKNOWN.finditer(page.text):
            if match.start() not in known and not _escaped(page.text, match.start()):
                self._refuse(page, match.start(), match[0])
        return masked, results

    def _render(self, page: PageContext, directive: Directive, tabs: OpenTabs) -> str:
        words = directive.argument.split()
        render = DIRECTIVES.get(directive.name) or (
            getattr(tabs, directive.name) if directive.name in TAB_DIRECTIVES else None
        )
        if render is None:
            self._refuse(page, directive.start, directive.text)
            return ""
        return self._try(page, directive.start, lambda: render(page, words))

    def _try(self, page: PageContext, offset: int, render: Callable[[], str]) -> str:
        """Runs one directive; a failure becomes a problem at the directive's line."""
        try:
            return render()
        except ToolingError as error:
            problem = BookError(error.what, where=_location(page, offset), why=_why(error), hint=error.hint)
        except ValueError as error:
            problem = BookError(
                "the directive has too few or too many words", where=_location(page, offset), why=str(error)
            )
        self.problems.append(problem)
        return ""

    def _refuse(self, page: PageContext, offset: int, text: str) -> None:
        names = ", ".join(sorted((*DIRECTIVES, *TAB_DIRECTIVES, "include")))
        self.problems.append(
            BookError(
                f"`{text.strip()}` is not a directive of this book",
                where=_location(page, offset),
                why="readers would see it as text",
                hint=f"one of: {names}",
            )
        )


def render_everything(
    project: Project, puzzle_index: PuzzleIndex, only: frozenset[str] | None = None
) -> tuple[ChapterRenderer, ...]:
    """Renders every chapter of all editions, or the chapters in `only`.

    The renderers share files and newly drawn formulas.
    """
    drawn: dict[str, str] = {}
    files = Files(project.root)
    every = editions(project)
    numbers = number_figures(every[0])
    renderers = tuple(
        ChapterRenderer(edition, puzzle_index, None, files, drawn, numbers) for edition in every
    )
    for renderer in renderers:
        for chapter in chapter_files(renderer.edition):
            if only is not None and chapter.path not in only:
                continue
            renderer.render(chapter.path, chapter.text)
    return renderers


def _location(page: PageContext, offset: int) -> Location:
    return Location(page.edition.page(page.path), page.text.count("\n", 0, offset) + 1)


def _labels(directives: Sequence[Directive]) -> list[list[str]]:
    """The tab labels of each group of a page, in order."""
    labels: list[list[str]] = []
    for directive in directives:
        if directive.name == "tabs":
            labels.append([])
        elif directive.name == "tab" and labels:
            labels[-1].append(" ".join(directive.argument.split()))
    return labels


def _escaped(text: str, offset: int) -> bool:
    """Whether an escape precedes this offset in the line; an escape extends to the line's last `}}`."""
    start = text.rfind("\n", 0, offset) + 1
    return "\\{{#" in text[start : offset + 3]


def _why(error: ToolingError) -> str | None:
    return f"{error.where}: {error.why or ''}".rstrip(": ") if error.where else error.why


def _with_source(error: ToolingError, source: object) -> BookError:
    return BookError(f"{error.what} (in {source})", why=error.why, hint=error.hint)
