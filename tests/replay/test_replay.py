"""`tooling replay`: what the page embeds equals what the program did on the simulated GPU."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

from tests.machine import needs_simulated_gpu
from tests.replay.recorded import cells_after, edited, embedded, replay, spread
from tooling.platform.exit_codes import ExitCode
from tooling.replay.cells import format_of, values_of
from tooling.replay.names import array_name, call_line, functions_between, parameter_names
from tooling.replay.trace import grouped, numbers, packed, ranges, unpacked

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


@pytest.mark.slow
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
    assert data["says"][reader["step"]] == "46번 줄: 스레드 0–3, shared[4–7] 읽기."
    assert data["says"][writer["step"]] == "35번 줄: 스레드 0–7, shared[0–7] 쓰기."
    assert reader["step"] == mark["step"] > writer["step"]
    assert (trace["buffers"][mark["buffer"]]["name"], mark["cell"]) == ("shared", 4)


@pytest.mark.slow
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
    assert trace["positions"] == [[0, 2, 0]]
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


@on_the_simulated_gpu
@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        ("p15", ("--blocks", "1")),
        pytest.param("p16_tile_tensor", ("--tiled",), marks=pytest.mark.slow),
    ],
)
def test_what_the_page_holds_is_what_memory_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, arguments: tuple[str, ...]
) -> None:
    from tooling.cli import main
    from tooling.replay import running
    from tooling.replay.recorder import Recorder

    left: dict[str, np.ndarray] = {}

    class Watched(Recorder):
        """Keeps what the engine's memory contains when the blocks have ended."""

        def shared_memory(self, first_block: int, windows: np.ndarray) -> None:
            super().shared_memory(first_block, windows)
            left["windows"] = windows

        def batch_end(self, first_block: int, blocks: int) -> None:
            super().batch_end(first_block, blocks)
            left["shared"] = left["windows"][: len(self._blocks)].copy()

    monkeypatch.setattr(running, "Recorder", Watched)
    page = tmp_path / f"{program}.html"
    assert main(["replay", program, *arguments, "--solution", "--html", str(page)]) == ExitCode.PASSED
    trace = embedded(page)["trace"]
    before_the_end = cells_after(trace, len(trace["steps"]) - 2)
    memory = left["shared"][0].view(np.float32)
    arrays = [number for number, each in enumerate(trace["buffers"]) if each["space"] == "shared"]
    assert len(arrays) == (1 if program == "p15" else 2)
    shown = [[value for _, value in sorted(before_the_end[number].items())] for number in arrays]
    count = sum(map(len, shown))
    orders = [sum(order, []) for order in permutations(shown)]  # noqa: RUF017 - two at most
    assert memory[:count].tolist() in orders
    # The blocks' own stores account for all of what they write: at the end only others add to it.
    (move,) = trace["steps"][-1]["moves"] or [{"after": []}]
    stored = {
        cell
        for step in trace["steps"][:-1]
        for each in step.get("moves", ())
        if (each["buffer"], each["action"]) == (move["buffer"], "store")
        for cell in spread(each["cells"])
    }
    assert stored and not stored & {cell for cell, _ in move["after"]}


@pytest.mark.slow
@on_the_simulated_gpu
def test_the_lanes_of_a_shuffle_show_what_they_receive_and_from_whom(tmp_path: Path) -> None:
    page = tmp_path / "p24.html"
    options = ("p24_tile_tensor", "--kernel", "--solution", "--html", str(page))
    assert replay(*options).returncode == ExitCode.PASSED
    data = embedded(page)
    products = [float(n * n) for n in range(32)]
    steps = [step for step in data["trace"]["steps"] if step["kind"] == "sync"]
    assert len(steps) == 5
    for step, distance in zip(steps, (16, 8, 4, 2, 1), strict=True):
        exchange = step["exchange"]
        assert numbers(exchange["threads"]) == list(range(32))
        assert spread(exchange["sources"]) == [lane ^ distance for lane in range(32)]
        assert exchange["values"] == [products[lane ^ distance] for lane in range(32)]
        products = [products[lane] + products[lane ^ distance] for lane in range(32)]
    says = data["says"][data["trace"]["steps"].index(steps[0])]
    assert says == "Line 88: threads 0–31 exchange values: thread 0 receives 256 from thread 16."


@pytest.mark.slow
@on_the_simulated_gpu
def test_a_simulated_amd_gpu_has_warps_of_64_threads(tmp_path: Path) -> None:
    page = tmp_path / "p24.html"
    options = ("p24_tile_tensor", "--kernel", "--solution", "--target", "sim-amd", "--html", str(page))
    assert replay(*options).returncode == ExitCode.PASSED
    trace = embedded(page)["trace"]
    assert (trace["warp"], trace["block"]) == (64, [64, 1, 1])
    assert [file["name"] for file in trace["files"]] == ["p24_tile_tensor.mojo"]  # and none of the library
    products = [float(n * n) for n in range(64)]
    total = sum(products)
    # By DPP within rows of 16 lanes, then through the LDS unit; each lane adds what it receives.
    exchanges = [step["exchange"] for step in trace["steps"] if "exchange" in step]
    assert len(exchanges) == 6
    for exchange in exchanges:
        received = dict(zip(numbers(exchange["threads"]), spread(exchange["sources"]), strict=True))
        assert list(received) == list(range(64))
        assert exchange["values"] == [products[source] for source in received.values()]
        products = [products[lane] + products[source] for lane, source in received.items()]
    assert products == [total] * 64
    assert list(cells_after(trace, len(trace["steps"]) - 2)[2].values()) == [total]


