"""Runs one program under a time limit and an output limit."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import Path

from msgspec import Struct

from tooling.platform.errors import Location, ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.processes import kill_group, marked, process_group, signal_name, start_piped
from tooling.text import Text

DEFAULT_OUTPUT_LIMIT = 4 * 1024 * 1024  # bytes of stdout and stderr together
_CHUNK = 64 * 1024
_LINGER = 0.5  # seconds for which output may still arrive after the program has ended
_NOISE = (
    "stack trace was not collected",
    "To get more accurate error information, set MODULAR_DEBUG",
    "Failed to initialize Crashpad",
)


class ProgramNotStarted(ToolingError):
    """A built program could not be started."""

    exit_code = ExitCode.NOT_POSSIBLE


class Ending(Enum):
    """Why a program is no longer running."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    TIME_LIMIT = "time-limit"
    OUTPUT_LIMIT = "output-limit"


class Transcript(Struct, frozen=True):
    """The output of a program and how it ended."""

    stdout: str
    stderr: str
    ending: Ending
    status: int  # exit status; for SIGNALLED the signal's number
    seconds: float

    @property
    def signal_name(self) -> str:
        """The name, such as SIGSEGV, of the signal that ended the program."""
        return signal_name(self.status)


def without_noise(stderr: str) -> str:
    """What a Mojo program wrote to stderr, without the lines of its runtime about settings for debugging."""
    return "".join(line for line in stderr.splitlines(keepends=True) if not line.startswith(_NOISE))


def run_program(
    command: Sequence[str | Path],
    *,
    environment: Mapping[str, str],
    time_limit: float,
    output_limit: int = DEFAULT_OUTPUT_LIMIT,
    kept_output: int | None = None,
    stream: Callable[[bytes], None] | None = None,
    folder: Path | None = None,
) -> Transcript:
    """Runs a program to its end, or to one of its limits, and leaves no process behind.

    Args:
        environment: all of the program's environment variables.
        time_limit: seconds.
        output_limit: bytes of stdout and stderr together.
        kept_output: the least number of the last bytes of stdout that the transcript keeps; None: all.
        stream: receives stdout as it arrives.
        folder: the working directory.

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
        ending = _collect(process, collected, begun + time_limit, output_limit, stream, kept_output)
        if ending is not None:
            kill_group(process)
    seconds = time.monotonic() - begun
    status = process.returncode
    if ending is None:
        ending = Ending.SIGNALLED if status < 0 else Ending.EXITED
    return Transcript(
        collected["stdout"].decode("utf-8", "replace"),
        collected["stderr"].decode("utf-8", "replace"),
        ending,
        abs(status),
        seconds,
    )


def _collect(  # noqa: PLR0917 - the arguments of `run_program`
    process: subprocess.Popen[bytes],
    collected: dict[str, bytearray],
    deadline: float,
    output_limit: int,
    stream: Callable[[bytes], None] | None,
    kept_output: int | None,
) -> Ending | None:
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
            ended = process.poll() is not None
            if ended:
                # The output of the program is already in the pipes; only a child of it could still write.
                deadline = min(deadline, now + _LINGER)
            ready = selector.select(timeout=min(0.05, deadline - now))
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
    try:
        process.wait(timeout=max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return Ending.TIME_LIMIT  # it closed its output and is still running
    return None
