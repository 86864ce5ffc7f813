"""What changed in the pages that differ: old texts are read in batches and compared block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tooling.translations.blocks import split
from tooling.translations.cache import Cache, Difference
from tooling.translations.changes import compare
from tooling.translations.git import GitError
from tooling.translations.pair import Pair
from tooling.translations.pins import PinReader
from tooling.translations.sections import changed_sections
from tooling.translations.similarity import is_nearer
from tooling.translations.workers import map_pages

_BATCH = 2_000  # pages whose old texts are held in memory at a time


@dataclass(frozen=True, slots=True)
class CloserLook:
    """Differences by page key; a page without one has a pinned text that could not be read."""

    differences: dict[str, Difference]
    error: GitError | None


@dataclass(frozen=True, slots=True)
class _Task:
    old: bytes
    source: Path
    target: Path


def look_closer(pairs: Sequence[Pair], reader: PinReader, cache: Cache) -> CloserLook:
    """Compares the pinned text of every pair with today's."""
    differences: dict[str, Difference] = {}
    unseen: list[Pair] = []
    for pair in pairs:
        known = cache.get(*_identity(pair))
        if known is None:
            unseen.append(pair)
        else:
            differences[pair.key] = known
    try:
        reader.prepare(pair.old for pair in unseen if pair.old)
        for start in range(0, len(unseen), _BATCH):
            for pair, difference in _compare_batch(unseen[start : start + _BATCH], reader):
                differences[pair.key] = difference
                cache.put(*_identity(pair), difference)
    except GitError as error:
        return CloserLook(differences, error)
    return CloserLook(differences, None)


def _identity(pair: Pair) -> tuple[str, str, str]:
    assert pair.old is not None
    return pair.old, pair.today, pair.target.page.blobs[0]


def _compare_batch(batch: Sequence[Pair], reader: PinReader) -> Iterator[tuple[Pair, Difference]]:
    texts = reader.texts(pair.old for pair in batch if pair.old)
    readable = [pair for pair in batch if pair.old in texts]
    tasks = [_Task(texts[pair.old or ""], pair.source.path, pair.target.page.path) for pair in readable]
    return zip(readable, map_pages(_describe, tasks), strict=True)


def _describe(task: _Task) -> Difference:
    old = task.old.decode("utf-8", "replace")
    new = task.source.read_bytes().decode("utf-8", "replace")
    target = task.target.read_bytes().decode("utf-8", "replace")
    return describe_change(old, new, target)


def describe_change(old: str, new: str, target: str) -> Difference:
    """What changed from one version of a source page to another, and where in its translation."""
    comparison = compare(old, new)
    if not comparison.changes:
        return Difference(comparison.classes, (), pin_may_be_old=False)
    ours = split(target)
    if ours.levels == comparison.old.levels == comparison.new.levels:
        # Headings agree, so the sections that changed are enough to look at.
        parts = [comparison.raw(text) for text in (ours, comparison.old, comparison.new)]
        nearer = is_nearer(*(parts if all(parts) else (target, old, new)))
    else:
        nearer = is_nearer(target, old, new)
    return Difference(comparison.classes, changed_sections(comparison, ours), nearer)
