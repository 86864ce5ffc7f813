"""Puzzle 16: the product of two square matrices, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZES = {"naive": 2, "single-block": 2, "tiled": 9, "idiomatic-tiled": 9}
"""Rows and columns of each matrix, by mode."""
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, flat as in memory, outputs with their initial content.

    In the book's data b is twice a, so that a times b equals b times a. In the probe it does not, neither
    matrix is symmetric, and no two tiles are alike.
    """
    count = SIZES[mode] ** 2
    i = np.arange(count)
    if dataset == "book":
        return {
            "a": i.astype(np.float32),
            "b": (2 * i).astype(np.float32),
            "out": np.zeros(count, np.float32),
        }
    return {
        "a": ((i * 41 + 29) % 97 - 40).astype(np.float32),
        "b": ((i * i * 7 + 3 * i + 11) % 89 - 30).astype(np.float32),
        "out": np.full(count, POISON, np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """The product; exact, as all sums are whole numbers far below 2**24.

    Behind it the program's own filling, which no thread may change.
    """
    size = SIZES[mode]
    a, b = (inputs[name].astype(np.float64).reshape(size, size) for name in ("a", "b"))
    return {"out": (a @ b).astype(np.float32), "guard": np.full(size * size, POISON, np.float32)}
