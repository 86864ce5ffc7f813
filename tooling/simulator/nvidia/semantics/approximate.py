"""Approximate instructions, computed as correctly rounded results (PTX ISA 9.7.3.8, 9.7.3.13 to 9.7.3.22)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tooling.simulator.numerics.float64 import flush64
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
    f64_to_bf16,
    flush32,
)
from tooling.simulator.nvidia.semantics.float16 import pairwise
from tooling.simulator.nvidia.semantics.float32 import divide32, with_flags
from tooling.simulator.nvidia.semantics.registry import Array, Function, Operation, makes


def _reciprocal_root(a: Array) -> Array:
    return 1.0 / np.sqrt(a)


_TURN = np.float32(0.15915494309189535)


def _in_turns(function: Function) -> Function:
    """Sine and cosine as in hardware: the argument is converted to turns and truncated to f32.

    Large arguments lose their fraction of a turn in f32, and so give the value at a whole turn.
    """

    def of_turns(a: Array) -> Array:
        exact = a * float(_TURN)
        turns = directed(exact.astype(F32), exact, "rz").astype(F64)
        return function(2 * np.pi * np.copysign(np.abs(turns) % 1.0, turns))

    return of_turns


_APPROXIMATE: dict[str, tuple[Function, str]] = {
    "rcp": (lambda a: 1.0 / a, "9.7.3.13"),
    "sqrt": (np.sqrt, "9.7.3.15"),
    "rsqrt": (_reciprocal_root, "9.7.3.16"),
    "sin": (_in_turns(np.sin), "9.7.3.18"),
    "cos": (_in_turns(np.cos), "9.7.3.19"),
    "lg2": (np.log2, "9.7.3.20"),
    "ex2": (np.exp2, "9.7.3.21"),
    "tanh": (np.tanh, "9.7.3.22"),
}
"""Functions in double precision and their PTX ISA sections; results are rounded to the type."""


def approximate_form(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    """The operation of an `.approx` form, or None for an unknown form."""
    function, section = _APPROXIMATE[opcode]
    kind = modifiers[-1]
    flags = modifiers[1:-1]
    if modifiers[0] != "approx" or flags not in ((), ("ftz",)) or (flags and opcode == "tanh"):
        return None
    if kind == "f32":

        def single(a: Array) -> Array:
            return canonical32(function(a.astype(F64)).astype(F32))

        return Operation(with_flags(single, flags), F32, (F32,), section, approximate=True)
    if kind == "f64" and opcode in ("rcp", "rsqrt"):
        # The .ftz.f64 forms use the upper word only (PTX ISA 9.7.3.14): the lower 32 bits of the operand are
        # ignored, those of the result are zero, and subnormal numbers are flushed to zero.
        mask = np.uint64(0xFFFFFFFF00000000)

        def upper(a: Array) -> Array:
            return np.asarray((a.view(np.uint64) & mask).view(F64))

        def double(a: Array) -> Array:
            return upper(flush64(function(flush64(upper(a))))) if flags else function(a)

        return Operation(double, F64, (F64,), section, approximate=True)
    if opcode not in ("ex2", "tanh") or bool(flags) != (opcode == "ex2" and kind in ("bf16", "bf16x2")):
        return None

    def on_bf16(a: Array) -> Array:
        wide = bf16_to_f32(a)
        return f64_to_bf16(function((flush32(wide) if flags else wide).astype(F64)))

    def on_f16(a: Array) -> Array:
        return canonical16(function(a.astype(F64)).astype(F16))

    halves: dict[str, tuple[Function, np.dtype[Any]]] = {
        "bf16": (on_bf16, U16),
        "f16": (on_f16, F16),
        "bf16x2": (pairwise(on_bf16, U16), U32),
        "f16x2": (pairwise(on_f16, F16), U32),
    }
    if kind not in halves:
        return None
    half, dtype = halves[kind]
    return Operation(half, dtype, (dtype,), section, approximate=True)


@makes("rsqrt", "sin", "cos", "lg2", "ex2", "tanh")
def _transcendental(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    return approximate_form(opcode, modifiers)


def approximate_quotient(modifiers: tuple[str, ...]) -> Operation | None:
    """div.approx and div.full (PTX ISA 9.7.3.8)."""
    flags = modifiers[1:-1]
    if modifiers[-1] != "f32" or flags not in ((), ("ftz",)):
        return None
    full = modifiers[0] == "full"

    def divide(a: Array, b: Array) -> Array:
        quotient = divide32(a, b, "rn")
        if full:
            return quotient
        # PTX ISA 9.7.3.8: for |b| above 2**126 the reciprocal is 0, and so is the quotient.
        huge = (np.abs(b) > np.float32(2.0**126)) & np.isfinite(b)
        return np.where(huge, canonical32(a * np.copysign(np.float32(0), b)), quotient)

    function = with_flags(divide, flags)
    return Operation(function, F32, (F32, F32), "9.7.3.8", approximate=True)
