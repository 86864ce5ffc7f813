"""Puzzle 6: ten more than every element, by three blocks, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 9
OTHER_SIZE = 21
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    No two elements of the probe are alike, so that an element of another block cannot give the right sum.
    Neither a type of 16 bits nor an integer holds all of them.
    """
    size = OTHER_SIZE if dataset == "other-sizes" else SIZE
    i = np.arange(size)
    if dataset == "book":
        return {"a": i.astype(np.float32), "out": np.zeros(SIZE, np.float32)}
    return {
        "a": ((i * 17 + 5) % 23 * 111.5 - 400).astype(np.float32),
        "out": np.full(size, POISON, np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """The sums, and behind them the program's own filling, which no thread may change."""
    a = inputs["a"]
    return {"out": a + np.float32(10), "guard": np.full(a.size, POISON, np.float32)}
