"""Checks that the names of code in the text exist in the code that the page is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from tooling.book.checks.context import Chapter, CheckContext
from tooling.book.checks.finding import BookFinding
from tooling.mdbook.includes import find_directives
from tooling.platform.regular_files import names_file, names_something, read_text

_NAME = re.compile(r"[A-Za-z_]\w+")
_PATH = re.compile(r"[\w./-]+\.(?:mojo|py|md|toml|yaml|txt)")
_NEAR = ("tooling", "uv", "pixi", "poe")
_FLAGS_OF_ALL = {
    "--solution",
    "--full-size",
    "--hint",
    "--help",
    "--target sim",
    "--target nvidia",
    "--lang ko",
    "--extra max",
    "--extra torch",
}


def check_identifiers(context: CheckContext) -> Iterator[BookFinding]:
    """Names in code spans must be names of the puzzle's programs or of the list of exceptions."""
    allowed = _allowed(context.project.root / "book" / "identifiers.txt")
    for chapter in context.real_chapters():
        known = allowed | _known(context, chapter)
        for code in chapter.page.structure.codes:
            if code.text in allowed:
                continue
            if _PATH.fullmatch(code.text):
                folders = (context.project.root, chapter.page.path.parent)
                if not any(names_something(folder / code.text) for folder in folders):
                    yield context.finding(chapter, code.line, "identifier", f"there is no file `{code.text}`")
                continue
            if code.text.split(" ", 1)[0] in _NEAR or code.text.startswith("--"):
                yield from _flag(context, chapter, code.text, code.line)
                continue
            for name in _NAME.findall(code.text):
                if name not in known:
                    yield context.finding(
                        chapter,
                        code.line,
                        "identifier",
                        f"`{name}` (in `{code.text}`) is not a name in the programs of this page",
                        "correct it, or add it to book/identifiers.txt with a reason",
                    )


def _flag(context: CheckContext, chapter: Chapter, text: str, line: int) -> Iterator[BookFinding]:
    """A lone flag such as `--tiled` is one of the puzzle's; commands are checked by `commands`."""
    if not text.startswith("--") or text in _FLAGS_OF_ALL:
        return
    puzzle = context.puzzle_of(chapter.path)
    flags = {flag for mode in puzzle.modes for flag in mode.flags} if puzzle else set()
    if text not in flags:
        yield context.finding(chapter, line, "identifier", f"`{text}` is not a flag of this puzzle")


def _known(context: CheckContext, chapter: Chapter) -> frozenset[str]:
    """The words of the puzzle's programs and demos, and of the recordings (`.txt`) that the page includes.

    For pages outside the puzzles, of all programs.
    """
    puzzle = context.puzzle_of(chapter.path)
    puzzles = [puzzle] if puzzle else context.puzzles
    words: set[str] = set()
    for each in puzzles:
        for program in each.programs:
            words.add(program.name)
            for source in program.sources:
                words |= _words(source.problem) | _words(source.solution)
    if puzzle:
        for demo in context.editions[0].page(chapter.path).parent.glob("*.mojo"):
            words |= _words(demo)
    for directive in find_directives(chapter.text):
        if directive.includes and directive.path.endswith(".txt"):
            words |= _words(Path(context.library.files.real(chapter.page.path.parent, directive.path)))
    return frozenset(words)


@lru_cache(maxsize=256)
def _words(path: Path) -> frozenset[str]:
    return frozenset(_NAME.findall(read_text(path))) if names_file(path) else frozenset()


def _allowed(path: Path) -> frozenset[str]:
    """The exceptions: words and whole code spans, one a line, with a reason after `#`."""
    lines = read_text(path).splitlines()
    return frozenset(line.partition("#")[0].strip() for line in lines) - {""}
