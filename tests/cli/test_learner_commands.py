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
from tooling.progress import record_solved

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


def test_the_next_puzzle_is_the_first_that_is_not_solved(course: Workbench) -> None:
    course.add_puzzle("p02", 2, "Zip")
    course.run("run", "p34", "--coordination")
    assert "next: puzzle 1, Map" in course.run("next").stdout
    course.run("run", "p02")
    assert "next: puzzle 1, Map" in course.run("next").stdout
    course.answer(RIGHT)
    assert "  all puzzles are solved" in course.run("run", "p01").stdout


@pytest.mark.parametrize("options", [("--fast",), ("--path", "fast")], ids=" ".join)
def test_a_path_is_chosen_and_left(course: Workbench, options: tuple[str, ...]) -> None:
    write_paths(course, "fast: {title: {en: clusters first, ko: 클러스터부터}, puzzles: [34]}\n")
    shown = course.run("start", *options).stdout
    assert (
        "\npath `fast`: clusters first\n  p34\n  the order of the book again: `tooling start --whole`\n"
    ) in shown
    for command in ("start", "next"):
        assert "next: puzzle 34, Clusters" in course.run(command).stdout
    assert "경로 `fast`: 클러스터부터\n" in course.run("start", "--lang", "ko").stdout
    course.run("run", "p34", "--coordination")
    assert "path `fast`" not in course.run("start").stdout
    assert "next: puzzle 1, Map" in course.run("next").stdout
    course.run("reset", "p34")
    assert "next: puzzle 34, Clusters" in course.run("next").stdout
    assert "next: puzzle 1, Map" in course.run("start", "--whole").stdout


def test_list_and_progress_follow_the_path(course: Workbench) -> None:
    course.add_puzzle("p02", 2, "Zip")
    write_paths(course, "back: {title: {en: backwards, ko: 거꾸로}, puzzles: [34, 1]}\n")
    course.run("start", "--path", "back")
    listed = course.run("list").stdout
    heading = "path `back`: backwards\n"
    assert listed.startswith(heading)
    assert [line.split()[0] for line in listed.splitlines() if line.startswith("    p")] == [
        *("p34", "p01", "p02"),
    ]
    assert heading.strip() in course.run("list", "--modes").stdout
    assert heading.strip() not in course.run("list", "--part", "I").stdout
    puzzles = json.loads(course.run("list", "--json").stdout)["puzzles"]
    assert [puzzle["id"] for puzzle in puzzles] == ["p34", "p01", "p02"]
    course.run("run", "p34", "--coordination")
    shown = course.run("progress").stdout
    assert "\npath `back`: backwards  1/2\n  ✓ p34" in shown
    assert shown.index(" p01 ") < shown.index("  0/1\n") < shown.index(" p02 ")
    assert json.loads(course.run("progress", "--json").stdout)["path"] == "back"
    course.run("start", "--whole")
    assert json.loads(course.run("progress", "--json").stdout)["path"] is None


def test_a_path_must_exist(course: Workbench) -> None:
    missing = course.run("start", "--path", "gpu")
    assert missing.status == ExitCode.USAGE
    assert "there is no path `gpu`" in missing.stderr
    write_paths(course, "fast: {title: {en: a}, puzzles: [34]}\nall: {title: {en: b}, puzzles: [1]}\n")
    other = course.run("start", "--path", "gpu")
    assert "  try: one of fast, all\n" in other.stderr
    assert course.run("start", "--fast", "--whole").status == ExitCode.USAGE
    course.run("start", "--fast")
    (course.root / "problems" / "paths.yaml").unlink()
    assert "next: puzzle 1, Map" in course.run("next").stdout


def write_paths(course: Workbench, text: str) -> None:
    (course.root / "problems" / "paths.yaml").write_text(text, "utf-8")


