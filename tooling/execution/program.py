"""Runs one program under limits of time, output, memory and threads."""

from __future__ import annotations

import os
import re
import selectors
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import Path

from msgspec import Struct

from tooling.platform.errors import Location, ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.machine_watch import (
    Allowance,
    AllowanceWatch,
    Excess,
    Limited,
    MachineWatch,
    end_first,
)
from tooling.platform.processes import kill_group, marked, process_group, signal_name, start_piped
from tooling.text import Text

DEFAULT_OUTPUT_LIMIT = 4 * 1024 * 1024  # bytes of stdout and stderr together
_CHUNK = 64 * 1024
_POLL = 0.05  # seconds
_LINGER = 0.5  # seconds for which output may still arrive after the program has ended
_NOISE = (
    "stack trace was not collected",
    "To get more accurate error information, set MODULAR_DEBUG",
    "Failed to initialize Crashpad",
    "Stack dump without symbol names",
    "Stack dump:",
)
_FRAME = re.compile(r" ?#\d+ 0x[0-9a-f]{8,16} ")
"""A frame of a stack dump: addresses, and files of this machine."""


class ProgramNotStarted(ToolingError):
    """A built program could not be started."""

    exit_code = ExitCode.NOT_POSSIBLE


class Ending(Enum):
    """Why a program is no longer running."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    TIME_LIMIT = "time-limit"
    OUTPUT_LIMIT = "output-limit"
    MEMORY_LIMIT = "memory-limit"  # it took all memory of the machine
    THREAD_LIMIT = "thread-limit"
    MEMORY_ALLOWANCE = "memory-allowance"  # it took more memory than a program that is not trusted may
    FILES_LIMIT = "files-limit"


class Transcript(Struct, frozen=True):
    """The output of a program and how it ended.

    Attributes:
        excess: what it had taken when a limit of memory or threads ended it.
    """

    stdout: str
    stderr: str
    ending: Ending
    status: int  # exit status; for SIGNALLED the signal's number
    seconds: float
    excess: Excess | None = None

    @property
    def limited(self) -> bool:
        """Whether a limit ended the program."""
        return self.ending not in (Ending.EXITED, Ending.SIGNALLED)

    @property
    def signal_name(self) -> str:
        """The name, such as SIGSEGV, of the signal that ended the program."""
        return signal_name(self.status)


def excess_facts(excess: Excess) -> dict[str, str]:
    """What a program had taken, and what was left or is allowed, as sentences state it: GiB, or a number."""
    if excess.kind is Limited.TASKS:
        return {"taken": f"{excess.taken:,}", "left": f"{excess.left:,}"}
    return {"taken": f"{excess.taken / 2**30:.1f}", "left": f"{excess.left / 2**30:.1f}"}


_EXCEEDED = {
    Limited.MEMORY: Ending.MEMORY_LIMIT,
    Limited.TASKS: Ending.THREAD_LIMIT,
    Limited.ALLOWED_MEMORY: Ending.MEMORY_ALLOWANCE,
    Limited.FILES: Ending.FILES_LIMIT,
}


def without_noise(stderr: str) -> str:
    """What a Mojo program wrote to stderr, without its runtime's lines about debugging and its stack dump."""
    lines = stderr.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(_NOISE) and not _FRAME.match(line))


def run_program(
    command: Sequence[str | Path],
    *,
    environment: Mapping[str, str],
    time_limit: float,
    output_limit: int = DEFAULT_OUTPUT_LIMIT,
    kept_output: int | None = None,
    stream: Callable[[bytes], None] | None = None,
    folder: Path | None = None,
    allowance: Allowance | None = None,
) -> Transcript:
    """Runs a program to its end, or to one of its limits, and leaves no process behind.

    Args:
        environment: all of the program's environment variables.
        time_limit: seconds.
        output_limit: bytes of stdout and stderr together.
        kept_output: the least number of the last bytes of stdout that the transcript keeps; None: all.
        stream: receives stdout as it arrives.
        folder: the working directory.
        allowance: of a program in a sandbox.

    Raises:
        ProgramNotStarted: the program does not exist, or is not for this machine.
    """
    begun = time.monotonic()
    variables = marked(environment)
    collected: dict[str, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}

    def start() -> subprocess.Popen[bytes]:
        try:
            return start_piped(command, variables, folder)
        except OSError as error:
            raise ProgramNotStarted(
                Text("the program cannot be started"), where=Location(Path(command[0])), why=str(error)
            ) from error

    with process_group(start, variables) as process:
        end_first(process.pid)
        watch = AllowanceWatch(process.pid, allowance) if allowance else MachineWatch(variables)
        limit = _collect(process, collected, begun + time_limit, output_limit, stream, kept_output, watch)
        if limit is not None:
            kill_group(process)
    seconds = time.monotonic() - begun
    status = process.returncode
    excess = limit if isinstance(limit, Excess) else None
    if isinstance(limit, Ending):
        ending = limit
    elif excess:
        ending = _EXCEEDED[excess.kind]
    else:
        ending = Ending.SIGNALLED if status < 0 else Ending.EXITED
    return Transcript(
        collected["stdout"].decode("utf-8", "replace"),
        collected["stderr"].decode("utf-8", "replace"),
        ending,
        abs(status),
        seconds,
        excess,
    )


def _collect(  # noqa: PLR0917 - the arguments of `run_program`
    process: subprocess.Popen[bytes],
    collected: dict[str, bytearray],
    deadline: float,
    output_limit: int,
    stream: Callable[[bytes], None] | None,
    kept_output: int | None,
    watch: MachineWatch | AllowanceWatch,
) -> Ending | Excess | None:
    """Reads both pipes until the program ends; returns the limit that it exceeded, or None."""
    assert process.stdout is not None
    assert process.stderr is not None
    total = 0
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ, "stdout")
        selector.register(process.stderr, selectors.EVENT_READ, "stderr")
        while selector.get_map():
            now = time.monotonic()
            if now >= deadline:
                return Ending.TIME_LIMIT
            if excess := watch.excess():
                return excess
            ended = process.poll() is not None
            if ended:
                # The output of the program is already in the pipes; only a child of it could still write.
                deadline = min(deadline, now + _LINGER)
            ready = selector.select(timeout=min(_POLL, deadline - now))
            if ended and not ready:
                return None
            for key, _ in ready:
                data = os.read(key.fd, _CHUNK)
                if not data:
                    selector.unregister(key.fileobj)
                    continue
                name: str = key.data
                collected[name] += data
                total += len(data)
                if name == "stdout" and stream:
                    stream(data)
                if name == "stdout" and kept_output is not None and len(collected[name]) > 2 * kept_output:
                    del collected[name][: len(collected[name]) - kept_output]
                if total > output_limit:
                    return Ending.OUTPUT_LIMIT
    while True:  # it closed its output, and is perhaps still running
        try:
            process.wait(timeout=min(_POLL, max(0.0, deadline - time.monotonic())))
        except subprocess.TimeoutExpired:
            if time.monotonic() >= deadline:
                return Ending.TIME_LIMIT
            if excess := watch.excess():
                return excess
        else:
            return None
