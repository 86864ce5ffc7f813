"""The benchmarks and counters that an H200 and an H100 recorded: what the protocol and the pages state."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from math import gcd
from pathlib import Path
from typing import Any

import pytest
import yaml

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


_BOOKS = (Path(__file__).parents[1] / "book/src", Path(__file__).parents[1] / "i18n/ko/book/src")
_MI = 1 << 20


def means(file: str, recorded: dict[str, Any] = RECORDED) -> dict[tuple[str, int], float]:
    """The mean times of a program of `benchmarks/kernels`, in microseconds, by row and elements."""
    return {
        (row.kernel, row.elements): row.mean for row in table(f"benchmarks/kernels/{file}.mojo", recorded)
    }


def counted_on_h100(file: str, kernel: str, blocks: int) -> list[dict[str, Any]]:
    """The counters of the kernels of that name with that number of blocks in x, in launch order."""
    found = RECORDED_ON_H100["counters"][f"benchmarks/kernels/{file}.mojo"]
    return [each for each in found if (each["kernel"], each["grid"][0]) == (kernel, blocks)]


def check_rows(page: str, rows: list[list[str]]) -> None:
    """A page of both languages has a table with rows that end with these cells, in this order."""
    for book in _BOOKS:
        text = (book / page).read_text("utf-8")
        positions = [
            text.find("".join(f" {cell} |" if cell else " |" for cell in row) + "\n") for row in rows
        ]
        assert -1 not in positions, (book, rows[positions.index(-1)])
        assert positions == sorted(positions)


def test_the_table_of_the_work_per_thread() -> None:
    times = means("work_per_thread")
    columns = [(16 * _MI, 256), (16 * _MI, 1024), (64 * _MI, 256), (64 * _MI, 64)]
    check_rows(
        "puzzle_16/work_per_thread.md",
        [
            [f"{times[f'{kernel}, blocks of {threads}', size]:.1f}" for size, threads in columns]
            for kernel in ("add 1", "add 2", "add 4", "add 8", "vector")
        ],
    )
    copies = {
        row.elements: row.mean * row.of_copy
        for row in table("benchmarks/kernels/work_per_thread.mojo")
        if row.kernel == "add 1, blocks of 256" and row.of_copy
    }
    assert {size: round(time, 1) for size, time in copies.items()} == {16 * _MI: 51.5, 64 * _MI: 192.2}


def test_the_start_of_blocks() -> None:
    times = means("work_per_thread")
    sizes = (32, 64, 128, 256, 512, 1024)
    empty = {threads: times[f"empty, blocks of {threads}", 2 * _MI // threads] for threads in sizes}
    check_rows(
        "puzzle_16/work_per_thread.md",
        [
            [f"{2 * _MI // threads:,}" for threads in sizes],
            [f"{empty[threads]:.1f}" for threads in sizes],
        ],
    )
    launch = times["empty, blocks of 256", 1]
    assert round(launch, 1) == 2.7
    for threads, blocks in ((32, 65_536), (256, 262_144)):
        rate = blocks / (times[f"empty, blocks of {threads}", blocks] - launch)
        assert rate == pytest.approx(1660, rel=0.005)
    assert times["add 1, blocks of 64", 64 * _MI] == pytest.approx(launch + _MI / 1660, rel=0.005)
    sums = means("reductions")
    check_rows(
        "puzzle_24/warp_extra.md",
        [
            [
                f"{2 * _MI // threads:,}",
                f"{empty[threads]:.1f}",
                f"{sums[f'warp sums, blocks of {threads}', 2 * _MI]:.1f}",
            ]
            for threads in sizes[:4]
        ],
    )


def test_the_bytes_in_flight() -> None:
    times = means("work_per_thread")
    size = 132 * 2048 * 8 * 31
    speeds = {
        (threads, k): 4 * size / times[f"reads, {threads} threads, {k}", size] / 1000
        for threads in (128, 256, 512, 1024, 2048)
        for k in (1, 2, 4, 8)
    }
    check_rows(
        "puzzle_16/work_per_thread.md",
        [[f"{speeds[threads, k]:,.0f}" for k in (1, 2, 4, 8)] for threads in (128, 256, 512, 1024, 2048)],
    )
    launch = times["empty, blocks of 256", 1]
    latency = (means("limits")["chase in 67108864", 4096] - launch) / 4096
    assert round(1000 * latency) == 333
    blocks = (132, 264, 528, 1056, 2048, 8192, 32768)
    check_rows(
        "puzzle_16/work_per_thread.md",
        [[f"{times[f'loop, {each} blocks', 64 * _MI]:.1f}" for each in blocks]],
    )


def profiled(file: str) -> dict[str, dict[str, float]]:
    """What Nsight Compute counted of single launches, by the rows of a program of `benchmarks/kernels`."""
    counted: dict[str, dict[str, float]] = RECORDED["profiles"][f"benchmarks/kernels/{file}.mojo"]
    return counted


def test_the_sums_of_256_elements() -> None:
    times = means("reductions")
    kernels = ("loads alone", "by warps", "halving", "halving twice")
    counted = [profiled("reductions")[name] for name in kernels]
    issued = [round(each["sm__inst_issued.avg.pct_of_peak_sustained_active"]) for each in counted[1:]]
    assert issued == [40, 79, 83]
    memory = [
        round(each["dram__throughput.avg.pct_of_peak_sustained_elapsed"]) for each in (counted[1], counted[0])
    ]
    assert memory == [51, 62]
    waits = [
        round(counted[1][f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"], 1)
        for reason in ("long_scoreboard", "barrier")
    ]
    assert waits == [18.7, 3.6]
    assert round(times["of 256, by warps", 64 * _MI] - times["of 256, loads alone", 64 * _MI]) == 34
    assert round(times["of 256, halving", 64 * _MI] - times["of 256, loads alone", 64 * _MI]) == 162
    again = {
        row.kernel: row
        for row in table("benchmarks/kernels/controls.mojo, again")
        if row.elements == 64 * _MI and row.kernel.startswith("sums")
    }
    assert [round(row.mean, 1) for row in again.values()] == [216.6, 126.9]
    busy = profiled("controls")["sums of 1024"]["dram__throughput.avg.pct_of_peak_sustained_elapsed"]
    assert round(busy) == 95
    warps = 64 * _MI // 32
    counts = [each["sm__inst_executed.sum"] for each in counted]
    check_rows(
        "puzzle_24/warp_extra.md",
        [
            [f"{times[f'of 256, {name}', 64 * _MI]:.1f}", f"{count / warps:.0f}"]
            for name, count in zip(kernels, counts, strict=True)
        ],
    )


def test_the_trees_of_puzzle_12() -> None:
    times = means("reductions")
    trees = {
        "halving": ("sum_halving", 0),
        "halving twice": ("sum_halving", 1),
        "masked": ("sum_interleaved", 1),
        "interleaved": ("sum_interleaved", 0),
    }
    rows = []
    for name, (kernel, position) in trees.items():
        counted = counted_on_h100("reductions", kernel, 64 * _MI // 256)[position]
        executed = counted["sm__inst_executed.sum"]
        assert executed == profiled("reductions")[name]["sm__inst_executed.sum"]
        per_warp = executed / (64 * _MI // 32)
        rows.append([f"{times[f'of 256, {name}', 64 * _MI]:,.1f}", f"{per_warp:.0f}"])
        if name in ("halving", "masked"):
            assert round(counted["smsp__thread_inst_executed_per_inst_executed.ratio"], 1) == 31.7
    check_rows("puzzle_12/puzzle_12.md", rows)


def test_the_forms_of_the_convolution() -> None:
    times, counted = means("async_copies"), profiled("async_copies")
    single = ("copy", "puzzle", "puzzle, plain", "library", "async", "plain")
    loops = {f"loop, {each}, 1056 blocks": f"loop, {each}" for each in ("plain", "register", "async")}
    # Those of a single tile were measured twice; the dictionary has the second time of each.
    check_rows(
        "puzzle_28/puzzle_28.md",
        [
            [
                f"{times[row, 64 * _MI]:.1f}",
                f"{counted[name]['sm__inst_executed.sum'] / (64 * _MI // 32):.0f}",
            ]
            for row, name in (*zip(single, single, strict=True), *loops.items())
        ],
    )
    issued = [counted[name]["sm__inst_issued.avg.pct_of_peak_sustained_active"] for name in single[1:4:2]]
    assert [round(each) for each in issued] == [72, 47]


def test_the_products_without_tensor_cores() -> None:
    times = means("register_tiles")
    rows = []
    for name in ("naive", "tiled", "registers, 4 x 4", "registers, 8 x 8"):
        counted = profiled("register_tiles")[name]
        busy = (
            counted["dram__throughput.avg.pct_of_peak_sustained_elapsed"],
            counted["l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"],
            counted["sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"],
        )
        time = times[name, 4096]
        rate = 2 * 4096**3 / time / 1e6
        rows.append([f"{time / 1000:.2f}", f"{rate:.1f}", *(f"{each:.0f}%" for each in busy)])
    library = mean_of_cublas()
    rows.append([f"{library / 1000:.2f}", f"{2 * 4096**3 / library / 1e6:.1f}", "", "", ""])
    check_rows("puzzle_16/roofline.md", rows)
    passes = profiled("register_tiles")["tiled"]["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"]
    assert round(passes / (4096**3 / 32), 2) == 1.57
    assert round(67 / (4 * 1.57), 1) == 10.7
    assert round(profiled("register_tiles")["naive"]["l1tex__t_sector_hit_rate.pct"]) == 95
    assert round(means("controls")["one block, registers, 4 x 4", 4096] / 1000, 2) == 9.37


def mean_of_cublas() -> float:
    """cuBLAS's time of a product of 4,096 x 4,096 matrices in float32, in microseconds."""
    (mean,) = [
        row.mean
        for row in table("benchmarks/kernels/cublas.cu")
        if (row.kernel, row.elements) == ("cuBLAS: default", 4096)
    ]
    return mean


