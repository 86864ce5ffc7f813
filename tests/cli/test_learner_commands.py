"""`tooling start`, `next`, `hint`, `solution`, `diff`, `reset` and `progress`, as a learner meets them."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import HERE
from tooling.platform.exit_codes import ExitCode

if TYPE_CHECKING:
    from tests.cli.conftest import Workbench

LEARNT = "learnt: {en: A kernel is the work of one thread., ko: 커널은 스레드 하나의 일입니다.}\n"
RIGHT = "for i in range(8):\n    out[i] = a[i] + 10\n"


@pytest.fixture
def course(workbench: Workbench) -> Workbench:
    """Puzzles 1 (unsolved, with a skeleton) and 34 (two modes, one to solve)."""
    workbench.add_p34()
    workbench.manifest.write_text(workbench.manifest.read_text().replace("modes:\n", f"{LEARNT}modes:\n", 1))
    assert workbench.run("reset", "p01").status == ExitCode.PASSED
    for copy in workbench.problem.parent.glob("p01.mojo.*"):
        copy.unlink()
    return workbench


def in_terminal(workbench: Workbench, *arguments: str, typed: str = "", columns: int = 80) -> str:
    """What a command shows in a terminal; its status must be 0."""
    leader, follower = pty.openpty()
    environment = {**workbench.environment, "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": str(columns)}
    process = subprocess.Popen(
        [sys.executable, str(HERE / "launcher.py"), *arguments],
        cwd=workbench.root,
        env=environment,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    os.close(follower)
    os.write(leader, typed.encode())
    shown = b""
    while True:
        try:
            data = os.read(leader, 4096)
        except OSError:  # the other end is closed
            break
        if not data:
            break
        shown += data
    os.close(leader)
    assert process.wait(30) == 0, shown.decode()
    return shown.decode().replace("\r\n", "\n")


def test_start_shows_the_next_puzzle_and_what_to_type(course: Workbench) -> None:
    result = course.run("start")
    assert result.status == ExitCode.PASSED, result.stderr
    assert "0 of 2 puzzles solved\n" in result.stdout
    assert "next: puzzle 1, Map (part I)\n  file: problems/p01/p01.mojo\n" in result.stdout
    assert "complete the region marked `FILL ME IN`" in result.stdout
    for command in ("watch p01", "run p01", "hint p01", "progress"):
        assert f"  tooling {command}" in result.stdout


@pytest.mark.parametrize(
    ("environment", "korean"),
    [
        ({"LANG": "ko_KR.UTF-8"}, True),
        ({"PUZZLE_LANG": "ko", "LANG": "en_US.UTF-8"}, True),
        ({"PUZZLE_LANG": "en", "LANG": "ko_KR.UTF-8"}, False),
        ({"LC_ALL": "C.UTF-8", "LANG": "ko_KR.UTF-8"}, False),
        ({"LANG": "kok_IN"}, False),
    ],
)
def test_the_language_is_that_of_the_locale(
    course: Workbench, environment: dict[str, str], korean: bool
) -> None:
    shown = course.run("next", **environment).stdout
    assert ("다음: 퍼즐 1, 맵" in shown, "next: puzzle 1, Map" in shown) == (korean, not korean)


def test_start_is_what_tooling_alone_does_in_a_terminal_and_help_elsewhere(course: Workbench) -> None:
    assert "next: puzzle 1, Map" in in_terminal(course)
    result = course.run()
    assert result.status == ExitCode.USAGE
    assert "`tooling --help` shows all commands." in result.stdout


def test_every_line_fits_a_terminal_of_80_columns(course: Workbench) -> None:
    for arguments in (["start"], ["next"], ["progress"], ["start", "--lang", "ko"]):
        assert max(map(len, in_terminal(course, *arguments).splitlines())) <= 80


def test_a_success_says_what_was_learnt_and_what_is_next(course: Workbench) -> None:
    course.answer(RIGHT)
    result = course.run("run", "p01")
    assert result.status == ExitCode.PASSED, result.stderr
    assert "  learnt: A kernel is the work of one thread.\n" in result.stdout
    assert "  next: puzzle 34, Clusters: `tooling watch p34 --coordination`\n" in result.stdout
    assert "next: puzzle 34, Clusters (part XI)  --coordination" not in course.run("next").stdout
    assert "next: puzzle 34, Clusters (part XI)\n" in course.run("next").stdout
    korean = course.run("run", "p01", "--lang", "ko").stdout
    assert "  배운 것: 커널은 스레드 하나의 일입니다.\n" in korean


def test_the_last_success_says_that_all_is_solved(course: Workbench) -> None:
    course.answer(RIGHT)
    course.run("run", "p01")
    assert "all puzzles are solved" in course.run("run", "p34", "--coordination").stdout
    assert "all puzzles are solved" in course.run("start").stdout
    result = course.run("hint")
    assert result.status == ExitCode.USAGE
    assert "all puzzles are solved" in result.stderr


def test_the_next_puzzle_follows_the_one_solved_last(course: Workbench) -> None:
    course.run("run", "p34", "--coordination")
    assert "next: puzzle 1, Map" in course.run("next").stdout


def test_progress_names_the_gpu(course: Workbench, tmp_path: Path) -> None:
    assert "nothing is solved yet; `tooling next`" in course.run("progress").stdout
    course.answer(RIGHT)
    course.run("run", "p01")
    shown = course.run("progress").stdout
    assert "1 of 2 puzzles solved" in shown
    assert "Part I: First kernels  1/1\n  ✓ p01  Map" in shown
    assert shown.split("p01", 1)[1].splitlines()[0].endswith("test GPU")
    report = json.loads(course.run("progress", "--json", "-").stdout)
    assert (report["solved"], report["total"], report["next"]) == (1, 2, "p34 --coordination")
    (mode,) = report["puzzles"][0]["modes"]
    assert mode["solved"]["device"] == "test GPU"
    assert course.run("progress", "--json", str(tmp_path / "progress.json")).stdout == ""
    assert json.loads((tmp_path / "progress.json").read_text()) == report


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "hint 1 of 3: Which element is yours?\n  the next one: `tooling hint p01 2`\n"),
        (["p01"], "hint 1 of 3: Which element is yours?\n"),
        (["p01", "2"], "hint 2 of 3: Use thread_idx.x.\n  the next one: `tooling hint p01 3`\n"),
        (["p01", "3"], "  that was the last one; the solution: `tooling solution p01`\n"),
        (["p34"], "hint 1 of 3: a\n  the next one: `tooling hint p34 --coordination 2`\n"),
        (["p34", "--coordination", "2"], "hint 2 of 3: b\n"),
    ],
)
def test_hints_are_shown_one_at_a_time(course: Workbench, words: list[str], says: str) -> None:
    result = course.run("hint", *words)
    assert result.status == ExitCode.PASSED, result.stderr
    assert says in result.stdout


def test_a_hint_that_does_not_exist_is_refused_in_the_readers_language(course: Workbench) -> None:
    assert "has no hint 9" in course.run("hint", "p01", "9").stderr
    assert "힌트 9번이 없습니다" in course.run("hint", "p01", "9", "--lang", "ko").stderr
    assert "one puzzle at a time" in course.run("hint", "p01", "p34").stderr
    assert "did you mean `--coordination`?" in course.run("hint", "p34", "--cordination").stderr


def test_the_solution_is_shown_after_one_question(course: Workbench) -> None:
    refused = course.run("solution", "p01")
    assert refused.status == ExitCode.USAGE
    assert "add --yes" in refused.stderr
    assert "out[i] = a[i] + 10" not in refused.stdout
    no = in_terminal(course, "solution", "p01", typed="n\n")
    assert "You have not solved p01 yet. Show the solution? [y/N]" in no
    assert "not shown; a hint: `tooling hint p01`" in no
    assert "out[i] = a[i] + 10" not in no
    yes = in_terminal(course, "solution", "p01", typed="y\n")
    assert "# solutions/p01/p01.mojo" in yes
    assert "\nfor i in range(8):\n    out[i] = a[i] + 10\n" in yes
    assert "FILL" not in yes
    assert "not solved" not in in_terminal(course, "solution", "p01")


def test_a_solved_puzzle_shows_its_solution_without_a_question(course: Workbench) -> None:
    course.answer(RIGHT)
    course.run("run", "p01")
    assert "out[i] = a[i] + 10" in course.run("solution", "p01").stdout
    assert "your program of p01 is the same as the solution" in course.run("diff", "p01").stdout


def test_diff_shows_both_programs(course: Workbench) -> None:
    course.answer("for i in range(7):\n    out[i] = a[i] + 10\n")
    unified = course.run("diff", "p01", "--yes")
    assert unified.status == ExitCode.PASSED, unified.stderr
    assert "--- yours\n+++ solution\n" in unified.stdout
    assert "-for i in range(7):\n+for i in range(8):\n" in unified.stdout
    wide = in_terminal(course, "diff", "p01", columns=120)
    row = next(line for line in wide.splitlines() if "range(7)" in line)
    assert "range(8)" in row
    assert "+for i" in in_terminal(course, "diff", "p01", columns=80)


def copies(workbench: Workbench) -> list[Path]:
    return sorted(workbench.problem.parent.glob("p01.mojo.20*"))


def test_reset_keeps_the_readers_file(course: Workbench) -> None:
    skeleton = course.problem.read_text()
    assert "FILL ME IN (about 2 lines)" in skeleton
    course.problem.write_text("mine\n")
    result = course.run("reset", "p01")
    assert result.status == ExitCode.PASSED, result.stderr
    (copy,) = copies(course)
    assert copy.read_text() == "mine\n"
    assert f"your file is kept: {copy.relative_to(course.root)}" in result.stdout
    assert course.problem.read_text() == skeleton
    again = course.run("reset", "p01")
    assert "is the skeleton already" in again.stdout
    assert copies(course) == [copy]
    course.problem.unlink()
    assert course.run("reset", "p01").status == ExitCode.PASSED
    assert course.problem.read_text() == skeleton
    assert copies(course) == [copy]


def test_commands_can_be_typed_where_the_reader_is(course: Workbench, tmp_path: Path) -> None:
    shown = course.run("start", UV="/elsewhere/uv", PATH="").stdout
    assert "  /elsewhere/uv run tooling run p01 " in shown
    pixi = course.run("next", PIXI_ENVIRONMENT_NAME="sim").stdout
    assert "  pixi run -e sim tooling watch p01 " in pixi
