"""Floating-point arithmetic with the exact rounding of PTX, on NumPy arrays.

NumPy's float32 and float64 add, mul, div and sqrt round once to nearest-even, as `.rn` asks. What NumPy has
not (fused multiply-add, directed rounding, bfloat16) is built here from exact residuals. Callers run inside
`np.errstate(all="ignore")`.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

F16, F32, F64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
U8, U16, U32, U64 = np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.uint32), np.dtype(np.uint64)
S8, S16, S32, S64 = np.dtype(np.int8), np.dtype(np.int16), np.dtype(np.int32), np.dtype(np.int64)
PRED = np.dtype(np.bool_)

NAN32 = np.array([0x7FFFFFFF], U32).view(F32)[0]
"""The one NaN that f32 arithmetic returns (PTX ISA 9.7.3: canonical NaN 0x7fffffff)."""
NAN16 = np.array([0x7FFF], U16).view(F16)[0]

_TIE = np.int64(-(1 << 63))
_TIE_SHIFT = np.uint64(35)
_TINY = np.float32(2.0**-126)
_ONE = np.uint64(1)


def canonical32(value: Array) -> Array:
    """`value` with every NaN made canonical; `value` itself when it holds none."""
    if value.size and np.isnan(np.maximum.reduce(value)):
        return np.where(np.isnan(value), NAN32, value)
    return value


def canonical16(value: Array) -> Array:
    """The same for f16: canonical NaN 0x7fff."""
    return np.where(np.isnan(value), NAN16, value) if np.isnan(value).any() else value


def flush32(value: Array) -> Array:
    """`.ftz`: subnormal f32 values become zeros of the same sign."""
    small = np.abs(value) < _TINY
    return np.where(small, np.copysign(np.float32(0), value), value) if small.any() else value


def flush16(value: Array) -> Array:
    """`.ftz` for f16."""
    small = np.abs(value) < np.float16(2.0**-14)
    return np.where(small, np.copysign(np.float16(0), value), value)


def saturate(value: Array) -> Array:
    """`.sat`: clamp to [0, 1]; NaN and -0 become +0."""
    kind = value.dtype.type
    return np.asarray(np.where(value > 0, np.minimum(value, kind(1)), kind(0)), value.dtype)


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum and its exact error (Knuth)."""
    total = a + b
    shadow = total - a
    return total, (a - (total - shadow)) + (b - shadow)


def to_odd(total: Array, error: Array) -> Array:
    """`total + error` rounded to odd: inexact sums get an odd last bit, so that rounding again is right.

    `total` must be the nearest double of the exact sum (Boldo and Melquiond, 2008).
    """
    inexact = (error != 0) & np.isfinite(total) & ~np.isnan(error)
    bits = total.view(U64)
    even = (bits & _ONE) == 0
    # Truncate towards the exact value's side: one step away from `total` where the error points inward.
    away = (error > 0) == (total > 0)
    stepped = np.where(away, bits + _ONE, bits - _ONE)
    stepped = np.where(total == 0, bits, stepped)
    return np.where(inexact & even, stepped, bits).view(F64)


def exact_sum(a: Array, b: Array) -> Array:
    """a + b of doubles, rounded to odd."""
    return to_odd(*two_sum(a, b))


_CHUNK = 32768
"""Lanes that `fma32` takes at once: its two rows of doubles stay in the second-level cache, and NumPy's calls
cost little in comparison."""


class _Workspace(threading.local):
    """Room for one chunk of `fma32`, per thread."""

    def __init__(self) -> None:
        self.product: NDArray[np.float64] = np.empty(_CHUNK)
        self.total: NDArray[np.float64] = np.empty(_CHUNK)
        self.size: NDArray[np.float32] = np.empty(_CHUNK, F32)


_workspace = _Workspace()


def fma32(a: Array, b: Array, c: Array) -> Array:
    """a * b + c of float32 with one rounding to nearest-even; NaN canonical.

    The product of two floats is exact in a double. The double sum, rounded again to float, is wrong only when
    it is exactly between two floats after having been rounded itself, or when the float is subnormal: those
    lanes are summed again with round-to-odd.
    """
    count = max(len(a), len(b), len(c))
    result: Array = np.empty(count, F32)
    for start in range(0, count, _CHUNK):
        chunk = slice(start, start + _CHUNK)
        _fma_chunk(result[chunk], *(x if len(x) == 1 else x[chunk] for x in (a, b, c)))
    return result


