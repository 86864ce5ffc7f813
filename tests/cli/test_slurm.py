"""`--on slurm`: on a real Slurm of one node, whose daemons these tests start and stop.

The programs are scripts in Python that a stand-in for the compiler copies.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import SOLUTION, Result, Workbench
from tests.cli.slurm_cluster import missing_program, slurm_cluster
from tests.cli.test_collect import needs_sandbox
from tests.cli.test_other_machines import NVIDIA, same_verdict
from tooling.platform.exit_codes import ExitCode
from tooling.remote.slurm import SlurmError, interactive_command, is_slurm, shares_of

MISSING = missing_program()
needs_slurm = pytest.mark.skipif(bool(MISSING), reason=f"Slurm is not installed: there is no `{MISSING}`")
RIGHT = "for i in range(8):\n    out[i] = a[i] + 10\n"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with slurm_cluster(tmp_path_factory.mktemp("slurm")) as environment:
        yield environment


@pytest.fixture
def bench(workbench: Workbench, cluster: dict[str, str], tmp_path: Path) -> Workbench:
    """A project on the shared file system, and a GPU that only the driver's program knows."""
    tools = Path(workbench.environment["PUZZLE_MOJO"]).parent
    libraries = tools.parent / "lib"
    libraries.mkdir()
    for stem in ("KGENCompilerRTShared", "AsyncRTMojoBindings", "MSupportGlobals", "AsyncRTRuntimeGlobals"):
        (libraries / f"lib{stem}.so").write_bytes(stem.encode())
    (tools / "nvidia-smi").write_text(NVIDIA)
    (tools / "nvidia-smi").chmod(0o755)
    path = f"{tools}:{workbench.environment['PATH']}:/usr/sbin:/usr/bin"
    shared = {**cluster, "PATH": path, "PUZZLE_CACHE_DIR": str(tmp_path / "캐시 of 'us'")}
    workbench.environment |= shared
    workbench.problem.write_text(SOLUTION.replace("a[i] + 10", "0"))
    return workbench


def queued(bench: Workbench) -> str:
    command = ["squeue", "--noheader"]
    done = subprocess.run(command, env=bench.environment, capture_output=True, text=True, check=True)
    return done.stdout


def kept(bench: Workbench) -> list[Path]:
    """The folders of jobs that are not finished."""
    return list(Path(bench.environment["PUZZLE_CACHE_DIR"], "slurm").glob("*"))


@pytest.mark.slow
@needs_slurm
def test_a_program_is_judged_as_here(bench: Workbench) -> None:
    for answer, status in ((RIGHT, ExitCode.PASSED), ("out[0] = 7\n", ExitCode.WRONG)):
        bench.answer(answer)
        here = bench.run("run", "p01", PUZZLE_STATE_DIR="/dev/null/none")
        there = bench.run("run", "p01", "--on", "slurm", PUZZLE_STATE_DIR="/dev/null/none")
        assert there.stdout.startswith("p01 on NVIDIA H100 80GB HBM3 (--on slurm)\n"), there
        assert there.status == status
        assert same_verdict(here, there)
    assert not queued(bench)


@pytest.mark.slow
@needs_slurm
def test_a_partition_that_does_not_exist_is_named(bench: Workbench) -> None:
    assert bench.run("targets", "--on", "slurm:other").status == ExitCode.PASSED
    for command in (("run", "p01"), ("verify",)):
        result = bench.run(*command, "--on", "slurm:nowhere")
        assert result.status == ExitCode.NOT_POSSIBLE
        assert result.stderr.startswith("error: `slurm:nowhere` cannot be reached\n  why: srun: error: ")
        assert "--partition=nowhere true` must work\n" in result.stderr


@pytest.mark.slow
@needs_slurm
def test_a_whole_verify_is_one_job_array(bench: Workbench) -> None:
    before = last_job(bench)
    result = bench.run("verify", "--on", "slurm:main", "--only", "solution", "--only", "skeleton")
    assert result.status == ExitCode.PASSED, result
    assert re.search(r"^all +1/1 +1/1 ", result.stdout, re.MULTILINE)
    assert kept(bench) == []
    # The first was the question for the GPU.
    assert last_job(bench) - before == 3
    bench.solution.write_text(bench.problem.read_text())
    wrong = bench.run("verify", "--on", "slurm:main", "--only", "solution")
    assert wrong.status == ExitCode.WRONG, wrong
    assert "p01 solution: must pass, but: " in wrong.stdout


def last_job(bench: Workbench) -> int:
    """Submits a job and returns its number."""
    command = ["sbatch", "--parsable", "--output=/dev/null", "--wrap=true"]
    done = subprocess.run(command, env=bench.environment, capture_output=True, text=True, check=True)
    return int(done.stdout)


SLOW = """\
import time
with open({started!r}, "a") as log: log.write("x")
while not os.path.exists({gate!r}): time.sleep(0.05)
"""


