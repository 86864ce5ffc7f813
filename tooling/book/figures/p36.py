"""Puzzle 36: which elements a thread has, round by round, and the way of their sums to one number."""

from __future__ import annotations

from tooling.book.figures.canvas import Canvas, Ink, Sheet
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive
from tooling.book.figures.lanes import Row, cells, draw_rows
from tooling.text import Text


def draw_rounds(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The elements of some threads: complete rounds, and the tail, whose last step not every thread has."""
    size, loads, blocks, threads = map(facts.constant, ("SIZE", "LOADS", "BLOCKS", "TPB"))
    step = blocks * threads
    last = (size - 1) % step  # the last thread that has an element in the last step
    shown = (0, None, last, last + 1) if narrow else (0, 1, None, threads - 1, threads, None, last, last + 1)
    columns = (*shown, None, step - 1)
    rows = []
    for k in range(-(-size // step)):
        own = {i: i + k * step for i in columns if i is not None and i + k * step < size}
        complete = {i for i in own if i + (k // loads * loads + loads - 1) * step < size}
        values = cells({i: str(at) for i, at in own.items()}, Ink.MARK, dict.fromkeys(complete, Ink.LIVE))
        label = ("i", "i + step")[k] if k < 2 else f"i + {k} * step"
        rows.append(Row(label, values, short=("i", "+ step")[k] if k < 2 else f"+ {k} * step"))
    return draw_rows(sheet, rows, columns, Text("thread"), narrow=narrow)


def draw_sum(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The sum of each thread, of each block, and of all."""
    blocks, threads = map(facts.constant, ("BLOCKS", "TPB"))
    a = facts.inputs("atomic-sum")["a"]
    own = [float(a[i :: blocks * threads].sum()) for i in range(blocks * threads)]
    first = [block * threads for block in range(blocks)]
    columns: list[int | None] = [column for i in first for column in (i, None)]
    if not narrow:
        columns = [column for i in first for column in (i, i + 1, None)]
    sums = {i: number(sum(own[i : i + threads])) for i in first}
    (total,) = facts.expected("atomic-sum")["out"].tolist()
    rows = (
        Row(Text("sum of the thread"), cells(dict(enumerate(map(number, own))), Ink.SUM), short="own"),
        Row(Text("sum of the block"), cells(sums, Ink.LIVE), call="block.sum", short="total"),
        Row(
            "output[0]",
            cells({0: number(total)}, Ink.RESULT),
            tuple((i, 0) for i in first),
            short="output",
        ),
    )
    return draw_rows(sheet, rows, columns[:-1], Text("thread"), narrow=narrow)


FIGURES = (responsive("p36", draw_rounds), responsive("p36-sum", draw_sum))
