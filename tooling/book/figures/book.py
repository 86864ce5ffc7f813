"""The figures of the pages after the puzzles: what the checks find, and speeds."""

from __future__ import annotations

from tooling.book.figures.canvas import Canvas, Ink, Sheet
from tooling.book.figures.charts import Bar, Limit, draw_bars, draw_counts
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import responsive
from tooling.book.figures.h200 import defects_found, measured, recorded
from tooling.text import Text

_BENCHMARKS = {  # the page of each program
    "p23_tile_tensor --benchmark": "23",
    "p24_tile_tensor --benchmark": "24",
    "benchmarks/kernels/convolution.mojo": "28",
    "p30 --benchmark": "30",
    "p31 --benchmark": "31",
    "p35_tile_tensor --benchmark": "35",
}
_ERRORS = (
    (0.15, Ink.LIVE, Text("within 15 %")),
    (0.3, Ink.SPARE, Text("within 30 %")),
    (float("inf"), Ink.WRONG, Text("further away")),
)
_LIMITS = {
    "launch": Text("the launch itself"),
    "start of blocks": Text("start of blocks"),
    "issue": Text("issue of instructions"),
    "latency": Text("latency"),
    "shared memory": Text("shared memory"),
    "L1": Text("L1 cache"),
    "L2": Text("L2 cache"),
    "DRAM": Text("device memory"),
    "tensor": Text("tensor cores"),
    "atomics": Text("atomic operations"),
}
_KINDS = {
    "memory": Text("memory"),
    "races": Text("races"),
    "initialisation": Text("initialisation"),
    "synchronisation": Text("synchronisation"),
}


def draw_checks(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """A cell for each faulty kernel, by the kind of its mistake and by who reports it."""
    found = defects_found(facts)
    kinds = {
        kind: [tools for name, tools in found.items() if name.partition("/")[0] == kind] for kind in _KINDS
    }
    rows = {
        name: [Ink.LIVE if tools else Ink.MARK for tools in sorted(kinds[kind], key=bool, reverse=True)]
        for kind, name in _KINDS.items()
    }
    key = (
        (Ink.LIVE, Text("compute-sanitizer reports it, too")),
        (Ink.MARK, Text("compute-sanitizer misses it")),
    )
    return draw_counts(sheet, rows, key=key, narrow=narrow)


def draw_speeds(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Bars: the bandwidth of the fastest kernel of each benchmark, relative to that of a copy."""
    rows = {}
    for program, puzzle in _BENCHMARKS.items():
        last = [kernel[-1] for kernel in measured(facts, program).values()]
        best = max(each.of_copy for each in last)
        rows[Text("puzzle {number}").of(number=puzzle)] = (Bar(best, f"{best:.2f}", Ink.RESULT),)
    limit = Limit(1, Text("a copy"))
    return draw_bars(sheet, rows, Text("bandwidth relative to a copy"), limits=[limit], narrow=narrow)


def draw_estimates(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """A cell for each kernel with an estimated time, by the limit that binds and by the error."""
    inks: dict[str, list[Ink]] = {}
    for row in recorded(facts, "estimates.json"):
        if row["estimated"] is not None:
            error = abs(row["estimated"] / row["measured"] - 1)
            ink = next((ink for most, ink, _ in _ERRORS if error <= most), Ink.WRONG)
            inks.setdefault(row["binding"], []).append(ink)
    order = [ink for _, ink, _ in _ERRORS]
    rows = {name: sorted(inks[limit], key=order.index) for limit, name in _LIMITS.items() if limit in inks}
    return draw_counts(sheet, rows, key=[(ink, name) for _, ink, name in _ERRORS], narrow=narrow)


FIGURES = (
    responsive("book-checks", draw_checks),
    responsive("book-estimates", draw_estimates),
    responsive("book-speeds", draw_speeds),
)
