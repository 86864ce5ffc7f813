"""Puzzle 27: sums, indices and a mean over one block, by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[Any]]

SIZE = 128
NUM_BINS = 8
POISON = np.float32(-777.25)
POISON_COUNT = np.int32(-777)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content."""
    i = np.arange(SIZE)
    if dataset == "book":
        if mode == "histogram":
            return {
                "a": (i % 80).astype(np.float32) / np.float32(100),
                "out": np.zeros(NUM_BINS, np.int32),
                "members": np.zeros(NUM_BINS * SIZE, np.float32),
            }
        if mode == "normalize":
            return {"a": (i % 8 + 1).astype(np.float32), "out": np.zeros(SIZE, np.float32)}
        return {
            "a": i.astype(np.float32),
            "b": (2 * i).astype(np.float32),
            "out": np.zeros(1, np.float32),
        }
    return _probe(mode, i)


def _probe(mode: str, i: NDArray[np.int64]) -> Buffers:
    """Elements in no order, of both signs where that is possible.

    In the histogram's data all bins have members, unlike many in each, and one element is 1; the bins'
    borders at 0, 1/4 and 1 are met exactly. Types of 16 bits hold the elements and results of no mode, nor do
    integers.
    """
    scattered = (i * 37 + 11) % SIZE
    if mode == "histogram":
        a = (scattered / SIZE) ** 2
        a[100] = 1.0
        return {
            "a": a.astype(np.float32),
            "out": np.full(NUM_BINS, POISON_COUNT, np.int32),
            "members": np.full(NUM_BINS * SIZE, POISON, np.float32),
        }
    if mode == "normalize":
        a = scattered * 14.25 - 900
        a[9] = 1000.125
        return {"a": a.astype(np.float32), "out": np.full(SIZE, POISON, np.float32)}
    a = (scattered % 53 - 17).astype(np.float32)
    b = ((i * i * 5 + 3) % 41 - 11).astype(np.float32)
    a[1], b[3] = 1029.25, 4099.5
    return {
        "a": a,
        "b": b,
        "out": np.full(1, POISON, np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """The whole result; exact but for the divisions of `normalize`."""
    a = inputs["a"]
    if mode == "histogram":
        bins = np.minimum((a * np.float32(NUM_BINS)).astype(np.int64), NUM_BINS - 1)
        members = inputs["members"].reshape(NUM_BINS, SIZE).copy()
        for row, target in zip(members, range(NUM_BINS), strict=True):
            found = a[bins == target]
            row[: found.size] = found
        return {"out": np.bincount(bins, minlength=NUM_BINS).astype(np.int32), "members": members}
    if mode == "normalize":
        return {"out": (a / a.astype(np.float64).mean()).astype(np.float32)}
    total = np.dot(a.astype(np.float64), inputs["b"].astype(np.float64))
    return {"out": np.array([total], np.float32)}
