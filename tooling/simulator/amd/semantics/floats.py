"""Floating-point operations of the vector unit (CDNA 3 ISA).

Results are rounded to nearest-even and keep subnormal numbers, the modes that Mojo's kernels select
(`lowering.modes` refuses others). Functions that hardware approximates (reciprocal, square root, exponential,
sine) are correctly rounded here or nearly so: hardware may differ in the last bit.

V_EXP_F32, V_LOG_F32, V_RCP_F32 and V_RSQ_F32 take subnormal numbers for zero, and return zero instead of one,
in every mode: AMD's compiler scales the operands of exact functions around them for that reason (LLVM,
AMDGPUISelLowering, `lowerFEXP2` and `lowerFLOG2`; AMDGPUCodeGenPrepare, divisions).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.amd.semantics.registry import enter
from tooling.simulator.numerics.float64 import fma64
from tooling.simulator.numerics.rounding import F16, F32, F64, S16, S32, U16, U32, U64, exact_sum, fma32

Array = NDArray[Any]
_VOP1 = "CDNA 3 ISA, VOP1 Instructions"
_VOP2 = "CDNA 3 ISA, VOP2 Instructions"
_VOPC = "CDNA 3 ISA, VOPC Instructions"
_VOP3 = "CDNA 3 ISA, VOP3A & VOP3B Instructions"
_VOP3P = "CDNA 3 ISA, VOP3P Instructions"

_BITS: dict[np.dtype[Any], np.dtype[Any]] = {F16: U16, F32: U32, F64: U64}
_QUIET = {F16: 0x7E00, F32: 0x7FC00000, F64: 0x7FF8000000000000}
_QUIET_BIT = {F16: 0x0200, F32: 0x00400000, F64: 0x0008000000000000}
_TYPES: dict[str, np.dtype[Any]] = {"f16": F16, "f32": F32, "f64": F64}


def quieted(function: Callable[..., Array]) -> Callable[..., Array]:
    """A NaN that no operand caused is 0x7fc00000 (f32); one of an operand keeps its payload, quiet."""

    def checked(*arguments: Array) -> Array:
        result = np.asarray(function(*arguments))
        if not np.isnan(np.add.reduce(result, initial=result.dtype.type(0))):
            return result
        wrong = np.isnan(result)
        bits = _BITS[result.dtype]
        made = np.full(result.shape, _QUIET[result.dtype], bits)
        for operand in reversed(arguments):
            if operand.dtype == result.dtype:
                payload = operand.view(bits) | bits.type(_QUIET_BIT[result.dtype])
                made = np.where(np.isnan(operand), payload, made)
        return np.where(wrong, made.view(result.dtype), result)

    return checked


def _is_signalling(value: Array) -> Array:
    bits = _BITS[value.dtype]
    quiet = value.view(bits) & bits.type(_QUIET_BIT[value.dtype])
    return np.asarray(np.isnan(value) & (quiet == 0))


def _extreme(ufunc: np.ufunc, combine: np.ufunc) -> Callable[[Array, Array], Array]:
    """Maximum or minimum in IEEE mode: a quiet NaN loses, a signalling one wins, +0 is above -0."""

    def extreme(a: Array, b: Array) -> Array:
        result = ufunc(a, b)
        bits = _BITS[result.dtype]
        equal = a == b
        if equal.any():
            result = np.where(equal, combine(a.view(bits), b.view(bits)).view(result.dtype), result)
        if np.isnan(np.add.reduce(a, initial=a.dtype.type(0)) + np.add.reduce(b, initial=a.dtype.type(0))):
            for operand in (b, a):
                quiet = (operand.view(bits) | bits.type(_QUIET_BIT[result.dtype])).view(result.dtype)
                result = np.where(_is_signalling(operand), quiet, result)
        return np.asarray(result)

    return extreme


maximum = _extreme(np.fmax, np.bitwise_and)
minimum = _extreme(np.fmin, np.bitwise_or)


def fma16(a: Array, b: Array, c: Array) -> Array:
    """a * b + c of float16 with one rounding: the product is exact in a double."""
    return exact_sum(a.astype(F64) * b.astype(F64), c.astype(F64) + np.zeros_like(a, F64)).astype(F16)


_FMA: dict[str, Callable[[Array, Array, Array], Array]] = {"f16": fma16, "f32": fma32, "f64": fma64}


def _median(a: Array, b: Array, c: Array) -> Array:
    smallest = minimum(minimum(a, b), c)
    inner = maximum(minimum(a, b), minimum(maximum(a, b), c))
    return np.where(np.isnan(a) | np.isnan(b) | np.isnan(c), smallest, inner)


def _fraction(a: Array) -> Array:
    below = np.nextafter(a.dtype.type(1), a.dtype.type(0))
    return np.asarray(np.minimum(a - np.floor(a), below))


def _mantissa(a: Array) -> Array:
    return np.where(np.isfinite(a), np.frexp(a)[0], a)


def _exponent(a: Array) -> Array:
    return np.where(np.isfinite(a), np.frexp(a)[1], 0).astype(S32)


def _exponent16(a: Array) -> Array:
    return _exponent(a).astype(S16)


def _scaled(a: Array, by: Array) -> Array:
    return np.ldexp(a, np.clip(by.astype(S32), -3000, 3000))


def _to_integer(low: int, high: int, dtype: np.dtype[Any]) -> Callable[[Array], Array]:
    """Truncation to an integer type; values outside become its limits, NaN becomes 0."""

    def convert(a: Array) -> Array:
        wide = np.trunc(a.astype(F64))
        return np.where(np.isnan(wide), 0, np.clip(wide, low, high)).astype(np.int64).astype(dtype)

    return convert


def _rounded_to_integer(round_: Callable[[Array], Array]) -> Callable[[Array], Array]:
    to_integer = _to_integer(-(2**31), 2**31 - 1, S32)
    return lambda a: to_integer(round_(a.astype(F64)))


def _sine(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Of an angle in turns; the period is removed exactly."""

    def of(a: Array) -> Array:
        turns = a.astype(F64)
        angle = (turns - np.rint(turns)) * (2 * np.pi)
        return np.where(np.isfinite(a), function(angle), np.nan).astype(a.dtype)

    return of


