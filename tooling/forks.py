"""A fork of this process that works something out and sends the answer back through a pipe."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterable
from typing import NamedTuple, NoReturn


class Fork(NamedTuple):
    """A child: its process id, and the pipe that its answer comes through."""

    process: int
    pipe: int

    def end(self) -> None:
        """End the child, whatever it is at, and collect it."""
        os.close(self.pipe)
        # Where SIGCHLD is ignored, the system has collected a child that ended, and may use its number again.
        with contextlib.suppress(ChildProcessError, ProcessLookupError):
            if os.waitpid(self.process, os.WNOHANG) == (0, 0):
                os.kill(self.process, signal.SIGKILL)  # nobody waits for its answer any more
                os.waitpid(self.process, 0)


def fork(work: Callable[[], bytes]) -> Fork:
    """A child that does this work, sends what it returns (nothing where the work fails), and ends.

    Raises:
        OSError: there can be no more processes or open files.
    """
    reading, writing = os.pipe()
    # Until the child says what they do: they must not unwind it into frames that are the parent's to finish.
    held = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        child = os.fork()
        if not child:
            os.close(reading)
            _work(work, writing, held)
    except OSError:
        os.close(reading)
        os.close(writing)
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
    os.close(writing)
    return Fork(child, reading)


def _work(work: Callable[[], bytes], writing: int, held: Iterable[int]) -> NoReturn:
    """In the child: do the work, send the answer and end."""
    status = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal interrupts the parent too, which ends us
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        answer = work()
        with os.fdopen(writing, "wb") as stream:
            stream.write(answer)
        status = 0
    finally:
        os._exit(status)
