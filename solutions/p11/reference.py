"""Puzzle 11: the sum of every element and the two before it, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 8
OTHER_SIZE = 6
WINDOW = 3
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    The book's vector begins with 0, which a window may miss unnoticed; the probe has no zero, and terms of
    both signs. Neither a type of 16 bits nor an integer holds all of them, or all sums.
    """
    if dataset == "book":
        return {"a": np.arange(SIZE, dtype=np.float32), "out": np.zeros(SIZE, np.float32)}
    size = OTHER_SIZE if dataset == "other-sizes" else SIZE
    return {
        "a": np.array([3, -1, 4, 1.5, -5, 2049, 2.25, 6], np.float32)[:size],
        "out": np.full(size, POISON, np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """The window is cut off at the start of the vector; exact, as all sums are multiples of 1/4."""
    a = inputs["a"]
    return {"out": np.array([a[max(i - WINDOW + 1, 0) : i + 1].sum() for i in range(a.size)], np.float32)}
