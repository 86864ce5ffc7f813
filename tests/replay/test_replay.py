"""`tooling replay`: what the page embeds equals what the program did on the simulated GPU."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

from tests.machine import needs_simulated_gpu
from tests.replay.recorded import cells_after, edited, embedded, replay
from tooling.exit_codes import ExitCode
from tooling.replay.cells import format_of, values_of
from tooling.replay.names import array_name, parameter_names
from tooling.replay.trace import numbers, ranges

Test = TypeVar("Test", bound=Callable[..., None])
MISSING_BARRIER = "        shared[unsafe_offset=local_i] = 0\n    barrier()\n"


def on_the_simulated_gpu(test: Test) -> Test:
    marked: Test = pytest.mark.mojo(needs_simulated_gpu(test))
    return marked


@on_the_simulated_gpu
def test_the_page_holds_every_value_of_the_reduction(tmp_path: Path) -> None:
    page = tmp_path / "p15.html"
    result = replay("p15", "--solution", "--html", str(page))
    assert result.returncode == ExitCode.PASSED, result.stderr
    assert result.stdout.splitlines()[-1] == f"replay of axis_sum, 38 steps, 0 findings: {page}"
    trace = embedded(page)["trace"]
    assert [(one["name"], one["space"], one["format"]) for one in trace["buffers"]] == [
        ("cache", "shared", "f32"), ("a", "global", "f32"), ("output", "global", "f32"),
    ]  # fmt: skip
    barriers = [number for number, step in enumerate(trace["steps"]) if step["kind"] == "barrier"]
    rows = [list(cells_after(trace, number)[0].values()) for number in barriers]
    assert rows[0] == [0, 1, 2, 3, 4, 5, 0, 0]
    assert rows[2] == [4, 6, 2, 3, 4, 5, 0, 0]
    assert rows[4] == [6, 9, 2, 3, 4, 5, 0, 0]
    assert rows[6] == [15, 9, 2, 3, 4, 5, 0, 0]
    # This block writes one sum; at the end of the launch the page shows those of the other blocks as well.
    assert list(cells_after(trace, len(trace["steps"]) - 2)[2].values()) == [15, 0, 0, 0]
    printed = re.search(r"out: DeviceBuffer\(\[(.*)\]\)", result.stdout)
    assert printed
    assert list(cells_after(trace, len(trace["steps"]) - 1)[2].values()) == [
        float(value) for value in printed[1].split(", ")
    ]
    assert len(page.read_text("utf-8")) < 60_000
    assert "http" not in page.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")


@on_the_simulated_gpu
def test_a_race_marks_both_parties(tmp_path: Path) -> None:
    page = tmp_path / "p12.html"
    source = edited("p12", MISSING_BARRIER, MISSING_BARRIER.replace("    barrier()\n", ""), tmp_path)
    result = replay(source, "--html", str(page), "--lang", "ko")
    assert result.returncode == ExitCode.WRONG
    assert result.stdout.splitlines()[-1] == f"dot_product 다시 보기, 44단계, 지적 1건: {page}"
    data = embedded(page)
    trace, (mark,) = data["trace"], data["trace"]["marks"]
    reader, writer = mark["parties"]
    assert (reader["thread"], writer["thread"]) == (0, 4)
    assert data["says"][reader["step"]] == "46번째 줄: 스레드 0–3, shared[4–7] 읽기."
    assert data["says"][writer["step"]] == "35번째 줄: 스레드 0–7, shared[0–7] 쓰기."
    assert reader["step"] == mark["step"] > writer["step"]
    assert (trace["buffers"][mark["buffer"]]["name"], mark["cell"]) == ("shared", 4)


@on_the_simulated_gpu
def test_accesses_out_of_bounds_are_refused_and_shown(tmp_path: Path) -> None:
    page = tmp_path / "p03.html"
    source = edited("p03", "if i < Int(size):\n        output", "output", tmp_path)
    assert replay(source, "--html", str(page)).returncode == ExitCode.WRONG
    data = embedded(page)
    (mark,) = data["trace"]["marks"]
    assert data["says"][mark["step"]] == (
        "Line 22: threads 0–7 read a[0–7]. 1 sector of 32 bytes moves. "
        "Threads 4–7 are out of bounds: their access was left out."
    )
    (move,) = data["trace"]["steps"][mark["step"]]["moves"]
    assert (move["refused"], move["values"]) == ("4-7", [0, 1, 2, 3, None, None, None, None])
    assert data["trace"]["buffers"][move["buffer"]]["cells"] == 4
    assert "the program ended with status 1" in page.read_text("utf-8")


@on_the_simulated_gpu
def test_a_block_can_be_chosen_and_must_exist(tmp_path: Path) -> None:
    page = tmp_path / "p15.html"
    assert replay("p15", "--solution", "--block", "0,2", "--html", str(page)).returncode == ExitCode.PASSED
    trace = embedded(page)["trace"]
    assert trace["position"] == [0, 2, 0]
    assert cells_after(trace, len(trace["steps"]) - 2)[2][2] == 87
    absent = replay("p15", "--solution", "--block", "0,7", "--html", str(page))
    assert absent.returncode == ExitCode.USAGE
    assert absent.stderr == (
        "error: --block: launch 1 has no block (0, 7, 0)\n"
        "  why: its grid is (1, 4, 1), and blocks are counted from 0\n"
    )
    second = replay("p15", "--solution", "--launch", "2", "--html", str(page))
    assert second.returncode == ExitCode.USAGE
    assert second.stderr == "error: --launch: there is no launch 2\n  why: the program makes 1\n"


@on_the_simulated_gpu
def test_the_limits_leave_steps_out_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tooling.cli import main
    from tooling.replay import recorder

    monkeypatch.setattr(recorder, "MOST_STEPS", 10)
    page = tmp_path / "p15.html"
    assert main(["replay", "p15", "--solution", "--html", str(page)]) == ExitCode.PASSED
    trace = embedded(page)["trace"]
    assert len(trace["steps"]) == 11  # and the end of the launch
    assert list(cells_after(trace, 10)[1].values())[:4] == [0, 1, 2, 3]
    left_out = trace["steps_left_out"]
    assert left_out > 20
    assert f"Not recorded: {left_out} steps after the limit." in page.read_text("utf-8")


def test_threads_as_ranges() -> None:
    assert ranges([0, 1, 2, 3, 8]) == "0-3,8"
    assert numbers("0-3,8") == [0, 1, 2, 3, 8]
    assert (ranges([]), numbers("")) == ("", [])


@pytest.mark.parametrize(
    ("content", "form", "values"),
    [
        (np.array([0.1, 0, 3], np.float32), "f32", [0.1, 0, 3]),
        (np.array([7, 0, -2], np.int32), "i32", [7, 0, -2]),
        (np.array([float("nan"), 1, -0.0], np.float32), "f32", ["nan", 1, "-0"]),
        (np.array([0x7FC0DEAD, 0x3F800000], np.uint32), "f32", [None, 1]),
        (np.array([2**60, 5], np.int64), "i64", ["1152921504606846976", 5]),
    ],
)
def test_bytes_as_numbers(content: np.ndarray, form: str, values: list[object]) -> None:
    raw = content.view(np.uint8)
    assert format_of([raw], content.itemsize, frozenset()) == form
    assert values_of(raw, form) == values


def test_names_come_from_the_source(tmp_path: Path) -> None:
    file = tmp_path / "k.mojo"
    file.write_text(
        "def k[n: Int](\n    mut out: Pointer[Int, X],  # here, too\n    a: List[Int, 3],\n):\n    pass\n"
    )
    assert parameter_names(str(file), "k", 2) == ["out", "a"]
    assert parameter_names(str(file), "k", 3) == ()
    assert parameter_names(str(tmp_path / "absent.mojo"), "k", 2) == ()
    assert array_name(["tile[i] = a[i]", "x = tile[j] * other[j]"], ["a"]) == "tile"
    assert array_name(["x = p[i] + q[i]"], []) == ""
    assert array_name(["x = block.sum[block_size=8](own)"], []) == ""
