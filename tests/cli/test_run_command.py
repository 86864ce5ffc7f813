"""`tooling run`, as a learner meets it."""

from __future__ import annotations

import json
import os
import signal
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.machine import is_alive
from tooling.cli import main, run_command
from tooling.judging.verdict import Outcome, Verdict
from tooling.platform.exit_codes import ExitCode
from tooling.progress import read_progress
from tooling.targets.model import Choice
from tooling.targets.probing import SIMULATED

if TYPE_CHECKING:
    from tests.cli.conftest import Workbench
    from tooling.catalog.catalogue import Selection


def test_a_right_answer_passes_on_both_data_sets(workbench: Workbench) -> None:
    result = workbench.run("run", "p01")
    assert result.status == ExitCode.PASSED, result.stderr
    assert "Puzzle 01 complete ✅" in result.stdout
    assert "✅ p01 passed" in result.stdout
    assert "the book's data, other data" in result.stdout
    assert "test GPU (the first GPU found)" in result.stdout


@pytest.mark.parametrize(
    ("kernel", "says"),
    [
        ("pass\n", "the kernel wrote nothing into `out`"),
        ("for i in range(4):\n    out[i] = a[i] + 10\n", "only the first 4 elements of `out` are right"),
        ("out[0] = a[0] + 10\n", "7 elements of `out` were never written"),
        ("for i in range(7):\n    out[i] = a[i] + 10\n", "only the last element of `out` is wrong"),
        (
            "for i in range(8):\n    out[i] = a[(i + 1) % 8] + 10\n",
            "are shifted by -1 from their correct index",
        ),
        ("for i in range(8):\n    out[i] = float('nan')\n", "8 elements of `out` are NaN or infinite"),
        ("for i in range(8):\n    out[i] = i + 10.0\n", "with other data"),
    ],
)
def test_a_wrong_answer_says_what_its_pattern_means(workbench: Workbench, kernel: str, says: str) -> None:
    workbench.answer(kernel)
    result = workbench.run("run", "p01")
    assert result.status == ExitCode.WRONG, result.stderr
    assert says in result.stdout
    assert "tooling hint p01`" in result.stdout


def test_a_mismatch_names_the_first_five_elements(workbench: Workbench) -> None:
    workbench.answer("pass\n")
    result = workbench.run("run", "p01")
    assert "8 of 8 elements differ:" in result.stdout
    assert "[4]  0.0      14.0" in result.stdout
    assert "... and 3 more" in result.stdout


def test_the_right_text_without_the_right_buffer_fails(workbench: Workbench) -> None:
    workbench.write_problem('show("out", [i + 10.0 for i in range(8)])\nprint("Puzzle 01 complete ✅")\n')
    result = workbench.run("run", "p01")
    assert result.status == ExitCode.WRONG
    assert "`a` was never staged" in result.stdout
    assert "the program did not hand in `out`" in result.stdout


def test_printed_text_that_disagrees_with_the_buffer_fails(workbench: Workbench) -> None:
    workbench.problem.write_text(workbench.solution.read_text().replace('show("out", out)', 'show("out", a)'))
    result = workbench.run("run", "p01")
    assert result.status == ExitCode.WRONG
    assert "the values printed as `out` (line 1) differ from those of the buffer" in result.stdout


def test_edited_expected_lines_change_nothing(workbench: Workbench) -> None:
    workbench.answer("pass\n")
    text = workbench.problem.read_text()
    workbench.problem.write_text(text.replace("expected = [x + 10 for x in a]", "expected = out"))
    result = workbench.run("run", "p01")
    assert "✅" not in result.stdout  # the program's own success is not shown above ❌
    assert result.status == ExitCode.WRONG


def test_an_edited_input_is_noticed(workbench: Workbench) -> None:
    text = workbench.solution.read_text()
    workbench.problem.write_text(text.replace("float(i) for i", "5.0 for i"))
    result = workbench.run("run", "p01")
    assert result.status == ExitCode.WRONG
    assert "did not work on the puzzle's data: `a` holds other values" in result.stdout


def test_the_solution_is_run_on_request(workbench: Workbench) -> None:
    workbench.answer("pass\n")
    assert workbench.run("run", "p01", "--solution").status == ExitCode.PASSED


