"""Puzzle 31: a multiple of one vector plus another, by NumPy; all three kernels have the same task."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 32 * 1024 * 1024
SIMULATED_SIZE = 256 * 1024
ALPHA = 2.5
POISON = np.float32(-777.25)
KERNELS = ("minimal", "sophisticated", "balanced")


def outputs(mode: str) -> tuple[str, ...]:
    """The names of a mode's outputs."""
    return KERNELS if mode == "all" else ("out",)


def inputs(mode: str, dataset: str, simulated: bool) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    The probe follows no line: its periods 1009 and 521 divide no power of two. Some elements of `x` exceed
    the largest number of float16, because a tolerance of 1/1000 hides its rounding; bfloat16 has fewer digits
    than that, and some results are so small that a fraction matters.
    """
    size = SIMULATED_SIZE if simulated else SIZE
    i = np.arange(size, dtype=np.int64)
    if dataset == "book":
        x, y, initial = i + 1, i + 2, np.float32(0)
    else:
        x, y, initial = ((i * 37 + 11) % 1009 - 400) * 110.25, (i * i % 521 * 3 + 7) % 521 * 4.75, POISON
    found = {"x": x.astype(np.float32), "y": y.astype(np.float32)}
    return found | {name: np.full(size, initial, np.float32) for name in outputs(mode)}


def expected(mode: str, inputs: Buffers) -> Buffers:
    """ALPHA * x + y for every output, in double precision and rounded once."""
    x, y = inputs["x"].astype(np.float64), inputs["y"].astype(np.float64)
    return {name: (ALPHA * x + y).astype(np.float32) for name in outputs(mode)}
