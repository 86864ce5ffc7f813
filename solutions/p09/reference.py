"""Puzzle 9: what three programs compute once their mistakes are found, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 4
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    The first case stages no input: in the unsolved program there is none. The probe's numbers are of both
    signs and follow no line, and neither a type of 16 bits nor an integer holds all of them.
    """
    probe = dataset == "probe"
    buffers = {"result": np.full(SIZE, POISON if probe else 0, np.float32)}
    if mode != "first-case":
        first = 1 if mode == "third-case" else 0
        book = np.arange(first, first + SIZE)
        buffers["input"] = np.array([7, -2051.5, 12, 5.25] if probe else book, np.float32)
    return buffers


def expected(mode: str, inputs: Buffers) -> Buffers:
    """The whole result of each case."""
    if mode == "first-case":
        return {"result": np.arange(10, 10 + SIZE, dtype=np.float32)}
    numbers = inputs["input"]
    if mode == "second-case":
        return {"result": np.convolve(numbers, np.ones(3, np.float32), "same").astype(np.float32)}
    left = np.concatenate([numbers[:1], numbers[:-1]])
    return {"result": (left + numbers) / np.float32(2)}
