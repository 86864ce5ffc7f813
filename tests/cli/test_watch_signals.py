"""`tooling watch` in a terminal: a signal at any moment loses no answer and leaves no process."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.test_killed_commands import assert_nothing_is_left
from tests.cli.test_learner_commands import RIGHT, course
from tests.cli.test_watch import Session, save_by_rename, sessions

if TYPE_CHECKING:
    from tests.cli.conftest import Workbench

__all__ = ["course", "sessions"]
MOMENTS = 50
SPAN = 4.0  # seconds: the imports, the first run, a wait, a save and its run

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")]


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
def test_a_signal_at_any_moment_of_watch_leaves_nothing_behind(
    course: Workbench, sessions: list[Session], tmp_path: Path, number: str
) -> None:
    skeleton = course.problem.read_text()
    running = f"PUZZLE_CACHE_DIR={course.environment['PUZZLE_CACHE_DIR']}"
    statuses = []
    for moment in range(MOMENTS):
        text = skeleton.replace("# FILL ME IN (about 2 lines)\n", f"{RIGHT}# answer {moment}\n")
        started = tmp_path / f"started-{moment}"
        session = Session(course, "p01", TEST_STARTED=str(started))
        sessions.append(session)
        while not started.exists():
            time.sleep(0.005)
        seconds = SPAN * moment / MOMENTS
        time.sleep(seconds / 2)
        save_by_rename(course.problem, text)
        time.sleep(seconds / 2)
        os.kill(session.process.pid, signal.Signals[number])
        statuses.append(session.end())
        assert_nothing_is_left(running)
        assert course.problem.read_text() == text
        assert b"Traceback" not in session.written, session.written[-3000:]
        if number != "SIGKILL":  # after which nothing can restore it
            assert session.restored, (moment, session.written[-500:])
        session.close_terminal()
    expected = -signal.Signals[number] if number == "SIGKILL" else 128 + signal.Signals[number]
    assert {*statuses} <= {expected, -signal.Signals[number]}, statuses
    assert course.run("run", "p01").status == 0
