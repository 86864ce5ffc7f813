"""Puzzle 7: ten more than every element of a matrix, by four blocks, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 5
OTHER_SIZE = 8
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, flat as in memory, outputs with their initial content.

    No two elements of the probe are alike, and it is not symmetric. Neither a type of 16 bits nor an
    integer holds all of them.
    """
    size = OTHER_SIZE if dataset == "other-sizes" else SIZE
    i = np.arange(size * size)
    if dataset == "book":
        return {"a": i.astype(np.float32), "out": np.zeros(SIZE * SIZE, np.float32)}
    return {
        "a": ((i * 41 + 29) % 97 * 21.25 - 900).astype(np.float32),
        "out": np.full(size * size, POISON, np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """The sums, and behind them the program's own filling, which no thread may change."""
    a = inputs["a"]
    return {"out": a + np.float32(10), "guard": np.full(a.size, POISON, np.float32)}
