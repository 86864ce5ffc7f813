"""The profile as JSON, for each kernel and each of its lines, and as CSV: metrics by name."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence

from tooling.simulator.checks.happens_before.copy_times import CopyTimes
from tooling.simulator.counters.metrics import (
    COMPARABLE,
    STAGES,
    UNMEASURED,
    kernel_values,
    metrics_of,
    named_work,
    values,
)
from tooling.simulator.counters.profile import KernelProfile, LineProfile
from tooling.simulator.gpu.launch import Dim3
from tooling.simulator.program.counting import CountingRules

VERSION = 1


def to_json(
    kernels: Sequence[KernelProfile],
    program: str,
    status: int,
    machine_code: Sequence[Mapping[str, object]] = (),
    times: Sequence[Mapping[str, object]] = (),
    *,
    benchmark: Sequence[Mapping[str, object]] = (),
    copies: CopyTimes | None = None,
) -> str:
    """The document's text.

    Args:
        program: what was profiled, as typed by the user; status: its exit status.
        machine_code: of each kernel, in their order; empty: it was not asked for.
        times: the estimated time of each kernel; empty: none is estimated.
        benchmark: the rows of a benchmark; empty: the program is not one.
        copies: between host and GPU, shown for a program with several streams.
    """
    measured = all(kernel.rules.measured for kernel in kernels)
    entries = [_kernel(kernel) for kernel in kernels]
    if machine_code:
        for entry, code in zip(entries, machine_code, strict=True):
            entry["machine_code"] = code
    if times:
        for entry, time in zip(entries, times, strict=True):
            entry["time"] = time
    document: dict[str, object] = {
        "version": VERSION,
        "program": program,
        "status": status,
        "comparable": [metric.name for metric in COMPARABLE if measured],
        "model": [metric.name for metric in UNMEASURED if metric.model and not measured],
        "kernels": entries,
    }
    if benchmark:
        document["benchmark"] = benchmark
    if copies is not None and copies.streams:
        document["copies"] = {
            "to_gpu": copies.to_gpu,
            "to_host": copies.to_host,
            "elapsed": copies.elapsed,
            "relative": round(copies.relative, 4),
        }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def to_csv(kernels: Sequence[KernelProfile]) -> str:
    """One row for each metric of each kernel, with the columns of `ncu --csv` that have a meaning here."""
    stream = io.StringIO()
    table = csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n")
    table.writerow(
        ["ID", "Kernel Name", "Block Size", "Grid Size", "Metric Name", "Metric Unit", "Metric Value"]
    )
    for number, kernel in enumerate(kernels):
        head = [number, kernel.name, _extents(kernel.block), _extents(kernel.grid)]
        for metric in metrics_of(kernel.rules):
            table.writerow([*head, metric.name, metric.unit, metric.read(kernel.counts)])
        for row in named_work(kernel.work, kernel.rules):
            table.writerow([*head, *row])
        if kernel.stages:
            table.writerow([*head, STAGES, "stages", kernel.stages])
    return stream.getvalue()


def _extents(extents: Dim3) -> str:
    return f"({', '.join(map(str, extents))})"


def _kernel(kernel: KernelProfile) -> dict[str, object]:
    return {
        "name": kernel.name,
        "symbol": kernel.symbol,
        "grid": list(kernel.grid),
        "block": list(kernel.block),
        "launches": kernel.launches,
        "faults": kernel.faults,
        "metrics": kernel_values(kernel),
        "lines": [_line(line, kernel.rules) for line in kernel.in_order()],
    }


def _line(profile: LineProfile, rules: CountingRules) -> dict[str, object]:
    return {
        "file": profile.line.file,
        "line": profile.line.number,
        "metrics": values(profile.counts, rules),
        "accesses": [
            {"route": access.route.value, "ptx": access.form, "column": access.column}
            for access in profile.accesses.values()
        ],
    }