def _fma_chunk(result: Array, a: Array, b: Array, c: Array) -> None:
    count = len(result)
    product, total = _workspace.product[:count], _workspace.total[:count]
    size = _workspace.size[:count]
    product[:] = a
    total[:] = b
    np.multiply(product, total, out=product)
    total[:] = c
    np.add(product, total, out=total)
    result[:] = total
    # The low 29 bits of a tie are 100…0: moved to the top, they are the least signed number.
    bits = total.view(U64)
    np.left_shift(bits, _TIE_SHIFT, out=bits)
    np.abs(result, out=size)
    smallest = np.minimum.reduce(size)
    if np.minimum.reduce(total.view(S64)) == _TIE or not smallest > _TINY:
        addend = np.broadcast_to(c, count).astype(F64)
        lanes = np.flatnonzero((total.view(S64) == _TIE) | ((size <= _TINY) & (product + addend != 0)))
        sums, errors = two_sum(product[lanes], addend[lanes])
        rounded = np.flatnonzero(errors)  # a tie of numbers with few bits is mostly the exact sum
        if len(rounded):
            result[lanes[rounded]] = to_odd(sums[rounded], errors[rounded]).astype(F32)
        if np.isnan(smallest):
            result[np.isnan(result)] = NAN32


def directed(nearest: Array, exact: Array, mode: str) -> Array:
    """Turn a value rounded to nearest into one rounded by `mode`, of the same type.

    Args:
        nearest: the nearest float32 or float16 of the true value.
        exact: a double on the same side of every such number as the true value (rounded to odd, or exact).
        mode: `rz`, `rm` or `rp`.
    """
    if mode == "rn":
        return nearest
    wide = nearest.astype(F64)
    infinity = nearest.dtype.type(np.inf)
    down = exact < wide
    up = exact > wide
    if mode == "rz":
        down, up = down & (exact > 0), up & (exact < 0)
    elif mode == "rm":
        up = np.zeros_like(up)
    else:
        down = np.zeros_like(down)
    result = np.where(down, np.nextafter(nearest, -infinity), nearest)
    return np.where(up, np.nextafter(result, infinity), result)


def bf16_to_f32(bits: Array) -> Array:
    """bfloat16 bits (uint16) as float32, exactly."""
    return (bits.view(U16).astype(U32) << np.uint32(16)).view(F32)


def f32_to_bf16(value: Array, mode: str = "rn") -> Array:
    """float32 to bfloat16 bits (uint16); NaN becomes 0x7fff.

    Args:
        mode: `rn` (to nearest-even), `rz` (towards zero), `rm` (down) or `rp` (up).
    """
    bits = value.view(U32)
    half = np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    rounded = bits
    if mode == "rn":
        rounded = bits + half
    elif mode != "rz":
        away = np.signbit(value) == (mode == "rm")
        rounded = np.where(away, bits + np.uint32(0xFFFF), bits)  # infinity has no lower bits
    result = (rounded >> np.uint32(16)).astype(U16)
    return np.where(np.isnan(value), np.uint16(0x7FFF), result)


def f64_to_bf16(value: Array, mode: str = "rn") -> Array:
    """float64 to bfloat16 bits with one rounding: first to float32 rounded to odd."""
    nearest = value.astype(F32)
    wide = nearest.astype(F64)
    toward_zero = np.where(np.abs(wide) > np.abs(value), np.nextafter(nearest, np.float32(0)), nearest)
    odd = np.where(
        toward_zero.astype(F64) != value, toward_zero.view(U32) | np.uint32(1), toward_zero.view(U32)
    )
    odd = np.where(np.isfinite(value), odd, nearest.view(U32))
    return f32_to_bf16(odd.astype(U32).view(F32), mode)


def f32_to_tf32(value: Array, mode: str = "rna") -> Array:
    """float32 rounded to the 10 mantissa bits of tf32, as f32 bits.

    Args:
        mode: `rna` (nearest, ties away from zero), `rn` (ties to even) or `rz` (towards zero).
    """
    bits = value.view(U32)
    if mode == "rna":
        rounded = (bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
    elif mode == "rz":
        rounded = bits & np.uint32(0xFFFFE000)
    else:
        rounded = (bits + np.uint32(0xFFF) + ((bits >> np.uint32(13)) & np.uint32(1))) & np.uint32(0xFFFFE000)
    special = bits & np.uint32(0xFFFFE000)
    if mode != "rna":
        special = np.where(np.isnan(value), np.uint32(0x7FFFE000), special)
    return np.where(np.isfinite(value), rounded, special)