def test_an_error_of_the_program_itself_is_shown(workbench: Workbench) -> None:
    workbench.problem.write_text(workbench.solution.read_text() + 'sys.exit("my own mistake")\n')
    result = workbench.run("run", "p01")
    assert result.status == ExitCode.WRONG
    assert "the program failed: exit status 1: my own mistake" in result.stdout


def test_a_crash_is_named(workbench: Workbench) -> None:
    workbench.write_problem("import signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    result = workbench.run("run", "p01")
    assert result.status == ExitCode.WRONG
    assert "the program crashed (SIGSEGV)" in result.stdout
    assert "--target sim" in result.stdout


def test_a_program_that_never_ends_is_stopped_with_its_children(workbench: Workbench, tmp_path: Path) -> None:
    workbench.write_problem(
        "import subprocess, time\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        f"Path({str(tmp_path)!r}, 'pid').write_text(str(child.pid))\n"
        "time.sleep(60)\n"
    )
    result = workbench.run("run", "p01", "--timeout", "1")
    assert result.status == ExitCode.TIME_LIMIT
    assert "the program did not end: stopped after 1 s" in result.stdout
    assert not is_alive(int((tmp_path / "pid").read_text()))


def test_endless_output_is_stopped(workbench: Workbench) -> None:
    workbench.write_problem("while True:\n    print('again ' * 1000)\n")
    result = workbench.run("run", "p01")
    assert result.status == ExitCode.TIME_LIMIT
    assert "its output did not end" in result.stdout


def test_a_closed_output_is_no_way_around_the_time_limit(workbench: Workbench) -> None:
    workbench.write_problem("import time\nos.close(1)\nos.close(2)\ntime.sleep(60)\n")
    assert workbench.run("run", "p01", "--timeout", "1").status == ExitCode.TIME_LIMIT


def test_an_interrupt_ends_the_program_and_exits_130(workbench: Workbench, tmp_path: Path) -> None:
    workbench.write_problem(
        f"import time\nPath({str(tmp_path)!r}, f'pid{{os.getpid()}}').touch()\nprint('started', flush=True)\n"
        "time.sleep(60)\n"
    )
    process = workbench.start("run", "p01")
    assert process.stdout is not None
    while "started" not in process.stdout.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    pids = [int(path.name.removeprefix("pid")) for path in tmp_path.glob("pid*")]
    assert pids
    assert not any(is_alive(pid) for pid in pids)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "p10"], ["there is no puzzle `p10`", "did you mean `p01`"]),
        (["run", "p01_tile_tensor"], ["there is no puzzle `p01_tile_tensor`", "p01"]),
        (["run", "p01", "--tiled"], ["takes no flags, but `--tiled` was given"]),
        (["run", "p34"], ["`p34` has 2 modes", "--coordination, --demo"]),
        (["run", "p34", "--cordination"], ["no flag `--cordination`", "did you mean `--coordination`?"]),
        (["run", "p01", "--timeout", "0"], ["must be a positive number of seconds"]),
        (["run", "p01", "--hint", "4"], ["has no hint 4", "it has 3"]),
        (["run", "p34", "--demo", "--hint"], ["has no hint 1", "its code is given"]),
        (["run"], ["required: puzzle"]),
        (["rnu", "p01"], ["there is no command `rnu`", "did you mean `run`?"]),
        (["p01"], ["tooling run p01"]),
    ],
)
def test_a_wrong_command_line_says_what_is_right(
    workbench: Workbench, arguments: list[str], says: list[str]
) -> None:
    workbench.add_p34()
    result = workbench.run(*arguments)
    assert result.status == ExitCode.USAGE, result.stdout
    for text in says:
        assert text in result.stderr


