"""Puzzle 2: the sum of two vectors, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 4
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    In the book's data a equals b, and twice either is their sum. In the probe b is 3 times a, so that
    adding a vector to itself gives half the sum, or half as much again. Neither a type of 16 bits nor an
    integer holds all elements, or all sums.
    """
    if dataset == "book":
        ramp = np.arange(SIZE, dtype=np.float32)
        return {"a": ramp, "b": ramp.copy(), "out": np.zeros(SIZE, np.float32)}
    a = np.array([2.125, -12, 2051.5, 7], np.float32)
    return {"a": a, "b": 3 * a, "out": np.full(SIZE, POISON, np.float32)}


def expected(mode: str, inputs: Buffers) -> Buffers:
    """Exact: the sums are multiples of 1/8."""
    return {"out": inputs["a"] + inputs["b"]}
