"""Puzzle 19: the four launches of attention, and what one of the scores is computed from."""

from __future__ import annotations

from functools import partial

from tooling.book.figures.canvas import Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import Figure
from tooling.text import Text

_MARKED = 4  # the position whose score is followed
_KERNELS = ("transpose_kernel", "matmul_tiled", "softmax_gpu_kernel", "matmul_tiled")
_STRIP = 14  # the height of a vector


def draw_launches(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The tensors with their shapes, a numbered arrow for each launch; one row of K is marked all the way."""
    length, d = facts.constant("SEQ_LEN"), facts.constant("D")
    unit = 5 if narrow else 8
    left, middle, right = (1, 152, 274) if narrow else (1, 290, 574)
    wide, high = unit * d, unit * length
    turned = 60 + high + 44  # the top of Kᵀ
    scores = turned + wide + 34
    weights = scores + _STRIP + 34
    values = weights + _STRIP / 2 - high / 2
    result = values + high + 34
    canvas = sheet(right + wide + 2, round(result + _STRIP + 2))

    def name(x: float, y: float, text: str, rows: int, columns: int) -> None:
        mono = "*" not in text  # and otherwise a variable
        canvas.label(x, y - 11, text, mono=mono, size=Size.LABEL)
        if rows > 1 or not narrow:
            beside = x + 6 + canvas.length(text, Size.LABEL, mono=mono)
            canvas.label(beside, y - 11, f"{rows} × {columns}", size=Size.SMALL, quiet=True)

    def vector(
        x: float, y: float, text: str, cells: int, marked: int | None = None, *, other: Ink = Ink.PLAIN
    ) -> None:
        name(x, y, text, 1, cells)
        for index in range(cells):
            ink = Ink.MARK if index == marked else other
            _box(canvas, (x + index * unit, y), (unit, _STRIP), ink)

    def matrix(x: float, y: float, text: str, *, columns: bool = False, marked: bool = True) -> None:
        name(x, y, text, *((d, length) if columns else (length, d)))
        for index in range(length):
            ink = Ink.MARK if marked and index == _MARKED else Ink.PLAIN
            if columns:
                _box(canvas, (x + index * unit, y), (unit, wide), ink)
            else:
                _box(canvas, (x, y + index * unit), (wide, unit), ink)

    matrix(middle, 36, "*K*")
    matrix(middle, turned, "*K*ᵀ", columns=True)
    vector(left, turned + wide / 2 - _STRIP / 2, "*q*", d)
    vector(middle, scores, "scores", length, _MARKED)
    vector(middle, weights, "weights", length, _MARKED)
    matrix(right, values, "*V*")
    vector(right, result, "output", d, other=Ink.RESULT)

    side = middle + wide - 10  # right of the names
    _launch(canvas, 1, (side, 36 + high + 4), (side, turned - 4))
    _launch(canvas, 2, (left + wide + 4, turned + wide / 2), (middle - 4, turned + wide / 2))
    canvas.arrow(side, turned + wide + 4, side, scores - 4)
    _launch(canvas, 3, (side, scores + _STRIP + 4), (side, weights - 4))
    _launch(canvas, 4, (middle + high + 4, weights + _STRIP / 2), (right - 4, weights + _STRIP / 2))
    canvas.arrow(right + wide - 10, values + high + 4, right + wide - 10, result - 4)
    for number, kernel in enumerate(_KERNELS, 1):
        y = 44 + 24 * (number - 1)  # beside K
        _number(canvas, left + 8, y, number)
        canvas.label(left + 22, y, kernel, mono=True, size=Size.SMALL if narrow else Size.LABEL)
    return canvas


def _box(canvas: Canvas, corner: tuple[float, float], size: tuple[float, float], ink: Ink) -> None:
    """A cell too small for a rounded corner."""
    (x, y), (width, height) = corner, size
    fill, line, _ = canvas.shade.marks[ink]
    canvas.embed(
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}" stroke="{line}" '
        f'stroke-width="0.8"/>',
        (x, y, x + width, y + height),
    )


def _launch(canvas: Canvas, number: int, start: tuple[float, float], end: tuple[float, float]) -> None:
    """An arrow with the number of its launch."""
    canvas.arrow(*start, *end)
    across = end[0] > start[0]
    _number(canvas, (start[0] + end[0]) / 2 - 3 * across, (start[1] + end[1]) / 2 - 2 * (not across), number)


def _number(canvas: Canvas, x: float, y: float, number: int) -> None:
    fill, line, colour = canvas.shade.marks[Ink.LIVE]
    circle = f'<circle cx="{x:g}" cy="{y:g}" r="8" fill="{fill}" stroke="{line}"/>'
    canvas.embed(circle, (x - 8, y - 8, x + 8, y + 8))
    canvas.label(x, y, str(number), "middle", size=Size.SMALL, colour=colour)


FIGURES = (
    Figure(
        "p19",
        Text(
            "The operation launches four kernels. Marked is position 4: its row of *K*, its column of *K*ᵀ, "
            "its score, its weight, and its row of *V*.",
        ),
        Text(
            "From top to bottom: the matrix K, 16 × 16. The first launch, transpose_kernel, makes Kᵀ of it. "
            "The second, matmul_tiled, multiplies the vector q, 1 × 16, by Kᵀ and gives the scores, 1 × 16. "
            "The third, softmax_gpu_kernel, makes the weights of the scores. The fourth, matmul_tiled again, "
            "multiplies the weights by the matrix V, 16 × 16, and gives the output, 1 × 16. Row 4 of K is "
            "column 4 of Kᵀ; it determines element 4 of the scores and of the weights, with which row 4 of "
            "V is multiplied.",
        ),
        draw_launches,
        narrow=partial(draw_launches, narrow=True),
    ),
)
