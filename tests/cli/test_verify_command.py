"""`tooling verify` and `tooling bundle`, on a small project."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tooling.platform.exit_codes import ExitCode
from tooling.toolchain.runtime import RUNTIME_LIBRARIES

if TYPE_CHECKING:
    from tests.cli.conftest import Workbench

MUTANTS = """\
- name: last_forgotten
  because: the limit is one too small
  edits:
    - replace: "for i in range(8):\\n    out[i]"
      with: "for i in range(7):\\n    out[i]"
  expect: [missing-last]
- name: nothing_written
  because: the assignment is lost
  edits:
    - {replace: "    out[i] = a[i] + 10", with: "    pass"}
  expect: [shifted, never-written]
"""


@pytest.fixture
def verified(workbench: Workbench) -> Workbench:
    workbench.answer("pass\n")  # the skeleton
    mutants = workbench.root / "tests" / "mutants"
    mutants.mkdir(parents=True)
    (mutants / "p01.yaml").write_text(MUTANTS)
    return workbench


def test_a_workflow_shows_what_was_wrong_where(verified: Workbench) -> None:
    path = verified.root / "tests/mutants/p01.yaml"
    path.write_text(path.read_text().replace("[missing-last]", "[races]"))
    verified.solution.write_text(verified.solution.read_text().replace("a[i] + 10", "a[i] + 11", 1))
    summary = verified.root / "summary.md"
    result = verified.run("verify", GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary))
    assert result.status == ExitCode.WRONG
    lines = [line for line in result.stdout.splitlines() if line.startswith("::error ")]
    assert any(
        line.startswith("::error file=solutions/p01/p01.mojo,title=p01 solution::must pass, but: ")
        for line in lines
    )
    assert any(line.startswith("::error file=tests/mutants/p01.yaml,title=p01 mutant ") for line in lines)
    text = summary.read_text()
    assert text.startswith("### `tooling verify`: ❌ ")
    assert "<code>p01 solution</code>: must pass, but: " in text


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_sound_project_is_verified(verified: Workbench, tmp_path: Path, jobs: str) -> None:
    report = tmp_path / "report.json"
    result = verified.run("verify", "--jobs", jobs, "--json", str(report))
    assert result.status == ExitCode.PASSED, result.stdout + result.stderr
    assert result.stdout.split("\n")[1].split()[:4] == ["p01", "1/1", "1/1", "2/2"]
    results = json.loads(report.read_text())["results"]
    assert {each["name"]: each["status"] for each in results} == {
        "p01 solution": "passed",
        "p01 skeleton": "passed",
        "p01 mutant last_forgotten": "passed",
        "p01 mutant nothing_written": "passed",
    }


THIRD = """\
- name: last_two_forgotten
  because: the limit is two too small
  edits:
    - replace: "for i in range(8):\\n    out[i]"
      with: "for i in range(6):\\n    out[i]"
  expect: [missing-last]
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_many_mutants_of_a_program_are_built_together(verified: Workbench, tmp_path: Path, jobs: str) -> None:
    """Each of them is judged by what it computes itself."""
    mutants = verified.root / "tests" / "mutants" / "p01.yaml"
    mutants.write_text(MUTANTS + THIRD)
    log = tmp_path / "builds"
    result = verified.run("verify", "--only", "mutant", "--jobs", jobs, FAKE_MOJO_LOG=str(log))
    assert [Path(line.split()[1]).name for line in log.read_text().splitlines()] == ["joint.mojo"]
    assert "3/3" in result.stdout


def test_of_mutants_that_are_built_together_the_one_that_does_not_compile_is_named(
    verified: Workbench, tmp_path: Path
) -> None:
    mutants = verified.root / "tests" / "mutants" / "p01.yaml"
    broken = THIRD.replace('out[i]"\n  exp', 'out[i] # compile error"\n  exp')
    mutants.write_text(MUTANTS + broken)
    log = tmp_path / "builds"
    result = verified.run("verify", "--only", "mutant", "--jobs", "1", FAKE_MOJO_LOG=str(log))
    built = [Path(line.split()[1]).name for line in log.read_text().splitlines()]
    assert built == ["joint.mojo", "p01.mojo", "p01.mojo", "p01.mojo"]
    assert "error: p01 mutant last_two_forgotten: p01.mojo does not compile (1 error)" in result.stdout
    assert "2/3" in result.stdout


