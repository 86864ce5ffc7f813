"""Puzzle 44: the products of the rows of two matrices, by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Results = NDArray[np.float32]
Buffers = dict[str, NDArray[Any]]

SHAPES = {
    "one-tile": {"book": (64, 128, 64)},
    "tile-loop": {"book": (168, 200, 296), "other-sizes": (136, 144, 72)},
}
"""Rows of x, rows of the weights, and elements of a row."""
STEP = 16
DEPTH = 64
PIECE = 8
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, flat as in memory; x and the weights as the bits of bfloat16.

    The probe's numbers have up to eight bits, as many as bfloat16 has, and x is too large for float16.
    All sums are exact in float32.
    """
    rows, cols, inner = SHAPES[mode].get(dataset, SHAPES[mode]["book"])
    i, k = np.arange(rows * inner), np.arange(cols * inner)
    book = dataset == "book"
    x = i % 7 - 3 if book else ((i * 7919 + i // inner * 613) % 511 - 255) * 512
    weights = k % 5 - 2 if book else ((k * 31 + k // inner * 17) % 507 - 253) / 16
    return {
        "x": _bits(np.asarray(x)),
        "weights": _bits(np.asarray(weights)),
        "out": np.full(rows * cols, 0 if book else POISON, np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """Row r, column c: the sum of the products of row r of x and row c of the weights."""
    return {"out": _sums(*_matrices(inputs))}


def not_swizzled(inputs: Buffers) -> Results:
    """A mistake of `one-tile`: the pieces of a row are stored in their order."""
    x, weights = _matrices(inputs)
    return _sums(_exchanged(x), _exchanged(weights))


def first_step_repeated(inputs: Buffers) -> Results:
    """A mistake of `one-tile`: every product takes the first elements of the rows."""
    x, weights = _matrices(inputs)
    return _sums(DEPTH // STEP * x[:, :STEP], weights[:, :STEP])


def last_steps_alone(inputs: Buffers) -> Results:
    """A mistake of `tile-loop`: the sums begin anew with each tile."""
    x, weights = _matrices(inputs)
    start = (x.shape[1] - 1) // DEPTH * DEPTH
    return _sums(x[:, start:], weights[:, start:])


def _matrices(inputs: Buffers) -> tuple[Numbers, Numbers]:
    """x and the weights; rows * inner, cols * inner and rows * cols are the sizes of the buffers."""
    sizes = {name: inputs[name].size for name in ("x", "weights", "out")}
    inner = round((sizes["x"] * sizes["weights"] / sizes["out"]) ** 0.5)
    x, weights = (_numbers(inputs[name]).reshape(-1, inner) for name in ("x", "weights"))
    return x, weights


def _sums(x: Numbers, weights: Numbers) -> Results:
    return (x @ weights.T).astype(np.float32).ravel()


def _exchanged(matrix: Numbers) -> Numbers:
    """What a product reads from a tile whose rows are not swizzled."""
    rows, cols = matrix.shape
    pieces = matrix.reshape(rows, cols // PIECE, PIECE)
    order = np.arange(cols // PIECE)[None, :] ^ np.arange(rows)[:, None] % 8
    return np.take_along_axis(pieces, order[:, :, None], axis=1).reshape(rows, cols)


def _bits(numbers: NDArray[Any]) -> NDArray[np.uint16]:
    """In bfloat16, which holds these numbers exactly."""
    return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def _numbers(bits: NDArray[Any]) -> Numbers:
    """The numbers that have these bits in bfloat16."""
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
