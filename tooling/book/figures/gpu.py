"""The parts of a GPU: multiprocessors with their blocks, warps and memories; and what a launch takes."""

from __future__ import annotations

from functools import partial

from tooling.book.figures.canvas import Canvas, Ink, Sheet, Size
from tooling.book.figures.charts import Axis, Series, draw_chart
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import Figure
from tooling.book.figures.h200 import measured
from tooling.book.figures.lanes import WARP, Step, draw_steps
from tooling.text import Text

_GAP = 12
_ROW = 25  # from a warp to the next one
_FLAT = 1 << 16  # elements up to which the time hardly grows


def draw_wide(facts: Facts, sheet: Sheet) -> Canvas:
    """Three multiprocessors of many, side by side."""
    return _draw(sheet(704, 386), ("SM 0", "SM 1", "SM 131"), (218, 12, 36))


def draw_narrow(facts: Facts, sheet: Sheet) -> Canvas:
    """Two of them."""
    return _draw(sheet(356, 386), ("SM 0", "SM 131"), (164, 0, 26))


def _draw(canvas: Canvas, names: tuple[str, ...], widths: tuple[int, int, int]) -> Canvas:
    """Multiprocessors over the memories that they share.

    Args:
        widths: of a multiprocessor, of the space to the next one, and of the one with dots before the last.
    """
    width, near, far = widths
    lefts = [1 + index * (width + near) for index in range(len(names) - 1)]
    lefts.append(canvas.width - 1 - width)
    for left, name in zip(lefts, names, strict=True):
        _multiprocessor(canvas, left, width, name)
    middle = lefts[-1] - far / 2
    for dot in (middle - 7, middle, middle + 7):
        circle = f'<circle cx="{dot:g}" cy="120" r="1.5" fill="{canvas.shade.quiet}"/>'
        canvas.embed(circle, (dot - 2, 118, dot + 2, 122))
    inside = canvas.width - 2
    for y, height, text, ink in (
        (278, 36, Text("L2 cache"), Ink.PLAIN),
        (338, 46, Text("global memory"), Ink.PLAIN),
    ):
        canvas.cell(1, y, inside, height, ink=ink)
        canvas.label(canvas.width / 2, y + height / 2, text, "middle", bold=True)
    for left in lefts:
        middle = left + width / 2
        _both_ways(canvas, middle, 244, 276)
        _both_ways(canvas, middle, 316, 336)
    return canvas


def _both_ways(canvas: Canvas, x: float, top: float, bottom: float) -> None:
    canvas.arrow(x - 5, bottom, x - 5, top)
    canvas.arrow(x + 5, top, x + 5, bottom)


def _multiprocessor(canvas: Canvas, x: float, width: float, name: str) -> None:
    """A multiprocessor: two blocks of three warps, registers, shared memory."""
    canvas.frame(x, 1, width, 240)
    canvas.label(x + width / 2, 18, name, "middle", bold=True)
    gap = _GAP if width > 200 else _GAP - 2
    block = (width - 3 * gap) / 2
    lanes, lane, inset = (5, 6, 8) if width > 200 else (4, 5, 6)  # drawn for a warp of 32
    pitch = lane + (3 if width > 200 else 2)
    for column in range(2):
        left = x + gap + column * (block + gap)
        canvas.frame(left, 34, block, 108, dashed=True)
        canvas.label(left + block / 2, 48, Text("block"), "middle", size=Size.LABEL, quiet=True)
        first = round(left + block - inset) + pitch - lane - lanes * pitch  # whole, so all cells are equal
        for warp in range(3):
            y = 62 + warp * _ROW
            canvas.label(left + inset, y + 9, Text("warp"), size=Size.SMALL, quiet=True)
            for index in range(lanes):
                canvas.cell(first + index * pitch, y, lane, 18, ink=Ink.LIVE)
    for row, text in enumerate((Text("registers"), Text("shared memory, L1"))):
        y = 154 + row * 42
        canvas.cell(x + gap, y, width - 2 * gap, 34, ink=Ink.PLAIN)
        canvas.label(x + width / 2, y + 17, text, "middle", size=Size.VALUE if width > 200 else Size.LABEL)


