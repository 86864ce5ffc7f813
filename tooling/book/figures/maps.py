"""Draws which thread accesses which element: buffers, the threads between them, arrows from a trace."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from tooling.book.figures.canvas import GAP, PAGE, PHONE, SMALL, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import number
from tooling.book.figures.traces import Trace
from tooling.text import Text

CELL = 66
HIGH = 40
_GAP = 64  # between inputs, threads and output
_INPUT_GAP = 6  # between inputs
_NARROW_LEFT = 1
_INSET = 6  # of an element in a frame
_NEXT_TO_ARROW = 7


def draw_map(
    sheet: Sheet,
    trace: Trace,
    inputs: Mapping[tuple[int, str], Sequence[float]],
    output: tuple[int, str],
    work: str,
    *,
    index: str = "i",
    narrow: bool = False,
) -> Canvas:
    """Inputs on top, the threads of block 0, the output below. Threads without an access are pale.

    Several inputs are drawn close together, with a frame around the elements of one index.

    Args:
        sheet: creates the canvas of a width and height.
        trace: of the solution.
        inputs: for each input, its index among the kernel's pointer arguments and its name; its elements.
        output: index and name of the output.
        work: what a thread does with what it has read, written next to the arrow to its output.
        index: the kernel's name for a thread's number.
        narrow: for narrow screens; the names of the rows are right of their cells or above their ends.

    Raises:
        ValueError: a thread reads different indices of the inputs, which one arrow cannot show.
    """
    threads = trace.block[0]
    count = max(threads, *(len(values) for values in inputs.values()))
    canvas = sheet(0, 0)
    titles = [title for _, title in (*inputs, output)]
    left = _NARROW_LEFT if narrow else canvas.names_end([*titles, Text("threads")])
    side = (PHONE - 1 - left) // count if narrow else CELL
    if not narrow and left + count * side > SMALL:
        side = (PAGE - 1 - left) // count
        left = PAGE - 1 - count * side
    pairs, *others = [
        [(load.thread, load.element) for load in trace.accesses("load", buffer, block=0)]
        for buffer, _ in inputs
    ]
    if any(sorted(other) != sorted(pairs) for other in others):
        raise ValueError("a map's threads must read the same index of every input")
    framed = len(inputs) > 1
    top = 30 if framed else 24
    tops = [top + row * (HIGH + _INPUT_GAP) for row in range(len(inputs))]
    end = tops[-1] + HIGH + (6 if framed else 0)  # of the inputs
    below = tops[-1] + HIGH + _GAP
    last = below + HIGH + _GAP
    said, size = (work.replace(" ", ""), Size.SMALL) if narrow else (work, Size.LABEL)
    beyond = _NEXT_TO_ARROW + canvas.length(said, size, mono=True)  # from the last arrow
    canvas.width, canvas.height = math.ceil(left + count * side + beyond), last + HIGH + 8

    def middle(position: int) -> float:
        return left + position * side + side / 2

    def cell(
        position: int, top: float, text: str, ink: Ink, *, inset: int = 0, size: Size = Size.VALUE
    ) -> None:
        x, width = left + position * side + inset, side - 2 * inset
        canvas.cell(x, top, width, HIGH, text, ink=ink, size=size)

    def name(text: Text | str, top: float, cells: int, *, mono: bool = True) -> None:
        if not narrow:
            canvas.name(top + HIGH / 2, text)
        elif cells < count:
            canvas.label(left + cells * side + 8, top + HIGH / 2, text, mono=mono)
        else:
            canvas.label(left + count * side - 2, top - 13, text, "end", mono=mono)

    first = next(iter(inputs.values()))
    canvas.label(
        left + len(first) * side + 8 if narrow else 1, 12, Text("index"), size=Size.LABEL, quiet=True
    )
    for position in range(len(first)):
        canvas.label(middle(position), 12, str(position), "middle", size=Size.LABEL, quiet=True)
        if framed:
            canvas.frame(left + position * side + GAP / 2, tops[0] - 6, side - GAP, end - tops[0] + 6)
    for (_, title), top, values in zip(inputs, tops, inputs.values(), strict=True):
        name(title, top, len(values))
        for position, value in enumerate(values):
            cell(position, top, number(value), Ink.PLAIN, inset=_INSET + 1 if framed else 0)
    for thread, element in pairs:
        canvas.arrow(middle(element), end + 3, middle(thread), below - 4)
    busy = {thread for event in trace.of_block(0) for thread in event.threads}
    name(Text("threads"), below, threads, mono=False)
    for thread in range(threads):
        label = f"{index}={thread}" if narrow else f"{index} = {thread}"
        ink = Ink.LIVE if thread in busy else Ink.SPARE
        cell(thread, below, label, ink, size=Size.LABEL if narrow else Size.VALUE)
    stores = list(trace.accesses("store", output[0], block=0))
    name(output[1], last, 1 + max((store.element for store in stores), default=-1))
    for store in stores:
        cell(store.element, last, number(store.value), Ink.RESULT)
        canvas.arrow(middle(store.thread), below + HIGH + 3, middle(store.element), last - 4)
        label_at = (middle(store.thread) + _NEXT_TO_ARROW, below + HIGH + _GAP / 2)
        canvas.label(*label_at, said, size=size, mono=True, quiet=True)
    return canvas
