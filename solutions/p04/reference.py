"""Puzzle 4: ten more than every element of a matrix, and no write past its end, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 2
OTHER_SIZE = 3
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, flat as in memory, outputs with their initial content.

    The probe's matrix is not symmetric, and its elements do not follow their indices. Neither a type of
    16 bits nor an integer holds all of them.
    """
    if dataset == "book":
        return {
            "a": np.arange(SIZE * SIZE, dtype=np.float32),
            "out": np.zeros(SIZE * SIZE, np.float32),
        }
    size = OTHER_SIZE if dataset == "other-sizes" else SIZE
    return {
        "a": np.array([2.5, -12, 2049, 7, 61.5, -3, 0.75, 11, -8], np.float32)[: size * size],
        "out": np.full(size * size, POISON, np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """The sums, and after them the program's fill value, which no thread may change."""
    a = inputs["a"]
    return {"out": a + np.float32(10), "guard": np.full(a.size, POISON, np.float32)}
