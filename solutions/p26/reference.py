"""Puzzle 26: butterflies, scans and a partition of one warp, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE_2 = 64
PIVOT = 5
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str, lanes: int = 32) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    All modes but one work on as many elements as a warp has lanes: 64 on AMD's CDNA GPUs.
    """
    size = SIZE_2 if mode == "conditional-max" else lanes
    if dataset == "book":
        return {"a": _book(mode, np.arange(size)).astype(np.float32), "out": np.zeros(size, np.float32)}
    return {"a": _probe(mode, np.arange(size)).astype(np.float32), "out": np.full(size, POISON, np.float32)}


def _book(mode: str, i: NDArray[np.int64]) -> NDArray[np.int64]:
    if mode == "pair-swap":
        return i
    if mode == "parallel-max":
        return np.where(i < i.size - 1, 2 * i, 1000)
    if mode == "conditional-max":
        return np.concatenate([[3, 1, 7, 2, 9, 4, 8, 5, 6], i[9:] % 10])
    if mode == "prefix-sum":
        return i + 1
    return np.array([3, 7, 1, 8, 2, 9, 4, 6, 0, 10, 3, 11, 1, 12, 4, 13])[i % 16]


def _probe(mode: str, lane: NDArray[np.int64]) -> NDArray[np.float64]:
    """Elements in no order, most of them negative where a maximum is looked for.

    In the book's data for the maximum the last element is the largest, so that values which only travel
    to lower lanes reach every lane; here the largest stands in the middle. In the probe for the
    partition some elements are equal to the pivot, and more of them go right than left. Neither a type of
    16 bits nor an integer holds all elements or all results of any mode.
    """
    i = lane.astype(np.float64)
    if mode == "parallel-max":
        a = -20.5 - (i * 7 + 3) % i.size
        a[11] = 2049.5
        a[30] = -3.5
        return a
    if mode == "conditional-max":
        a = -30.5 - (i * 11 + 5) % 64
        a[[13, 41]] = (2049.75, 1029.25)
        a[[22, 52]] = (-2051.0, -1033.5)
        return a
    if mode == "partition":
        a = (i * 5 + 3) % 11 + np.where(i % 7 == 2, 0.5, 0.0)
        a[[4, 17]] = (2049.5, -1030.5)
        return a
    return (i * 13 + 6) % i.size * 55.5 - 300


def expected(mode: str, inputs: Buffers, lanes: int = 32) -> Buffers:
    """The whole result; exact, as all sums are multiples of 1/2."""
    a = inputs["a"]
    if mode == "pair-swap":
        return {"out": a.reshape(-1, 2)[:, ::-1].ravel()}
    if mode == "parallel-max":
        return {"out": np.full_like(a, a.max())}
    if mode == "conditional-max":
        warps = a.reshape(-1, lanes)
        even = np.arange(lanes) % 2 == 0
        return {"out": np.where(even, warps.max(1, keepdims=True), warps.min(1, keepdims=True)).ravel()}
    if mode == "prefix-sum":
        return {"out": np.cumsum(a)}
    return {"out": np.concatenate([a[a < PIVOT], a[a >= PIVOT]])}