def _via64(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """In double precision, rounded once more."""
    return lambda a: np.asarray(function(a.astype(F64)), F64).astype(a.dtype)


def _flushed(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A function that takes subnormal numbers for zero, and returns zero instead of one, with their sign."""

    def flush(a: Array) -> Array:
        return np.where(_is_subnormal(a), np.copysign(a.dtype.type(0), a), a)

    return lambda a: flush(function(flush(a)))


def _flushes(kind: str, function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """The function as its instruction computes it: only those of float32 flush."""
    return _flushed(function) if kind == "f32" else function


def _exponent_field(a: Array) -> Array:
    """The biased exponent, as the division instructions use it."""
    if a.dtype == F16:
        return (a.view(U16) >> U16.type(10) & U16.type(0x1F)).astype(S32)
    if a.dtype == F32:
        return (a.view(U32) >> U32.type(23) & U32.type(0xFF)).astype(S32)
    return (a.view(U64) >> U64.type(52) & U64.type(0x7FF)).astype(S32)


def _is_subnormal(a: Array) -> Array:
    return np.asarray((a != 0) & (np.abs(a) < np.finfo(a.dtype).tiny))


def _div_scale(gap: int, scale: int, tiny: int) -> Callable[[Array, Array, Array], tuple[Array, Array]]:
    """V_DIV_SCALE: scale an operand of a division so that its steps neither overflow nor underflow.

    Args:
        gap: difference of exponents from which the quotient is near the largest number.
        scale: the exponent to scale by; tiny: the largest exponent of a tiny numerator.
    """

    def of(a: Array, denominator: Array, numerator: Array) -> tuple[Array, Array]:
        a, d, n = np.broadcast_arrays(a, denominator, numerator)
        up, down = np.ldexp(a, scale), np.ldexp(a, -scale)
        inverse_is_small = _is_subnormal(1.0 / d.astype(F64)) if a.dtype == F32 else _is_subnormal(1.0 / d)
        quotient_is_small = _is_subnormal((n / d).astype(a.dtype))
        cases = (
            ((n == 0) | (d == 0), np.full(a.shape, np.nan, a.dtype), False),
            (_exponent_field(n) - _exponent_field(d) >= gap, np.where(a == d, up, a), True),
            (_is_subnormal(d), up, False),
            (inverse_is_small & quotient_is_small, np.where(a == d, up, a), True),
            (inverse_is_small, down, False),
            (quotient_is_small, np.where(a == n, up, a), True),
            (_exponent_field(n) <= tiny, up, False),
        )
        result, flag = np.array(a), np.zeros(a.shape, np.bool_)
        for condition, value, flagged in reversed(cases):
            result = np.where(condition, value, result)
            flag = np.where(condition, flagged, flag)
        return result, flag

    return of


def _div_fmas(kind: str, scale: int) -> Callable[[Array, Array, Array, Array], Array]:
    """V_DIV_FMAS: a fused multiply-add, and with VCC the inverse of what V_DIV_SCALE scaled the quotient by.

    A large estimate `c` belongs to a quotient near the largest number, and a small one to a subnormal
    quotient. The vendor's pseudo-code has one factor for both, with which neither division is right.
    """
    bias = np.finfo(_TYPES[kind]).maxexp - 1

    def of(a: Array, b: Array, c: Array, vcc: Array) -> Array:
        a, b, c = np.broadcast_arrays(a, b, c)
        result = _FMA[kind](a, b, c)
        if not vcc.any():
            return result
        exponent = np.where(_exponent_field(c) > bias, scale, -scale)
        exact = a.astype(np.longdouble) * b.astype(np.longdouble) + c.astype(np.longdouble)
        return np.where(vcc, np.ldexp(exact, exponent).astype(result.dtype), result)

    return of


def _div_fixup(kind: str) -> Callable[[Array, Array, Array], Array]:
    """V_DIV_FIXUP: the special cases of a division; the quotient's estimate otherwise.

    The estimate of a quotient beyond the range of the type may be NaN, although it is zero or infinite.
    """
    dtype = _TYPES[kind]
    bits = _BITS[dtype]

    def of(quotient: Array, d: Array, n: Array) -> Array:
        quotient, d, n = np.broadcast_arrays(quotient, d, n)
        negative = np.signbit(d) ^ np.signbit(n)

        def signed(value: float) -> Array:
            return np.asarray(np.where(negative, dtype.type(-value), dtype.type(value)))

        def quiet(value: Array) -> Array:
            return np.asarray((value.view(bits) | bits.type(_QUIET_BIT[dtype])).view(dtype))

        sign = 1 << 8 * dtype.itemsize - 1
        made = np.array([_QUIET[dtype] | sign], bits).view(dtype)
        result = np.where(negative, -np.abs(quotient), np.abs(quotient))
        beyond = np.where(_exponent_field(n) < _exponent_field(d), signed(0.0), signed(np.inf))
        result = np.where(np.isnan(quotient), beyond, result)
        result = np.where(np.isinf(d) | (n == 0), signed(0.0), result)
        result = np.where((d == 0) | np.isinf(n), signed(np.inf), result)
        result = np.where((n == 0) & (d == 0) | np.isinf(n) & np.isinf(d), made, result)
        result = np.where(np.isnan(d), quiet(d), result)
        return np.where(np.isnan(n), quiet(n), result)

    return of


@cache
def _two_over_pi() -> int:
    """The first 1201 bits of the fraction of 2/pi, by Machin's formula for pi."""
    extra = 64
    one = 1 << 1201 + extra

    def arctangent(inverse: int) -> int:
        total = term = one // inverse
        square, number, sign = inverse * inverse, 3, -1
        while term:
            term //= square
            total += sign * (term // number)
            number, sign = number + 2, -sign
        return total

    pi = 4 * (4 * arctangent(5) - arctangent(239))
    return (2 * one * one // pi) >> extra


def _trigonometric_segment(a: Array, which: Array) -> Array:
    """V_TRIG_PREOP_F64: 53 bits of 2/pi, for the reduction of a large angle."""
    exponent, number = np.broadcast_arrays(_exponent_field(a), which & U32.type(31))
    shifts = number.astype(np.int64) * 53 + np.maximum(exponent - 1077, 0)
    found = np.empty(shifts.shape, F64)
    for shift in np.unique(shifts):
        digits = (_two_over_pi() << int(shift) & (1 << 1201) - 1) >> 1201 - 53
        found[shifts == shift] = np.ldexp(float(digits), -53 - int(shift))
    return np.where(exponent >= 1968, np.ldexp(found, 128), found)


_CLASSES: tuple[Callable[[Array], Array], ...] = (
    _is_signalling,
    lambda a: np.isnan(a) & ~_is_signalling(a),
    lambda a: a == -np.inf,
    lambda a: np.isfinite(a) & (a <= -np.finfo(a.dtype).tiny),
    lambda a: _is_subnormal(a) & (a < 0),
    lambda a: (a == 0) & np.signbit(a),
    lambda a: (a == 0) & ~np.signbit(a),
    lambda a: _is_subnormal(a) & (a > 0),
    lambda a: np.isfinite(a) & (a >= np.finfo(a.dtype).tiny),
    lambda a: a == np.inf,
)


def _has_class(a: Array, classes: Array) -> Array:
    found = np.zeros(np.broadcast(a, classes).shape, np.bool_)
    for number, is_of in enumerate(_CLASSES):
        found |= is_of(a) & (classes >> classes.dtype.type(number) & classes.dtype.type(1) != 0)
    return found


def _packed16(function: Callable[..., Array]) -> Callable[..., Array]:
    def packed(*arguments: Array) -> Array:
        low = function(*(a.astype(U16).view(F16) for a in arguments))
        high = function(*((a >> U32.type(16)).astype(U16).view(F16) for a in arguments))
        return low.view(U16).astype(U32) | high.view(U16).astype(U32) << U32.type(16)

    return packed


def _packed32(function: Callable[..., Array]) -> Callable[..., Array]:
    """The function on lower and upper halves of register pairs."""

    def packed(*arguments: Array) -> Array:
        count = max(len(a) for a in arguments)
        pieces = [np.ascontiguousarray(a).view(F32).reshape(-1, 2) for a in arguments]
        result = np.empty((count, 2), F32)
        for half in (0, 1):
            result[:, half] = function(*(np.ascontiguousarray(piece[:, half]) for piece in pieces))
        return result.reshape(-1).view(U64)

    return packed


def _swapped(function: Callable[..., Array]) -> Callable[..., Array]:
    return lambda a, b: function(b, a)


_COMPARISONS: dict[str, Callable[[Array, Array], Any]] = {
    "lt": np.less, "eq": np.equal, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "lg": lambda a, b: (a < b) | (a > b), "o": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "u": lambda a, b: np.isnan(a) | np.isnan(b), "nge": lambda a, b: ~(a >= b),
    "nlg": lambda a, b: ~((a < b) | (a > b)), "ngt": lambda a, b: ~(a > b), "nle": lambda a, b: ~(a <= b),
    "neq": np.not_equal, "nlt": lambda a, b: ~(a < b),
    "f": lambda a, b: np.zeros(np.broadcast(a, b).shape, np.bool_),
    "tru": lambda a, b: np.ones(np.broadcast(a, b).shape, np.bool_),
}  # fmt: skip

_add, _subtract, _multiply = quieted(np.add), quieted(np.subtract), quieted(np.multiply)

for _kind in ("f16", "f32", "f64"):
    _section = _VOP3 if _kind == "f64" else _VOP2
    _fma = quieted(_FMA[_kind])
    enter(
        _section, f"{_kind} <- {_kind} {_kind}",
        **{
            f"v_add_{_kind}": _add, f"v_mul_{_kind}": _multiply,
            f"v_max_{_kind}": maximum, f"v_min_{_kind}": minimum,
        },
    )  # fmt: skip
    enter(_VOP3, f"{_kind} <- {_kind} {_kind} {_kind}", **{f"v_fma_{_kind}": _fma})
    enter(_VOP2, f"{_kind} <- {_kind} {_kind} acc", **{f"v_fmac_{_kind}": _fma})
    enter(
        _VOP1, f"{_kind} <- {_kind}",
        **{
            f"v_floor_{_kind}": quieted(np.floor), f"v_ceil_{_kind}": quieted(np.ceil),
            f"v_trunc_{_kind}": quieted(np.trunc), f"v_rndne_{_kind}": quieted(np.rint),
            f"v_fract_{_kind}": quieted(_fraction), f"v_frexp_mant_{_kind}": quieted(_mantissa),
            f"v_rcp_{_kind}": quieted(_flushes(_kind, _via64(lambda a: 1.0 / a))),
            f"v_rsq_{_kind}": quieted(_flushes(_kind, _via64(lambda a: 1.0 / np.sqrt(a)))),
            f"v_sqrt_{_kind}": quieted(np.sqrt),
        },
    )  # fmt: skip
    enter(
        _VOP1, f"{'i16' if _kind == 'f16' else 'i32'} <- {_kind}",
        **{
            f"v_frexp_exp_{'i16' if _kind == 'f16' else 'i32'}_{_kind}": (
                _exponent16 if _kind == "f16" else _exponent
            )
        },
    )  # fmt: skip
    _by = "i16" if _kind == "f16" else "i32"
    enter(_VOP3, f"{_kind} <- {_kind} {_by}", **{f"v_ldexp_{_kind}": quieted(_scaled)})
    enter(_VOPC, f"mask <- {_kind} u32", **{f"v_cmp_class_{_kind}": _has_class})
    for _name, _test in _COMPARISONS.items():
        enter(_VOPC, f"mask <- {_kind} {_kind}", **{f"v_cmp_{_name}_{_kind}": _test})

for _kind in ("f16", "f32"):
    enter(
        _VOP2, f"{_kind} <- {_kind} {_kind}",
        **{f"v_sub_{_kind}": _subtract, f"v_subrev_{_kind}": _swapped(_subtract)},
    )  # fmt: skip
    enter(
        _VOP1, f"{_kind} <- {_kind}",
        **{
            f"v_exp_{_kind}": quieted(_flushes(_kind, _via64(np.exp2))),
            f"v_log_{_kind}": quieted(_flushes(_kind, _via64(np.log2))),
            f"v_sin_{_kind}": quieted(_sine(np.sin)), f"v_cos_{_kind}": quieted(_sine(np.cos)),
        },
    )  # fmt: skip
    enter(
        _VOP3, f"{_kind} <- {_kind} {_kind} {_kind}",
        **{
            f"v_max3_{_kind}": lambda a, b, c: maximum(maximum(a, b), c),
            f"v_min3_{_kind}": lambda a, b, c: minimum(minimum(a, b), c), f"v_med3_{_kind}": _median,
        },
    )  # fmt: skip

enter(_VOP2, "f32 <- f32 f32 f32", v_fmamk_f32=quieted(fma32), v_fmaak_f32=quieted(fma32))
enter(
    _VOP2, "f32 <- f32 f32",
    v_mul_legacy_f32=lambda a, b: np.where((a == 0) | (b == 0), F32.type(0), _multiply(a, b)),
)  # fmt: skip
enter(
    _VOP1, "f32 <- f32",
    v_rcp_iflag_f32=quieted(_flushed(_via64(lambda a: 1.0 / a))),
    v_exp_legacy_f32=quieted(_flushed(_via64(np.exp2))), v_log_legacy_f32=quieted(_flushed(_via64(np.log2))),
)  # fmt: skip
enter(_VOP3, "f32 mask <- f32 f32 f32", v_div_scale_f32=_div_scale(96, 64, 23))
enter(_VOP3, "f64 mask <- f64 f64 f64", v_div_scale_f64=_div_scale(768, 128, 53))
enter(_VOP3, "f32 <- f32 f32 f32 vcc", v_div_fmas_f32=quieted(_div_fmas("f32", 64)))
enter(_VOP3, "f64 <- f64 f64 f64 vcc", v_div_fmas_f64=quieted(_div_fmas("f64", 128)))
enter(_VOP3, "f32 <- f32 f32 f32", v_div_fixup_f32=_div_fixup("f32"))
enter(_VOP3, "f64 <- f64 f64 f64", v_div_fixup_f64=_div_fixup("f64"))
enter(_VOP3, "f64 <- f64 u32", v_trig_preop_f64=_trigonometric_segment)
enter(
    _VOP3, "f16 <- f16 f16 f16",
    v_div_fixup_f16=_div_fixup("f16"), v_div_fixup_legacy_f16=_div_fixup("f16"),
    v_mad_f16=quieted(lambda a, b, c: a * b + c), v_mad_legacy_f16=quieted(lambda a, b, c: a * b + c),
    v_fma_legacy_f16=quieted(fma16),
)  # fmt: skip
enter(_VOP2, "f16 <- f16 f16 acc", v_mac_f16=quieted(lambda a, b, c: a * b + c))

# Conversions
enter(_VOP1, "f32 <- i32", v_cvt_f32_i32=lambda a: a.astype(F32))
enter(_VOP1, "f32 <- u32", v_cvt_f32_u32=lambda a: a.astype(F32))
enter(_VOP1, "f64 <- i32", v_cvt_f64_i32=lambda a: a.astype(F64))
enter(_VOP1, "f64 <- u32", v_cvt_f64_u32=lambda a: a.astype(F64))
enter(_VOP1, "f64 <- f32", v_cvt_f64_f32=quieted(lambda a: a.astype(F64)))
enter(_VOP1, "f32 <- f64", v_cvt_f32_f64=quieted(lambda a: a.astype(F32)))
enter(_VOP1, "f16 <- f32", v_cvt_f16_f32=quieted(lambda a: a.astype(F16)))
enter(_VOP1, "f32 <- f16", v_cvt_f32_f16=quieted(lambda a: a.astype(F32)))
enter(_VOP1, "f16 <- i16", v_cvt_f16_i16=lambda a: a.astype(F16))
enter(_VOP1, "f16 <- u16", v_cvt_f16_u16=lambda a: a.astype(F16))
enter(_VOP1, "i16 <- f16", v_cvt_i16_f16=_to_integer(-(2**15), 2**15 - 1, S16))
enter(_VOP1, "u16 <- f16", v_cvt_u16_f16=_to_integer(0, 2**16 - 1, U16))
for _kind in ("f32", "f64"):
    enter(_VOP1, f"i32 <- {_kind}", **{f"v_cvt_i32_{_kind}": _to_integer(-(2**31), 2**31 - 1, S32)})
    enter(_VOP1, f"u32 <- {_kind}", **{f"v_cvt_u32_{_kind}": _to_integer(0, 2**32 - 1, U32)})
enter(
    _VOP1, "i32 <- f32",
    v_cvt_flr_i32_f32=_rounded_to_integer(np.floor),
    v_cvt_rpi_i32_f32=_rounded_to_integer(lambda a: np.floor(a + 0.5)),
)  # fmt: skip


def _byte(number: int) -> Callable[[Array], Array]:
    return lambda a: (a >> U32.type(8 * number) & U32.type(255)).astype(F32)


for _number in range(4):
    enter(_VOP1, "f32 <- u32", **{f"v_cvt_f32_ubyte{_number}": _byte(_number)})

# Packed
enter(
    _VOP3P, "pk32 <- pk32 pk32",
    v_pk_add_f32=_packed32(_add), v_pk_mul_f32=_packed32(_multiply),
)  # fmt: skip
enter(_VOP3P, "pk32 <- pk32 pk32 pk32", v_pk_fma_f32=_packed32(quieted(fma32)))
enter(
    _VOP3P, "pk16 <- pk16 pk16",
    v_pk_add_f16=_packed16(_add), v_pk_mul_f16=_packed16(_multiply),
    v_pk_max_f16=_packed16(maximum), v_pk_min_f16=_packed16(minimum),
)  # fmt: skip
enter(_VOP3P, "pk16 <- pk16 pk16 pk16", v_pk_fma_f16=_packed16(quieted(fma16)))
enter(_VOP2, "pk16 <- pk16 pk16 acc", v_pk_fmac_f16=_packed16(quieted(fma16)))

ESTIMATES = frozenset({
    "v_rcp_iflag_f32", "v_exp_legacy_f32", "v_log_legacy_f32",
    *(f"v_{name}_{kind}" for name in ("exp", "log", "rcp", "rsq", "sqrt", "sin", "cos") for kind in _TYPES),
})  # fmt: skip
"""Operations that hardware approximates: its last bits may differ."""
