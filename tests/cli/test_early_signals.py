"""A signal that arrives before a command has begun ends it with one line, and no signal loses an answer."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import HERE
from tests.cli.test_learner_commands import RIGHT, course
from tests.cli.test_update import FILL, publish, upstream

if TYPE_CHECKING:
    from tests.cli.conftest import Result, Workbench

__all__ = ["course", "upstream"]

COMMANDS = (
    "start",
    "list",
    "next",
    "hint p01",
    "solution p01",
    "progress",
    "targets",
    "doctor",
    "cache",
    "diff p01",
    "reset p01",
    "run p01",
    "verify --only solution",
    "check",
    "check-translations stamp x",
    "generate --check",
    "book build --output site",
    "matrix --help",
)
CALLS = ("open", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "shutil.rmtree", "subprocess.Popen")
"""The audit events between which the files of an update change."""


def signalled(workbench: Workbench, number: str, moment: int, events: tuple[str, ...], words: str) -> Result:
    from tests.cli.conftest import Result

    command = [sys.executable, str(HERE / "signalled.py"), number, str(moment), *events, "--", *words.split()]
    done = subprocess.run(
        command,
        cwd=workbench.root,
        env=workbench.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        start_new_session=True,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def events_of(result: Result) -> int:
    return int(result.stderr.rpartition("events: ")[2])


@pytest.mark.parametrize("moment", [1, 10, 60])
def test_an_interrupt_while_the_tool_is_imported_ends_it_with_one_line(
    workbench: Workbench, moment: int
) -> None:
    result = signalled(workbench, "SIGINT", moment, ("import",), "list")
    assert (result.status, result.stdout, result.stderr.splitlines()[0]) == (130, "", "interrupted")
    assert result.stderr.splitlines()[1:] in ([], [f"events: {moment}"])


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_an_interrupt_at_any_import_ends_any_command_with_one_line(course: Workbench, command: str) -> None:
    """Twenty moments for each command."""
    total = events_of(signalled(course, "SIGINT", 0, ("import",), command))
    for moment in range(1, total + 1, max(1, total // 20)):
        result = signalled(course, "SIGINT", moment, ("import",), command)
        told = [line for line in result.stderr.splitlines() if not line.startswith("events: ")]
        assert (result.status, told[-1:]) == (130, ["interrupted"]), (moment, result.stderr)
        assert "Traceback" not in result.stderr


@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP"])
def test_other_signals_end_it_silently(workbench: Workbench, number: str) -> None:
    result = signalled(workbench, number, 10, ("import",), "list")
    assert (result.status, result.stdout, result.stderr) == (-signal.Signals[number], "", "")


def files_with(course: Workbench, text: str) -> list[Path]:
    return [path for path in course.problem.parent.iterdir() if text in path.read_text()]


@pytest.mark.slow
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
def test_a_signal_at_any_moment_of_an_update_loses_no_answer(
    course: Workbench, upstream: Path, number: str
) -> None:
    """Each signal at 50 moments; the answer is in the file or a copy, and the next update carries it over."""
    skeleton = course.problem.read_text()
    course.problem.write_text(skeleton.replace(FILL, RIGHT))
    total = events_of(signalled(course, "SIGINT", 0, CALLS, "update"))
    hit = 0
    for trial in range(50):
        mine = f"    # answer {trial}, {number}\n"
        course.problem.write_text(course.problem.read_text().replace(RIGHT, RIGHT + mine))
        publish(upstream, "import os, struct, sys\n", f"import os, struct, sys\n# version {trial}\n")
        result = signalled(course, number, 1 + trial * (total + 60) // 50, CALLS, "update")
        hit += result.status != 0
        assert "Traceback" not in result.stderr, result.stderr
        assert files_with(course, mine), (trial, result)
        restored = mine not in course.problem.read_text()
        if restored:  # a reader who finds the copy puts it back, without the changes of the new version
            assert number == "SIGKILL"
            course.problem.write_text(files_with(course, mine)[0].read_text())
        after = course.run("update")
        assert after.status == 0, after
        assert mine in course.problem.read_text()
        assert restored or f"# version {trial}\n" in course.problem.read_text()
        assert not list(course.root.rglob(".*.tmp"))
        for copy in course.problem.parent.glob("p01.mojo.20*"):
            copy.unlink()
    assert hit > 25
