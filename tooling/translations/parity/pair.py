"""A page and its translation: which lines correspond, and where missing text should be."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from tooling.mdbook.books import Library
from tooling.mdbook.pages import Page
from tooling.translations.diff.places import Places
from tooling.translations.parity.findings import Findings, Lines
from tooling.translations.parity.names import Names
from tooling.translations.writing_systems import WritingSystem


class Alignment(Struct, frozen=True):
    """Lines of the source and of the translation that correspond, both increasing, starting at (1, 1).

    Attributes:
        source, target: the lines at which sections begin.
        places: of lines inside the sections.
    """

    source: tuple[int, ...]
    target: tuple[int, ...]
    places: Places

    def at_source(self, line: int) -> Lines:
        """A line of the source, with the line of the translation where its text should be."""
        return line, self.places.at(line)

    def at_target(self, line: int) -> Lines:
        """A line of the translation, after the line of the source that it was translated from."""
        return self.source[max(bisect_right(self.target, line) - 1, 0)], line


class ComparedPages(Struct, frozen=True):
    """The input of the rules for text, and the collector of their findings."""

    source: Page
    target: Page
    names: Names
    alignment: Alignment
    library: Library | None
    findings: Findings
    writing: WritingSystem


class Item(Struct, frozen=True):
    """An item of a page that its translation must have too: its common name and its line."""

    name: str
    line: int


class Difference(Struct, frozen=True):
    """Items of one page without a partner in the other, in order of lines."""

    missing: list[Item]
    extra: list[Item]

    def __bool__(self) -> bool:
        return bool(self.missing or self.extra)


NO_DIFFERENCE = Difference([], [])


def difference(ours: Sequence[Item], theirs: Sequence[Item], alignment: Alignment) -> Difference:
    """The items that one page has more often than the other.

    Where a name occurs several times, the occurrence is taken from a section that has too many of it.
    """
    counts = Counter(item.name for item in ours)
    counts.subtract(item.name for item in theirs)
    if not any(counts.values()):
        return NO_DIFFERENCE
    placed = [(item, bisect_right(alignment.source, item.line)) for item in ours if counts[item.name]]
    copied = [(item, bisect_right(alignment.target, item.line)) for item in theirs if counts[item.name]]
    sections = Counter((item.name, section) for item, section in placed)
    sections.subtract((item.name, section) for item, section in copied)
    missing = {name: count for name, count in counts.items() if count > 0}
    extra = {name: -count for name, count in counts.items() if count < 0}
    return Difference(_surplus(placed, missing, sections, 1), _surplus(copied, extra, sections, -1))


def _surplus(
    placed: list[tuple[Item, int]], wanted: dict[str, int], sections: Counter[tuple[str, int]], sign: int
) -> list[Item]:
    chosen: list[tuple[int, Item]] = []
    for careful in (True, False):  # first where a section has too many, then anywhere
        for index, (item, section) in enumerate(placed):
            if wanted.get(item.name, 0) <= 0 or (index, item) in chosen:
                continue
            if careful and sections[item.name, section] * sign <= 0:
                continue
            sections[item.name, section] -= sign
            wanted[item.name] -= 1
            chosen.append((index, item))
    return [item for _, item in sorted(chosen, key=lambda entry: entry[0])]
