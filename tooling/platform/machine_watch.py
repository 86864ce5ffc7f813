"""Ends a program before it has taken all memory of the machine, or thousands of threads.

Otherwise the system would end any process, or swap for minutes. A limit on the program's address space does
not serve: Mojo's runtime and the simulated GPU reserve far more than they use.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Mapping
from enum import Enum
from pathlib import Path

from msgspec import Struct

from tooling.platform.processes import processes_of

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")
MOST_TASKS = 4096
"""Threads and processes of a program. A program starts a few for each core."""
_TASKS_OF_A_CORE = 16  # more are allowed on a machine with many cores
_LEAST_LEFT = 1 << 30  # bytes, or a sixteenth of the machine's memory, whichever is less
_LEAST_TAKEN = 1 << 30  # likewise: a program that takes less does not fill the memory
_PAUSE = 0.05  # seconds between two looks
_FIELD = re.compile(r"^(\w+):\s+(\d+)", re.MULTILINE)


class Limited(Enum):
    """What a program took too much of."""

    MEMORY = "memory"
    TASKS = "tasks"
    ALLOWED_MEMORY = "allowed memory"
    FILES = "files"


class Excess(Struct, frozen=True):
    """What a program took when it was ended.

    Attributes:
        kind: of what.
        taken: bytes of memory or of files, or the number of threads and processes.
        left: bytes of memory that the machine had left; else the bytes, or the number of threads and
            processes, that are allowed.
    """

    kind: Limited
    taken: int
    left: int


class Allowance(Struct, frozen=True):
    """What a program that is not trusted may take, together with all that it starts.

    Attributes:
        memory: bytes.
        tasks: threads and processes.
        files: bytes that its folders may have.
        folders: those that it can write to.
    """

    memory: int = 4 << 30
    tasks: int = 512
    files: int = 1 << 30
    folders: tuple[Path, ...] = ()


class AllowanceWatch:
    """Watches a program and its descendants, which it cannot leave: it is in a namespace of processes.

    What this process takes meanwhile counts as the program's: it may simulate its GPU.

    Args:
        pid: of the process that the program descends from.
    """

    def __init__(self, pid: int, allowance: Allowance) -> None:
        self._pid = pid
        self._allowance = allowance
        self._own = _status(os.getpid())
        self._next = 0.0

    def excess(self) -> Excess | None:
        """What the program takes too much of, looked up at most every 50 ms; None if nothing."""
        now = time.monotonic()
        if now < self._next:
            return None
        self._next = now + _PAUSE
        allowed = self._allowance
        processes = [each for each in map(_status, _descendants(self._pid, allowed.tasks)) if each]
        tasks = sum(each.get("Threads", 0) for each in processes)
        if tasks > allowed.tasks:
            return Excess(Limited.TASKS, tasks, allowed.tasks)
        own = _status(os.getpid())
        grown = {name: max(0, own.get(name, 0) - self._own.get(name, 0)) for name in ("RssAnon", "RssShmem")}
        alone = grown["RssAnon"] + sum(each.get("RssAnon", 0) for each in processes)
        shared = max(grown["RssShmem"], *(each.get("RssShmem", 0) for each in processes), 0)
        memory = alone + shared << 10
        if memory > allowed.memory:
            return Excess(Limited.ALLOWED_MEMORY, memory, allowed.memory)
        files = sum(_size_of_files(folder, allowed.files) for folder in allowed.folders)
        return Excess(Limited.FILES, files, allowed.files) if files > allowed.files else None


_OF_A_FILE = 1 << 14  # bytes that are counted for a file of any size


def _descendants(pid: int, most: int) -> list[int]:
    """The descendants of a process, not many more than `most`; the system is to end them before others."""
    found: list[int] = []
    waiting = [pid]
    while waiting and len(found) <= most:
        for path in (PROC / str(waiting.pop()) / "task").glob("*/children"):
            with contextlib.suppress(OSError):
                children = [int(child) for child in path.read_text("ascii").split()]
                found += children
                waiting += children
                for child in children:
                    end_first(child)
    return found


def _size_of_files(folder: Path, most: int) -> int:
    """The bytes on disk of what is in a folder; more than `most` if it cannot be looked at, or is larger."""
    total, waiting = 0, [folder]
    while waiting and total <= most:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if total > most:
                        break
                    with contextlib.suppress(FileNotFoundError):
                        total += max(_OF_A_FILE, entry.stat(follow_symlinks=False).st_blocks * 512)
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(Path(entry.path))
        except FileNotFoundError:  # it has been removed meanwhile
            continue
        except OSError:
            return most + 1
    return total


def end_first(pid: int) -> None:
    """Has the system end this process before others when its memory is full (proc_pid_oom_score_adj(5))."""
    with contextlib.suppress(OSError):
        (PROC / str(pid) / "oom_score_adj").write_text("1000", "ascii")


class MachineWatch:
    """Watches a program and what it starts. Systems without /proc are not watched.

    Args:
        environment: of the program, from `processes.marked`.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._most_tasks = max(MOST_TASKS, _TASKS_OF_A_CORE * (os.cpu_count() or 1))
        self._tasks = _tasks_of_the_machine()
        self._groups = _limited_groups()
        self._own = _status(os.getpid()).get("RssAnon", 0)
        self._next = 0.0

    def excess(self) -> Excess | None:
        """What the program takes too much of, looked up at most every 50 ms; None if nothing."""
        now = time.monotonic()
        if now < self._next:
            return None
        self._next = now + _PAUSE
        try:
            return self._excess_of_tasks() or self._excess_of_memory()
        except (OSError, ValueError, KeyError):  # no /proc, or one without these fields
            return None

    def _excess_of_tasks(self) -> Excess | None:
        if _tasks_of_the_machine() - self._tasks <= self._most_tasks:
            return None
        taken = sum(_status(pid).get("Threads", 0) for pid in processes_of(self._environment))
        return Excess(Limited.TASKS, taken, self._most_tasks) if taken > self._most_tasks else None

    def _excess_of_memory(self) -> Excess | None:
        for total, left in (_memory_of_the_machine(), *map(_memory_of_the_group, self._groups)):
            if left >= min(_LEAST_LEFT, total // 16):
                continue
            taken = self._taken()
            if taken >= min(_LEAST_TAKEN, total // 16):
                return Excess(Limited.MEMORY, taken, max(left, 0))
        return None

    def _taken(self) -> int:
        """Bytes of memory of the program, and of this process since it started, which may simulate its GPU.

        They share the simulated GPU's memory.
        """
        own, *others = (_status(pid) for pid in (os.getpid(), *processes_of(self._environment)))
        alone = max(0, own.get("RssAnon", 0) - self._own) + sum(each.get("RssAnon", 0) for each in others)
        return alone + max(each.get("RssShmem", 0) for each in (own, *others)) << 10


def _tasks_of_the_machine() -> int:
    """The number of threads of all processes (proc(5), /proc/loadavg)."""
    try:
        return int((PROC / "loadavg").read_text("ascii").split()[3].partition("/")[2])
    except (OSError, ValueError, IndexError):
        return 0


def _memory_of_the_machine() -> tuple[int, int]:
    """Bytes of memory, and those that are left, swap included."""
    fields = _fields(PROC / "meminfo")
    return fields["MemTotal"] << 10, fields["MemAvailable"] + fields["SwapFree"] << 10


def _limited_groups() -> tuple[Path, ...]:
    """The control groups of this process that have a limit on memory, as containers do (version 2)."""
    try:
        name = (PROC / "self" / "cgroup").read_text("utf-8").partition("0::")[2].partition("\n")[0]
    except (OSError, ValueError):
        return ()
    folder = CGROUPS / name.lstrip("/")
    return tuple(
        each
        for each in (folder, *folder.parents)
        if each.is_relative_to(CGROUPS) and _number(each / "memory.max") is not None
    )


def _memory_of_the_group(folder: Path) -> tuple[int, int]:
    """The limit of a control group in bytes, and what is left of it; the cache of files can be taken."""
    total, current = _number(folder / "memory.max") or 0, _number(folder / "memory.current") or 0
    lines = (line.split() for line in (folder / "memory.stat").read_text("ascii").splitlines())
    cached = sum(int(count) for name, count in lines if name in ("active_file", "inactive_file"))
    swap = _fields(PROC / "meminfo")["SwapFree"] << 10
    swap_limit = _number(folder / "memory.swap.max")
    if swap_limit is not None:
        swap = min(swap, swap_limit - (_number(folder / "memory.swap.current") or 0))
    return total, total - current + cached + swap


def _number(path: Path) -> int | None:
    """The number in a file; None without one, such as `max`."""
    try:
        return int(path.read_text("ascii"))
    except (OSError, ValueError):
        return None


def _status(pid: int) -> dict[str, int]:
    try:
        return _fields(PROC / str(pid) / "status")
    except OSError:  # it has ended
        return {}


def _fields(path: Path) -> dict[str, int]:
    """The numbers of a file with a field on each line; sizes are in KiB."""
    return {name: int(number) for name, number in _FIELD.findall(path.read_text("ascii", "replace"))}
