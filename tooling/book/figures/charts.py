"""Charts of measurements: several series over a logarithmic axis, and bars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

from msgspec import Struct

from tooling.book.figures.canvas import PAGE, PHONE, Canvas, Ink, Sheet, Size, measured
from tooling.text import Sentence, Text

_Name = TypeVar("_Name", bound=Sentence | str)

_TICK = 4  # the length of a line at an axis, in pixels
_TITLE = 34  # the height of the title of the vertical axis above a chart
_BAND_NAME = 36  # the height of the names of bands above a chart
_TO_BAND_NAME = 12  # from the upper end of the bands to the middle of their names
_TINT = 0.6  # the opacity of every second band
_MARKER = 4.5  # the radius of a point
_SAME = 3  # points that are closer cannot be told apart, in pixels
_DECIMALS = 100  # values below it have one
_CLEAR = 8  # how far a line may rise below a value without touching it
_LIMITS = 44  # the room above bars for the names and values of limits
_LIMITS_APART = 10  # between their names
_AXIS = 42  # the height of an axis below bars
_PAST_END = 1.05  # how far a bar may pass the end of the axis: a kernel may be a little faster than a copy
_BREAK = 0.1  # the part of a drawing's width between the end of a broken axis and the limit beyond it
_APART = 14  # between the labels on both sides of the break
_SLASH = 5  # half the height of the two strokes that break an axis
_BESIDE_LINE = 6  # from a line to what is written beside it
_NAME_LINE = 16  # from a line of the name of a series to the next
_INSET = 22  # from a vertical axis to the first point, whose value is clear of the ticks
_BESIDE_AXIS = 6  # from the labels of ticks to a vertical axis
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
        end: what is written at the last point.
        end_below: it is below the point instead of above it.
        values: each point has its value above it.
        limit: no measurement but a bound, a dashed line without points, and x values are missing.
        span: the first and the last x that the name is about; it is below a bracket under their points.
        folded: the name has two lines.
    """

    name: Text | str
    points: Mapping[int, float]
    ink: Ink
    named: int
    corner: tuple[int, int]
    end: Text | str = ""
    end_below: bool = False
    values: bool = False
    limit: bool = False
    span: tuple[int, int] | None = None
    folded: bool = False


class Band(Struct, frozen=True):
    """A range of x values from the band before it on: its name and its end; every second one has a tint."""

    name: Text | str
    last: float