def test_a_mutant_that_passes_is_a_failure(verified: Workbench) -> None:
    path = verified.root / "tests" / "mutants" / "p01.yaml"
    path.write_text(MUTANTS.replace("range(7)", "range(0 + 8)"))
    result = verified.run("verify", "p01", "--only", "mutant", "--jobs", "1")
    assert result.status == ExitCode.WRONG
    assert "p01 mutant last_forgotten: must be rejected, but passed" in result.stdout


def test_a_mutant_rejected_for_another_reason_is_a_failure(verified: Workbench) -> None:
    path = verified.root / "tests" / "mutants" / "p01.yaml"
    path.write_text(MUTANTS.replace("[missing-last]", "[races]"))
    result = verified.run("verify", "--jobs", "1")
    assert result.status == ExitCode.WRONG
    assert "rejected, but as missing-last, partly-written, not as races" in result.stdout


HIDDEN = "  targets: {nvidia: {hidden: a block is one warp}}\n"


def test_a_vendor_may_have_another_verdict_on_a_mutant(verified: Workbench) -> None:
    path = verified.root / "tests" / "mutants" / "p01.yaml"
    elsewhere = "[races]\n  targets:\n    {}: {{expect: [missing-last], because: no check for races}}"
    arguments = ("verify", "p01", "--only", "mutant", "--jobs", "1")
    path.write_text(MUTANTS.replace("[missing-last]", elsewhere.format("nvidia")))
    result = verified.run(*arguments)
    assert result.status == ExitCode.PASSED, result.stdout
    path.write_text(MUTANTS.replace("[missing-last]", elsewhere.format("amd")))
    assert "rejected, but as missing-last, partly-written, not as races" in verified.run(*arguments).stdout


def test_a_mistake_that_does_not_show_on_a_vendor_is_not_counted_as_rejected(verified: Workbench) -> None:
    path = verified.root / "tests" / "mutants" / "p01.yaml"
    path.write_text(
        MUTANTS.replace("range(7)", "range(0 + 8)").replace("[missing-last]\n", "[missing-last]\n" + HIDDEN)
    )
    result = verified.run("verify", "p01", "--only", "mutant", "--jobs", "1", "--require-all")
    assert result.status == ExitCode.PASSED, result.stdout
    assert result.stdout.splitlines()[-2].split()[:5] == ["all", "-", "-", "1/1", "1"]
    assert result.stdout.splitlines()[-1] == "skipped, 1: passes as expected: a block is one warp"


def test_a_mistake_may_show_in_some_modes_only(verified: Workbench) -> None:
    path = verified.root / "tests" / "mutants" / "p01.yaml"
    limited = HIDDEN.replace("hidden:", "modes: [other], hidden:")
    manifest = verified.manifest.read_text().replace("default\n", "default\n    flags: [--default]\n")
    other = manifest[manifest.index("  - name: default") :].replace("default", "other")
    verified.manifest.write_text(manifest + other)
    path.write_text(MUTANTS.replace("[missing-last]\n", "[missing-last]\n" + limited))
    result = verified.run("verify", "p01", "--only", "mutant", "--jobs", "1")
    assert result.status == ExitCode.WRONG
    failed = [line for line in result.stdout.splitlines() if line.startswith("❌")]
    assert [line.partition(": ")[0] for line in failed] == ["❌ p01 --other mutant last_forgotten"]


def test_a_verdict_may_be_that_of_warps_of_one_size_only(verified: Workbench) -> None:
    path = verified.root / "tests" / "mutants" / "p01.yaml"
    text = MUTANTS.replace("range(7)", "range(0 + 8)").replace(
        "[missing-last]\n", "[missing-last]\n" + HIDDEN
    )
    arguments = ("verify", "p01", "--only", "mutant", "--jobs", "1")
    path.write_text(text.replace("hidden:", "lanes: 32, hidden:"))
    assert verified.run(*arguments).status == ExitCode.PASSED
    path.write_text(text.replace("hidden:", "lanes: 64, hidden:"))
    result = verified.run(*arguments)
    assert result.status == ExitCode.WRONG
    assert "p01 mutant last_forgotten: must be rejected, but passed" in result.stdout


