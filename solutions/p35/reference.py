"""Puzzle 35: twice a vector plus one, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 1024 * 1024
SCALE = np.float32(2)
BIAS = np.float32(1)
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content; the same in each mode.

    The probe's period is no multiple of a vector, a block or the book's 97, and half of it is negative.
    """
    i = np.arange(SIZE)
    if dataset == "book":
        return {"input": (i % 97).astype(np.float32), "out": np.zeros(SIZE, np.float32)}
    return {
        "input": ((i * 389 + i // 1009 * 7) % 4093 / 4 - 500).astype(np.float32),
        "out": np.full(SIZE, POISON, np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """Every number doubled, plus one; exact, as all are multiples of 1/4 and small."""
    return {"out": inputs["input"] * SCALE + BIAS}