class Axis(Struct, frozen=True):
    """An axis of values.

    Attributes:
        title: with the unit.
        ticks: the values with a label, the first and the last one at the ends of the axis.
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
    bands: Sequence[Band] = (),
    every: int = 1,
    narrow: bool = False,
) -> Canvas:
    """Draws the series over a horizontal axis with powers of two.

    Args:
        sheet: creates the canvas of a width and height.
        series: all with the same x values; a limit may lack some, and is not the first one. Where points
            cannot be told apart, that of the last series is drawn.
        axis: the vertical one.
        title: of the horizontal axis.
        bands: from left to right; the last one extends to the right edge.
        every: on a narrow screen only each n-th x value has a label.
        narrow: for narrow screens.
    """
    small = Size.SMALL if narrow else Size.LABEL
    left = _TICKS_APART + math.ceil(max(measured(f"{tick:,g}", small) for tick in axis.ticks))
    wide, high = (PHONE - 1 - left, 230) if narrow else (PAGE - 1 - left, 270)
    top = _TITLE + (_BAND_NAME if bands else 0)
    values = sorted(series[0].points)
    first, last = math.log2(values[0]), math.log2(values[-1])
    end = max(14, math.ceil(measured(_short(values[-1]), small) / 2) + 1)  # room for half of the last label
    canvas = sheet(PHONE if narrow else PAGE, top + high + 46)

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log2(x) - first) / (last - first)
        return left + _INSET + (wide - _INSET - end) * across, top + high * (1 - axis.share(y))

    ends = [place(band.last, axis.ticks[0])[0] for band in bands[:-1]]
    edges = [float(left), *ends, float(left + wide)]
    _draw_bands(canvas, bands, edges, (top, top + high), small)
    _draw_axis(canvas, axis, (left, top, wide, high), small)
    for index, value in enumerate(values):
        x, bottom = place(value, axis.ticks[0])[0], top + high
        _line(canvas, [(x, bottom), (x, bottom + _TICK)], canvas.shade.arrow, 1)
        if not narrow or index % every == 0:
            canvas.label(x, bottom + 14, _short(value), "middle", size=small, quiet=True)
    canvas.label(left + wide / 2, top + high + 36, title, "middle", size=Size.LABEL, quiet=True)
    for each in sorted(series, key=lambda each: not each.limit):  # curves cover the limits
        points = [place(x, y) for x, y in sorted(each.points.items())]
        _line(canvas, points, line_colour(canvas, each.ink), 1.5 if each.limit else 2, dashed=each.limit)
    measurements = [each for each in series if not each.limit]
    for number, each in enumerate(measurements, 1):
        for x, y in each.points.items():
            above = [place(x, other.points[x]) for other in measurements[number:]]
            if all(math.dist(place(x, y), other) > _SAME for other in above):
                _draw_point(canvas, place(x, y), each.ink)
    for each in series:
        if each.values:
            _values(canvas, each, [place(*point) for point in sorted(each.points.items())], small)
        if each.span:
            _bracket(canvas, each, [place(x, each.points[x]) for x in each.span], small)
        else:
            _name(canvas, each, place(each.named, each.points[each.named]), left + wide, small)
        if each.end:
            x, y = place(values[-1], each.points[values[-1]])
            colour = line_colour(canvas, each.ink)
            aside = y + (16 if each.end_below else -16)
            canvas.label(x + 6, aside, each.end, "end", size=small, colour=colour, bold=True)
    return canvas


def _draw_bands(
    canvas: Canvas, bands: Sequence[Band], edges: Sequence[float], levels: tuple[float, float], size: Size
) -> None:
    """The tints of bands between their edges, with their names above the field of the curves."""
    top, bottom = levels
    for number, (band, (left, right)) in enumerate(zip(bands, pairwise(edges), strict=False)):
        above = top - _BAND_NAME
        if number % 2:
            canvas.embed(
                f'<rect x="{left:.1f}" y="{above}" width="{right - left:.1f}" height="{bottom - above}" '
                f'fill="{canvas.shade.grid}" fill-opacity="{_TINT:g}"/>',
                (left, above, right, bottom),
            )
        canvas.label((left + right) / 2, above + _TO_BAND_NAME, band.name, "middle", size=size, quiet=True)


def _draw_axis(canvas: Canvas, axis: Axis, field: tuple[float, float, float, float], size: Size) -> None:
    """The vertical axis at the left of a field: its title, its ticks with labels, and those between them."""
    left, top, wide, high = field

    def height(value: float) -> float:
        return top + high * (1 - axis.share(value))

    canvas.label(1, 12, axis.title, size=Size.LABEL, quiet=True)
    for tick in axis.ticks:
        _line(canvas, [(left, height(tick)), (left + wide, height(tick))], canvas.shade.grid, 1)
        canvas.label(left - _BESIDE_AXIS, height(tick), f"{tick:,g}", "end", size=size, quiet=True)
    for low, high_tick in pairwise(axis.ticks if axis.logarithmic else ()):
        for factor in range(2, round(high_tick / low)):
            y = height(low * factor)
            _line(canvas, [(left, y), (left + _TICK, y)], canvas.shade.arrow, 1)


def _name(canvas: Canvas, series: Series, at: tuple[float, float], right: float, size: Size) -> None:
    """The name of a series beside a point of it, or at the right end of the chart."""
    across, down = series.corner
    x = at[0] + 11 * across if across else right
    y = at[1] + 10 * down
    lines = [series.name]
    if series.folded:
        lines = list(_folded(canvas.say(series.name)))
        y -= _NAME_LINE if down < 0 else 0
    for number, text in enumerate(lines):
        canvas.label(
            x,
            y + number * _NAME_LINE,
            text,
            "start" if across > 0 else "end",
            size=size,
            colour=line_colour(canvas, series.ink),
            mono=isinstance(series.name, str),
            bold=True,
        )


def _folded(text: str) -> tuple[str, str]:
    """A text in two lines, divided at the blank that makes the longer one as short as possible."""
    words = text.split(" ")
    divided = [(" ".join(words[:count]), " ".join(words[count:])) for count in range(1, len(words))]
    return min(divided, key=lambda lines: max(map(len, lines)), default=(text, ""))


def _bracket(canvas: Canvas, series: Series, ends: Sequence[tuple[float, float]], size: Size) -> None:
    """A bracket below the points from one end to the other, with the name of the series below it."""
    (first, _), (last, _) = ends
    y = max(y for _, y in ends) + 20
    colour = line_colour(canvas, series.ink)
    _line(canvas, [(first, y - 6), (first, y), (last, y), (last, y - 6)], colour, 1.5)
    x = max((first + last) / 2, first - 6 + canvas.length(series.name, size) / 2)
    canvas.label(x, y + 14, series.name, "middle", size=size, colour=colour, bold=True)


def _values(canvas: Canvas, series: Series, points: Sequence[tuple[float, float]], size: Size) -> None:
    """The values of a series, above its points; on their left where the line rises steeply from them.

    A halo keeps the lines of ticks away from them.
    """
    values = [value for _, value in sorted(series.points.items())]
    beside = False  # the value before is on the left of its point, too: there is room at the same height
    for index, ((x, y), value) in enumerate(zip(points, values, strict=True)):
        text = f"{value:.1f}" if value < _DECIMALS else f"{value:.0f}"
        steep = index == len(points) - 1
        if not steep:
            right, above = points[index + 1]
            half = canvas.length(text, size) / 2
            steep = half * (y - above) / (right - x) > _CLEAR
        at = (x - 8, y - 7) if steep and beside else (x - 3 if steep else x, y - 14)
        canvas.label(*at, text, "end" if steep else "middle", size=size, halo=True)
        beside = steep


def _draw_point(canvas: Canvas, at: tuple[float, float], ink: Ink) -> None:
    """A point of a curve: a disk for the result, otherwise a circle."""
    line = line_colour(canvas, ink)
    fill = line if ink is Ink.RESULT else canvas.shade.paper
    (x, y), reach = at, _MARKER + 1
    canvas.embed(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_MARKER:g}" '
        f'fill="{fill}" stroke="{line}" stroke-width="1.5"/>',
        (x - reach, y - reach, x + reach, y + reach),
    )


def line_colour(canvas: Canvas, ink: Ink) -> str:
    """The colour of a curve and of its name, which is readable on the page."""
    quiet = {Ink.SPARE: canvas.shade.text, Ink.PLAIN: canvas.shade.quiet}
    return quiet.get(ink) or canvas.shade.marks[ink][1]


class Bar(Struct, frozen=True):
    """One bar.

    Attributes:
        value: its length in the unit of the axis.
        text: the value as it is written behind the bar.
        ink: its colour.
        name: what it is, written in the bar if it fits, and otherwise behind the value.
    """

    value: float
    text: Text | str
    ink: Ink
    name: Text | str = ""


class Limit(Struct, frozen=True):
    """A value with which bars are compared, a line across all of them.

    Attributes:
        value: in the unit of the axis.
        name: what it is.
        text: the value as it is written below the name.
        beyond: the axis ends far below it and is broken, and the line is near the right edge.
    """

    value: float
    name: Text | str
    text: Text | str
    beyond: bool = False

    def length(self, canvas: Canvas) -> float:
        """How wide what is written above the line is at most, in pixels."""
        return max(canvas.length(text, Size.LABEL) for text in (self.name, self.text))


class _Field(Struct, frozen=True):
    """Where the bars are.

    Attributes:
        left, right: the ends of the horizontal axis, without what is behind a break.
        names_apart: the names of bars are at the left of the axis, and otherwise in the bars or behind.
        scale: pixels of a unit.
        lines: the x of each limit.
        high: the height of a bar.
    """

    left: float
    right: float
    names_apart: bool
    scale: float
    lines: Sequence[float]
    high: int


def draw_bars(
    sheet: Sheet,
    rows: Mapping[_Name, Sequence[Bar]],
    axis: Axis,
    *,
    key: Sequence[tuple[Ink, Text]] = (),
    limits: Sequence[Limit] = (),
    names_apart: bool = False,
    narrow: bool = False,
) -> Canvas:
    """Draws bars for each name, on one linear scale, as wide as the text.

    Args:
        sheet: creates the canvas of a width and height.
        rows: the bars of each name, the same number for all, from top to bottom.
        axis: the horizontal one; it begins at zero.
        key: what the colours mean, in a line below the bars.
        limits: lines that are named above the bars.
        names_apart: the names of bars are at their left, and those of rows above them.
        narrow: for narrow screens.
    """
    size = Size.LABEL if narrow else Size.VALUE
    canvas = sheet(PHONE if narrow else PAGE, 0)
    above = 22 if names_apart else 0  # of a row's name, which otherwise is beside its bars
    field = _field(canvas, rows, axis, limits, size, names_apart=names_apart)
    each = max(map(len, rows.values()))
    step = each * (field.high + 4) + 14 + above
    top = _LIMITS if limits else 6
    bottom = top + len(rows) * step - 8
    canvas.height = bottom + _AXIS + (28 if key else 1)
    _draw_limits(canvas, limits, field, bottom)
    for line, (name, bars) in enumerate(rows.items()):
        y = top + line * step
        middle = y + 8 if above else y + each * (field.high + 4) / 2 - 2
        canvas.label(1, middle, name, bold=True, mono=isinstance(name, str), size=size)
        for index, bar in enumerate(bars):
            _draw_bar(canvas, bar, field, y + above + index * (field.high + 4))
    _draw_units(canvas, axis, field, bottom)
    for x, limit in zip(field.lines, limits, strict=True):
        if limit.beyond:
            _draw_break(canvas, limit, field.right, x, bottom)
    if key:
        canvas.legend(1 if narrow else field.left, bottom + _AXIS + 18, *key)
    return canvas


def _draw_limits(canvas: Canvas, limits: Sequence[Limit], field: _Field, bottom: float) -> None:
    """The lines of limits with their names, which move to the left where the next one or the edge is."""
    free = canvas.width - 1.0
    for x, limit in reversed(list(zip(field.lines, limits, strict=True))):
        long = limit.length(canvas)
        at = min(x, free - long / 2)
        canvas.label(at, 10, limit.name, "middle", size=Size.LABEL, quiet=True)
        canvas.label(at, 26, limit.text, "middle", size=Size.LABEL)
        _line(canvas, [(x, _LIMITS - 6), (x, bottom)], canvas.shade.text, 1.5)
        free = at - long / 2 - _LIMITS_APART


def _field(
    canvas: Canvas,
    rows: Mapping[_Name, Sequence[Bar]],
    axis: Axis,
    limits: Sequence[Limit],
    size: Size,
    *,
    names_apart: bool,
) -> _Field:
    """Where the bars are if the axis, the values and the limits fill the canvas."""
    bars = [bar for row in rows.values() for bar in row]
    within = [limit for limit in limits if not limit.beyond]
    if names_apart:
        heads = max(canvas.length(bar.name, Size.LABEL, mono=_code(bar)) for bar in bars)
        left = math.ceil(9 + heads)
    else:
        heads = max(canvas.length(name, size, mono=isinstance(name, str)) for name in rows)
        left = math.ceil(11 + heads)
    longest = max([bar.value for bar in bars] + [limit.value for limit in within])
    if longest > axis.ticks[-1] * _PAST_END:
        raise ValueError(f"the axis ends at {axis.ticks[-1]:,g}, before the value {longest:,g}: add a tick")
    numbers = [canvas.length(f"{limit.value:,g}", Size.LABEL) for limit in limits if limit.beyond]
    names = [limit.length(canvas) for limit in limits if limit.beyond]
    # A narrow screen has room for half of the number at the right of its line, but not for half of the name.
    edge = canvas.width - 1 - max(numbers if canvas.width == PHONE else names, default=0) / 2
    whole = edge - left
    # The name of a bar that is too short for it is behind its value.
    scales = [(whole - 6 - canvas.length(bar.text, Size.LABEL)) / bar.value for bar in bars]
    scales += [(whole - limit.length(canvas) / 2) / limit.value for limit in within]
    half = canvas.length(f"{axis.ticks[-1]:,g}", Size.LABEL) / 2
    behind = max(canvas.width * _BREAK, half + max(numbers) / 2 + _APART) if numbers else half
    scale = min(*scales, (whole - behind) / axis.ticks[-1])
    right = left + axis.ticks[-1] * scale
    lines = [edge if limit.beyond else left + limit.value * scale for limit in limits]
    return _Field(left, right, names_apart, scale, lines, 20 if canvas.width == PHONE else 22)


def _code(bar: Bar) -> bool:
    """Whether the name of a bar is code."""
    return isinstance(bar.name, str)


def _draw_bar(canvas: Canvas, bar: Bar, field: _Field, top: float) -> None:
    """A bar with its value and its name, clear of the lines of limits, and the lines that it passes."""
    middle, size = top + field.high / 2, Size.LABEL
    length = bar.value * field.scale
    canvas.cell(field.left, top, length, field.high, ink=bar.ink)
    inside = field.left + 8
    _, _, colour = canvas.shade.marks[bar.ink]
    for line in field.lines:
        if field.left < line < field.left + length:
            _line(canvas, [(line, top), (line, top + field.high)], colour, 1.5)
    behind = [(bar.text, False)]
    if field.names_apart:
        canvas.label(inside - 16, middle, bar.name, "end", size=size, mono=_code(bar))
    elif canvas.length(bar.name, size, mono=_code(bar)) + 12 > length:
        behind.append((bar.name, _code(bar)))
    elif bar.name:
        canvas.label(inside, middle, bar.name, size=size, mono=_code(bar), colour=colour)
        inside += canvas.length(bar.name, size, mono=_code(bar)) + 8
    x = field.left + length + 6
    for text, mono in behind:
        long = canvas.length(text, size, mono=mono)
        met = [line for line in field.lines if x - _BESIDE_LINE < line < x + long + _BESIDE_LINE]
        end = field.left + length - 8
        if met and text is bar.text and end - long >= inside:
            canvas.label(end, middle, text, "end", size=size, colour=colour)
            continue
        x = max([x, *(line + _BESIDE_LINE for line in met)])
        canvas.label(x, middle, text, size=size, mono=mono, quiet=text is bar.name)
        x += long + 7


def _draw_units(canvas: Canvas, axis: Axis, field: _Field, y: float) -> None:
    """The horizontal axis below the bars, with its ticks and its title."""
    _line(canvas, [(field.left, y), (field.right, y)], canvas.shade.arrow, 1)
    for tick in axis.ticks:
        x = field.left + tick * field.scale
        _line(canvas, [(x, y), (x, y + _TICK)], canvas.shade.arrow, 1)
        canvas.label(x, y + 14, f"{tick:,g}", "middle", size=Size.LABEL, quiet=True)
    half = canvas.length(axis.title, Size.LABEL) / 2
    middle = min((field.left + field.right) / 2, canvas.width - 1 - half)
    canvas.label(middle, y + 33, axis.title, "middle", size=Size.LABEL, quiet=True)


def _draw_break(canvas: Canvas, limit: Limit, start: float, x: float, y: float) -> None:
    """The broken axis from its last tick to a limit beyond it, whose value is below its end."""
    middle = (start + x) / 2
    for left, right in ((start, middle - 3), (middle + 3, x)):
        _line(canvas, [(left, y), (right, y)], canvas.shade.arrow, 1)
    for stroke in (middle - 3, middle + 3):
        _line(canvas, [(stroke - 3, y + _SLASH), (stroke + 3, y - _SLASH)], canvas.shade.arrow, 1.5)
    _line(canvas, [(x, y), (x, y + _TICK)], canvas.shade.arrow, 1)
    canvas.label(x, y + 14, f"{limit.value:,g}", "middle", size=Size.LABEL, quiet=True)


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