def test_a_mistake_that_shows_where_it_should_not_is_a_failure(verified: Workbench) -> None:
    path = verified.root / "tests" / "mutants" / "p01.yaml"
    path.write_text(MUTANTS.replace("[missing-last]\n", "[missing-last]\n" + HIDDEN))
    result = verified.run("verify", "p01", "--only", "mutant", "--jobs", "1")
    assert result.status == ExitCode.WRONG
    assert "p01 mutant last_forgotten: must pass, but: " in result.stdout


def test_a_program_that_takes_a_wrong_result_for_right_is_a_failure(verified: Workbench) -> None:
    for file in (verified.solution, verified.problem):
        file.write_text(file.read_text().replace("assert out == expected", "assert out[:7] == expected[:7]"))
    result = verified.run("verify", "--jobs", "1")
    assert result.status == ExitCode.WRONG
    complaint = "p01 mutant last_forgotten: rejected, but the program itself succeeded with a wrong `out`"
    assert complaint in result.stdout


def test_a_mutant_that_no_longer_applies_is_an_error(verified: Workbench) -> None:
    verified.solution.write_text(verified.solution.read_text().replace("a[i] + 10", "10 + a[i]"))
    result = verified.run("verify", "--jobs", "1")
    assert result.status == ExitCode.WRONG
    assert "the text to replace occurs 0 times, not 1" in result.stdout


def test_a_skeleton_that_passes_is_a_failure(verified: Workbench, tmp_path: Path) -> None:
    verified.problem.write_text(verified.solution.read_text())
    report = tmp_path / "report.xml"
    result = verified.run("verify", "--only", "skeleton", "--jobs", "1", "--junit", str(report))
    assert result.status == ExitCode.WRONG
    assert "p01 skeleton: must be rejected, but passed" in result.stdout
    assert ET.parse(report).getroot()[0].attrib["failures"] == "1"


def test_a_skeleton_that_does_not_compile_is_an_error(verified: Workbench) -> None:
    verified.problem.write_text("x # compile error\n")
    result = verified.run("verify", "--only", "skeleton", "--jobs", "1")
    assert result.status == ExitCode.WRONG
    assert "p01 skeleton: p01.mojo does not compile" in result.stdout


def test_failures_are_tried_again_alone(verified: Workbench) -> None:
    assert verified.run("verify", "--failed").status == ExitCode.USAGE
    verified.problem.write_text(verified.solution.read_text())
    assert verified.run("verify", "--jobs", "1").status == ExitCode.WRONG
    result = verified.run("verify", "--failed", "--jobs", "1")
    assert result.status == ExitCode.WRONG
    assert result.stdout.rstrip().splitlines()[-1].split()[:4] == ["all", "-", "0/1", "-"]
    verified.answer("pass\n")
    assert verified.run("verify", "--failed", "--jobs", "1").status == ExitCode.PASSED
    assert "nothing failed last time" in verified.run("verify", "--failed").stdout


def test_what_took_longest_is_tried_first(verified: Workbench) -> None:
    record = Path(verified.environment["PUZZLE_CACHE_DIR"]) / "last-verify.json"
    assert verified.run("verify", "--jobs", "1").status == ExitCode.PASSED
    state = json.loads(record.read_text())
    assert set(state["seconds"]) == {
        "p01 solution",
        "p01 skeleton",
        "p01 mutant last_forgotten",
        "p01 mutant nothing_written",
    }
    state["seconds"] = {"p01 skeleton": 1.0, "p01 solution": 2.0, "p01 mutant last_forgotten": 3.0}
    record.write_text(json.dumps(state))
    for file in (
        verified.solution,
        verified.problem,
    ):  # so that everything is built again, in the order tried
        file.write_text(file.read_text() + "# edited\n")
    before = len(verified.builds)
    assert verified.run("verify", "--jobs", "1").status == ExitCode.PASSED
    sources = [line.split()[1] for line in verified.builds[before:]]
    kinds = ["solution" if str(verified.solution) == each else Path(each).parts[-3] for each in sources]
    assert kinds == ["sources", "sources", "solution", "problems"]  # never tried, then 3 s, 2 s, 1 s