def test_the_controls_of_puzzle_16_and_30() -> None:
    times = means("controls") | means("work_per_thread")
    check_rows(
        "puzzle_16/work_per_thread.md",
        [
            [
                f"{times[f'add {k}, blocks of {threads}', 64 * _MI]:.1f}"
                for threads in (64, 128, 256, 512, 1024)
            ]
            for k in (1, 2, 4)
        ],
    )
    shifted = [times[f"reversed{shift}{it}", 16 * _MI] for shift in ("", ", shifted") for it in ("", ", %")]
    check_rows(
        "puzzle_30/profile_kernels.md",
        [[f"{each:.1f}" for each in shifted[:2]], [f"{each:.1f}" for each in shifted[2:]]],
    )
    assert [round(100 * (each / shifted[0] - 1)) for each in shifted] == [0, 23, 3, 23]
    counted = profiled("controls")
    more = counted["reversed, %"]["sm__inst_executed.sum"] / counted["reversed"]["sm__inst_executed.sum"]
    assert more == 2.5


def test_the_controls_of_puzzle_35() -> None:
    times, counted = means("controls"), profiled("controls")
    check_rows(
        "puzzle_35/benchmark_and_profile.md",
        [
            [
                f"{times[kernel, _MI]:.2f}",
                f"{times[kernel, 64 * _MI]:.1f}",
                *(
                    f"{counted[f'{kernel}, 64 Mi'][metric]:.0f}%"
                    for metric in (
                        "dram__throughput.avg.pct_of_peak_sustained_elapsed",
                        "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
                    )
                ),
            ]
            for kernel in ("scaled", "scaled by 4", "scaled, unaligned", "scaled, aligned")
        ],
    )
    assert round(counted["scaled, unaligned, 64 Mi"]["l1tex__t_sector_hit_rate.pct"]) == 75


