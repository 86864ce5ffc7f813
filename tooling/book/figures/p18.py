"""Puzzle 18: the numbers of the input, and what softmax makes of them."""

from __future__ import annotations

from collections.abc import Sequence

from tooling.book.figures.canvas import PAGE, PHONE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive

_SHARE = "softmax(x)"


def draw_bars(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """A bar for each number of the input, and below it a bar for its share."""
    numbers = facts.inputs("default")["input"].tolist()
    shares = facts.expected("default")["out"].tolist()
    largest, smallest = numbers.index(max(numbers)), numbers.index(min(numbers))
    canvas = sheet(0, 0)
    left = 1 if narrow else canvas.names_end([_SHARE])
    pitch = ((PHONE if narrow else PAGE) - 1 - left) / len(numbers)
    width = pitch * len(numbers)
    unit = 24 if narrow else 28
    zero = 24 + max(numbers) * unit + (16 if narrow else 0)
    top = zero - min(numbers) * unit + (82 if narrow else 64)  # of the largest share
    base = top + 120
    canvas.width, canvas.height = round(left + width + 1), round(base + 32)

    def row(base: float, scale: float, values: Sequence[float], name: str, level: float, *, ink: Ink) -> None:
        if narrow:
            canvas.label(left, level, name, mono=True, size=Size.LABEL)
        else:
            canvas.name(base, name)
        for index, value in enumerate(values):
            mark = Ink.MARK if index in {largest, smallest} else ink
            corner = left + index * pitch, base - max(value, 0) * scale
            _bar(canvas, corner, pitch, abs(value) * scale, mark)
        canvas.arrow(left, base, left + width, base, head=False)

    row(zero, unit, numbers, "x", 10, ink=Ink.PLAIN)
    row(base, 120 / max(shares), shares, _SHARE, top - 34, ink=Ink.RESULT)
    for index in (largest, smallest):
        x = left + (index + 0.5) * pitch
        end = zero - numbers[index] * unit  # of its bar
        value = f"x[{index}] = {number(numbers[index], '.2f')}"
        share = f"{_SHARE}[{index}] = {number(shares[index], '.4f')}"
        above = index == largest
        # A dashed line leads from the number to its share; the labels are next to it, clear of all bars.
        if not narrow:
            start, stop = (zero + 4, top - 3) if above else (end + 4, base - 3)
            canvas.arrow(x, start, x, stop, head=False, dashed=True)
        aside = 0 if narrow else 8
        canvas.label(x + aside * (not above), end + (-11 if above else 12), value, mono=True, size=Size.LABEL)
        level = top - (11 if narrow else 8) if above else base + 15
        canvas.label(x + aside * above, level, share, mono=True, size=Size.LABEL)
    return canvas


def _bar(canvas: Canvas, corner: tuple[float, float], width: float, height: float, ink: Ink) -> None:
    """A bar without a rounded corner, which a thin one could not show; the corner is its upper left one."""
    x, y = corner
    canvas.embed(
        f'<rect x="{x + 0.3:.1f}" y="{y:.1f}" width="{width - 0.6:.1f}" height="{max(height, 0.6):.1f}" '
        f'fill="{ink.line}"/>',
        (x, y, x + width, y + height),
    )


FIGURES = (responsive("p18", draw_bars),)
