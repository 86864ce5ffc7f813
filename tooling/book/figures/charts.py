"""Charts of measurements: several series over a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from tooling.book.figures.canvas import Canvas, Ink, Sheet, Size, measured
from tooling.text import Text

_TICK = 4  # the length of a line at an axis, in pixels
_TICKS_APART = 9  # from the left edge to an axis, without the labels of its ticks


class Series(Struct, frozen=True):
    """Points of one kind.

    Attributes:
        name: code as a plain string, or a description.
        points: y by x.
        ink: of the line and the dots.
        named: the x of the point beside which the name is.
        corner: on which side of this point: -1 or 1 to the left or right, or 0 at the right end of the chart;
            and lines above (negative) or below.
        ring: the points are rings, in which the dots of another series are seen.
        end: what is written at the last point.
    """

    name: Text | str
    points: Mapping[int, float]
    ink: Ink
    named: int
    corner: tuple[int, int]
    ring: bool = False
    end: Text | str = ""


class Axis(Struct, frozen=True):
    """A vertical axis.

    Attributes:
        title: with the unit.
        ticks: the values with a label, the lowest and the highest at the ends.
        logarithmic: otherwise linear.
    """

    title: Text | str
    ticks: Sequence[float]
    logarithmic: bool = False

    def share(self, value: float) -> float:
        """Where a value is, from 0 at the lowest tick to 1 at the highest one."""
        scale = math.log2 if self.logarithmic else float
        low, high = scale(self.ticks[0]), scale(self.ticks[-1])
        return (scale(value) - low) / (high - low)


def draw_chart(
    sheet: Sheet,
    series: Sequence[Series],
    axis: Axis,
    title: Text | str,
    *,
    every: int = 1,
    narrow: bool = False,
) -> Canvas:
    """Draws the series over a horizontal axis with powers of two.

    Args:
        sheet: creates the canvas of a width and height.
        series: all with the same x values.
        axis: the vertical one.
        title: of the horizontal axis.
        every: on a narrow screen only each n-th x value has a label.
        narrow: for narrow screens.
    """
    small = Size.SMALL if narrow else Size.LABEL
    left = _TICKS_APART + math.ceil(max(measured(f"{tick:,g}", small) for tick in axis.ticks))
    top, wide, high = (34, 346 - left, 230) if narrow else (34, 600, 270)
    values = sorted(series[0].points)
    first, last = math.log2(values[0]), math.log2(values[-1])
    canvas = sheet(left + wide + 8, top + high + 43)
    _draw_axis(canvas, axis, (left, top, wide, high), small)

    def place(x: int, y: float) -> tuple[float, float]:
        across = (math.log2(x) - first) / (last - first)
        return left + 14 + (wide - 28) * across, top + high * (1 - axis.share(y))

    for index, value in enumerate(values):
        x, bottom = place(value, axis.ticks[0])[0], top + high
        _line(canvas, [(x, bottom), (x, bottom + _TICK)], canvas.shade.arrow, 1)
        if not narrow or index % every == 0:
            canvas.label(x, bottom + 14, _short(value), "middle", size=small, quiet=True)
    canvas.label(left + wide / 2, top + high + 36, title, "middle", size=Size.LABEL, quiet=True)
    ringed = any(each.ring for each in series)
    for each in series:
        points = [place(x, y) for x, y in sorted(each.points.items())]
        _line(canvas, points, line_colour(canvas, each.ink), 2)
    for each in sorted(series, key=lambda each: not each.ring):
        for point in each.points.items():
            x, y = place(*point)
            canvas.embed(_dot(canvas, (x, y), each, ringed=ringed), (x - 7, y - 7, x + 7, y + 7))
        _name(canvas, each, place(each.named, each.points[each.named]), left + wide, small)
        if each.end:
            x, y = place(values[-1], each.points[values[-1]])
            colour = line_colour(canvas, each.ink)
            canvas.label(x + 6, y - 16, each.end, "end", size=small, colour=colour, bold=True)
    return canvas


def _draw_axis(canvas: Canvas, axis: Axis, field: tuple[float, float, float, float], size: Size) -> None:
    """The vertical axis at the left of a field: its title, its ticks with labels, and those between them."""
    left, top, wide, high = field

    def height(value: float) -> float:
        return top + high * (1 - axis.share(value))

    canvas.label(1, 12, axis.title, size=Size.LABEL, quiet=True)
    for tick in axis.ticks:
        _line(canvas, [(left, height(tick)), (left + wide, height(tick))], canvas.shade.grid, 1)
        canvas.label(left - 6, height(tick), f"{tick:,g}", "end", size=size, quiet=True)
    for low, high_tick in pairwise(axis.ticks if axis.logarithmic else ()):
        for factor in range(2, round(high_tick / low)):
            y = height(low * factor)
            _line(canvas, [(left, y), (left + _TICK, y)], canvas.shade.arrow, 1)


def _name(canvas: Canvas, series: Series, at: tuple[float, float], right: float, size: Size) -> None:
    """The name of a series beside a point of it, or at the right end of the chart."""
    across, down = series.corner
    x = at[0] + 11 * across if across else right
    canvas.label(
        x,
        at[1] + 10 * down,
        series.name,
        "start" if across > 0 else "end",
        size=size,
        colour=line_colour(canvas, series.ink),
        mono=isinstance(series.name, str),
        bold=True,
    )


def _dot(canvas: Canvas, at: tuple[float, float], series: Series, *, ringed: bool) -> str:
    """A point; a small dot where others are rings, so that both are seen at the same place."""
    line = line_colour(canvas, series.ink)
    fill = line if series.ink is Ink.RESULT else canvas.shade.paper
    radius, width = 4.5, 1.5
    if series.ring:
        fill, radius, width = canvas.shade.paper, 6, 2
    elif ringed:
        fill, radius = line, 3
    middle = f'cx="{at[0]:.1f}" cy="{at[1]:.1f}"'
    return f'<circle {middle} r="{radius:g}" fill="{fill}" stroke="{line}" stroke-width="{width:g}"/>'


def line_colour(canvas: Canvas, ink: Ink) -> str:
    """The colour of a curve and of its name, which is readable on the page."""
    quiet = {Ink.SPARE: canvas.shade.text, Ink.PLAIN: canvas.shade.quiet}
    return quiet.get(ink) or canvas.shade.marks[ink][1]


class Bar(Struct, frozen=True):
    """One bar: its length in any unit, what is written behind it, and its colour."""

    value: float
    text: Text | str
    ink: Ink


def draw_bars(
    sheet: Sheet,
    rows: Mapping[str, Sequence[Bar]],
    *,
    key: Sequence[tuple[Ink, Text]] = (),
    narrow: bool = False,
) -> Canvas:
    """Draws bars for each name, on one linear scale.

    Args:
        sheet: creates the canvas of a width and height.
        rows: the bars of each name, the same number for all, from top to bottom.
        key: what the colours mean, in a line below the bars.
        narrow: for narrow screens.
    """
    size = Size.LABEL if narrow else Size.VALUE
    canvas = sheet(0, 0)
    left = math.ceil(11 + max(canvas.length(name, size, mono=True) for name in rows))
    wide, high = (226, 20) if narrow else (440, 22)
    each = max(map(len, rows.values()))
    step = each * (high + 4) + 14
    canvas.width, canvas.height = left + wide + 66, 12 + len(rows) * step + (26 if key else 0)
    if key:
        canvas.legend(left, 12 + len(rows) * step + 10, *key)
    longest = max(bar.value for bars in rows.values() for bar in bars)
    for line, (name, bars) in enumerate(rows.items()):
        y = 12 + line * step
        middle = y + each * (high + 4) / 2 - 2
        canvas.label(1, middle, name, bold=True, mono=True, size=size)
        for index, bar in enumerate(bars):
            length, above = bar.value / longest * wide, y + index * (high + 4)
            canvas.cell(left, above, length, high, ink=bar.ink)
            canvas.label(left + length + 6, above + high / 2, bar.text, size=Size.LABEL)
    return canvas


def _short(value: int) -> str:
    """A count of elements as `512`, `64 Ki` or `16 Mi`."""
    for unit, name in ((1 << 20, "Mi"), (1 << 10, "Ki")):
        if value % unit == 0 and value >= unit:
            return f"{value // unit} {name}"
    return f"{value:,}"


def _line(canvas: Canvas, points: Sequence[tuple[float, float]], colour: str, width: float) -> None:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    across, down = zip(*points, strict=True)
    canvas.embed(
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"/>',
        (min(across), min(down), max(across), max(down)),
    )
