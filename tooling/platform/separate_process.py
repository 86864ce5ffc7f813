"""An object in a child process, for code that may end its process or change its settings.

The child is not a sandbox: it has the rights of this process. But an exit, a signal, a handler or a limit
that the code sets there does not reach this process, and a call that is not answered raises an error.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import BinaryIO, NoReturn

from tooling.platform.processes import ENDING, end_with_parent, forget, register, signal_name, signals_held

_FORKS = sys.platform == "linux"  # elsewhere libraries of the system do not work in a forked process
_PROTOCOL = 5  # of pickle
_GRACE = 2.0  # seconds until a process that has closed its output must have ended


class ProcessEnded(Exception):
    """The process ended, or closed its output, before it answered; the text says how it ended."""


class SeparateProcess:
    """A child process that makes an object and calls its methods, one at a time.

    It ends when this object is no longer used, and with this process. What it prints goes to standard error.

    On Linux it is a fork, which starts in milliseconds. A fork copies the locks that other threads hold, so
    the child uses nothing that threads of the tool share: its streams are new, and it collects no garbage of
    its parent. The C library and NumPy's BLAS keep their own locks usable across a fork.

    Args:
        make: makes the object there; picklable, as its arguments are.

    Raises:
        ProcessEnded: no answer.
        Exception: what `make` raised.
    """

    def __init__(self, make: Callable[..., object], *arguments: object) -> None:
        self._lock = threading.Lock()
        self._ended = ""
        requests, to_child = os.pipe()
        from_child, answers = os.pipe()
        with signals_held():
            self._pid = pid = _fork(requests, answers) if _FORKS else _spawn(requests, answers)
            register(pid)
            self._requests, self._answers = os.fdopen(to_child, "wb"), os.fdopen(from_child, "rb")
            self._end = weakref.finalize(self, _end, pid, self._requests, self._answers)
        os.close(requests)
        os.close(answers)
        self._ask((make, arguments))

    def call(self, method: str, *arguments: object) -> object:
        """The value of a method of the object; the arguments and the value must be picklable.

        Raises:
            ProcessEnded: no answer to this or an earlier call.
            Exception: what the method raised.
        """
        return self._ask((method, arguments))

    def _ask(self, request: tuple[object, tuple[object, ...]]) -> object:
        content = pickle.dumps(request, _PROTOCOL)
        with self._lock:
            if self._ended:
                raise ProcessEnded(self._ended)
            try:
                self._requests.write(content)
                self._requests.flush()
                raised, value = pickle.load(self._answers)
            except BaseException as error:
                self._end.detach()
                grace = _GRACE if isinstance(error, Exception) else 0.0
                self._ended = _end(self._pid, self._requests, self._answers, grace)
                if isinstance(error, Exception):  # whatever is wrong with the answer
                    raise ProcessEnded(self._ended) from error
                raise
        if raised:
            raise value
        return value


def _end(pid: int, requests: BinaryIO, answers: BinaryIO, grace: float = 0.0) -> str:
    """Ends the process and its group, and says how it ended.

    Args:
        grace: seconds that it has to end by itself.
    """
    for pipe in (requests, answers):
        with contextlib.suppress(OSError):  # a request that it did not read
            pipe.close()
    until = time.monotonic() + grace
    ended, status = os.waitpid(pid, os.WNOHANG)
    while not ended and time.monotonic() < until:
        time.sleep(0.005)
        ended, status = os.waitpid(pid, os.WNOHANG)
    for kill in (os.killpg, os.kill)[: 1 if ended else 2]:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)
    if not ended:
        _, status = os.waitpid(pid, 0)
    forget(pid)
    code = os.waitstatus_to_exitcode(status)
    if not ended:
        return "it gave no answer"
    return f"it ended its process with status {code}" if code >= 0 else f"{signal_name(-code)} ended it"


def _fork(requests: int, answers: int) -> int:
    """Starts `_serve` in a copy of this process; gives back its id."""
    parent, pid = os.getpid(), os.fork()
    if pid:
        return pid
    try:
        os.setpgid(0, 0)
        for number in ENDING:
            signal.signal(number, signal.SIG_DFL)
        gc.freeze()
        os.dup2(requests, 0)
        os.dup2(answers, 1)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        _serve(parent)
    finally:
        os._exit(1)


def _spawn(requests: int, answers: int) -> int:
    """Starts `_serve` in a new interpreter; gives back its process id."""
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-P", "-c", f"from {__name__} import _serve; _serve({os.getpid()})"],
        {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        file_actions=[(os.POSIX_SPAWN_DUP2, requests, 0), (os.POSIX_SPAWN_DUP2, answers, 1)],
        setpgroup=0,
    )


def _serve(parent: int) -> NoReturn:
    """Makes the object of the first request, and calls its methods until the requests end."""
    try:
        requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        sys.stdout = sys.stderr = os.fdopen(os.dup(2), "w", 1, "utf-8", "replace")
        end_with_parent(parent)
        made: object = None
        while True:
            wanted, arguments = pickle.load(requests)
            try:
                if isinstance(wanted, str):
                    value = getattr(made, wanted)(*arguments)
                else:
                    made, value = wanted(*arguments), None
                answer = pickle.dumps((False, value), _PROTOCOL)
            except Exception as error:  # noqa: BLE001 - raised where the call was made
                answer = pickle.dumps((True, error), _PROTOCOL)
            answers.write(answer)
            answers.flush()
    finally:
        os._exit(1)