def test_the_kernels_of_puzzle_21_without_a_graph() -> None:
    times, counted = means("controls"), profiled("controls")
    kernels = ("embedding", "embedding_2d", "embedding_2d, columns", "embedding by 4")
    check_rows(
        "puzzle_21/performance.md",
        [
            [
                f"{times[kernel, 64 * _MI]:.1f}",
                *(
                    f"{counted[kernel][metric]:.0f}%"
                    for metric in (
                        "l1tex__t_sector_hit_rate.pct",
                        "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
                        "dram__throughput.avg.pct_of_peak_sustained_elapsed",
                    )
                ),
            ]
            for kernel in kernels
        ],
    )
    size = 64 * _MI
    assert round(1 - times["embedding_2d, columns", size] / times["embedding_2d", size], 2) == 0.14
    assert round(8 * size / times["embedding by 4", size] / 1e6, 1) == 5.0


def test_the_processor_and_the_gpu() -> None:
    """The tables of `Why a GPU`, and the quotients in its text."""
    lines = RECORDED_ON_H100["other_protocols"]["benchmarks/kernels/why_a_gpu.mojo"]
    assert lines[:2] == [
        f"device: {RECORDED_ON_H100['device']}",
        "processor: 16 logical and 16 physical cores, vectors of 16",
    ]
    rows = [line.split(" | ") for line in lines[3:]]
    assert {(int(size), int(runs)) for _, size, runs, *_ in rows} == {
        (1000, 1001),
        (1_000_000, 1001),
        (100_000_000, 31),
    }
    time = {(name, int(size)): float(median) for name, size, _, _, median, _ in rows}
    largest = 100_000_000
    where = ("one core", "all cores", "GPU", "GPU and copies")
    for task in ("add", "steps"):
        check_rows(
            "basics/why.md",
            [
                [
                    f"{size:,}",
                    *(
                        f"{value:,.0f}" if value > 1 else f"{value:.1f}"
                        for value in (time[f"{task}, {each}", size] for each in where)
                    ),
                ]
                for size in (1000, 1_000_000, largest)
            ],
        )
    add, steps = ({each: time[f"{task}, {each}", largest] for each in where} for task in ("add", "steps"))
    assert round(add["all cores"] / add["GPU"]) == 28
    assert round(add["GPU and copies"] / add["GPU"]) == 50
    assert round(steps["all cores"] / steps["GPU"]) == 42
    assert round(steps["all cores"] / steps["GPU and copies"], 1) == 2.5
    bytes_moved = 12 * largest
    assert round(bytes_moved / add["GPU"] / 1e6, 1) == 2.7
    assert round(bytes_moved / add["all cores"] / 1e3) == 98
    assert round(bytes_moved / add["GPU and copies"] / 1e3) == 54
    operations = 2 * 256 * largest
    assert round(operations / steps["GPU"] / 1e6) == 55
    assert round(operations / steps["all cores"] / 1e6, 1) == 1.3


def test_the_copies_of_puzzle_20() -> None:
    (to_gpu,) = [each for each in RECORDED_ON_H100["processor"] if each.startswith("host to device 256 MiB")]
    (inside,) = [
        each for each in RECORDED_ON_H100["processor"] if each.startswith("torch cuda copy 67108864 ")
    ]
    assert round(float(to_gpu.split()[-2]) / 1000, 1) == 4.9
    assert round(float(inside.split()[-2]) / 1000, 2) == 0.18


def on_h200(file: str, elements: int) -> dict[str, Row]:
    """The rows of a program of `benchmarks/kernels` with that number of elements."""
    return {row.kernel: row for row in table(f"benchmarks/kernels/{file}") if row.elements == elements}


def as_cells(row: Row) -> list[str]:
    """The mean time, and the bandwidth relative to that of a copy."""
    return [f"{row.mean:.1f}", f"{row.of_copy:.3f}"]


