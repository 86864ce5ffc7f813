"""Puzzle 47: steps of a stencil on a torus whose rows are on two GPUs, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

WIDTH = 64
ROWS = 16
STEPS = 3
OTHER_WIDTH = 45
OTHER_ROWS = 13
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content; the same in each mode.

    The probe's quarters, some of them negative, remain exact in float32 through all steps.
    """
    rows, width = (OTHER_ROWS, OTHER_WIDTH) if dataset == "other-sizes" else (ROWS, WIDTH)
    i = np.arange(rows * width)
    buffers = {}
    for gpu, part in enumerate(("upper", "lower")):
        if dataset == "book":
            cells = (i * 7 + gpu * 13) % 97
            poison = np.float32(0)
        else:
            cells = (i * 389 + i // 61 * 7 + gpu * 1777) % 4093 / 4 - 500
            poison = POISON
        buffers[f"{part}_in"] = cells.astype(np.float32)
        buffers[part] = np.full(rows * width, poison, np.float32)
    return buffers


def expected(mode: str, inputs: Buffers) -> Buffers:
    """Each cell becomes the mean of its four neighbours, STEPS times; rows and columns are rings."""
    width = WIDTH if len(inputs["upper_in"]) == ROWS * WIDTH else OTHER_WIDTH
    upper = inputs["upper_in"]
    cells = np.empty_like(upper, shape=(2, len(upper)))
    cells[:] = upper, inputs["lower_in"]
    cells = cells.reshape(-1, width)
    for _ in range(STEPS):
        above, below = np.roll(cells, 1, axis=0), np.roll(cells, -1, axis=0)
        left, right = np.roll(cells, 1, axis=1), np.roll(cells, -1, axis=1)
        cells = np.float32(0.25) * (above + below + left + right)
    rows = len(cells) // 2
    return {"upper": cells[:rows], "lower": cells[rows:]}


def _swapped(inputs: Buffers) -> Buffers:
    """What results if each GPU takes the other one's row of the wrong side."""
    width = WIDTH if len(inputs["upper_in"]) == ROWS * WIDTH else OTHER_WIDTH
    parts = [np.asarray(inputs[name], np.float32).reshape(-1, width) for name in ("upper_in", "lower_in")]
    for _ in range(STEPS):
        halos = [
            np.vstack([other[:1], part, other[-1:]]) for part, other in zip(parts, parts[::-1], strict=True)
        ]
        parts = [
            np.float32(0.25) * (cells[:-2] + cells[2:] + np.roll(part, 1, axis=1) + np.roll(part, -1, axis=1))
            for cells, part in zip(halos, parts, strict=True)
        ]
    return {"upper": parts[0], "lower": parts[1]}
