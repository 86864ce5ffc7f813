"""Many pages at once: the same function over a long list, on every core when the list is worth it."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_WORTH_IT = 200  # below this many pages, starting processes takes longer than the work
_CHUNK = 50


def map_pages(function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """`function` of each item, in order. It must be a module's own function, and so must its values be."""
    cores = _cores()
    if len(items) < _WORTH_IT or cores < 2:
        yield from map(function, items)
        return
    # Imported here: most runs are small, and these modules take longer to load than a hundred pages to judge.
    import multiprocessing  # noqa: PLC0415
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415

    # Workers live for seconds, so collecting cycles would cost more than the memory it saves;
    # `fork` hands over what is loaded; where it is missing the children import it again.
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else None
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(min(cores, 8), mp_context=context, initializer=gc.disable) as pool:
        yield from pool.map(function, items, chunksize=_CHUNK)


@contextmanager
def without_collecting() -> Iterator[None]:
    """Leaves cyclic garbage alone for a while: a survey makes next to none, and looking takes its time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