@pytest.mark.slow
@on_the_simulated_gpu
def test_several_blocks_are_shown_side_by_side(tmp_path: Path) -> None:
    page = tmp_path / "p34.html"
    assert replay("p34", "--reduction", "--solution", "--html", str(page)).returncode == ExitCode.PASSED
    data = embedded(page)
    trace = data["trace"]
    assert trace["positions"] == [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]]  # the whole cluster
    shared = [(each["name"], each["block"]) for each in trace["buffers"] if each["space"] == "shared"]
    assert shared == [("shared", 0), ("shared", 1), ("shared", 2), ("shared", 3)]
    assert "Line 91: threads 0–255 of each block passed the barrier." in data["says"]
    assert "Line 99: threads 0–127 of each block read shared[128–255]." in data["says"]
    arrived = "Line 113: threads 0–255 of each block arrive at the barrier of the cluster and do not wait."
    assert arrived in data["says"]


@pytest.mark.slow
@on_the_simulated_gpu
def test_a_race_between_blocks_shows_both_blocks(tmp_path: Path) -> None:
    page = tmp_path / "p34.html"
    source = edited(
        "p34", "    cluster_sync()\n\n    if block_id", "    barrier()\n\n    if block_id", tmp_path
    )
    assert replay(source, "--reduction", "--html", str(page)).returncode == ExitCode.WRONG
    trace = embedded(page)["trace"]
    assert len(trace["positions"]) == 4
    mark = trace["marks"][0]
    blocks = {party["thread"] // 256 for party in mark["parties"]}
    assert len(blocks) == 2
    assert trace["buffers"][mark["buffer"]]["name"] == "temp_storage"


@on_the_simulated_gpu
def test_other_data_of_the_judge_can_be_replayed(tmp_path: Path) -> None:
    page = tmp_path / "p15.html"
    for data, first in (("book", [0, 1, 2]), ("probe", None)):
        result = replay("p15", "--solution", "--data", data, "--html", str(page))
        trace = embedded(page)["trace"]
        values = list(cells_after(trace, 12)[1].values())[:3]
        assert (values == first) is (first is not None)
        assert result.returncode in (ExitCode.PASSED, ExitCode.WRONG)
    refused = replay("./x.mojo", "--data", "probe")
    assert refused.returncode == ExitCode.USAGE


def test_numbers_at_equal_distances_are_one_entry() -> None:
    for each in ([], [5], [1, 2], [3, 3, 3, 3], [4, 0, 2, 4, 6, 8, -1, -2, -3, -4], list(range(0, 90, 9))):
        assert unpacked(packed(each)) == each
    assert packed([4, 0, 2, 4, 6, 1]) == (4, (0, 2, 4), 1)
    assert packed([3, 3, 3]) == (3, 3, 3)
    assert grouped({4: 1.5, 5: None, 9: 2}) == ((4, (1.5, None)), (9, (2,)))


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
    assert array_name(["return [a[r, c], a[r + 8, c]]", "](tile.vectorize[1, 4](),"], ["a"]) == "tile"
    package = tmp_path / "soft.mojo"
    package.write_text("def soft_kernel(output: Int, input: Int):\n    copy[\n    ](  # all\n        tile,\n")
    assert parameter_names(str(package), "op_soft_soft_kernel", 2) == ["output", "input"]
    assert [call_line(str(package), line) for line in (1, 3, 4)] == [
        "def soft_kernel(output: Int, input: Int):", "    ](tile,", "        tile,",
    ]  # fmt: skip


def test_the_functions_between_anchors_are_those_that_a_learner_writes() -> None:
    region = "# ANCHOR: one_solution\ndef one(\n    def inner():\n# ANCHOR_END: one_solution\n"
    text = f"def given():\n{region}def main():"
    skeleton = text.replace("_solution", "")
    for each in (text, skeleton):
        assert functions_between(each, ["one"]) == {"one", "inner"}
        assert functions_between(each, ["two"]) == frozenset()


@pytest.mark.slow
@on_the_simulated_gpu
def test_the_launch_of_the_kernel_to_write_is_recorded(tmp_path: Path) -> None:
    page = tmp_path / "p33.html"
    options = ("p33_tile_tensor", "--tensor-core", "--solution", "--html", str(page))
    first = f"replay of tensor_core_matrix_multiplication, 467 steps, 0 findings: {page}"
    for more, says in (
        ((), first),
        (("--launch", "1"), f"replay of matmul_idiomatic_tiled, 190 steps, 0 findings: {page}"),
    ):
        result = replay(*options, *more)
        assert result.returncode == ExitCode.PASSED, result.stderr
        assert result.stdout.splitlines()[-1] == says
    assert embedded(page)["trace"]["launch"] == 1
    assert array_name(["x = block.sum[block_size=8](own)"], []) == ""