def test_the_additions_by_the_loads_in_flight() -> None:
    rows = on_h200("array_sums.mojo", 64 * _MI)
    wide = {k: as_cells(rows[f"add {k}x16 B, 1056"]) for k in (1, 2, 4)}
    check_rows(
        "puzzle_36/puzzle_36.md",
        [[*as_cells(rows[f"add {k}, 1056"]), *wide.get(k, ["", ""])] for k in (1, 2, 4, 8)],
    )
    fastest = rows["add 1x16 B, 1056"]
    assert fastest.of_copy is not None
    assert fastest.of_copy >= 0.95
    assert fastest.mean * fastest.of_copy == pytest.approx(192.6, abs=0.1)


def test_the_sums_of_an_array() -> None:
    rows = on_h200("array_sums.mojo", 64 * _MI)
    kernels = (
        *("1, atomic", "2, atomic", "4, atomic", "8, atomic", "2x16 B, atomic"),
        *("4, launches", "4, by warp", "4, by thread"),
    )
    cub = [on_h200(file, 64 * _MI)["CUB sum"] for file in ("cub.cu", "cub.cu, after the sums")]
    check_rows(
        "puzzle_36/sum.md",
        [as_cells(row) for row in (*(rows[f"sum {kernel}, 1056"] for kernel in kernels), *cub)],
    )
    for size in (16 * _MI, 64 * _MI):
        means = [
            on_h200("array_sums.mojo", size)[f"sum 4, by thread, {blocks}"].mean
            for blocks in (1056, 2112, 4224)
        ]
        further = 1056 * 256
        assert 1000 * (means[1] - means[0]) / further == pytest.approx(1.7, abs=0.05)
        assert 1000 * (means[2] - means[1]) / (2 * further) == pytest.approx(1.7, abs=0.05)


def histograms(file: str, *kernels: str) -> list[list[str]]:
    """The times of kernels, a row each, with a cell for each kind of bytes."""
    rows = on_h200(file, 1056 * 256 * 16 * 31)
    return [
        [f"{rows[f'{each}, {kind}'].mean:,.1f}" for kind in ("uniform", "runs", "equal")] for each in kernels
    ]


def test_the_histograms_and_their_controls() -> None:
    own = "histogram.mojo"
    check_rows(
        "puzzle_37/puzzle_37.md",
        [
            *histograms(own, "loads alone 1", "loads alone 16", "global"),
            *histograms(own, "shared 1", "shared 4", "shared 16", "by warp 16"),
            *histograms("cub.cu, before the histograms", "CUB histogram"),
        ],
    )
    check_rows(
        "puzzle_37/merged.md",
        [
            *histograms(own, "global", "global, merged", "shared 1", "merged 1"),
            *histograms(own, "shared 16", "shared, weight 16", "merged 16", "uniform warps 16"),
        ],
    )


def test_the_products_with_register_tiles() -> None:
    """Puzzle 41's table, with cuBLAS beside it, and the controls that its text names."""
    times = {
        row.kernel: row.mean / 1000
        for program in (
            "p41 --benchmark",
            *(f"benchmarks/kernels/{it}" for it in ("cublas.cu", "register_tiles.mojo")),
        )
        for row in table(program)
        if row.elements == 4096
    }
    library = times["cuBLAS: default"]
    assert times["cuBLAS: pedantic"] == pytest.approx(library, rel=0.01)
    shown = ("tiled", "registers, 8 x 8", "one stage", "register_tiles", "cuBLAS: default")
    check_rows(
        "puzzle_41/puzzle_41.md",
        [
            [f"{times[it]:.2f}", f"{2 * 4096**3 / times[it] / 1e9:.1f}", f"{library / times[it]:.0%}"]
            for it in shown
        ],
    )
    assert library / times["register_tiles"] > 0.7
    alone = {it: means("controls")[f"one block, {it}", 4096] / 1000 for it in ("one stage", "two stages")}
    assert [round(each, 2) for each in alone.values()] == [3.11, 3.35]
    counted = [profiled("register_tiles")[it] for it in ("one stage", "two stages")]
    instructions = [each["sm__inst_executed.sum"] for each in counted]
    assert round(100 * (instructions[1] / instructions[0] - 1), 1) == 2.6
    waiting = counted[0]["smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"]
    assert round(waiting, 2) == 0.08
    controls = {
        it: f"{times[it]:.2f} ms" for it in ("two stages", "two stages, no padding", "first tiles only")
    }
    for book in _BOOKS:
        text = (book / "puzzle_41/puzzle_41.md").read_text("utf-8")
        assert [it for it in controls.values() if it not in text] == []


