"""Puzzle 15: the sum of every row of a matrix, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

BATCH = 4
SIZE = 6
OTHER_SIZE = 7
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, flat as in memory, outputs with their initial content.

    The probe has no two equal rows, columns or elements, so that a wrong stride or a neighbour's
    element changes the sums; multiples of 1/4 keep them exact. Neither a type of 16 bits
    nor an integer holds all of them, or all sums.
    """
    i = np.arange(BATCH * (OTHER_SIZE if dataset == "other-sizes" else SIZE))
    if dataset == "book":
        return {"a": i.astype(np.float32), "out": np.zeros(BATCH, np.float32)}
    return {
        "a": ((i * 41 + 29) % 97 * 25.25 - 900).astype(np.float32),
        "out": np.full(BATCH, POISON, np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """One sum per row."""
    rows = inputs["a"].astype(np.float64).reshape(BATCH, -1)
    return {"out": rows.sum(axis=1).astype(np.float32)}
