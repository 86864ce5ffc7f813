"""Puzzle 33: which lane holds which element of an mma instruction, and the banks of a lane's loads."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tooling.book.figures.canvas import Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import Figure
from tooling.text import Text

Place = tuple[int, int]

_LANES = 32
_SHAPE = (16, 8, 8)  # M, K and N of the instruction on NVIDIA GPUs
_SHOWN = 5  # the lane whose elements are marked
_GROUP = range(_SHOWN // 4 * 4, _SHOWN // 4 * 4 + 4)  # the lanes that share its rows of a and of the sums
_SPARE = 4  # the columns that the challenge adds to a row of the tile of a


def a_elements(lane: int) -> tuple[Place, ...]:
    """Row and column of the elements that `load_a_fragment` gives a lane, of 16 x 8."""
    r, c = lane // 4, lane % 4
    return (r, c), (r + 8, c), (r, c + 4), (r + 8, c + 4)


def b_elements(lane: int) -> tuple[Place, ...]:
    """Those of `load_b_fragment`, of 8 x 8."""
    r, c = lane % 4, lane // 4
    return (r, c), (r + 4, c)


def sum_elements(lane: int) -> tuple[Place, ...]:
    """Those that `store_fragment` writes, of 16 x 8."""
    r, c = lane // 4, lane % 4 * 2
    return (r, c), (r, c + 1), (r + 8, c), (r + 8, c + 1)


def draw_fragments(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """`b` above, `a` on the left, the sums between them: each element with the lane that holds it."""
    rows, depth, cols = _SHAPE
    cell, gap, left = (21, 10, 1) if narrow else (27, 30, 1)
    top = 30
    right, below = left + depth * cell + gap, top + depth * cell + gap + 18
    canvas = sheet(right + cols * cell + left, below + rows * cell + 8)

    def grid(x: float, y: float, elements: Callable[[int], tuple[Place, ...]]) -> None:
        for lane in range(_LANES):
            for row, col in elements(lane):
                ink = Ink.MARK if lane == _SHOWN else Ink.LIVE if lane in _GROUP else Ink.SPARE
                size = Size.SMALL if narrow else Size.LABEL
                corner = x + col * cell, y + row * cell
                if ink is Ink.SPARE:  # its text would be too weak for hundreds of numbers
                    canvas.cell(*corner, cell, cell, ink=ink)
                    middle = corner[0] + cell / 2, corner[1] + cell / 2
                    canvas.label(*middle, str(lane), "middle", size=size, mono=True, quiet=True)
                else:
                    canvas.cell(*corner, cell, cell, str(lane), ink=ink, size=size)

    _draw_name(canvas, (left, below - 14), "a", (rows, depth))
    _draw_name(canvas, (right, top - 14), "b", (depth, cols))
    canvas.label(
        right, below - 14, Text("sums {rows} × {cols}").of(rows=rows, cols=cols), bold=True, size=Size.VALUE
    )
    grid(left, below, a_elements)
    grid(right, top, b_elements)
    grid(right, below, sum_elements)
    _draw_key(canvas, left, top, cell)
    return canvas


def _draw_name(canvas: Canvas, at: tuple[float, float], name: str, shape: tuple[int, int]) -> None:
    """The name of a matrix and its shape."""
    x, y = at
    canvas.label(x, y, name, bold=True, mono=True)
    beside = x + canvas.length(name, Size.VALUE, mono=True) + 7
    canvas.label(beside, y, f"{shape[0]} × {shape[1]}", bold=True)


def _draw_key(canvas: Canvas, left: float, top: float, cell: float) -> None:
    """What the marked lane holds, and which lanes have the rest of its rows and column."""
    beside, middle, line = left + cell + 8, top + cell / 2, 20
    canvas.cell(left, top, cell, cell, str(_SHOWN), ink=Ink.MARK, size=Size.LABEL)
    canvas.label(beside, middle, Text("lane {lane} holds").of(lane=_SHOWN), bold=True)
    for place, (name, elements) in enumerate((("a", a_elements), ("b", b_elements)), 1):
        canvas.label(beside, middle + place * line, name, size=Size.LABEL, mono=True)
        count = Text("{count} elements").of(count=len(elements(_SHOWN)))
        canvas.label(beside + 14, middle + place * line, count, size=Size.LABEL)
    sums = Text("{count} sums").of(count=len(sum_elements(_SHOWN)))
    canvas.label(beside, middle + 3 * line, sums, size=Size.LABEL)
    others = [lane for lane in _GROUP if lane != _SHOWN]
    middle += 4 * line + 10
    canvas.cell(left, middle - cell / 2, cell, cell, str(others[0]), ink=Ink.LIVE, size=Size.LABEL)
    names = Text("lanes {lanes}").of(lanes=", ".join(map(str, others)))
    canvas.label(beside, middle, names, bold=True)
    canvas.label(beside, middle + line, Text("rest of row or column"), size=Size.LABEL)


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


FIGURES = (
    Figure(
        "p33",
        Text(
            "One `mma` instruction: 16 × 8 elements of `a` times 8 × 8 elements of `b`, added to 16 × 8 "
            "sums. The number in each place is the lane of the warp that holds this element. The "
            "elements of lane 5 are marked; those of the lanes 4, 6 and 7, which hold the rest of the "
            "same rows or column, are tinted."
        ),
        Text(
            "Three grids of lane numbers. The rows of a contain 0 1 2 3 0 1 2 3, then 4 5 6 7 4 5 6 7 "
            "and so on to lane 31 in row 7, and the same again in rows 8 to 15. The columns of b "
            "contain 0 1 2 3 0 1 2 3 from top to bottom, the next column 4 5 6 7 4 5 6 7. The rows of "
            "the sums contain each lane twice: 0 0 1 1 2 2 3 3, then 4 4 5 5 6 6 7 7. Lane 5 has the "
            "elements (1, 1), (9, 1), (1, 5) and (9, 5) of a, (1, 1) and (5, 1) of b, and the sums "
            "(1, 2), (1, 3), (9, 2) and (9, 3). It shares rows 1 and 9 of a and of the sums, and column 1 "
            "of b, with lanes 4, 6 and 7."
        ),
        draw_fragments,
        narrow=partial(draw_fragments, narrow=True),
    ),
    Figure(
        "p33-banks",
        Text(
            "The banks that serve a warp when each lane loads its first element of `a`. Above, as in "
            "the solution: eight passes over four banks. Below, with four spare words in each row: "
            "one pass over all banks. Bank conflicts add the passes with red labels."
        ),
        Text(
            "Two maps with a column for each of the 32 banks. In the upper one only banks 0 to 3 are "
            "used, in eight passes: lanes 0 to 3 in the first, 4 to 7 in the second and so on. In the "
            "lower one a single pass serves lanes 0 to 31 in the banks of the same numbers."
        ),
        draw_banks,
        narrow=partial(draw_banks, narrow=True),
    ),
)
