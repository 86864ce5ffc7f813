"""Finds the tables of the special function unit in a recording of its results.

usage: python3 fit_approximations.py FOLDER [TABLES.npz]

FOLDER is what `record_approximations.py` has written on a GPU. The tables are compared with the stored ones
(`special_functions.npz`), or written to a file. It takes minutes, and its result depends on nothing else.

Each recorded result says between which numbers the sum c0 + c1*x + 2*c2*square(x) was before it was cut. In a
segment of the table these bounds leave one c1 and one c2: a least-squares fit of the middles of the intervals
is next to them. Of the four c0 that are left the smallest is taken.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from tests.simulator.instructions.record_approximations import Sweep, load, sweeps
from tooling.simulator.numerics.rounding import U32, directed
from tooling.simulator.nvidia.semantics import special_functions as unit

Wide = NDArray[np.int64]

_FRACTIONS = 1 << 23
_LEAST, _MOST = -(1 << 62), 1 << 62
_NEAR = range(-2, 3)
"""By how much the coefficients may differ from those of the least-squares fit."""


class Bounds:
    """The least and the greatest sum for each fraction of 23 bits, in units of 2**-17 of a last place."""

    def __init__(self) -> None:
        self.low: Wide = np.full(_FRACTIONS, _LEAST, np.int64)
        self.high: Wide = np.full(_FRACTIONS, _MOST, np.int64)

    def add(self, fractions: Wide, low: Wide, high: Wide) -> None:
        """Further results, for some of the fractions."""
        np.maximum.at(self.low, fractions, low)
        np.minimum.at(self.high, fractions, high)


class Function(NamedTuple):
    """A table: its segments, the sweeps that show it, and how their results bound its sums."""

    segments: int
    texts: tuple[str, ...]
    exponents: tuple[int, ...]
    add: Callable[[Bounds, Sweep, NDArray[np.uint32]], None]


def _significands(bits: NDArray[np.uint32]) -> tuple[Wide, Wide]:
    """Significand of 24 bits and exponent of each result; both 0 for a zero."""
    _, exponent, fraction = unit._parts(bits)
    normal = exponent != -127
    return np.where(normal, fraction | 1 << 23, 0), np.where(normal, exponent, 0)


def _cut(significand: Wide, shift: Wide) -> tuple[Wide, Wide]:
    """The numbers whose upper bits are significand * 2**shift; a negative shift has lost nothing."""
    left, right = np.maximum(shift, 0), np.maximum(-shift, 0)
    low = significand << left >> right
    return low, low + (1 << left) - 1


def _direct(exponent_of: Callable[[Wide], Wide]) -> Callable[[Bounds, Sweep, NDArray[np.uint32]], None]:
    """The result is the sum times a power of two that the operand's exponent says."""

    def add(bounds: Bounds, sweep: Sweep, results: NDArray[np.uint32]) -> None:
        _, exponent, fraction = unit._parts(sweep.operands())
        significand, found = _significands(results)
        low, high = _cut(significand, 17 + found - exponent_of(exponent))
        regular = fraction != 0  # some powers of two are special cases
        bounds.add(fraction[regular], low[regular], high[regular])

    return add


def _add_exponentials(bounds: Bounds, sweep: Sweep, results: NDArray[np.uint32]) -> None:
    sign, exponent, fraction = unit._parts(sweep.operands())
    significand = fraction | 1 << 23
    fixed = np.where(
        exponent >= 0, significand << np.maximum(exponent, 0), significand >> np.maximum(-exponent, 0)
    )
    whole = fixed & _FRACTIONS - 1 == 0
    fixed = np.where(sign == 0, fixed, np.where(whole, -fixed, ~fixed))
    significand, found = _significands(results)
    low, high = _cut(significand, 17 + found - (fixed >> 23))
    bounds.add(fixed & _FRACTIONS - 1, low, high)


def _add_logarithms(bounds: Bounds, sweep: Sweep, results: NDArray[np.uint32]) -> None:
    _, exponent, fraction = unit._parts(sweep.operands())
    significand, found = _significands(results)
    low, high = _cut(significand, found + 13)
    negative = results >> 31 != 0
    low, high = np.where(negative, ~high, low), np.where(negative, ~low, high)
    whole = exponent << 41
    regular = fraction != 0
    low, high = (low << 5) - whole, (high << 5) + 31 - whole
    bounds.add(fraction[regular], low[regular], high[regular])


