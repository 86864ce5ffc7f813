"""Charts of measurements: several series over a logarithmic axis, and bars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from tooling.book.figures.canvas import Canvas, Ink, Sheet, Size, measured
from tooling.text import Text

_TICK = 4  # the length of a line at an axis, in pixels
_DECIMALS = 100  # values below it have one
_CLEAR = 8  # how far a line may rise below a value without touching it
_LIMITS = 44  # the room above bars for the names and values of limits
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
        values: each point has its value above it.
        limit: no measurement but a bound, a dashed line without points, and x values are missing.
    """

    name: Text | str
    points: Mapping[int, float]
    ink: Ink
    named: int
    corner: tuple[int, int]
    ring: bool = False
    end: Text | str = ""
    values: bool = False
    limit: bool = False


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
        series: all with the same x values; a limit may lack some, and is not the first one.
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
        _line(canvas, points, line_colour(canvas, each.ink), 1.5 if each.limit else 2, dashed=each.limit)
    for each in sorted(series, key=lambda each: not each.ring):
        for point in () if each.limit else each.points.items():
            x, y = place(*point)
            canvas.embed(_dot(canvas, (x, y), each, ringed=ringed), (x - 7, y - 7, x + 7, y + 7))
        if each.values:
            _values(canvas, each, [place(*point) for point in sorted(each.points.items())], small)
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


def _values(canvas: Canvas, series: Series, points: Sequence[tuple[float, float]], size: Size) -> None:
    """The values of a series, above its points; on their left where the line rises steeply from them."""
    values = [value for _, value in sorted(series.points.items())]
    for index, ((x, y), value) in enumerate(zip(points, values, strict=True)):
        text = f"{value:.1f}" if value < _DECIMALS else f"{value:.0f}"
        steep = index == len(points) - 1
        if not steep:
            right, above = points[index + 1]
            half = canvas.length(text, size) / 2
            steep = half * (y - above) / (right - x) > _CLEAR
        at = (x - 8, y - 7) if steep else (x, y - 14)
        canvas.label(*at, text, "end" if steep else "middle", size=size)


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
    """One bar.

    Attributes:
        value: its length in any unit.
        text: the value as it is written behind the bar.
        ink: its colour.
        name: what it is, written in the bar if it fits, and otherwise behind the value.
    """

    value: float
    text: Text | str
    ink: Ink
    name: Text | str = ""


class Limit(Struct, frozen=True):
    """A value with which bars are compared, a line across all of them: the value, its name, and its text."""

    value: float
    name: Text | str
    text: Text | str


def draw_bars(
    sheet: Sheet,
    rows: Mapping[str, Sequence[Bar]],
    *,
    key: Sequence[tuple[Ink, Text]] = (),
    limits: Sequence[Limit] = (),
    narrow: bool = False,
) -> Canvas:
    """Draws bars for each name, on one linear scale.

    Args:
        sheet: creates the canvas of a width and height.
        rows: the bars of each name, the same number for all, from top to bottom.
        key: what the colours mean, in a line below the bars.
        limits: lines that are named above the bars.
        narrow: for narrow screens.
    """
    size = Size.LABEL if narrow else Size.VALUE
    canvas = sheet(0, 0)
    left = math.ceil(11 + max(canvas.length(name, size, mono=True) for name in rows))
    wide, high = (226, 20) if narrow else (440, 22)
    each = max(map(len, rows.values()))
    step = each * (high + 4) + 14
    top = _LIMITS if limits else 12
    bottom = top + len(rows) * step
    canvas.width, canvas.height = left + wide + 66, bottom + (26 if key else 0)
    if key:
        canvas.legend(left, bottom + 10, *key)
    longest = max([bar.value for bars in rows.values() for bar in bars] + [each.value for each in limits])
    lines = [left + limit.value / longest * wide for limit in limits]
    for x, limit in zip(lines, limits, strict=True):
        canvas.label(x, 10, limit.name, "middle", size=Size.LABEL, quiet=True)
        canvas.label(x, 26, limit.text, "middle", size=Size.LABEL)
        _line(canvas, [(x, _LIMITS - 6), (x, bottom - 12)], canvas.shade.text, 1.5)
    for line, (name, bars) in enumerate(rows.items()):
        y = top + line * step
        middle = y + each * (high + 4) / 2 - 2
        canvas.label(1, middle, name, bold=True, mono=True, size=size)
        for index, bar in enumerate(bars):
            _draw_bar(canvas, bar, (left, y + index * (high + 4), bar.value / longest * wide, high), lines)
    return canvas


def _draw_bar(
    canvas: Canvas, bar: Bar, place: tuple[float, float, float, float], lines: Sequence[float]
) -> None:
    """A bar with its value and its name, on a background where they would cross a line.

    Args:
        place: its left, its upper end, its length, and its height.
        lines: the x of each.
    """
    left, top, length, high = place
    middle, size = top + high / 2, Size.LABEL
    canvas.cell(left, top, length, high, ink=bar.ink)
    code = isinstance(bar.name, str)
    behind = [(bar.text, False)]
    if canvas.length(bar.name, size, mono=code) + 12 > length:
        behind.append((bar.name, code))
    elif bar.name:
        _, _, colour = canvas.shade.marks[bar.ink]
        canvas.label(left + 8, middle, bar.name, size=size, mono=code, colour=colour)
    wide = sum(canvas.length(text, size, mono=mono) + 7 for text, mono in behind)
    x = left + length + 6
    if any(x - 4 < line < x + wide for line in lines):
        canvas.ground(x - 3, middle - high / 2, wide - 1, high)
    for text, mono in behind:
        canvas.label(x, middle, text, size=size, mono=mono, quiet=text is bar.name)
        x += canvas.length(text, size, mono=mono) + 7


def _short(value: int) -> str:
    """A count of elements as `512`, `64 Ki` or `16 Mi`."""
    for unit, name in ((1 << 20, "Mi"), (1 << 10, "Ki")):
        if value % unit == 0 and value >= unit:
            return f"{value // unit} {name}"
    return f"{value:,}"


def _line(
    canvas: Canvas, points: Sequence[tuple[float, float]], colour: str, width: float, *, dashed: bool = False
) -> None:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    across, down = zip(*points, strict=True)
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    canvas.embed(
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"{dash}/>',
        (min(across), min(down), max(across), max(down)),
    )
