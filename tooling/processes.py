"""Child processes that never outlive the command that started them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

_running: set[subprocess.Popen[bytes]] = set()
_lock = threading.RLock()


class Completed(Struct, frozen=True):
    """What a short helper process left behind."""

    status: int  # as subprocess has it: negative is the signal
    stdout: str
    stderr: str
    timed_out: bool = False


@contextlib.contextmanager
def process_group(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """Kills the process and all that it started when the block is left, however it is left.

    The process must lead its own session (`start_new_session=True`).
    """
    with _lock:
        _running.add(process)
    try:
        yield process
    finally:
        with _lock:
            _running.discard(process)
        kill_group(process)


def kill_running() -> None:
    """Ends every program that is inside a `process_group` of any thread: what an interrupt has to do.

    A signal handler may call this: it waits for nothing, and `_lock` can be taken twice by one thread.
    Collecting the exit status is left to the code that the program belongs to.
    """
    with _lock:
        processes = list(_running)
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Ends the process, and every process of its group that is still there, and collects its status."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def run_captured(
    command: Sequence[str | Path],
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    time_limit: float = 60.0,
) -> Completed:
    """Runs a helper program to its end and returns what it printed.

    Raises:
        OSError: the program cannot be started.
    """
    process = subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=None if environment is None else dict(environment),
        cwd=folder,
        start_new_session=True,
    )
    timed_out = False
    with process_group(process):
        try:
            stdout, stderr = process.communicate(timeout=time_limit)
        except subprocess.TimeoutExpired:
            timed_out = True
            kill_group(process)
            stdout, stderr = process.communicate()
    return Completed(
        process.returncode,
        stdout.decode("utf-8", "replace"),
        stderr.decode("utf-8", "replace"),
        timed_out,
    )