def test_the_prefix_sums_and_their_controls() -> None:
    """Puzzle 38's tables, with CUB's time of the same session beside them."""
    elements = 64 * _MI
    kernels = on_h200("prefix_sums.mojo", elements)
    solutions = {row.kernel: row.mean for row in table("p38 --benchmark")}
    cub = on_h200("cub.cu, with the prefix sums", elements)["CUB prefix sum"].mean

    def cells(*times: float) -> list[list[str]]:
        return [[f"{time:.1f}", f"{cub / time:.0%}"] for time in (*times, cub)]

    by_name = {name: row.mean for name, row in kernels.items()}
    check_rows(
        "puzzle_38/puzzle_38.md",
        cells(
            by_name["three launches"],
            by_name["256 x 8, one thread"],
            solutions["prefix_sum"],
            by_name["256 x 8, no tickets"],
        ),
    )
    check_rows(
        "puzzle_38/packed.md",
        cells(
            solutions["prefix_sum"],
            by_name["256 x 8, unordered"],
            solutions["prefix_sum_packed"],
            by_name["512 x 8, packed"],
        ),
    )
    assert cub / solutions["prefix_sum_packed"] > 0.8
    ordered, unordered, packed = (by_name[f"256 x 8{form}"] for form in ("", ", unordered", ", packed"))
    assert f"{1 - packed / unordered:.0%}" == "17%"
    assert f"{1 - unordered / ordered:.0%}" == "2%"
    assert f"{1 - by_name['256 x 8, no tickets'] / ordered:.0%}" == "2%"
    assert f"{by_name['256 x 8, one thread'] / solutions['prefix_sum'] - 1:.0%}" == "64%"
    assert f"{ordered:.1f}" == "231.2"


def test_the_radix_sorts_and_their_controls() -> None:
    """Puzzle 39's tables, with CUB beside them, and what its text says of passes and counters."""
    own, controls, cub = (
        {row.kernel: row.mean for row in table(program) if row.elements == 64 * _MI}
        for program in (
            "p39 --benchmark",
            *(f"benchmarks/kernels/{it}" for it in ("radix_sort.mojo", "cub.cu, before the sorts")),
        )
    )
    library = cub["CUB sort of pairs"]
    sorts = [
        *(own[it] for it in ("scatter, 4 bits", "scatter_sorted, 4 bits", "scatter_sorted, 8 bits")),
        controls["look-back 384x16, least 2"],
        library,
    ]
    launches = [
        [controls[f"{name} {bits}, 256x16{what}"] for bits in (4, 8)]
        for name, what in (
            *((it, "") for it in ("count", "scan", "direct", "local")),
            *(("local", it) for it in (", ordered", ", least 3", ", least 4")),
            ("rank", ""),
        )
    ]
    launches.append([controls["copy 256x16"]] * 2)
    check_rows(
        "puzzle_39/sort.md",
        [
            *([f"{it / 1000:.2f}", f"{64 * _MI / it:,.0f}", f"{library / it:.0%}"] for it in sorts),
            *([f"{it:,.1f}" for it in row] for row in launches),
        ],
    )
    assert library / own["scatter_sorted, 8 bits"] > 0.5
    _, _, direct, local, ordered, at_most_80, _, _, _ = launches
    assert [round(few / it, 2) for it, few in zip(direct, local, strict=True)] == [0.36, 0.32]
    assert round(local[1] / local[0], 1) == 1.3
    assert [round(1 - few / it, 2) for it, few in zip(local, at_most_80, strict=True)] == [0.16, 0.04]
    assert [round(1 - few / it, 2) for it, few in zip(local, ordered, strict=True)] == [0.04, 0.2]
    profiles = RECORDED["profiles"]
    once = [
        profiles["benchmarks/kernels/radix_sort.mojo --once"][f"scatter_sorted, {it} bits"] for it in (4, 8)
    ]
    assert [it["launch__registers_per_thread"] for it in once] == [122, 122]
    for metric, shown in (
        ("dram__throughput.avg.pct_of_peak_sustained_elapsed", [34, 26]),
        ("smsp__issue_active.avg.pct_of_peak_sustained_active", [36, 38]),
    ):
        assert [round(it[metric]) for it in once] == shown
    stores = [
        counted["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"]
        / counted["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"]
        for counted in (profiles["p39 --pass"]["scatter"], profiles["p39 --sort"]["scatter_sorted"])
    ]
    assert [round(it, 1) for it in stores] == [15.3, 5.4]


def test_the_products_of_sparse_matrices() -> None:
    """Puzzle 40's tables: five kinds of matrices, cuSPARSE in the same run, and the controls."""
    kinds = ("banded", "uniform", "power law", "empty rows", "huge rows")
    times = {
        row.kernel: row.mean
        for file in ("sparse_product.mojo", "cusparse.cu")
        for row in table(f"benchmarks/kernels/{file}")
    }
    after = {row.kernel: row.mean for row in table("benchmarks/kernels/cusparse.cu, after it")}
    for name, mean in after.items():
        assert mean == pytest.approx(times[name], rel=0.02)

    def share(kernel: str) -> float:
        """The mean of cuSPARSE's time divided by the kernel's."""
        return sum(times[f"cuSPARSE default, {it}"] / times[f"{kernel}, {it}"] for it in kinds) / len(kinds)

    def means(kernel: str) -> list[str]:
        return [f"{times[f'{kernel}, {it}']:,.1f}" for it in kinds]

    kernels = ("thread per row", "warp per row", "2, vote", "cuSPARSE default")
    controls = ("1 tile", "64 bits", "1, given", "2, loop")
    check_rows(
        "puzzle_40/puzzle_40.md",
        [
            *([*means(name), f"{share(name):.0%}"] for name in (*kernels, *controls)),
            [*means("gathers"), ""],
        ],
    )
    assert share("2, vote") >= 0.8
    assert share("cuSPARSE 1") == pytest.approx(1, abs=0.01)
    assert share("cuSPARSE 2") < 1


