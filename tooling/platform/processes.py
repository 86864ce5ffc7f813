"""Child processes that never outlive the command that started them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from tooling.platform.temporary_space import no_space

_running: set[int] = set()  # the leaders of process groups
_single: set[int] = set()  # processes that lead none
_lock = threading.RLock()
_LOOK_AGAIN = 0.5  # seconds
_MARK = "PUZZLE_PROCESS"  # a variable of every program and its children: which `process_group` they belong to
ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)  # Windows lacks SIGHUP
"""The signals that end a command."""

_SET_PARENT_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36  # prctl(2)
# The second argument is the mark of descendants in other sessions, which are found where there is a /proc.
_END_GROUP = """kill -9 "-$1"
[ -z "$2" ] || for _ in 1 2 3 4 5; do
    found=$(grep -lsaF -- "$2" /proc/[0-9]*/environ)
    [ -n "$found" ] || break
    for each in $found; do each=${each#/proc/}; kill -9 "${each%/environ}"; done
done"""
# Again while a program that is being killed still writes there.
_REMOVE = 'for _ in 1 2 3 4 5; do rm -rf -- "$1" && break; sleep 1; done'


class Completed(Struct, frozen=True):
    """What a short helper process left behind."""

    status: int  # as subprocess has it: negative is the signal
    stdout: str
    stderr: str
    timed_out: bool = False

    @property
    def last_message(self) -> str | None:
        """The last line on stderr, where a program usually says why it failed; None if there is none."""
        return next((line for line in reversed(self.stderr.splitlines()) if line.strip()), None)


def signal_name(number: int) -> str:
    """The name of a signal, such as SIGSEGV."""
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


def marked(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a program with the mark by which `process_group` finds all that it started."""
    return {**environment, _MARK: uuid.uuid4().hex}


def processes_of(environment: Mapping[str, str]) -> list[int]:
    """The processes of a program with an environment from `marked`; none where there is no /proc."""
    mark = f"{_MARK}={environment[_MARK]}".encode()
    pids = [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]
    return [pid for pid in pids if _bears(pid, mark)]


def _bears(pid: int, mark: bytes) -> bool:
    """Whether a process has the mark, a variable with its value, in its environment."""
    try:
        return mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # it has ended, or is not of this user
        return False


@contextlib.contextmanager
def process_group(
    start: Callable[[], subprocess.Popen[bytes]], environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Starts a process, and kills it and all that it started when the block is left, however it is left.

    Its pipes are closed too. If this process is killed, another one ends the group.

    Args:
        start: starts the process, which must lead its own session (`start_new_session=True`).
        environment: of the process, from `marked`: its descendants in other sessions are killed too.

    Raises:
        OSError: `start` raised it.
    """
    _adopt_orphans()
    process = None
    try:
        with signals_held():
            process = start()
            register(process.pid)
        with group_ended_if_killed(process.pid, (environment or {}).get(_MARK, "")):
            yield process
    finally:
        if process:
            kill_group(process)
            forget(process.pid)
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe:
                    pipe.close()
        if environment and _MARK in environment:
            _kill_orphans(f"{_MARK}={environment[_MARK]}".encode())


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Signals with a handler of Python are handled when the block ends.

    Otherwise a handler that raises an exception could leave a process behind that has just started and is not
    registered yet.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # handlers run in the main thread only
        return
    arrived: list[int] = []
    handlers = {each: signal.getsignal(each) for each in ENDING}
    held = [each for each, handler in handlers.items() if callable(handler)]
    for each in held:
        signal.signal(each, lambda number, _frame: arrived.append(number))
    try:
        yield
    finally:
        for each in held:
            signal.signal(each, handlers[each])
        for number in arrived[:1]:
            signal.raise_signal(signal.Signals(number))


@contextlib.contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """A temporary folder; removed when the block is left, or if this process is killed inside it.

    Raises:
        NoTemporarySpace: it cannot be made.
    """
    try:
        folder = tempfile.TemporaryDirectory(prefix=prefix)
    except OSError as error:
        raise no_space(error) from error
    with _if_killed(_REMOVE, folder.name), folder:
        yield Path(folder.name)


def group_ended_if_killed(leader: int, mark: str = "") -> contextlib.AbstractContextManager[None]:
    """If this process is killed inside the block, the process group is ended, and all that bears the mark."""
    return _if_killed(_END_GROUP, str(leader), f"{_MARK}={mark}" if mark else "")


@contextlib.contextmanager
def _if_killed(script: str, *arguments: str) -> Iterator[None]:
    """Starts a shell that runs a script if this process dies inside the block: its input then ends."""
    try:
        guard = subprocess.Popen(
            ["/bin/sh", "-c", f"read -r _ || {{ {script}; }}", "guard", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:  # no shell, or no more processes: the block still cleans up when it is left
        yield
        return
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            guard.communicate(b"\n")


def _adopt_orphans() -> None:
    """Makes this process the parent of its orphaned descendants, so that `_kill_orphans` finds them."""
    if sys.platform == "linux" and _adopter[0] != os.getpid():
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        _adopter[0] = os.getpid()


_adopter = [0]  # the process for which that was done; a forked one has to do it again


def end_with_parent(parent: int) -> None:
    """Has SIGTERM sent to this process when its parent ends, even by SIGKILL.

    On Linux the system sends it, when the thread ends that started this process. Elsewhere a thread looks
    whether the parent is still there.

    Args:
        parent: the process id of the parent, which may have ended by now.
    """
    if not _signalled_by_the_system():
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()
    elif os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def _signalled_by_the_system() -> bool:
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            number = int(signal.SIGTERM)
            return bool(ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, number, 0, 0, 0) == 0)
    return False


def _end_after(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_AGAIN)
    os.kill(os.getpid(), signal.SIGTERM)


def _kill_orphans(mark: bytes) -> None:
    """Ends the descendants of a program that are children of this process now; each may leave others."""
    found = True
    while found:
        found = False
        for pid in _children():
            if not _bears(pid, mark):
                continue
            with contextlib.suppress(OSError):  # it has ended, or was collected elsewhere
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                found = True


def _children() -> list[int]:
    """The child processes of all threads of this process; none where the system does not list them."""
    found = []
    for path in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(pid) for pid in path.read_text("ascii").split()]
    return found


def register(leader: int) -> None:
    """Adds a process group to those that `kill_running` ends."""
    with _lock:
        _running.add(leader)


def forget(leader: int) -> None:
    """Removes a process group that has ended."""
    with _lock:
        _running.discard(leader)


def register_process(pid: int) -> None:
    """Adds a process that leads no group, such as `ssh`, to those that `kill_running` ends."""
    with _lock:
        _single.add(pid)


def forget_process(pid: int) -> None:
    """Removes a process that has ended."""
    with _lock:
        _single.discard(pid)


def kill_running() -> None:
    """Ends every registered process and group, those of programs of all threads: what an interrupt has to do.

    A signal handler may call this: it waits for nothing, and `_lock` can be taken twice by one thread.
    Collecting the exit status is left to the code that the program belongs to.
    """
    with _lock:
        leaders, single = list(_running), list(_single)
    for leader in leaders:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
    for pid in single:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Ends the process, and every process of its group that is still there, and collects its status."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def start_piped(
    command: Sequence[str | Path], variables: Mapping[str, str], folder: Path | None
) -> subprocess.Popen[bytes]:
    """Starts a program in a session of its own, with its output in pipes and no input.

    Args:
        variables: all of its environment variables.
        folder: the working directory; None: that of this process.

    Raises:
        OSError: the program cannot be started.
    """
    return subprocess.Popen(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=variables,
        cwd=folder,
        start_new_session=True,
    )


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
    variables = marked(os.environ if environment is None else environment)
    timed_out = False
    with process_group(lambda: start_piped(command, variables, folder), variables) as process:
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
