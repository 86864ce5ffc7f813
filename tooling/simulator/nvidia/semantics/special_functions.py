"""The special function unit of a Hopper GPU (MUFU in machine code), bit for bit.

The unit evaluates a table of quadratics: the upper bits of a fraction select the coefficients, the lower
ones, x, enter c0 + c1*x + c2*x*x, whose upper bits are the result: nothing is rounded. The squarer leaves out
the columns of partial products below 2**-15. The structure is that of S. Oberman and M. Siu, "A
high-performance area-efficient multifunction interpolator" (ARITH-17, 2005); the coefficients were fitted to
recordings of an H100, which executes the same machine code as an H200
(`tests/simulator/instructions/record_approximations.py`): with them all recorded results have the same bits,
over whole binades. They are in `special_functions.npz`, which `fit_approximations.py` there makes of such a
recording.

All functions take and return bits: (n,) uint32. Subnormal numbers count as zeros, and subnormal results
become zeros, as with `.ftz`.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.numerics.rounding import F64, U32, directed

Bits = NDArray[np.uint32]
Wide = NDArray[np.int64]

_COEFFICIENTS = Path(__file__).with_suffix(".npz")
_FRACTION = 23
"""Bits of a fraction: of the operand's significand, or of its fixed-point form."""
_GUARD = 17
"""Bits that a sum has below the last place of its result."""
_NAN = 0x7FFFFFFF
_INFINITY = 0x7F800000
_HIDDEN = 1 << _FRACTION
_TURN = float(np.float32(0.15915493667125702))
"""1 / (2 pi), by which sine and cosine multiply their operand before they use the unit."""
_QUADRANT = _HIDDEN
"""A quarter of a turn, of 25 bits."""


@functools.cache
def _tables() -> dict[str, Wide]:
    """By function, (3, segments) coefficients: c0 in units of 2**-17 of a last place, c1, and 2*c2."""
    with np.load(_COEFFICIENTS) as archive:
        return {name: archive[name].astype(np.int64) for name in archive.files if not name.startswith("tanh")}


@functools.cache
def _squares() -> Wide:
    """The squares of the fractions of 17 bits as the unit computes them, in units of 2**-15."""
    lowest = 19
    number = np.arange(1 << _GUARD, dtype=np.int64)
    total: Wide = np.zeros_like(number)
    for high in range(_GUARD):
        bit = number >> high & 1
        if 2 * high >= lowest:
            total += bit << 2 * high
        for low in range(max(lowest - high - 1, 0), high):
            total += (bit & number >> low) << high + low + 1
    total >>= lowest
    return total


def _interpolate(table: Wide, fraction: Wide) -> Wide:
    """The sums for fractions of 23 bits, in units of 2**-17 of a last place."""
    rest = _FRACTION - (table.shape[1].bit_length() - 1)
    segment = fraction >> rest
    x = (fraction & (1 << rest) - 1) << _GUARD - rest
    c0, c1, c2 = table
    total: Wide = c0[segment] + c1[segment] * x + 2 * c2[segment] * _squares()[x]
    return total


def _parts(bits: Bits) -> tuple[Wide, Wide, Wide]:
    """Sign, exponent and fraction of each operand."""
    wide = bits.astype(np.int64)
    return wide >> 31, (wide >> _FRACTION & 0xFF) - 127, wide & _HIDDEN - 1


def _compose(sign: Wide | int, significand: Wide, exponent: Wide) -> Wide:
    """The bits of significand * 2**(exponent - 23), of significands from 2**23 to 2**24."""
    carry = significand >> _FRACTION + 1
    significand, exponent = significand >> carry, exponent + carry
    bits = (exponent + 127 << _FRACTION) + significand - _HIDDEN
    bits = np.where(exponent <= -127, 0, np.where(exponent > 127, _INFINITY, bits))
    return bits | sign << 31