def test_the_tensor_copies_and_their_controls() -> None:
    """Puzzle 43's tables, and the numbers of its text."""
    recorded = table("benchmarks/kernels/tensor_copies.mojo")
    rows = {(row.kernel, row.elements): row for row in recorded}
    small = {kernel: row for (kernel, elements), row in rows.items() if elements == 8192**2}
    ring = small["ring 16x64, 4, 1056 blocks"]

    def share(row: Row) -> str:
        assert row.of_copy is not None
        return f"{row.of_copy:.0%}"

    check_rows(
        "puzzle_43/puzzle_43.md",
        [
            [f"{row.mean:.2f}", f"{row.bandwidth:,.1f}", share(row)]
            for row in (small["loads"], small["float4"], small["one_tile"], ring)
        ],
    )
    shapes = [(4, 1), (4, 2), (4, 4), (4, 8), (4, 13), (2, 4), (2, 8), (2, 13)]
    check_rows(
        "puzzle_43/ring.md",
        [
            [
                f"{132 * blocks:,}",
                str(blocks),
                str(stages),
                share(small[f"ring 16x64, {stages}, {132 * blocks} blocks"]),
            ]
            for stages, blocks in shapes
        ],
    )
    ways = ("multicast", "multicast by one block", "each block loads", "each loads, cluster_sync")
    check_rows("puzzle_43/multicast.md", [[f"{small[way].mean:.2f}", share(small[way])] for way in ways])
    again = {row.kernel: row.of_copy for row in table("p43 --benchmark")}
    controls = [
        share(small["ring 32x64, 4, 132 blocks"]),
        share(small["untouched, 1056 blocks"]),
        share(rows["ring 16x64, 4, 1056 blocks", 16384**2]),
        f"{again['ring']:.1%}",
    ]
    for book in _BOOKS:
        text = (book / "puzzle_43/ring.md").read_text("utf-8")
        assert [number for number in controls if number not in text] == []
    assert (again["one_tile"] or 0) > 0.95


def test_what_an_h200_does_with_wrong_tensor_copies() -> None:
    """Puzzle 43's table of mistakes: every run of a mode had the same result."""
    recorded = json.loads((_DATA / "h200/tensor_copies.json").read_text("utf-8"))
    rows = []
    for mistake, modes in recorded["mistakes"].items():
        assert all(len(set(results)) == 1 for results in modes.values())
        rows.append(
            [mistake, *(modes.get(mode, [""])[0] for mode in ("--one-tile", "--ring", "--benchmark"))]
        )
    page = (_BOOKS[0] / "puzzle_43/puzzle_43.md").read_text("utf-8")
    lines = ["|" + "".join(f" {cell} |" if cell else " |" for cell in row) + "\n" for row in rows]
    assert [line for line in lines if line not in page] == []


