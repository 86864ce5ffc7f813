"""Puzzle 17: from the buffers through the graph's only operation to the result."""

from __future__ import annotations

from collections.abc import Sequence

from tooling.book.figures.canvas import PAGE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive
from tooling.text import Text

_HALVES: tuple[tuple[Text, str, Text | str], ...] = (
    (Text("for the CPU"), 'target == "cpu"', Text("two loops")),
    (Text("for the GPU"), 'target == "gpu"', "conv1d_kernel"),
)
_HALF = 82  # the height of a half


def draw_graph(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Both inputs with their values, the operation with its two halves, the output with its values."""
    data = facts.inputs("default")
    result = facts.expected("default")["out"].tolist()
    canvas = sheet(0, 386)
    side, high, left, size = 23, 24, 1, Size.SMALL
    if not narrow:
        left, high, size = canvas.names_end(["kernel", "output"]), 32, Size.VALUE
        side = (PAGE - 1 - left) // len(result)
        left = PAGE - 1 - side * len(result)
    right = left + len(result) * side
    middle = (left + right) / 2
    canvas.width = right + 1

    def row(name: str, y: float, values: Sequence[float], ink: Ink = Ink.PLAIN) -> None:
        if narrow:
            canvas.label(left, y - 11, name, mono=True, size=Size.LABEL)
        else:
            canvas.name(y + high / 2, name)
        for index, value in enumerate(values):
            canvas.cell(left + index * side, y, side, high, number(value), ink=ink, size=size)

    first, second = (22, 76) if narrow else (1, 45)
    data_of = {name: data[name].tolist() for name in ("input", "kernel")}
    row("input", first, data_of["input"])
    row("kernel", second, data_of["kernel"])
    top = second + high + 30
    inset = 10 if narrow else 22
    box, halves = top + 32, top + 68
    bottom = halves + _HALF + inset
    canvas.frame(left, top, right - left, bottom + inset - top, dashed=True)
    canvas.label(right - 12, top + 17, Text("graph"), "end", size=Size.LABEL, quiet=True)
    canvas.frame(left + inset, box, right - left - 2 * inset, bottom - box)
    canvas.label(middle, box + 18, "conv1d", "middle", mono=True, bold=True)
    half = (right - left - 3 * inset - 2 * inset) / 2
    for index, (device, condition, code) in enumerate(_HALVES):
        x = left + 2 * inset + index * (half + inset)
        canvas.frame(x, halves, half, _HALF)
        lines: tuple[Text | str, ...] = (device, condition, code)
        for line, said in enumerate(lines):
            mono = isinstance(said, str)
            letters = Size.SMALL if narrow else Size.VALUE if line else Size.LABEL
            y = halves + _HALF / 2 + (line - 1) * 22
            canvas.label(x + half / 2, y, said, "middle", mono=mono, size=letters, quiet=not line)
    # Each arrow begins below the middle of its buffer.
    for x, y in (
        (middle, first + high),
        (left + len(data_of["kernel"]) * side / 2, second + high),
    ):
        canvas.arrow(x, y + 4, x, box - 4)
    last = bottom + inset + (48 if narrow else 34)
    canvas.arrow(middle, bottom + 4, middle, last - 4)
    row("output", last, result, Ink.RESULT)
    canvas.height = last + high + 1
    return canvas


FIGURES = (responsive("p17", draw_graph),)
