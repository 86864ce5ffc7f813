"""Operations of floating-point arithmetic instructions (PTX ISA 9.7.3; 9.7.4 for half precision)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tooling.simulator.numerics.float64 import fma64, keep_nan
from tooling.simulator.numerics.rounding import (
    F16,
    F32,
    F64,
    U16,
    U32,
    bf16_to_f32,
    canonical32,
    f64_to_bf16,
    flush16,
    fma32,
)
from tooling.simulator.nvidia.semantics.approximate import approximate_form, approximate_quotient
from tooling.simulator.nvidia.semantics.float16 import half_form, pairwise
from tooling.simulator.nvidia.semantics.float32 import (
    add32,
    divide32,
    fused32,
    maximum,
    minimum,
    multiply32,
    propagating,
    root32,
    split_flags,
    with_flags,
)
from tooling.simulator.nvidia.semantics.float64 import double_form, double_reciprocal, double_root
from tooling.simulator.nvidia.semantics.integer import FLOAT_MAKERS
from tooling.simulator.nvidia.semantics.registry import Array, Function, Operation, makes

_ARITHMETIC: dict[str, tuple[Callable[..., Array], Function, Function, int, str]] = {
    # f32 in any rounding mode; f64 to nearest; half precision, in float64; number of operands; section
    "add": (add32, np.add, np.add, 2, "9.7.3.3"),
    "sub": (lambda a, b, mode: add32(a, -b, mode), np.subtract, np.subtract, 2, "9.7.3.4"),
    "mul": (multiply32, np.multiply, np.multiply, 2, "9.7.3.5"),
    "div": (divide32, np.divide, np.divide, 2, "9.7.3.8"),
    "mad": (fused32, fma64, fma64, 3, "9.7.3.7"),
    "fma": (fused32, fma64, fma64, 3, "9.7.3.6"),
}


def _arithmetic(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    if opcode == "div" and modifiers[0] in ("approx", "full"):
        return approximate_quotient(modifiers)
    split = split_flags(modifiers, ("ftz", "sat", "relu"))
    if split is None:
        return None
    given, flags = split
    kind = modifiers[-1]
    if not given and opcode not in _ROUNDED_BY_DEFAULT:
        return None
    mode = given or "rn"
    single, double, half, count, section = _ARITHMETIC[opcode]
    if kind == "f32" and "relu" not in flags and not (opcode == "div" and "sat" in flags):
        function = with_flags(lambda *arguments: single(*arguments, mode), flags)
        if opcode in ("add", "mul", "fma") and mode == "rn" and not flags:
            function = _PLAIN[opcode]
        return Operation(function, F32, (F32,) * count, section)
    if kind == "f64" and not flags:
        return Operation(double_form(opcode, double, mode), F64, (F64,) * count, section)
    if opcode in ("div", "mad") or mode != "rn" or not set(flags) <= _half_flags(opcode, kind):
        return None
    if "sat" in flags and "relu" in flags:
        return None
    return half_form(kind, half, count, flags)


_ROUNDED_BY_DEFAULT = ("add", "sub", "mul")
"""Where `.rn` may be omitted; the other operations require a rounding mode (PTX ISA 9.7.3)."""


def _half_flags(opcode: str, kind: str) -> set[str]:
    """The flags of an operation in half precision (PTX ISA 9.7.4)."""
    return ({"relu"} if opcode == "fma" else set()) | ({"ftz", "sat"} if kind in ("f16", "f16x2") else set())


_PLAIN: dict[str, Function] = {
    "add": lambda a, b: canonical32(a + b),
    "mul": lambda a, b: canonical32(a * b),
    "fma": fma32,
}


def _extremes(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    kind = modifiers[-1]
    flags = modifiers[:-1]
    if len(set(flags)) < len(flags) or not set(flags) <= {"ftz", "NaN", "xorsign", "abs"}:
        return None
    if ("xorsign" in flags) != ("abs" in flags):
        return None
    plain = minimum if opcode == "min" else maximum
    function = propagating(plain) if "NaN" in flags else plain
    if "xorsign" in flags:
        function = _sign_of_both(function)
    section = "9.7.3.11" if opcode == "min" else "9.7.3.12"
    if kind == "f32":
        return Operation(with_flags(function, flags), F32, (F32, F32), section)
    if kind == "f64" and not flags:
        return Operation(function, F64, (F64, F64), section)
    on_f16: Function = (lambda a, b: function(flush16(a), flush16(b))) if "ftz" in flags else function
    if kind == "f16":
        return Operation(on_f16, F16, (F16, F16), "9.7.4")
    if kind == "f16x2":
        return Operation(pairwise(on_f16, F16), U32, (U32, U32), "9.7.4")
    if "ftz" in flags:
        return None

    def on_bf16(a: Array, b: Array) -> Array:
        return f64_to_bf16(function(bf16_to_f32(a), bf16_to_f32(b)).astype(F64))

    if kind == "bf16":
        return Operation(on_bf16, U16, (U16, U16), "9.7.4")
    if kind == "bf16x2":
        return Operation(pairwise(on_bf16, U16), U32, (U32, U32), "9.7.4")
    return None


def _sign_of_both(function: Function) -> Function:
    """`.xorsign.abs`: compare magnitudes; the sign is the exclusive or of both signs."""

    def wrapped(a: Array, b: Array) -> Array:
        result = function(np.abs(a), np.abs(b))
        negative = np.signbit(a) != np.signbit(b)
        return np.where(negative & ~np.isnan(result), -result, result)

    return wrapped


def _sign(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    kind, flags = modifiers[-1], modifiers[:-1]
    if flags not in ((), ("ftz",)):
        return None
    plain: Function = np.negative if opcode == "neg" else np.abs
    if kind == "f32":
        return Operation(lambda a: canonical32(with_flags(plain, flags)(a)), F32, (F32,), "9.7.3.10")
    if kind == "f64" and not flags:
        return Operation(lambda a: keep_nan(plain(a), a), F64, (F64,), "9.7.3.10")
    if kind not in ("f16", "bf16", "f16x2", "bf16x2") or (flags and kind.startswith("bf")):
        return None
    dtype = U32 if kind.endswith("x2") else U16
    half, sign = U16.type(0x7F80 if kind.startswith("bf") else 0x7C00), U16.type(0x8000)

    def on_half(a: Array) -> Array:
        magnitude = a & ~sign
        if flags:
            a = np.where(magnitude < U16.type(0x0400), a & sign, a)
            magnitude = a & ~sign
        changed = a ^ sign if opcode == "neg" else magnitude
        return np.where(magnitude > half, U16.type(0x7FFF), changed)

    return Operation(pairwise(on_half, U16) if kind.endswith("x2") else on_half, dtype, (dtype,), "9.7.4")


for _opcode in ("add", "sub", "mul", "div", "mad"):
    FLOAT_MAKERS[_opcode] = _arithmetic
for _opcode in ("min", "max"):
    FLOAT_MAKERS[_opcode] = _extremes
for _opcode in ("neg", "abs"):
    FLOAT_MAKERS[_opcode] = _sign


@makes("fma")
def _fma(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    return _arithmetic(opcode, modifiers)


@makes("sqrt", "rcp")
def _roots(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    if modifiers[0] == "approx":
        return approximate_form(opcode, modifiers)
    split = split_flags(modifiers, ("ftz",))
    if split is None or not split[0]:
        return None
    mode, flags = split
    one = np.float32(1)
    if modifiers[-1] == "f32":
        single: Function = (
            (lambda a: root32(a, mode))
            if opcode == "sqrt"
            else (lambda a: divide32(np.full_like(a, one), a, mode))
        )
        return Operation(with_flags(single, flags), F32, (F32,), "9.7.3.13")
    if modifiers[-1] == "f64" and not flags:
        return Operation(
            double_root(mode) if opcode == "sqrt" else double_reciprocal(mode), F64, (F64,), "9.7.3.13"
        )
    return None


@makes("copysign")
def _copysign(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    if modifiers not in (("f32",), ("f64",)):
        return None
    dtype = F32 if modifiers[0] == "f32" else F64
    return Operation(lambda sign, value: np.copysign(value, sign), dtype, (dtype, dtype), "9.7.3.2")


@makes("testp")
def _testp(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    tests: dict[str, Function] = {
        "finite": np.isfinite,
        "infinite": np.isinf,
        "number": lambda a: ~np.isnan(a),
        "notanumber": np.isnan,
        # An H200 treats zeros as normal.
        "normal": lambda a: np.isfinite(a) & ((np.abs(a) >= np.finfo(a.dtype).tiny) | (a == 0)),
        "subnormal": lambda a: (a != 0) & (np.abs(a) < np.finfo(a.dtype).tiny),
    }
    if len(modifiers) != 2 or modifiers[0] not in tests or modifiers[1] not in ("f32", "f64"):
        return None
    dtype = F32 if modifiers[1] == "f32" else F64
    return Operation(tests[modifiers[0]], np.dtype(np.bool_), (dtype,), "9.7.3.1")
