"""Which thread touches which element: buffers above and below, threads between them, arrows from a trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tooling.book.figures.canvas import Canvas, Ink
from tooling.book.figures.facts import number
from tooling.book.figures.traces import Event, Trace
from tooling.catalog.model import Text

CELL = 62
HIGH = 40
_GAP = 64  # between a row and the next one
_LEFT = 66


def draw_map(
    sheet: Callable[[int, int], Canvas],
    trace: Trace,
    inputs: Mapping[tuple[int, str], Sequence[float]],
    output: tuple[int, str],
    *,
    index: str = "i",
) -> Canvas:
    """Inputs on top, the threads of block 0, the output below.

    Args:
        sheet: makes the picture of a width and height.
        trace: of the solution.
        inputs: for each input, its place among the kernel's pointers and its name, with its elements.
        output: place and name of the output.
        index: what the kernel calls a thread's number.
    """
    threads = trace.block[0]
    count = max(threads, *(len(values) for values in inputs.values()))
    rows = len(inputs) + 2
    canvas = sheet(_LEFT + count * CELL + 6, 24 + rows * HIGH + (rows - 1) * _GAP + 8)
    tops = [24 + row * (HIGH + _GAP) for row in range(rows)]
    below = tops[len(inputs)]
    for place in range(count):
        canvas.label(_middle(place), 12, str(place), "middle", size=12, quiet=True)
    for (buffer, name), top, values in zip(inputs, tops, inputs.values(), strict=False):
        canvas.label(_LEFT - 12, top + HIGH / 2, name, "end", mono=True)
        for place, value in enumerate(values):
            canvas.cell(_LEFT + place * CELL + 2, top, CELL - 4, HIGH, number(value))
        for thread, element in _pairs(trace, "load", buffer):
            canvas.arrow(_middle(element), top + HIGH + 3, _middle(thread), below - 4)
    canvas.label(_LEFT - 12, below + HIGH / 2, Text("threads", "스레드"), "end")
    for thread in range(threads):
        canvas.cell(_LEFT + thread * CELL + 2, below, CELL - 4, HIGH, f"{index} = {thread}", ink=Ink.LIVE)
    top = tops[-1]
    canvas.label(_LEFT - 12, top + HIGH / 2, output[1], "end", mono=True)
    for event in _events(trace, "store", output[0]):
        for thread, element, value in zip(event.threads, event.elements, event.values, strict=True):
            canvas.cell(_LEFT + element * CELL + 2, top, CELL - 4, HIGH, number(value), ink=Ink.RESULT)
            canvas.arrow(_middle(thread), below + HIGH + 3, _middle(element), top - 4)
    return canvas


def _middle(place: int) -> float:
    return _LEFT + place * CELL + CELL / 2


def _events(trace: Trace, action: str, buffer: int) -> list[Event]:
    return [event for event in trace.of_block(0) if (event.action, event.buffer) == (action, buffer)]


def _pairs(trace: Trace, action: str, buffer: int) -> list[tuple[int, int]]:
    """Thread and element of every such access."""
    return [
        pair
        for event in _events(trace, action, buffer)
        for pair in zip(event.threads, event.elements, strict=True)
    ]