def test_a_damaged_record_of_failures_is_moved_aside(verified: Workbench) -> None:
    record = Path(verified.environment["PUZZLE_CACHE_DIR"]) / "last-verify.json"
    record.parent.mkdir()
    record.write_text('{"version": 1, "fai')
    result = verified.run("verify", "--failed")
    assert result.status == ExitCode.USAGE
    assert "the record of the last run is damaged" in result.stderr
    assert record.with_name("last-verify.json.damaged").exists()


def test_a_check_that_could_not_run_has_not_passed(verified: Workbench) -> None:
    result = verified.run("verify", "--target", "amd", "--jobs", "1")
    assert result.status == ExitCode.NOT_POSSIBLE


@pytest.fixture
def with_graphs(verified: Workbench) -> Workbench:
    """Beside p01, two modes of p34, which is a program in Python here."""
    verified.add_p34()
    manifest = verified.root / "problems" / "p34" / "puzzle.yaml"
    manifest.write_text(manifest.read_text().replace("api: layout_tensor", "api: raw, language: python"))
    for kind in ("problems", "solutions"):
        verified.root.joinpath(kind, "p34", "p34.py").write_text("print()\n")
    return verified


@pytest.mark.skipif(
    importlib.util.find_spec("max.graph") is not None, reason="MAX is installed, so it is not missing"
)
def test_what_is_skipped_for_want_of_a_package_fails_where_all_is_required(with_graphs: Workbench) -> None:
    arguments = ("verify", "--only", "solution", "--jobs", "1")
    assert with_graphs.run(*arguments).status == ExitCode.PASSED
    result = with_graphs.run(*arguments, "--require-all")
    assert result.status == ExitCode.NOT_POSSIBLE, result.stdout + result.stderr
    assert "`p34` needs MAX, which this environment does not have: uv run --extra max" in result.stdout
    assert "error: --require-all: 2 not tried" in result.stdout
    assert "p34 --coordination solution, p34 --demo solution" in result.stdout


def test_what_the_target_is_not_for_may_be_skipped_where_all_is_required(verified: Workbench) -> None:
    verified.add_p34()
    arguments = ("verify", "--only", "solution", "--require-all", "--jobs", "1")
    gated = verified.run(*arguments, "--target", "nvidia", TEST_GPU="sm_80")
    assert gated.status == ExitCode.PASSED, gated.stdout
    assert "skipped, 2: thread-block clusters: it needs 9.0" in gated.stdout
    absent = verified.run(*arguments, "p01", "--target", "amd")
    assert absent.status == ExitCode.NOT_POSSIBLE
    assert "the target `amd` is not on this machine" in absent.stdout
    verified.answer("# compile error\n")
    wrong = verified.run("verify", "p01", "--only", "skeleton", "--require-all", "--jobs", "1")
    assert wrong.status == ExitCode.WRONG


def test_nothing_selected_is_an_error(verified: Workbench) -> None:
    assert verified.run("verify", "p02").status == ExitCode.USAGE
    assert "did you mean `p01`" in verified.run("verify", "p02").stderr
    assert verified.run("verify", "--part", "XX").status == ExitCode.USAGE


@pytest.fixture
def bundled(verified: Workbench, tmp_path: Path) -> Workbench:
    """A project whose toolchain has the libraries that bundles take along."""
    suffix = "dylib" if sys.platform == "darwin" else "so"
    (tmp_path / "lib").mkdir()
    for name in RUNTIME_LIBRARIES:
        (tmp_path / "lib" / f"lib{name}.{suffix}").touch()
    return verified


