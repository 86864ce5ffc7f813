"""Many pages at once: the same function over a long list, on every core when the list is worth it."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from tooling.cores import usable_cores

Item = TypeVar("Item")
Result = TypeVar("Result")

_WORTH_FORKING = 12  # a fork costs as much as judging two pages
_WORTH_A_POOL = 400  # a pool takes some 30 ms to load and start, but hands out the work evenly
_CHUNK = 50


def map_pages(function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """`function` of each item, in order. It must be a module's own function, and so must its values be.

    Raises:
        WorkerDied: a worker process was killed.
        Exception: what `function` raised.
    """
    cores = usable_cores()
    if cores < 2 or len(items) < _WORTH_FORKING or not _alone():
        yield from map(function, items)
    elif len(items) < _WORTH_A_POOL and hasattr(os, "fork"):
        from tooling.translations.freshness.forks import map_by_forks  # noqa: PLC0415 - see below

        yield from map_by_forks(function, items, min(cores, 4))
    else:
        yield from _map_by_pool(function, items, min(cores, 8))


def _map_by_pool(function: Callable[[Item], Result], items: Sequence[Item], workers: int) -> Iterator[Result]:
    # Imported here: most runs are small, and these modules take longer to load than a hundred pages to judge.
    import multiprocessing  # noqa: PLC0415
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415

    from tooling.translations.freshness.forks import WorkerDied  # noqa: PLC0415

    # Workers live for seconds, so collecting cycles would cost more than the memory it saves;
    # `fork` hands over what is loaded; where it is missing the children import it again.
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else None
    context = multiprocessing.get_context(method)
    try:
        with ProcessPoolExecutor(workers, mp_context=context, initializer=gc.disable) as pool:
            yield from pool.map(function, items, chunksize=_CHUNK)
    except BrokenProcessPool as broken:
        raise WorkerDied("a process that judged pages was killed before it had answered") from broken


def _alone() -> bool:
    """Whether no other thread runs, as in a build of the book: a fork would copy the locks that it holds."""
    return threading.active_count() == 1
