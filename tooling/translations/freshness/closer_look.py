"""Compares the pages that differ: old texts are read in batches and compared block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from tooling.translations.cache import Cache
from tooling.translations.freshness.difference import Difference
from tooling.translations.freshness.pair import PagePair
from tooling.translations.freshness.workers import map_pages
from tooling.translations.git.pins import PinReader
from tooling.translations.git.repository import GitError

_BATCH = 2_000  # pages whose old texts are held in memory at a time


class CloserLook(Struct, frozen=True):
    """Differences by page key; a page without one has a pinned text that could not be read."""

    differences: dict[str, Difference]
    error: GitError | None


def look_closer(pairs: Sequence[PagePair], reader: PinReader, cache: Cache[Difference]) -> CloserLook:
    """Compares the pinned text of every pair with today's."""
    differences: dict[str, Difference] = {}
    unseen: list[PagePair] = []
    for pair in pairs:
        known = cache.get(_identity(pair))
        if known is None:
            unseen.append(pair)
        else:
            cache.use(_identity(pair), known)
            differences[pair.key] = known
    try:
        reader.prepare(pair.old for pair in unseen if pair.old)
        for start in range(0, len(unseen), _BATCH):
            for pair, difference in _compare_batch(unseen[start : start + _BATCH], reader):
                differences[pair.key] = difference
                cache.put(_identity(pair), difference)
    except GitError as error:
        return CloserLook(differences, error)
    return CloserLook(differences, None)


def _identity(pair: PagePair) -> str:
    assert pair.old is not None
    return f"{pair.old} {pair.today} {pair.target.page.blobs[0]}"


def _compare_batch(batch: Sequence[PagePair], reader: PinReader) -> Iterator[tuple[PagePair, Difference]]:
    wanted = [pair.old for pair in batch if pair.old]
    reader.expect(wanted)
    # Imported here: in most runs few or no pages have changed since the run before.
    from tooling.translations.freshness.description import Task, describe  # noqa: PLC0415

    texts = reader.texts(wanted)
    readable = [pair for pair in batch if pair.old in texts]
    tasks = [Task(texts[pair.old or ""], pair.source.path, pair.target.page.path) for pair in readable]
    return zip(readable, map_pages(describe, tasks), strict=True)
