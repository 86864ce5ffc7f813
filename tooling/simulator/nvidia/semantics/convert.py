"""Conversions: cvt and cvta (PTX ISA 9.7.9.21, 9.7.9.20)."""

from __future__ import annotations

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
_INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
_FLOATS = ("f16", "bf16", "f32", "f64")
_ROUND: dict[str, Function] = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


@makes("cvt")
def _convert(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    if len(modifiers) < 2:
        return None
    *flags, to, source = modifiers
    if "pack" in flags:
        return packed_conversion(tuple(flags), to, source)
    if to in PAIRS or source in PAIRS:
        return narrow_form(to, source, tuple(flags))
    if to in ("f16x2", "bf16x2") and source == "f32":
        return _pack(to, tuple(flags))
    if to == "tf32" and source == "f32" and flags in (["rna"], ["rn"]):
        return Operation(lambda a: f32_to_tf32(a, flags[0]), U32, (F32,), SECTION)
    if to not in DTYPES or source not in DTYPES:
        return None
    known = ("rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi", "ftz", "sat", "satfinite", "relu")
    if {to, source} & {"bf16"} and {to, source} & {"u8", "s8"}:
        return None
    if "satfinite" in flags and (to not in ("f16", "bf16") or source != "f32"):
        return None
    if any(flag not in known for flag in flags) or len(set(flags)) < len(flags):
        return None
    if "relu" in flags and ("sat" in flags or to not in ("f16", "bf16") or source != "f32"):
        return None
    if ("ftz" in flags and "f32" not in (to, source)) or ("sat" in flags and "bf16" in (to, source)):
        return None
    if to in _INTEGERS and source in _INTEGERS:
        return _integer_to_integer(to, source, tuple(flags))
    if to in _FLOATS and source in _INTEGERS:
        return _integer_to_float(to, source, tuple(flags))
    if to in _INTEGERS and source in _FLOATS:
        return _float_to_integer(to, source, tuple(flags))
    if to in _FLOATS and source in _FLOATS:
        return _float_to_float(to, source, tuple(flags))
    return None


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
    if mode != "rn" or clamp:
        return None

    def to_bf16(a: Array) -> Array:
        exact = a.astype(np.longdouble)
        nearest = a.astype(F32)
        wide = nearest.astype(np.longdouble)
        inward = np.where(np.abs(wide) > np.abs(exact), np.nextafter(nearest, np.float32(0)), nearest)
        odd = np.where(
            inward.astype(np.longdouble) != exact, inward.view(U32) | np.uint32(1), inward.view(U32)
        )
        return f32_to_bf16(odd.astype(U32).view(F32))

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
    mode = rounding[0] if rounding else ""
    result, argument = DTYPES[to], DTYPES[source]

    def widen(a: Array) -> Array:
        if source == "bf16":
            return bf16_to_f32(a)
        return canonical32(flush32(a)) if "ftz" in flags and source == "f32" else a

    if mode in _ROUND and to == source == "bf16":
        change: Function = lambda a: f32_to_bf16(_ROUND[mode](a))  # noqa: E731 - one of several functions
    elif mode in _ROUND and to == source:
        change = _ROUND[mode]
    elif not mode and to == source:
        change = lambda a: a  # noqa: E731 - one of several functions chosen here
    elif not mode and result.itemsize > argument.itemsize:
        change = lambda a: a.astype(result)  # noqa: E731
    elif mode in ("rn", "rz", "rm", "rp") and to == "f32" and source == "f64":
        change = lambda a: directed(a.astype(F32), a, mode)  # noqa: E731
    elif mode in ("rn", "rz") and to == "f16" and source != "f16":
        change = lambda a: _to_f16(a, mode)  # noqa: E731
    elif mode in ("rn", "rz") and to == "bf16" and source == "f32":
        change = lambda a: f32_to_bf16(a, mode)  # noqa: E731
    elif mode == "rn" and to == "bf16" and source in ("f16", "f64"):
        change = lambda a: f64_to_bf16(a.astype(F64))  # noqa: E731
    else:
        return None

    def convert(a: Array) -> Array:
        value = change(widen(a))
        if "relu" in flags:
            value = _relu(value, to)
        if "sat" in flags:
            value = saturate(value)
        if "satfinite" in flags:
            value = _finite(value, to)
        if to == "f32" and source not in ("f64", "bf16"):
            value = canonical32(flush32(value) if "ftz" in flags else value)
        elif to == "bf16" and source == "f64":
            value = np.where(np.isnan(a), np.where(np.signbit(a), U16.type(0xFFC0), U16.type(0x7FC0)), value)
        elif to == "f16":
            value = _half_nan(a, value) if source == "f64" else canonical16(value)
        elif to == "f64" and source != "f64":
            value = keep_nan(value, value)
        return flush32(value) if to == "f32" and "ftz" in flags else value

    return Operation(convert, result, (argument,), SECTION)


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


def _to_f16(a: Array, mode: str) -> Array:
    return directed(a.astype(F16), a.astype(F64), mode)


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
