"""Puzzle 22: four kernels and one, a row that is normalised, and who adds to which gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tooling.book.figures.canvas import PAGE, PHONE, Canvas, Ink, Sheet, Size
from tooling.book.figures.charts import Bar, draw_bars
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive
from tooling.book.figures.h200 import graph_times
from tooling.text import Text

_HIGH = 34
_INSIDE = 14  # from the border of a gradient to its name and its shape
_STEP = 58  # from one row of boxes to the next
_FIRST = 28  # the top of the first row
_BETWEEN = 40  # between both kernels' drawings


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
    wide, half, size = (PHONE - 2, 175, Size.SMALL) if narrow else (400, 193, Size.VALUE)
    single = wide if narrow else PAGE - 2 - wide - _BETWEEN
    high = _FIRST + 6 * _STEP + _HIGH
    canvas = sheet(PHONE if narrow else PAGE, 0)

    def matrix(x: float, y: float, width: float, name: str, ink: Ink) -> None:
        canvas.cell(x, y, width, _HIGH, matrices[name], ink=ink, size=size)

    def kernel(x: float, y: float, width: float, name: str) -> None:
        canvas.frame(x, y, width, _HIGH, dashed=True, corner=_HIGH / 2)
        canvas.label(x + width / 2, y + _HIGH / 2, name, "middle", mono=True, size=size)

    def down(x: float, y: float) -> None:
        """An arrow from one row to the next."""
        canvas.arrow(x, y + _HIGH + 3, x, y + _STEP - 3)

    left, right = 1.0, 1.0 + wide - half
    positions = [_FIRST + row * _STEP for row in range(7)]
    canvas.label(left, 10, Text("--unfused: four kernels"), bold=True)
    matrix(left, positions[0], half, "input", Ink.PLAIN)
    matrix(right, positions[0], half, "weight", Ink.PLAIN)
    kernel(left, positions[1], half, "layernorm_kernel")
    kernel(right, positions[1], half, "transpose_kernel")
    matrix(left, positions[2], half, "normal", Ink.PLAIN)
    matrix(right, positions[2], half, "turned", Ink.PLAIN)
    kernel(left, positions[3], wide, "matmul_tiled")
    matrix(left, positions[4], wide, "output", Ink.PLAIN)
    kernel(left, positions[5], wide, "add_bias_kernel")
    matrix(left, positions[6], wide, "output", Ink.RESULT)
    for row in range(6):
        for middle in (left + half / 2, right + half / 2) if row < 3 else (left + wide / 2,):
            down(middle, positions[row])

    x, top = (1.0, high + 34.0) if narrow else (1.0 + wide + _BETWEEN, 0.0)
    first = top + _FIRST
    canvas.label(x, top + 10, Text("--fused: one kernel"), bold=True)
    part, other = (half, half) if narrow else (104, 176)
    matrix(x, first, part, "input", Ink.PLAIN)
    matrix(x + single - other, first, other, "weight", Ink.PLAIN)
    body = first + _STEP
    # What the kernel keeps is next to the matrices that it does without.
    kept = (body + _STEP, body + (2 if narrow else 3) * _STEP)
    last = kept[-1] + 2 * _STEP - 36 * narrow
    canvas.frame(x, body, single, last - body - 24, dashed=True, corner=_HIGH / 2)
    middle = x + single / 2
    canvas.label(middle, body + _HIGH / 2, "minimal_fused_forward_kernel", "middle", mono=True, size=size)
    for y, name in zip(kept, ("normal", "total"), strict=True):
        canvas.cell(x + single / 4, y, single / 2, _HIGH, name, ink=Ink.LIVE, size=size)
    canvas.arrow(middle, kept[0] + _HIGH + 3, middle, kept[1] - 3)
    for end in (x + part / 2, x + single - other / 2):
        down(end, first)
    matrix(x, last, single, "output", Ink.RESULT)
    canvas.arrow(middle, last - 21, middle, last - 3)
    canvas.height = round(last + _HIGH + 32)
    canvas.legend(
        1, canvas.height - 10, (Ink.PLAIN, Text("in global memory")), (Ink.LIVE, Text("in registers"))
    )
    return canvas


def draw_row(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The first row of the input: its numbers, their distances from the mean, and the normalised ones."""
    row = facts.inputs("fused")["input"][0].astype(float)
    mean, variance = row.mean(), row.var()
    normal = (row - mean) / (variance + _EPS) ** 0.5
    names: tuple[Text | str, ...] = ("input", Text("minus the mean"), Text("normalised"))
    canvas = sheet(0, 0)
    across, left = (len(row) // 2, 1) if narrow else (len(row), canvas.names_end(names))
    cell = ((PHONE if narrow else PAGE) - 1 - left) // across
    left = left if narrow else PAGE - 1 - across * cell
    lines = tuple(zip(names, (row, row - mean, normal), (Ink.PLAIN, Ink.LIVE, Ink.RESULT), strict=True))
    high = 32 if narrow else 38
    step = 2 * high + 34 if narrow else high + 16
    canvas.width = left + across * cell + 1
    summary = Text("mean {mean:.2f}, variance {variance:.2f}").of(mean=mean, variance=variance)
    canvas.label(1, 12, summary, bold=True)
    for position, (name, values, ink) in enumerate(lines):
        y = 34 + position * step + (16 if narrow else 0)
        if narrow:
            canvas.label(left, y - 12, name, size=Size.LABEL, mono=isinstance(name, str))
        else:
            canvas.name(y + high / 2, name)
        for index, value in enumerate(values):
            line, column = divmod(index, across)
            at = left + column * cell, y + line * high
            canvas.cell(*at, cell, high, number(value, ".2f"), ink=ink)
        canvas.height = y + len(row) // across * high + 1
    return canvas


def draw_gradients(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Threads of four rows: each has its own row of grad_input, and all add to the other four gradients."""
    rows, hidden = facts.constant("ROWS"), facts.constant("HIDDEN_DIM")
    columns = facts.constant("OUTPUT_DIM")
    shared = {
        "grad_ln_weight": f"{hidden}",
        "grad_ln_bias": f"{hidden}",
        "grad_linear_weight": f"{columns} × {hidden}",
        "grad_linear_bias": f"{columns}",
    }
    numbers = (0, 1, 2, rows - 1)
    if narrow:
        return _narrow_gradients(sheet, numbers, shared)
    own, thread, box, added, high = 170, 222, 118, 258, 34
    right = PAGE - 1 - added
    step, skipped = 46, 26  # from one thread to the next, and for those that are left out
    tops = [
        32 + position * step + (skipped if position == len(numbers) - 1 else 0)
        for position in range(len(numbers))
    ]
    canvas = sheet(PAGE, tops[-1] + high + 1)
    canvas.label(1, 10, Text("own row"), bold=True)
    canvas.label(right, 10, Text("added up over all rows"), bold=True)
    for row, y in zip(numbers, tops, strict=True):
        canvas.cell(thread, y, box, high, Text("thread {row}").of(row=row), ink=Ink.LIVE)
        canvas.arrow(thread - 4, y + high / 2, own + 5, y + high / 2)
        canvas.cell(1, y, own, high, f"grad_input[{row}]", ink=Ink.RESULT)
    for x in (own / 2, thread + box / 2):
        canvas.label(x, tops[-1] - (step + skipped - high) / 2, "⋮", "middle", quiet=True)
    # All threads lead to one arrow, and that to all gradients.
    each = (tops[-1] - tops[0]) / (len(shared) - 1)
    joint, fork = thread + box + 28, right - 34
    for position, (name, shape) in enumerate(shared.items()):
        level = tops[0] + each * position
        _draw_gradient(canvas, (right, level, added, high), name, shape, Size.VALUE)
        canvas.arrow(fork, level + high / 2, right - 4, level + high / 2)
    for y in tops:
        canvas.arrow(thread + box + 4, y + high / 2, joint, y + high / 2, head=False)
    first, last = tops[0] + high / 2, tops[-1] + high / 2
    middle = (first + last) / 2
    for x in (joint, fork):
        canvas.arrow(x, first, x, last, head=False)
    canvas.arrow(joint, middle, fork, middle, head=False)
    canvas.label((joint + fork) / 2, middle - 12, Text("all add"), "middle", size=Size.LABEL, quiet=True)
    return canvas


def _draw_gradient(
    canvas: Canvas, box: tuple[float, float, float, float], name: str, shape: str, size: Size
) -> None:
    """A gradient that all threads add to, with its name at the left and its shape at the right."""
    x, y, wide, high = box
    canvas.cell(x, y, wide, high, ink=Ink.RESULT)
    canvas.label(x + _INSIDE, y + high / 2, name, size=size, colour=Ink.RESULT.text, mono=True)
    canvas.label(x + wide - _INSIDE, y + high / 2, shape, "end", size=Size.LABEL, colour=Ink.RESULT.text)


def _narrow_gradients(sheet: Sheet, numbers: Sequence[int], shared: Mapping[str, str]) -> Canvas:
    """The same in a column."""
    gap, high, step, thread, box = 22, 32, 40, 196, 104
    width = PHONE
    bus = width - 2
    end = 28 + len(numbers) * step + gap + 40  # of the heading below
    canvas = sheet(width, end + len(shared) * step - step + high + 1)
    canvas.label(1, 10, Text("each thread its own row"), bold=True)
    top = 28
    for row in numbers:
        if row == numbers[-1]:
            for x in (76, thread + box / 2):
                canvas.label(x, top + gap / 2 - 4, "⋮", "middle", quiet=True)
            top += gap
        canvas.cell(1, top, 150, high, f"grad_input[{row}]", ink=Ink.RESULT, size=Size.LABEL)
        canvas.arrow(thread - 4, top + high / 2, 155, top + high / 2)
        canvas.cell(thread, top, box, high, Text("thread {row}").of(row=row), ink=Ink.LIVE, size=Size.LABEL)
        canvas.arrow(thread + box + 4, top + high / 2, bus, top + high / 2, head=False)
        top += step
    last = end + (len(shared) - 1) * step + high / 2
    canvas.arrow(bus, 28 + high / 2, bus, last, head=False)
    canvas.label(1, end - 18, Text("all add to these"), bold=True)
    for position, (name, shape) in enumerate(shared.items()):
        _draw_gradient(canvas, (1, end + position * step, thread + box - 1, high), name, shape, Size.LABEL)
        canvas.arrow(
            bus, end + position * step + high / 2, thread + box + 4, end + position * step + high / 2
        )
    return canvas


_EPS = 1e-5  # as in the program


def draw_times(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Bars: the time of the forward pass on the CPU, and with four kernels and one on the GPU."""
    times = graph_times(facts, "p22 --benchmark")
    names: dict[str, tuple[Text | str, Ink]] = {
        "CPU": (Text("CPU"), Ink.LIVE),
        "GPU, four kernels": ("--unfused", Ink.LIVE),
        "GPU, one kernel": ("--fused", Ink.RESULT),
    }
    rows = {
        name: (Bar(times[measured], f"{times[measured]:.1f}", ink),)
        for measured, (name, ink) in names.items()
    }
    return draw_bars(sheet, rows, Text("time (µs)"), narrow=narrow)


FIGURES = (
    responsive("p22", draw_fusion),
    responsive("p22-row", draw_row),
    responsive("p22-gradients", draw_gradients),
    responsive("p22-times", draw_times),
)
