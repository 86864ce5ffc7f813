"""Names of code in the text: each of them exists in the code that the page is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from tooling.book.checks.context import Chapter, CheckContext
from tooling.book.checks.finding import BookFinding

_NAME = re.compile(r"[A-Za-z_]\w+")
_PATH = re.compile(r"[\w./-]+\.(?:mojo|py|md|toml|yaml|txt)")
_NEAR = ("tooling", "uv", "pixi", "poe")
_FLAGS_OF_ALL = {
    "--solution",
    "--hint",
    "--help",
    "--target sim",
    "--lang ko",
    "--extra max",
    "--extra torch",
}


def check_identifiers(context: CheckContext) -> Iterator[BookFinding]:
    """Names in code spans are names of the puzzle's programs, or of the list that needs no proof."""
    allowed = _allowed(context.project.root / "book" / "identifiers.txt")
    for chapter in context.real_chapters():
        known = allowed | _known(context, chapter)
        for code in chapter.page.structure.codes:
            if code.text in allowed:
                continue
            if _PATH.fullmatch(code.text):
                if (
                    not (context.project.root / code.text).exists()
                    and not (chapter.page.path.parent / code.text).exists()
                ):
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
                        f"`{name}` (in `{code.text}`) is no name of the programs of this page",
                        "correct it, or add it to book/identifiers.txt with a reason",
                    )


def _flag(context: CheckContext, chapter: Chapter, text: str, line: int) -> Iterator[BookFinding]:
    """A lone flag such as `--tiled` is one of the puzzle's; commands are checked by `commands`."""
    if not text.startswith("--") or text in _FLAGS_OF_ALL:
        return
    puzzle = context.puzzle_of(chapter.path)
    flags = {flag for mode in puzzle.modes for flag in mode.flags} if puzzle else set()
    if text not in flags:
        yield context.finding(chapter, line, "identifier", f"`{text}` is no flag of this puzzle")


def _known(context: CheckContext, chapter: Chapter) -> frozenset[str]:
    """The words of the puzzle's programs and demos; of all programs, for pages outside the puzzles."""
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
    return frozenset(words)


@lru_cache(maxsize=256)
def _words(path: Path) -> frozenset[str]:
    return frozenset(_NAME.findall(path.read_text(encoding="utf-8"))) if path.is_file() else frozenset()


def _allowed(path: Path) -> frozenset[str]:
    """The list of words and whole code spans that need no proof: one a line, a reason after `#`."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return frozenset(line.partition("#")[0].strip() for line in lines) - {""}
