"""Puzzle 33: which lane holds which element of an mma instruction, the banks of loads, and speeds."""

from __future__ import annotations

import math
from collections.abc import Callable

from tooling.book.figures.canvas import Canvas, Ink, Sheet, Size
from tooling.book.figures.charts import Bar, draw_bars
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import responsive
from tooling.book.figures.h200 import measured
from tooling.book.figures.p16 import measured_roof
from tooling.text import Sentence, Text

Position = tuple[int, int]

_LANES = 32
_A, _B, _C, _D = "*A*", "*B*", "*C*", "*D*"  # as the text of the page writes them
_RESULT = 45  # pixels for what the formula is equal to
_AFTER_EQUALS = 9
_SHAPE = (16, 8, 8)  # M, K and N of the instruction on NVIDIA GPUs
_SHOWN = 5  # the lane whose elements are marked
_GROUP = range(_SHOWN // 4 * 4, _SHOWN // 4 * 4 + 4)  # the lanes that share its rows of a and of the sums
_OTHERS = ", ".join(str(lane) for lane in _GROUP if lane != _SHOWN)
_TENSOR_CORES = 495  # TFLOP/s with tf32 and dense matrices, by NVIDIA's data sheet of the H200
_SPARE = 4  # the columns that the challenge adds to a row of the tile of a


def a_elements(lane: int) -> tuple[Position, ...]:
    """Row and column of the elements that `load_a_fragment` gives a lane, of 16 x 8."""
    r, c = lane // 4, lane % 4
    return (r, c), (r + 8, c), (r, c + 4), (r + 8, c + 4)


def b_elements(lane: int) -> tuple[Position, ...]:
    """Those of `load_b_fragment`, of 8 x 8."""
    r, c = lane % 4, lane // 4
    return (r, c), (r + 4, c)


def sum_elements(lane: int) -> tuple[Position, ...]:
    """Those that `store_fragment` writes, of 16 x 8."""
    r, c = lane // 4, lane % 4 * 2
    return (r, c), (r, c + 1), (r + 8, c), (r + 8, c + 1)


def draw_fragments(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The formula of the caption, or *B* above the sums: each element with the lane that holds it."""
    rows, depth, cols = _SHAPE
    cell, high, gap, title = (21, 21, 22, 30) if narrow else (26, 23, 30, 28)
    left = 1 if narrow else _RESULT
    b_left = left + depth * cell + gap
    b_top = title if narrow else title + (rows - depth) * high // 2  # wide: as in a formula
    below = title + depth * high + 30 if narrow else title  # of A, and of C and D
    sums = b_left if narrow else b_left + cols * cell + gap
    end = below + rows * high
    canvas = sheet(sums + cols * cell + 1, end + 2 if narrow else end + 38)

    def grid(x: float, y: float, elements: Callable[[int], tuple[Position, ...]]) -> None:
        for lane in range(_LANES):
            for row, col in elements(lane):
                _draw_lane(canvas, (x + col * cell, y + row * high), (cell, high), lane)

    of_both = Text("{shape}, same for *D*").of(shape=_shape(rows, cols))
    for x, y, name, shape, elements in (
        (left, below, _A, _shape(rows, depth), a_elements),
        (b_left, b_top, _B, _shape(depth, cols), b_elements),
        (sums, below, _C, of_both, sum_elements),
    ):
        _draw_name(canvas, (x, y - 14), name, shape)
        grid(x, y, elements)
    if narrow:
        _draw_key(canvas, left, title, (cell, high))
        return canvas
    middle = below + rows * high / 2
    canvas.dot(b_left - gap / 2, middle)
    canvas.label(sums - gap / 2, middle, "+", "middle", size=Size.OPERATOR)
    canvas.label(1, middle, _D, size=Size.OPERATOR)
    canvas.label(left - _AFTER_EQUALS, middle, "=", "end", size=Size.OPERATOR)
    counts = [len(elements(_SHOWN)) for elements in (a_elements, b_elements, sum_elements)]
    held = Text("lane {lane}: {a} elements of *A*, {b} of *B*, {sums} each of *C* and *D*")
    own = held.of(lane=_SHOWN, a=counts[0], b=counts[1], sums=counts[2])
    others = Text("lanes {lanes}: the rest of these rows and column").of(lanes=_OTHERS)
    canvas.legend(1, end + 28, (Ink.MARK, own), (Ink.LIVE, others), swatch=(cell, high))
    return canvas


def _draw_lane(canvas: Canvas, corner: tuple[float, float], cell: tuple[float, float], lane: int) -> None:
    """An element with its lane."""
    ink = Ink.MARK if lane == _SHOWN else Ink.LIVE if lane in _GROUP else Ink.SPARE
    (x, y), (wide, high) = corner, cell
    canvas.cell(x, y, wide, high, ink=ink)
    middle = x + wide / 2, y + high / 2
    canvas.label(
        *middle, str(lane), "middle", size=Size.SMALL, colour=ink.text, mono=True, bold=ink is Ink.MARK
    )


def _shape(rows: int, cols: int) -> str:
    return f"{rows} × {cols}"


def _draw_name(canvas: Canvas, at: tuple[float, float], name: str, shape: Sentence | str) -> None:
    """The name of a matrix, as the text of the page writes it, and its shape."""
    x, y = at
    canvas.label(x, y, name, bold=True)
    label_x = x + canvas.length(name, Size.VALUE) + 8
    canvas.label(label_x, y, shape, size=Size.LABEL, quiet=True)


def _draw_key(canvas: Canvas, left: float, top: float, cell: tuple[float, float]) -> None:
    """What the marked lane holds, and which lanes have the rest of its rows and column."""
    wide, high = cell
    label_x, middle, line = left + wide + 8, top + high / 2, 20
    _draw_lane(canvas, (left, top), cell, _SHOWN)
    canvas.label(label_x, middle, Text("lane {lane} holds").of(lane=_SHOWN), bold=True)
    of_lane = ((_A, a_elements), (_B, b_elements), (f"{_C}, {_D}", sum_elements))
    for index, (name, elements) in enumerate(of_lane, 1):
        canvas.label(label_x, middle + index * line, name, size=Size.LABEL)
        count = Text("{count} elements").of(count=len(elements(_SHOWN)))
        column = label_x + canvas.length(of_lane[-1][0], Size.LABEL) + 8
        canvas.label(column, middle + index * line, count, size=Size.LABEL)
    middle += 4 * line + 10
    _draw_lane(canvas, (left, middle - high / 2), cell, _GROUP[0])
    names = Text("lanes {lanes}").of(lanes=_OTHERS)
    canvas.label(label_x, middle, names, bold=True)
    canvas.label(label_x, middle + line, Text("rest of row or column"), size=Size.LABEL)


def draw_banks(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The banks that serve a warp's first load of `a`, without and with spare columns."""
    import numpy as np  # noqa: PLC0415

    from tooling.book.figures.requests import draw_requests  # noqa: PLC0415 - brings NumPy
    from tooling.simulator.counters.banks import Service  # noqa: PLC0415
    from tooling.simulator.counters.hook import Sample  # noqa: PLC0415
    from tooling.simulator.counters.profile import Picture  # noqa: PLC0415
    from tooling.simulator.gpu.launch import Dim3  # noqa: PLC0415

    pictures = []
    for words in (_LANES, _LANES + _SPARE):
        first = [a_elements(lane)[0] for lane in range(_LANES)]
        addresses = np.array([(row * words + col) * 4 for row, col in first], np.int64)
        heading = Text("Rows of {words} words").of(words=words)
        pictures.append((heading, Picture(Sample(addresses, 4, 0, 0, Service.LOAD), Dim3(0, 0, 0), 0)))
    return draw_requests(sheet, pictures, narrow=narrow)


def measured_speeds(facts: Facts) -> dict[int, tuple[float, ...]]:
    """TFLOP/s by the rows of the matrices: the tiled kernel, that with tensor cores, and with padded tiles.

    Raises:
        BookError: they are not recorded.
    """
    program, kernel = "benchmarks/kernels/matrix_product.mojo", "p33_tile_tensor"
    products, padded = (measured(facts, run) for run in (program, f"{program}, padded tiles"))
    runs = (products[f"{kernel}:tiled"], products[f"{kernel}:tensor-core"], padded[f"{kernel}:tensor-core"])
    return {
        (size := math.isqrt(same[0].elements)): tuple(2 * size**3 / run.microseconds / 1e6 for run in same)
        for same in zip(*runs, strict=True)
    }


def draw_speeds(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Bars: the peak rates of the ordinary units and of the tensor cores, and the speeds of the kernels."""
    kernels: tuple[tuple[Ink, Text | str], ...] = (
        (Ink.SPARE, "--tiled"),
        (Ink.LIVE, "--tensor-core"),
        (Ink.RESULT, Text("without bank conflicts")),
    )
    peaks = (
        (Text("ordinary units"), measured_roof(facts).peak),
        (Text("tensor cores, tf32"), _TENSOR_CORES),
    )
    rows = {Text("peak rate"): [Bar(peak, f"{peak:.0f}", Ink.FRAME, name) for name, peak in peaks]}
    for size, speeds in measured_speeds(facts).items():
        rows[Text("*n* = {size}").of(size=f"{size:,}")] = [
            Bar(speed, f"{speed:.1f}" if speed < 100 else f"{speed:.0f}", ink, name)
            for speed, (ink, name) in zip(speeds, kernels, strict=True)
        ]
    return draw_bars(sheet, rows, Text("speed (TFLOP/s)"), narrow=narrow)


FIGURES = (
    responsive("p33", draw_fragments),
    responsive("p33-banks", draw_banks),
    responsive("p33-speeds", draw_speeds),
)
