"""Puzzle 42: when each chunk is copied and computed, in one stream and in three."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from tooling.book.figures.canvas import PAGE, PHONE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import responsive
from tooling.text import Sentence, Text

_KERNEL = 8  # a kernel takes this part of the time that the copy of a whole chunk takes
_LEGIBLE = 10  # the least width of a bar with a number
_STAGES: tuple[Sentence, ...] = (Text("to the GPU"), Text("kernels"), Text("to the host"))
_INKS = (Ink.PLAIN, Ink.LIVE, Ink.RESULT)


class _Bar(Struct, frozen=True):
    """The work of a stage on a chunk, in units of a copied reading."""

    stage: int
    chunk: int
    start: float
    end: float


def _bars(size: int, chunk: int, slots: int, *, streams: bool) -> Iterator[_Bar]:
    """All work, in its order: a stage does one chunk at a time and waits for what it reads and overwrites."""
    ends: dict[tuple[int, int], float] = {}
    for number in range(-(-size // chunk)):
        length = min(chunk, size - number * chunk)
        for stage, time in enumerate((length, chunk / _KERNEL, length)):
            before = [(stage, number - 1), (stage - 1, number), (stage + 1, number - slots)]
            if not streams:
                before = [(stage - 1, number) if stage else (len(_STAGES) - 1, number - 1)]
            start = max(ends.get(each, 0.0) for each in before)
            ends[stage, number] = start + time
            yield _Bar(stage, number, start, start + time)


def draw_timeline(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Above one stream, below three; a row for each stage."""
    size, chunk, slots = (facts.constant(name) for name in ("SIZE", "CHUNK", "SLOTS"))
    groups: list[tuple[Sentence, list[_Bar]]] = [
        (heading, list(_bars(size, chunk, slots, streams=streams)))
        for heading, streams in ((Text("One stream"), False), (Text("A stream for each stage"), True))
    ]
    longest = max(bar.end for _, bars in groups for bar in bars)
    canvas = sheet(0, 0)
    left = 1 if narrow else canvas.names_end(_STAGES)
    scale = ((PHONE if narrow else PAGE) - 2 - left) / longest
    high, top = 24, 12.0
    for heading, bars in groups:
        canvas.label(1, top, heading, size=Size.LABEL, bold=True)
        top += 18
        for stage, name in enumerate(_STAGES):
            if narrow:
                canvas.label(1, top + 6, name, size=Size.LABEL, quiet=True)
                top += 16
            else:
                canvas.name(top + high / 2, name)
            for bar in bars:
                if bar.stage == stage:
                    x, width = left + bar.start * scale, (bar.end - bar.start) * scale
                    text = str(bar.chunk) if stage != 1 and width > _LEGIBLE else ""
                    canvas.cell(x, top, width, high, text, ink=_INKS[stage], size=Size.SMALL)
            top += high + 6
        top += 14
    canvas.width, canvas.height = round(left + longest * scale) + 1, round(top - 14)
    return canvas


FIGURES = (responsive("p42", draw_timeline),)
