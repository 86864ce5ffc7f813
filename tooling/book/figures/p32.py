"""Puzzle 32: words, banks and passes; a tile with a spare column."""

from __future__ import annotations

from tooling.book.figures.canvas import Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import responsive
from tooling.book.figures.traces import SHARED
from tooling.text import Text

_UNSOLVED = "p32 --two-way unsolved"
_BANKS = 32
_WORD = 4  # bytes


def draw_pairs(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The banks that serve the first warp when it stores its values, and then its sums."""
    from tooling.book.figures.requests import draw_requests, request  # noqa: PLC0415 - brings NumPy

    trace = facts.trace(_UNSOLVED)
    first = (event for event in trace.events if event.block == 0)
    stores = [event for event in first if (event.action, event.buffer) == ("store", SHARED)]
    headings = (
        Text("The values: thread *t* stores to word 2*t*"),
        Text("The sums: thread *t* stores to word 2*t* + 1"),
    )
    pictures = [(heading, request(trace, store)) for heading, store in zip(headings, stores, strict=True)]
    return draw_requests(sheet, pictures, narrow=narrow)


def draw_strides(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The banks that serve a warp whose lanes are a number of words apart."""
    import numpy as np  # noqa: PLC0415

    from tooling.book.figures.requests import draw_requests  # noqa: PLC0415 - brings NumPy
    from tooling.simulator.counters.banks import Service  # noqa: PLC0415
    from tooling.simulator.counters.hook import Sample  # noqa: PLC0415
    from tooling.simulator.counters.profile import Picture  # noqa: PLC0415
    from tooling.simulator.gpu.launch import Dim3  # noqa: PLC0415

    headings = {
        0: Text("Word 0 for all threads"),
        3: Text("Word 3*t* for thread *t*"),
        4: Text("Word 4*t* for thread *t*"),
    }
    pictures = []
    for stride, heading in headings.items():
        addresses = np.arange(_BANKS, dtype=np.int64) * stride * _WORD
        sample = Sample(addresses, _WORD, 0, 0, Service.LOAD)
        pictures.append((heading, Picture(sample, Dim3(0, 0, 0), 0)))
    return draw_requests(sheet, pictures, narrow=narrow)


def draw_padding(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The banks of a tile's words, without and with a spare column; the first column is read."""
    rows: tuple[int | None, ...] = (0, 1, 2, 3, None, 31)
    cell, high, left, gap = (43, 26, 58, 0) if narrow else (40, 26, 64, 41)
    shown = 4
    width = (shown + 3) * cell + left
    one, several = (
        Text("{words} words to a row: column 0 in one bank"),
        Text("{words} words to a row: column 0 in {banks} banks"),
    )
    across = not narrow
    one_high = 62 + len(rows) * high
    canvas = sheet((2 if across else 1) * width + gap + 1, one_high + 8 if across else 2 * one_high + 18)
    for number, row_words in enumerate((_BANKS, _BANKS + 1)):
        x0 = number * (width + gap) if across else 0
        y0 = 0 if across else number * (one_high + 10)
        banks = len({row * row_words % _BANKS for row in range(_BANKS)})
        heading = (one if banks == 1 else several).of(words=row_words, banks=banks)
        canvas.label(x0 + 1, y0 + 14, heading, bold=True, size=Size.VALUE)
        columns: tuple[int | None, ...] = (*range(shown), None, _BANKS - 1)
        columns += (_BANKS,) if row_words > _BANKS else ()
        for index, column in enumerate(columns):
            x = float(x0 + left + index * cell)
            name = "…" if column is None else str(column)
            canvas.label(x + cell / 2, y0 + 40, name, "middle", size=Size.SMALL, quiet=True)
            for line, row in enumerate(rows):
                y = float(y0 + 54 + line * high)
                if row is None or column is None:
                    if column is None and row is not None:
                        canvas.label(x + cell / 2, y + high / 2, "…", "middle", quiet=True)
                    continue
                ink = Ink.LIVE if column == 0 else Ink.PLAIN
                if column == _BANKS:
                    ink = Ink.SPARE
                bank = (row * row_words + column) % _BANKS
                canvas.cell(
                    x,
                    y,
                    cell,
                    high,
                    str(bank),
                    ink=ink,
                    size=Size.LABEL if narrow else Size.VALUE,
                )
        for line, row in enumerate(rows):
            y = y0 + 54 + line * high + high / 2
            if row is None:
                canvas.label(x0 + left + cell / 2, y, "⋮", "middle", quiet=True)
            else:
                canvas.label(x0 + 1, y, Text("row {row}").of(row=row), size=Size.LABEL)
    return canvas


FIGURES = (
    responsive("p32", draw_pairs, traces=(_UNSOLVED,)),
    responsive("p32-strides", draw_strides),
    responsive("p32-padding", draw_padding),
)
