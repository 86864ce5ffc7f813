"""The rows of a program's `--benchmark` on the simulated GPU, with estimates in the column of times."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tooling.simulator.timing.profiler import TimedLaunch
from tooling.simulator.timing.report import KernelTime, microseconds, time_of
from tooling.simulator.timing.texts import ELEMENTS, ESTIMATED, KERNEL, NOT_ESTIMATED, TIME

_RAN = re.compile(r"^ran: (.+) elements: (\d+)$", re.MULTILINE)


def rows_in(output: str) -> list[tuple[str, int]]:
    """The names and elements of the rows that `lab.benchmark` has printed on the simulated GPU."""
    return [(name, int(elements)) for name, elements in _RAN.findall(output)]


class BenchmarkRow(Struct, frozen=True):
    """A row of the table: what ran, and the estimate of its launch."""

    name: str
    elements: int
    time: KernelTime


def benchmark_of(output: str, launches: Sequence[TimedLaunch], gpu: str) -> list[BenchmarkRow]:
    """The rows of a program's output with the launch of each.

    Empty if the program has launched more kernels than it has rows: then it is not known which one is whose.
    """
    rows = rows_in(output)
    if len(rows) != len(launches):
        return []
    return [
        BenchmarkRow(name, elements, time_of(launch, gpu))
        for (name, elements), launch in zip(rows, launches, strict=True)
    ]


def show_benchmark(rows: Sequence[BenchmarkRow], console: Console, language: str) -> None:
    """Print the table, if one of its times is estimated."""
    gpu = next((row.time.gpu for row in rows if row.time.bounds is not None), None)
    if gpu is None:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column(KERNEL.render(language))
    table.add_column(ELEMENTS.render(language), justify="right")
    table.add_column(TIME.of(gpu=gpu).render(language))
    for row in rows:
        cell = NOT_ESTIMATED
        if row.time.bounds is not None:
            low, high = map(microseconds, row.time.bounds)
            cell = ESTIMATED.of(low=low, high=high)
        table.add_row(escape(row.name), f"{row.elements:,}", cell.render(language))
    console.print()
    console.print(table, highlight=False)


def document_of_benchmark(rows: Sequence[BenchmarkRow]) -> list[dict[str, object]]:
    """For the JSON document: microseconds from and to, or null."""
    return [
        {
            "kernel": row.name,
            "elements": row.elements,
            "estimated_microseconds": (
                None if row.time.bounds is None else [float(microseconds(each)) for each in row.time.bounds]
            ),
        }
        for row in rows
    ]