def _normalise(sign: Wide, total: Wide, fraction_bits: int) -> Wide:
    """The bits of total * 2**-fraction_bits, cut to 24 significant bits."""
    length = np.frexp(total.astype(F64))[1].astype(np.int64)
    length -= total >> np.maximum(length - 1, 0) == 0  # the conversion has rounded up to a power of two
    extra = length - _FRACTION - 1
    significand = np.where(extra >= 0, total >> np.maximum(extra, 0), total << np.maximum(-extra, 0))
    return np.where(total == 0, sign << 31, _compose(sign, significand, length - 1 - fraction_bits))


def _special(bits: Bits, result: Wide, zero: Wide | int, infinity: Wide | int) -> Bits:
    """The result with those of zeros, infinities and NaN."""
    _, exponent, fraction = _parts(bits)
    result = np.where(exponent == -127, zero, result)
    return np.where(exponent == 128, np.where(fraction == 0, infinity, _NAN), result).astype(U32)


def reciprocal(bits: Bits) -> Bits:
    """MUFU.RCP."""
    sign, exponent, fraction = _parts(bits)
    significand = _interpolate(_tables()["rcp"], fraction) >> _GUARD
    result = _compose(sign, significand, -exponent - 1)
    return _special(bits, result, sign << 31 | _INFINITY, sign << 31)


def _by_parity(name: str, exponent: Wide, fraction: Wide) -> Wide:
    even, odd = (_interpolate(_tables()[f"{name}{parity}"], fraction) for parity in (0, 1))
    return np.where(exponent & 1 == 0, even, odd) >> _GUARD


def reciprocal_root(bits: Bits) -> Bits:
    """MUFU.RSQ."""
    sign, exponent, fraction = _parts(bits)
    significand = _by_parity("rsqrt", exponent, fraction)
    significand = np.where((exponent & 1 == 0) & (fraction == 0), 2 * _HIDDEN, significand)
    result = np.where(sign == 0, _compose(0, significand, -(exponent >> 1) - 1), _NAN)
    return _special(bits, result, sign << 31 | _INFINITY, np.where(sign == 0, 0, _NAN))


def root(bits: Bits) -> Bits:
    """MUFU.SQRT."""
    sign, exponent, fraction = _parts(bits)
    result = np.where(sign == 0, _compose(0, _by_parity("sqrt", exponent, fraction), exponent >> 1), _NAN)
    return _special(bits, result, sign << 31, np.where(sign == 0, _INFINITY, _NAN))


def logarithm(bits: Bits) -> Bits:
    """MUFU.LG2. The sum of the exponent and the logarithm of the significand has 36 bits after the point."""
    sign, exponent, fraction = _parts(bits)
    total = (exponent << 41) + _interpolate(_tables()["lg2"], fraction) >> 5
    negative = total < 0
    result = _normalise(negative.astype(np.int64), np.where(negative, ~total, total), 36)
    result = np.where((exponent == 0) & (fraction == 0), 0, result)
    result = np.where(sign == 0, result, _NAN)
    return _special(bits, result, 1 << 31 | _INFINITY, np.where(sign == 0, _INFINITY, _NAN))


def exponential(bits: Bits) -> Bits:
    """MUFU.EX2. The operand is cut to 23 bits after the point; a negative one is complemented."""
    sign, exponent, fraction = _parts(bits)
    significand = fraction | _HIDDEN
    fixed = np.where(
        exponent >= 0, significand << np.clip(exponent, 0, 9), significand >> np.clip(-exponent, 0, 60)
    )
    whole = fixed & _HIDDEN - 1 == 0
    fixed = np.where(sign == 0, fixed, np.where(whole, -fixed, ~fixed))
    significand = _interpolate(_tables()["ex2"], fixed & _HIDDEN - 1) >> _GUARD
    result = _compose(0, significand, fixed >> _FRACTION)
    far = np.where(sign == 0, _INFINITY, 0)
    return _special(bits, np.where(exponent >= 8, far, result), 127 << _FRACTION, far)


