"""What changed from one version of a source page to another, and where in its translation."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from tooling.platform.gc_pause import paused_gc
from tooling.platform.regular_files import TEXT_LIMIT, read_regular
from tooling.translations.diff.changes import compare
from tooling.translations.diff.sections import changed_sections
from tooling.translations.diff.similarity import is_nearer
from tooling.translations.diff.text import split
from tooling.translations.freshness.difference import Difference


class Task(Struct, frozen=True):
    """A page to compare: the pinned text of its source, its source today, and its translation."""

    old: bytes
    source: Path
    target: Path


def describe(task: Task) -> Difference:
    """`describe_change` for one page; bytes that are not UTF-8 are compared as replacement characters.

    Raises:
        OSError: a page can no longer be read.
    """
    old = task.old.decode("utf-8", "replace")
    new = read_regular(task.source, limit=TEXT_LIMIT).decode("utf-8", "replace")
    target = read_regular(task.target, limit=TEXT_LIMIT).decode("utf-8", "replace")
    with paused_gc():
        return describe_change(old, new, target)


def describe_change(old: str, new: str, target: str) -> Difference:
    """What changed from one version of a source page to another, and where in its translation."""
    comparison = compare(old, new)
    if not comparison.changes:
        return Difference(comparison.classes, (), pin_may_be_old=False)
    ours = split(target)
    if ours.levels == comparison.old.levels == comparison.new.levels:
        # Headings agree, so only the sections that changed need to be compared.
        sections = [comparison.raw(text) for text in (ours, comparison.old, comparison.new)]
        nearer = is_nearer(*(sections if all(sections) else (target, old, new)))
    else:
        nearer = is_nearer(target, old, new)
    return Difference(comparison.classes, changed_sections(comparison, ours), nearer)