def test_several_puzzles_are_judged_in_one_command(course: Workbench) -> None:
    course.answer(RIGHT)
    both = course.run("run", "p01", "p34", "--coordination")
    assert both.status == ExitCode.PASSED, both.stderr
    assert both.stdout.index("✅ p01 passed") < both.stdout.index("✅ p34 --coordination passed")
    table = both.stdout.rpartition("\n\n")[2].splitlines()
    assert [line.split("  ")[0].strip() for line in table] == ["✓ p01", "✓ p34 --coordination"]
    course.answer("pass\n")
    wrong = course.run("run", "p34", "--coordination", "p01", "--json")
    assert wrong.status == ExitCode.WRONG
    table = wrong.stderr.rpartition("\n\n")[2].splitlines()
    assert [line[0] for line in table] == ["✓", "✗", " "]
    assert "the kernel wrote nothing into `out`" in table[2]
    report = json.loads(wrong.stdout)
    assert [each["status"] for each in report["results"]] == ["passed", "failed"]
    course.problem.write_text("x    # compile error\n")
    broken = course.run("run", "p01", "p34", "--coordination")
    assert broken.status == ExitCode.BUILD_FAILED
    assert "p01.mojo does not compile (1 error)" in broken.stdout
    assert "✅ p34 --coordination passed" in broken.stdout
    unknown = course.run("run", "p34", "p01")
    assert (unknown.status, unknown.stdout) == (ExitCode.USAGE, "")
    assert "`p34` has 2 modes: say which" in unknown.stderr
    assert "one puzzle at a time" in course.run("run", "p01", "p34", "--coordination", "--hint").stderr


def test_everything_that_is_solved_is_judged_again(course: Workbench, tmp_path: Path) -> None:
    nothing = course.run("check-answers")
    assert nothing.status == ExitCode.USAGE
    assert "nothing is solved in this folder yet" in nothing.stderr
    course.answer(RIGHT)
    course.run("run", "p01", "p34", "--coordination")
    good = course.run("check-answers")
    assert good.status == ExitCode.PASSED, good.stderr
    lines = good.stdout.splitlines()
    assert (lines[0], lines[-1]) == ("on test GPU", "all 2 answers pass")
    assert [line.split()[:2] for line in lines[1:3]] == [["✓", "p01"], ["✓", "p34"]]
    course.answer("pass\n")
    wrong = course.run("check-answers", "--json", str(tmp_path / "report.json"))
    assert wrong.status == ExitCode.WRONG
    assert "    the kernel wrote nothing into `out`\n" in wrong.stdout
    assert wrong.stdout.endswith("1 of 2 answers pass\n")
    report = json.loads((tmp_path / "report.json").read_text())
    assert [each["status"] for each in report["results"]] == ["failed", "passed"]
    assert course.run("check-answers", "34").stdout.endswith("1 answer passes\n")
    korean = course.run("check-answers", "--lang", "ko").stdout
    assert korean.endswith("답 2개 가운데 1개가 통과했습니다\n")
    assert "there is no puzzle `p02`" in course.run("check-answers", "p02").stderr


def test_an_answer_that_another_gpu_cannot_run_is_not_judged(course: Workbench) -> None:
    course.run("run", "p34", "--coordination")
    result = course.run("check-answers", "--target", "amd")
    assert result.status == ExitCode.NOT_POSSIBLE
    assert "– p34 --coordination\n    `p34 --coordination` does not run on the target `amd`" in result.stdout
    assert "clusters exist on NVIDIA SM 9.0 and later only" in result.stdout
    assert result.stdout.endswith("1 could not be judged here\n")


def test_progress_says_where_an_answer_has_passed_on_one_vendor_only(course: Workbench) -> None:
    course.answer(RIGHT)
    for name, vendor in (("p01", "NVIDIA H200"), ("p01", "AMD Instinct MI300X"), ("p34", "NVIDIA H200")):
        mode = "coordination" if name == "p34" else "default"
        record_solved(course.root, name, mode, program=name, device=vendor)
    p01, p34 = (line for line in course.run("progress").stdout.splitlines() if "NVIDIA H200" in line)
    assert p01.endswith("NVIDIA H200, AMD Instinct MI300X")
    assert p34.endswith("NVIDIA H200  (NVIDIA only)")


