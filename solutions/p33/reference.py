"""Puzzle 33: the product of two large square matrices, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 1024
SIMULATED_SIZE = 256
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str, simulated: bool) -> Buffers:
    """Every buffer that the program stages, flat as in memory, outputs with their initial content.

    The probe's numbers have 11 significant bits, so tf32 holds them exactly and all sums are exact, too. Two
    narrower types give themselves away: bfloat16 has 8 bits, and float16 ends at 65504, while `a` reaches
    2**18. Both signs occur, so that an error of bfloat16 is large beside many of the sums. The sums are
    multiples of 1/2, which tells integers apart.
    """
    size = SIMULATED_SIZE if simulated else SIZE
    i = np.arange(size * size)
    if dataset == "book":
        data = {"a": i.astype(np.float32), "b": (2 * i).astype(np.float32)}
        fill = np.float32(0)
    else:
        mixed = i * 7919 + i // size * 613
        data = {
            "a": ((mixed % 2047 - 1023) * 256).astype(np.float32),
            "b": (((i * 31 + i // size * 17) % 63 - 31) / 512).astype(np.float32),
        }
        fill = POISON
    if mode != "tiled":
        data["out"] = np.full(size * size, fill, np.float32)
    if mode != "tensor-core":
        data["tiled"] = np.full(size * size, fill, np.float32)
    return data


def expected(mode: str, inputs: Buffers) -> Buffers:
    """The product, in double precision; which of the two buffers hold it depends on the mode."""
    return {name: product(inputs) for name in ("out", "tiled") if name in inputs}


def product(inputs: Buffers, terms: slice = slice(None)) -> NDArray[np.float32]:
    """The product, or a part of it: the sums of these terms only."""
    size = round(inputs["a"].size ** 0.5)
    a, b = (inputs[name].astype(np.float64).reshape(size, size) for name in ("a", "b"))
    return (a[:, terms] @ b[terms]).astype(np.float32)