def test_a_bundle_runs_without_the_tool_and_is_judged(bundled: Workbench, tmp_path: Path) -> None:
    made = bundled.run("bundle", str(tmp_path / "bundle"))
    assert made.status == ExitCode.PASSED, made.stderr
    assert "4 entries, 4 different executables" in made.stdout
    command = [sys.executable, "-I", str(tmp_path / "bundle" / "run_bundle.py"), "--jobs", "2"]
    subprocess.run(command, check=True, capture_output=True)
    results = tmp_path / "bundle" / "results.json"
    assert len(json.loads(results.read_text())["results"]) == 8
    artifact = tmp_path / "results-sm_90a (1).zip"
    with zipfile.ZipFile(artifact, "w") as archive:
        archive.write(results, "results.json")
        archive.writestr("../../elsewhere/results.txt", "of another name")
    summary, junit = tmp_path / "summary.md", tmp_path / "verdicts.xml"
    judged = bundled.run(
        "verify", "--judge", str(artifact), "--junit", str(junit), GITHUB_STEP_SUMMARY=str(summary)
    )
    assert judged.status == ExitCode.PASSED, judged
    assert "4 judged, 0 not as they must be" in judged.stdout
    assert "| | NVIDIA sm_90a |\n|---|--:|\n| p01 | 4/4 |\n| all | 4/4 |\n" in summary.read_text()
    assert 'name="p01 skeleton on sm_90a"' in junit.read_text()
    subprocess.run([*command, "--buffers", "0"], check=True, capture_output=True)
    runs = json.loads(results.read_text())["results"]
    assert not any(each["zlib"] for run in runs for each in run["out"].values())
    results.write_text(json.dumps({**json.loads(results.read_text()), "results": runs[:2]}))
    partial = bundled.run("verify", "--judge", str(tmp_path / "bundle"))
    assert (partial.status, "3 are not in the results" in partial.stdout) == (ExitCode.NOT_POSSIBLE, True)
    results.write_text(json.dumps({**json.loads(results.read_text()), "results": runs}))
    by_hash = bundled.run("verify", "--judge", str(results))
    assert "4 judged, 0 not as they must be" in by_hash.stdout
    empty = tmp_path / "empty.zip"
    empty.write_bytes(b"PK\5\6" + bytes(18))
    nothing = bundled.run("verify", "--judge", str(empty))
    assert (nothing.status, "there are no results\n" in nothing.stderr) == (ExitCode.USAGE, True), nothing
    both = bundled.run("verify", "--judge", str(results), "--on", "box")
    assert both.stderr.startswith("error: --judge runs nothing: --on has no meaning with it\n")


def test_a_bundle_holds_what_its_own_vendor_runs(bundled: Workbench, tmp_path: Path) -> None:
    bundled.add_p34()
    alone = {"p01 solution"}
    both = {"p01 solution", "p34 --coordination solution", "p34 --demo solution"}
    for accelerator, wanted in (("gfx942", alone), ("apple-m4", alone), ("sm_80", alone), ("sm_90a", both)):
        folder = tmp_path / accelerator
        made = bundled.run("bundle", str(folder), "--accelerator", accelerator, "--only", "solution")
        assert made.status == ExitCode.PASSED, made.stderr
        entries = json.loads((folder / "bundle.json").read_text())["entries"]
        assert {each["id"] for each in entries} == wanted
    strange = bundled.run("bundle", str(tmp_path / "strange"), "--accelerator", "h200")
    assert (strange.status, "unknown accelerator `h200`" in strange.stderr) == (ExitCode.USAGE, True)


def test_a_bundle_stages_as_much_as_a_warp_has_lanes_there(bundled: Workbench, tmp_path: Path) -> None:
    bundled.manifest.write_text(bundled.manifest.read_text().replace("shape: [8]", "shape: [warp]"))
    reference = bundled.solution.parent / "reference.py"
    text = reference.read_text().replace("(mode, dataset):", "(mode, dataset, lanes):").replace("8", "lanes")
    reference.write_text(text)
    for accelerator, lanes in (("gfx942", 64), ("gfx1100", 32), ("sm_90a", 32)):
        folder = tmp_path / accelerator
        made = bundled.run("bundle", str(folder), "--accelerator", accelerator, "--only", "solution")
        assert made.status == ExitCode.PASSED, made.stderr
        assert (folder / "inputs" / "p01" / "default" / "probe" / "a.bin").stat().st_size == 4 * lanes


def test_a_folder_with_other_things_is_not_overwritten(verified: Workbench) -> None:
    result = verified.run("bundle", str(verified.root))
    assert result.status == ExitCode.USAGE
    assert verified.problem.exists()


def test_an_interrupt_ends_all_workers(verified: Workbench) -> None:
    verified.problem.write_text(verified.solution.read_text() + "# slow build\n")
    process = verified.start("verify", "--only", "skeleton", "--only", "solution", "--jobs", "2")
    while len(verified.builds) < 2:
        assert process.poll() is None
    process.send_signal(2)
    process.communicate(timeout=30)
    assert process.returncode == 130


