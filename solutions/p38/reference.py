"""Puzzle 38: the sums of all elements up to each one, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.int32]]

SIZE, OTHER_SIZE = 90004, 72004
GUARD = 1024
POISON = np.int32(-777)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    The probe's elements have both signs and up to 20 bits. Its sums are negative, and have more bits than
    float32 holds.
    """
    size = OTHER_SIZE if dataset == "other-sizes" else SIZE
    i = np.arange(size)
    values = i % 13 - 3 if dataset == "book" else i * 7919 % 1000003 - 510000
    fill = 0 if dataset == "book" else POISON
    return {"a": values.astype(np.int32), "out": np.full(size, fill, np.int32)}


def expected(mode: str, inputs: Buffers) -> Buffers:
    """The prefix sums, and the untouched elements behind them."""
    return {"out": np.cumsum(inputs["a"], dtype=np.int32), "guard": np.full(GUARD, POISON, np.int32)}