def test_progress_is_taken_along_to_another_folder(course: Workbench, tmp_path: Path) -> None:
    course.answer(RIGHT)
    course.run("run", "p01")
    file = tmp_path / "mine.json"
    assert course.run("progress", "--export", str(file)).stdout == ""
    assert course.run("reset", "all", "--yes").status == ExitCode.PASSED
    assert "0 of 2 puzzles solved" in course.run("progress").stdout
    imported = course.run("progress", "--import", str(file))
    assert imported.stdout.startswith("1 part of a puzzle was added\n")
    assert "1 of 2 puzzles solved" in imported.stdout
    missing = course.run("progress", "--import", str(tmp_path))
    assert missing.status == ExitCode.USAGE
    assert f"{tmp_path}/.progress.json: there is no record of progress" in missing.stderr


def test_the_record_of_an_earlier_version_is_named(course: Workbench, tmp_path: Path) -> None:
    earlier = tmp_path / ".local" / "state" / "gpu-puzzle-lab" / "progress.json"
    earlier.parent.mkdir(parents=True)
    earlier.write_text('{"version": 1, "checkouts": {"/old": {"p01": {"default": "2026-01-01T00:00:00Z"}}}}')
    shown = course.run("start").stdout
    assert f"`tooling progress --import {os.path.relpath(earlier, course.root)}`" in shown
    course.run("progress", "--import", str(earlier))
    assert "--import" not in course.run("start").stdout


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
    assert json.loads(course.run("progress", "--json").stdout) == report
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


def test_a_puzzle_that_is_reset_is_not_solved(course: Workbench) -> None:
    course.answer(RIGHT)
    course.run("run", "p01", "p34", "--coordination")
    course.run("reset", "p01")
    assert "1 of 2 puzzles solved" in course.run("progress").stdout
    assert "next: puzzle 1, Map" in course.run("next").stdout


def test_everything_is_reset_after_one_question(course: Workbench) -> None:
    skeleton = course.problem.read_text()
    course.answer(RIGHT)
    course.run("run", "p01", "p34", "--coordination")
    refused = course.run("reset", "all")
    assert refused.status == ExitCode.USAGE
    assert "add --yes" in refused.stderr
    assert "[y/N]" in in_terminal(course, "reset", "all", typed="n\n")
    assert "2 of 2 puzzles solved" in course.run("progress").stdout
    said = in_terminal(course, "reset", "all", typed="y\n")
    assert "2 files were written again, and nothing is solved now" in said
    assert (course.problem.read_text(), len(copies(course))) == (skeleton, 1)
    assert "0 of 2 puzzles solved" in course.run("progress").stdout
    again = course.run("reset", "all", "--yes", "--lang", "ko").stdout
    assert again == "파일 0개를 다시 썼고, 푼 퍼즐 기록을 지웠습니다\n"


def test_usage_help_and_hints_have_the_readers_own_form_of_commands(course: Workbench) -> None:
    manifest = course.manifest.read_text().replace("Use thread_idx.x.", "Run `tooling profile p01`.")
    course.manifest.write_text(manifest)
    own = {"UV": "/elsewhere/uv", "PATH": ""}
    tool = "/elsewhere/uv run tooling"
    helped = course.run("hint", "--help", **own).stdout
    assert helped.startswith(f"usage: {tool} hint [-h]")
    assert f"Examples: {tool} hint; {tool} hint p15;" in " ".join(helped.split())
    assert course.run("--help", **own).stdout.startswith(f"usage: {tool} [-h]")
    assert course.run("book", "--help", **own).stdout.startswith(f"usage: {tool} book [-h]")
    assert f"Run `{tool} profile p01`." in course.run("hint", "p01", "2", **own).stdout
    for language, usage in (("en", "usage"), ("ko", "사용법")):
        said = course.run("run", "p34", "--lang", language, **own).stderr
        assert f"{usage}: {tool} run p34 (--coordination | --demo)" in said
        assert f"`{tool} run --help`" in course.run("run", "--lang", language, **own).stderr


def test_commands_can_be_typed_where_the_reader_is(course: Workbench, tmp_path: Path) -> None:
    shown = course.run("start", UV="/elsewhere/uv", PATH="").stdout
    assert "  /elsewhere/uv run tooling run p01 " in shown
    pixi = course.run("next", PIXI_ENVIRONMENT_NAME="sim").stdout
    assert "  pixi run -e sim tooling watch p01 " in pixi
