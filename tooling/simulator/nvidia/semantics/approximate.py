"""Approximate instructions as Hopper GPUs execute them (PTX ISA 9.7.3.8, 9.7.3.13 to 9.7.3.22).

Each is the function of `special_functions` and the instructions that `ptxas` puts around it for sm_90a. Only
`tanh.approx.f32` is not known bit for bit: it is computed as the correctly rounded result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tooling.simulator.numerics.float64 import fma64
from tooling.simulator.numerics.rounding import (
    F16,
    F32,
    F64,
    U16,
    U32,
    bf16_to_f32,
    canonical16,
    canonical32,
    directed,
    flush32,
)
from tooling.simulator.nvidia.semantics import special_functions
from tooling.simulator.nvidia.semantics.float16 import pairwise
from tooling.simulator.nvidia.semantics.float32 import with_flags
from tooling.simulator.nvidia.semantics.registry import Array, Function, Operation, makes

Unit = Callable[[special_functions.Bits], special_functions.Bits]

_TINY, _HUGE = np.float32(2.0**-126), np.float32(2.0**126)
_UP, _DOWN = np.float32(2.0**24), np.float32(0.25)
_NAN_BITS = np.uint16(0x7FFF)


def _on_floats(unit: Unit) -> Function:
    return lambda a: unit(a.view(U32)).view(F32)


_reciprocal = _on_floats(special_functions.reciprocal)
_reciprocal_root = _on_floats(special_functions.reciprocal_root)
_root = _on_floats(special_functions.root)
_logarithm = _on_floats(special_functions.logarithm)
_exponential = _on_floats(special_functions.exponential)


def _scaled(a: Array) -> tuple[Array, Array]:
    """Subnormal operands times 2**24, which the unit takes, and which they are."""
    tiny = np.abs(a) < _TINY
    return np.where(tiny, a * _UP, a), tiny


def _any_reciprocal(a: Array) -> Array:
    magnitude = np.abs(a)
    scale = np.where(magnitude > _HUGE, _DOWN, np.where(magnitude < _TINY, _UP, F32.type(1)))
    return _reciprocal(a * scale) * scale


def _any_reciprocal_root(a: Array) -> Array:
    scaled, tiny = _scaled(a)
    result = _reciprocal_root(scaled)
    return np.where(tiny, result * F32.type(2.0**12), result)


def _any_root(a: Array) -> Array:
    scaled, tiny = _scaled(a)
    result = _root(scaled)
    return np.where(tiny, result * F32.type(2.0**-12), result)


def _any_logarithm(a: Array) -> Array:
    scaled, tiny = _scaled(a)
    result = _logarithm(scaled)
    return np.where(tiny, result - F32.type(24), result)


def _any_exponential(a: Array) -> Array:
    low = a < F32.type(-126)
    result = _exponential(np.where(low, a * F32.type(0.5), a))
    return np.where(low, result * result, result)


def _tangent(a: Array) -> Array:
    return np.tanh(a.astype(F64)).astype(F32)


_SINGLE: dict[str, tuple[Function, Function, str]] = {
    "rcp": (_reciprocal, _any_reciprocal, "9.7.3.13"),
    "sqrt": (_root, _any_root, "9.7.3.15"),
    "rsqrt": (_reciprocal_root, _any_reciprocal_root, "9.7.3.16"),
    "sin": (_on_floats(special_functions.sine),) * 2 + ("9.7.3.18",),
    "cos": (_on_floats(special_functions.cosine),) * 2 + ("9.7.3.19",),
    "lg2": (_logarithm, _any_logarithm, "9.7.3.20"),
    "ex2": (_exponential, _any_exponential, "9.7.3.21"),
    "tanh": (_tangent, _tangent, "9.7.3.22"),
}
"""The f32 functions with `.ftz` and without it, as `ptxas` composes them, and their PTX ISA sections."""


def approximate_form(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    """The operation of an `.approx` form, or None for an unknown form."""
    kind = modifiers[-1]
    flags = modifiers[1:-1]
    if modifiers[0] != "approx" or flags not in ((), ("ftz",)) or (flags and opcode == "tanh"):
        return None
    flushed, exact, section = _SINGLE[opcode]
    if kind == "f32":
        single = flushed if flags else exact
        estimate = opcode == "tanh"
        return Operation(lambda a: canonical32(single(a)), F32, (F32,), section, approximate=estimate)
    if kind == "f64" and opcode in _WIDE:
        unit = _WIDE[opcode]
        if flags:
            return Operation(lambda a: _wide(unit, a), F64, (F64,), section)
        return Operation(_wide_root, F64, (F64,), section) if opcode == "rsqrt" else None
    if opcode not in ("ex2", "tanh") or bool(flags) != (opcode == "ex2" and kind in ("bf16", "bf16x2")):
        return None
    on_bf16, on_f16 = (_exp_bf16, _exp_f16) if opcode == "ex2" else (_tanh_bf16, _tanh_f16)
    halves: dict[str, tuple[Function, np.dtype[Any]]] = {
        "bf16": (on_bf16, U16),
        "f16": (on_f16, F16),
        "bf16x2": (pairwise(on_bf16, U16), U32),
        "f16x2": (pairwise(on_f16, F16), U32),
    }
    if kind not in halves:
        return None
    half, dtype = halves[kind]
    return Operation(half, dtype, (dtype,), section)


# -- f64: the unit computes the upper word ----------------------------------------------------------------

_WIDE: dict[str, Unit] = {
    "rcp": special_functions.wide_reciprocal,
    "rsqrt": special_functions.wide_reciprocal_root,
}


def _wide(unit: Unit, a: Array) -> Array:
    """The `.ftz.f64` forms ignore the lower word, and that of the result is zero (PTX ISA 9.7.3.14)."""
    upper = (a.view(np.uint64) >> np.uint64(32)).astype(U32)
    return np.asarray((unit(upper).astype(np.uint64) << np.uint64(32)).view(F64))


def _wide_root(a: Array) -> Array:
    """`rsqrt.approx.f64`: one iteration after the unit, as `ptxas` adds it; subnormal operands are scaled."""
    tiny = np.abs(a) < np.finfo(F64).tiny
    scaled = np.where(tiny, a * 2.0**54, a)
    first = _wide(special_functions.wide_reciprocal_root, scaled)
    rest = fma64(scaled, -(first * first), np.ones_like(first))
    result = fma64(fma64(rest, np.full_like(first, 0.375), np.full_like(first, 0.5)), first * rest, first)
    result = np.where(tiny, result * 2.0**27, result)
    ordinary = (scaled > 0) & np.isfinite(scaled)
    special = np.where(a == 0, np.copysign(np.inf, a), np.where(np.isposinf(a), 0.0, -np.float64(np.nan)))
    return np.where(ordinary, result, np.where(np.isnan(a), a + a, special))


# -- halves: the unit's f32 result is cut to the type -----------------------------------------------------


def _exp_bf16(a: Array) -> Array:
    wide = _exponential(bf16_to_f32(a))
    return np.where(np.isnan(wide), _NAN_BITS, wide.view(U32) >> np.uint32(16)).astype(U16)


def _exp_f16(a: Array) -> Array:
    wide = _exponential(a.astype(F32))
    with np.errstate(over="ignore"):
        cut = directed(wide.astype(F16), wide.astype(F64), "rz")
    return canonical16(np.where(wide >= 65536, np.float16(np.inf), cut).astype(F16))


def _half_tangent(kind: str, bits: Array) -> Array:
    table = special_functions.half_tangents(kind)
    magnitude = bits & np.uint16(0x7FFF)
    found = table[np.minimum(magnitude, len(table) - 1)] | bits & np.uint16(0x8000)
    return np.where(magnitude < len(table), found, _NAN_BITS).astype(U16)


def _tanh_bf16(a: Array) -> Array:
    return _half_tangent("bf16", a)


def _tanh_f16(a: Array) -> Array:
    return _half_tangent("f16", a.view(U16)).view(F16)


@makes("rsqrt", "sin", "cos", "lg2", "ex2", "tanh")
def _transcendental(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    return approximate_form(opcode, modifiers)


def approximate_quotient(modifiers: tuple[str, ...]) -> Operation | None:
    """div.approx and div.full (PTX ISA 9.7.3.8): the product with the unit's reciprocal."""
    flags = modifiers[1:-1]
    if modifiers[-1] != "f32" or flags not in ((), ("ftz",)):
        return None
    full = modifiers[0] == "full"

    def divide(a: Array, b: Array) -> Array:
        if full:  # without it the reciprocal of |b| above 2**126 is 0
            huge = np.abs(b) > _HUGE
            a, b = np.where(huge, a * _DOWN, a), np.where(huge, b * _DOWN, b)
        if flags:
            return canonical32(flush32(a) * _reciprocal(b))
        tiny = np.abs(b) < _TINY
        return canonical32(np.where(tiny, a * _UP, a) * _reciprocal(np.where(tiny, b * _UP, b)))

    return Operation(with_flags(divide, flags), F32, (F32, F32), "9.7.3.8")
