"""Puzzle 10: what two programs compute once their bugs are found, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 2
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, flat as in memory, outputs with their initial content.

    The probe's numbers have different sums, whichever of them are left out. Neither a type of 16 bits nor an
    integer holds all of them.
    """
    probe = dataset == "probe"
    numbers = [5.5, -9, 2049, 33] if probe else range(SIZE * SIZE)
    return {
        "a": np.array(numbers, np.float32),
        "out": np.full(SIZE * SIZE, POISON if probe else 0, np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """Ten more for each number, or their sum in every element; after it the program's fill value."""
    numbers = inputs["a"]
    result = numbers + np.float32(10) if mode == "memory-bug" else np.full_like(numbers, numbers.sum())
    return {"out": result, "guard": np.full(SIZE * SIZE, POISON, np.float32)}