def draw_divergence(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """A warp at a condition, in the branch of its even lanes, in that of the odd ones, and after both."""
    even, odd = range(0, WARP, 2), range(1, WARP, 2)
    steps = (
        Step(Text("condition"), range(WARP), Text("all lanes")),
        Step(Text("first branch"), even, Text("even lanes")),
        Step(Text("second branch"), odd, Text("odd lanes")),
        Step(Text("after both"), range(WARP), Text("all lanes")),
    )
    return draw_steps(sheet, steps, narrow=narrow)


def draw_launches(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The time of a launch against the number of elements, and that of its bytes at the speed of a copy."""
    rows = measured(facts, "benchmarks/kernels/vector_addition.mojo")["cold"]
    times = {row.elements: row.microseconds for row in rows}
    last = rows[-1]
    least = {row.elements: row.elements * last.microseconds * last.of_copy / last.elements for row in rows}
    first, flat = rows[0], next(row for row in rows if row.elements == _FLAT)
    remark = Text("{elements} times the elements: {percent}% longer").of(
        elements=flat.elements // first.elements,
        percent=round(100 * (flat.microseconds / first.microseconds - 1)),
    )
    series = (
        Series(
            remark,
            times,
            Ink.RESULT,
            first.elements,
            (1, 3),
            values=True,
            span=(first.elements, flat.elements),
        ),
        Series(
            Text("data transfer alone"),
            {elements: time for elements, time in least.items() if time >= 1},
            Ink.PLAIN,
            1 << 20 if narrow else 1 << 22,
            (0, 0) if narrow else (1, 2),
            limit=True,
        ),
    )
    axis = Axis(Text("mean time (µs)"), (1, 10, 100, 1000), logarithmic=True)
    return draw_chart(sheet, series, axis, Text("elements"), every=2, narrow=narrow)


FIGURES = (
    Figure(
        name="gpu",
        caption=Text(
            "A GPU. Each multiprocessor (SM) runs the warps of its blocks, here a row of cells for each "
            "warp, though fewer cells than its 32 threads, and has registers and shared memory of its own. "
            "All multiprocessors share the L2 cache and the global memory."
        ),
        description=Text(
            "Multiprocessors from SM 0 to SM 131 side by side. Each contains two blocks with three warps, a "
            "bar of registers, and a bar of shared memory with the L1 cache. Arrows lead from each to a wide "
            "bar, the L2 cache, and from there to another one, the global memory."
        ),
        draw=draw_wide,
        narrow=draw_narrow,
    ),
    Figure(
        name="gpu-divergence",
        caption=Text(
            "A warp whose even and odd lanes take different branches. It executes both, one after the other, "
            "each with half of its lanes switched off."
        ),
        description=Text(
            "Four rows of 32 lanes. At the condition all lanes take part, in the first branch only the even "
            "ones, in the second only the odd ones, and after both all of them again."
        ),
        draw=draw_divergence,
        narrow=partial(draw_divergence, narrow=True),
    ),
    Figure(
        name="gpu-launches",
        caption=Text(
            "The mean time of a launch of the addition on an H200, with logarithmic axes. The dashed line is "
            "the time of the data transfer alone, at the speed of a large copy."
        ),
        description=Text(
            "A chart: elements from 1 Ki to 256 Mi, microseconds from 1 to 1,000. The times are 3.8 at 1 Ki "
            "and 4 Ki elements, 3.9 at 16 Ki, 4.3 at 64 Ki, 5.2 at 256 Ki, 7.6 at 1 Mi, 17.7 at 4 Mi, 52.5 "
            "at 16 Mi, 189 at 64 Mi and 751 at 256 Mi. On the left the curve is flat; from 16 Mi on it is on "
            "a dashed line that rises in proportion to the number of elements."
        ),
        draw=draw_launches,
        narrow=partial(draw_launches, narrow=True),
    ),
)
