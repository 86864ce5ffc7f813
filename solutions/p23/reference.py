"""Puzzle 23: element-wise addition, four ways, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 1024
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content; the same in each mode.

    The probe follows no line, so that an element from another place cannot give the same sum: the
    periods 1009 and 521 do not divide any tile or vector width. Neither a type of 16 bits nor
    an integer holds all of them.
    """
    i = np.arange(SIZE)
    if dataset == "book":
        return {
            "a": (2 * i).astype(np.float32),
            "b": (2 * i + 1).astype(np.float32),
            "out": np.zeros(SIZE, np.float32),
        }
    return {
        "a": ((i * 37 + 11) % 1009 * 3.25 - 1200).astype(np.float32),
        "b": ((i * i * 3 + 7) % 521 * 4.75).astype(np.float32),
        "out": np.full(SIZE, POISON, np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """The sum of the two vectors."""
    return {"out": inputs["a"] + inputs["b"]}
