"""Puzzle 18: softmax, by NumPy in double precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 128
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every array that the program stages; the kernels' test also its output.

    The probe's numbers lie around 200: their exponentials alone overflow. They come in no order, and the
    largest is neither the first nor the last.
    """
    if dataset == "probe":
        values = (200 + (np.arange(SIZE) * 37 + 11) % 101 / 16).astype(np.float32)
    elif mode == "kernels":
        values = np.arange(SIZE, dtype=np.float32)
    else:
        values = np.random.default_rng(42).standard_normal(SIZE).astype(np.float32)
    if mode != "kernels":
        return {"input": values}
    return {"input": values, "out": np.full(SIZE, POISON if dataset == "probe" else 0, np.float32)}


def expected(mode: str, inputs: Buffers) -> Buffers:
    """exp(x) over the sum of all exp(x), each less the largest x; the same on each device."""
    exponentials = np.exp(inputs["input"].astype(np.float64) - inputs["input"].max())
    result = (exponentials / exponentials.sum()).astype(np.float32)
    return {"out": result, "out_cpu": result.copy()}
