"""Draws what the threads of a warp or a block hold, step by step, and which of them take part in a step."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from tooling.book.figures.canvas import Canvas, Ink, Sheet, Size, measured
from tooling.text import Text

Cells = Mapping[int, tuple[str, Ink]]

WARP = 32  # lanes on NVIDIA GPUs and on the simulated one
_HIGH = 30
_BELOW_ARROWS = 34  # from a row to the next one, where arrows lead there
_BELOW_CURVES = 50  # where some lead to another thread
_BELOW_CALL = 56  # where a function stands between the rows
_SHORT = 44  # the width of short labels
_BELOW = 9  # where the values stay


class Row(Struct, frozen=True):
    """What the threads hold at one moment.

    Attributes:
        label: code as a plain string, or a description.
        cells: the value of each thread and its ink; a thread without one is not drawn.
        arrows: from a thread of the row above to a thread of this one.
        marked: those arrows that the text points out.
        dashed: the values stay as they are; the arrows are drawn as dashed lines.
        call: a function of the warp or block that makes this row from the one above, instead of arrows.
        short: the label beside the row on narrow screens, where the whole label would be above it.
        head: of the short labels from this row on.
    """

    label: Text | str
    cells: Cells
    arrows: tuple[tuple[int, int], ...] = ()
    marked: Collection[tuple[int, int]] = ()
    dashed: bool = False
    call: str = ""
    short: str = ""
    head: Text | None = None


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


def draw_rows(
    sheet: Sheet,
    rows: Sequence[Row],
    columns: Sequence[int | None],
    title: Text | str,
    *,
    side: int = 52,
    left: int = 170,
    narrow: bool = False,
) -> Canvas:
    """The threads side by side, their values one below the other.

    Args:
        sheet: creates the canvas of a width and height.
        rows: from top to bottom.
        columns: the numbers of the threads; None leaves a gap with dots.
        title: what the numbers above the columns are.
        side: the width of a cell.
        left: the width of the labels; on a narrow screen they are above their rows.
        narrow: for narrow screens.
    """
    beside = narrow and any(row.short for row in rows)
    left, above_row = (left, 0) if not narrow else (_SHORT, 0) if beside else (4, 16)
    at: dict[int, float] = {}
    dots = []
    x = float(left)
    for column in columns:
        if column is None:
            dots.append(x + side / 4)
            x += side / 2
        else:
            at[column] = x
            x += side
    high = 26 if narrow else _HIGH
    tops = []
    y = 56.0 if above_row else 26.0
    for index, row in enumerate(rows):
        if index:
            y += high + _gap(row) + above_row
        tops.append(y)
    canvas = sheet(round(x) + 6, round(y) + high + 8)
    edge, anchor = (left, "start") if above_row else (left - (8 if beside else 14), "end")
    canvas.label(edge, 9, title, anchor, size=Size.LABEL, quiet=True)
    for column, begin in at.items():
        middle = begin + side / 2
        canvas.label(middle, 25 if above_row else 9, str(column), "middle", size=Size.LABEL, quiet=True)
    for row, top in zip(rows, tops, strict=True):
        if above_row:
            mono = isinstance(row.label, str)
            canvas.label(left, top - 10, row.label, size=Size.LABEL, mono=mono)
        else:
            _label_beside(canvas, row, (edge, top + high / 2), narrow=narrow)
        for column, (text, ink) in row.cells.items():
            if column in at:
                size = Size.LABEL if narrow else Size.VALUE
                canvas.cell(at[column] + 1, top, side - 2, high, text, ink=ink, size=size)
        for dot in dots:
            if any(at[column] > dot for column in row.cells if column in at):
                canvas.label(dot, top + high / 2, "…", "middle", quiet=True)
        below = top - above_row - 4
        above = top - _gap(row) - above_row + 3
        shown = [arrow for arrow in row.arrows if arrow[0] in at and arrow[1] in at]
        for source, target in sorted(shown, key=row.marked.__contains__):
            start, end = at[source] + side / 2, at[target] + side / 2
            if (partner := _partner(target, shown)) is not None:  # two heads beside each other
                apart = math.copysign(side / 7, partner - target)
                end += apart if source == partner else -apart
            marked = (source, target) in row.marked
            canvas.curve(start, above, end, below, marked=marked, dashed=row.dashed)
        if row.call:
            box = above + 11
            canvas.cell(left + 1, box, x - left - 2, 22, row.call, ink=Ink.PLAIN, size=Size.LABEL)
            for begin in at.values():
                middle = begin + side / 2
                canvas.arrow(middle, above - 1, middle, box - 1, head=False)
                canvas.arrow(middle, box + 23, middle, below)
    return canvas


def _label_beside(canvas: Canvas, row: Row, at: tuple[float, float], *, narrow: bool) -> None:
    """The label of a row, or its short one with the head above it, that ends at a point left of its cells."""
    x, y = at
    label, size = (row.short, Size.LABEL) if narrow else (row.label, Size.VALUE)
    canvas.label(x, y, label, "end", size=size, mono=isinstance(row.label, str))
    if narrow and row.head:
        canvas.label(x, y - 25, row.head, "end", size=Size.LABEL, quiet=True)


def _partner(target: int, arrows: Sequence[tuple[int, int]]) -> int | None:
    """The other thread from which an arrow leads to one, if just that and its own value do."""
    sources = {source for source, to in arrows if to == target}
    others = sources - {target}
    return others.pop() if len(sources) == 2 and len(others) == 1 else None


def _gap(row: Row) -> int:
    """The space between a row and the one above, without its label."""
    if row.call:
        return _BELOW_CALL
    if any(source != target for source, target in row.arrows):
        return _BELOW_CURVES
    return _BELOW_ARROWS if row.arrows else _BELOW


def draw_steps(
    sheet: Sheet,
    steps: Sequence[Step],
    *,
    threads: int = WARP,
    left: int = 178,
    right: int = 92,
    head: Text | None = None,
    narrow: bool = False,
) -> Canvas:
    """The lanes of a warp side by side, one instruction below the other: who takes part in it.

    Args:
        sheet: creates the canvas of a width and height.
        steps: from top to bottom.
        threads: of a block, if its stages are drawn; a cell then represents several threads.
        left, right: the width of the labels and of the remarks; on a narrow screen both are above the lanes.
        head: of the remarks, which then are results.
        narrow: for narrow screens.
    """
    each = threads // WARP
    left, right, side, high, pitch = (2, 6, 10, 14, 36) if narrow else (left, right, 14, 20, 26)
    top = 42 if narrow else 28
    end = left + WARP * side
    canvas = sheet(end + right, top + len(steps) * pitch + 4)
    for lane in (0, 8, 16, 24, 31):
        first = lane * each if lane < WARP - 1 else threads - 1
        canvas.label(left + (lane + 0.5) * side, 11, str(first), "middle", size=Size.SMALL, quiet=True)
    if not narrow:
        title = Text("lane") if each == 1 else Text("thread")
        canvas.label(left - 14, 11, title, "end", size=Size.LABEL, quiet=True)
    remark_x, anchor = _remarks(canvas, steps, end + 10)
    if head:
        place = (
            (end - measured(canvas.say(steps[0].remark), Size.LABEL) - 8, top - 9)
            if narrow
            else (remark_x, 11)
        )
        canvas.label(*place, head, "end", size=Size.LABEL)
    quiet = head is None
    for index, step in enumerate(steps):
        y = top + index * pitch
        mono = isinstance(step.label, str)
        if narrow:
            canvas.label(left, y - 9, step.label, size=Size.LABEL, mono=mono)
            canvas.label(end, y - 9, step.remark, "end", size=Size.LABEL, quiet=quiet)
        else:
            canvas.label(left - 14, y + high / 2, step.label, "end", size=Size.VALUE, mono=mono)
            canvas.label(remark_x, y + high / 2, step.remark, anchor, size=Size.LABEL, quiet=quiet)
        for lane in range(WARP):
            ink = Ink.LIVE if lane * each in step.active else Ink.SPARE
            canvas.cell(left + lane * side + 0.5, y, side - 1, high, ink=ink)
    return canvas


def _remarks(canvas: Canvas, steps: Sequence[Step], left: float) -> tuple[float, str]:
    """Where the remarks from `left` on are anchored, and how: numbers end one below the other."""
    said = [canvas.say(step.remark) for step in steps]
    if all(any(map(str.isdigit, remark)) for remark in said):
        return left + max(measured(remark, Size.LABEL) for remark in said), "end"
    return left, "start"
