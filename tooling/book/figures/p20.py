"""Puzzle 20: who allocates the result, in a MAX graph and in a call from PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tooling.book.figures.canvas import PAGE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure
from tooling.text import Text

_SHOWN = 3  # values from the start of a list, before its last one
_SIDE, _HIGH = 34, 30
_NAMES = 76  # the width of the names of lists


def draw_calls(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Two calls of the operation: one gets two inputs and returns a buffer, one gets three tensors."""
    data = facts.inputs("default")
    results = facts.expected("default")
    inputs = [("signal", data["input"].tolist()), ("kernel", data["kernel"].tolist())]
    wide, high = 330, 296
    canvas = sheet(wide + 8, 2 * high + 12) if narrow else sheet(PAGE, high)
    graph = Text("MAX graph")
    torch = Text("call from PyTorch")
    made, given = Text("made by the graph"), Text("your tensor")
    _call(canvas, (4, 4), graph, inputs, ("out", results["out"].tolist()), made)
    second = (4, high + 8) if narrow else (wide + 50, 4)
    values = results["out_torch"].tolist()
    _call(canvas, second, torch, [("result", []), *inputs], ("result", values), given)
    return canvas


def _call(  # noqa: PLR0917 - the parts of a call
    canvas: Canvas,
    corner: tuple[int, int],
    title: Text,
    arguments: Sequence[tuple[str, Sequence[float]]],
    result: tuple[str, Sequence[float]],
    whose: Text,
) -> None:
    """A heading, the arguments one below the other, the operation, and what it has written."""
    left, top = corner
    canvas.label(left, top + 10, title, bold=True)
    values = left + _NAMES
    for place, (name, numbers) in enumerate(arguments):
        y = top + 30 + place * (_HIGH + 8)
        _row(canvas, (values, y), name, numbers, Ink.PLAIN)
    box = top + 30 + 3 * (_HIGH + 8) + 20
    middle = values + 2.5 * _SIDE
    canvas.arrow(middle, box - 24 - (3 - len(arguments)) * (_HIGH + 8), middle, box - 3)
    canvas.frame(left + 4, box, 318, 36)
    canvas.label(middle, box + 18, "conv1d", "middle", mono=True, bold=True)
    canvas.arrow(middle, box + 39, middle, box + 61)
    _row(canvas, (values, box + 65), *result, Ink.RESULT)
    canvas.label(middle, box + 65 + _HIGH + 15, whose, "middle", size=Size.LABEL, quiet=True)


def _row(canvas: Canvas, corner: tuple[float, float], name: str, numbers: Sequence[float], ink: Ink) -> None:
    """A list by its name, its first values and its last one; empty cells where it has none yet."""
    x, y = corner
    canvas.label(x - _NAMES, y + _HIGH / 2, name, mono=True)
    if len(numbers) <= _SHOWN + 1:
        texts = [number(value) for value in numbers]
    else:
        texts = [*(number(value) for value in numbers[:_SHOWN]), "…", number(numbers[-1])]
    if not numbers:
        texts, ink = ["", "", "", "…", ""], Ink.SPARE
    for place, text in enumerate(texts):
        if text == "…":
            canvas.label(x + (place + 0.5) * _SIDE, y + _HIGH / 2, text, "middle", quiet=True)
        else:
            canvas.cell(x + place * _SIDE + 1, y, _SIDE - 2, _HIGH, text, ink=ink)


FIGURES = (
    Figure(
        "p20",
        Text(
            "The same operation called in two ways. A graph allocates its output. Called from PyTorch, the "
            "operation writes into a tensor that the caller has allocated and passes first.",
        ),
        Text(
            "Two columns. On the left, the MAX graph: the inputs signal, 0 1 2 and so on to 14, and kernel, "
            "0 1 2 3, lead to the operation conv1d, and from there to the buffer out, 14 20 26 and so on to "
            "0, made by the graph. On the right, the call from PyTorch: it has three arguments, the empty "
            "tensor result, then signal and kernel. From conv1d an arrow leads to result, which now holds "
            "the same values as out.",
        ),
        draw_calls,
        narrow=partial(draw_calls, narrow=True),
    ),
)
