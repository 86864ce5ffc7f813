"""Puzzle 3: ten more than every element, and no write past the end, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 4
OTHER_SIZE = 6
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    The book's elements equal their indices; the probe's do not, so that adding 10 to the index is wrong.
    Neither a type of 16 bits nor an integer holds all of them.
    """
    if dataset == "book":
        return {"a": np.arange(SIZE, dtype=np.float32), "out": np.zeros(SIZE, np.float32)}
    size = OTHER_SIZE if dataset == "other-sizes" else SIZE
    return {
        "a": np.array([2.5, -12, 2049, 7, 61.5, -3], np.float32)[:size],
        "out": np.full(size, POISON, np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """The sums, and after them the program's fill value: on a real GPU only these elements show a write past
    the end."""
    a = inputs["a"]
    return {"out": a + np.float32(10), "guard": np.full(a.size, POISON, np.float32)}
