"""Sections that changed in the source and were left as they were in the translation."""

from __future__ import annotations

from difflib import SequenceMatcher

from tooling.translations.diff.changes import compare
from tooling.translations.diff.sections import changed_sections
from tooling.translations.diff.text import PageText, split
from tooling.translations.model import SectionChange


def untouched_sections(old: str, new: str, then: str, now: str) -> tuple[SectionChange, ...]:
    """The changed sections of a source whose translation has not been edited.

    Args:
        old, new: the source that the marker names, and the one that it is to name.
        then, now: the translation when its marker was written, and today.

    Returns:
        The changes, with the lines of today's translation. A section whose counterpart is unknown is left
        out: its headings differ from the source's, which is reported as an error of its own.
    """
    comparison = compare(old, new)
    before, after = split(then), split(now)
    edited = _edited(before, after)
    targets = {change.ordinal: change.target_ordinal for change in changed_sections(comparison, before)}
    return tuple(
        change
        for change in changed_sections(comparison, after)
        if (ordinal := targets[change.ordinal]) is not None and ordinal not in edited
    )


def _edited(then: PageText, now: PageText) -> frozenset[int]:
    """The sections of a text that have changed, or that are followed by new text."""
    left, right = ([section.raw.strip() for section in text.sections] for text in (then, now))
    kept = {
        match.a + offset: match.b + offset
        for match in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks()
        for offset in range(match.size)
    }
    kept[len(left)] = len(right)
    return frozenset(
        ordinal
        for ordinal in range(len(left))
        if ordinal not in kept or (ordinal + 1 in kept and kept[ordinal + 1] != kept[ordinal] + 1)
    )
