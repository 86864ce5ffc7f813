"""Puzzle 37: how often each value of a byte occurs, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.uint8] | NDArray[np.uint32]]

SIZE = 80003
OTHER_SIZE = 70
BINS = 256
RUN = 500  # equal bytes one after the other in the book's data of `merged`
POISON = np.uint32(0xDEAD)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    Most bytes of the probe have one value, at the end of the range: each of five blocks counts more than
    255 of them, and all of them more than 65,535. The others have all other values.
    """
    size = OTHER_SIZE if dataset == "other-sizes" else SIZE
    i = np.arange(size, dtype=np.uint64)
    if dataset != "book":
        a = np.where(i % 11 == 4, i * 37 % 255, 255).astype(np.uint8)
        return {"a": a, "out": np.full(BINS, POISON, np.uint32)}
    a = (i // RUN).astype(np.uint8) if mode == "merged" else random_bytes(size)
    return {"a": a, "out": np.zeros(BINS, np.uint32)}


def random_bytes(size: int) -> NDArray[np.uint8]:
    """The high bytes of the states of the program's generator."""
    states = np.empty(size, np.uint32)
    state = 1
    for i in range(size):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        states[i] = state
    return (states >> 24).astype(np.uint8)


def expected(mode: str, inputs: Buffers) -> Buffers:
    """Exact: integers."""
    return {"out": np.bincount(inputs["a"], minlength=BINS).astype(np.uint32)}
