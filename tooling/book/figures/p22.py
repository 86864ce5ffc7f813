"""Puzzle 22: four kernels and one, a row that is normalised, and who adds to which gradient."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tooling.book.figures.canvas import PAGE, Canvas, Ink, Sheet, Size
from tooling.book.figures.charts import Axis, Bar, draw_bars
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure
from tooling.book.figures.h200 import graph_times
from tooling.text import Text

_HIGH = 34
_STEP = 58  # from one row of boxes to the next


def draw_fusion(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The matrices and kernels of both forward passes."""
    rows, hidden = facts.constant("ROWS"), facts.constant("HIDDEN_DIM")
    columns = facts.constant("OUTPUT_DIM")
    matrices = {
        "input": f"input {rows}×{hidden}",
        "weight": f"linear_weight {columns}×{hidden}",
        "normal": f"normal {rows}×{hidden}",
        "turned": f"turned {hidden}×{columns}",
        "output": f"output {rows}×{columns}",
    }
    wide, half, size = (332, 162, Size.SMALL) if narrow else (388, 186, Size.VALUE)
    single = wide if narrow else 278
    high = 44 + 6 * _STEP + _HIGH
    canvas = sheet(wide + 6, high + 320) if narrow else sheet(wide + 40 + single, high + 6)

    def matrix(x: float, y: float, width: float, name: str, ink: Ink) -> None:
        canvas.cell(x, y, width, _HIGH, matrices[name], ink=ink, size=size)

    def kernel(x: float, y: float, width: float, name: str, height: float = _HIGH) -> None:
        canvas.frame(x, y, width, height, dashed=True)
        canvas.label(x + width / 2, y + height / 2, name, "middle", mono=True, size=size)

    def down(x: float, row: float, rows: int = 1) -> None:
        y = 44 + row * _STEP + _HIGH
        canvas.arrow(x, y + 3, x, y + rows * _STEP - _HIGH - 3)

    left, right = 3.0, 3.0 + wide - half
    places = [44 + row * _STEP for row in range(7)]
    canvas.label(left, 20, Text("--unfused: four kernels"), bold=True)
    matrix(left, places[0], half, "input", Ink.PLAIN)
    matrix(right, places[0], half, "weight", Ink.PLAIN)
    kernel(left, places[1], half, "layernorm_kernel")
    kernel(right, places[1], half, "transpose_kernel")
    matrix(left, places[2], half, "normal", Ink.PLAIN)
    matrix(right, places[2], half, "turned", Ink.PLAIN)
    kernel(left, places[3], wide, "matmul_tiled")
    matrix(left, places[4], wide, "output", Ink.PLAIN)
    kernel(left, places[5], wide, "add_bias_kernel")
    matrix(left, places[6], wide, "output", Ink.RESULT)
    for row in range(3):
        down(left + half / 2, row)
        down(right + half / 2, row)
    for row in range(3, 6):
        down(left + wide / 2, row)

    x, top = (3.0, high + 34.0) if narrow else (wide + 37.0, 20.0)
    canvas.label(x, top, Text("--fused: one kernel"), bold=True)
    part, first = (single - 8) / 2, top + 24
    if narrow:
        matrix(x, first, part, "input", Ink.PLAIN)
        matrix(x + part + 8, first, part, "weight", Ink.PLAIN)
        body, last = first + _STEP, first + 2 * _STEP + 76
        ends: Sequence[float] = (x + part / 2, x + part + 8 + part / 2)
    else:
        matrix(x, first, 106, "input", Ink.PLAIN)
        matrix(x + 112, first, 166, "weight", Ink.PLAIN)
        body, last = places[1], places[6]
        ends = (x + 53, x + 195)
    kernel(x, body, single, "minimal_fused_forward_kernel", last - body - 24)
    for end in ends:
        canvas.arrow(end, first + _HIGH + 3, end, body - 3)
    matrix(x, last, single, "output", Ink.RESULT)
    canvas.arrow(x + single / 2, last - 21, x + single / 2, last - 3)
    return canvas


