"""Puzzle 41: the product of two matrices in float32, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

ROWS, COLS, TERMS = 256, 128, 20
OTHER_COLS, OTHER_TERMS = 256, 12
GUARD = 1024
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, flat as in memory, outputs with their initial content.

    The probe's numbers have both signs and fractions. `a` has 12 bits, more than the narrower types hold;
    `b` has six, so that products and sums are exact in float32.
    """
    cols, terms = (OTHER_COLS, OTHER_TERMS) if dataset == "other-sizes" else (COLS, TERMS)
    i, j = np.arange(ROWS * terms), np.arange(terms * cols)
    if dataset == "book":
        data = {"a": (i % 13).astype(np.float32), "b": (j % 31).astype(np.float32)}
    else:
        data = {
            "a": (((i * 7919 + i // terms * 613) % 8001 - 4000) / 16).astype(np.float32),
            "b": (((j * 31 + j // cols * 17) % 63 - 31) / 512).astype(np.float32),
        }
    fill = np.float32(0) if dataset == "book" else POISON
    data["out"] = np.full(ROWS * cols, fill, np.float32)
    return data


def expected(mode: str, inputs: Buffers) -> Buffers:
    """The product, in double precision, and the untouched elements behind it."""
    return {"out": product(inputs), "guard": np.full(GUARD, POISON, np.float32)}


def product(inputs: Buffers, kept: slice = slice(None)) -> NDArray[np.float32]:
    """The product, or a part of it: the sums of these terms only."""
    a, b = (inputs[name].astype(np.float64) for name in ("a", "b"))
    a = a.reshape(ROWS, -1)
    b = b.reshape(a.shape[1], -1)
    return (a[:, kept] @ b[kept]).astype(np.float32)