@pytest.mark.parametrize(
    ("arguments", "environment", "says"),
    [
        (["run", "p01", "--target", "nvidia"], {"TEST_GPU": ""}, "no NVIDIA driver is installed"),
        (["run", "p01"], {"TEST_GPU": "", "PUZZLE_TARGET": "amd"}, "no AMD GPU driver is loaded"),
        (["run", "p34", "--coordination", "--target", "amd"], {}, "exist on NVIDIA SM 9.0 and later only"),
        (
            ["run", "p34", "--target", "nvidia", "--coordination"],
            {"TEST_GPU": "sm_80"},
            "it needs 9.0, and test GPU has 8.0",
        ),
    ],
)
def test_what_is_not_possible_here_exits_4_with_the_reason(
    workbench: Workbench, arguments: list[str], environment: dict[str, str], says: str
) -> None:
    if Path("/sys/class/kfd").exists() or Path("/proc/driver/nvidia").exists():
        pytest.skip("this machine has a GPU")
    workbench.add_p34()
    result = workbench.run(*arguments, **environment)
    assert result.status == ExitCode.NOT_POSSIBLE
    assert says in " ".join(result.stderr.split())
    assert not workbench.builds, "nothing needs to be built to know this"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--target", "nvidia"], ["스레드 블록 클러스터: 9.0 이상이 필요", "`nvidia` 타깃에서 실행할"]),
        (["--target", "amd"], ["SM 9.0부터", "실행할 수 있는 타깃: nvidia, sim"]),
    ],
)
def test_a_gate_has_its_reason_in_the_readers_language(
    workbench: Workbench, arguments: list[str], says: list[str]
) -> None:
    workbench.add_p34()
    result = workbench.run("run", "p34", "--coordination", "--lang", "ko", *arguments, TEST_GPU="sm_80")
    assert result.status == ExitCode.NOT_POSSIBLE
    for text in says:
        assert text in result.stderr


def test_an_unknown_target_in_the_environment_is_an_error(workbench: Workbench) -> None:
    result = workbench.run("run", "p01", PUZZLE_TARGET="cuda")
    assert result.status == ExitCode.USAGE
    assert "PUZZLE_TARGET=cuda: unknown target" in result.stderr


def test_flags_may_stand_anywhere(workbench: Workbench) -> None:
    workbench.add_p34()
    for arguments in (["--coordination", "p34"], ["p34", "--coordination"]):
        result = workbench.run("run", *arguments)
        assert "p34 --coordination on test GPU" in result.stdout, result.stderr


def test_a_demo_is_run_but_not_judged(workbench: Workbench) -> None:
    workbench.add_p34()
    result = workbench.run("run", "p34", "--demo")
    assert result.status == ExitCode.PASSED
    assert "nothing to judge" in result.stdout


def test_hints_come_one_at_a_time_in_both_languages(workbench: Workbench) -> None:
    first = workbench.run("run", "p01", "--hint")
    assert "hint 1 of 3: Which element is yours?" in first.stdout
    assert "the next one: `tooling hint p01 2`" in first.stdout
    last = workbench.run("run", "--hint", "3", "p01", "--lang", "ko")
    assert "힌트 3/3: `out[i] = a[i] + 10`" in last.stdout
    assert not workbench.builds


def test_a_korean_report(workbench: Workbench) -> None:
    workbench.answer("pass\n")
    result = workbench.run("run", "p01", "--lang", "ko")
    assert result.stdout.startswith("p01, test GPU에서 실행 (처음 찾은 GPU)\n")
    assert "커널이 `out` 버퍼에 아무것도 쓰지 않았습니다" in result.stdout


def test_the_json_report(workbench: Workbench, tmp_path: Path) -> None:
    workbench.answer("for i in range(4):\n    out[i] = a[i] + 10\n")
    path = tmp_path / "report.json"
    assert workbench.run("run", "p01", "--json", str(path)).status == ExitCode.WRONG
    report = json.loads(path.read_text())
    assert report["version"] == 1
    assert report["counts"] == {"passed": 0, "failed": 1, "error": 0, "skipped": 0}
    (result,) = report["results"]
    assert (result["puzzle"], result["mode"], result["outcome"]) == ("p01", "default", "wrong")
    book = result["cases"][0]
    assert book["problems"][0]["name"] == "first-block-only"
    assert book["problems"][0]["mismatch"]["first"][0] == {"index": [4], "got": "0.0", "expected": "14.0"}


def test_a_json_report_on_stdout_stands_alone(workbench: Workbench) -> None:
    result = workbench.run("run", "p01", "--json", "-")
    assert json.loads(result.stdout)["results"][0]["outcome"] == "passed"
    assert "✅ p01 passed" in result.stderr