@pytest.fixture
def slow_solution(bench: Workbench, tmp_path: Path) -> Path:
    """A solution that notes its start and waits for a file; returns that of its starts."""
    started, gate = tmp_path / "started", tmp_path / "gate"
    code = SLOW.format(started=str(started), gate=str(gate))
    bench.solution.write_text(SOLUTION.replace(RIGHT, code + RIGHT))
    return started


def start_verify(bench: Workbench, started: Path) -> subprocess.Popen[str]:
    process = bench.start("verify", "--on", "slurm", "--only", "solution")
    while not started.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    return process


@pytest.mark.slow
@needs_slurm
def test_a_command_that_was_lost_is_continued(bench: Workbench, slow_solution: Path) -> None:
    process = start_verify(bench, slow_solution)
    process.kill()
    process.communicate()
    assert len(queued(bench).splitlines()) == 1
    slow_solution.with_name("gate").touch()
    result = bench.run("verify", "--on", "slurm", "--only", "solution")
    assert result.status == ExitCode.PASSED, result
    assert slow_solution.read_text() == "xx"  # two data sets, once each
    assert kept(bench) == []


@pytest.mark.slow
@needs_slurm
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_cancels_the_job(bench: Workbench, slow_solution: Path, number: signal.Signals) -> None:
    process = start_verify(bench, slow_solution)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert "Traceback" not in said
    until = time.monotonic() + 30
    while queued(bench):
        assert time.monotonic() < until, queued(bench)
        time.sleep(0.1)


@pytest.mark.slow
@needs_slurm
def test_a_share_without_a_result_is_said_and_run_again(bench: Workbench, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.touch()
    (Path(bench.environment["PUZZLE_MOJO"]).parent / "python3").write_text(
        f"#!/bin/sh\nif [ -n \"$SLURM_ARRAY_TASK_ID\" ] && [ -e '{broken}' ]; then\n"
        f"    echo 'the node is broken' >&2; exit 1\nfi\nexec /usr/bin/env -S {sys.executable} \"$@\"\n"
    )
    (Path(bench.environment["PUZZLE_MOJO"]).parent / "python3").chmod(0o755)
    result = bench.run("verify", "--on", "slurm", "--only", "solution")
    assert result.status == ExitCode.NOT_POSSIBLE, result
    assert result.stderr == (
        "error: 1 share of the job ended without a result\n"
        "  why: the node is broken\n"
        "  try: run the command again: only what is missing is run\n"
    )
    broken.unlink()
    assert bench.run("verify", "--on", "slurm", "--only", "solution").status == ExitCode.PASSED


@pytest.mark.slow
@needs_slurm
@needs_sandbox
def test_a_class_is_judged_on_a_cluster(bench: Workbench, tmp_path: Path) -> None:
    for number in range(45):
        folder = tmp_path / "학생 'A'" / f"student {number}"
        folder.mkdir(parents=True)
        (folder / "p01.mojo").write_text(SOLUTION if number % 3 else SOLUTION.replace("+ 10", "+ 11"))
    result = collect(bench, tmp_path, "slurm")
    assert result.status == ExitCode.PASSED, result
    assert result.stdout.count(": 1 of 1 points\n") == 30
    assert result.stdout.count(": 0 of 1 points\n") == 15
    assert kept(bench) == []
    assert collect(bench, tmp_path, "box").stderr.startswith("error: `--on box` does not name a folder\n")


def collect(bench: Workbench, folder: Path, host: str) -> Result:
    (folder / "patch").mkdir(exist_ok=True)
    (folder / "patch" / "sitecustomize.py").write_text(
        "import sys\nif 'tooling.classroom.shares' in sys.orig_argv:\n    import tests.cli.launcher\n"
    )
    arguments = ("collect", str(folder / "학생 'A'"), "-o", str(folder / "out"), "--on", host)
    path = f"{folder / 'patch'}:{bench.environment['PYTHONPATH']}"
    return bench.run(*arguments, TEST_NO_SIMULATION="1", PYTHONPATH=path)


def test_a_machine_without_slurm_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SlurmError, match="`srun` is not installed") as caught:
        interactive_command("slurm")
    assert caught.value.exit_code is ExitCode.NOT_POSSIBLE


@pytest.mark.parametrize("partition", ["", "-x", "a b", "a;b", "한글'", "a\n"])
def test_a_partition_is_no_option_of_slurm(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, partition: str
) -> None:
    (tmp_path / "srun").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SlurmError, match="cannot be a partition of Slurm"):
        interactive_command(f"slurm:{partition}")


def test_names_of_clusters_and_shares() -> None:
    assert [is_slurm(name) for name in ("slurm", "slurm:gpu", "slurm-login", "box", "")] == [
        *(True, True, False, False, False),
    ]
    assert [shares_of(*each) for each in ((1, 20), (20, 20), (21, 20), (10**6, 8))] == [1, 1, 2, 1000]
