"""Puzzle 36: the sum of two vectors, and the sum of all elements of one, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 5003
OTHER_SIZE = 70
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    SIZE is no multiple of the threads, and some threads have one round of four steps more than others;
    OTHER_SIZE is less than one block. The probe has elements of both signs, whose period has no factor in
    common with a block or a grid. Neither a type of 16 bits nor an integer holds all of them, or their sum.
    """
    size = OTHER_SIZE if dataset == "other-sizes" else SIZE
    outputs = size if mode == "add" else 1
    i = np.arange(size)
    if dataset == "book":
        a, b = (i if mode == "add" else i % 61), 2 * i
        out = np.zeros(outputs, np.float32)
    else:
        a, b = (i * 37 + 11) % 1009 * 2.25 - 900.75, (i * 53 + 7) % 997 * 1.5 - 500.25
        out = np.full(outputs, POISON, np.float32)
    first = {"a": a.astype(np.float32)}
    return {**first, "b": b.astype(np.float32), "out": out} if mode == "add" else {**first, "out": out}


def expected(mode: str, inputs: Buffers) -> Buffers:
    """Exact: all sums are multiples of 1/4, and small enough for float32 in every order."""
    if mode == "add":
        return {"out": inputs["a"] + inputs["b"]}
    return {"out": np.array([inputs["a"].astype(np.float64).sum()], np.float32)}
