"""The rows of a program's `--benchmark` on the simulated GPU, with estimates in the column of times."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tooling.simulator.timing.profiler import TimedLaunch
from tooling.simulator.timing.report import KernelTime, document_of, microseconds, show_named_times, time_of
from tooling.simulator.timing.texts import (
    ELEMENTS,
    ESTIMATED,
    KERNEL,
    LARGEST,
    NAMES,
    NOT_ESTIMATED,
    SAMPLING,
    SHARE,
    TIME,
)
from tooling.text import Text

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
    sampled = any(row.time.sampling for row in rows)
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column(KERNEL.render(language))
    table.add_column(ELEMENTS.render(language), justify="right")
    table.add_column(TIME.of(gpu=gpu).render(language))
    table.add_column(LARGEST.render(language))
    if sampled:
        table.add_column(SAMPLING.render(language), justify="right")
    for row in rows:
        cells = [
            escape(row.name),
            f"{row.elements:,}",
            *(each.render(language) for each in _estimated(row.time)),
        ]
        if row.time.sampling:
            cells.append(f"±{100 * row.time.sampling:.1f}%")
        table.add_row(*cells)
    console.print()
    console.print(table, highlight=False)


def _estimated(time: KernelTime) -> Iterator[Text]:
    """The cells for the time and for the limit with the largest share."""
    if time.estimate is None or time.bounds is None:
        yield NOT_ESTIMATED
        return
    low, high = map(microseconds, time.bounds)
    yield ESTIMATED.of(low=low, high=high)
    limit = time.estimate.binding
    yield SHARE.of(limit=NAMES[limit], share=100 * time.estimate.shares[limit])


def show_largest(rows: Sequence[BenchmarkRow], gpu: str, console: Console, language: str) -> None:
    """Print what limits each kernel, for its row with the most elements."""
    found: dict[str, BenchmarkRow] = {}
    for row in rows:
        if row.name not in found or row.elements > found[row.name].elements:
            found[row.name] = row
    show_named_times([(row.name, row.time) for row in found.values()], gpu, console, language)


def document_of_benchmark(rows: Sequence[BenchmarkRow], gpu: str) -> list[dict[str, object]]:
    """For the JSON document: `document_of` with the row's name; null microseconds without an estimate."""
    return [
        {
            "kernel": row.name,
            "elements": row.elements,
            "estimated_microseconds": None,
            **document_of(row.time, gpu),
        }
        for row in rows
    ]
