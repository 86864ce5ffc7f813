"""Puzzle 12: the dot product of two vectors, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 8
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    The probe has terms of both signs and no two alike, so that a term left out, doubled or taken from
    another place changes the sum. Neither a type of 16 bits nor an integer holds all of them, or the sum.
    """
    if dataset == "book":
        ramp = np.arange(SIZE, dtype=np.float32)
        return {"a": ramp, "b": ramp.copy(), "out": np.zeros(1, np.float32)}
    return {
        "a": np.array([3, -1, 4.25, 1, -5, 2049, 2, 6], np.float32),
        "b": np.array([2.5, 7, -1, 8, 2, -8, 11, 4099], np.float32),
        "out": np.full(1, POISON, np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """The one number that block 0 writes; exact, as all partial sums are multiples of 1/4 and small."""
    total = np.dot(inputs["a"].astype(np.float64), inputs["b"].astype(np.float64))
    return {"out": np.array([total], np.float32)}
