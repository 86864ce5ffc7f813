"""float64 arithmetic: fused multiply-add, directed rounding, and which NaN comes out.

Directed rounding is rare, so it is done lane by lane in exact fractions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from tooling.simulator.numerics.rounding import F64, U64, Array, exact_sum, two_sum

_QUIET = np.uint64(1 << 51)


def keep_nan(result: Array, *operands: Array) -> Array:
    """The result with the NaN of the last NaN operand, made quiet: f64 instructions keep payloads."""
    wrong = np.isnan(result)
    if not wrong.any():
        return result
    for operand in operands:
        quiet = (operand.view(U64) | _QUIET).view(F64)
        result = np.where(wrong & np.isnan(operand), quiet, result)
    return result


def flush64(value: Array) -> Array:
    """`.ftz` for f64: subnormal values become zeros of the same sign."""
    small = np.abs(value) < np.finfo(F64).tiny
    return np.where(small, np.copysign(0.0, value), value)


def _split(a: Array) -> tuple[Array, Array]:
    scaled = a * 134217729.0
    high = scaled - (scaled - a)
    return high, a - high


def fma64(a: Array, b: Array, c: Array) -> Array:
    """a * b + c with one rounding (Boldo and Melquiond's emulation; extreme lanes in exact fractions)."""
    a, b, c = np.broadcast_arrays(a, b, c)
    product = a * b
    (a1, a2), (b1, b2) = _split(a), _split(b)
    low = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2
    sum_high, sum_low = two_sum(c, low)
    high, rest = two_sum(product, sum_high)
    result = high + exact_sum(sum_low, rest)
    naive = np.where(np.isinf(c) & np.isfinite(a) & np.isfinite(b), c, product + c)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    plain = ~finite | (a == 0) | (b == 0)
    result = np.where(plain, naive, result)
    largest = np.maximum(np.maximum(np.abs(a), np.abs(b)), np.maximum(np.abs(product), np.abs(c)))
    small = (np.abs(product) < 2.0**-900) | ((np.abs(c) < 2.0**-900) & (c != 0))
    for lane in np.flatnonzero(~plain & ((largest > 2.0**990) | small)):
        x, y, z = float(a[lane]), float(b[lane]), float(c[lane])
        result[lane] = nearest64(Fraction(x) * Fraction(y) + Fraction(z), x * y + z)
    return keep_nan(result, a, c, b)


def nearest64(exact: Fraction, zero: float) -> float:
    """The nearest double of an exact value; `zero` is what to return for an exact zero (its sign)."""
    if exact == 0:
        return zero
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def directed64(nearest: Array, side: Callable[[int], int], mode: str) -> Array:
    """Turn doubles rounded to nearest into doubles rounded by `rz`, `rm` or `rp`.

    Args:
        side: for a lane, the sign of (true value - nearest double); asked for finite true values only.
    """
    result = np.array(nearest)
    for lane in range(len(result)):
        value = float(result[lane])
        if math.isnan(value):
            continue
        sign = side(lane)
        toward_zero = -1 if value > 0 else 1
        if sign == 0 or (mode == "rz" and (sign != toward_zero or value == 0)):
            continue
        if (mode == "rm" and sign > 0) or (mode == "rp" and sign < 0):
            continue
        result[lane] = math.nextafter(value, math.inf if sign > 0 else -math.inf)
    return result


def exact_side(lane_value: Callable[[int], Fraction | None], nearest: Array) -> Callable[[int], int]:
    """`side` for `directed64` from exact values; None if the true value is infinite or NaN."""

    def side(lane: int) -> int:
        exact = lane_value(lane)
        if exact is None:
            return 0
        value = float(nearest[lane])
        if math.isinf(value):
            return -1 if value > 0 else 1
        rest = exact - Fraction(value)
        return (rest > 0) - (rest < 0)

    return side
