"""The figures of the pages after the puzzles: what the checks find, and speeds."""

from __future__ import annotations

from functools import partial

from tooling.book.figures.canvas import PAGE, PHONE, Canvas, Ink, Sheet, Size
from tooling.book.figures.charts import Bar, Limit, draw_bars
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import Figure
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
    "memory": Text("memory"),
    "races": Text("races"),
    "initialisation": Text("initialisation"),
    "synchronisation": Text("synchronisation"),
}
_COUNT = 22  # the width of a count
_NAME_LINE = 22  # from a name to the cells below it


def draw_checks(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """A cell for each faulty kernel, by the kind of its mistake and by who reports it."""
    found = defects_found(facts)
    kinds = {
        kind: [tools for name, tools in found.items() if name.partition("/")[0] == kind] for kind in _KINDS
    }
    canvas = sheet(PHONE if narrow else PAGE, 0)
    most = max(map(len, kinds.values()))
    right = canvas.width - (4 if narrow else 1)
    side = (right - (1 if narrow else canvas.beside(list(_KINDS.values())) + _COUNT)) // most
    left = 1 if narrow else right - most * side
    line, below = (_NAME_LINE + side + 16, _NAME_LINE) if narrow else (side + 14, 0)
    for row, (kind, name) in enumerate(_KINDS.items()):
        top = row * line + below + 1
        of_name = top - _NAME_LINE + 9 if narrow else top + side / 2
        canvas.label(1, of_name, name)
        count = 1 + canvas.length(name, Size.VALUE) + 8 if narrow else left - 12
        canvas.label(count, of_name, str(len(kinds[kind])), "start" if narrow else "end", quiet=True)
        for column, tools in enumerate(sorted(kinds[kind], key=bool, reverse=True)):
            canvas.cell(left + column * side, top, side, side, ink=Ink.LIVE if tools else Ink.MARK)
    y = len(kinds) * line + (6 if narrow else 12)
    key = (
        (Ink.LIVE, Text("compute-sanitizer reports it, too")),
        (Ink.MARK, Text("compute-sanitizer misses it")),
    )
    canvas.legend(left, y, *key, across=1 if narrow else 2)
    canvas.height = y + (34 if narrow else 10)
    return canvas


def draw_speeds(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Bars: the bandwidth of the fastest kernel of each benchmark, relative to that of a copy."""
    rows = {}
    for program, puzzle in _BENCHMARKS.items():
        last = [kernel[-1] for kernel in measured(facts, program).values()]
        best = max(each.of_copy for each in last)
        rows[Text("puzzle {number}").of(number=puzzle)] = (Bar(best, f"{best:.2f}", Ink.RESULT),)
    limit = Limit(1, Text("a copy"))
    return draw_bars(sheet, rows, Text("bandwidth relative to a copy"), limits=[limit], narrow=narrow)


FIGURES = (
    Figure(
        "book-checks",
        Text(
            "The 57 faulty kernels by the kind of their mistake, a cell for each. The simulated GPU reports "
            "all of them, compute-sanitizer on an H200 not the marked ones."
        ),
        Text(
            "Four groups of cells. memory: 14, of which 3 are marked. races: 28, of which 12 are marked. "
            "initialisation: 5, of which 3 are marked. synchronisation: 10, of which 8 are marked."
        ),
        draw_checks,
        narrow=partial(draw_checks, narrow=True),
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
