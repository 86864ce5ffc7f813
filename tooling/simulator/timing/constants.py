"""Constants of a GPU from the table of its microbenchmarks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from tooling.simulator.timing.parameters import Parameters

_ROW = re.compile(r"^(?P<kernel>.{28}) *(?P<elements>\d+) +\d+ +(?P<mean>[\d.]+) +[\d.]+")
_DEVICE = "device: "
_WARPS = (1, 2, 4, 8, 16, 32)
_UNITS = ("float32", "float64", "multiply", "integer", "special", "shuffle", "tf32", "float16")
_SECOND_LEVEL_BYTES = {"H100": 52_428_800, "H200": 62_914_560}
"""Of the second-level cache, as the driver reports them (attribute 38)."""

Rows = Mapping[str, Mapping[int, float]]


class IncompleteTable(ValueError):
    """A row is missing, or a longer row does not take longer."""


def constants_of(table: str, *, clock: float = 1.98, multiprocessors: int = 132) -> Parameters:
    """The constants of the GPU that a table is of.

    Args:
        table: what `benchmarks/kernels/constants.mojo` printed.
        clock: of the multiprocessors during the benchmark, in GHz.

    Raises:
        IncompleteTable: see there.
    """
    rows = rows_of(table)
    device = next(line for line in table.splitlines() if line.startswith(_DEVICE)).removeprefix(_DEVICE)
    cycles = 1000 * clock  # of a microsecond

    def slope(name: str) -> float:
        return _slope(rows, name)

    def per_cycle(name: str, factor: float = 1.0) -> float:
        return slope(name) * cycles * factor

    latency = {unit: per_cycle(f"latency {unit}") for unit in _UNITS}
    latency["ld.shared"] = per_cycle("latency ld.shared")
    # 32 warps of a multiprocessor execute each operation.
    interval = {unit: per_cycle(f"rate {unit}", 1 / 32) for unit in _UNITS}
    passes = {number: per_cycle(f"rate ld.shared, {number} passes", 1 / 32) for number in (1, 2, 4)}
    address = latency["multiply"]  # a step of a chase computes an address, too
    line, sector = zip(*(_second_level(rows, kind) for kind in ("read", "write")), strict=True)
    read = 1 / slope("memory read") / 1000
    launch = min(times[1] for name, times in rows.items() if name.startswith("start "))
    dense, lone = slope("memory sparse 8"), slope("memory sparse 16")
    return Parameters(
        name=device,
        clock=clock,
        multiprocessors=multiprocessors,
        cache_bytes=256 * 1024,
        second_level_bytes=next(size for name, size in _SECOND_LEVEL_BYTES.items() if name in device),
        launch=launch,
        start={warps: 1000 * slope(f"start {32 * warps}") for warps in _WARPS},
        latency=latency,
        interval=interval,
        shared_pass=(passes[4] - passes[1]) / 3,
        shared_atomic={number: per_cycle(f"rate atom.shared, {number}", 1 / 32) for number in (1, 4, 32)},
        barrier={threads // 32: per_cycle(f"barrier {threads}") for threads in (32, 128, 512, 1024)},
        nearest={
            lines: per_cycle(f"rate ld.global, stride {stride}", 1 / 32)
            for stride, lines in ((1, 1), (8, 8), (32, 32))
        },
        level=(
            per_cycle("latency level 1") - address,
            per_cycle("latency level 2") - address,
            per_cycle("latency level 3") - address,
        ),
        second_level_line=(line[0], line[1]),
        second_level_sector=(sector[0], sector[1]),
        read=read,
        write=1 / slope("memory write") / 1000,
        copy=1 / slope("memory copy") / 1000,
        sparse=max(1.0, lone / dense),
        ramp=max(0.0, _intercept(rows, "memory read") - launch),
        atomic={
            number: 1000 * slope(f"atomic, {number} addresses") for number in (1, 8, 32, 256, 128 * 1024)
        },
    )


def rows_of(table: str) -> dict[str, dict[int, float]]:
    """The microseconds of a benchmark's rows, by name and elements; of equal rows the last."""
    found: dict[str, dict[int, float]] = defaultdict(dict)
    for line in table.splitlines():
        row = _ROW.match(line)
        if row is not None:
            found[row["kernel"].rstrip()][int(row["elements"])] = float(row["mean"])
    return found


def _ends(rows: Rows, name: str) -> tuple[int, int, float, float]:
    """The two longest lengths of a row, and their microseconds."""
    times = rows.get(name, {})
    if len(times) < 2:
        raise IncompleteTable(f"the table has not two rows {name!r}")
    first, last = sorted(times)[-2:]
    if times[last] <= times[first]:
        raise IncompleteTable(f"{name!r}: {last} elements do not take longer than {first}")
    return first, last, times[first], times[last]


def _slope(rows: Rows, name: str) -> float:
    """Microseconds of an element."""
    first, last, early, late = _ends(rows, name)
    return (late - early) / (last - first)


def _intercept(rows: Rows, name: str) -> float:
    """Microseconds of no elements at all."""
    first, _, early, _ = _ends(rows, name)
    return early - first * _slope(rows, name)


def _second_level(rows: Rows, kind: str) -> tuple[float, float]:
    """Nanoseconds of a line of a request, and of each of its sectors: of four sectors and of one."""
    whole = 1000 * _slope(rows, f"cache {kind}, spread 1") * 128  # a line of 32 elements
    single = 1000 * _slope(rows, f"cache {kind}, spread 32") * 4
    sector = max(0.0, (whole - single) / 3)
    return max(0.0, single - sector), sector
