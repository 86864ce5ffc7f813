"""Puzzle 1: ten more than every element, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 4
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    The book's elements equal their indices; the probe's do not, so that adding 10 to the index is wrong.
    Neither a type of 16 bits nor an integer holds all of them.
    """
    if dataset == "book":
        return {"a": np.arange(SIZE, dtype=np.float32), "out": np.zeros(SIZE, np.float32)}
    return {"a": np.array([2.5, -12, 2049, 7], np.float32), "out": np.full(SIZE, POISON, np.float32)}


def expected(mode: str, inputs: Buffers) -> Buffers:
    """Exact: the sums are multiples of 1/2."""
    return {"out": inputs["a"] + np.float32(10)}
