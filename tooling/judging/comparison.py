"""Compares two buffers element by element."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.judging.reference import Array

SHOWN = 5


class Mismatch(Struct, frozen=True):
    """One element that differs."""

    index: tuple[int, ...]
    got: float
    expected: float


class Comparison(Struct, frozen=True, eq=False):
    """The result of comparing two buffers of the same shape."""

    total: int
    differing: int
    first: tuple[Mismatch, ...]  # at most SHOWN
    wrong: NDArray[np.bool_]
    rtol: float = 0.0
    atol: float = 0.0

    @property
    def equal(self) -> bool:
        return self.differing == 0


def compare(got: Array, expected: Array, rtol: float = 0.0, atol: float = 0.0) -> Comparison:
    """Compares element by element: |got - expected| <= atol + rtol * |expected|.

    NaN equals only NaN, and an infinity only the same infinity; with both tolerances zero, values must
    be equal (0.0 and -0.0 are). Integers are compared as integers.

    Args:
        got, expected: arrays of the same shape and type.
    """
    if expected.dtype.kind == "f":
        with np.errstate(invalid="ignore", over="ignore"):
            right = (got == expected) | (np.isnan(got) & np.isnan(expected))
            if rtol or atol:
                wide_got, wide = got.astype(np.float64), expected.astype(np.float64)
                near = np.abs(wide_got - wide) <= atol + rtol * np.abs(wide)
                right |= near & np.isfinite(wide_got) & np.isfinite(wide)
    else:
        right = got == expected
    wrong = ~right
    indices = np.argwhere(wrong)
    first = tuple(
        Mismatch(
            tuple(int(axis) for axis in index), _plain(got[tuple(index)]), _plain(expected[tuple(index)])
        )
        for index in indices[:SHOWN]
    )
    return Comparison(int(expected.size), len(indices), first, wrong, rtol, atol)


def _plain(value: object) -> float:
    """A Python number with the shortest digits of its NumPy type: 0.1 stays 0.1 for float32 too."""
    if isinstance(value, (np.integer, np.bool_)):
        return int(value)
    return float(str(value))