def test_a_json_report_of_a_failed_build(workbench: Workbench) -> None:
    workbench.write_problem("x    # compile error\n")
    result = workbench.run("run", "p01", "--json", "-")
    assert result.status == ExitCode.BUILD_FAILED
    assert json.loads(result.stdout)["results"][0]["error"]["type"] == "BuildFailed"


def test_the_junit_report(workbench: Workbench, tmp_path: Path) -> None:
    workbench.answer("pass\n")
    path = tmp_path / "report.xml"
    workbench.run("run", "p01", "--junit", str(path))
    suite = ET.parse(path).getroot()[0]
    assert suite.attrib["failures"] == "1"
    failure = suite[0].find("failure")
    assert failure is not None
    assert "never-written" in failure.attrib["message"]


def test_github_annotations_point_at_the_file(workbench: Workbench) -> None:
    workbench.answer("pass\n")
    result = workbench.run("run", "p01", GITHUB_ACTIONS="true")
    assert "::error file=problems/p01/p01.mojo,title=p01 (book)::the kernel wrote nothing" in result.stdout
    workbench.write_problem("x    # compile error\n")
    summary = workbench.root / "summary.md"
    result = workbench.run("run", "p01", GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary))
    assert "::error file=problems/p01/p01.mojo,line=" in result.stderr  # stdout may hold a report
    assert summary.read_text().startswith("### `tooling run`: ❌ p01.mojo does not compile (1 error)\n")


def test_the_step_summary_shows_a_verdict(workbench: Workbench) -> None:
    workbench.answer("pass\n")
    summary = workbench.root / "summary.md"
    workbench.run("run", "p01", GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary))
    text = summary.read_text()
    assert text.startswith("### `tooling run`: ❌ 1 of 1 failed\n")
    assert "<code>p01</code>: never-written: the kernel wrote nothing" in text


def test_a_terminal_without_utf_8_still_gets_a_report(workbench: Workbench) -> None:
    result = workbench.run("run", "p01", PYTHONIOENCODING="ascii")
    assert result.status == ExitCode.PASSED
    assert "[passed] p01 passed" in result.stdout


def test_colour_only_where_it_is_wanted(workbench: Workbench) -> None:
    assert "\x1b[" not in workbench.run("run", "p01").stdout
    assert "\x1b[32m" in workbench.run("run", "p01", FORCE_COLOR="1").stdout
    assert "\x1b[" not in workbench.run("run", "p01", FORCE_COLOR="1", NO_COLOR="1").stdout


def test_a_compile_error_points_into_the_learners_file(workbench: Workbench) -> None:
    workbench.problem.write_text("first = 1\nsecond = thing # compile error\n")
    result = workbench.run("run", "p01")
    assert result.status == ExitCode.BUILD_FAILED
    assert "error: problems/p01/p01.mojo:2:5: p01.mojo does not compile (1 error)\n" in result.stderr
    assert "\n  problems/p01/p01.mojo:2:5: error: " in result.stderr
    assert "second = thing # compile error" in result.stderr
    assert str(workbench.environment["PUZZLE_CACHE_DIR"]) not in result.stderr


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "note: this program uses LayoutTensor (2 times)"), ("ko", "LayoutTensor를 2회")],
)
def test_layout_tensor_warnings_fold_into_one_line(workbench: Workbench, language: str, said: str) -> None:
    workbench.problem.write_text("# deprecated\n# deprecated\n" + workbench.solution.read_text())
    for _ in range(2):  # built, and found built
        result = workbench.run("run", "p01", "--lang", language)
        assert result.stdout.count(said) == 1
        assert "Use TileTensor instead" not in result.stdout


OLD_INDEX = "first = 1 # old index\nsecond = 2 # old index\n"


def test_warnings_are_below_the_verdict_each_once(workbench: Workbench) -> None:
    """A beginner's `output[i]`, which the compiler deprecates, is right all the same."""
    workbench.problem.write_text(OLD_INDEX + workbench.solution.read_text())
    *_, passed, head, first, source, marker, advice, also = workbench.run("run", "p01").stdout.splitlines()
    assert passed.startswith(("✅ p01 passed", "  next: ", "  all puzzles are solved"))
    assert head == "the compiler warns, which does not change the verdict:"
    deprecated = "positional `__getitem__` is deprecated, use `unsafe_offset=` instead"
    assert first == f"  problems/p01/p01.mojo:1:5: warning: {deprecated}"
    assert (source.strip(), marker.strip()) == ("first = 1 # old index", "^")
    assert advice == "    try: index a pointer with `p[unsafe_offset=i]`"
    assert also == "    also at 2:5"


