"""The checks of the whole repository that need neither a GPU nor a compiler, each with its own verdict."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from enum import Enum

from tooling.exit_codes import ExitCode
from tooling.processes import program_pool, run_captured
from tooling.project import Project

_TIME_LIMIT = 900.0  # seconds; the checks take seconds


@dataclass(frozen=True, slots=True)
class Check:
    """One command of this tool that finds something or does not."""

    name: str
    arguments: tuple[str, ...]

    @property
    def command(self) -> str:
        """What a person types to run it alone."""
        return " ".join(("tooling", *self.arguments))


CHECKS: tuple[Check, ...] = (
    Check("generated files", ("generate", "--check")),
    Check("translations", ("check-translations", "--check")),
    Check("book", ("book", "check")),
)


class Finding(Enum):
    """What came of a check."""

    NOTHING = "passed"
    SOMETHING = "failed"
    NOT_RUN = "could not run"  # which is no pass


@dataclass(frozen=True, slots=True)
class Outcome:
    """A check with what it said."""

    check: Check
    finding: Finding
    output: str  # of both streams
    seconds: float


def run_checks(project: Project, checks: Sequence[Check] = CHECKS) -> Generator[Outcome, None, None]:
    """Runs the checks beside each other, each in a process; the outcomes come in the table's order.

    Closing it ends the checks that still run.
    """
    with program_pool(len(checks)) as pool:
        yield from pool.map(lambda check: _run(check, project), checks)


def _run(check: Check, project: Project) -> Outcome:
    start = time.monotonic()
    environment = {**os.environ, "PUZZLE_ROOT": str(project.root), "PYTHONIOENCODING": "utf-8"}
    try:
        done = run_captured(
            [sys.executable, "-m", "tooling", *check.arguments],
            environment=environment,
            folder=project.root,
            time_limit=_TIME_LIMIT,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Outcome(check, Finding.NOT_RUN, str(error), time.monotonic() - start)
    if done.timed_out:
        finding = Finding.NOT_RUN
    else:
        known = {ExitCode.PASSED: Finding.NOTHING, ExitCode.WRONG: Finding.SOMETHING}
        finding = next((value for code, value in known.items() if code == done.status), Finding.NOT_RUN)
    output = (done.stdout + done.stderr).strip()
    if done.timed_out:
        output += f"\nit did not end within {_TIME_LIMIT:.0f} s"
    return Outcome(check, finding, output, time.monotonic() - start)
