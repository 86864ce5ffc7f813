"""Numbers of 8 bits, as gfx942 has them: FP8 (E4M3) and BF8 (E5M2), both without infinity and negative zero.

Their exponents have a bias of 8 and 16; 0x80 is the only NaN (CDNA 3 ISA, "Float8 Formats"). A number that is
too large becomes NaN, as in the mode that kernels start in (FP16_OVFL is 0).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.amd.semantics.registry import enter
from tooling.simulator.numerics.rounding import F32, F64, U8, U16, U32, U64

Array = NDArray[Any]
_VOP1 = "CDNA 3 ISA, VOP1 Instructions"
_VOP3 = "CDNA 3 ISA, VOP3A & VOP3B Instructions"
_NAN = 0x80


def _values(mantissa: int, bias: int) -> Array:
    """The number of each of the 256 patterns."""
    pattern = np.arange(256)
    exponent = pattern >> mantissa & (1 << 7 - mantissa) - 1
    fraction = (pattern & (1 << mantissa) - 1) / (1 << mantissa)
    magnitude = np.where(exponent == 0, np.ldexp(fraction, 1 - bias), np.ldexp(1 + fraction, exponent - bias))
    found = np.where(pattern & 0x80, -magnitude, magnitude)
    found[_NAN] = np.nan
    return found.astype(F32)


VALUES = {"fp8": _values(3, 8), "bf8": _values(2, 16)}
"""The float32 number of each pattern, by the name of the format."""


def widened(kind: str, patterns: Array) -> Array:
    """The float32 numbers of bytes."""
    return VALUES[kind][patterns]


def narrowed(kind: str, numbers: Array) -> Array:
    """The nearest bytes of float32 numbers, to even; NaN for what is out of range."""
    steps = VALUES[kind][:128].astype(F64)
    magnitude = np.abs(numbers.astype(F64))
    above = np.searchsorted(steps, magnitude)
    high = np.minimum(above, 127)
    low = np.maximum(above - 1, 0)
    below_gap, above_gap = magnitude - steps[low], steps[high] - magnitude
    upper = (above_gap < below_gap) | (above_gap == below_gap) & (high % 2 == 0)
    found = np.where(upper, high, low)
    beyond = steps[127] + (steps[127] - steps[126]) / 2
    sign = np.where(np.signbit(numbers) & (found != 0), 0x80, 0)
    out = np.isnan(numbers) | (magnitude >= beyond)
    return np.where(out, _NAN, found | sign).astype(U8)


def _first(kind: str) -> Callable[[Array], Array]:
    return lambda a: widened(kind, a & U32.type(255))


def _pair(kind: str) -> Callable[[Array], Array]:
    """Two numbers, in a pair of registers."""

    def pair(a: Array) -> Array:
        low, high = (widened(kind, a >> U32.type(by) & U32.type(255)).view(U32) for by in (0, 8))
        return low.astype(U64) | high.astype(U64) << U64.type(32)

    return pair


def _packed(kind: str) -> Callable[[Array, Array], Array]:
    def pack(a: Array, b: Array) -> Array:
        return narrowed(kind, a).astype(U16) | narrowed(kind, b).astype(U16) << U16.type(8)

    return pack


def stochastic(kind: str) -> Callable[[Array, Array], Array]:
    """V_CVT_SR: the upper 20 bits of the second operand are added to the mantissa before it is rounded."""

    def convert(a: Array, by: Array) -> Array:
        bits = a.view(U32)
        mantissa = (bits + (by >> U32.type(12))) & U32.type(0x7FFFFF)
        return narrowed(kind, (bits & ~U32.type(0x7FFFFF) | mantissa).view(F32)).astype(U32)

    return convert


for _kind in VALUES:
    enter(_VOP1, "f32 <- b32", **{f"v_cvt_f32_{_kind}": _first(_kind)})
    enter(_VOP1, "b64 <- b32", **{f"v_cvt_pk_f32_{_kind}": _pair(_kind)})
    enter(_VOP3, "b16 <- f32 f32", **{f"v_cvt_pk_{_kind}_f32": _packed(_kind)})
    enter(_VOP3, "b32 <- f32 b32", **{f"v_cvt_sr_{_kind}_f32": stochastic(_kind)})
