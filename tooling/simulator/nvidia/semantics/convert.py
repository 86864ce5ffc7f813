"""Conversions: cvt and cvta (PTX ISA 9.7.9.21, 9.7.9.20)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tooling.simulator.numerics.float64 import keep_nan
from tooling.simulator.numerics.rounding import (
    F16,
    F32,
    F64,
    S64,
    U16,
    U32,
    U64,
    bf16_to_f32,
    canonical16,
    canonical32,
    directed,
    f32_to_bf16,
    f32_to_tf32,
    f64_to_bf16,
    flush32,
    saturate,
)
from tooling.simulator.nvidia.semantics.bit_fields import packed_conversion
from tooling.simulator.nvidia.semantics.float8 import PAIRS, narrow_form
from tooling.simulator.nvidia.semantics.registry import DTYPES, Array, Function, Operation, makes

SECTION = "9.7.9.21"
_BYTES = ("u8", "s8")
_INTEGERS = (*_BYTES, "u16", "s16", "u32", "s32", "u64", "s64")
_FLOATS = ("f16", "bf16", "f32", "f64")
_ROUND: dict[str, Function] = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


_NARROW_FLOATS = ("f16", "bf16")
_TYPES_OF_FLAGS: dict[str, Callable[[str, str], bool]] = {
    **dict.fromkeys(("rn", "rz", "rm", "rp", "rna", *_ROUND), lambda _to, _source: True),
    "ftz": lambda to, source: "f32" in (to, source),
    "sat": lambda to, source: "bf16" not in (to, source),
    "satfinite": lambda to, source: to in _NARROW_FLOATS and source == "f32",
    "relu": lambda to, source: to in _NARROW_FLOATS and source == "f32",
}
"""The modifiers of a conversion between two scalar types, and whether they exist for a pair (to, source)."""


_TF32_FORMS = frozenset(
    {("rna", ""), ("rna", "satfinite"), ("rn", ""), ("rn", "relu"), ("rz", ""), ("rz", "relu")}
)
"""Rounding of conversions to tf32, and the one modifier that may follow it."""
_INFINITY = np.uint32(0x7F800000)


@makes("cvt")
def _convert(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    if len(modifiers) < 2:
        return None
    *rest, to, source = modifiers
    flags = tuple(rest)
    if "pack" in flags:
        return packed_conversion(flags, to, source)
    if to in PAIRS or source in PAIRS:
        return narrow_form(to, source, flags)
    if to in ("f16x2", "bf16x2") and source == "f32":
        return _pack(to, flags)
    if to == "tf32" and source == "f32":
        return _to_tf32(flags)
    if not _allowed(flags, to, source):
        return None
    if source in _INTEGERS:
        make = _integer_to_integer if to in _INTEGERS else _integer_to_float
    else:
        make = _float_to_integer if to in _INTEGERS else _float_to_float
    return make(to, source, flags)


def _to_tf32(flags: tuple[str, ...]) -> Operation | None:
    mode, *rest = flags or ("",)
    extra = "".join(rest)
    if len(rest) > 1 or (mode, extra) not in _TF32_FORMS:
        return None

    def convert(a: Array) -> Array:
        bits = f32_to_tf32(a, mode)
        if extra == "relu":  # a NaN is positive
            return np.where(bits >> np.uint32(31) != 0, np.uint32(0), bits)
        if extra == "satfinite":
            infinite = bits & np.uint32(0x7FFFFFFF) == _INFINITY
            return np.where(infinite, bits - np.uint32(0x2000), bits)
        return bits

    return Operation(convert, U32, (F32,), SECTION)


def _allowed(flags: tuple[str, ...], to: str, source: str) -> bool:
    """Whether a conversion between these scalar types exists, with these modifiers together."""
    if not {to, source} <= {*_INTEGERS, *_FLOATS}:
        return False
    if "bf16" in (to, source) and (to in _BYTES or source in _BYTES):
        return False
    if len(set(flags)) < len(flags) or {"relu", "sat"} <= set(flags):
        return False
    return all(flag in _TYPES_OF_FLAGS and _TYPES_OF_FLAGS[flag](to, source) for flag in flags)


def _integer_to_integer(to: str, source: str, flags: tuple[str, ...]) -> Operation | None:
    result, argument = DTYPES[to], DTYPES[source]
    if flags == ("sat",) and not np.can_cast(argument, result):
        return Operation(lambda a: _clamp(a, result), result, (argument,), SECTION)
    if flags:
        return None
    if result.itemsize == argument.itemsize:
        return Operation(lambda a: a.view(result), result, (argument,), SECTION)
    return Operation(lambda a: a.astype(result), result, (argument,), SECTION)


def _clamp(a: Array, result: np.dtype[Any]) -> Array:
    """Integers clamped to the range of `result`, in their own type, so that no value overflows."""
    low, high = np.iinfo(result).min, np.iinfo(result).max
    own = np.iinfo(a.dtype)
    bounded = np.clip(a, max(low, own.min), min(high, own.max))
    return bounded.astype(result)


def _integer_to_float(to: str, source: str, flags: tuple[str, ...]) -> Operation | None:
    mode = flags[0] if flags else ""
    if mode not in ("rn", "rz", "rm", "rp") or flags[1:] not in ((), ("sat",)):
        return None
    argument = DTYPES[source]
    clamp = "sat" in flags

    def to_f32(a: Array) -> Array:
        nearest = a.astype(F32)
        if mode == "rn":
            return nearest
        # A long double represents every 64-bit integer exactly: compare there, then adjust by one step.
        exact, wide = a.astype(np.longdouble), nearest.astype(np.longdouble)
        side = np.sign(exact - wide).astype(F64)
        return directed(nearest, nearest.astype(F64) * (1 + side * np.sign(nearest) * 2.0**-40), mode)

    def to_f64(a: Array) -> Array:
        nearest = a.astype(F64)
        if mode == "rn":
            return nearest
        side = np.sign(a.astype(np.longdouble) - nearest.astype(np.longdouble))
        down = (side < 0) & ((mode == "rm") | ((mode == "rz") & (nearest > 0)))
        up = (side > 0) & ((mode == "rp") | ((mode == "rz") & (nearest < 0)))
        return np.where(
            down, np.nextafter(nearest, -np.inf), np.where(up, np.nextafter(nearest, np.inf), nearest)
        )

    functions: dict[str, Function] = {"f32": to_f32, "f64": to_f64}
    if to in functions:
        function = functions[to]
        dtype = DTYPES[to]
        return Operation(
            (lambda a: saturate(function(a))) if clamp else function, dtype, (argument,), SECTION
        )
    if to == "f16" and not clamp:
        # Integers above 2**17 overflow f16 anyway: clamping first keeps the float64 exact.
        return Operation(
            lambda a: _to_f16(a.astype(F64).clip(-(2.0**17), 2.0**17), mode), F16, (argument,), SECTION
        )
    if mode not in ("rn", "rz") or clamp:
        return None

    def to_bf16(a: Array) -> Array:
        exact = a.astype(np.longdouble)
        nearest = a.astype(F32)
        wide = nearest.astype(np.longdouble)
        inward = np.where(np.abs(wide) > np.abs(exact), np.nextafter(nearest, np.float32(0)), nearest)
        odd = np.where(
            inward.astype(np.longdouble) != exact, inward.view(U32) | np.uint32(1), inward.view(U32)
        )
        return f32_to_bf16(odd.astype(U32).view(F32), mode)

    return Operation(to_bf16, U16, (argument,), SECTION)


def _float_to_integer(to: str, source: str, flags: tuple[str, ...]) -> Operation | None:
    """Round, then clamp to the range. NaN gives 0, or only the top bit set if either type has 64 bits."""
    mode = flags[0] if flags else ""
    if mode not in _ROUND or any(flag not in ("ftz", "sat") for flag in flags[1:]):
        return None
    result, argument = DTYPES[to], DTYPES[source]
    bits = 8 * result.itemsize
    special = source == "f64" or bits == 64
    nan = np.array([1 << (bits - 1) if special else 0], U64).astype(f"u{result.itemsize}").view(result)
    low, high = np.iinfo(result).min, np.iinfo(result).max
    flush = "ftz" in flags
    top = 2.0 ** (bits if to[0] == "u" else bits - 1)

    def convert(a: Array) -> Array:
        value = bf16_to_f32(a) if source == "bf16" else a
        if flush:
            value = flush32(value)
        rounded = _ROUND[mode](value.astype(F64))
        over, under = rounded >= top, rounded < float(low)
        safe = np.where(over | under | np.isnan(rounded), 0.0, rounded)
        whole = safe.astype(U64 if to == "u64" else S64).astype(result)
        whole = np.where(over, result.type(high), np.where(under, result.type(low), whole))
        return np.where(np.isnan(rounded), nan, whole)

    return Operation(convert, result, (argument,), SECTION)


def _float_to_float(to: str, source: str, flags: tuple[str, ...]) -> Operation | None:
    rounding = [flag for flag in flags if flag[0] == "r" and flag != "relu"]
    if len(rounding) > 1:
        return None
    change = _change_of_type(to, source, rounding[0] if rounding else "")
    if change is None:
        return None
    flush = "ftz" in flags

    def widen(a: Array) -> Array:
        if source == "bf16":
            return bf16_to_f32(a)
        return canonical32(flush32(a)) if flush and source == "f32" else a

    def convert(a: Array) -> Array:
        value = change(widen(a))
        if "relu" in flags:
            value = _relu(value, to)
        if "sat" in flags:
            value = saturate(value)
        if "satfinite" in flags:
            value = _finite(value, to)
        value = _nan_of(a, value, to, source)
        return flush32(value) if to == "f32" and flush else value

    return Operation(convert, DTYPES[to], (DTYPES[source],), SECTION)


def _to_f16(a: Array, mode: str) -> Array:
    return directed(a.astype(F16), a.astype(F64), mode)


_NARROWING: dict[tuple[str, str], tuple[tuple[str, ...], Callable[[Array, str], Array]]] = {
    ("f32", "f64"): (("rn", "rz", "rm", "rp"), lambda a, mode: directed(a.astype(F32), a, mode)),
    ("f16", "f64"): (("rn", "rz"), _to_f16),
    ("f16", "f32"): (("rn", "rz", "rm", "rp"), _to_f16),
    ("f16", "bf16"): (("rn", "rz"), _to_f16),
    ("bf16", "f32"): (("rn", "rz", "rm", "rp"), f32_to_bf16),
    ("bf16", "f64"): (("rn", "rz"), f64_to_bf16),
    ("bf16", "f16"): (("rn",), lambda a, _mode: f64_to_bf16(a.astype(F64))),
}
"""Conversions (to, source) that may lose bits: their rounding modes, and the function of (value, mode)."""


def _change_of_type(to: str, source: str, mode: str) -> Function | None:
    """The conversion of values of `source`, bfloat16 widened to float32, without its other modifiers.

    Args:
        mode: the rounding modifier, empty without one.
    """
    result, argument = DTYPES[to], DTYPES[source]
    if to == source and not mode:
        return f32_to_bf16 if to == "bf16" else lambda a: a
    if to == source and mode in _ROUND:
        return lambda a: f32_to_bf16(_ROUND[mode](a)) if to == "bf16" else _ROUND[mode](a)
    if not mode and result.itemsize > argument.itemsize:
        return lambda a: a.astype(result)
    modes, narrow = _NARROWING.get((to, source), ((), None))
    if narrow is None or mode not in modes:
        return None
    return lambda a: narrow(a, mode)


def _nan_of(source_value: Array, value: Array, to: str, source: str) -> Array:
    """The converted values, with NaN in the form that the instruction gives it."""
    if to == "f32" and source not in ("f64", "bf16"):
        return canonical32(value)
    if to == "bf16" and source == "f64":
        nan = np.where(np.signbit(source_value), U16.type(0xFFC0), U16.type(0x7FC0))
        return np.where(np.isnan(source_value), nan, value)
    if to == "f16":
        return _half_nan(source_value, value) if source == "f64" else canonical16(value)
    if to == "f64" and source != "f64":
        return keep_nan(value, value)
    return value


def _finite(value: Array, kind: str) -> Array:
    """`.satfinite`: infinities become the largest finite number."""
    bits = value.view(U16)
    infinity = np.uint16(0x7C00 if kind == "f16" else 0x7F80)
    low = bits & np.uint16(0x7FFF)
    return np.where(low == infinity, bits - np.uint16(1), bits).view(value.dtype)


def _relu(value: Array, kind: str) -> Array:
    if kind == "bf16":
        return np.where((value & np.uint16(0x8000) != 0) & (value != 0x7FFF), np.uint16(0), value)
    return np.where(value <= 0, value.dtype.type(0), value)


def _half_nan(source: Array, value: Array) -> Array:
    """A NaN converted from f64 keeps its sign; its payload is cleared."""
    nan = np.where(np.signbit(source), np.uint16(0xFE00), np.uint16(0x7E00)).view(F16)
    return np.where(np.isnan(source), nan, value)


def _pack(to: str, flags: tuple[str, ...]) -> Operation | None:
    """`cvt.rn.f16x2.f32 d, a, b`: a goes to the upper half, b to the lower."""
    if (
        not flags
        or flags[0] not in ("rn", "rz")
        or any(flag not in ("relu", "satfinite") for flag in flags[1:])
    ):
        return None
    mode = flags[0]

    def half(a: Array) -> Array:
        value = f32_to_bf16(a, mode) if to == "bf16x2" else canonical16(_to_f16(a, mode))
        if "satfinite" in flags:
            value = _finite(value, to[:-2])
        return (_relu(value, to[:-2]) if "relu" in flags else value).view(U16)

    def pack(a: Array, b: Array) -> Array:
        return (half(a).astype(U32) << np.uint32(16)) | half(b).astype(U32)

    return Operation(pack, U32, (F32, F32), SECTION)
