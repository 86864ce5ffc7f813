"""Puzzle 24: the sum of a warp, the lanes that take part in each step, and the times of three kernels."""

from __future__ import annotations

from tooling.book.figures.canvas import Canvas, Ink, Sheet
from tooling.book.figures.charts import Axis, Series, draw_chart
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive
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
        steps.append(Step(Text("after mask {mask}").of(mask=mask), known[0], f"{total:,.0f}"))
        mask //= 2
    return draw_steps(sheet, steps, head=Text("sum"), narrow=narrow)


def draw_times(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """A chart with logarithmic axes: time against the number of elements."""
    times = {
        kernel: {row.elements: row.microseconds for row in rows}
        for kernel, rows in measured(facts, f"{_PROGRAM} --benchmark").items()
    }
    slow, warp, fast = (f"{list(each.values())[-1]:.1f} µs" for each in times.values())
    names = tuple(times)
    wide = not narrow  # the lower name is next to the last point, and otherwise both are
    steep, last = sorted(times[names[0]])[-2:]
    series = (
        Series(f"{names[0]} {slow}", times[names[0]], Ink.SPARE, last, (-1, -1 - wide), ring=True),
        Series(f"{names[1]} {warp}", times[names[1]], Ink.PLAIN, last, (-1, 1 - wide)),
        Series(f"{names[2]} {fast}", times[names[2]], Ink.RESULT, steep, (0, 5)),
    )
    axis = Axis(Text("mean time (µs), logarithmic"), (2, 4, 8, 16, 32, 64), logarithmic=True)
    return draw_chart(sheet, series, axis, Text("elements, logarithmic"), every=2, narrow=narrow)


FIGURES = (
    responsive("p24", draw_sum),
    responsive("p24-lanes", draw_divergence, traces=(_TREE,)),
    responsive("p24-sum", draw_exchange),
    responsive("p24-times", draw_times),
)
