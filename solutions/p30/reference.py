"""Puzzle 30: the sum of two vectors, by NumPy; all three kernels have the same task."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SIZE = 16 * 1024 * 1024
SIMULATED_SIZE = 256 * 1024
POISON = np.float32(-777.25)
KERNELS = ("kernel1", "kernel2", "kernel3")


def outputs(mode: str) -> tuple[str, ...]:
    """The names of a mode's outputs."""
    return KERNELS if mode == "all" else ("out",)


def inputs(mode: str, dataset: str, simulated: bool) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    The probe follows no line: its periods 1009 and 521 divide no power of two, so that an element from
    another place cannot give the same sum. Neither a type of 16 bits nor an integer holds all of them.
    """
    size = SIMULATED_SIZE if simulated else SIZE
    i = np.arange(size, dtype=np.int64)
    if dataset == "book":
        a, b, initial = i + 1, i + 2, np.float32(0)
    else:
        a, b, initial = (i * 37 + 11) % 1009 * 3.25 - 1200, (i * i % 521 * 3 + 7) % 521 * 4.75, POISON
    found = {"a": a.astype(np.float32), "b": b.astype(np.float32)}
    return found | {name: np.full(size, initial, np.float32) for name in outputs(mode)}


def expected(mode: str, inputs: Buffers) -> Buffers:
    """The sum, rounded once, for every output."""
    return dict.fromkeys(outputs(mode), inputs["a"] + inputs["b"])
