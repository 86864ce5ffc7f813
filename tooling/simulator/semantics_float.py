"""Floating-point arithmetic (PTX ISA 9.7.3, 9.7.4 for half precision)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from tooling.simulator.numerics import (
    F16,
    F32,
    F64,
    NAN16,
    NAN32,
    U16,
    U32,
    bf16_to_f32,
    canonical16,
    canonical32,
    directed32,
    exact_sum,
    f64_to_bf16,
    flush16,
    flush32,
    fma32,
    saturate,
)
from tooling.simulator.numerics64 import directed64, exact_side, fma64, keep_nan
from tooling.simulator.semantics import Array, Function, Operation, makes
from tooling.simulator.semantics_integer import FLOAT_MAKERS

_ROUNDING = ("rn", "rz", "rm", "rp")


def _add(a: Array, b: Array, mode: str) -> Array:
    total = a + b
    if mode != "rn":
        exact = exact_sum(a.astype(F64), b.astype(F64))
        total = directed32(total, exact, mode)
        if mode == "rm":
            # An exact zero sum of opposite signs is -0 when rounding down (IEEE 754, 6.3).
            total = np.where((exact == 0) & (np.signbit(a) | np.signbit(b)), np.float32(-0.0), total)
    return canonical32(total)


def _multiply(a: Array, b: Array, mode: str) -> Array:
    return canonical32(directed32(a * b, a.astype(F64) * b.astype(F64), mode))


def _divide(a: Array, b: Array, mode: str) -> Array:
    quotient = a / b
    if mode != "rn":
        wide = quotient.astype(F64)
        rest = a.astype(F64) - wide * b.astype(F64)
        side = np.sign(rest) * np.sign(b.astype(F64))
        finite = np.isfinite(wide) & np.isfinite(a) & np.isfinite(b) & (b != 0)
        # Past the largest float the quotient itself says on which side the true value lies.
        true = np.where(
            np.isinf(wide), a.astype(F64) / b, wide + side * (np.abs(wide) * 2.0**-40 + 2.0**-200)
        )
        quotient = directed32(quotient, np.where(finite | np.isinf(wide) & (b != 0), true, wide), mode)
    return canonical32(quotient)


def _root(a: Array, mode: str) -> Array:
    root = np.sqrt(a)
    if mode != "rn":
        wide = root.astype(F64)
        rest = a.astype(F64) - wide * wide
        exact = np.where(np.isfinite(wide), wide * (1 + np.sign(rest) * 2.0**-40), wide)
        root = directed32(root, exact, mode)
    return canonical32(root)


def _fused(a: Array, b: Array, c: Array, mode: str) -> Array:
    result = fma32(a, b, c)
    if mode != "rn":
        exact = exact_sum(a.astype(F64) * b.astype(F64), c.astype(F64))
        result = canonical32(directed32(result, exact, mode))
        if mode == "rm":
            product = a.astype(F64) * b
            opposite = np.signbit(product) | np.signbit(c)
            result = np.where((exact == 0) & opposite, np.float32(-0.0), result)
    return result


def _minimum(a: Array, b: Array) -> Array:
    """The number where one is NaN; canonical NaN where both are; -0 is less than +0."""
    return _extreme(a, b, np.fmin, np.bitwise_or)


def _maximum(a: Array, b: Array) -> Array:
    return _extreme(a, b, np.fmax, np.bitwise_and)


def _extreme(a: Array, b: Array, choose: Function, zero_bits: Function) -> Array:
    result = choose(a, b)
    unsigned = {2: U16, 4: U32, 8: np.dtype(np.uint64)}[a.dtype.itemsize]
    zeros = (a == 0) & (b == 0)
    if zeros.any():
        merged = zero_bits(a.view(unsigned), b.view(unsigned)).view(a.dtype)
        result = np.where(zeros, merged, result)
    if a.dtype == F32:
        return canonical32(result)
    if a.dtype == F16:
        return canonical16(result)
    return keep_nan(result, a, b)


def _propagating(function: Function) -> Function:
    """`.NaN`: NaN as soon as one input is NaN."""
    return lambda a, b: np.where(
        np.isnan(a) | np.isnan(b), NAN32 if a.dtype == F32 else NAN16, function(a, b)
    ).astype(a.dtype)


def _finish(function: Function, flags: tuple[str, ...]) -> Function:
    """Wrap a f32 function with `.ftz` on inputs and result and `.sat` on the result."""
    flush, clamp = "ftz" in flags, "sat" in flags
    if not flush and not clamp:
        return function

    def wrapped(*arguments: Array) -> Array:
        if flush:
            arguments = tuple(flush32(a) for a in arguments)
        result = function(*arguments)
        if flush:
            result = flush32(result)
        return saturate(result) if clamp else result

    return wrapped


def _split_flags(modifiers: tuple[str, ...], allowed: tuple[str, ...]) -> tuple[str, tuple[str, ...]] | None:
    """(rounding mode, other flags) of the modifiers before the type, or None for one not allowed."""
    mode = "rn"
    flags: list[str] = []
    for modifier in modifiers[:-1]:
        if modifier in _ROUNDING:
            mode = modifier
        elif modifier in allowed:
            flags.append(modifier)
        else:
            return None
    return mode, tuple(flags)


_ARITHMETIC: dict[str, tuple[Callable[..., Array], Function, Function, int, str]] = {
    # f32 with a rounding mode; f64 to nearest; the function that half precision computes in float64; operands
    "add": (_add, np.add, np.add, 2, "9.7.3.3"),
    "sub": (lambda a, b, mode: _add(a, -b, mode), np.subtract, np.subtract, 2, "9.7.3.4"),
    "mul": (_multiply, np.multiply, np.multiply, 2, "9.7.3.5"),
    "div": (_divide, np.divide, np.divide, 2, "9.7.3.8"),
    "mad": (_fused, fma64, fma64, 3, "9.7.3.7"),
    "fma": (_fused, fma64, fma64, 3, "9.7.3.6"),
}


def _arithmetic(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    if opcode == "div" and modifiers[0] in ("approx", "full"):
        return _approximate_quotient(modifiers)
    split = _split_flags(modifiers, ("ftz", "sat", "relu"))
    if split is None:
        return None
    mode, flags = split
    single, double, half, count, section = _ARITHMETIC[opcode]
    kind = modifiers[-1]
    if kind == "f32" and "relu" not in flags:
        function = _finish(lambda *arguments: single(*arguments, mode), flags)
        if opcode in ("add", "mul", "fma") and mode == "rn" and not flags:
            function = _PLAIN[opcode]
        return Operation(function, F32, (F32,) * count, section)
    if kind == "f64" and not flags:
        return Operation(_double(opcode, double, mode), F64, (F64,) * count, section)
    if opcode == "div" or mode != "rn":
        return None
    return _half(kind, half, count, flags)


_EXACT: dict[str, Callable[..., Fraction]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "fma": lambda a, b, c: a * b + c,
    "mad": lambda a, b, c: a * b + c,
}


def _double(opcode: str, function: Function, mode: str) -> Function:
    """f64 arithmetic in any rounding mode."""
    exact = _EXACT[opcode]

    def rounded(*arguments: Array) -> Array:
        arguments = tuple(np.broadcast_arrays(*arguments))
        nearest = function(*arguments)
        if mode != "rn":

            def true(lane: int) -> Fraction | None:
                values = [float(argument[lane]) for argument in arguments]
                if not all(map(math.isfinite, values)) or (opcode == "div" and values[1] == 0):
                    return None
                return exact(*map(Fraction, values))

            nearest = directed64(nearest, exact_side(true, nearest), mode)
            if mode == "rm" and opcode in ("add", "sub", "fma", "mad"):
                nearest = _negative_zero(nearest, opcode, arguments)
        # Which of several NaNs comes out was seen on an H200.
        order = {"div": (1, 0), "fma": (0, 2, 1), "mad": (0, 2, 1)}.get(opcode, (0, 1))
        return keep_nan(nearest, *(arguments[k] for k in order))

    return rounded


def _negative_zero(result: Array, opcode: str, arguments: tuple[Array, ...]) -> Array:
    """Rounding down, an exact zero sum is -0 unless both terms are +0 (IEEE 754, 6.3)."""
    first, last = arguments[0], arguments[-1]
    if len(arguments) == 3:
        first = first * arguments[1]
    negative = np.signbit(first) | (np.signbit(last) != (opcode == "sub"))
    return np.where((result == 0) & negative & ((first == -last) | (first == last)), -0.0, result)


_PLAIN: dict[str, Function] = {
    "add": lambda a, b: canonical32(a + b),
    "mul": lambda a, b: canonical32(a * b),
    "fma": fma32,
}


def _half(kind: str, function: Function, count: int, flags: tuple[str, ...]) -> Operation | None:
    """f16, bf16 and their packed pairs: exact enough in float64, then rounded once."""

    def finish(result: Array) -> Array:
        if "relu" in flags:
            result = np.where(result <= 0, result.dtype.type(0), result)
        return saturate(result) if "sat" in flags else result

    flush = "ftz" in flags

    def on_f16(*arguments: Array) -> Array:
        if flush:
            arguments = tuple(flush16(a) for a in arguments)
        wide = [a.astype(F64) for a in arguments]
        # The double sum or product of two halves is exact, so that it is rounded once here.
        exact = exact_sum(wide[0] * wide[1], wide[2]) if count == 3 else function(*wide)
        if flush:
            exact = np.where(np.abs(exact) < 2.0**-14, np.copysign(0.0, exact), exact)
        return canonical16(finish(exact.astype(F16)))

    def on_bf16(*arguments: Array) -> Array:
        wide = [bf16_to_f32(a).astype(F64) for a in arguments]
        if count == 3:
            exact = exact_sum(wide[0] * wide[1], wide[2])
        elif function in (np.add, np.subtract):
            exact = exact_sum(wide[0], wide[1] if function is np.add else -wide[1])
        else:
            exact = function(*wide)
        return f64_to_bf16(finish(exact))

    if kind == "f16":
        return Operation(on_f16, F16, (F16,) * count, "9.7.4")
    if kind == "bf16":
        return Operation(on_bf16, U16, (U16,) * count, "9.7.4")
    if kind == "f16x2":
        return Operation(_pairwise(on_f16, F16), U32, (U32,) * count, "9.7.4")
    if kind == "bf16x2":
        return Operation(_pairwise(on_bf16, U16), U32, (U32,) * count, "9.7.4")
    return None


def _pairwise(function: Function, dtype: np.dtype[np.float16] | np.dtype[np.uint16]) -> Function:
    """The function on the low and the high half of 32-bit registers."""

    def packed(*arguments: Array) -> Array:
        low = function(*((a & np.uint32(0xFFFF)).astype(U16).view(dtype) for a in arguments))
        high = function(*((a >> np.uint32(16)).astype(U16).view(dtype) for a in arguments))
        return low.view(U16).astype(U32) | (high.view(U16).astype(U32) << np.uint32(16))

    return packed


def _extremes(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    kind = modifiers[-1]
    flags = modifiers[:-1]
    if any(flag not in ("ftz", "NaN", "xorsign", "abs") for flag in flags):
        return None
    plain = _minimum if opcode == "min" else _maximum
    function = _propagating(plain) if "NaN" in flags else plain
    if "xorsign" in flags:
        function = _sign_of_both(function)
    section = "9.7.3.11" if opcode == "min" else "9.7.3.12"
    if kind == "f32":
        return Operation(_finish(function, flags), F32, (F32, F32), section)
    if kind == "f64" and not flags:
        return Operation(function, F64, (F64, F64), section)
    if kind == "f16":
        return Operation(function, F16, (F16, F16), "9.7.4")
    if kind == "f16x2":
        return Operation(_pairwise(function, F16), U32, (U32, U32), "9.7.4")

    def on_bf16(a: Array, b: Array) -> Array:
        return f64_to_bf16(function(bf16_to_f32(a), bf16_to_f32(b)).astype(F64))

    if kind == "bf16":
        return Operation(on_bf16, U16, (U16, U16), "9.7.4")
    if kind == "bf16x2":
        return Operation(_pairwise(on_bf16, U16), U32, (U32, U32), "9.7.4")
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
        return Operation(lambda a: canonical32(_finish(plain, flags)(a)), F32, (F32,), "9.7.3.10")
    if kind == "f64" and not flags:
        return Operation(lambda a: keep_nan(plain(a), a), F64, (F64,), "9.7.3.10")
    if kind not in ("f16", "bf16", "f16x2", "bf16x2"):
        return None
    dtype = U32 if kind.endswith("x2") else U16
    half, sign = U16.type(0x7F80 if kind.startswith("bf") else 0x7C00), U16.type(0x8000)

    def on_half(a: Array) -> Array:
        magnitude = a & ~sign
        changed = a ^ sign if opcode == "neg" else magnitude
        return np.where(magnitude > half, U16.type(0x7FFF), changed)

    return Operation(_pairwise(on_half, U16) if kind.endswith("x2") else on_half, dtype, (dtype,), "9.7.4")


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
        return _approximate(opcode, modifiers)
    split = _split_flags(modifiers, ("ftz",))
    if split is None:
        return None
    mode, flags = split
    one = np.float32(1)
    if modifiers[-1] == "f32":
        single: Function = (
            (lambda a: _root(a, mode))
            if opcode == "sqrt"
            else (lambda a: _divide(np.full_like(a, one), a, mode))
        )
        return Operation(_finish(single, flags), F32, (F32,), "9.7.3.13")
    if modifiers[-1] == "f64" and not flags:
        return Operation(
            _double_root(mode) if opcode == "sqrt" else _double_reciprocal(mode), F64, (F64,), "9.7.3.13"
        )
    return None


def _double_reciprocal(mode: str) -> Function:
    divide = _double("div", np.divide, mode)
    return lambda a: divide(np.ones_like(a), a)


def _double_root(mode: str) -> Function:
    def root(a: Array) -> Array:
        nearest = np.sqrt(a)

        def side(lane: int) -> int:
            value, square = float(nearest[lane]), float(a[lane])
            if math.isinf(value):
                return 0
            rest = Fraction(square) - Fraction(value) ** 2
            return (rest > 0) - (rest < 0)

        return keep_nan(nearest if mode == "rn" else directed64(nearest, side, mode), a)

    return root


def _reciprocal_root(a: Array) -> Array:
    return 1.0 / np.sqrt(a)


_TURN = np.float32(0.15915494309189535)


def _in_turns(function: Function) -> Function:
    """Sine and cosine as hardware takes them: of the argument in turns, cut to f32.

    So large arguments, whose fraction of a turn is lost in f32, give the value at a whole turn.
    """

    def of_turns(a: Array) -> Array:
        exact = a * float(_TURN)
        turns = directed32(exact.astype(F32), exact, "rz").astype(F64)
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
"""Hardware approximates these; here each is the true value in double precision, rounded to the type."""


def _approximate(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    function, section = _APPROXIMATE[opcode]
    kind = modifiers[-1]
    flags = modifiers[1:-1]
    if modifiers[0] != "approx" or flags not in ((), ("ftz",)):
        return None
    if kind == "f32":

        def single(a: Array) -> Array:
            return canonical32(function(a.astype(F64)).astype(F32))

        return Operation(_finish(single, flags), F32, (F32,), section, approximate=True)
    if kind == "f64" and opcode in ("rcp", "rsqrt"):
        # The .ftz.f64 forms return the upper word only (PTX ISA 9.7.3.14): the lower 32 bits are zero.
        mask = np.uint64(0xFFFFFFFF00000000)
        return Operation(
            lambda a: (function(a).view(np.uint64) & mask).view(F64), F64, (F64,), section, approximate=True
        )
    if kind == "bf16" and opcode in ("ex2", "tanh"):
        return Operation(
            lambda a: f64_to_bf16(function(bf16_to_f32(a).astype(F64))),
            U16,
            (U16,),
            section,
            approximate=True,
        )
    if kind == "f16" and opcode in ("ex2", "tanh"):
        return Operation(
            lambda a: canonical16(function(a.astype(F64)).astype(F16)), F16, (F16,), section, approximate=True
        )
    return None


@makes("rsqrt", "sin", "cos", "lg2", "ex2", "tanh")
def _transcendental(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    return _approximate(opcode, modifiers)


def _approximate_quotient(modifiers: tuple[str, ...]) -> Operation | None:
    flags = modifiers[1:-1]
    if modifiers[-1] != "f32" or flags not in ((), ("ftz",)):
        return None
    full = modifiers[0] == "full"

    def divide(a: Array, b: Array) -> Array:
        quotient = _divide(a, b, "rn")
        if full:
            return quotient
        # PTX ISA 9.7.3.8: past 2**126 the reciprocal is 0, and so is the quotient.
        huge = (np.abs(b) > np.float32(2.0**126)) & np.isfinite(b)
        return np.where(huge, canonical32(a * np.copysign(np.float32(0), b)), quotient)

    function = _finish(divide, flags)
    return Operation(function, F32, (F32, F32), "9.7.3.8", approximate=True)


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
        # An H200 counts zeros as normal.
        "normal": lambda a: np.isfinite(a) & ((np.abs(a) >= np.finfo(a.dtype).tiny) | (a == 0)),
        "subnormal": lambda a: (a != 0) & (np.abs(a) < np.finfo(a.dtype).tiny),
    }
    if len(modifiers) != 2 or modifiers[0] not in tests or modifiers[1] not in ("f32", "f64"):
        return None
    dtype = F32 if modifiers[1] == "f32" else F64
    return Operation(tests[modifiers[0]], np.dtype(np.bool_), (dtype,), "9.7.3.1")
