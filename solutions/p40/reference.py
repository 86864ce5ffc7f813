"""Puzzle 40: the product of a sparse matrix and a vector, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32] | NDArray[np.int32]]

ROWS, HUGE = 1001, 1000
OTHER_ROWS, OTHER_HUGE = 97, 300
COLS = 1024
HUGE_ROW = 77
GUARD = 1024
UNTOUCHED = np.float32(-777.25)
POISON = np.float32(-555.5)


def lengths(rows: int, huge: int) -> NDArray[np.int64]:
    """The nonzeros of each row of the program's own matrix."""
    row = np.arange(rows)
    empty = (row % 3 == 0) | ((row >= rows * 3 // 10) & (row < rows - 1))
    return np.where(row == HUGE_ROW, huge, np.where(empty, 0, 1 + row % 7))


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    The rows of the probe are those of the book in reverse order, with other columns and with fractions.
    """
    other = dataset == "other-sizes"
    rows, huge = (OTHER_ROWS, OTHER_HUGE) if other else (ROWS, HUGE)
    length = lengths(rows, huge)
    if dataset != "book":
        length = length[::-1]
    starts = np.concatenate([[0], np.cumsum(length)])
    row_of = np.repeat(np.arange(rows), length)
    k = np.arange(starts[-1])
    j = k - starts[row_of]
    column = np.arange(COLS)
    if dataset == "book":
        columns, values, x = (row_of * 7 + j * 5) % COLS, 1 + k % 5, 1 + column % 9
    else:
        columns = (row_of * 11 + j * 3 + 1) % COLS
        values = 1.0 + (k * 7919 % 8001) / 4096 - (k % 3)
        x = 33.0 + (column * 29 % 257) / 128 - (column % 5) * 8
    return {
        "starts": starts.astype(np.int32),
        "columns": columns.astype(np.int32),
        "values": values.astype(np.float32),
        "x": x.astype(np.float32),
        "out": np.full(rows, UNTOUCHED if dataset == "book" else POISON, np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """In double precision."""
    return {"out": product(inputs), "guard": np.full(GUARD, UNTOUCHED)}


def product(inputs: Buffers, last: int = 0) -> NDArray[np.float32]:
    """The product without the `last` nonzeros of each row."""
    starts = inputs["starts"].astype(np.int64)
    terms = inputs["values"].astype(np.float64) * inputs["x"].astype(np.float64)[inputs["columns"]]
    sums = np.concatenate([[0.0], np.cumsum(terms)])
    ends = np.maximum(starts[1:] - last, starts[:-1])
    return (sums[ends] - sums[starts[:-1]]).astype(np.float32)