def test_korean_advice_on_a_warning_is_wrapped(workbench: Workbench) -> None:
    workbench.problem.write_text(OLD_INDEX + workbench.solution.read_text())
    lines = workbench.run("run", "p01", "--lang", "ko", COLUMNS="44").stdout.splitlines()
    advice = lines.index("    해 볼 것: 포인터는")
    assert lines[advice + 1] == "      `p[unsafe_offset=i]`로 인덱싱합니다"
    assert lines[advice + 2] == "    같은 경고: 2:5"


def test_a_program_is_built_once_until_it_changes(workbench: Workbench) -> None:
    for _ in range(2):
        assert workbench.run("run", "p01").status == ExitCode.PASSED
    assert len(workbench.builds) == 1
    workbench.answer("pass\n")
    workbench.run("run", "p01")
    assert len(workbench.builds) == 2


def test_what_the_compiler_leaves_in_the_temporary_folder_is_removed(workbench: Workbench) -> None:
    assert workbench.run("run", "p01").status == ExitCode.PASSED
    assert len(workbench.builds) == 1
    for folder in (workbench.environment["TMPDIR"], workbench.environment["PUZZLE_CACHE_DIR"]):
        assert not list(Path(folder).rglob("*.offloaded.so"))


def test_a_changed_shared_module_is_built_in(workbench: Workbench) -> None:
    lab = workbench.root / "problems" / "lab"
    lab.mkdir()
    (lab / "__init__.mojo").write_text("one")
    workbench.problem.write_text("from lab import stage as _stage\n")
    for _ in range(2):
        workbench.run("run", "p01")
        (lab / "__init__.mojo").write_text("two")
    assert len(workbench.builds) == 2


def test_two_runs_at_once_build_once(workbench: Workbench) -> None:
    both = [workbench.start("run", "p01") for _ in range(2)]
    for process in both:
        process.communicate(timeout=60)
        assert process.returncode == ExitCode.PASSED
    assert len(workbench.builds) == 1


def test_a_build_that_is_killed_leaves_nothing_half_built(workbench: Workbench) -> None:
    text = workbench.solution.read_text()
    workbench.problem.write_text(text + "# slow build\n")
    process = workbench.start("run", "p01")
    while not workbench.builds:
        time.sleep(0.05)
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not list(Path(workbench.environment["PUZZLE_CACHE_DIR"]).glob("builds/*"))
    workbench.problem.write_text(text)
    assert workbench.run("run", "p01").status == ExitCode.PASSED


def test_a_run_that_is_killed_leaves_nothing_in_the_temporary_folder(workbench: Workbench) -> None:
    temporary = Path(workbench.environment["TMPDIR"])
    workbench.write_problem("import time\ntime.sleep(60)\n")
    process = workbench.start("run", "p01")
    while not list(temporary.glob("gpu-puzzle-run-*/book")):
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()  # not the helpers that it has started
    process.communicate()
    for _ in range(200):
        if not list(temporary.glob("gpu-puzzle-run-*")):
            break
        time.sleep(0.05)
    assert not list(temporary.glob("gpu-puzzle-run-*"))


@pytest.mark.parametrize("cache", ["/dev/null/cache", "{root}/pyproject.toml/cache"])
def test_a_cache_that_cannot_be_written_is_replaced_with_a_note(workbench: Workbench, cache: str) -> None:
    result = workbench.run("run", "p01", PUZZLE_CACHE_DIR=cache.format(root=workbench.root))
    assert result.status == ExitCode.PASSED, result.stderr
    assert "cannot be written" in result.stdout
    assert len(workbench.builds) == 1