def sine(bits: Bits) -> Bits:
    """FMUL.RZ and MUFU.SIN."""
    return _circular(bits, 0)


def cosine(bits: Bits) -> Bits:
    """FMUL.RZ and MUFU.COS."""
    return _circular(bits, 1)


def _circular(bits: Bits, quadrants: int) -> Bits:
    """Sine and cosine: turns are cut to 25 bits after the point; falling quadrants complement the rest."""
    product = bits.view(np.float32) * np.float64(_TURN)  # exact
    turns = np.asarray(directed(product.astype(np.float32), product, "rz"), np.float32).view(U32)
    sign, exponent, fraction = _parts(turns)
    significand, shift = fraction | _HIDDEN, exponent + 2
    fixed = np.where(shift >= 0, significand << np.clip(shift, 0, 27), significand >> np.clip(-shift, 0, 60))
    fixed = np.where((shift > 26) | (exponent == -127), 0, fixed)
    if quadrants:
        sign = np.zeros_like(sign)
    fixed += quadrants * _QUADRANT
    quadrant, rest = fixed // _QUADRANT & 3, fixed & _QUADRANT - 1
    rest = np.where(quadrant & 1 == 0, rest, ~rest & _QUADRANT - 1)
    total = _interpolate(_tables()["sin"], rest)
    result = _normalise(sign ^ quadrant >> 1, total, 24 + _GUARD)
    return np.where(_parts(bits)[1] == 128, _NAN, result).astype(U32)


def _wide_parts(bits: Bits) -> tuple[Wide, Wide, Wide]:
    """Sign, exponent and fraction (left in 23 bits) of the upper words of f64 operands."""
    wide = bits.astype(np.int64)
    return wide >> 31, (wide >> 20 & 0x7FF) - 1023, (wide & (1 << 20) - 1) << 3


def _wide_compose(sign: Wide | int, significand: Wide, exponent: Wide) -> Wide:
    carry = significand >> _FRACTION + 1
    exponent = exponent + carry
    word = (exponent + 1023 << 20) + (significand >> carry + 3) - (1 << 20)
    return np.where(exponent <= -1023, 0, word) | sign << 31


def _wide_special(bits: Bits, result: Wide, zero: Wide | int, infinity: Wide | int) -> Bits:
    _, exponent, _ = _wide_parts(bits)
    result = np.where(exponent == -1023, zero, result)
    nan = bits & np.uint32(0x7FFFFFFF) > 0x7FF00000
    return np.where(nan, _NAN, np.where(exponent == 1024, infinity, result)).astype(U32)


def wide_reciprocal(bits: Bits) -> Bits:
    """MUFU.RCP64H: the upper word of an f64 to that of its reciprocal."""
    sign, exponent, fraction = _wide_parts(bits)
    significand = _interpolate(_tables()["rcp"], fraction) >> _GUARD
    result = _wide_compose(sign, significand, -exponent - 1)
    return _wide_special(bits, result, sign << 31 | 0x7FF00000, sign << 31)


def wide_reciprocal_root(bits: Bits) -> Bits:
    """MUFU.RSQ64H: the upper word of an f64 to that of its reciprocal square root."""
    sign, exponent, fraction = _wide_parts(bits)
    significand = _by_parity("rsqrt", exponent, fraction)
    significand = np.where((exponent & 1 == 0) & (fraction == 0), 2 * _HIDDEN, significand)
    result = np.where(sign == 0, _wide_compose(0, significand, -(exponent >> 1) - 1), _NAN)
    return _wide_special(bits, result, sign << 31 | 0x7FF00000, np.where(sign == 0, 0, _NAN))


@functools.cache
def half_tangents(kind: str) -> NDArray[np.uint16]:
    """The hyperbolic tangents of the `f16` or `bf16` numbers from 0 to infinity, by bits, as recorded."""
    with np.load(_COEFFICIENTS) as archive:
        return np.cumsum(archive[f"tanh_{kind}"], dtype=np.int64).astype(np.uint16)