def draw_row(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The first row of the input: its numbers, their distances from the mean, and the normalised ones."""
    row = facts.inputs("fused")["input"][0].astype(float)
    mean, variance = row.mean(), row.var()
    normal = (row - mean) / (variance + _EPS) ** 0.5
    names: tuple[Text | str, ...] = ("input", Text("minus the mean"), Text("normalised"))
    canvas = sheet(0, 0)
    left, cell, size = (2, 43, Size.SMALL) if narrow else (canvas.beside(names), 0, Size.VALUE)
    if not narrow:
        cell = (PAGE - 1 - left) // len(row)
        left = PAGE - 1 - len(row) * cell
    lines = tuple(zip(names, (row, row - mean, normal), (Ink.PLAIN, Ink.LIVE, Ink.RESULT), strict=True))
    step = 66 if narrow else 54
    canvas.width, canvas.height = left + len(row) * cell, 44 + len(lines) * step
    told = Text("mean {mean:.2f}, variance {variance:.2f}").of(mean=mean, variance=variance)
    canvas.label(1, 16, told, bold=True)
    for place, (name, values, ink) in enumerate(lines):
        y = 40 + place * step + (16 if narrow else 0)
        if narrow:
            canvas.label(left, y - 12, name, size=Size.LABEL)
        else:
            canvas.name(y + 18, name)
        for index, value in enumerate(values):
            canvas.cell(left + index * cell + 1, y, cell - 2, 36, number(value, ".2f"), ink=ink, size=size)
    return canvas


def draw_gradients(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Threads of four rows: each has its own row of grad_input, and all add to the other four gradients."""
    rows, hidden = facts.constant("ROWS"), facts.constant("HIDDEN_DIM")
    columns = facts.constant("OUTPUT_DIM")
    shown = 3
    box, gap, own, added = (70, 6, 112, 0) if narrow else (130, 30, 170, 240)
    right = 3 + 2 * own if narrow else 3 + box + gap + own + 130
    shared = (
        f"grad_ln_weight {hidden}",
        f"grad_ln_bias {hidden}",
        f"grad_linear_weight {columns}×{hidden}",
        f"grad_linear_bias {columns}",
    )
    size = Size.SMALL if narrow else Size.VALUE
    numbers = (*range(shown), rows - 1)
    tops = [40 + place * 52 + (24 if place == shown else 0) for place in range(shown + 1)]
    if narrow:
        return _narrow_gradients(sheet, numbers, shared)
    canvas = sheet(right + added + 4, tops[-1] + 46)
    own_x, thread = 3, 3 + own + gap + 26
    canvas.label(own_x + own / 2, 18, Text("own row"), "middle", bold=True, size=Size.VALUE)
    canvas.label(right + added / 2, 18, Text("added up over all rows"), "middle", bold=True, size=Size.VALUE)
    bottoms = [40 + place * 58 for place in range(len(shared))]
    for text, y in zip(shared, bottoms, strict=True):
        canvas.cell(right, y, added, 34, text, ink=Ink.RESULT, size=size)
    for row, y in zip(numbers, tops, strict=True):
        canvas.cell(thread, y, box, 34, Text("thread {row}").of(row=row), ink=Ink.LIVE, size=size)
        canvas.arrow(thread - 3, y + 17, own_x + own + 3, y + 17)
        canvas.cell(own_x, y, own, 34, f"grad_input[{row}]", ink=Ink.RESULT, size=size)
        canvas.arrow(thread + box + 3, y + 17, right - 30, y + 17, head=False)
    top, bottom = tops[0] + 17, tops[-1] + 17
    canvas.arrow(right - 30, top, right - 30, bottom, head=False)
    for y in bottoms:
        canvas.arrow(right - 30, y + 17, right - 3, y + 17)
    canvas.label(thread + box / 2, tops[-1] - 20, "⋮", "middle", quiet=True)
    return canvas


def _narrow_gradients(sheet: Sheet, numbers: Sequence[int], shared: Sequence[str]) -> Canvas:
    """The same in a column."""
    gap = 20  # for the threads that are left out
    rows_end = 32 + len(numbers) * 40 + gap
    canvas = sheet(332, rows_end + 84 + len(shared) * 40)
    canvas.label(3, 16, Text("each thread its own row"), bold=True, size=Size.LABEL)
    y = 32.0
    for row in numbers:
        if row == numbers[-1]:
            canvas.label(234, y + gap / 2 - 4, "⋮", "middle", quiet=True)
            y += gap
        canvas.cell(3, y, 140, 32, f"grad_input[{row}]", ink=Ink.RESULT, size=Size.LABEL)
        canvas.arrow(182, y + 16, 147, y + 16)
        canvas.cell(186, y, 96, 32, Text("thread {row}").of(row=row), ink=Ink.LIVE, size=Size.LABEL)
        canvas.arrow(285, y + 16, 312, y + 16, head=False)
        y += 40
    end = rows_end + 44
    canvas.arrow(312, 48, 312, end + len(shared) * 40 - 24, head=False)
    canvas.label(3, end - 16, Text("all add to these"), bold=True, size=Size.LABEL)
    for place, text in enumerate(shared):
        canvas.cell(40, end + place * 40, 242, 32, text, ink=Ink.RESULT, size=Size.LABEL)
        canvas.arrow(312, end + place * 40 + 16, 286, end + place * 40 + 16)
    return canvas


_EPS = 1e-5  # as in the program


def draw_times(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Bars: the time of the forward pass on the CPU, and with four kernels and one on the GPU."""
    times = graph_times(facts, "p22 --benchmark")
    names = {"CPU": "CPU", "GPU, four kernels": "--unfused", "GPU, one kernel": "--fused"}
    rows = {
        name: (Bar(times[measured], f"{times[measured]:.1f}", Ink.RESULT),)
        for measured, name in names.items()
    }
    axis = Axis(Text("time (µs)"), (0, 10, 20, 30, 40))
    return draw_bars(sheet, rows, axis, narrow=narrow)


FIGURES = (
    Figure(
        "p22",
        Text(
            "The same result by four kernels and by one. The kernels in dashed boxes pass their results on "
            "through matrices in global memory; the fused kernel keeps them in registers.",
        ),
        Text(
            "Two columns. Unfused: input, 16 by 8, goes through layernorm_kernel to normal, 16 by 8. "
            "linear_weight, 16 by 8, goes through transpose_kernel to turned, 8 by 16. matmul_tiled makes "
            "output, 16 by 16, of both, and add_bias_kernel turns that into the final output. Fused: input "
            "and linear_weight go into minimal_fused_forward_kernel, which writes output.",
        ),
        draw_fusion,
        narrow=partial(draw_fusion, narrow=True),
    ),
    Figure(
        "p22-row",
        Text(
            "The first row of the input. After normalisation the mean of the row is 0 and its variance is 1.",
        ),
        Text(
            "Three lines of eight numbers: the first row of the input, the same minus the mean of the row, "
            "and the normalised numbers, which are those of the second line divided by the root of the "
            "variance.",
        ),
        draw_row,
        narrow=partial(draw_row, narrow=True),
    ),
    Figure(
        "p22-gradients",
        Text(
            "A thread writes its row of `grad_input` alone. All threads add to the same elements of the "
            "other four gradients.",
        ),
        Text(
            "In the middle threads 0, 1, 2 and so on to 15. An arrow leads from each to its own row of "
            "grad_input. From all of them a line leads to the four other gradients: grad_ln_weight and "
            "grad_ln_bias with 8 elements, grad_linear_weight with 16 by 8, grad_linear_bias with 16.",
        ),
        draw_gradients,
        narrow=partial(draw_gradients, narrow=True),
    ),
    Figure(
        "p22-times",
        Text(
            "The time of one forward pass on a machine with an H200, from the call of the graph to its end: "
            "on its CPU, and on the GPU with four kernels and with one.",
        ),
        Text("Three bars. CPU: 26.7 microseconds. --unfused: 38.9 microseconds. --fused: 25.8 microseconds."),
        draw_times,
        narrow=partial(draw_times, narrow=True),
    ),
)