def test_a_read_only_cache_still_serves_finished_builds(workbench: Workbench) -> None:
    workbench.run("run", "p01")
    cache = Path(workbench.environment["PUZZLE_CACHE_DIR"])
    for path in (cache, cache / "builds", cache / "locks", cache / "partial"):
        path.chmod(0o555)
    try:
        assert workbench.run("run", "p01").status == ExitCode.PASSED
        assert len(workbench.builds) == 1
    finally:
        for path in (cache, cache / "builds", cache / "locks", cache / "partial"):
            path.chmod(0o755)


def test_a_machine_that_can_hold_no_build_is_told_and_is_no_defect_of_ours(workbench: Workbench) -> None:
    temporary = Path(workbench.environment["TMPDIR"]) / f"gpu-puzzle-lab-{os.getuid()}"
    for cache in (Path(workbench.environment["PUZZLE_CACHE_DIR"]), temporary):
        cache.mkdir()
        (cache / "partial").write_text("as good as a full disk")
    result = workbench.run("run", "p01")
    assert result.status == ExitCode.NOT_POSSIBLE, result.stderr
    assert f"{temporary}: no folder for builds is writable" in result.stderr
    assert "PUZZLE_CACHE_DIR" in result.stderr


def test_a_missing_compiler_says_how_to_get_it(workbench: Workbench) -> None:
    result = workbench.run("run", "p01", PUZZLE_MOJO="/nowhere/mojo")
    assert result.status == ExitCode.NOT_POSSIBLE
    assert "PUZZLE_MOJO names /nowhere/mojo, which is not an executable file" in result.stderr


def test_another_version_of_the_compiler_is_refused(workbench: Workbench) -> None:
    result = workbench.run("run", "p01", FAKE_MOJO_VERSION="1.1.9")
    assert result.status == ExitCode.NOT_POSSIBLE
    assert "Mojo 1.1.9 found, but the puzzles are written for Mojo 1.2.0" in result.stderr


def test_a_wrong_manifest_key_is_named_with_its_place(workbench: Workbench) -> None:
    text = workbench.manifest.read_text().replace("chapters:", "chapter:")
    workbench.manifest.write_text(text)
    result = workbench.run("run", "p01")
    assert result.status == ExitCode.USAGE
    assert f"{workbench.manifest}:5:1: chapter: unknown key" in result.stderr
    assert "did you mean `chapters`?" in result.stderr


def test_a_broken_reference_is_not_the_learners_fault(workbench: Workbench) -> None:
    (workbench.solution.parent / "reference.py").write_text("def inputs(mode, dataset): return 1 / 0\n")
    result = workbench.run("run", "p01")
    assert result.status == ExitCode.USAGE
    assert "reference has no function `expected`" in result.stderr


def test_a_solved_puzzle_is_remembered_and_nothing_else(workbench: Workbench) -> None:
    kept = workbench.root / ".progress.json"
    workbench.run("run", "p01", "--solution")
    assert not kept.exists()
    workbench.answer("pass\n")
    workbench.run("run", "p01")
    assert not kept.exists()
    workbench.answer("for i in range(8):\n    out[i] = a[i] + 10\n")
    assert workbench.run("run", "p01").status == ExitCode.PASSED
    (solved,) = json.loads(kept.read_text())["solved"]["p01"].values()
    assert solved["passes"] == {"p01": ["test GPU"]}


def test_progress_that_cannot_be_kept_is_told_and_changes_no_verdict(workbench: Workbench) -> None:
    result = workbench.run("run", "p01", PUZZLE_STATE_DIR="/dev/null/state")
    assert result.status == ExitCode.PASSED
    assert "your progress could not be kept" in result.stdout


@pytest.mark.parametrize(
    ("options", "keeps"), [((), True), (("--check", "memory"), False), (("--no-check",), False)]
)
def test_a_run_with_fewer_checks_keeps_no_progress(
    workbench: Workbench,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    keeps: bool,
) -> None:
    def passed(
        _arguments: object, _project: object, selection: Selection, *_rest: object
    ) -> tuple[Verdict, str, None]:
        choice = Choice(SIMULATED, "the test's")
        verdict = Verdict(selection, choice, solution=False, cases=(), outcome=Outcome.PASSED, seconds=0.1)
        return verdict, "", None

    monkeypatch.setattr(run_command, "_judged", passed)
    monkeypatch.setenv("PUZZLE_ROOT", str(workbench.root))
    monkeypatch.setenv("PUZZLE_STATE_DIR", str(tmp_path / "state"))
    assert main(["run", "p01", "--target", "sim", *options]) == ExitCode.PASSED
    assert (read_progress(workbench.root).solved == {}) is not keeps


