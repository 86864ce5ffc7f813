"""SUMMARY.md: the parts and chapters of an edition, in reading order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path

from msgspec import Struct

from tooling.book.errors import BookError
from tooling.platform.errors import Location
from tooling.platform.regular_files import read_text

_ENTRY = re.compile(
    r"^(?P<indent>\s*)(?:[-*+]\s+)?\[(?P<title>(?:[^\]\\]|\\.)*)\]\(<?(?P<path>[^)>]*)>?\)\s*$"
)
_PART = re.compile(r"^#\s+(?P<title>.+?)\s*$")


class Entry(Struct, frozen=True):
    """One chapter of the contents.

    Attributes:
        title: as shown in the contents.
        path: the chapter file, relative to `src`; empty for a draft.
        level: 0 for a chapter, 1 for a page below it, …
        part: the title of its part; empty in the front matter.
        line: its line in SUMMARY.md, counted from 1.
    """

    title: str
    path: str
    level: int
    part: str
    line: int

    @property
    def page(self) -> str:
        """The page's address inside its edition."""
        return self.path.removesuffix(".md") + ".html"


@lru_cache(maxsize=8)  # a build calls this several times
def parse_summary(text: str) -> tuple[Entry, ...]:
    """The chapters of a SUMMARY.md; its title line, separators and blank lines are skipped."""
    entries: list[Entry] = []
    part = ""
    indents: list[int] = [0]
    seen_title = False
    for number, line in enumerate(text.splitlines(), 1):
        heading = _PART.match(line)
        if heading:
            if seen_title or entries:
                part = heading["title"]
            seen_title = True
            continue
        match = _ENTRY.match(line)
        if not match:
            continue
        indent = len(match["indent"].expandtabs(4))
        while indent < indents[-1]:
            indents.pop()
        if indent > indents[-1]:
            indents.append(indent)
        entries.append(Entry(match["title"], match["path"], len(indents) - 1, part, number))
    return tuple(entries)


def summary_text(entries: Sequence[Entry]) -> str:
    """The contents as a SUMMARY.md."""
    lines = ["# Summary", ""]
    for part, members in groupby(entries, key=lambda entry: entry.part):
        if part:
            lines += ["", f"# {part}", ""]
        lines += [f"{'  ' * each.level}{'- ' if part else ''}[{each.title}]({each.path})" for each in members]
    return "\n".join(lines) + "\n"


def read_summary(source: Path) -> tuple[Entry, ...]:
    """The chapters of the edition whose `src` folder is given.

    Raises:
        BookError: a chapter is not below that folder.
    """
    path = source / "SUMMARY.md"
    entries = parse_summary(read_text(path))
    for entry in entries:
        if entry.path.startswith("/") or ".." in entry.path.split("/"):
            raise BookError(
                f"the chapter `{entry.path}` is not below the book's source folder",
                where=Location(path, entry.line),
                why="a build writes each chapter to the same path below its own folder",
                hint=f"move the file into {source}, and name it from there without `..`",
            )
    return entries
