"""Puzzle 32: (x + 10) * 2, by NumPy; both kernels have the same task."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 8192
POISON = np.float32(-777.25)
KERNELS = ("no_conflict", "two_way")


def outputs(mode: str) -> tuple[str, ...]:
    """The names of a mode's outputs."""
    return KERNELS if mode == "test" else ("out",)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    The probe follows no line: its period 1009 divides no power of two. Neither a type of 16 bits nor an
    integer holds all of them.
    """
    i = np.arange(SIZE)
    if dataset == "book":
        x, initial = i + 1, np.float32(0)
    else:
        x, initial = (i * 37 + 11) % 1009 * 3.25 - 1200, POISON
    return {"x": x.astype(np.float32)} | {name: np.full(SIZE, initial, np.float32) for name in outputs(mode)}


def expected(mode: str, inputs: Buffers) -> Buffers:
    """Every result, exact in float32."""
    return dict.fromkeys(outputs(mode), (inputs["x"] + 10) * 2)