def test_checks_are_chosen_on_the_simulated_gpu_only(workbench: Workbench) -> None:
    result = workbench.run("run", "p01", "--check", "memory,races")
    assert result.status == ExitCode.USAGE
    assert "--target sim" in result.stderr
    result = workbench.run("run", "p01", "--check", "memory,luck")
    assert result.status == ExitCode.USAGE
    assert "there is no check `luck`" in result.stderr


def test_a_deleted_problem_file_says_how_to_get_it_back(workbench: Workbench) -> None:
    workbench.problem.unlink()
    result = workbench.run("run", "p01")
    assert result.status == ExitCode.USAGE
    assert f"{workbench.problem}: p01.mojo does not exist" in result.stderr
    assert "try: `tooling reset p01` writes the skeleton again" in result.stderr
    assert workbench.run("reset", "p01").status == ExitCode.PASSED
    assert workbench.run("run", "p01").status == ExitCode.WRONG
    workbench.solution.rename(workbench.solution.with_name("elsewhere"))
    result = workbench.run("run", "p01", "--solution")
    assert "try: `git restore` brings back a file of the checkout" in result.stderr


def test_a_byte_order_mark_is_named(workbench: Workbench) -> None:
    workbench.problem.write_bytes(b"\xef\xbb\xbf" + workbench.solution.read_bytes())
    result = workbench.run("run", "p01")
    assert result.status == ExitCode.BUILD_FAILED
    assert "error: problems/p01/p01.mojo:1:1: p01.mojo begins with a byte-order mark" in result.stderr
    assert "save the file as `UTF-8`" in result.stderr
    assert not workbench.builds


@pytest.mark.parametrize(
    "said", ["No space left on device", "available space(1826816) is not enough to write 2109640 bytes"]
)
def test_a_full_disk_is_not_the_learners_fault(workbench: Workbench, said: str) -> None:
    workbench.problem.write_text(workbench.solution.read_text() + f"# disk full: {said}\n")
    result = workbench.run("run", "p01")
    assert result.status == ExitCode.NOT_POSSIBLE
    assert "the disk is full: p01.mojo cannot be built" in result.stderr
    assert said in result.stderr
    assert "`tooling cache empty` removes earlier builds" in result.stderr
    assert "does not compile" not in result.stderr


def test_the_option_of_the_time_limit_is_named_when_it_strikes(workbench: Workbench) -> None:
    workbench.write_problem("import time\ntime.sleep(60)\n")
    result = workbench.run("run", "p01", "--timeout", "1")
    assert result.status == ExitCode.TIME_LIMIT
    assert "limit: `tooling run p01 --timeout 3` gives it more time" in result.stdout


def test_a_closed_terminal_ends_the_compiler(workbench: Workbench) -> None:
    workbench.problem.write_text(workbench.solution.read_text() + "# slow build\n")
    process = workbench.start("run", "p01")
    while not workbench.builds:
        time.sleep(0.05)
        assert process.poll() is None
    log = Path(workbench.environment["FAKE_MOJO_LOG"]).with_name("builds.pid")
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=30)
    assert process.returncode == 129
    assert not is_alive(int(log.read_text()))


def test_the_cache_is_shown_and_emptied(workbench: Workbench) -> None:
    workbench.run("run", "p01")
    root = workbench.environment["PUZZLE_CACHE_DIR"]
    (Path(root) / "not ours").write_text("x")
    shown = workbench.run("cache")
    assert shown.stdout.startswith(f"{root}: 1 builds, 0.0 MB\n")
    assert "`tooling cache empty`" in shown.stdout
    assert workbench.run("cache", "empty").stdout.startswith(f"{root}: 1 builds removed")
    assert workbench.run("cache", "show").stdout == f"{root}: 0 builds, 0.0 MB\n"
    assert (Path(root) / "not ours").is_file()
    assert workbench.run("run", "p01").status == ExitCode.PASSED
    assert len(workbench.builds) == 2
