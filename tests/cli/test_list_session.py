"""`tooling list` in a terminal: a puzzle is run, opened, reset and watched."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.test_learner_commands import RIGHT, copies, course
from tests.cli.test_watch import Session, sessions
from tooling.platform.exit_codes import ExitCode

if TYPE_CHECKING:
    from tests.cli.conftest import Workbench

__all__ = ["course", "sessions"]
EDITOR = """\
import sys
print("editing", sys.argv[1].rpartition("/")[2], flush=True)
input()
"""


def test_a_puzzle_is_opened_run_and_reset(course: Workbench, sessions: list[Session]) -> None:
    editor = course.root / "editor.py"
    editor.write_text(EDITOR)
    course.answer(RIGHT)
    session = Session(course, command="list", EDITOR=f"{sys.executable} {editor}", TERM_PROGRAM="")
    sessions.append(session)
    session.wait_for("0 of 2 puzzles solved")
    session.press("e")
    session.wait_for("editing p01.mojo")
    session.forget()
    session.press("\n")
    session.wait_for("0 of 2 puzzles solved")
    session.press("r")
    session.wait_for("✅ p01 passed")
    session.wait_for("press a key to return to the list")
    session.forget()
    session.press(" ")
    session.wait_for("1 of 2 puzzles solved")
    session.press("x")
    session.wait_for("press x again to write the skeleton of p01 again; your file is kept")
    session.forget()
    session.press("x")
    session.wait_for("problems/p01/p01.mojo is the skeleton again")
    session.wait_for("0 of 2 puzzles solved")
    assert len(copies(course)) == 1
    session.press("q")
    assert session.end() == ExitCode.PASSED


def test_a_puzzle_is_watched_and_the_list_comes_back(course: Workbench, sessions: list[Session]) -> None:
    course.answer(RIGHT)
    session = Session(course, "--lang", "ko", command="list", VISUAL="/nonexistent/ed")
    sessions.append(session)
    session.wait_for("퍼즐 2개 중 0개를 풀었습니다")
    session.press("e")
    session.wait_for("편집기 `/nonexistent/ed`를 시작하지 못했습니다: No such file or directory")
    session.press("\r")
    session.wait_for("배운 것: 커널은 스레드 하나의 일입니다.")
    session.forget()
    session.press("q")
    session.wait_for("퍼즐 2개 중 1개를 풀었습니다")
    session.press("q")
    assert session.end() == ExitCode.PASSED


def test_a_key_that_is_typed_before_the_list_appears_is_read(
    course: Workbench, sessions: list[Session]
) -> None:
    session = Session(course, command="list")
    sessions.append(session)
    session.press("q")
    assert session.end() == ExitCode.PASSED
    assert session.restored


@pytest.mark.parametrize("options", [["--plain"], ["--modes"], ["--json"]])
def test_the_list_is_printed_where_that_is_asked_for(
    course: Workbench, sessions: list[Session], options: list[str]
) -> None:
    session = Session(course, *options, command="list")
    sessions.append(session)
    assert session.end() == ExitCode.PASSED
