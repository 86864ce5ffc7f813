"""Puzzle 20: who allocates the result, in a MAX graph and in a call from PyTorch."""

from __future__ import annotations

from collections.abc import Sequence

from tooling.book.figures.canvas import GAP, PAGE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive
from tooling.text import Text

_SHOWN = 5  # values from the start of a list, before its last one
_SIDE, _HIGH = 36, 32
_NAMES = 68  # the width of the names of lists
_WIDE = _NAMES + (_SHOWN + 2) * _SIDE  # of a call, without the way back to its argument
_PITCH = _HIGH + 8  # of arguments
_BACK = 22  # how far that way reaches


def draw_calls(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Two calls of the operation: one gets two inputs and returns a buffer, one gets three tensors."""
    data = facts.inputs("default")
    results = facts.expected("default")
    inputs = [("signal", data["input"].tolist()), ("kernel", data["kernel"].tolist())]
    canvas = sheet(0, 0)
    first = _draw_call(canvas, (1, 1), Text("MAX graph"), inputs, ("out", results["out"].tolist()))
    second = (1, first + 28) if narrow else (PAGE - 1 - _WIDE - _BACK, 1)
    whole = [("result", []), *inputs]
    values = results["out_torch"].tolist()
    last = _draw_call(canvas, second, Text("call from PyTorch"), whole, ("result", values))
    canvas.width, canvas.height = round(second[0] + _WIDE + _BACK + 1), last
    return canvas


def _draw_call(
    canvas: Canvas,
    corner: tuple[int, int],
    title: Text,
    arguments: Sequence[tuple[str, Sequence[float]]],
    result: tuple[str, Sequence[float]],
) -> int:
    """A heading, the arguments, the operation, and what it has written, from top to bottom; the end of it."""
    left, top = corner
    canvas.label(left, top + 9, title, bold=True)
    values, wide = left + _NAMES, _WIDE - _NAMES
    middle = values + wide / 2
    rows = [top + 30 + index * _PITCH for index in range(3)]
    box = rows[-1] + _HIGH + 34
    last = box + 36 + 34
    given = len(arguments) == len(rows)
    if not given:  # those of both calls are next to each other
        canvas.label(
            values, rows[0] + _HIGH / 2, Text("no tensor for the output"), size=Size.LABEL, quiet=True
        )
    for y, (name, numbers) in zip(rows[len(rows) - len(arguments) :], arguments, strict=True):
        _row(canvas, (values, y), name, numbers, Ink.PLAIN)
    # The last argument has its values in the first cells only.
    canvas.arrow(middle, rows[-1] + _HIGH + 4, middle, box - 4)
    canvas.frame(values + 1, box, wide - 2, 36, dashed=True, corner=18)
    canvas.label(middle, box + 18, "conv1d", "middle", mono=True, bold=True)
    canvas.arrow(middle, box + 40, middle, last - 4)
    _row(canvas, (values, last), *result, Ink.RESULT)
    whose = Text("the tensor that the caller has passed") if given else Text("allocated by the graph")
    canvas.label(middle, last + _HIGH + 15, whose, "middle", size=Size.LABEL, quiet=True)
    if given:
        _draw_link(canvas, values + wide + 3, rows[0] + _HIGH / 2, last + _HIGH / 2)
    return last + _HIGH + 26


def _draw_link(canvas: Canvas, x: float, start: float, end: float) -> None:
    """A marked line around the right ends of two rows that are the same tensor."""
    right = x + _BACK - 6
    canvas.embed(
        f'<path d="M{x:g} {start:g}H{right - 6:g}q6 0 6 6V{end - 6:g}q0 6 -6 6H{x:g}" fill="none" '
        f'stroke="{Ink.MARK.line}" stroke-width="1.8"/>',
        (x, start, right, end),
    )


def _row(canvas: Canvas, corner: tuple[float, float], name: str, numbers: Sequence[float], ink: Ink) -> None:
    """A list by its name, its first values and its last one; empty cells where it has none yet."""
    x, y = corner
    canvas.label(x - _NAMES, y + _HIGH / 2, name, mono=True)
    if len(numbers) <= _SHOWN:
        texts = [number(value) for value in numbers]
    else:
        texts = [*(number(value) for value in numbers[:_SHOWN]), "…", number(numbers[-1])]
    if not numbers:
        texts, ink = [*[""] * _SHOWN, "…", ""], Ink.SPARE
    for index, text in enumerate(texts):
        if text == "…":
            canvas.label(x + (index + 0.5) * _SIDE, y + _HIGH / 2, text, "middle", quiet=True)
        else:
            canvas.cell(x + index * _SIDE + GAP / 2, y, _SIDE - GAP, _HIGH, text, ink=ink)


FIGURES = (responsive("p20", draw_calls),)
