"""Estimated times and those recorded on an H200: the rows of the programs of `benchmarks/kernels`."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from math import ceil, floor
from pathlib import Path
from statistics import median

import msgspec
from msgspec import Struct

from tooling.simulator.timing.accuracy import Accuracy, Range
from tooling.simulator.timing.constants import rows_of
from tooling.simulator.timing.model import CONTENDED_SHARE, Limit, estimate, together
from tooling.simulator.timing.parameters import parameters_of
from tooling.simulator.timing.work import Work

_DATA = Path(__file__).parents[3] / "tests" / "data" / "h200"
OBSERVED = _DATA / "timed_work.json.xz"
"""What `benchmarks/estimates.py observe` found."""
ESTIMATES = _DATA / "estimates.json"
"""The rows with their recorded and estimated times, of which the page on trust has a table and a figure."""
SEALED = "sealed"
PROGRAMS = ("reductions", "work_per_thread", "limits", "register_tiles", SEALED)
"""The programs of `benchmarks/kernels` whose kernels are compared."""
PUZZLES = {
    "p30": "p30 --benchmark",
    "p30-unsolved": "p30 --benchmark, unsolved",
    "p31": "p31 --benchmark",
    "p31-unsolved": "p31 --benchmark, unsolved",
    "p32": "p32 --benchmark",
    "p32-unsolved": "p32 --benchmark, unsolved",
    "p35": "p35 --benchmark",
    "p35_tile_tensor": "p35_tile_tensor --benchmark",
    "array_sums": "benchmarks/kernels/array_sums.mojo",
    "convolution": "benchmarks/kernels/convolution.mojo",
}
"""The programs that have kernels of the book's puzzles, with the names of their recorded tables.

The range that is printed is chosen without them.
"""
_INSIDE = 0.9
"""Share of the kernels that a range holds."""
_DIFFERS = 0.15
"""How much longer the slower of two variants takes, for a pair to count."""
_UNDECIDED = 0.1
"""Estimates that differ by less say nothing about which variant is faster."""


class Group(Enum):
    """Kernels whose errors are summed up together.

    Those of OPEN give the printed range. The times of SEALED were sealed while the model was made. PUZZLES
    are those of the book's puzzles.
    """

    OPEN = "open"
    SEALED = "sealed"
    PUZZLES = "puzzles"


class ObservedRow(Struct, frozen=True):
    """A row of a program.

    Attributes:
        launches: in a row; work: of each of them, with machine code; guessed: with PTX in its place.
        refused: why it gets no time, or empty.
        elsewhere, guessed_elsewhere: at the other places of the sample, see `TimedLaunch`.
    """

    program: str
    kernel: str
    elements: int
    launches: int
    work: Work | None
    guessed: Work | None
    refused: str = ""
    elsewhere: tuple[Work, ...] = ()
    guessed_elsewhere: tuple[Work, ...] = ()


class ComparedRow(Struct, frozen=True):
    """A row with its recorded time, in microseconds.

    Attributes:
        estimated, guessed: with machine code, and with PTX in its place; None: refused.
        binding: the limit that binds.
    """

    program: str
    kernel: str
    elements: int
    measured: float
    estimated: float | None = None
    guessed: float | None = None
    binding: Limit | None = None
    refused: str = ""

    @property
    def group(self) -> Group:
        """Which of the groups of the page on trust it belongs to."""
        if self.program == SEALED:
            return Group.SEALED
        return Group.PUZZLES if self.program in PUZZLES else Group.OPEN

    @property
    def error(self) -> float | None:
        """The estimate's relative error."""
        return None if self.estimated is None else self.estimated / self.measured - 1

    def line(self) -> str:
        """For a table."""
        head = f"{self.program:16}{self.kernel:28}{self.elements:10}{self.measured:11.2f}"
        if self.estimated is None or self.error is None or self.binding is None or self.guessed is None:
            return f"{head}  refused: {self.refused}"
        guessed = self.guessed / self.measured - 1
        return f"{head}{self.estimated:11.2f} {self.error:+6.0%} {guessed:+6.0%}  {self.binding.value}"


def recorded_rows() -> list[ObservedRow]:
    """The rows that were observed."""
    return msgspec.json.decode(lzma.decompress(OBSERVED.read_bytes()), type=list[ObservedRow], strict=False)


def compared(rows: Sequence[ObservedRow], gpu: str = "h200") -> list[ComparedRow]:
    """The rows that have a recorded time, with it; those of programs without any are left out."""
    times = _recorded_times()
    found = []
    for row in rows:
        own = times.get(row.program, {}).get((row.kernel, row.elements))
        if own is not None:
            found.append(_compared(row, own, gpu))
    return found


