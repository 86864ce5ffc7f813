"""f64 arithmetic in every rounding mode (PTX ISA 9.7.3)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from tooling.simulator.numerics.float64 import directed64, exact_side, keep_nan
from tooling.simulator.nvidia.semantics.registry import Array, Function

_EXACT: dict[str, Callable[..., Fraction]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "fma": lambda a, b, c: a * b + c,
    "mad": lambda a, b, c: a * b + c,
}


def double_form(opcode: str, function: Function, mode: str) -> Function:
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
        # Which of several NaN operands is returned was observed on an H200.
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


def double_reciprocal(mode: str) -> Function:
    """1 / a of f64."""
    divide = double_form("div", np.divide, mode)
    return lambda a: divide(np.ones_like(a), a)


def double_root(mode: str) -> Function:
    """The square root of f64."""

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
