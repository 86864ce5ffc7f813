"""A tensor core's sums of products, bit for bit as an H200 makes them (`tests/data/h200/products.npz`).

All terms of a sum, the addend among them, are shifted to the largest exponent among them, and what then lies
too far down is cut off. The rest is added exactly, and cut to a float32 or rounded to a float16.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.simulator.numerics.rounding import F16, F32, F64, U16, U32

Array = NDArray[Any]

F16_SMALLEST, F32_SMALLEST = -13, -125
"""Exponents of the smallest normal numbers, as of fractions from 0.5; subnormal ones are added with them."""

_NOTHING = -(2**13)  # an exponent far below that of every factor
_NOWHERE = -900  # the largest exponent of a sum of zeros: a power of two that a float64 has


class Precision(Struct, frozen=True):
    """Bits that a sum has.

    Attributes:
        kept: of its terms, counted from the largest exponent.
        result: of a float32 result.
    """

    kept: int
    result: int


FULL = Precision(26, 24)
"""Of inputs from 16 bits."""
EIGHT_BITS = Precision(14, 14)
"""Of eight-bit floating-point inputs that a tensor core multiplies as they are: wgmma."""


class Factors(Struct, frozen=True):
    """The numbers of a matrix, as float64 of shape (warps, rows, depth), and their type's least exponent."""

    values: Array
    smallest: int

    def part(self, depths: list[int]) -> Factors:
        """The same at some places along the depth."""
        return Factors(self.values[:, :, depths], self.smallest)

    @property
    def exponents(self) -> Array:
        """Those with which they are added: a product has the sum of two, even if it carries."""
        return _exponents(self.values, self.smallest)


def tensor_sum(left: Factors, right: Factors, addend: Array, precision: Precision) -> Array:
    """The products of rows of two matrices, added with an addend.

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
    unit = np.maximum(largest, _NOWHERE) - precision.kept
    scale = np.ldexp(1.0, -unit)
    total = np.trunc(total * scale)
    for k in depths:
        terms = left.values[:, :, None, k] * right.values[:, None, :, k]
        terms *= scale
        total += np.trunc(terms, out=terms)
    total = np.ldexp(total, unit)
    return canonical(total.astype(F16) if half else cut(total, precision.result))


def cut(total: Array, bits: int) -> Array:
    """Float64 to a float32 with so many bits, towards zero; what is too large is infinite."""
    unit = np.maximum(np.frexp(total)[1], F32_SMALLEST) - bits
    return np.asarray(np.ldexp(np.trunc(np.ldexp(total, -unit)), unit).astype(F32))


def canonical(sums: Array) -> Array:
    """The same as a tensor core writes it: no zero has a sign, and of a NaN all other bits are set."""
    sums = sums + sums.dtype.type(0)
    word, bits = (U16, 0x7FFF) if sums.dtype == F16 else (U32, 0x7FFFFFFF)
    return np.where(np.isnan(sums), word.type(bits), sums.view(word)).view(sums.dtype)


def _exponents(values: Array, smallest: int) -> Array:
    return np.where(values == 0, _NOTHING, np.maximum(np.frexp(values)[1], smallest))
