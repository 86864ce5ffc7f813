"""A fork of this process that works something out and sends the answer back through a pipe."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import NamedTuple


class Fork(NamedTuple):
    """A child: its process id, and the pipe that its answer comes through."""

    process: int
    pipe: int

    def end(self) -> None:
        """End the child, whatever it is at, and collect it."""
        os.close(self.pipe)
        os.kill(self.process, signal.SIGKILL)  # it has answered, or nobody waits for its answer any more
        os.waitpid(self.process, 0)


def fork(work: Callable[[], bytes]) -> Fork:
    """A child that does this work, sends what it returns (nothing where the work fails), and ends.

    Raises:
        OSError: there can be no more processes or open files.
    """
    reading, writing = os.pipe()
    try:
        child = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        raise
    if child:
        os.close(writing)
        return Fork(child, reading)
    # From here on nothing may return or unwind into the parent's frames: they are the parent's to finish.
    status = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal interrupts the parent too, which ends us
        os.close(reading)
        answer = work()
        with os.fdopen(writing, "wb") as stream:
            stream.write(answer)
        status = 0
    finally:
        os._exit(status)