def test_an_interrupt_leaves_nothing_in_the_temporary_folder(verified: Workbench, tmp_path: Path) -> None:
    started = f"import time\nPath({str(tmp_path)!r}, f'pid{{os.getpid()}}').touch()\ntime.sleep(60)\n"
    verified.solution.write_text(verified.solution.read_text() + started)
    process = verified.start("verify", "--only", "solution", "--jobs", "2")
    while len(list(tmp_path.glob("pid*"))) < 2:
        assert process.poll() is None
        time.sleep(0.05)
    assert list(tmp_path.glob("gpu-puzzle-run-*"))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert not list(tmp_path.glob("gpu-puzzle-run-*"))


def test_an_interrupt_ends_a_bundle_and_leaves_the_one_before(bundled: Workbench, tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    assert bundled.run("bundle", str(folder), "--only", "solution").status == ExitCode.PASSED
    before = (folder / "bundle.json").read_bytes()
    for file in (bundled.problem, bundled.solution):
        file.write_text(file.read_text() + "# slow build\n")
    built = len(bundled.builds)
    process = bundled.start("bundle", str(folder), "--jobs", "1")
    while len(bundled.builds) == built:
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)  # a single build takes longer
    assert (process.returncode, len(bundled.builds)) == (130, built + 1)
    assert (folder / "bundle.json").read_bytes() == before
    assert [path.name for path in tmp_path.glob("bundle*")] == ["bundle"]


@pytest.mark.parametrize(
    ("number", "slow", "kept"),
    [(signal.SIGINT, "True", 0), (signal.SIGTERM, "a[0] == 3", 1)],
    ids=["in the first run", "in the run on the other data"],
)
def test_run_bundle_stops_when_it_is_told_to(
    bundled: Workbench, tmp_path: Path, number: int, slow: str, kept: int
) -> None:
    mark = f"Path({str(tmp_path)!r}, f'pid{{os.getpid()}}').touch()"
    bundled.solution.write_text(
        f"{bundled.solution.read_text()}if {slow}:\n    import time\n    {mark}\n    time.sleep(60)\n"
    )
    folder = tmp_path / "bundle"
    assert bundled.run("bundle", str(folder), "--only", "solution", "p1").status == ExitCode.PASSED
    interruptible = "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    start = f"{interruptible}runpy.run_path({str(folder / 'run_bundle.py')!r}, run_name='__main__')"
    command = [sys.executable, "-I", "-c", start, "--jobs", "1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env={**bundled.environment}, text=True)
    while not list(tmp_path.glob("pid*")):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=20)
    assert (process.returncode, stderr) == (128 + number, "stopped\n")
    (started,) = tmp_path.glob("pid*")
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.name.removeprefix("pid")), 0)
    assert not list(tmp_path.glob("bundle-*"))
    assert [path.name for path in folder.glob("results*")] == kept * ["results.stopped.json"]
    if kept:
        results = json.loads((folder / "results.stopped.json").read_text())["results"]
        assert [(each["id"], each["dataset"]) for each in results] == [("p01 solution", "book")]


@pytest.mark.parametrize("content", [None, "[]\n"])
def test_a_puzzle_without_mutants_is_an_error(
    verified: Workbench, tmp_path: Path, content: str | None
) -> None:
    path = verified.root / "tests" / "mutants" / "p01.yaml"
    path.unlink()
    if content is not None:
        path.write_text(content)
    report = tmp_path / "report.json"
    result = verified.run("verify", "p01", "--jobs", "1", "--json", str(report))
    assert result.status == ExitCode.WRONG
    assert "error: p01 mutant: p01 has no mutants" in result.stdout
    assert f"{path}: p01 has no mutants" in result.stdout
    assert result.stdout.rstrip().splitlines()[-1].split()[:4] == ["all", "1/1", "1/1", "0/1"]
    statuses = {each["name"]: each["status"] for each in json.loads(report.read_text())["results"]}
    assert statuses == {"p01 solution": "passed", "p01 skeleton": "passed", "p01 mutant": "error"}
    alone = verified.run("verify", "p01", "--jobs", "1", "--only", "solution")
    assert alone.status == ExitCode.PASSED
