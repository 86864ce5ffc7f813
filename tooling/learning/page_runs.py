"""Runs that a page of `tooling book serve` asks for: one at a time, in the background."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

from tooling.catalog.catalogue import Selection, load_catalogue
from tooling.learning.background_run import BackgroundRun
from tooling.platform.errors import ToolingError
from tooling.project import Project
from tooling.text.colours import BASIC_STYLES

_STYLE = re.compile(r"\x1b\[([\d;]*)m")
_CONTROL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|.)?|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class PageRuns:
    """The last run that was asked for; safe for use by several threads."""

    def __init__(self, project: Project, environment: Mapping[str, str]) -> None:
        """No run yet.

        Args:
            environment: of the runs, without language and colour.
        """
        self._project = project
        self._environment = environment
        self._lock = threading.Lock()
        self._known: set[str] = set()
        self._command = ""
        self._run: BackgroundRun | None = None

    def start(self, command: str, language: str) -> None:
        """Builds, runs and judges the reader's file; an earlier run is ended.

        Raises:
            LookupError: no program has this mode.
        """
        if command not in self._commands():
            raise LookupError(command)
        environment = {
            # Without COLUMNS nothing is wrapped: the page does that.
            **{name: text for name, text in self._environment.items() if name not in ("COLUMNS", "NO_COLOR")},
            "FORCE_COLOR": "1",
            "TERM": "xterm",  # with basic colours, whose names the page has
            "COLORTERM": "",
            "PUZZLE_LANG": language,
            "PYTHONIOENCODING": "utf-8",
        }
        with self._lock:
            self._end()
            self._command = command
            self._run = BackgroundRun(["run", *command.split()], environment, lambda: None)

    def stop(self) -> None:
        """Ends the run, if there is one."""
        with self._lock:
            self._end()

    def state(self) -> dict[str, Any]:
        """The last run: command, whether it is running, status, seconds, and output in styled pieces."""
        with self._lock:
            run, command = self._run, self._command
        if run is None:
            return {"command": "", "running": False, "status": None, "seconds": 0, "output": []}
        running = run.status is None
        seconds = round(time.monotonic() - run.started) if running else round(run.seconds, 1)
        return {
            "command": command,
            "running": running,
            "status": run.status,
            "seconds": seconds,
            "output": list(styled(run.output)),
        }

    def _commands(self) -> set[str]:
        # The run reports a manifest that is wrong now.
        with contextlib.suppress(ToolingError):
            self._known = {
                Selection(puzzle, puzzle.program(name), mode).command
                for puzzle in load_catalogue(self._project)
                for mode in puzzle.modes
                for name in mode.programs
            }
        return self._known

    def _end(self) -> None:
        if self._run:
            self._run.end()
        self._run, self._command = None, ""


def styled(text: str) -> Iterator[tuple[str, str]]:
    """Pieces of terminal output, each with its style (as of `Terminal.paint`); other codes are dropped."""
    style = ""
    for index, piece in enumerate(_STYLE.split(text)):
        if index % 2:
            style = BASIC_STYLES.get(piece, "")
        elif shown := _CONTROL.sub("", piece):
            yield shown, style
