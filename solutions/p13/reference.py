"""Puzzle 13: a convolution in one dimension, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZES = {"simple": (6, 3), "block-boundary": (15, 4)}
OTHER_SIZE = 22
"""Elements of the vector and of the filter, by mode."""
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    The book's filter begins with 0, and its first term may go missing unnoticed. The probe's has no zero
    and is not symmetric, so that a filter that is turned round changes every sum. Neither a type of
    16 bits nor an integer holds all elements of either, or all sums.
    """
    size, conv_size = SIZES[mode]
    if dataset == "other-sizes":
        size = OTHER_SIZE
    i, j = np.arange(size), np.arange(conv_size)
    if dataset == "book":
        return {
            "a": i.astype(np.float32),
            "b": j.astype(np.float32),
            "out": np.zeros(size, np.float32),
        }
    return {
        "a": ((i * 17 + 5) % 23 * 55.5 - 100).astype(np.float32),
        "b": np.array([2049, -1, 2.5, 5], np.float32)[:conv_size],
        "out": np.full(size, POISON, np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """Element i is the sum of a[i + j] * b[j] over the j that stay inside a; exact, as all are quarters.

    Behind it the program's own filling, which no thread may change.
    """
    a, b = inputs["a"], inputs["b"]
    padded = np.concatenate([a, np.zeros(b.size - 1, np.float32)])
    return {"out": np.correlate(padded, b), "guard": np.full(a.size, POISON, np.float32)}