def _compared(row: ObservedRow, measured: float, gpu: str) -> ComparedRow:
    parameters = parameters_of(gpu)
    bare = ComparedRow(row.program, row.kernel, row.elements, measured, refused=row.refused)
    if row.refused or row.work is None or row.guessed is None:
        return bare
    exact, guessed = (
        together([estimate(work, parameters) for work in works])
        for works in ((row.work, *row.elsewhere), (row.guessed, *row.guessed_elsewhere))
    )
    if row.work.contended and exact.shares[Limit.ATOMICS] >= CONTENDED_SHARE:
        return msgspec.structs.replace(bare, refused="contended atomic operations")
    once = (row.launches - 1) * parameters.launch  # launches in a row overlap it
    return msgspec.structs.replace(
        bare,
        estimated=round(row.launches * exact.microseconds - once, 3),
        guessed=round(row.launches * guessed.microseconds - once, 3),
        binding=exact.binding,
    )


def _recorded_times() -> dict[str, dict[tuple[str, int], float]]:
    recorded = json.loads((_DATA / "benchmarks.json").read_text("utf-8"))["programs"]
    found = {}
    tables = {program: f"benchmarks/kernels/{program}.mojo" for program in PROGRAMS}
    for program, name in {**tables, **PUZZLES}.items():
        table = recorded.get(name)
        if table is not None:
            rows = rows_of("\n".join(table))
            found[program] = {
                (kernel, elements): time for kernel, times in rows.items() for elements, time in times.items()
            }
    return found


def accuracy_of(rows: Iterable[ComparedRow]) -> Accuracy:
    """The ranges that hold nine of ten of these rows."""
    kept = [row for row in rows if row.estimated is not None and row.guessed is not None]
    return Accuracy(
        sass=_range([row.measured / row.estimated for row in kept if row.estimated]),
        ptx=_range([row.measured / row.guessed for row in kept if row.guessed]),
    )


def _range(ratios: Sequence[float]) -> Range:
    ordered = sorted(ratios)
    out = int(len(ordered) * (1 - _INSIDE) / 2)
    low, high = floor(100 * ordered[out]) / 100, ceil(100 * ordered[-1 - out]) / 100
    return Range(low, high, len(ordered), sum(low <= each <= high for each in ordered))


def pairs(rows: Sequence[ComparedRow]) -> Iterator[tuple[ComparedRow, ComparedRow]]:
    """Variants of one computation: rows of a program with as many elements, all with an estimate."""
    for number, first in enumerate(rows):
        for second in rows[number + 1 :]:
            same = (first.program, first.elements) == (second.program, second.elements)
            if same and first.estimated is not None and second.estimated is not None:
                yield first, second


class Summary(Struct, frozen=True):
    """How far the estimates of some rows are from the recorded times.

    Attributes:
        compared, refused: rows with an estimate, and without one.
        median, most, largest: of the relative errors; nine of ten are at most `most`.
        held: rows whose recorded time is inside the printed range.
    """

    compared: int
    refused: int
    median: float
    most: float
    largest: float
    held: int


def summary_of(rows: Sequence[ComparedRow], printed: Range) -> Summary:
    """The summary of at least one row with an estimate."""
    errors = sorted(abs(row.error) for row in rows if row.error is not None)
    ratios = [row.measured / row.estimated for row in rows if row.estimated]
    return Summary(
        len(errors),
        len(rows) - len(errors),
        median(errors),
        errors[ceil(_INSIDE * len(errors)) - 1],
        errors[-1],
        sum(printed.low <= ratio <= printed.high for ratio in ratios),
    )


class Order(Struct, frozen=True):
    """Pairs of variants whose recorded times differ by more than `_DIFFERS`.

    Attributes:
        right, wrong: the faster one is named, or the other one; undecided: their estimates are too close.
    """

    right: int
    wrong: int
    undecided: int


def order_of(rows: Sequence[ComparedRow]) -> Order:
    """How often the estimates name the faster variant."""
    counts = [0, 0, 0]
    for first, second in pairs(rows):
        assert first.estimated is not None and second.estimated is not None
        slow, fast = (first, second) if first.measured > second.measured else (second, first)
        if slow.measured > (1 + _DIFFERS) * fast.measured:
            assert slow.estimated is not None and fast.estimated is not None
            ratio = slow.estimated / fast.estimated
            near = 1 / (1 + _UNDECIDED) <= ratio <= 1 + _UNDECIDED
            counts[2 if near else int(ratio < 1)] += 1
    return Order(*counts)
