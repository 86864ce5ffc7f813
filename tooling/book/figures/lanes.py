"""Draws what the threads of a warp or a block hold, step by step, and which of them take part in a step."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby

from msgspec import Struct

from tooling.book.figures.canvas import GAP, PAGE, PHONE, Canvas, Ink, Sheet, Size, fitting, measured
from tooling.text import Text

Cells = Mapping[int, tuple[str, Ink]]

WARP = 32  # lanes on NVIDIA GPUs and on the simulated one
_HIGH = 30
_BELOW_ARROWS = 34  # from a row to the next one, where arrows lead there
_BELOW_CURVES, _BY_DISTANCE, _MOST_BELOW = 36, 12, 84  # where some lead to another thread
_STEEP = 1.35  # how much higher such a gap is where threads exchange values
_BELOW_CALL = 56  # where a function stands between the rows
_MOST_NEXT_TO = 88  # of a label next to its row there
_STEP_LINE = 18  # from the name of a step to its value
_ROUND_STEP = 12  # the space above and below both of them, where the arrows are short
_BARRIER = 20  # the height of a barrier with the space around it
_BELOW = 9  # where the values stay
_NEXT_TO_LABEL = 24  # from a label above its row to the arrows that lead past it
_OUTLINE = 1.5  # of values that the text points out
_INSIDE_OUTLINE = 3  # from such an outline to its value, at each side
_HEADS_SPACING = 8  # where several arrows lead to one thread
_LABEL_ABOVE, _OVER_LANES = 31, 10  # the height of a label above its lanes; from them to its middle
_WARPS = 45  # the height of the names of warps, with the numbers below them
_HEAD = 20  # of a line of these numbers
_BETWEEN_WARPS, _BETWEEN_NARROW = 18, 10  # pixels, the latter on a narrow screen


class Row(Struct, frozen=True):
    """What the threads hold at one moment.

    Attributes:
        label: code as a plain string, or a description.
        cells: the value of each thread and its ink; a thread without one is not drawn.
        arrows: from a thread of the row above to a thread of this one.
        marked: those arrows that the text points out.
        dashed: the values stay as they are; the arrows are drawn as dashed lines.
        call: a function of the warp or block that makes this row from the one above, instead of arrows.
        separate: each column has a call of its own.
        short: the label on narrow screens, where a long one would be above the row.
        step: on narrow screens, what stands next to the arrows instead of a label next to the row.
        barrier: the threads wait at one between the row above and the arrows to this one.
        reached: the threads whose values the text points out.
    """

    label: Text | str
    cells: Cells
    arrows: tuple[tuple[int, int], ...] = ()
    marked: Collection[tuple[int, int]] = ()
    dashed: bool = False
    call: str = ""
    separate: bool = False
    short: Text | str = ""
    step: str = ""
    barrier: bool = False
    reached: Collection[int] = ()


class Step(Struct, frozen=True):
    """An instruction of a warp, or a stage of a block.

    Attributes:
        label: code as a plain string, or a description.
        active: the lanes or threads that take part.
        remark: what is shown behind them.
    """

    label: Text | str
    active: Collection[int]
    remark: Text | str


def cells(values: Mapping[int, str], ink: Ink, other: Mapping[int, Ink] | None = None) -> Cells:
    """Cells of one ink, with exceptions."""
    return {key: (text, (other or {}).get(key, ink)) for key, text in values.items()}


class _Layout(Struct, frozen=True):
    """Where `draw_rows` draws.

    Attributes:
        at: the left edge of the column of each thread.
        dots: between columns, where some are left out.
        left, right: the edges of all columns.
        side, high: the size of a cell, with the space around it.
        above: the height of the label above each row; 0 if the labels are next to the rows.
        narrow: for narrow screens.
    """

    at: Mapping[int, float]
    dots: Sequence[float]
    left: float
    right: float
    side: float
    high: int
    above: int
    narrow: bool

    def middle(self, thread: int) -> float:
        return self.at[thread] + self.side / 2

    def across(self, first: int, last: int | None = None) -> tuple[float, float]:
        """The left edge and the width of a box, as wide as the cells of one thread or of several."""
        end = self.at[first if last is None else last] + self.side
        return self.at[first] + GAP / 2, end - self.at[first] - GAP


def draw_rows(
    sheet: Sheet,
    rows: Sequence[Row],
    columns: Sequence[int | None],
    title: Text | str,
    *,
    steps: Text | None = None,
    warp: int | None = None,
    narrow: bool = False,
) -> Canvas:
    """The threads side by side, their values one below the other, as wide as the text.

    Args:
        sheet: creates the canvas of a width and height.
        rows: from top to bottom.
        columns: the numbers of the threads; None leaves a gap with dots.
        title: what the numbers above the columns are.
        steps: what the steps of the rows are, on a narrow screen.
        warp: how many threads a warp has, if the columns are of two: their names and lanes are above them.
        narrow: for narrow screens.
    """
    canvas = sheet(0, 0)
    layout = _layout(canvas, rows, columns, title, steps=steps, warp=warp, narrow=narrow)
    tops = [(56 if layout.above else 26) + (_WARPS if warp else 0)]
    for row in rows[1:]:
        tops.append(tops[-1] + layout.high + _gap(row, layout) + layout.above)
    canvas.width, canvas.height = round(layout.right) + 1, tops[-1] + layout.high + 2
    if warp:
        _draw_warps(canvas, layout, warp)
    _draw_head(canvas, layout, title, _WARPS - _HEAD if warp else 0)
    if narrow and steps:
        _draw_names_of_steps(canvas, layout, steps, rows, tops)
    longest = max(len(text) for row in rows for text, _ in row.cells.values())
    letters = Size.LABEL if narrow else Size.VALUE
    if narrow and longest * letters * 0.6 > layout.side - 11:
        letters = Size.SMALL
        room = layout.side - GAP - 2 * _INSIDE_OUTLINE
        if any(row.reached for row in rows) and longest * letters * 0.6 > room:
            letters = Size.LANE
    for row, top in zip(rows, tops, strict=True):
        _draw_label(canvas, layout, row, top, narrow=narrow)
        for column, (text, ink) in row.cells.items():
            if column in layout.at:
                left, wide = layout.across(column)
                canvas.cell(left, top, wide, layout.high, text, ink=ink, size=letters)
                if column in row.reached:
                    canvas.frame(left, top, wide, layout.high, corner=4, ink=Ink.MARK, line=_OUTLINE)
        for dot in layout.dots:
            if any(layout.at[column] > dot for column in row.cells if column in layout.at):
                canvas.label(dot, top + layout.high / 2, "…", "middle", quiet=True)
        _draw_ways(canvas, layout, row, top)
    return canvas


def _layout(
    canvas: Canvas,
    rows: Sequence[Row],
    columns: Sequence[int | None],
    title: Text | str,
    *,
    steps: Text | None,
    warp: int | None,
    narrow: bool,
) -> _Layout:
    """Where everything is next to the longest label; the columns reach to the right edge of the text."""
    letters = Size.LABEL if narrow else Size.VALUE
    labels = [(row.short if narrow else "") or row.label for row in rows if not (narrow and row.step)]
    widest = max(canvas.length(label, letters, mono=isinstance(label, str)) for label in labels)
    widest = max(widest, canvas.length(title, Size.LABEL, mono=isinstance(title, str)))
    if narrow:
        said = [text for text in (steps, *(row.step for row in rows)) if text]
        widest = max([widest, *(canvas.length(text, letters) for text in said)])
    in_row = not narrow or widest <= _MOST_NEXT_TO
    left = 0.0 if not in_row else math.ceil(1 + widest + (8 if narrow else 14))
    right = (PHONE if narrow else PAGE) - 1
    count = sum(0.5 if column is None else 1 for column in columns)
    even = 2 if None in columns else 1  # a gap is half as wide
    between = (_BETWEEN_NARROW if narrow else _BETWEEN_WARPS) if warp else 0
    side = even * int((right - left - between) / count / even)
    if left:
        left = right - side * count - between
    at: dict[int, float] = {}
    dots = []
    x = left
    for column in columns:
        if column is None:
            dots.append(x + side / 4)
            x += side / 2
        else:
            if warp and at and column % warp == 0:
                x += between
            at[column] = x
            x += side
    return _Layout(at, dots, left, x, side, 26 if narrow else _HIGH, 0 if in_row else 16, narrow)


def _draw_warps(canvas: Canvas, layout: _Layout, warp: int) -> None:
    """The names of both warps, each with a line over its columns, and the lanes of the threads."""
    lanes = _WARPS + 9
    canvas.label(1, lanes, Text("lane"), size=Size.LABEL, quiet=True)
    for number, threads in groupby(layout.at, key=lambda thread: thread // warp):
        first, *_, last = own = list(threads)
        left, wide = layout.across(first, last)
        canvas.label(left + wide / 2, 8, Text("warp {n}").of(n=number), "middle", size=Size.LABEL)
        canvas.arrow(left, 19, left + wide, 19, head=False)
        for thread in own:
            middle = layout.middle(thread)
            canvas.label(middle, lanes, str(thread % warp), "middle", size=Size.LABEL, quiet=True)


def _draw_head(canvas: Canvas, layout: _Layout, title: Text | str, top: int) -> None:
    """The numbers of the threads, with what they are before them."""
    canvas.label(1, top + 9, title, size=Size.LABEL, quiet=True, mono=isinstance(title, str))
    for column in layout.at:
        middle = layout.middle(column), top + (25 if layout.above else 9)
        canvas.label(*middle, str(column), "middle", size=Size.LABEL, quiet=True)


def _draw_names_of_steps(
    canvas: Canvas, layout: _Layout, name: Text, rows: Sequence[Row], tops: Sequence[int]
) -> None:
    """What the steps are, above each of them, on a narrow screen."""
    for row, top in zip(rows, tops, strict=True):
        if row.step:
            canvas.label(1, top - _gap(row, layout) / 2 - _STEP_LINE / 2, name, size=Size.LABEL, quiet=True)


def _draw_label(canvas: Canvas, layout: _Layout, row: Row, top: int, *, narrow: bool) -> None:
    """The label of a row: next to it, above it, or next to the arrows that lead there."""
    label, size = (row.short or row.label, Size.LABEL) if narrow else (row.label, Size.VALUE)
    y, mono = top - 10 if layout.above else top + layout.high / 2, isinstance(label, str)
    if narrow and row.step:
        label, mono = row.step, False
        y = top - _gap(row, layout) / 2 + _STEP_LINE / 2
    canvas.label(1, y, label, size=size, mono=mono)


def _draw_ways(canvas: Canvas, layout: _Layout, row: Row, top: int) -> None:
    """The arrows that lead to a row, or the function that makes it."""
    shown = _shown(row, layout)
    below = top - layout.above - 4
    if layout.above and shown:
        label = canvas.length(row.short or row.label, Size.LABEL, mono=isinstance(row.label, str))
        if min(layout.middle(target) for _, target in shown) > label + _NEXT_TO_LABEL:
            below = top - 4  # the arrows lead past the label to the cells
    above = top - _gap(row, layout) - layout.above + 3
    if row.barrier:
        line = above + 12
        for source in {source for source, _ in shown}:
            canvas.arrow(layout.middle(source), above - 1, layout.middle(source), line - 3, head=False)
        canvas.arrow(layout.left, line, layout.right, line, head=False, dashed=True)
        call = "barrier()"
        width = canvas.length(call, Size.LABEL, mono=True) + 12
        canvas.plate((layout.left + layout.right) / 2, line, width, call)
        above += _BARRIER
    for source, target in sorted(shown, key=row.marked.__contains__):
        start, end = layout.middle(source), layout.middle(target)
        end += _aside(source, target, shown)
        if (partner := _partner(target, shown)) is not None:  # two heads next to each other
            spacing = math.copysign(min(layout.side / 7, _HEADS_SPACING), partner - target)
            own = source == target
            end += -spacing if own else spacing
            if _partner(source, shown) is not None:
                start += -spacing
        marked = (source, target) in row.marked
        if source != target and (target, source) in shown:  # straight lines that cross are easy to follow
            canvas.arrow(start, above, end, below, marked=marked)
        else:
            canvas.curve(start, above, end, below, marked=marked, dashed=row.dashed)
    if row.call:
        box = above + 11
        order = list(layout.at)
        for first, last in zip(order, order, strict=True) if row.separate else ((order[0], order[-1]),):
            left, wide = layout.across(first, last)
            # An operation is a pill without a fill; cells are data.
            canvas.frame(left, box, wide, 22, dashed=True, corner=11)
            letters = fitting(len(row.call), wide, Size.LABEL)
            canvas.label(left + wide / 2, box + 11, row.call, "middle", size=letters, mono=True)
        for thread in layout.at:
            middle = layout.middle(thread)
            canvas.arrow(middle, above - 1, middle, box - 1, head=False)
            canvas.arrow(middle, box + 23, middle, below)


def _shown(row: Row, layout: _Layout) -> list[tuple[int, int]]:
    """The arrows to a row between threads that have a column."""
    return [arrow for arrow in row.arrows if arrow[0] in layout.at and arrow[1] in layout.at]


def _partner(target: int, arrows: Sequence[tuple[int, int]]) -> int | None:
    """The other thread from which an arrow leads to one, if just that and its own value do."""
    sources = {source for source, to in arrows if to == target}
    others = sources - {target}
    return others.pop() if len(sources) == 2 and len(others) == 1 else None


def _aside(source: int, target: int, arrows: Sequence[tuple[int, int]]) -> float:
    """How far next to the middle the head of an arrow is, if more than two lead to its target."""
    sources = sorted(one for one, to in arrows if to == target)
    if len(sources) < 3:
        return 0
    middle = (len(sources) - 1) / 2
    return (sources.index(source) - middle) * _HEADS_SPACING


def _gap(row: Row, layout: _Layout) -> int:
    """The space between a row and the one above, without its label: the further arrows lead, the more."""
    if row.call:
        return _BELOW_CALL
    order = list(layout.at)
    far = max((abs(order.index(one) - order.index(other)) for one, other in _shown(row, layout)), default=0)
    barrier = _BARRIER if row.barrier else 0
    if far:
        shown = _shown(row, layout)
        crossing = any((other := _partner(one, shown)) is not None and other > one for _, one in shown)
        steep = _STEEP if crossing else 1
        return round(steep * min(_BELOW_CURVES + far * _BY_DISTANCE, _MOST_BELOW)) + barrier
    if layout.narrow and row.dashed and row.step:
        return _BELOW_ARROWS + _ROUND_STEP + barrier
    return (_BELOW_ARROWS if row.arrows else _BELOW) + barrier


def draw_steps(
    sheet: Sheet,
    steps: Sequence[Step],
    *,
    threads: int = WARP,
    head: Text | None = None,
    narrow: bool = False,
) -> Canvas:
    """The lanes of a warp side by side, one instruction below the other: who takes part in it.

    Args:
        sheet: creates the canvas of a width and height.
        steps: from top to bottom.
        threads: of a block, if its stages are drawn; a cell then represents several threads.
        head: of the remarks, which then are results.
        narrow: for narrow screens, with labels and remarks above the lanes.
    """
    each = threads // WARP
    side, pitch = (11, 11 + _LABEL_ABOVE) if narrow else (0, 27)
    top = 59 if narrow else 28
    canvas = sheet(0, 0)
    widest = max(canvas.length(step.label, Size.VALUE, mono=isinstance(step.label, str)) for step in steps)
    left = 1 if narrow else math.ceil(1 + widest + 14)
    remarks = 1 if narrow else 11 + max(canvas.length(step.remark, Size.LABEL) for step in steps)
    if not narrow:
        side = int((PAGE - left - remarks) / WARP)
        left = math.floor(PAGE - remarks - WARP * side)
    end = left + WARP * side
    canvas.width, canvas.height = math.ceil(end + remarks), top + (len(steps) - 1) * pitch + side + 2
    title = Text("lane") if each == 1 else Text("thread")
    canvas.label(1, 11, title, size=Size.LABEL, quiet=True)
    numbers = 27 if narrow else 11
    for lane in (0, 8, 16, 24):
        middle = left + (lane + 0.5) * side
        canvas.label(middle, numbers, str(lane * each), "middle", size=Size.LABEL, quiet=True)
    canvas.label(end, numbers, str(threads - 1), "end", size=Size.LABEL, quiet=True)
    remark_x, anchor = _remarks(canvas, steps, end + 10)
    if head:
        position = (
            (end - measured(canvas.say(steps[0].remark), Size.LABEL) - 8, top - _OVER_LANES)
            if narrow
            else (remark_x, 11)
        )
        canvas.label(*position, head, "end", size=Size.LABEL)
    quiet = head is None
    for index, step in enumerate(steps):
        y = top + index * pitch
        mono = isinstance(step.label, str)
        if narrow:
            canvas.label(left, y - _OVER_LANES, step.label, size=Size.LABEL, mono=mono)
            canvas.label(end, y - _OVER_LANES, step.remark, "end", size=Size.LABEL, quiet=quiet)
        else:
            canvas.label(1, y + side / 2, step.label, size=Size.VALUE, mono=mono)
            canvas.label(remark_x, y + side / 2, step.remark, anchor, size=Size.LABEL, quiet=quiet)
        for lane in range(WARP):
            ink = Ink.LIVE if lane * each in step.active else Ink.SPARE
            canvas.cell(left + lane * side, y, side, side, ink=ink)
    return canvas


def _remarks(canvas: Canvas, steps: Sequence[Step], left: float) -> tuple[float, str]:
    """Where the remarks from `left` on are anchored, and how: numbers end one below the other."""
    said = [canvas.say(step.remark) for step in steps]
    if all(any(map(str.isdigit, remark)) for remark in said):
        return left + max(measured(remark, Size.LABEL) for remark in said), "end"
    return left, "start"
