"""Many pages at once: the same function over a long list, on every core when the list is worth it."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_WORTH_FORKING = 12  # a fork costs as much as judging two pages
_WORTH_A_POOL = 400  # a pool takes some 30 ms to load and start, but hands out the work evenly
_CHUNK = 50


class WorkerDied(RuntimeError):
    """A process that judged pages ended without an answer, for instance for want of memory."""


def map_pages(function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """`function` of each item, in order. It must be a module's own function, and so must its values be.

    Raises:
        WorkerDied: a worker process was killed.
        Exception: what `function` raised.
    """
    cores = _cores()
    if cores < 2 or len(items) < _WORTH_FORKING or not _alone():
        yield from map(function, items)
    elif len(items) < _WORTH_A_POOL and hasattr(os, "fork"):
        yield from _map_by_forks(function, items, min(cores, 4))
    else:
        yield from _map_by_pool(function, items, min(cores, 8))


def _map_by_pool(function: Callable[[Item], Result], items: Sequence[Item], workers: int) -> Iterator[Result]:
    # Imported here: most runs are small, and these modules take longer to load than a hundred pages to judge.
    import multiprocessing  # noqa: PLC0415
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415

    # Workers live for seconds, so collecting cycles would cost more than the memory it saves;
    # `fork` hands over what is loaded; where it is missing the children import it again.
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else None
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(workers, mp_context=context, initializer=gc.disable) as pool:
        yield from pool.map(function, items, chunksize=_CHUNK)


def _map_by_forks(function: Callable[[Item], Result], items: Sequence[Item], workers: int) -> list[Result]:
    """Every `workers`-th item goes to the same process; the first share is done by this one."""
    running = [_fork(function, items[number::workers]) for number in range(1, workers)]
    try:
        shares = [[function(item) for item in items[::workers]]]
        for _, pipe in running:
            with os.fdopen(pipe, "rb", closefd=False) as stream:
                shares.append(_unpack(stream.read()))
    finally:
        for child, pipe in running:
            os.close(pipe)
            os.kill(child, signal.SIGKILL)  # it has answered, or nobody waits for its answer any more
            os.waitpid(child, 0)
    return [shares[index % workers][index // workers] for index in range(len(items))]


def _fork(function: Callable[[Item], Result], items: Sequence[Item]) -> tuple[int, int]:
    """A child that works on these items: its process id, and the pipe that its answer comes through."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    # From here on nothing may return or unwind into the parent's frames: they are the parent's to finish.
    status = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal interrupts the parent too, which ends us
        os.close(reading)
        answer: tuple[list[Result] | None, Exception | None]
        try:
            answer = [function(item) for item in items], None
        except Exception as error:  # noqa: BLE001 - raised again in the parent
            answer = None, error
        with os.fdopen(writing, "wb") as stream:
            pickle.dump(answer, stream, pickle.HIGHEST_PROTOCOL)
        status = 0
    finally:
        os._exit(status)


def _unpack(data: bytes) -> list[Result]:
    try:
        results, error = pickle.loads(data)  # our own child wrote it
    except (EOFError, pickle.UnpicklingError) as cut_short:
        raise WorkerDied("a process that judged pages was killed before it had answered") from cut_short
    if error is not None:
        raise error
    found: list[Result] = results
    return found


def _alone() -> bool:
    """Whether no other thread runs, as in a build of the book: a fork would copy the locks that it holds."""
    return threading.active_count() == 1


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
