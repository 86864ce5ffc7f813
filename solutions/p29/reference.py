"""Puzzle 29: a pipeline of three stages, and a stencil applied three times, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]
Wide = NDArray[np.float64]

SIZE = 1024
TPB = 256
BLUR_RADIUS = 2
STENCIL_ITERATIONS = 3
GAIN = 1.1
SMOOTHING = 0.6
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    The probe follows no slope and repeats in no block. All of it is positive: nothing cancels, so the
    tolerance speaks of each element's own digits. Seventeenths have more of them than types of 16 bits hold.
    """
    i = np.arange(SIZE)
    if dataset == "probe":
        data = ((i * 89 + i // TPB * 31 + 17) % 251 / 17 + 0.25).astype(np.float32)
        return {"input": data, "out": np.full(SIZE, POISON, np.float32)}
    if mode == "multi-stage":
        data = (i % 10).astype(np.float32) + i.astype(np.float32) / np.float32(100)
    else:
        data = (i % 20 < 10).astype(np.float32)
    return {"input": data, "out": np.zeros(SIZE, np.float32)}


def expected(mode: str, inputs: Buffers) -> Buffers:
    """The result of this mode's kernel for each block; blocks are independent."""
    blocks = inputs["input"].astype(np.float64).reshape(-1, TPB)
    if mode == "multi-stage":
        result = _smoothed(_mean(blocks * GAIN, BLUR_RADIUS))
    else:
        result = blocks
        for _ in range(STENCIL_ITERATIONS):
            result = _mean(result, 1)
    return {"out": result.ravel().astype(np.float32)}


def _mean(blocks: Wide, radius: int, divisor: int = 0) -> Wide:
    """The mean of each element and its neighbours up to `radius` away, inside the block.

    Args:
        divisor: divides every sum, instead of the number of its terms.
    """
    padded = np.pad(blocks, ((0, 0), (radius, radius)))
    present = np.pad(np.ones(TPB), radius)
    shifts = range(2 * radius + 1)
    total: Wide = sum((padded[:, shift : shift + TPB] for shift in shifts), np.zeros_like(blocks))
    count: Wide = sum((present[shift : shift + TPB] for shift in shifts), np.zeros(TPB))
    return total / (divisor or count)


def _smoothed(blocks: Wide) -> Wide:
    """Each value moved towards its left neighbour and then towards its right one, where they exist."""
    result = blocks.copy()
    result[:, 1:] = (result[:, 1:] + blocks[:, :-1]) * SMOOTHING
    result[:, :-1] = (result[:, :-1] + blocks[:, 1:]) * SMOOTHING
    return result
