"""The same function over many pages, in several processes where there are enough pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from tooling.platform.cores import usable_cores
from tooling.platform.workers import map_in_processes

Item = TypeVar("Item")
Result = TypeVar("Result")

_WORTH_PROCESSES = 400  # pages; to start the processes takes as long as judging a hundred
_CHUNK = 50
_MOST = 8


def map_pages(function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """`function` of each item, in order; see `map_in_processes`."""
    jobs = min(usable_cores(), _MOST) if len(items) >= _WORTH_PROCESSES else 1
    yield from map_in_processes(function, items, jobs, chunk=_CHUNK)
