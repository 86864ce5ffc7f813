"""The real thing: real compiler, real puzzle, simulated GPU, through the entry point."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import REPOSITORY
from tests.machine import needs_simulated_gpu
from tests.simulator.amd.code_objects import program
from tooling.platform.exit_codes import ExitCode

pytestmark = [pytest.mark.mojo, needs_simulated_gpu]


def tooling(*arguments: str, prefix: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PUZZLE_TARGET"}
    return subprocess.run(
        [*prefix, sys.executable, "-m", "tooling", *arguments],
        cwd=REPOSITORY,
        env={**environment, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_the_solution_passes_and_prints_what_the_book_says() -> None:
    result = tooling("run", "p15", "--solution", "--target", "sim")
    assert result.returncode == ExitCode.PASSED, result.stdout + result.stderr
    assert (
        "out: DeviceBuffer([15.0, 51.0, 87.0, 123.0])\n"
        "expected: HostBuffer([15.0, 51.0, 87.0, 123.0])\n"
        "Puzzle 15 complete ✅\n"
    ) in result.stdout


@pytest.mark.slow
def test_the_problem_file_fails_and_says_that_nothing_was_written(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    result = tooling("run", "p15", "--target", "sim", "--json", str(report))
    assert result.returncode == ExitCode.WRONG, result.stdout + result.stderr
    assert "out: DeviceBuffer([0.0, 0.0, 0.0, 0.0])" in result.stdout
    (verdict,) = json.loads(report.read_text())["results"]
    assert verdict["target"] == "sim"
    assert "never-written" in verdict["names"]


@pytest.mark.slow
def test_right_values_do_not_pass_where_counters_decide(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    result = tooling("run", "p32", "--two-way", "--target", "sim", "--json", str(report))
    assert result.returncode == ExitCode.WRONG, result.stdout + result.stderr
    assert "all values right; its counters decide" in result.stdout
    assert "`two_way_conflict_kernel` has 1,024 bank conflicts" in result.stdout
    assert "p32.mojo:" in result.stdout
    (verdict,) = json.loads(report.read_text())["results"]
    assert verdict["names"] == ["counters"]


@pytest.mark.slow
def test_the_simulated_amd_gpu_has_no_counters_to_judge(tmp_path: Path) -> None:
    result = tooling("run", "p32", "--two-way", "--target", "sim-amd", "--solution")
    assert result.returncode == ExitCode.NOT_POSSIBLE, result.stdout + result.stderr
    assert "p32 --two-way on simulated AMD GPU (gfx942) (--target sim-amd)" in result.stdout
    assert "p32 --two-way: values right, counters not judged" in result.stdout
    shown = " ".join(result.stdout.split())
    assert "only the simulated NVIDIA GPU has, not simulated AMD GPU (gfx942)" in shown


@pytest.mark.slow
def test_a_program_for_gfx1100_is_simulated_on_the_gpu_that_it_was_built_for() -> None:
    executable = str(program("defects", "gfx1100"))
    result = tooling("simulate", "--gpu", "gfx1100", "--", executable, "race")
    assert result.returncode == ExitCode.WRONG, result.stdout + result.stderr
    assert "1 launch, 1 finding; the program ended with status 0" in result.stdout
    other = tooling("simulate", "--gpu", "gfx942", "--", executable, "race")
    assert other.returncode == ExitCode.NOT_POSSIBLE, other.stdout + other.stderr
    shown = " ".join((other.stdout + other.stderr).split())
    assert "`tooling simulate --gpu gfx1100 -- …`" in shown


@pytest.mark.slow
def test_a_solution_passes_on_the_simulated_gfx1100() -> None:
    result = tooling("run", "p26", "--solution", "--target", "sim-gfx1100", "--prefix-sum")
    assert result.returncode == ExitCode.PASSED, result.stdout + result.stderr
    assert "on simulated AMD GPU (gfx1100) (--target sim-gfx1100)" in result.stdout


def test_no_network_is_needed() -> None:
    alone = ("unshare", "--net", "--map-root-user")
    if shutil.which("unshare") is None or subprocess.run([*alone, "true"], check=False).returncode != 0:
        pytest.skip("this system does not let a test leave the network")
    tooling("run", "p15", "--solution", "--target", "sim")
    result = tooling("run", "p15", "--solution", "--target", "sim", prefix=alone)
    assert result.returncode == ExitCode.PASSED, result.stdout + result.stderr


@pytest.mark.slow
def test_any_program_can_be_simulated(tmp_path: Path) -> None:
    source = tmp_path / "past_the_end.mojo"
    source.write_text(
        "from max.gpu import thread_idx\n"
        "from max.gpu.host import DeviceContext\n"
        "def kernel(p: Pointer[Float32, MutAnyOrigin]):\n"
        "    p[unsafe_offset=thread_idx.x] = 1\n"
        "def main() raises:\n"
        "    with DeviceContext() as ctx:\n"
        "        var b = ctx.enqueue_create_buffer[DType.float32](4)\n"
        "        ctx.enqueue_function[kernel](b, grid_dim=1, block_dim=5)\n"
        "        ctx.synchronize()\n"
    )
    report = tmp_path / "findings.json"
    result = tooling("simulate", "--json", str(report), "--", str(source))
    assert result.returncode == ExitCode.WRONG, result.stdout + result.stderr
    assert "past_the_end.mojo:4:" in result.stdout
    assert json.loads(report.read_text())["findings"][0]["check"] == "memory"


@pytest.mark.slow
def test_a_kernel_that_never_ends_is_stopped(tmp_path: Path) -> None:
    source = tmp_path / "endless.mojo"
    source.write_text(
        "from max.gpu import barrier, thread_idx\n"
        "from max.gpu.host import DeviceContext\n"
        "def kernel(p: Pointer[Int32, MutAnyOrigin]):\n"
        "    while p[unsafe_offset=thread_idx.x] >= 0:\n"
        "        p[unsafe_offset=thread_idx.x] = 1\n"
        "        barrier()\n"
        "def main() raises:\n"
        "    with DeviceContext() as ctx:\n"
        "        var b = ctx.enqueue_create_buffer[DType.int32](8)\n"
        "        b.enqueue_fill(0)\n"
        "        ctx.enqueue_function[kernel](b, grid_dim=1, block_dim=8)\n"
        "        ctx.synchronize()\n"
    )
    result = tooling("simulate", "--timeout", "2", "--", str(source))
    assert result.returncode == ExitCode.TIME_LIMIT, result.stdout + result.stderr
    assert "stopped after 2 s" in result.stdout + result.stderr
    line = next(line for line in result.stdout.splitlines() if line.startswith("error: "))
    assert re.match(r"error: kernel was stopped at .*endless\.mojo:[456]:", line)


def test_a_run_says_which_checks_watched() -> None:
    result = tooling("run", "p15", "--solution", "--target", "sim", "--check", "memory,races")
    assert result.returncode == ExitCode.PASSED, result.stdout + result.stderr
    assert "checks: memory, races" in result.stdout
    assert "checks: none" in tooling("run", "p15", "--solution", "--target", "sim", "--no-check").stdout


@pytest.mark.parametrize(
    ("language", "summary", "said"),
    [
        ("en", "0 launches, 0 findings; the program ended with status 0", "so nothing was checked"),
        ("ko", "커널 실행 0회, 지적 0건. 프로그램이 끝났습니다(상태 0)", "검사하지 못했습니다"),
    ],
)
def test_a_simulated_run_without_a_launch_has_checked_nothing(
    tmp_path: Path, language: str, summary: str, said: str
) -> None:
    report = tmp_path / "findings.json"
    result = tooling("simulate", "--lang", language, "--json", str(report), "--", "true")
    assert result.returncode == ExitCode.NOT_POSSIBLE, result.stdout + result.stderr
    assert summary in result.stdout
    assert said in result.stdout
    assert json.loads(report.read_text())["findings"] == []
    failed = tooling("simulate", "--", "false")
    assert failed.returncode == ExitCode.WRONG


@pytest.mark.slow
def test_a_profile_without_a_kernel_has_counted_nothing(tmp_path: Path) -> None:
    source = tmp_path / "idle.mojo"
    source.write_text('def main():\n    print("idle")\n')
    result = tooling("profile", str(source))
    assert result.returncode == ExitCode.NOT_POSSIBLE, result.stdout + result.stderr
    assert "error: no kernel was launched, so nothing was counted" in result.stdout
