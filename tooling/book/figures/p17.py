"""Puzzle 17: from the buffers through the graph's only operation to the result."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tooling.book.figures.canvas import Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure
from tooling.text import Text

_HALVES: tuple[tuple[Text, str, Text | str], ...] = (
    (Text("for the CPU"), 'target == "cpu"', Text("two loops")),
    (Text("for the GPU"), 'target == "gpu"', "conv1d_kernel"),
)


def draw_graph(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Both inputs with their values, the operation with its two halves, the output with its values."""
    data = facts.inputs("default")
    result = facts.expected("default")["out"].tolist()
    side, high, size = (22, 24, Size.SMALL) if narrow else (42, 30, Size.VALUE)
    canvas = sheet(0, 374 if narrow else 362)
    left = 8 if narrow else canvas.beside(["kernel", "output"])
    right = left + len(result) * side
    canvas.width = right + 14

    def row(name: str, y: float, values: Sequence[float], ink: Ink = Ink.PLAIN) -> None:
        if narrow:
            canvas.label(left, y - 11, name, mono=True, size=Size.LABEL)
        else:
            canvas.name(y + high / 2, name)
        for index, value in enumerate(values):
            canvas.cell(left + index * side, y, side, high, number(value), ink=ink, size=size)

    first, second = (24, 78) if narrow else (10, 58)
    row("input", first, data["input"].tolist())
    row("kernel", second, data["kernel"].tolist())
    top, bottom = second + high + 26, (374 if narrow else 362) - high - 56
    canvas.frame(left, top, right - left, bottom - top, dashed=True)
    canvas.label(left + 12, top + 16, Text("graph"), size=Size.LABEL, quiet=True)
    inset = 10 if narrow else 60
    canvas.frame(left + inset, top + 30, right - left - 2 * inset, bottom - top - 42)
    canvas.label((left + right) / 2, top + 47, "conv1d", "middle", mono=True, bold=True)
    half = (right - left - 2 * inset - 30) / 2
    for index, (device, condition, code) in enumerate(_HALVES):
        x, y = left + inset + 10 + index * (half + 10), top + 62
        canvas.frame(x, y, half, bottom - y - 22)
        middle, step = x + half / 2, (bottom - y - 22) / 4
        canvas.label(middle, y + step, device, "middle", size=Size.LABEL, quiet=True)
        canvas.label(
            middle, y + 2 * step, condition, "middle", mono=True, size=Size.SMALL if narrow else Size.VALUE
        )
        canvas.label(middle, y + 3 * step, code, "middle", mono=isinstance(code, str), size=Size.LABEL)
    for x, y in ((right - 2.5 * side, first + high), (left + 3 * side, second + high)):
        canvas.arrow(x, y + 3, x, top + 27)
    middle = (left + right) / 2
    canvas.arrow(middle, bottom - 9, middle, bottom + 29)
    row("output", bottom + 32 + (8 if narrow else 0), result, Ink.RESULT)
    return canvas


FIGURES = (
    Figure(
        "p17",
        Text(
            "The graph has two inputs, one operation and one output. The operation holds code for both "
            "devices; the compiler takes the half that belongs to the device of the graph.",
        ),
        Text(
            "Above, the buffers input, with the values 0 to 14, and kernel, with the values 0 to 3. An arrow "
            "leads from each into the graph, to the operation conv1d. The operation has two halves: for the "
            "CPU, where the target is cpu, two loops; for the GPU, where the target is gpu, the kernel "
            "conv1d_kernel. From the operation an arrow leads to the buffer output: 14, 20, 26, 32, 38, 44, "
            "50, 56, 62, 68, 74, 80, 41, 14 and 0.",
        ),
        draw_graph,
        narrow=partial(draw_graph, narrow=True),
    ),
)
