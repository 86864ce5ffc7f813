"""Puzzle 16: the product of two square matrices, by NumPy."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZES = {"naive": 2, "single-block": 2, "tiled": 9, "idiomatic-tiled": 9}
"""Rows and columns of each matrix, by mode."""
OTHER_SIZE = 12
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, flat as in memory, outputs with their initial content.

    In the book's data b is twice a, so that a times b equals b times a. In the probe it does not, neither
    matrix is symmetric, and no two tiles are alike. Neither a type of 16 bits nor an integer holds all
    elements of either, or of the product.
    """
    size = OTHER_SIZE if dataset == "other-sizes" else SIZES[mode]
    count = size**2
    i = np.arange(count)
    if dataset == "book":
        return {
            "a": i.astype(np.float32),
            "b": (2 * i).astype(np.float32),
            "out": np.zeros(count, np.float32),
        }
    b = ((i * i * 7 + 3 * i + 11) % 89 - 30).astype(np.float32)
    b[1 :: size + 1] = 1025.5
    return {
        "a": ((i * 41 + 29) % 97 * 31.5 - 400).astype(np.float32),
        "b": b,
        "out": np.full(count, POISON, np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """The product; exact, as all sums are multiples of 1/4 below 2**22.

    Behind it the program's own filling, which no thread may change.
    """
    size = math.isqrt(inputs["a"].size)
    a, b = (inputs[name].astype(np.float64).reshape(size, size) for name in ("a", "b"))
    return {"out": (a @ b).astype(np.float32), "guard": np.full(size * size, POISON, np.float32)}
