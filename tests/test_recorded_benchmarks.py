"""The benchmarks and counters that an H200 and an H100 recorded: what the protocol and the pages state."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from math import gcd
from pathlib import Path
from typing import Any

import pytest

from tooling.simulator.counters.occupancy import Limit, theoretical_occupancy

_DATA = Path(__file__).parent / "data"
RECORDED = json.loads((_DATA / "h200/benchmarks.json").read_text("utf-8"))
RECORDED_ON_H100 = json.loads((_DATA / "h100/benchmarks.json").read_text("utf-8"))
ADDITION = "benchmarks/kernels/vector_addition.mojo"
COUNTED = [
    (program, name, counters)
    for program, kernels in RECORDED["counters"].items()
    for name, counters in kernels.items()
]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a benchmark's table."""

    kernel: str
    elements: int
    runs: int
    mean: float  # microseconds
    error: float  # percent of it
    bandwidth: float | None = None  # GB/s; none where it says nothing
    of_copy: float | None = None


def table(program: str, recorded: dict[str, Any] = RECORDED) -> list[Row]:
    device, _head, *lines = recorded["programs"][program]
    assert device == f"device: {recorded['device']}"
    rows = [(line[:28].rstrip(), *line[28:].split()) for line in lines]
    return [Row(name, int(n), int(runs), *map(float, rest)) for name, n, runs, *rest in rows]


@pytest.mark.parametrize("program", RECORDED["programs"])
def test_every_mean_stands_within_one_percent(program: str) -> None:
    check_errors(table(program))


@pytest.mark.parametrize("program", RECORDED_ON_H100["programs"])
def test_every_mean_of_the_h100_is_within_one_percent(program: str) -> None:
    check_errors(table(program, RECORDED_ON_H100))


def check_errors(rows: list[Row]) -> None:
    assert rows
    for row in rows:
        assert row.runs >= 10
        assert row.error <= 1.0
        assert row.mean > 0


@pytest.mark.parametrize("program", RECORDED["graphs"])
def test_every_mean_of_a_graph_stands_within_one_percent(program: str) -> None:
    errors = re.findall(r"us \(standard error ([\d.]+)%, \d+ calls\)", "\n".join(RECORDED["graphs"][program]))
    assert len(errors) >= 2
    assert max(map(float, errors)) <= 1.0


def test_elementwise_moves_memory_as_fast_as_a_copy() -> None:
    programs = [program for program in RECORDED["programs"] if program.startswith("p23")]
    assert programs
    for program in programs:
        (row,) = [row for row in table(program) if row.kernel == "elementwise" and row.elements == 2**28]
        assert row.of_copy is not None
        assert row.of_copy >= 0.9


def test_the_width_of_a_vector_hardly_matters_where_memory_is_the_limit() -> None:
    """The table of puzzle 23."""
    rows = {row.kernel: row for row in table(ADDITION) if row.kernel.startswith("width")}
    assert {name: row.of_copy for name, row in rows.items()} == {
        "width 1": 0.995,
        "width 2": 1.018,
        "width 4": 1.019,
        "width 8": 0.975,
    }
    assert {row.elements for row in rows.values()} == {67_108_864}


def test_four_elements_for_each_thread_are_as_fast_as_a_copy_and_more_are_not() -> None:
    speeds = {row.kernel: row.of_copy or 0 for row in table(ADDITION)}
    for mode in ("tiled", "manual", "vectorized"):
        assert speeds[f"{mode} 4"] >= 1
        assert all(speeds[f"{mode} {tile}"] < 0.9 for tile in (16, 64, 256, 1024))


def test_what_wrong_measurements_of_the_addition_show() -> None:
    """The first table of puzzle 23's page on benchmarking: medians in microseconds."""
    lines = [line.split(" | ") for line in RECORDED["other_protocols"][ADDITION]]
    medians = {(words[0], int(words[1])): float(words[4]) for words in lines if len(words) == 6}
    shown = {
        "host clock, first launch": (13547.8, 13361.7),
        "host clock, not synchronised": (3.0, 3.3),
        "host clock, synchronised": (10.9, 285.6),
        "device clock, warm caches": (7.8, 282.0),
        "device clock, result dropped": (6.8, 46.2),
    }
    for name, values in shown.items():
        found = (medians[name, 1_572_864], medians[name, 100_663_296])
        assert tuple(round(value, 1) for value in found) == values


def test_the_spread_of_single_runs_and_of_whole_benchmarks() -> None:
    lines = [line.split(" | ") for line in RECORDED["other_protocols"][ADDITION]]
    (times,) = [
        sorted(map(int, words[2].split())) for words in lines if words[:2] == ["single runs", "1048576"]
    ]
    assert len(times) == 200
    assert (times[0], times[100], times[-1]) == (7296, 7584, 9247)
    means = []
    for lines_of_run in RECORDED["repeated"]["p23_tile_tensor --benchmark"]:
        (line,) = [line for line in lines_of_run if line.startswith("elementwise") and " 1048576 " in line]
        means.append(float(line.split()[3]))
    assert means == [7.64, 7.69, 7.63]


