"""Puzzle 24: the sum of a warp, the lanes that take part in each step, and the times of three kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from tooling.book.figures.canvas import Canvas, Ink, Sheet, Size
from tooling.book.figures.charts import line_colour
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure
from tooling.book.figures.h200 import measured
from tooling.book.figures.lanes import WARP, Row, Step, cells, draw_rows, draw_steps
from tooling.book.figures.traces import SHARED
from tooling.text import Text

_PROGRAM = "p24_tile_tensor"
_TREE = f"{_PROGRAM} --traditional"
_LANES = range(WARP)


def draw_sum(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """What each lane reads, multiplies, gets from the warp's sum and writes."""
    data = {name: values.tolist() for name, values in facts.inputs("kernel").items()}
    (total,) = facts.expected("kernel")["out"].tolist()
    shown = {name: {lane: number(data[name][lane]) for lane in _LANES} for name in ("a", "b")}
    product = {lane: number(data["a"][lane] * data["b"][lane]) for lane in _LANES}
    same = tuple((lane, lane) for lane in _LANES)
    rows = (
        Row("a[global_i]", cells(shown["a"], Ink.PLAIN), short="a"),
        Row("b[global_i]", cells(shown["b"], Ink.PLAIN), short="b"),
        Row("product", cells(product, Ink.LIVE), same),
        Row("total", cells(dict.fromkeys(_LANES, number(total)), Ink.LIVE), call="warp.sum"),
        Row("output[0]", cells({0: number(total)}, Ink.RESULT), ((0, 0),), short="output"),
    )
    columns = (0, 1, 2, None, 30, 31) if narrow else (0, 1, 2, 3, 4, None, 29, 30, 31)
    return draw_rows(sheet, rows, columns, Text("lane"), narrow=narrow)


