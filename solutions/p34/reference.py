"""Puzzle 34: sums by the blocks of one cluster, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 1024
TPB = 256
CLUSTER_SIZE = 4
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    All data but the book's of `advanced` are whole numbers or multiples of 1/4 or 1/256 whose sums are exact
    in float32 whatever the order. In the probe no two blocks have the same sum, nor do two warps, and
    neither a type of 16 bits nor an integer holds all elements or all sums.
    """
    i = np.arange(SIZE)
    probe = dataset == "probe"
    fill = POISON if probe else np.float32(0)
    if mode == "reduction":
        return {
            "input": ((i * 37 + i // TPB * 53) % 4093 * 0.75 - 600 if probe else i).astype(np.float32),
            "out": np.full(1, fill, np.float32),
            "temp_storage": np.full(CLUSTER_SIZE, fill, np.float32),
        }
    if probe:
        data = (((i * 37 + i // TPB * 101) % 8191 - 3000) / 256).astype(np.float32)
    elif mode == "coordination":
        data = (i % TPB / 256).astype(np.float32)
    else:
        data = (i % 50).astype(np.float32) * np.float32(0.02)
    return {"input": data, "out": np.full(CLUSTER_SIZE, fill, np.float32)}


def expected(mode: str, inputs: Buffers) -> Buffers:
    """`reduction`: the sum of everything. Otherwise block b's sum, b + 1 times."""
    blocks = inputs["input"].astype(np.float64).reshape(CLUSTER_SIZE, TPB).sum(axis=1)
    if mode == "reduction":
        return {"out": np.array([blocks.sum()], np.float32)}
    return {"out": (blocks * np.arange(1, CLUSTER_SIZE + 1)).astype(np.float32)}
