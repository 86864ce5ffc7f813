"""What pages copy from elsewhere: runs and benchmarks of an H200, and the line of a breakpoint."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
RECORDINGS = ROOT / "tests" / "data" / "h200"
RUNS = {"p09-first-case.txt": ("p09 --first-case skeleton", "book")}
BENCHMARKS = {"p21-benchmark.txt": "p21 --benchmark", "p22-benchmark.txt": "p22 --benchmark"}


def test_every_part_has_a_run() -> None:
    assert {path.name for path in (RECORDINGS / "shown").iterdir()} == {*RUNS, *BENCHMARKS}


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_is_shown_as_it_was_recorded(name: str) -> None:
    recorded = json.loads((RECORDINGS / "benchmarks.json").read_text("utf-8"))["graphs"][BENCHMARKS[name]]
    assert (RECORDINGS / "shown" / name).read_text("utf-8").splitlines() == recorded


@pytest.mark.parametrize("name", RUNS)
def test_lines_are_those_that_the_run_began_with(name: str) -> None:
    """Whole lines: all of stdout, then the first lines of stderr."""
    results = json.loads((RECORDINGS / "runs.json").read_text("utf-8"))["results"]
    (run,) = (each for each in results if (each["id"], each["dataset"]) == RUNS[name])
    shown = (RECORDINGS / "shown" / name).read_text("utf-8")
    assert shown.startswith(run["stdout"])
    assert shown != run["stdout"]
    assert (run["stdout"] + run["stderr"]).startswith(shown)
    assert shown.endswith("\n")


@pytest.mark.parametrize("folder", ["book/src", "i18n/ko/book/src"])
def test_the_breakpoint_is_at_the_line_that_adds(folder: str) -> None:
    """In the problem file: `break p09.mojo:60`, as the pages of puzzle 9 say."""
    page = (ROOT / folder / "puzzle_09" / "second_case.md").read_text("utf-8")
    (line,) = re.findall(r"`break p09\.mojo:(\d+)`", page)
    program = (ROOT / "problems" / "p09" / "p09.mojo").read_text("utf-8").splitlines()
    assert program[int(line) - 1].strip() == "total += input[position]"
