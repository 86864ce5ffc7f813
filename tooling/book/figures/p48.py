"""Puzzle 48: which GPUs' inputs are in each chunk of a ring of four, step by step."""

from __future__ import annotations

from tooling.book.figures.canvas import PAGE, PHONE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import responsive
from tooling.text import Sentence, Text

_GPUS = 4


def _states() -> list[tuple[list[list[int]], set[tuple[int, int]]]]:
    """Before the first step and after each one: how many inputs each chunk of each GPU contains, and the
    chunks (GPU, chunk) that have just arrived.

    The steps are those of the kernel `ring`.
    """
    sums = [[1] * _GPUS for _ in range(_GPUS)]
    states: list[tuple[list[list[int]], set[tuple[int, int]]]] = [([list(each) for each in sums], set())]
    for first, adds in ((-1, 1), (0, 0)):
        for step in range(_GPUS - 1):
            before = [list(each) for each in sums]
            arrived = set()
            for gpu in range(_GPUS):
                chunk = (gpu + first - step) % _GPUS
                sums[gpu][chunk] = before[gpu - 1][chunk] + adds
                arrived.add((gpu, chunk))
            states.append(([list(each) for each in sums], arrived))
    return states


def draw_ring(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """A row for each step, in it the chunks of four GPUs."""
    del facts
    states = _states()
    scatter, gather = Text("reduce-scatter {step}"), Text("all-gather {step}")
    names: list[Sentence] = [Text("inputs")]
    names += [scatter.of(step=step) for step in range(1, _GPUS)]
    names += [gather.of(step=step) for step in range(1, _GPUS)]
    canvas = sheet(0, 0)
    left = 1 if narrow else canvas.names_end(names)
    high, spacing = 28, (26 if narrow else 8)
    gap = 8 if narrow else 16
    cell = ((PHONE if narrow else PAGE) - 1 - left - (_GPUS - 1) * gap) / _GPUS**2
    top = 24.0
    for gpu in range(_GPUS):
        x = left + gpu * (_GPUS * cell + gap)
        canvas.label(x, 10, Text("GPU {gpu}").of(gpu=gpu), size=Size.LABEL, bold=True)
    for name, (sums, arrived) in zip(names, states, strict=True):
        if narrow:
            canvas.label(1, top + 8, name, size=Size.LABEL, quiet=True)
            top += 20
        else:
            canvas.name(top + high / 2, name)
        for gpu, chunks in enumerate(sums):
            for chunk, count in enumerate(chunks):
                ink = Ink.RESULT if count == _GPUS else Ink.LIVE if (gpu, chunk) in arrived else Ink.PLAIN
                x = left + gpu * (_GPUS * cell + gap) + chunk * cell
                canvas.cell(x, top, cell, high, str(count), ink=ink)
        top += high + (spacing if not narrow else 6)
    canvas.width, canvas.height = PHONE if narrow else PAGE, round(top)
    return canvas


FIGURES = (responsive("p48", draw_ring),)
