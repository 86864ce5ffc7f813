"""The preprocessor that mdBook starts: reads a book, renders every chapter, writes it back.

Any problem fails the build: all of them are printed, and the exit status is not 0.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tooling.book.directives import banner, formulas, protocol
from tooling.book.directives.chapter_renderer import ChapterRenderer
from tooling.book.editions import editions
from tooling.book.errors import BookError, BookErrors
from tooling.book.figure_numbers import number_figures
from tooling.book.puzzle_index import PuzzleIndex
from tooling.mdbook.files import Files
from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.project import find_project


def main(arguments: list[str]) -> int:
    """Answers mdBook's query `supports RENDERER`, or renders the book on standard input."""
    if arguments[:1] == ["supports"]:
        return ExitCode.PASSED if arguments[1:] == ["html"] else ExitCode.WRONG
    try:
        context, book = protocol.read(sys.stdin)
        renderer = _renderer(context)
        for chapter in book.chapters():
            if chapter.path:
                chapter.content = renderer.render(chapter.path, chapter.content)
        if renderer.problems:
            raise BookErrors(renderer.problems)
        book.write(sys.stdout)
    except ToolingError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return ExitCode.PASSED


def _renderer(context: protocol.Context) -> ChapterRenderer:
    project = find_project(context.root)
    every = editions(project)
    for edition in every:
        if edition.folder.resolve() == Path(context.root).resolve():
            states = None if edition.prefix == "" else banner.load(project, edition)
            return ChapterRenderer(
                edition,
                PuzzleIndex(project),
                states,
                Files(project.root),
                formulas.load(project),
                number_figures(every[0]),
            )
    raise BookError(f"{context.root} is not an edition of this book", hint="see tooling/book/editions.py")


if __name__ == "__main__":
    sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.exit(main(sys.argv[1:]))