def draw_divergence(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Which lanes store in each step of the tree in shared memory."""
    trace = facts.trace(_TREE)
    stores = [event for event in trace.events if event.action == "store"]
    steps: list[Step] = []
    for event in stores:
        lanes = frozenset(event.threads)
        if event.buffer != SHARED:
            label: Text | str = "output[0]"
        elif not steps:
            label = Text("store the product")
        else:
            label = Text("stride {stride}: add").of(stride=len(lanes))
        steps.append(Step(label, lanes, Text("{active} of {lanes}").of(active=len(lanes), lanes=WARP)))
    return draw_steps(sheet, steps, narrow=narrow)


def draw_exchange(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Which products the partial sum of lane 0 contains after each exchange of warp.sum."""
    data = facts.inputs("kernel")
    values = (data["a"] * data["b"]).tolist()
    known = [frozenset({lane}) for lane in _LANES]
    steps = [Step("product", known[0], number(values[0]))]
    mask = WARP // 2
    while mask:
        known = [known[lane] | known[lane ^ mask] for lane in _LANES]
        total = sum(values[lane] for lane in known[0])
        steps.append(Step(Text("after mask {mask}").of(mask=mask), known[0], number(total)))
        mask //= 2
    return draw_steps(sheet, steps, head=Text("sum"), narrow=narrow)


def draw_times(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """A chart with logarithmic axes: time against the number of elements."""
    kernels = measured(facts, f"{_PROGRAM} --benchmark")
    left, top, wide, high = (22, 30, 324, 250) if narrow else (21, 30, 662, 300)
    sizes = [row.elements for row in next(iter(kernels.values()))]
    low_x, high_x, low_y, high_y = sizes[0], sizes[-1], 2.0, 64.0

    def x_of(elements: float) -> float:
        return left + 10 + (wide - 20) * math.log2(elements / low_x) / math.log2(high_x / low_x)

    def y_of(time: float) -> float:
        return top + high - high * math.log2(time / low_y) / math.log2(high_y / low_y)

    canvas = sheet(left + wide + (12 if narrow else 30), top + high + 43)
    small = Size.SMALL if narrow else Size.LABEL
    faint = canvas.shade.grid
    for power in range(1, 7):
        y = y_of(2.0**power)
        _line(canvas, [(left, y), (left + wide, y)], faint, 1)
        canvas.label(left - 6, y, str(2**power), "end", size=small, quiet=True)
    for index, elements in enumerate(sizes):
        if not narrow or index % 2 == 0:
            x, anchor = (
                (left + wide + 8, "end") if narrow and elements == high_x else (x_of(elements), "middle")
            )
            canvas.label(x, top + high + 14, f"{elements:,}", anchor, size=small, quiet=True)
    canvas.label(left - 20, 12, Text("µs"), quiet=True, size=Size.LABEL)
    canvas.label(left + wide / 2, top + high + 36, Text("elements"), "middle", size=Size.LABEL, quiet=True)
    inks = (Ink.SPARE, Ink.PLAIN, Ink.RESULT)
    for index, ((kernel, rows), ink) in enumerate(zip(kernels.items(), inks, strict=True)):
        line = line_colour(canvas, ink)
        fill = line if ink is Ink.RESULT else canvas.shade.paper
        points = [(x_of(row.elements), y_of(row.microseconds)) for row in rows]
        _line(canvas, points, line, 2)
        for x, y in points:
            radius = 3.8 if index == 1 else 5
            _dot(canvas, (x, y), radius, fill, line)
        y = top + 14 + index * 20
        _line(canvas, [(left + 14, y), (left + 36, y)], line, 2)
        _dot(canvas, (left + 25, y), 4.5, fill, line)
        canvas.label(left + 46, y, kernel, size=Size.LABEL, colour=line, mono=True, bold=True)
    return canvas


def _dot(canvas: Canvas, at: tuple[float, float], radius: float, fill: str, line: str) -> None:
    x, y = at
    circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{fill}" stroke="{line}"/>'
    canvas.embed(circle, (x - radius, y - radius, x + radius, y + radius))


def _line(canvas: Canvas, points: Sequence[tuple[float, float]], colour: str, width: float) -> None:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    across, down = zip(*points, strict=True)
    canvas.embed(
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"/>',
        (min(across), min(down), max(across), max(down)),
    )


FIGURES = (
    Figure(
        "p24",
        Text(
            "Each lane multiplies one element of `a` by one of `b`. After `warp.sum`, every lane has the sum "
            "of all 32 products in a register. Lane 0 writes it."
        ),
        Text(
            "Columns for the lanes 0 to 31 of a warp. The elements of a and of b are 0 to 31, the "
            "products 0, 1, 4, 9, 16 up to 961. In the next row every lane has the total 10416. In the "
            "last row, lane 0 alone writes 10416 to output[0]."
        ),
        draw_sum,
        narrow=partial(draw_sum, narrow=True),
    ),
    Figure(
        "p24-lanes",
        Text(
            "The lanes that store a value in each step of the tree in shared memory. The other lanes are "
            "inactive: they have to wait until the instruction is done."
        ),
        Text(
            "Seven rows of 32 cells, one for each lane. All 32 lanes store a product. With stride 16 the "
            "lanes 0 to 15 add, with stride 8 the lanes 0 to 7, with stride 4 the lanes 0 to 3, with "
            "stride 2 the lanes 0 and 1, with stride 1 only lane 0. In the last row, lane 0 writes "
            "output[0]."
        ),
        draw_divergence,
        traces=(_TREE,),
        narrow=partial(draw_divergence, narrow=True),
    ),
    Figure(
        "p24-sum",
        Text(
            "The lanes whose products are in the partial sum of lane 0, after each of the five exchanges "
            "of `warp.sum`. On the right is the partial sum itself. All other lanes do the same at the "
            "same time."
        ),
        Text(
            "Six rows of 32 cells, one for each lane. At first, lane 0 has its own product, 0. After the "
            "exchange with mask 16 it also has that of lane 16, 256 in total. After mask 8 it has those "
            "of the lanes 0, 8, 16 and 24, after mask 4 of every fourth lane, after mask 2 of all lanes "
            "with even numbers, after mask 1 of all lanes: 10416."
        ),
        draw_exchange,
        narrow=partial(draw_exchange, narrow=True),
    ),
    Figure(
        "p24-times",
        Text(
            "Mean time of a launch on an H200, with logarithmic axes. The curves of `traditional` and "
            "`simple-warp` almost coincide; from 65,536 elements on, `functional-warp` is the fastest."
        ),
        Text(
            "A chart: elements from 32 to 2,097,152, time in microseconds. All three kernels start at "
            "about 3.5 and stay below 5 up to 65,536 elements. At 524,288 elements, traditional and "
            "simple-warp take 13.7 and 13.5, functional-warp 6.4. At 2,097,152 elements they take 43.3, "
            "43.0 and 14.1."
        ),
        draw_times,
        narrow=partial(draw_times, narrow=True),
    ),
)
