"""A tensor core's sums of products, bit for bit as on an H200 (`tests/data/h200/products.npz`).

All terms of a sum, including the addend, are aligned to their largest exponent and truncated to a fixed
number of bits. Their exact sum is truncated to a float32 or rounded to a float16.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.simulator.numerics.rounding import F16, F32, F64, U16, U32

Array = NDArray[Any]

F16_SMALLEST, F32_SMALLEST = -13, -125
"""`frexp` exponents of the smallest normal numbers; subnormal numbers are aligned with the same exponent."""

_ZERO_EXPONENT = -(2**13)  # of a zero: far below that of every factor
_MIN_EXPONENT = -900  # of a sum of zeros: its power of two must be a float64


class Precision(Struct, frozen=True):
    """Bits that a sum keeps.

    Attributes:
        kept: bits of each term, counted from the largest exponent.
        result: bits of a float32 result.
    """

    kept: int
    result: int


FULL = Precision(26, 24)
"""For inputs of 16 bits or more."""
EIGHT_BITS = Precision(14, 14)
"""For 8-bit floating-point inputs of wgmma, which are multiplied without conversion to f16."""


class Factors(Struct, frozen=True):
    """A matrix, as float64 of shape (warps, rows, depth), and the smallest normal exponent of its type."""

    values: Array
    smallest: int

    def at_depths(self, depths: list[int]) -> Factors:
        """The columns at these indices along the depth."""
        return Factors(self.values[:, :, depths], self.smallest)

    @property
    def exponents(self) -> Array:
        """The exponents used for alignment: that of a product is the sum of two, without normalisation."""
        return _exponents(self.values, self.smallest)


def tensor_sum(left: Factors, right: Factors, addend: Array, precision: Precision) -> Array:
    """The dot products of the rows of two matrices, plus an addend.

    Args:
        addend: float32 or float16, (warps, rows of left, rows of right).

    Returns:
        The sums, of the addend's type and shape.
    """
    half = addend.dtype == F16
    total = addend.astype(F64)
    largest = _exponents(total, F16_SMALLEST if half else F32_SMALLEST)
    depths = range(left.values.shape[2])
    rows, columns = left.exponents - 1, right.exponents
    for k in depths:
        np.maximum(largest, rows[:, :, None, k] + columns[:, None, :, k], out=largest)
    unit = np.maximum(largest, _MIN_EXPONENT) - precision.kept
    scale = np.ldexp(1.0, -unit)
    total = np.trunc(total * scale)
    for k in depths:
        terms = left.values[:, :, None, k] * right.values[:, None, :, k]
        terms *= scale
        total += np.trunc(terms, out=terms)
    total = np.ldexp(total, unit)
    return canonical(total.astype(F16) if half else cut(total, precision.result))


def cut(total: Array, bits: int) -> Array:
    """Float64 to float32 with `bits` significant bits, truncated; overflow gives infinity."""
    unit = np.maximum(np.frexp(total)[1], F32_SMALLEST) - bits
    return np.asarray(np.ldexp(np.trunc(np.ldexp(total, -unit)), unit).astype(F32))


def canonical(sums: Array) -> Array:
    """The sums as a tensor core writes them: zeros are positive, and a NaN has all bits but the sign set."""
    sums = sums + sums.dtype.type(0)
    word, bits = (U16, 0x7FFF) if sums.dtype == F16 else (U32, 0x7FFFFFFF)
    return np.where(np.isnan(sums), word.type(bits), sums.view(word)).view(sums.dtype)


def _exponents(values: Array, smallest: int) -> Array:
    return np.where(values == 0, _ZERO_EXPONENT, np.maximum(np.frexp(values)[1], smallest))
