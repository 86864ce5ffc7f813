"""Puzzle 48: the sum of the last inputs of two GPUs, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 1024
EPOCHS = 3
OTHER_SIZE = 1000
OTHER_EPOCHS = 4
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content; the same in each mode.

    The sums of the probe, multiples of 1/4, are exact in float32, and half of it is negative.
    """
    i = np.arange(OTHER_SIZE if dataset == "other-sizes" else SIZE)
    buffers = {}
    for gpu in range(2):
        if dataset == "book":
            base, poison = i % 61 + gpu + 1, np.float32(0)
        else:
            base, poison = (i * 389 + i // 61 * 7 + gpu * 1777) % 4093 / 4 - 500, POISON
        buffers[f"in{gpu}"] = base.astype(np.float32)
        buffers[f"out{gpu}"] = np.full(len(i), poison, np.float32)
    return buffers


def expected(mode: str, inputs: Buffers) -> Buffers:
    """In each epoch the input is `in` times the number of the epoch; the result is that of the last one."""
    epochs = EPOCHS if len(inputs["in0"]) == SIZE else OTHER_EPOCHS
    result = np.float32(epochs) * (inputs["in0"] + inputs["in1"])
    return {"out0": result, "out1": result.copy()}
