"""f16, bf16 and their packed pairs (PTX ISA 9.7.4)."""

from __future__ import annotations

import numpy as np

from tooling.simulator.numerics.rounding import (
    F16,
    F64,
    U16,
    U32,
    bf16_to_f32,
    canonical16,
    exact_sum,
    f64_to_bf16,
    flush16,
    saturate,
)
from tooling.simulator.nvidia.semantics.registry import Array, Function, Operation


def half_form(kind: str, function: Function, count: int, flags: tuple[str, ...]) -> Operation | None:
    """f16, bf16 and their packed pairs: computed in float64, which is precise enough to round only once."""

    def finish(result: Array) -> Array:
        if "relu" in flags:
            result = np.where(result <= 0, result.dtype.type(0), result)
        return saturate(result) if "sat" in flags else result

    flush = "ftz" in flags

    def on_f16(*arguments: Array) -> Array:
        if flush:
            arguments = tuple(flush16(a) for a in arguments)
        wide = [a.astype(F64) for a in arguments]
        # The float64 sum or product of two halves is exact, so the result is rounded once.
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
        return Operation(pairwise(on_f16, F16), U32, (U32,) * count, "9.7.4")
    if kind == "bf16x2":
        return Operation(pairwise(on_bf16, U16), U32, (U32,) * count, "9.7.4")
    return None


def pairwise(function: Function, dtype: np.dtype[np.float16] | np.dtype[np.uint16]) -> Function:
    """The function on the low and the high half of 32-bit registers."""

    def packed(*arguments: Array) -> Array:
        low = function(*((a & np.uint32(0xFFFF)).astype(U16).view(dtype) for a in arguments))
        high = function(*((a >> np.uint32(16)).astype(U16).view(dtype) for a in arguments))
        return low.view(U16).astype(U32) | (high.view(U16).astype(U32) << np.uint32(16))

    return packed
