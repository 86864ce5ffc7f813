"""Puzzle 8: ten more than every element, by way of shared memory, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 8
OTHER_SIZE = 12
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    The book's elements are all 1, and any of them in any place gives the right sum. In the probe no two
    are alike, and neither a type of 16 bits nor an integer holds all of them.
    """
    if dataset == "book":
        return {"a": np.ones(SIZE, np.float32), "out": np.zeros(SIZE, np.float32)}
    size = OTHER_SIZE if dataset == "other-sizes" else SIZE
    i = np.arange(size)
    return {
        "a": ((i * 17 + 5) % 23 * 111.5 - 400).astype(np.float32),
        "out": np.full(size, POISON, np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """Exact: the sums are multiples of 1/2."""
    return {"out": inputs["a"] + np.float32(10)}
