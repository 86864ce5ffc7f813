"""A command of the tool that runs in the background, can be ended at any time, and whose output is kept."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tooling.platform.processes import group_ended_if_killed
from tooling.reports.status_line import PHASES_VARIABLE

_KEPT = 200_000  # bytes of the output, half of them from its end
_GRACE = 10.0  # seconds for a command to end its own children


def own_command() -> list[str]:
    """How this process was started, to start the tool once more."""
    script = Path(sys.argv[0])
    if script.is_file() and script.name != "__main__.py":
        return [sys.executable, str(script)]
    return [sys.executable, "-m", "tooling"]


class BackgroundRun:
    """One command of the tool.

    Attributes:
        status: its exit status; None while it runs.
        started: `time.monotonic()` at its start.
        phases: what it said that it does, each with `time.monotonic()` then; only of `tooling run`.
        seconds: what it took.
    """

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str], on_end: Callable[[], None]
    ) -> None:
        """Starts the command.

        Args:
            on_end: called by another thread when it has ended.
        """
        self.status: int | None = None
        self.started = time.monotonic()
        self.seconds = 0.0
        self.phases: list[tuple[str, float]] = []
        phases, told = os.pipe()
        self._output = bytearray()
        self._cut = False
        self._process = subprocess.Popen(
            [*own_command(), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**environment, PHASES_VARIABLE: str(told)},
            pass_fds=(told,),
            start_new_session=True,
        )
        os.close(told)
        threading.Thread(target=self._read_phases, args=(phases,), daemon=True).start()
        self._guard = contextlib.ExitStack()
        self._guard.enter_context(group_ended_if_killed(self._process.pid))
        self._reader = threading.Thread(target=self._read, args=(on_end,), daemon=True)
        self._reader.start()

    @property
    def output(self) -> str:
        """What it has printed; of a long output the beginning and the end."""
        return self._output.decode("utf-8", "replace")

    def end(self) -> None:
        """Ends the command and waits for it: SIGTERM first, so that it ends its own children."""
        if self._process.poll() is None:
            self._process.terminate()
        try:
            self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._reader.join(_GRACE)

    def _read(self, on_end: Callable[[], None]) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as stream:
            while data := stream.read1(65536):  # type: ignore[attr-defined] # a BufferedReader
                self._output += data
                if len(self._output) > _KEPT:
                    self._output[_KEPT // 2 : -_KEPT // 2] = b"\n[...]\n" if not self._cut else b""
                    self._cut = True
        status = self._process.wait()
        self._guard.close()
        self.seconds = time.monotonic() - self.started
        self.status = status  # the last: other threads take it for the end
        on_end()

    def _read_phases(self, descriptor: int) -> None:
        with os.fdopen(descriptor, encoding="utf-8", errors="replace") as stream:
            for line in stream:
                self.phases.append((line.rstrip("\n"), time.monotonic()))
