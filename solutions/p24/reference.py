"""Puzzle 24: the dot product of two vectors of one warp's length, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str, lanes: int = 32) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content; the same in each mode.

    The vectors are as long as a warp has lanes: 64 on AMD's CDNA GPUs.

    The probe has terms of both signs and different vectors, so that a term left out, doubled or taken
    from another lane changes the sum. Types of 16 bits hold neither all elements nor the sum, and no integer
    is equal to it.
    """
    lane = np.arange(lanes)
    if dataset == "book":
        ramp = lane.astype(np.float32)
        return {"a": ramp, "b": ramp.copy(), "out": np.zeros(1, np.float32)}
    a = ((lane * 7 + 3) % 37 - 15).astype(np.float32)
    b = ((lane * lane * 5 + 11) % 41 - 12).astype(np.float32)
    a[5], b[3] = 1029.25, 2049.5
    return {
        "a": a,
        "b": b,
        "out": np.full(1, POISON, np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """The one number that the warp writes; exact, as all partial sums are multiples of 1/4 and small."""
    total = np.dot(inputs["a"].astype(np.float64), inputs["b"].astype(np.float64))
    return {"out": np.array([total], np.float32)}
