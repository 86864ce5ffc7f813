"""Puzzle 5: the sums of every element of a row with every element of a column, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 2
OTHER_SIZE = 3
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, flat as in memory, outputs with their initial content.

    The probe's vectors follow no index, and its four sums differ from each other and from the book's.
    Neither a type of 16 bits nor an integer holds all of them.
    """
    if dataset == "book":
        i = np.arange(SIZE)
        return {
            "a": (i + 1).astype(np.float32),
            "b": (10 * i).astype(np.float32),
            "out": np.zeros(SIZE * SIZE, np.float32),
        }
    size = OTHER_SIZE if dataset == "other-sizes" else SIZE
    return {
        "a": np.array([4097.5, -12, 61.5], np.float32)[:size],
        "b": np.array([2049, 7.25, -3], np.float32)[:size],
        "out": np.full(size * size, POISON, np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """a runs along the columns, b along the rows; after the sums the program's fill value, which no thread
    may change."""
    sums = inputs["a"][np.newaxis, :] + inputs["b"][:, np.newaxis]
    return {"out": sums, "guard": np.full(sums.size, POISON, np.float32)}
