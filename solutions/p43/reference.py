"""Puzzle 43: a matrix times a number plus a number, and a table added to four sequences, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

GAIN, OFFSET = 2.0, 1.0
SHAPES = {
    "one-tile": {"book": (40, 200), "other-sizes": (17, 68)},
    "ring": {"book": (72, 256), "other-sizes": (40, 72)},
    "multicast": {"book": (4 * 32, 72), "other-sizes": (4 * 48, 100)},
}
SEQUENCES = 4
TILE_ROWS = 16
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, flat as in memory, outputs with their initial content.

    The numbers of the probe are multiples of 1/16 with 17 bits, more than the narrower types hold, and all
    results are exact in float32.
    """
    rows, cols = SHAPES[mode].get(dataset, SHAPES[mode]["book"])
    i = np.arange(rows * cols)
    book = dataset == "book"
    numbers = i % 25 if book else ((i * 7919 + i // cols * 613) % 120011 - 60000) / 16
    data = {"input": numbers.astype(np.float32)}
    if mode == "multicast":
        k = np.arange(rows * cols // SEQUENCES)
        table = k % 7 if book else ((k * 31 + k // cols * 17) % 4093 - 2000) / 8
        data["table"] = table.astype(np.float32)
    data["out"] = np.full(rows * cols, 0 if book else POISON, np.float32)
    return data


def expected(mode: str, inputs: Buffers) -> Buffers:
    """`multicast`: the table added to each sequence. Otherwise each element, times GAIN plus OFFSET."""
    numbers = inputs["input"].astype(np.float64)
    if mode == "multicast":
        results = numbers.reshape(SEQUENCES, -1) + inputs["table"]
    else:
        results = GAIN * numbers + OFFSET
    return {"out": results.astype(np.float32).ravel()}


def with_first_slices(inputs: Buffers) -> NDArray[np.float32]:
    """A mistake of `multicast`: every slice of a tile of the table is its first one."""
    table = inputs["table"]
    positions = 32 if table.size == 32 * 72 else 48
    slices = table.reshape(positions // TILE_ROWS, SEQUENCES, -1)
    repeated = np.repeat(slices[:, :1], SEQUENCES, axis=1).ravel()
    return (inputs["input"].reshape(SEQUENCES, -1) + repeated).ravel()