@pytest.mark.parametrize("mode", ["--one-tile", "--ring", "--multicast"])
def test_tensor_copies_write_what_the_manifest_asks_for(mode: str) -> None:
    """The bytes written are counted alike by an H200, and no thread accesses global memory."""
    counted = json.loads((_DATA / "h200/tensor_copies.json").read_text("utf-8"))["counters"][mode]
    manifest = yaml.safe_load((Path(__file__).parents[1] / "problems/p43/puzzle.yaml").read_text("utf-8"))
    (criteria,) = [each["counters"] for each in manifest["modes"] if each["flags"] == [mode]]
    required = {each["metric"]: each["equals"] for each in criteria if "equals" in each}
    assert (
        counted["l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum"] == required["tma_bytes_written"]
    )
    assert counted["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == required["global_bytes_read"] == 0
    assert counted["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] == required["global_bytes_written"] == 0


def test_the_overlapped_copies() -> None:
    """Puzzle 42's tables and the times that its text names: the pipeline beside the copies alone."""
    page = "puzzle_42/puzzle_42.md"
    lines = RECORDED["other_protocols"]["p42 --benchmark"][2:]
    best = {
        name: int(times.split()[0]) / 1000
        for name, times in (line.split(" us, best and worst of 5: ") for line in lines)
    }
    longer = max(best["copies to the GPU alone"], best["copies from the GPU alone"])
    check_rows(page, [[f"{time:.2f}", f"{time / longer:.2f}"] for time in best.values()])
    rows = [line.split(" | ") for line in RECORDED["other_protocols"]["benchmarks/kernels/overlap.mojo"]]
    times: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if len(row) == 4:
            times.setdefault((row[0], row[1]), []).append(int(row[2].split()[1]) / 1000)

    def of(form: str, chunks: int, slots: int = 3, rounds: int = 0) -> float:
        chunk = 128 * _MI // chunks
        return times[form, f"chunk {chunk} chunks {chunks} slots {slots} rounds {rounds}"][0]

    check_rows(
        page,
        [
            [f"{of('both', chunks):.1f}", f"{of('streams by stage', chunks):.1f}"]
            for chunks in (4, 16, 64, 512, 2048)
        ],
    )
    named = [
        of("streams by stage", 64, slots=1),
        of("streams by stage", 64),
        of("streams by slot", 64),
        *(of(form, 64, rounds=2048) for form in ("kernels", "streams by stage", "one stream", "graph")),
    ]
    for book in _BOOKS:
        text = (book / page).read_text("utf-8")
        assert [time for time in named if f"{time:.1f} ms" not in text] == []


_ATTENTION = json.loads((_DATA / "h200/attention.json").read_text("utf-8"))


def attention_times() -> dict[tuple[str, int], float]:
    """Means of puzzle 46's kernels and of PyTorch's before them with 128 features, by name and positions."""
    times = {}
    for line in _ATTENTION["benchmarks/kernels/sdpa.py"][0]:
        if found := re.match(r"(\w+)_ATTENTION .* (\d+) positions +128 features (.{8}) .* ([\d.]+) us", line):
            backend, positions, mask, mean = found.groups()
            times[f"{backend}, {mask.strip()}", int(positions)] = float(mean)
    positions = 0
    for line in _ATTENTION["benchmarks/kernels/attention.mojo"]:
        if found := re.match(r"\d+ heads of (\d+) positions", line):
            positions = int(found[1])
        elif found := re.match(r"(.*, \d+) x 128 +\d+ +\d+ +([\d.]+)", line):
            times[found[1], positions] = float(found[2])
    return times


def test_the_times_of_attention_and_of_its_controls() -> None:
    """Puzzle 46's tables: times, and the speed relative to cuDNN's in the same run."""
    times = attention_times()
    masks = {
        "all keys": ("attention, 128", "attention, 64", "overlapped, 128"),
        "causal": ("causal, 128", "causal, 64", "overlapped, causal, 128"),
    }
    for mask, ours in masks.items():
        rows = []
        for name in (f"FLASH, {mask}", f"CUDNN, {mask}", *ours):
            row = []
            for positions in (4096, 16384):
                time = times[name, positions]
                row += [f"{time:,.2f}", f"{times[f'CUDNN, {mask}', positions] / time:.0%}"]
            rows.append(row)
        check_rows("puzzle_46/causal.md", rows)
        assert all(times[f"CUDNN, {mask}", n] / times[ours[0], n] >= 0.6 for n in (4096, 16384))
    whole = times["attention, 128", 16384]
    parts = [times[name, 16384] for name in ("attention, 128", "no exp, 128", "no softmax, 128")]
    check_rows("puzzle_46/causal.md", [[f"{time:,.2f}", f"{time / whole:.0%}"] for time in parts])
    assert round(4 * 16384**2 * 128 * 16 / whole / 1e6) == 610
    counted = [_ATTENTION["counters"][name] for name in ("attention", "overlapped", "no softmax")]
    check_rows(
        "puzzle_46/causal.md",
        [
            [
                f"{each['sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed']:.0f}%",
                f"{each['dram__bytes_read.sum'] / 1e6:.0f} MB",
                f"{each['l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum'] / 1e6:,.0f} MB",
            ]
            for each in counted
        ],
    )


def test_pytorch_took_as_long_after_the_kernels() -> None:
    """The two calls of each size of puzzle 46's tables, before and after its kernels."""
    before, after = (
        [float(line.split()[-2]) for line in lines if " 128 features" in line]
        for lines in _ATTENTION["benchmarks/kernels/sdpa.py"]
    )
    changes = sorted(abs(then / now - 1) for now, then in zip(before, after, strict=True))
    assert len(changes) == 8
    assert changes[-2] < 0.0125
    assert 3242.20 in after


@pytest.mark.parametrize("mode", ["--wgmma", "--causal"])
def test_attention_multiplies_as_often_as_an_h200_counts(mode: str) -> None:
    """Of 2 heads of 160 positions, in tiles of 64 keys: the products, and the bytes of the copies."""
    counted = _ATTENTION["counters"][f"p46 {mode}"]
    tiles = {"--wgmma": 4 * 3, "--causal": 2 * (2 + 3)}[mode]
    assert counted["sm__inst_executed_pipe_tensor_op_gmma.sum"] == tiles * 2 * 8 * 4
    copied = (4 * 128 + 2 * tiles * 64) * 64 * 2
    assert counted["l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"] == copied


def test_what_an_h200_does_with_wrong_attention() -> None:
    rows = []
    for mistake, modes in _ATTENTION["mistakes"].items():
        assert all(len(set(results)) == 1 for results in modes.values())
        rows.append([mistake, modes["--wgmma"][0], modes["--benchmark"][0]])
    page = (_BOOKS[0] / "puzzle_46/causal.md").read_text("utf-8")
    lines = ["|" + "".join(f" {cell} |" for cell in row) + "\n" for row in rows]
    assert [line for line in lines if line not in page] == []


def test_the_pipelines_and_their_controls() -> None:
    """Puzzle 45's tables: times, the share of cuBLAS in the same run, how long the tensor cores are busy."""
    size_at_the_end = re.compile(r"(.*?) +(4096|8192)")
    times: dict[tuple[str, int], float] = {}
    for row in table("benchmarks/kernels/pipelines.mojo"):
        named = size_at_the_end.fullmatch(row.kernel)
        assert named is not None
        assert row.elements == int(named[2]) ** 2
        times[named[1], int(named[2])] = row.mean
    _device, _version, *before = RECORDED["programs"][
        "benchmarks/kernels/cublas.cu, bfloat16, before the pipelines"
    ]
    library = {int(line.split()[2]): float(line.split()[4]) for line in before}
    counted = json.loads((_DATA / "h200/pipelines.json").read_text("utf-8"))["kernels"]

    def compared(kernel: str) -> list[str]:
        return [
            cell
            for size in (4096, 8192)
            for cell in (f"{times[kernel, size]:,.2f}", f"{library[size] / times[kernel, size]:.0%}")
        ]

    def busy(kernel: str) -> str:
        share = counted[kernel]["sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed"]
        return f"{share:.0f}%"

    roles = [
        ("without 128/3", "128 × 128, 3"),
        ("without 256/4", "128 × 256, 4"),
        ("specialised", "128 × 256, 4"),
        ("256/4/2 one tile", "128 × 256, 4"),
    ]
    check_rows("puzzle_45/puzzle_45.md", [[shape, *compared(kernel)] for kernel, shape in roles])
    controls = [
        ("specialised", 4), ("persistent", 3), ("256/4/2", 4), ("256/2/2", 2), ("256/4/2 one tile", 4),
        ("256/4/2 threads", 4), ("128/4/1", 4), ("256/4/2 registers", 4), ("256/4/2 16 rows", 4),
        ("256/4/2 clusters", 4),
    ]  # fmt: skip
    check_rows(
        "puzzle_45/persistent.md",
        [[str(stages), *compared(kernel), busy(kernel)] for kernel, stages in controls],
    )
    assert all(library[size] / times["persistent", size] >= 0.8 for size in (4096, 8192))
    assert counted["256/4/2 registers"]["launch__registers_per_thread"] == 163
    for kernel in ("persistent", "256/4/2", "without 256/4", "cuBLAS bf16"):
        assert counted[kernel]["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_gmma.sum"] == 0


def test_the_products_of_warpgroups() -> None:
    """Puzzle 44's table, with cuBLAS before and after, and the numbers of its text."""
    recorded = table("benchmarks/kernels/warpgroup_products.mojo")
    times = {(row.kernel, row.elements): row.mean for row in recorded}
    before, after = (
        {row.elements: row.mean for row in table(program) if row.kernel == "cuBLAS: float32 results"}
        for program in ("benchmarks/kernels/cublas_bf16.cu", "benchmarks/kernels/cublas_bf16.cu, after it")
    )
    sizes = (4096**2, 8192**2)
    assert [before[size] for size in sizes] == pytest.approx([after[size] for size in sizes], rel=0.01)

    def cells(means: dict[int, float]) -> list[str]:
        return [
            cell
            for size in sizes
            for cell in (
                f"{means[size]:,.2f}",
                f"{2 * size**1.5 / means[size] / 1e6:.1f}",
                f"{before[size] / means[size]:.0%}",
            )
        ]

    shown = ("waits 128x128, 3", "tile_loop", "waits 128x256, 4", "loop 128x256, 4", "grouped 128x256, 4")
    rows = [cells({size: times[kernel, size] for size in sizes}) for kernel in shown]
    check_rows("puzzle_44/tile_loop.md", [*rows, cells(before)])
    controls = [
        *(f"{times[it, sizes[0]]:.2f} µs" for it in ("products only 128x128, 3", "no store 128x128, 3")),
        *(f"{times[it, sizes[0]]:.2f} µs" for it in ("swizzle 64, 3", "swizzle 32, 3")),
        f"{times['products only 128x128, 3', sizes[1]]:,.2f} µs",
    ]
    counted = json.loads((_DATA / "h200/warpgroup_products.json").read_text("utf-8"))["counters"]
    busy, cache, copied = (
        "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
        "lts__throughput.avg.pct_of_peak_sustained_elapsed",
        "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum",
    )
    for kernel in ("tile_loop", "loop 128x256, 4"):
        controls += [f"{counted[kernel][it]:.0f}%" for it in (busy, cache)]
        controls.append(f"{counted[kernel][copied] / 1e9:.1f} GB")
    controls.append(f"{counted['products only 128x128, 3'][busy]:.0f}%")
    controls += [f"{counted[it][cache]:.0f}%" for it in ("swizzle 64, 3", "swizzle 32, 3")]
    for book in _BOOKS:
        text = (book / "puzzle_44/tile_loop.md").read_text("utf-8")
        assert [number for number in controls if number not in text] == []
    assert times["no store 128x128, 3", sizes[1]] > times["tile_loop", sizes[1]]


def test_what_an_h200_counts_of_products_of_warpgroups() -> None:
    """Puzzle 44's table: no conflicts where the products read, and the manifest's number of instructions."""
    counted = json.loads((_DATA / "h200/warpgroup_products.json").read_text("utf-8"))["counters"]
    read, stored = ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" + it for it in ("gmma.sum", "st.sum"))
    conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_"
    kernels = [counted[it] for it in ("p44 --one-tile", "one_tile_not_swizzled")]
    check_rows(
        "puzzle_44/puzzle_44.md",
        [
            [f"{each[it]:,}" for it in (stored, f"{conflicts}st.sum", read, f"{conflicts}gmma.sum")]
            for each in kernels
        ],
    )
    assert {each[f"{conflicts}gmma.sum"] for each in counted.values()} == {0}
    manifest = yaml.safe_load((Path(__file__).parents[1] / "problems/p44/puzzle.yaml").read_text("utf-8"))
    required = {each["metric"]: each.get("equals") for each in manifest["modes"][0]["counters"]}
    assert kernels[0]["sm__inst_executed_pipe_tensor_op_gmma.sum"] == required["tensor_core_instructions"]
    assert kernels[0][f"{conflicts}st.sum"] == required["bank_conflicts"]
