"""f32 arithmetic in every rounding mode, with `.ftz` and `.sat` (PTX ISA 9.7.3)."""

from __future__ import annotations

import numpy as np

from tooling.simulator.numerics.float64 import keep_nan
from tooling.simulator.numerics.rounding import (
    F16,
    F32,
    F64,
    NAN16,
    NAN32,
    U16,
    U32,
    canonical16,
    canonical32,
    directed,
    exact_sum,
    flush32,
    fma32,
    saturate,
)
from tooling.simulator.nvidia.semantics.registry import Array, Function

_ROUNDING = ("rn", "rz", "rm", "rp")


def add32(a: Array, b: Array, mode: str) -> Array:
    """a + b of f32 in any rounding mode."""
    total = a + b
    if mode != "rn":
        exact = exact_sum(a.astype(F64), b.astype(F64))
        total = directed(total, exact, mode)
        if mode == "rm":
            # An exact zero sum of opposite signs is -0 when rounding down (IEEE 754, 6.3).
            total = np.where((exact == 0) & (np.signbit(a) | np.signbit(b)), np.float32(-0.0), total)
    return canonical32(total)


def multiply32(a: Array, b: Array, mode: str) -> Array:
    """a * b of f32 in any rounding mode."""
    return canonical32(directed(a * b, a.astype(F64) * b.astype(F64), mode))


def divide32(a: Array, b: Array, mode: str) -> Array:
    """a / b of f32 in any rounding mode."""
    quotient = a / b
    if mode != "rn":
        wide = quotient.astype(F64)
        rest = a.astype(F64) - wide * b.astype(F64)
        side = np.sign(rest) * np.sign(b.astype(F64))
        finite = np.isfinite(wide) & np.isfinite(a) & np.isfinite(b) & (b != 0)
        # Where the f32 quotient overflows, the float64 quotient gives the rounding direction.
        true = np.where(
            np.isinf(wide), a.astype(F64) / b, wide + side * (np.abs(wide) * 2.0**-40 + 2.0**-200)
        )
        quotient = directed(quotient, np.where(finite | np.isinf(wide) & (b != 0), true, wide), mode)
    return canonical32(quotient)


def root32(a: Array, mode: str) -> Array:
    """The square root of f32 in any rounding mode."""
    root = np.sqrt(a)
    if mode != "rn":
        wide = root.astype(F64)
        rest = a.astype(F64) - wide * wide
        exact = np.where(np.isfinite(wide), wide * (1 + np.sign(rest) * 2.0**-40), wide)
        root = directed(root, exact, mode)
    return canonical32(root)


def fused32(a: Array, b: Array, c: Array, mode: str) -> Array:
    """a * b + c of f32 with one rounding, in any mode."""
    result = fma32(a, b, c)
    if mode != "rn":
        exact = exact_sum(a.astype(F64) * b.astype(F64), c.astype(F64))
        result = canonical32(directed(result, exact, mode))
        if mode == "rm":
            product = a.astype(F64) * b
            opposite = np.signbit(product) | np.signbit(c)
            result = np.where((exact == 0) & opposite, np.float32(-0.0), result)
    return result


def minimum(a: Array, b: Array) -> Array:
    """The smaller number; the other operand where one is NaN, canonical NaN where both are; -0 < +0."""
    return _extreme(a, b, np.fmin, np.bitwise_or)


def maximum(a: Array, b: Array) -> Array:
    """The larger number; rules as for `minimum`."""
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


def propagating(function: Function) -> Function:
    """`.NaN`: NaN if any input is NaN."""
    return lambda a, b: np.where(
        np.isnan(a) | np.isnan(b), NAN32 if a.dtype == F32 else NAN16, function(a, b)
    ).astype(a.dtype)


def with_flags(function: Function, flags: tuple[str, ...]) -> Function:
    """Wrap an f32 function: `.ftz` applies to inputs and result, `.sat` to the result."""
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


def split_flags(modifiers: tuple[str, ...], allowed: tuple[str, ...]) -> tuple[str, tuple[str, ...]] | None:
    """(rounding mode or "", other flags) of the modifiers before the type; None if unknown or repeated."""
    mode = ""
    flags: list[str] = []
    for modifier in modifiers[:-1]:
        if modifier in _ROUNDING and not mode:
            mode = modifier
        elif modifier in allowed and modifier not in flags:
            flags.append(modifier)
        else:
            return None
    return mode, tuple(flags)
