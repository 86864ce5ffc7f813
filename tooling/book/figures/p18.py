"""Puzzle 18: the numbers of the input, and what softmax makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tooling.book.figures.canvas import PAGE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure
from tooling.text import Text

_SHARE = "softmax(x)"


def draw_bars(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """A bar for each number of the input, and below it a bar for its share."""
    numbers = facts.inputs("default")["input"].tolist()
    shares = facts.expected("default")["out"].tolist()
    largest, smallest = numbers.index(max(numbers)), numbers.index(min(numbers))
    canvas = sheet(0, 330 if narrow else 316)
    left = 1 if narrow else canvas.beside([_SHARE])
    pitch = 2.7 if narrow else (PAGE - 1 - left) / len(numbers)
    width = pitch * len(numbers)
    canvas.width = round(left + width + 1)
    zero, unit = (92, 22) if narrow else (80, 24)

    def row(base: float, scale: float, values: Sequence[float], name: str, top: float, *, ink: Ink) -> None:
        if narrow:
            canvas.label(left, top, name, mono=True, size=Size.LABEL)
        else:
            canvas.name(base if min(values) < 0 else base - 50, name)
        for index, value in enumerate(values):
            marked = index in {largest, smallest}
            mark = Ink.MARK if marked else ink
            height = abs(value) * scale
            _bar(canvas, (left + index * pitch, base - max(value, 0) * scale), pitch, height, mark)
        canvas.arrow(left, base, left + width, base, head=False)

    row(zero, unit, numbers, "x", 12, ink=Ink.PLAIN)
    base = 300 if narrow else 288
    row(base, 100 / max(shares), shares, _SHARE, base - 122, ink=Ink.RESULT)
    for index in (largest, smallest):
        x = left + (index + 0.5) * pitch
        after = index < len(numbers) / 2
        beside, anchor = (x + 8, "start") if after else (x - 8, "end")
        value = f"x[{index}] = {number(numbers[index], '.2f')}"
        canvas.label(beside, zero - numbers[index] * unit, value, anchor, mono=True, size=Size.LABEL)
        share = f"{_SHARE}[{index}] = {number(shares[index], '.4f')}"
        # A bar that is hardly visible has its label below, at a tick.
        y = base - 94 if index == largest else base + 14
        canvas.label(beside, y, share, anchor, mono=True, size=Size.LABEL)
        if index == smallest:
            canvas.arrow(x, base, x, base + 20, head=False)
    return canvas


def _bar(canvas: Canvas, corner: tuple[float, float], width: float, height: float, ink: Ink) -> None:
    """A bar without a rounded corner, which a thin one could not show; the corner is its upper left one."""
    x, y = corner
    _, line, _ = canvas.shade.marks[ink]
    canvas.embed(
        f'<rect x="{x + 0.3:.1f}" y="{y:.1f}" width="{width - 0.6:.1f}" height="{max(height, 0.6):.1f}" '
        f'fill="{line}"/>',
        (x, y, x + width, y + height),
    )


FIGURES = (
    Figure(
        "p18",
        Text(
            "The 128 numbers of the input, and their softmax. All results are positive, their sum is 1, and "
            "the larger a number, the larger its share.",
        ),
        Text(
            "Above, a bar for each of the 128 elements of x, upwards for positive and downwards for negative "
            "numbers. Two are marked: the smallest, x[4] = −1.95, and the largest, x[30] = 2.14. Below, a "
            "bar for the softmax of each element, all of them upwards. The smallest is 0.0009 at index 4, "
            "the largest 0.0510 at index 30.",
        ),
        draw_bars,
        narrow=partial(draw_bars, narrow=True),
    ),
)
