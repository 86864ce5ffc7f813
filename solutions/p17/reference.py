"""Puzzle 17: a convolution in one dimension, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

INPUT_SIZE = 15
CONV_SIZE = 4


def inputs(mode: str, dataset: str) -> Buffers:
    """Every array that the program stages.

    The book's filter begins with 0, so that its first term may go missing unnoticed; the probe's has no zero
    and is not symmetric. Neither a type of 16 bits nor an integer holds all elements of either, or all sums.
    """
    i, j = np.arange(INPUT_SIZE), np.arange(CONV_SIZE)
    if dataset == "book":
        return {"input": i.astype(np.float32), "kernel": j.astype(np.float32)}
    return {
        "input": ((i * 17 + 5) % 23 * 55.5 - 100).astype(np.float32),
        "kernel": np.array([2049, -1, 2.5, 5], np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """Element i is the sum of input[i + j] * kernel[j] over the j that stay inside, on each device."""
    padded = np.concatenate([inputs["input"], np.zeros(CONV_SIZE - 1, np.float32)])
    result = np.correlate(padded, inputs["kernel"])
    return {"out": result, "out_cpu": result.copy()}
