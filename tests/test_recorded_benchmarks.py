"""The benchmarks and counters that an H200 recorded: the protocol keeps its word, and the judge is right."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tooling.simulator.counters.occupancy import Limit, theoretical_occupancy

RECORDED = json.loads((Path(__file__).parent / "data/h200/benchmarks.json").read_text("utf-8"))
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


def table(program: str) -> list[Row]:
    device, _head, *lines = RECORDED["programs"][program]
    assert device == f"device: {RECORDED['device']}"
    rows = [line.split() for line in lines]
    return [Row(name, int(n), int(runs), *map(float, rest)) for name, n, runs, *rest in rows]


@pytest.mark.parametrize("program", RECORDED["programs"])
def test_every_mean_stands_within_one_percent(program: str) -> None:
    rows = table(program)
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
