"""Puzzle 28: a convolution, tile by tile, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

VECTOR_SIZE = 16384
TILE_SIZE = 256
HALO_SIZE = 2
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    The book's vector grows evenly, so that a window in the wrong place is off by the same number
    everywhere. The probe's elements are in no order and of both signs; the weights are not symmetric. Neither
    a type of 16 bits nor an integer holds all elements of either, or all sums.
    """
    i = np.arange(VECTOR_SIZE)
    if dataset == "book":
        return {
            "a": (i + 1).astype(np.float32),
            "weights": np.arange(1, 6).astype(np.float32),
            "out": np.zeros(VECTOR_SIZE, np.float32),
        }
    return {
        "a": ((i * 7919 + 13) % 16411 % 211 * 10.5 - 900).astype(np.float32),
        "weights": np.array([3, -1, 2049, 2.5, -5], np.float32),
        "out": np.full(VECTOR_SIZE, POISON, np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """Windows inside a tile; the first and last two elements of each tile as they were. Exact."""
    tiles = inputs["a"].reshape(-1, TILE_SIZE)
    out = tiles.copy()
    windows = np.lib.stride_tricks.sliding_window_view(tiles, 2 * HALO_SIZE + 1, axis=1)
    out[:, HALO_SIZE:-HALO_SIZE] = windows @ inputs["weights"]
    return {"out": out.ravel()}
