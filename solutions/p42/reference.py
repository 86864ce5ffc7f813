"""Puzzle 42: calibrated values of readings, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 6400
OTHER_SIZE = 7001
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, the output with its initial content; the same in each mode.

    The probe's readings are quarters, some of them negative: the values remain exact in float32.
    """
    size = OTHER_SIZE if dataset == "other-sizes" else SIZE
    i = np.arange(size)
    if dataset == "book":
        readings, before = (i * 7 + i // 97) % 251, np.float32(0)
    else:
        readings, before = (i * 389 + i // 61 * 7) % 4093 / 4 - 500, POISON
    return {"input": readings.astype(np.float32), "output": np.full(size, before, np.float32)}


def expected(mode: str, inputs: Buffers) -> Buffers:
    """Each reading times itself plus a half."""
    readings = inputs["input"]
    return {"output": readings * (readings + np.float32(0.5))}
