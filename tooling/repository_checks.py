"""The checks of the repository that need neither a GPU nor a compiler."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from enum import Enum

from msgspec import Struct

from tooling.platform.exit_codes import ExitCode
from tooling.platform.processes import run_captured
from tooling.platform.workers import program_pool
from tooling.project import Project
from tooling.reports.annotations import COMMANDS

_TIME_LIMIT = 900.0  # seconds; the checks take seconds


class RepositoryCheck(Struct, frozen=True):
    """One command of this tool that checks the repository."""

    name: str
    arguments: tuple[str, ...]

    @property
    def command(self) -> str:
        """The command line that runs only this check."""
        return " ".join(("tooling", *self.arguments))


CHECKS: tuple[RepositoryCheck, ...] = (
    RepositoryCheck("generated files", ("generate", "--check")),
    RepositoryCheck(
        "translations", ("check-translations", "--all-languages", "--fail-on", "warning")
    ),  # its baseline is 0 warnings
    RepositoryCheck("book", ("book", "check")),
)


class CheckResult(Enum):
    """The result of a check."""

    NOTHING = "passed"  # it found nothing
    SOMETHING = "failed"
    NOT_RUN = "could not run"  # does not count as passed


class CheckOutcome(Struct, frozen=True):
    """A check with its result and output."""

    check: RepositoryCheck
    finding: CheckResult
    output: str  # of both streams
    seconds: float
    annotations: tuple[str, ...] = ()  # workflow commands that it printed, in a GitHub workflow


def run_checks(
    project: Project, checks: Sequence[RepositoryCheck] = CHECKS
) -> Generator[CheckOutcome, None, None]:
    """Runs the checks concurrently, each in a process; yields the outcomes in the order of `checks`.

    Closing the generator ends the checks that are still running.
    """
    with program_pool(len(checks)) as pool:
        yield from pool.map(lambda check: _run(check, project), checks)


def _run(check: RepositoryCheck, project: Project) -> CheckOutcome:
    start = time.monotonic()
    environment = {**os.environ, "PUZZLE_ROOT": str(project.root), "PYTHONIOENCODING": "utf-8"}
    environment.pop("GITHUB_STEP_SUMMARY", None)  # one summary is written for all checks
    try:
        done = run_captured(
            [sys.executable, "-m", "tooling", *check.arguments],
            environment=environment,
            folder=project.root,
            time_limit=_TIME_LIMIT,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return CheckOutcome(check, CheckResult.NOT_RUN, str(error), time.monotonic() - start)
    if done.timed_out:
        finding = CheckResult.NOT_RUN
    else:
        known = {ExitCode.PASSED: CheckResult.NOTHING, ExitCode.WRONG: CheckResult.SOMETHING}
        finding = next((value for code, value in known.items() if code == done.status), CheckResult.NOT_RUN)
    lines = (done.stdout + done.stderr).strip().splitlines()
    annotations = tuple(line for line in lines if line.startswith(COMMANDS))
    output = "\n".join(line for line in lines if not line.startswith(COMMANDS)).strip()
    if done.timed_out:
        output += f"\nit did not end within {_TIME_LIMIT:.0f} s"
    return CheckOutcome(check, finding, output, time.monotonic() - start, annotations)
