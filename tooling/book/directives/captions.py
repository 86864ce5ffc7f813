"""Captions of code: which lines of which file a block shows, and which of them the learner had to write."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from tooling.mdbook.files import Files
from tooling.mdbook.includes import find_directives, take

_BLOCK = re.compile(
    r"^```(?P<language>mojo|python)\n(?P<code>(?:\{\{#include [^}\n]+\}\}\n+)+)```$", re.MULTILINE
)
_WRITTEN = re.compile(r"^([ \t]*)# (?:(?P<opening>FILL: .*|FIX)|END_FILL|END_FIX)\n", re.MULTILINE)
_ANCHOR = re.compile(r"[ \t]*# ANCHOR(?:_END)?: ")
_STUB = re.compile(r"^[ \t]*# STUB:.*\n", re.MULTILINE)  # what the problem file has instead of an answer
OPENING, CLOSING = "\ue000", "\ue001"
"""Lines around the lines that the learner had to write, until the block is highlighted."""
REMOVED = "\ue002"
"""The end of a line of the solution that a wrong answer lacks."""
NAMED = "\ue003"
"""The end of a line that the verdict names."""


def name_sources(text: str, page: Path, files: Files, root: Path) -> str:
    """A chapter whose blocks of included code name their file: `mojo,file:problems/p01/p01.mojo#L3-L9@3-9`.

    An empty line separates excerpts between which lines of code are left out.

    After `@` are the lines that are shown, as ranges, with 0 for a line that the page adds: `3-5+0-0+7-9`.

    Args:
        text: the chapter, its includes not yet expanded.
        page: its file.
        root: of the checkout; the names of files are relative to it.
    """

    def add(block: re.Match[str]) -> str:
        code = block["code"]
        shown = {code.count("\n", 0, each.start): each for each in find_directives(code) if each.includes}
        paths = {files.real(page.parent, each.path) for each in shown.values()}
        try:
            (path,) = paths
            content = files.text(path)
        except (ValueError, OSError):  # several files, or a problem that the expansion reports
            return block[0]
        source = content.splitlines(keepends=True)
        numbers: list[int] = []
        spaced = ""
        for line, directive in enumerate(code.splitlines(keepends=True)):
            each = shown.get(line)
            found = take(each.kind, each.selector, content).numbers if each else (0,)
            if numbers and found and numbers[-1] and _is_gap(source, numbers[-1], found[0]):
                numbers.append(0)
                spaced += "\n"
            numbers += found
            spaced += directive
        if not any(numbers):
            return block[0]
        numbers = [number for number in numbers if not (number and is_mark(source[number - 1]))]
        lines = [number for number in numbers if number]
        file = Path(path).relative_to(os.path.realpath(root)).as_posix()
        fence = f"```{block['language']},file:{file}#L{min(lines)}-L{max(lines)}@{ranges(numbers)}"
        return f"{fence}\n{spaced}```"

    return _BLOCK.sub(add, text)


def _is_gap(source: Sequence[str], last: int, following: int) -> bool:
    """Whether code is left out between two lines of a file, or the order is another one."""
    omitted = source[last : following - 1]
    return following <= last or any(line.strip() and not _ANCHOR.match(line) for line in omitted)


def ranges(numbers: Sequence[int]) -> str:
    """Numbers of lines in their order, as ranges such as `3-5+0-0+7-9`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return "+".join(f"{first}-{last}" for first, last in runs)


def is_mark(line: str) -> bool:
    """Whether a line with its line feed is a mark for teaching, which no page shows."""
    return bool(_WRITTEN.match(line) or _STUB.match(line))


def mark_written(text: str) -> str:
    """Code without teaching marks; those around the learner's lines became OPENING and CLOSING."""
    text = _STUB.sub("", text)
    return _WRITTEN.sub(lambda mark: f"{mark[1]}{OPENING if mark['opening'] else CLOSING}\n", text)
