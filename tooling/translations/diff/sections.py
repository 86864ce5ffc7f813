"""Maps changes of the source to lines of the translation: heading by heading, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from tooling.translations.diff.blocks import Block, BlockKind
from tooling.translations.diff.changes import Anchor, BlockChange, Comparison, Edit
from tooling.translations.diff.text import PageText, Section
from tooling.translations.model import ChangeClass, LineRange, SectionChange


class Counterpart(Struct, frozen=True):
    """The lines of the translation that correspond to a block or a section of the source."""

    lines: LineRange | None
    ordinal: int | None
    precise: bool
    approximate: bool


_NOWHERE = Counterpart(None, None, precise=False, approximate=False)


class Locator:
    """Finds, for the blocks of the source as it was pinned, their counterparts in the translation.

    When both have the same sequence of heading levels, heading n belongs to heading n; otherwise headings are
    matched by the longest common sequence of levels and the answer is called approximate. Inside a section
    blocks are matched one to one when their kinds agree.
    """

    def __init__(self, source: PageText, target: PageText) -> None:
        self._source, self._target = source, target
        self._agreeing: dict[int, bool] = {}  # section of the source -> do its blocks agree, one by one?
        levels, target_levels = source.levels, target.levels
        self.exact = levels == target_levels
        if self.exact:
            self._counterparts = {ordinal: ordinal for ordinal in range(len(levels))}
            return
        self._counterparts = {0: 0}
        matcher = SequenceMatcher(None, levels[1:], target_levels[1:], autojunk=False)
        for match in matcher.get_matching_blocks():
            for offset in range(match.size):
                self._counterparts[match.a + offset + 1] = match.b + offset + 1

    def locate(self, anchor: Anchor) -> Counterpart:
        """The counterpart of one block of the source, or of its section where blocks do not agree."""
        number = self._counterparts.get(anchor.section)
        if number is None:
            return _NOWHERE
        counterpart = self._target.sections[number]
        if anchor.index >= 0 and self._blocks_agree(anchor.section, counterpart):
            match = counterpart.blocks[anchor.index]
            lines = LineRange(match.first, match.last)
            return Counterpart(lines, number, precise=True, approximate=not self.exact)
        lines = counterpart.lines or LineRange(counterpart.first, counterpart.first)
        return Counterpart(lines, number, precise=False, approximate=not self.exact)

    def _blocks_agree(self, number: int, counterpart: Section) -> bool:
        agree = self._agreeing.get(number)
        if agree is None:
            ours, theirs = self._source.sections[number].blocks, counterpart.blocks
            agree = [_sort(one) for one in ours] == [_sort(one) for one in theirs]
            self._agreeing[number] = agree
        return agree


def _sort(block: Block) -> tuple[BlockKind, int]:
    return block.kind, block.level


def changed_sections(comparison: Comparison, target: PageText) -> tuple[SectionChange, ...]:
    """The changes of a page by section of the pinned source, with the lines of the translation."""
    locator = Locator(comparison.old, target)
    by_section: dict[int, list[BlockChange]] = {}
    for change in comparison.changes:
        by_section.setdefault(change.anchor.section, []).append(change)
    return tuple(
        _summary(locator, comparison.old.sections[ordinal], changes)
        for ordinal, changes in sorted(by_section.items())
    )


def _summary(locator: Locator, section: Section, changes: Sequence[BlockChange]) -> SectionChange:
    counterparts = [locator.locate(change.anchor) for change in changes]
    source: LineRange | None = None
    target: LineRange | None = None
    for change in changes:
        if change.new is not None:
            lines = LineRange(change.new.first, change.new.last)
            source = lines if source is None else source.joined(lines)
    for counterpart in counterparts:
        if counterpart.lines is not None:
            target = counterpart.lines if target is None else target.joined(counterpart.lines)
    return SectionChange(
        ordinal=section.ordinal,
        title=section.title,
        classes=frozenset[ChangeClass]().union(*(change.classes for change in changes)),
        blocks=len(changes),
        source=source,
        target=target,
        target_ordinal=counterparts[0].ordinal,
        precise=all(counterpart.precise for counterpart in counterparts),
        approximate=any(counterpart.approximate for counterpart in counterparts),
        moved=sum(change.edit is Edit.MOVED for change in changes),
    )
