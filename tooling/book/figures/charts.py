"""Charts of measurements: several series over a logarithmic axis, and bars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

from msgspec import Struct

from tooling.book.figures.canvas import (
    ARROW,
    GRID,
    PAGE,
    PAPER,
    PHONE,
    QUIET,
    TEXT,
    Canvas,
    Ink,
    Sheet,
    Size,
    measured,
)
from tooling.text import Sentence, Text

_Name = TypeVar("_Name", bound=Sentence | str)

_TICK = 4  # the length of a line at an axis, in pixels
_TITLE_LINE = 9  # the middle of the title of values, at the top
_TITLE = 34  # the height of the title of the vertical axis above a chart
_BAND_NAME = 36  # the height of the names of bands above a chart
_TO_BAND_NAME = 12  # from the upper end of the bands to the middle of their names
_TINT = 0.6  # the opacity of every second band
_MARKER = 3.5  # the radius of a point
_RING = 6  # of a ring around points of other series
_DECIMALS = 100  # values below it have one
_CLEAR = 8  # how far a line may rise below a value without touching it
_NEXT_TO_POINT = 13  # from a point to the name of its series
_ABOVE_POINT = 16  # from a point to the middle of its value
_ASIDE_POINT = (-4, -15)  # from there to the end and the middle of a value on the left
_ASIDE_CLOSE = (3, -17)  # the same where points are so close that it would be above the value before it
_CLOSE = 40  # from a point to the next one
_OVER_END, _UNDER_END = 15, 20  # from the last point to the middle of what is written above or below it
_BANDED = 24  # how much higher a narrow chart with bands is, whose last values are below a line
_BELOW_TITLE = 19  # from there to the bars
_BAR_HEADING = 24  # the height of a heading above bars
_ROWS_SPACING = 14  # between the bars of two rows
_PAST_BARS = 4  # how far the line of zero, and that of a limit, reaches beyond the bars
_NEXT_TO_BARS = 10  # from the longest name to the bars
_MOST_NEXT_TO = 1 / 3  # of a narrow screen for names next to bars; longer ones are above them
_OVER_BAR = 20  # the height of a name above its bar
_TO_NAME = 10  # from the bar to its middle
_NEXT_TO_ZERO = 8  # from the line of zero to a name above its bar
_GROUPS_SPACING = 18  # more, before the heading of a further group of such bars
_AFTER_NAMED = 9  # from a bar with its name above it to the next name
_NAME_ABOVE = 24  # the height of a name above cells
_KEY_LINE = 24  # from a line of a legend to the next
_NEXT_TO_LINE = 6  # from a line to what is written next to it
_NAME_LINE = 16  # from a line of the name of a series to the next
_INSET = 22  # from a vertical axis to the first point, whose value is clear of the ticks
_NEXT_TO_AXIS = 6  # from the labels of ticks to a vertical axis
_TICKS_SPACING = 9  # from the left edge to an axis, without the labels of its ticks


class Series(Struct, frozen=True):
    """Points of one kind.

    Attributes:
        name: code as a plain string, or a description.
        points: y by x.
        ink: of the line and the dots.
        named: the x of the point next to which the name is.
        corner: on which side of this point: -1 or 1 to the left or right, or 0 at the right end of the chart;
            and lines above (negative) or below.
        end: what is written at the last point.
        end_below: it is below the point instead of above it.
        values: each point has its value above it.
        limit: no measurement but a bound, a dashed line without points, and x values are missing.
        span: the first and the last x that the name is about; it is below a bracket under their points.
        folded: the name has two lines.
        ring: its points are rings, which show around those of other series where they coincide.
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
    ring: bool = False


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
        series: the horizontal axis has every x value of one that is no limit.
        axis: the vertical one.
        title: of the horizontal axis.
        bands: from left to right; the last one extends to the right edge.
        every: on a narrow screen only each n-th x value has a label.
        narrow: for narrow screens.
    """
    small = Size.SMALL if narrow else Size.LABEL
    left = _TICKS_SPACING + math.ceil(max(measured(f"{tick:,g}", small) for tick in axis.ticks))
    wide, high = (PHONE - 1 - left, 230 + (_BANDED if bands else 0)) if narrow else (PAGE - 1 - left, 270)
    top = _TITLE + (_BAND_NAME if bands else 0)
    values = sorted({x for each in series if not each.limit for x in each.points})
    first, last = math.log2(values[0]), math.log2(values[-1])
    end = max(14, math.ceil(measured(_short(values[-1]), small) / 2) + 1)  # room for half of the last label
    canvas = sheet(PHONE if narrow else PAGE, top + high + 46)

    def to_pixels(x: float, y: float) -> tuple[float, float]:
        across = (math.log2(x) - first) / (last - first)
        return left + _INSET + (wide - _INSET - end) * across, top + high * (1 - axis.share(y))

    ends = [to_pixels(band.last, axis.ticks[0])[0] for band in bands[:-1]]
    edges = [float(left), *ends, float(left + wide)]
    _draw_bands(canvas, bands, edges, (top, top + high), small)
    _draw_axis(canvas, axis, (left, top, wide, high), small)
    for index, value in enumerate(values):
        x, bottom = to_pixels(value, axis.ticks[0])[0], top + high
        _line(canvas, [(x, bottom), (x, bottom + _TICK)], ARROW, 1)
        if not narrow or index % every == 0:
            canvas.label(x, bottom + 14, _short(value), "middle", size=small, quiet=True)
    canvas.label(left + wide / 2, top + high + 36, title, "middle", size=Size.LABEL, quiet=True)
    for each in sorted(series, key=lambda each: not each.limit):  # curves cover the limits
        points = [to_pixels(x, y) for x, y in sorted(each.points.items())]
        _line(canvas, points, line_colour(each.ink), 1.5 if each.limit else 2, dashed=each.limit)
    measurements = [each for each in series if not each.limit]
    for each in sorted(measurements, key=lambda each: not each.ring):
        for point in each.points.items():
            _draw_point(canvas, to_pixels(*point), each)
    for each in series:
        if each.values:
            _values(canvas, each, [to_pixels(*point) for point in sorted(each.points.items())], small)
        if each.span:
            _bracket(canvas, each, [to_pixels(x, each.points[x]) for x in each.span], small)
        else:
            _name(canvas, each, to_pixels(each.named, each.points[each.named]), left + wide, small)
        if each.end:
            x, y = to_pixels(values[-1], each.points[values[-1]])
            colour = line_colour(each.ink)
            aside = y + (_UNDER_END if each.end_below else -_OVER_END)
            canvas.label(x + _RING, aside, each.end, "end", size=small, colour=colour, bold=True)
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
                f'fill="{GRID}" fill-opacity="{_TINT:g}"/>',
                (left, above, right, bottom),
            )
        canvas.label((left + right) / 2, above + _TO_BAND_NAME, band.name, "middle", size=size, quiet=True)


def _draw_axis(canvas: Canvas, axis: Axis, field: tuple[float, float, float, float], size: Size) -> None:
    """The vertical axis at the left of a field: its title, its ticks across it, and those between them."""
    left, top, wide, high = field

    def height(value: float) -> float:
        return top + high * (1 - axis.share(value))

    canvas.label(1, _TITLE_LINE, axis.title, size=Size.LABEL, quiet=True)
    for tick in axis.ticks:
        _line(canvas, [(left, height(tick)), (left + wide, height(tick))], GRID, 1)
        canvas.label(left - _NEXT_TO_AXIS, height(tick), f"{tick:,g}", "end", size=size, quiet=True)
    if axis.logarithmic:
        _line(canvas, [(left, top), (left, top + high)], ARROW, 1)
    for low, high_tick in pairwise(axis.ticks if axis.logarithmic else ()):
        for factor in range(2, round(high_tick / low)):
            y = height(low * factor)
            _line(canvas, [(left, y), (left + _TICK, y)], ARROW, 1)


def _name(canvas: Canvas, series: Series, at: tuple[float, float], right: float, size: Size) -> None:
    """The name of a series next to a point of it, or at the right end of the chart."""
    across, down = series.corner
    x = at[0] + _NEXT_TO_POINT * across if across else right
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
            colour=line_colour(series.ink),
            mono=isinstance(series.name, str),
            bold=True,
        )


def _folded(text: str) -> tuple[str, str]:
    """A text in two lines, the longer one as short as possible; a number is in one line with its unit."""
    words = text.split(" ")
    counts = [count for count in range(1, len(words)) if not words[count - 1][-1].isdigit()]
    divided = [(" ".join(words[:count]), " ".join(words[count:])) for count in counts]
    return min(divided, key=lambda lines: max(map(len, lines)), default=(text, ""))


def _bracket(canvas: Canvas, series: Series, ends: Sequence[tuple[float, float]], size: Size) -> None:
    """A bracket below the points from one end to the other, with the name of the series below it."""
    (first, _), (last, _) = ends
    y = max(y for _, y in ends) + 20
    colour = line_colour(series.ink)
    _line(canvas, [(first, y - 6), (first, y), (last, y), (last, y - 6)], colour, 1.5)
    x = max((first + last) / 2, first - 6 + canvas.length(series.name, size) / 2)
    canvas.label(x, y + 14, series.name, "middle", size=size, colour=colour, bold=True)


def _values(canvas: Canvas, series: Series, points: Sequence[tuple[float, float]], size: Size) -> None:
    """The values of a series, above its points; on their left where the line rises steeply from them.

    The lines of ticks are interrupted there, and a halo keeps curves away.
    """
    values = [value for _, value in sorted(series.points.items())]
    (first, _), (second, _), *_ = points
    aside = _ASIDE_CLOSE if second - first < _CLOSE else _ASIDE_POINT
    for index, ((x, y), value) in enumerate(zip(points, values, strict=True)):
        text = f"{value:.1f}" if value < _DECIMALS else f"{value:.0f}"
        wide = canvas.length(text, size)
        steep = index == len(points) - 1
        if not steep:
            right, above = points[index + 1]
            steep = wide / 2 * (y - above) / (right - x) > _CLEAR
        across, down = aside if steep else (0, -_ABOVE_POINT)
        left = x + across - (wide if steep else wide / 2)
        canvas.ground(round(left) - 2, round(y + down) - 7, math.ceil(wide) + 4, 15)
        canvas.label(x + across, y + down, text, "end" if steep else "middle", size=size, halo=True)


def _draw_point(canvas: Canvas, at: tuple[float, float], series: Series) -> None:
    """A point of a curve: a disk or a ring."""
    line = line_colour(series.ink)
    radius, fill = (_RING, PAPER) if series.ring else (_MARKER, line)
    (x, y), reach = at, radius + 1
    canvas.embed(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" '
        f'fill="{fill}" stroke="{line}" stroke-width="1.5"/>',
        (x - reach, y - reach, x + reach, y + reach),
    )


def line_colour(ink: Ink) -> str:
    """The colour of a curve and of its name, which is readable on the page."""
    return {Ink.SPARE: TEXT, Ink.PLAIN: QUIET}.get(ink, ink.line)


class Bar(Struct, frozen=True):
    """One bar.

    Attributes:
        value: its length in the unit of the chart.
        text: the value as it is written behind the bar.
        ink: its colour.
        name: what it is, at its left, if the bars of a row are several.
    """

    value: float
    text: Text | str
    ink: Ink
    name: Text | str = ""


class Limit(Struct, frozen=True):
    """A value with which bars are compared, a line across all of them, with its name above them."""

    value: float
    name: Sentence | str


class _Field(Struct, frozen=True):
    """Where the bars are.

    Attributes:
        left: where they begin.
        scale: pixels of a unit.
        lines: the x of each limit.
        high: the height of a bar.
        above: the height of the name above a bar; 0 if names are next to the bars.
        pitch: from a bar to the next one of the same row.
    """

    left: float
    scale: float
    lines: Sequence[float]
    high: int
    above: int
    pitch: int


def draw_bars(
    sheet: Sheet,
    rows: Mapping[_Name, Sequence[Bar]],
    title: Sentence | str,
    *,
    limits: Sequence[Limit] = (),
    narrow: bool = False,
) -> Canvas:
    """Draws bars for each name, on one linear scale from zero, as wide as the text.

    Args:
        sheet: creates the canvas of a width and height.
        rows: the bars of each name, from top to bottom. The name of a row is next to its bar; if bars have
            names, these are next to them, and the name of a row is the heading above its bars. On narrow
            screens, long names are above their bars.
        title: what the values are, with their unit, above the bars.
        limits: lines that are named above the bars, too.
        narrow: for narrow screens.
    """
    size = Size.LABEL if narrow else Size.VALUE
    canvas = sheet(PHONE if narrow else PAGE, 0)
    headed = any(bar.name for bars in rows.values() for bar in bars)
    field = _field(canvas, rows, limits, size)
    canvas.label(1, _TITLE_LINE, title, size=Size.LABEL, quiet=True)
    y = top = _TITLE_LINE + _BELOW_TITLE
    spacing = _ROWS_SPACING + (_GROUPS_SPACING if headed and field.above else 0)
    spans = []  # where the first bar of each row begins, and its last one ends
    for bars in rows.values():
        first = y + (_BAR_HEADING if headed else 0) + field.above
        end = first + (len(bars) - 1) * field.pitch + field.high
        spans.append((first, end))
        y = end + spacing
    bottom = y - spacing + _PAST_BARS
    canvas.height = bottom + 1
    _draw_limits(canvas, limits, field, (_TITLE_LINE + 10, bottom))
    for (name, bars), (first, _) in zip(rows.items(), spans, strict=True):
        if headed:
            heading = first - field.above - _BAR_HEADING / 2 - 4
            canvas.label(1, heading, name, bold=True, mono=isinstance(name, str), size=size)
        for index, bar in enumerate(bars):
            level, label = first + index * field.pitch, bar.name or name
            middle = level - _TO_NAME if field.above else level + field.high / 2
            x, letters = 1 + (_NEXT_TO_ZERO if field.above else 0), Size.LABEL if headed else size
            canvas.label(x, middle, label, mono=isinstance(label, str), size=letters)
            _draw_bar(canvas, bar, field, level)
    lines = [(top - _PAST_BARS, bottom)]
    if headed and field.above:  # not through the headings
        lines = [(first - field.above, end + _PAST_BARS) for first, end in spans]
    for start, end in lines:
        _line(canvas, [(field.left, start), (field.left, end)], TEXT, 1)
    return canvas


def _field(
    canvas: Canvas, rows: Mapping[_Name, Sequence[Bar]], limits: Sequence[Limit], size: Size
) -> _Field:
    """Where the bars are if their values and the limits reach the right edge of the canvas."""
    bars = [bar for row in rows.values() for bar in row]
    names = [bar.name for bar in bars if bar.name]
    label_size = Size.LABEL if names else size
    labels = [canvas.length(name, label_size, mono=isinstance(name, str)) for name in names or rows]
    headings = [canvas.length(name, size, mono=isinstance(name, str)) for name in rows if names]
    left = math.ceil(1 + max(labels + headings) + _NEXT_TO_BARS)
    narrow = canvas.width == PHONE
    named = narrow and left > _MOST_NEXT_TO * PHONE
    left = 1 if named else left
    whole = canvas.width - 1 - left
    scales = [(whole - _NEXT_TO_LINE - canvas.length(bar.text, Size.LABEL)) / bar.value for bar in bars]
    scale = min(*scales, *(whole / limit.value for limit in limits))
    lines = [left + limit.value * scale for limit in limits]
    high, above = 20 if narrow else 22, _OVER_BAR if named else 0
    return _Field(left, scale, lines, high, above, high + (above + _AFTER_NAMED if named else 4))


def _draw_limits(canvas: Canvas, limits: Sequence[Limit], field: _Field, levels: tuple[float, float]) -> None:
    """The lines of limits with their names, which end at the right edge of the canvas."""
    top, bottom = levels
    for x, limit in zip(field.lines, limits, strict=True):
        at = min(x, canvas.width - 1 - canvas.length(limit.name, Size.LABEL) / 2)
        canvas.label(at, _TITLE_LINE, limit.name, "middle", size=Size.LABEL)
        _line(canvas, [(x, top), (x, bottom)], TEXT, 1.5)


def _draw_bar(canvas: Canvas, bar: Bar, field: _Field, top: float) -> None:
    """A bar with its value, clear of the lines of limits, and the lines that it passes."""
    length = bar.value * field.scale
    fill, border = bar.ink.fill, bar.ink.line
    if bar.ink is Ink.SPARE:  # the fill of cells would hardly differ from the page
        fill, border = border, ARROW
    dash = ' stroke-dasharray="5 4"' if bar.ink is Ink.FRAME else ""
    canvas.embed(
        f'<rect x="{field.left:g}" y="{top:g}" width="{length:.1f}" height="{field.high}" '
        f'fill="{fill}" stroke="{border}"{dash}/>',
        (field.left, top, field.left + length, top + field.high),
    )
    for line in field.lines:
        if line < field.left + length:
            _line(canvas, [(line, top), (line, top + field.high)], bar.ink.text, 1.5)
    x = field.left + length + _NEXT_TO_LINE
    end = x + canvas.length(bar.text, Size.LABEL) + _NEXT_TO_LINE
    x = max([x, *(line + _NEXT_TO_LINE for line in field.lines if x - _NEXT_TO_LINE < line < end)])
    canvas.label(x, top + field.high / 2, bar.text, size=Size.LABEL)


def draw_counts(
    sheet: Sheet, rows: Mapping[_Name, Sequence[Ink]], *, key: Sequence[tuple[Ink, Text]] = (), narrow: bool
) -> Canvas:
    """Draws a row of cells for each name, as many as there are inks, with their number behind them.

    Args:
        sheet: creates the canvas of a width and height.
        rows: the colours of the cells of each name, from top to bottom.
        key: what the colours mean, below the rows.
        narrow: for narrow screens, with names above their cells.
    """
    canvas = sheet(PHONE if narrow else PAGE, 0)
    most = max(map(len, rows.values()))
    behind = _NEXT_TO_LINE + canvas.length(str(most), Size.LABEL)
    right = canvas.width - 1 - behind
    side = int((right - (1 if narrow else canvas.names_end(list(rows)))) / most)
    left = 1 if narrow else round(right - most * side)
    above = _NAME_ABOVE if narrow else 0
    pitch = above + side + _ROWS_SPACING
    for row, (name, inks) in enumerate(rows.items()):
        top = above + row * pitch
        middle = top + side / 2
        canvas.label(1, top - _NAME_ABOVE / 2 if narrow else middle, name, mono=isinstance(name, str))
        for column, ink in enumerate(inks):
            canvas.cell(left + column * side, top, side, side, ink=ink)
        canvas.label(left + len(inks) * side + _NEXT_TO_LINE, middle, str(len(inks)), size=Size.LABEL)
    canvas.height = len(rows) * pitch
    if key:
        canvas.legend(left, canvas.height + 12, *key, across=1 if narrow else None)
        canvas.height += 22 + (_KEY_LINE * (len(key) - 1) if narrow else 0)
    return canvas


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
