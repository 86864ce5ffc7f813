"""Puzzle 19: the four launches of attention, and what one of the scores is computed from."""

from __future__ import annotations

from tooling.book.figures.canvas import PAGE, PHONE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import responsive

_MARKED = 4  # the position whose score is followed
_KERNELS = ("transpose_kernel", "matmul_tiled", "softmax_gpu_kernel", "matmul_tiled")
_STRIP = 18  # the height of a vector
_TOP = 26  # of the matrices
_RADIUS = 9  # of the circle around the number of a launch


def draw_launches(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The tensors with their shapes, a numbered arrow for each launch; one row of K is marked all the way.

    Each product is below its right factor and right of its left one.
    """
    length, d = facts.constant("SEQ_LEN"), facts.constant("D")
    unit, width = (5, PHONE) if narrow else (9, PAGE)
    wide, high = unit * d, unit * length
    left, right = 1, width - 1 - wide
    middle = (left + right) // 2
    scores = _TOP + wide + 48
    weights = scores + _STRIP + (58 if narrow else 80)
    canvas = sheet(width, weights + _STRIP + (82 if narrow else 2))
    size = Size.SMALL if narrow else Size.LABEL

    def name(x: float, y: float, text: str, rows: int, columns: int) -> None:
        mono = "*" not in text  # and otherwise a variable
        canvas.label(x, y - 12, text, mono=mono, size=size if mono else Size.VALUE)
        if rows > 1 or not narrow:
            label_x = x + 6 + canvas.length(text, size if mono else Size.VALUE, mono=mono)
            canvas.label(label_x, y - 12, f"{rows} × {columns}", size=Size.SMALL, quiet=True)

    def vector(
        x: float, y: float, text: str, cells: int, marked: int | None = None, *, other: Ink = Ink.PLAIN
    ) -> None:
        name(x, y, text, 1, cells)
        for index in range(cells):
            canvas.cell(x + index * unit, y, unit, _STRIP, ink=Ink.MARK if index == marked else other)

    def matrix(x: float, y: float, text: str, *, columns: bool = False) -> None:
        name(x, y, text, *((d, length) if columns else (length, d)))
        for index in range(length):
            ink = Ink.MARK if index == _MARKED else Ink.PLAIN
            if columns:
                canvas.cell(x + index * unit, y, unit, wide, ink=ink)
            else:
                canvas.cell(x, y + index * unit, wide, unit, ink=ink)

    matrix(left, _TOP, "*K*")
    matrix(middle, _TOP, "*K*ᵀ", columns=True)
    matrix(right, _TOP, "*V*")
    vector(left, scores, "*q*", d)
    vector(middle, scores, "scores", length, _MARKED)
    vector(middle, weights, "weights", length, _MARKED)
    vector(right, weights, "output", d, other=Ink.RESULT)

    side = wide - 14  # right of the names
    ways = (
        ((left + wide + 5, _TOP + high / 2), (middle - 5, _TOP + high / 2)),
        ((left + wide + 5, scores + _STRIP / 2), (middle - 5, scores + _STRIP / 2)),
        ((middle + side, scores + _STRIP + 4), (middle + side, weights - 4)),
        ((middle + high + 5, weights + _STRIP / 2), (right - 5, weights + _STRIP / 2)),
    )
    canvas.arrow(middle + side, _TOP + wide + 4, middle + side, scores - 4)
    canvas.arrow(right + side, _TOP + high + 4, right + side, weights - 4)
    for number, ((start, end), kernel) in enumerate(zip(ways, _KERNELS, strict=True), 1):
        canvas.arrow(*start, *end)
        across = end[0] > start[0]
        x, y = (start[0] + end[0]) / 2 - 2 * across, (start[1] + end[1]) / 2 - 2 * (not across)
        _number(canvas, x, y, number)
        if narrow:
            continue
        if across:
            canvas.label(x, y - 21, kernel, "middle", mono=True, size=Size.SMALL)
        else:
            canvas.label(x + 17, y, kernel, mono=True, size=Size.SMALL)
    if narrow:
        for number, kernel in enumerate(_KERNELS, 1):
            column, line = divmod(number - 1, 2)
            x, y = left + _RADIUS + column * 176, weights + _STRIP + 40 + line * 26
            _number(canvas, x, y, number)
            canvas.label(x + 15, y, kernel, mono=True, size=Size.SMALL)
    return canvas


def _number(canvas: Canvas, x: float, y: float, number: int) -> None:
    circle = f'<circle cx="{x:g}" cy="{y:g}" r="{_RADIUS}" fill="{Ink.LIVE.fill}" stroke="{Ink.LIVE.line}"/>'
    canvas.embed(circle, (x - _RADIUS, y - _RADIUS, x + _RADIUS, y + _RADIUS))
    canvas.label(x, y, str(number), "middle", size=Size.SMALL, colour=Ink.LIVE.text)


FIGURES = (responsive("p19", draw_launches),)
