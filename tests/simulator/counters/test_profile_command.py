"""`tooling profile` through the real entry point: real compiler, real puzzle, simulated GPU."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.machine import needs_simulated_gpu
from tooling.platform.exit_codes import ExitCode

REPOSITORY = Path(__file__).parents[3]
TRANSPOSE = Path(__file__).parent / "kernels" / "transpose.mojo"
Test = TypeVar("Test", bound=Callable[..., None])
RECORDED = json.loads((REPOSITORY / "tests/data/h200/counters.json").read_text("utf-8"))


def on_the_simulated_gpu(test: Test) -> Test:
    """Mark a test that builds a Mojo program and runs it here."""
    marked: Test = pytest.mark.mojo(needs_simulated_gpu(test))
    return marked


def profile(*arguments: str, columns: int = 140) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PUZZLE_TARGET")}
    return subprocess.run(
        [sys.executable, "-m", "tooling", "profile", *arguments],
        cwd=REPOSITORY,
        env={**environment, "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1", "COLUMNS": str(columns)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


EXPLAINED = {
    # ptxas unrolls the loop `total += shared[i]` and reads four neighbours by one 128-bit load: a quarter of
    # the wavefronts. The simulator executes the PTX as it stands.
    "p34 --coordination": {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld": (1024, 256)},
}
"""Differences that are known: (simulated, recorded) by program and metric, with the reason."""


_CUTS = ((None, ""), *((end, "6A") for end in range(10, 40)))
"""How Mojo may have shortened the name of a kernel."""


def assert_equal_to_h200(kernels: list[dict[str, Any]], program: str) -> None:
    """Every comparable metric of every kernel, against the recording of the same program."""
    recorded = RECORDED["programs"][program]
    assert len(kernels) == len(recorded)
    for kernel, (name, counters) in zip(kernels, recorded, strict=True):
        assert any(f"{kernel['name'][:end]}{after}" in name for end, after in _CUTS)
        metrics = [metric for metric in RECORDED["metrics"] if f"{metric}.sum" in kernel["comparable"]]
        assert len(metrics) >= 15
        pairs = {
            metric: (kernel["metrics"].get(f"{metric}.sum", 0), counters.get(metric, 0)) for metric in metrics
        }
        different = {metric: pair for metric, pair in pairs.items() if pair[0] != pair[1]}
        assert different == EXPLAINED.get(program, {})


def kernels_of(path: Path) -> list[dict[str, Any]]:
    document = json.loads(path.read_text("utf-8"))
    return [{**kernel, "comparable": document["comparable"]} for kernel in document["kernels"]]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, Path]:
    folder = tmp_path_factory.mktemp("profile")
    paths = folder / "p15.json", folder / "p15.html"
    result = profile("p15", "--solution", "--json", str(paths[0]), "--html", str(paths[1]))
    assert result.returncode == ExitCode.PASSED, result.stdout + result.stderr
    return result.stdout, *paths


@on_the_simulated_gpu
def test_counters_equal_those_of_an_h200(reports: tuple[str, Path, Path]) -> None:
    assert_equal_to_h200(kernels_of(reports[1]), "p15")


@on_the_simulated_gpu
def test_the_table_names_lines_and_says_that_times_need_a_gpu(reports: tuple[str, Path, Path]) -> None:
    text = reports[0]
    assert "axis_sum  grid (1, 4, 1), block (8, 1, 1), 1 launch" in text
    assert re.search(r"p15\.mojo:\d+ +cache\[local_i\] = a.* 1\.5 +50%", text)
    assert "a time can only be measured on a real GPU" in text
    times = [line for line in text.splitlines() if re.search(r"\d ?(ns|µs|us|ms|seconds)\b", line)]
    assert re.fullmatch(r"estimated for an H200: [\d.]+ to [\d.]+ µs", times[0])
    assert times[1:] == [
        "The launch itself takes most of the time (2.8 µs for a block without work). More work in one launch "
        "usually helps."
    ]


@on_the_simulated_gpu
def test_a_narrow_terminal_gets_two_tables_with_whole_titles_and_line_numbers() -> None:
    text = profile("p15", "--solution", columns=80).stdout
    assert all(len(line) <= 80 for line in text.splitlines())
    first, second = (table.splitlines() for table in text.split("axis_sum  ")[1].split("\n\n")[:2])
    titles = [" ".join(line.split()) for line in (*first[1:4], *second[:2])]
    assert "line source instr. /instr. loads /req. stores /req. used" in titles
    assert "line source wavefronts conflicts barriers" in titles
    assert any(re.match(r"\d+ +cache\[", line) for line in second)
    assert all(table[-1].startswith("all lines ") for table in (first, second))


@on_the_simulated_gpu
def test_every_line_is_in_the_authors_file(reports: tuple[str, Path, Path]) -> None:
    (kernel,) = kernels_of(reports[1])
    assert {Path(line["file"]).name for line in kernel["lines"]} <= {"p15.mojo", ""}
    barriers = [line for line in kernel["lines"] if "ptx.barriers" in line["metrics"]]
    # Four blocks of one warp: once after filling, then twice in each of three steps.
    assert [line["metrics"]["ptx.barriers"] for line in barriers] == [4, 12, 12]


@on_the_simulated_gpu
def test_the_page_is_self_contained(reports: tuple[str, Path, Path]) -> None:
    page = reports[2].read_text("utf-8")
    assert "http" not in page and "src=" not in page and "url(" not in page
    assert page.count("<figure") == page.count("</svg></div>") >= 5
    assert 'data-theme="dark"' in page
    for anchor in re.findall(r'href="#([^"]+)"', page):
        assert f'id="{anchor}"' in page


@pytest.mark.slow
@on_the_simulated_gpu
def test_any_mojo_file_can_be_profiled_and_equals_the_h200(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    page = tmp_path / "page.html"
    result = profile(str(TRANSPOSE), "--json", str(report), "--html", str(page), "--lang", "ko")
    assert result.returncode == ExitCode.PASSED, result.stdout + result.stderr
    kernels = kernels_of(report)
    assert_equal_to_h200(kernels, "transpose")
    conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
    assert [kernel["metrics"].get(conflicts, 0) for kernel in kernels] == [0, 3968, 0]
    assert "시간은 실제 GPU에서만" in result.stdout
    assert 'lang="ko"' in page.read_text("utf-8")


@pytest.mark.slow
@on_the_simulated_gpu
@pytest.mark.parametrize(
    "program", ["p12_tile_tensor", "p23 --vectorized", "p34 --coordination", "p34 --reduction"]
)
def test_solutions_equal_the_h200(program: str, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    result = profile(*program.split(), "--solution", "--json", str(report))
    assert result.returncode == ExitCode.PASSED, result.stdout + result.stderr
    assert_equal_to_h200(kernels_of(report), program)


@pytest.mark.slow
@on_the_simulated_gpu
def test_an_unsolved_puzzle_is_profiled_and_its_failure_reported() -> None:
    result = profile("p15")
    assert result.returncode == ExitCode.WRONG
    assert "ended with status 1; what it did until then was counted" in result.stdout


def test_an_unknown_puzzle_is_a_usage_error() -> None:
    result = profile("p99")
    assert result.returncode == ExitCode.USAGE
    assert "p99" in result.stderr


@pytest.mark.slow
@on_the_simulated_gpu
def test_the_pages_on_vectors_list_the_instructions_that_the_profile_shows() -> None:
    result = profile("p23_tile_tensor", "--elementwise", "--solution", "--ptx")
    assert result.returncode == ExitCode.PASSED, result.stdout + result.stderr
    instructions = re.compile(r"^ +PTX:\d+ +((?:ld\.global|st\.global|add\.f32)\S*) +(\d+)", re.MULTILINE)
    for source in ("book/src", "i18n/ko/book/src"):
        page = (REPOSITORY / source / "puzzle_23" / "gpu-thread-vs-simd.md").read_text("utf-8")
        (listing,) = re.findall(r"```text\n(var a_vector.*?)```", page, re.DOTALL)
        shown = re.findall(r"^  (\S+) +(\d+)$", listing, re.MULTILINE)
        assert shown == instructions.findall(result.stdout), source
        lines = [line.partition("…")[0] for line in listing.splitlines() if not line.startswith(" ")]
        assert len(lines) == 3, source
        assert all(line in result.stdout for line in lines), source
