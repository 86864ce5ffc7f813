"""Several pieces of work at a time: programs are waited for in threads, Python is run in processes.

Both keep one contract. At most `jobs` pieces run at a time. What a piece raises is raised where its result is
asked for. A block or loop that is left early, by an error, an interrupt, SIGTERM or `close()`, starts nothing
more, kills the programs that its pieces run, and is left when all threads and processes have ended.

Threads are enough for work that waits for a program. The simulated GPU and the comparison of pages compute
in Python, where the interpreter's lock lets one thread of a process run at a time: they need processes. Those
are spawned, as a fork would copy the locks that other threads hold.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import TYPE_CHECKING, TypeVar

from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.processes import end_with_parent, kill_running

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

Item = TypeVar("Item")
Result = TypeVar("Result")

_KILL_AGAIN = 0.05  # seconds
_GRACE = 10.0  # seconds a worker process has to end its programs and to remove their folders


class WorkerDied(ToolingError):
    """A worker process ended without an answer."""

    exit_code = ExitCode.NOT_POSSIBLE


class WorkerFailed(RuntimeError):
    """Replaces an error of a worker process that cannot be pickled; its text says which one it was."""


@contextlib.contextmanager
def program_pool(jobs: int) -> Iterator[ThreadPoolExecutor]:
    """Threads for work that runs programs."""
    pool = ThreadPoolExecutor(max(1, jobs))
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        ending = threading.Thread(target=pool.shutdown)
        ending.start()
        while ending.is_alive():
            kill_running()  # again and again: a thread between two programs starts the next one
            ending.join(_KILL_AGAIN)
        raise
    pool.shutdown()


def map_in_processes(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    jobs: int,
    *,
    chunk: int = 1,
    ordered: bool = True,
) -> Generator[Result, None, None]:
    """`function` of each item, computed in worker processes, or in this one where `jobs` is 1.

    Args:
        function, items: must be picklable, and so must the results.
        chunk: how many items a worker gets at a time.
        ordered: results come in the order of the items, otherwise as they are ready.

    Raises:
        WorkerDied: a worker was killed.
        Exception: what `function` raised, a `WorkerFailed` where that cannot be pickled.
    """
    chunks = [items[start : start + chunk] for start in range(0, len(items), chunk)]
    if jobs == 1 or len(chunks) < 2:
        yield from map(function, items)
        return
    # Imported here: this takes longer than most commands that need no workers.
    import multiprocessing  # noqa: PLC0415
    from concurrent.futures import ProcessPoolExecutor, as_completed  # noqa: PLC0415
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415

    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(
        min(jobs, len(chunks)), mp_context=context, initializer=_prepare_worker, initargs=(os.getpid(),)
    )
    try:
        waiting = [pool.submit(_work, function, each) for each in chunks]
        for done in waiting if ordered else as_completed(waiting):
            yield from done.result()
    except BrokenProcessPool as broken:
        _end(pool)
        raise WorkerDied(
            "a worker process was killed before it had answered",
            why="the system kills processes where memory runs out",
            hint="use fewer processes at a time: `--jobs 1`, or PUZZLE_CORES=1",
        ) from broken
    except BaseException:
        _end(pool)
        raise
    pool.shutdown()


def _end(pool: ProcessPoolExecutor) -> None:
    workers = list((pool._processes or {}).values())
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.join(_GRACE)
        if worker.is_alive():
            worker.kill()
    pool.shutdown(wait=True, cancel_futures=True)


# -- in a worker process -------------------------------------------------------------------------------

_at_work = threading.Event()


class _Ended(BaseException):
    """The parent ends this worker: unwinds the stack, so that no temporary folder is left."""


def _prepare_worker(parent: int) -> None:
    # A terminal sends an interrupt to the workers, too; the parent alone decides, and then terminates them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end_worker)
    end_with_parent(parent)
    os.environ["PUZZLE_CORES"] = "1"  # the other workers have theirs


def _end_worker(_signal: int, _frame: FrameType | None) -> None:
    kill_running()
    if _at_work.is_set():
        raise _Ended
    os._exit(1)


def _work(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    _at_work.set()
    try:
        return [function(item) for item in items]
    except _Ended:
        os._exit(1)  # the pool would take the exception for a result, and give this worker the next item
    except Exception as error:
        if _is_picklable(error):
            raise
        raise WorkerFailed(f"{type(error).__qualname__}: {error}") from None
    finally:
        _at_work.clear()


def _is_picklable(error: Exception) -> bool:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - whatever the making of such an error raises
        return False
    return True
