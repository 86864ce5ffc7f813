"""Sections that changed in the source, and whether they have been edited in the translation since."""

from __future__ import annotations

import os
from collections.abc import Iterable
from difflib import SequenceMatcher
from pathlib import Path

from tooling.platform.regular_files import TEXT_LIMIT, read_regular
from tooling.translations.diff.changes import compare
from tooling.translations.diff.sections import changed_sections
from tooling.translations.diff.text import PageText, split
from tooling.translations.git.marker_history import read_marker_history
from tooling.translations.git.pins import PinReader
from tooling.translations.git.repository import Repository
from tooling.translations.model import PageStatus, SectionChange
from tooling.translations.roots import Roots


def edited_sections(roots: Roots, pages: Iterable[PageStatus]) -> dict[str, frozenset[int]]:
    """The sections of each stale page that have been edited since its marker was written, by number.

    Raises:
        GitError: there is no repository, or git failed.
    """
    stale = [one for one in pages if one.needs_translation and one.sections and one.source and one.target]
    if not stale:
        return {}
    repository = Repository.open(roots.target, roots.base)
    paths = {one.key: _path_in(repository, roots.base / (one.target or "")) for one in stale}
    written = read_marker_history(repository, paths.values(), roots.marker)
    pinned = [one.pinned_blob for one in stale if one.pinned_blob]
    with PinReader(repository) as reader:
        texts = reader.texts([*(one.blob for one in written.values()), *pinned])
    found: dict[str, frozenset[int]] = {}
    for one in stale:
        marker = written.get(paths[one.key])
        old, then = texts.get(one.pinned_blob or ""), texts.get(marker.blob) if marker else None
        if old is None or then is None:
            continue
        new, now = (
            read_regular(roots.base / name, limit=TEXT_LIMIT) for name in (one.source or "", one.target or "")
        )
        left = untouched_sections(*(text.decode("utf-8", "replace") for text in (old, new, then, now)))
        found[one.key] = frozenset(section.ordinal for section in one.sections) - {
            section.ordinal for section in left
        }
    return found


def _path_in(repository: Repository, path: Path) -> str:
    return Path(os.path.relpath(path.resolve(), repository.root)).as_posix()


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