def _add_sines(bounds: Bounds, sweep: Sweep, results: NDArray[np.uint32]) -> None:
    operands = sweep.operands()
    exact = operands.view(np.float32) * np.float64(unit._TURN)
    turns = np.asarray(directed(exact.astype(np.float32), exact, "rz"), np.float32).view(U32)
    _, exponent, fraction = unit._parts(turns)
    significand, shift = fraction | 1 << 23, exponent + 2
    fixed = np.where(shift >= 0, significand << np.maximum(shift, 0), significand >> np.maximum(-shift, 0))
    fixed += int(sweep.text.startswith("cos")) << 23
    rest = fixed & _FRACTIONS - 1
    rest = np.where(fixed >> 23 & 1 == 0, rest, ~rest & _FRACTIONS - 1)
    significand, found = _significands(results)
    low, high = _cut(significand, found + 18)
    bounds.add(rest, low, high)


FUNCTIONS = {
    "rcp": Function(128, ("rcp.approx.ftz.f32",), (0,), _direct(lambda exponent: -exponent - 1)),
    **{
        f"rsqrt{odd}": Function(
            64, ("rsqrt.approx.ftz.f32",), (odd,), _direct(lambda exponent: -(exponent >> 1) - 1)
        )
        for odd in (0, 1)
    },
    **{
        f"sqrt{odd}": Function(64, ("sqrt.approx.ftz.f32",), (odd,), _direct(lambda exponent: exponent >> 1))
        for odd in (0, 1)
    },
    "ex2": Function(64, ("ex2.approx.ftz.f32",), (-1, 0), _add_exponentials),
    "sin": Function(64, ("sin.approx.ftz.f32", "cos.approx.ftz.f32"), (2,), _add_sines),
    "lg2": Function(64, ("lg2.approx.ftz.f32",), (-1, 0, 1), _add_logarithms),
}


def sweeps_of(function: Function) -> Iterator[Sweep]:
    """The recorded sweeps over whole binades that show a table."""
    for sweep in sweeps():
        exponent = (sweep.first >> 23 & 0xFF) - 127
        if sweep.text in function.texts and sweep.step == 1 and exponent in function.exponents:
            yield sweep


def fit(bounds: Bounds, segments: int, chosen: range | None = None) -> Wide:
    """(3, segments) coefficients, as in `special_functions.npz`.

    Args:
        chosen: the segments that are found; default: all.

    Raises:
        ValueError: no coefficients agree with the bounds of a segment.
    """
    count = _FRACTIONS // segments
    x = np.arange(count, dtype=np.int64) << 17 - (23 - (segments.bit_length() - 1))
    square = 2 * unit._squares()[x]
    columns = [
        _fit_segment(bounds, slice(number * count, (number + 1) * count), x, square)
        for number in chosen or range(segments)
    ]
    return np.array(columns, np.int64).T


def _fit_segment(bounds: Bounds, where: slice, x: Wide, square: Wide) -> tuple[int, int, int]:
    low, high = bounds.low[where], bounds.high[where]
    known = (low != _LEAST) & (high != _MOST)
    low, high, x, square = (each[known] for each in (low, high, x, square))
    start = low[0]
    middle = (low - start).astype(np.float64) + (high - low) / 2
    basis = np.stack([np.ones(len(x)), x, square], axis=1)
    _, first, second = np.linalg.lstsq(basis, middle, rcond=None)[0]
    steps = sorted(product(_NEAR, _NEAR), key=lambda step: (abs(step[0]) + abs(step[1]), step))
    for by_first, by_second in steps:
        c1, c2 = round(first) + by_first, round(second) + by_second
        rest = c1 * x + c2 * square
        c0 = int((low - rest).max())
        if c0 <= int((high - rest).min()):
            return c0, c1, c2
    raise ValueError(f"no coefficients for the fractions from {where.start}")


def tables(folder: Path) -> dict[str, Wide]:
    """All tables that a recording shows."""
    found = {}
    for name, function in FUNCTIONS.items():
        bounds = Bounds()
        for sweep in sweeps_of(function):
            function.add(bounds, sweep, load(folder, sweep))
        found[name] = fit(bounds, function.segments)
    for kind, infinity in (("f16", 0x7C00), ("bf16", 0x7F80)):
        (sweep,) = (each for each in sweeps() if each.text == f"tanh.approx.{kind}")
        values = load(folder, sweep).astype(np.int64)[: infinity + 1]
        found[f"tanh_{kind}"] = np.diff(values, prepend=0).astype(np.int8)
    return found


def main() -> int:
    """Compare the tables of a recording with the stored ones, or write them."""
    found = tables(Path(sys.argv[1]))
    if len(sys.argv) > 2:
        np.savez_compressed(sys.argv[2], allow_pickle=False, **found)
        return 0
    with np.load(unit._COEFFICIENTS) as stored:
        for name, table in found.items():
            different = np.count_nonzero(stored[name] != table)
            sys.stdout.write(f"{name}: {table.size} numbers, {different} different\n")
            if different:
                return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
