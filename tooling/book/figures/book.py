"""The figures of the pages after the puzzles: what the checks find, and speeds."""

from __future__ import annotations

from functools import partial

from tooling.book.figures.canvas import Canvas, Ink, Sheet
from tooling.book.figures.charts import Axis, Bar, draw_bars
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import Figure
from tooling.book.figures.grids import Square, draw_grids, tally
from tooling.book.figures.h200 import defects_found, measured
from tooling.text import Text

_BENCHMARKS = {  # the page of each program
    "p23_tile_tensor --benchmark": "23",
    "p24_tile_tensor --benchmark": "24",
    "benchmarks/kernels/convolution.mojo": "28",
    "p30 --benchmark": "30",
    "p31 --benchmark": "31",
    "p35_tile_tensor --benchmark": "35",
}
_KINDS = {
    "memory": Text("memory: {count}"),
    "races": Text("races: {count}"),
    "initialisation": Text("initialisation: {count}"),
    "synchronisation": Text("synchronisation: {count}"),
}


def draw_checks(facts: Facts, sheet: Sheet) -> Canvas:
    """A cell for each faulty kernel, by the kind of its mistake and by who reports it."""
    found = defects_found(facts)
    grids = []
    for kind, title in _KINDS.items():
        tools = [bool(found[name]) for name in found if name.partition("/")[0] == kind]
        squares = [Square(ink=Ink.LIVE if both else Ink.MARK) for both in sorted(tools, reverse=True)]
        grids.append(tally(title.of(count=len(squares)), squares, across=29))
    return draw_grids(sheet, grids, side=11, high=14)


def draw_speeds(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Bars: the bandwidth of the fastest kernel of each benchmark, relative to that of a copy."""
    rows = {}
    for program, puzzle in _BENCHMARKS.items():
        last = [kernel[-1] for kernel in measured(facts, program).values()]
        best = max(each.of_copy for each in last)
        rows[f"p{puzzle}"] = (Bar(best, f"{best:.2f}", Ink.RESULT),)
    axis = Axis(Text("bandwidth relative to a copy"), (0, 0.25, 0.5, 0.75, 1))
    return draw_bars(sheet, rows, axis, narrow=narrow)


FIGURES = (
    Figure(
        "book-checks",
        Text(
            "The 57 faulty kernels, a cell for each. The simulated GPU reports all of them; "
            "compute-sanitizer on an H200 reports the green ones and misses the marked ones."
        ),
        Text(
            "Four groups of cells. memory: 14, of which 3 are marked. races: 28, of which 12 are marked. "
            "initialisation: 5, of which 3 are marked. synchronisation: 10, of which 8 are marked."
        ),
        draw_checks,
    ),
    Figure(
        "book-speeds",
        Text(
            "The fastest kernel of each benchmark of this book on an H200, by its bandwidth relative to that "
            "of a copy of as many bytes."
        ),
        Text(
            "Six bars. Puzzle 23: 1.01. Puzzle 24: 0.59. Puzzle 28: 0.43. Puzzle 30: 0.69. Puzzle 31: 0.69. "
            "Puzzle 35: 1.01."
        ),
        draw_speeds,
        narrow=partial(draw_speeds, narrow=True),
    ),
)
