"""A list worked through by forks of this process, each with a share of it."""

from __future__ import annotations

import contextlib
import os
import pickle
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from tooling.forks import Fork, fork

Item = TypeVar("Item")
Result = TypeVar("Result")


class WorkerDied(RuntimeError):
    """A process that judged pages ended without an answer, for instance for want of memory."""


class WorkerFailed(RuntimeError):
    """Stands for an error of another process that cannot be sent: its text says which one it was."""


def map_by_forks(function: Callable[[Item], Result], items: Sequence[Item], workers: int) -> list[Result]:
    """`function` of each item, in order; every `workers`-th item goes to the same process.

    Raises:
        WorkerDied: a process was killed.
        Exception: what `function` raised, a `WorkerFailed` where that cannot be sent.
    """
    shares = [items[number::workers] for number in range(workers)]
    running: list[Fork] = []
    try:
        # Where no more processes or files are allowed, the shares that are left are worked on here.
        with contextlib.suppress(OSError):
            for share in shares[1:]:
                child = fork(partial(_answer, function, share))
                running.append(child)
        done = [[function(item) for item in shares[0]]]
        for child in running:
            with os.fdopen(child.pipe, "rb", closefd=False) as stream:
                done.append(_unpack(stream.read()))
        done += [[function(item) for item in share] for share in shares[len(done) :]]
    finally:
        for child in running:
            child.end()
    return [done[index % workers][index // workers] for index in range(len(items))]


def _answer(function: Callable[[Item], Result], items: Sequence[Item]) -> bytes:
    """What a child sends: the results and None, or None and what `function` raised."""
    try:
        return pickle.dumps(([function(item) for item in items], None), pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # noqa: BLE001 - raised again in the parent
        return pickle.dumps((None, _sendable(error)), pickle.HIGHEST_PROTOCOL)


def _sendable(error: Exception) -> Exception:
    """The error where it survives the way to another process, otherwise one that tells of it."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - whatever the making of such an error raises
        return WorkerFailed(f"{type(error).__qualname__}: {error}")
    return error


def _unpack(data: bytes) -> list[Result]:
    try:
        results, error = pickle.loads(data)  # our own child wrote it
    except (EOFError, pickle.UnpicklingError) as cut_short:
        raise WorkerDied("a process that judged pages was killed before it had answered") from cut_short
    if error is not None:
        raise error
    found: list[Result] = results
    return found
