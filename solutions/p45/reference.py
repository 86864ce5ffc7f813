"""Puzzle 45: sums of products of rows, rounded to bfloat16, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Halves = NDArray[np.uint16]
Numbers = NDArray[np.float64]

SHAPES = {
    "specialised": {"book": (200, 120, 264), "other-sizes": (136, 72, 72)},
    "persistent": {"book": (200, 184, 200), "other-sizes": (72, 104, 136)},
}
"""Rows of x, rows of the weights, elements of each."""
TILE_COLS, DEPTH, BLOCKS = 64, 64, 4
POISON = 0xC442  # -776


def halves(numbers: NDArray[np.floating]) -> Halves:
    """The bits of the nearest numbers in bfloat16, ties to even."""
    bits = numbers.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def values(bits: Halves) -> Numbers:
    """The numbers that have these bits in bfloat16."""
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def inputs(mode: str, dataset: str) -> dict[str, Halves]:
    """Every buffer that the program stages, flat as in memory, the bits of bfloat16.

    The numbers have up to seven bits, and all sums are exact in float32.
    """
    rows, cols, inner = SHAPES[mode].get(dataset, SHAPES[mode]["book"])
    i, k = np.arange(rows * inner), np.arange(cols * inner)
    book = dataset == "book"
    x = i % 7 - 3 if book else ((i * 7919 + i // inner * 613) % 251 - 125) / 8
    weights = k % 5 - 2 if book else ((k * 31 + k // inner * 17) % 61 - 30) / 4
    out = np.zeros(rows * cols, np.uint16) if book else np.full(rows * cols, POISON, np.uint16)
    return {"x": halves(np.asarray(x)), "weights": halves(np.asarray(weights)), "out": out}


def expected(mode: str, inputs: dict[str, Halves]) -> dict[str, NDArray[np.float32]]:
    """Row r, column c: the sum of the products of row r of x and row c of the weights."""
    return {"out": rounded(sums(inputs))}


def sums(inputs: dict[str, Halves]) -> Numbers:
    """The exact sums, a row for each row of x."""
    inner = _inner(inputs)
    x, weights = values(inputs["x"]).reshape(-1, inner), values(inputs["weights"]).reshape(-1, inner)
    return np.asarray(x @ weights.T)


def rounded(numbers: Numbers) -> NDArray[np.float32]:
    """In bfloat16, flat."""
    return values(halves(numbers)).astype(np.float32).ravel()


def _inner(inputs: dict[str, Halves]) -> int:
    """From the number of elements of the buffers: rows * inner, cols * inner and rows * cols."""
    x, weights, out = (inputs[name].size for name in ("x", "weights", "out"))
    return round((x * weights / out) ** 0.5)


def without_last_step(inputs: dict[str, Halves]) -> NDArray[np.float32]:
    """A mistake: only whole steps are added, so that the last elements of each row are lost."""
    inner = _inner(inputs)
    whole = inner // DEPTH * DEPTH
    x, weights = values(inputs["x"]).reshape(-1, inner), values(inputs["weights"]).reshape(-1, inner)
    return rounded(np.asarray(x[:, :whole] @ weights[:, :whole].T))