def test_a_vector_of_four_is_one_instruction_of_128_bits() -> None:
    """Of the machine code that Nsight Compute showed; the last three are for elements of the rest."""
    code = RECORDED["machine_code"]["p23_tile_tensor --elementwise"]
    assert [line for line in code[:-3] if "LDG.E.128" not in line and "STG.E.128" not in line] == []
    assert [".128" in line for line in code[-3:]] == [False] * 3
    for mode, sectors in (("elementwise", 16), ("manual-vectorized", 8), ("vectorized", 32)):
        (counted,) = RECORDED["profiles"][f"p23_tile_tensor --{mode}"].values()
        for operation in ("ld", "st"):
            requests = counted[f"l1tex__t_requests_pipe_lsu_mem_global_op_{operation}.sum"]
            assert counted[f"l1tex__t_sectors_pipe_lsu_mem_global_op_{operation}.sum"] == sectors * requests


def test_every_measured_puzzle_is_recorded_in_each_of_its_apis() -> None:
    recorded = {program.split()[0] for program in RECORDED["programs"]}
    # Those without a mode of their own are rows of one program.
    for program in ("benchmarks/kernels/convolution.mojo", "benchmarks/kernels/matrix_product.mojo"):
        recorded |= {row.kernel.partition(":")[0] for row in table(program)}
    wanted = {"p30", "p31", "p32"}
    for puzzle in ("p23", "p24", "p28", "p33", "p35"):
        wanted |= {puzzle, f"{puzzle}_tile_tensor"}
    assert wanted <= recorded


def test_the_tensor_core_multiplies_faster_than_the_tiled_kernel() -> None:
    rows = {(row.kernel, row.elements): row.mean for row in table("benchmarks/kernels/matrix_product.mojo")}
    for program in ("p33", "p33_tile_tensor"):
        for size in (1024, 4096):
            tiled = rows[f"{program}:tiled", size * size]
            assert rows[f"{program}:tensor-core", size * size] < tiled / 2


def test_a_load_takes_as_many_clock_cycles_as_passes() -> None:
    """128 warps of each multiprocessor load 1000 times; puzzle 32 says how far the times are from that."""
    times = {row.kernel: row.mean for row in table("benchmarks/kernels/bank_conflicts.mojo")}
    assert len(times) == 9
    for kernel, time in times.items():
        passes = gcd(int(kernel.removeprefix("stride ")), 32) if kernel != "stride 0" else 1
        least = 128 * 1000 * passes / RECORDED["clocks"]["sm_mhz"]
        assert 1 <= time / least < 1.07


def test_padded_tiles_make_the_tensor_core_three_times_as_fast() -> None:
    padded = {row.elements: row.mean for row in table("benchmarks/kernels/matrix_product.mojo, padded tiles")}
    given = {
        row.elements: row.mean
        for row in table("benchmarks/kernels/matrix_product.mojo")
        if row.kernel == "p33_tile_tensor:tensor-core"
    }
    assert given[4096**2] / padded[4096**2] > 3
    assert given[1024**2] / padded[1024**2] > 1.7


def test_the_kernel_with_the_better_hit_rate_is_the_slower_one() -> None:
    """What puzzle 30 calls the cache paradox."""
    kernels = RECORDED["profiles"]["p30 --all, unsolved"]
    hits = {
        name: each["lts__t_sectors_op_read_lookup_hit.sum"] / each["lts__t_sectors_op_read.sum"]
        for name, each in kernels.items()
    }
    assert [round(100 * hits[name]) for name in ("kernel1", "kernel2", "kernel3")] == [0, 86, 8]
    fast, slow = kernels["kernel1"], kernels["kernel2"]
    assert slow["dram__bytes_read.sum"] / fast["dram__bytes_read.sum"] < 1.1
    assert round(slow["lts__t_bytes.sum"] / fast["lts__t_bytes.sum"], 1) == 7.0
    assert slow["gpu__time_duration.sum"] > 6 * fast["gpu__time_duration.sum"]


def test_the_same_instructions_at_twice_the_occupancy() -> None:
    """The rows that puzzle 31 compares."""
    unsolved, solved = (RECORDED["profiles"][f"p31 --all{state}"] for state in (", unsolved", ""))
    half, full = unsolved["sophisticated_kernel"], solved["balanced_kernel"]
    assert half["smsp__inst_executed.sum"] == full["smsp__inst_executed.sum"] == 99_614_720
    assert half["sm__maximum_warps_per_active_cycle_pct"] == 50
    assert full["sm__maximum_warps_per_active_cycle_pct"] == 100
    twelve = solved["sophisticated_kernel"]["smsp__inst_executed.sum"]
    assert twelve == unsolved["balanced_kernel"]["smsp__inst_executed.sum"] == 320_864_256


@pytest.mark.parametrize(("program", "kernel", "counters"), COUNTED)
def test_the_solutions_counters_are_what_the_simulated_gpu_judges(
    program: str, kernel: str, counters: dict[str, int]
) -> None:
    for operation in ("ld", "st"):
        requests = counters[f"l1tex__t_requests_pipe_lsu_mem_global_op_{operation}.sum"]
        assert counters[f"l1tex__t_sectors_pipe_lsu_mem_global_op_{operation}.sum"] == 4 * requests
        if program.startswith("p32"):
            assert not counters[f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{operation}.sum"]
    shared = counters["launch__shared_mem_per_block"] - 1024  # which the driver reserves
    registers = counters["launch__registers_per_thread"]
    found = theoretical_occupancy(counters["threads"], shared, registers)
    assert found.limits[Limit.WARPS] == counters["launch__occupancy_limit_warps"]
    assert found.limits[Limit.REGISTERS] == counters["launch__occupancy_limit_registers"]
    assert round(100 * found.fraction) == counters["sm__maximum_warps_per_active_cycle_pct"]
    assert theoretical_occupancy(counters["threads"], shared).fraction == found.fraction
