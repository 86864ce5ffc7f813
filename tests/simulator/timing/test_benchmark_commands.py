"""A benchmark through the real entry points: estimated times on the simulated GPU, at both sizes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from tests.machine import needs_simulated_gpu
from tooling.platform.exit_codes import ExitCode

pytestmark = [pytest.mark.mojo, pytest.mark.slow, needs_simulated_gpu]


def tooling(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PUZZLE_LANG": "en", "COLUMNS": "140", "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, "-m", "tooling", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_run_prints_estimates_of_the_simulated_size() -> None:
    done = tooling("run", "p31", "--solution", "--benchmark", "--target", "sim")
    assert done.returncode == ExitCode.PASSED, done.stdout + done.stderr
    head, *rows = done.stdout[done.stdout.rindex("kernel  ") :].splitlines()
    assert "time on an H200" in head
    assert [row.split()[0] for row in rows] == ["minimal", "sophisticated", "balanced"]
    for row in rows:
        assert re.search(r"262,144 +estimated \d\.\d to \d\.\d µs", row), row


def test_the_full_size_is_that_of_a_real_gpu_and_no_result_is_compared() -> None:
    done = tooling("profile", "p31", "--solution", "--benchmark", "--full-size", "--json", "-")
    assert done.returncode == ExitCode.PASSED, done.stderr
    document = json.loads(done.stdout)
    assert document["kernels"] == []
    for row in document["benchmark"]:
        assert row["elements"] == 33_554_432
        assert row["sampled_blocks"] == 10
        low, high = row["estimated_microseconds"]
        assert 100 <= low < high <= 600


def test_a_program_that_compares_results_at_the_full_size_is_explained() -> None:
    done = tooling("profile", "p35", "--solution", "--benchmark", "--full-size")
    assert "the program ended with status 1; what it did until then was counted" in done.stdout
    assert "asks `sampled()` of `lab.machine` first, as the benchmark of puzzle 31 does" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--sophisticated", "--full-size"), "--full-size is for the mode --benchmark"),
        (
            ("--benchmark", "--full-size", "--csv"),
            "--full-size estimates times on one NVIDIA GPU, and counts",
        ),
    ],
)
def test_the_full_size_is_for_a_benchmark_alone(arguments: tuple[str, ...], said: str) -> None:
    done = tooling("profile", "p31", *arguments)
    assert done.returncode == ExitCode.USAGE
    assert said in done.stderr
