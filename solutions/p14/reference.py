"""Puzzle 14: the sums of the first 1, 2, 3 … elements, by NumPy."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

TPB = 8
SIZES = {"simple": 8, "complete": 15}
OTHER_SIZE = 29
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    The book's vector begins with 0, which a scan may leave out unnoticed; the probe's elements are all
    different and of both signs, and no block's sum is 0. Neither a type of 16 bits nor an integer holds all
    of them, or all sums.
    """
    size = OTHER_SIZE if dataset == "other-sizes" else SIZES[mode]
    blocks = 0 if mode == "simple" else -(-size // TPB)
    i = np.arange(size)
    if dataset == "book":
        return {"a": i.astype(np.float32), "out": np.zeros(size + blocks, np.float32)}
    return {
        "a": ((i * 17 + 5) % 23 * 111.5 - 400).astype(np.float32),
        "out": np.full(size + blocks, POISON, np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """The inclusive scan; in mode `complete`, the sum of each block follows it.

    Exact, as all sums are multiples of 1/2.
    """
    a = inputs["a"]
    if mode == "simple":
        return {"out": np.cumsum(a)}
    return {"out": np.concatenate([np.cumsum(a), np.add.reduceat(a, np.arange(0, a.size, TPB))])}


def added_at(offsets: Iterable[int], a: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a scan gives that adds, for each offset in turn, the element that far before every one."""
    for offset in offsets:
        a = a + np.concatenate([np.zeros(offset), a[:-offset]])
    return a
