"""Captions of code: which lines of which file a block shows, and which of them the learner had to write."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from tooling.book.listings import Listing, Listings, opening_fence
from tooling.mdbook.files import Files
from tooling.mdbook.includes import find_directives, take

_BLOCK = re.compile(
    r"^```(?P<language>mojo|python)\n(?P<code>(?:\{\{#include [^}\n]+\}\}\n+)+)```$", re.MULTILINE
)
_MARK = re.compile(
    r"^[ \t]*# (?:(?P<opening>FILL: .*|FIX)|(?P<closing>END_FILL|END_FIX)|STUB:.*)\n", re.MULTILINE
)
"""A mark for teaching; STUB is what the problem file has instead of an answer."""
_ANCHOR = re.compile(r"[ \t]*# ANCHOR(?:_END)?: ")


def name_sources(text: str, page: Path, files: Files, root: Path, listings: Listings) -> str:
    """A chapter whose blocks of included code are listings of their files.

    An empty line separates excerpts between which lines of code are left out.

    Args:
        text: the chapter, its includes not yet expanded.
        page: its file.
        root: of the checkout; the names of files are relative to it.
        listings: of the page; those of the blocks are added.
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
        kept, written = teaching_marks([source[number - 1] if number else "\n" for number in numbers])
        file = Path(path).relative_to(os.path.realpath(root)).as_posix()
        listing = Listing(file, tuple(numbers[row] for row in kept), written)
        return f"{opening_fence(listing, listings, block['language'])}\n{spaced}```"

    return _BLOCK.sub(add, text)


def _is_gap(source: Sequence[str], last: int, following: int) -> bool:
    """Whether code is left out between two lines of a file, or the order is another one."""
    omitted = source[last : following - 1]
    return following <= last or any(line.strip() and not _ANCHOR.match(line) for line in omitted)


def teaching_marks(lines: Sequence[str]) -> tuple[list[int], tuple[tuple[int, int], ...]]:
    """The lines, with their line feeds, that are no marks for teaching, and which of those the learner wrote.

    Returns:
        The indices of the lines that a page shows, and ranges (start, stop) of these: of the lines between an
        opening mark and a closing one. There are none in an excerpt from the inside of such a region.
    """
    kept: list[int] = []
    edges: list[tuple[bool, int]] = []
    for index, line in enumerate(lines):
        mark = _MARK.match(line)
        if mark is None:
            kept.append(index)
        elif mark["opening"] or mark["closing"]:
            edges.append((mark["opening"] is not None, len(kept)))
    if [opens for opens, _ in edges] != [True, False] * (len(edges) // 2):
        return kept, ()
    rows = [row for _, row in edges]
    return kept, tuple(zip(rows[::2], rows[1::2], strict=True))


def is_mark(line: str) -> bool:
    """Whether a line with its line feed is a mark for teaching, which no page shows."""
    return _MARK.match(line) is not None


def without_marks(text: str) -> str:
    """Code without the marks for teaching."""
    return _MARK.sub("", text)
