"""Puzzle 25: neighbours and broadcasts within a warp, by NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]
Wide = NDArray[np.float64]

SIZE_2 = 64
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str, lanes: int = 32) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    All modes but one work on as many elements as a warp has lanes: 64 on AMD's CDNA GPUs.

    The probe's elements are different, in no order and of both signs. The largest of the first eight is
    the eighth, a larger one follows later, and one element is exactly half of it. Neither a
    type of 16 bits nor an integer holds all of them, or all results.
    """
    size = SIZE_2 if mode == "average" else lanes
    i = np.arange(size)
    if dataset == "book":
        return {"a": _book(mode, i).astype(np.float32), "out": np.zeros(size, np.float32)}
    a = ((i * 13 + 6) % size) / 2 - 6
    a[[3, 7, 12, 20]] = (-1030.5, 2050, 1025, 2051)
    return {"a": a.astype(np.float32), "out": np.full(size, POISON, np.float32)}


def _book(mode: str, i: NDArray[np.int64]) -> NDArray[np.int64]:
    if mode == "neighbor":
        return i * i
    if mode == "average":
        return (i + 1) * (i + 2) // 2
    if mode == "broadcast-basic":
        return i + 1
    if mode == "broadcast-conditional":
        return np.array([3, 1, 7, 2, 9, 4, 6, 8])[i % 8]
    return 2 * (i % 4) + np.where(i < 4, 2, 1)


def shuffle_down(warps: Wide, offset: int) -> Wide:
    """The element of the lane `offset` further up; in the last lanes their own."""
    return np.concatenate([warps[:, offset:], warps[:, -offset:]], axis=1)


def shuffle_up(warps: Wide, offset: int) -> Wide:
    """The element of the lane `offset` further down; in the first lanes their own."""
    return np.concatenate([warps[:, :offset], warps[:, :-offset]], axis=1)


def expected(
    mode: str, inputs: Buffers, lanes: int = 32, shuffle: Callable[[Wide, int], Wide] = shuffle_down
) -> Buffers:
    """The whole result; all numbers but thirds are exact.

    Args:
        shuffle: where the elements of other lanes come from.
    """
    a = inputs["a"].astype(np.float64)
    warps = a.reshape(-1, lanes)
    lane = np.arange(lanes)
    upper = np.where(lane < lanes - 1, shuffle(warps, 1), 0)
    if mode == "neighbor":
        out = np.where(lane < lanes - 1, upper - warps, 0)
    elif mode == "average":
        third = np.where(lane < lanes - 2, shuffle(warps, 2), 0)
        out = (warps + upper + third) / np.minimum(lanes - lane, 3)
    elif mode == "broadcast-basic":
        out = a[:4].sum() + a
    elif mode == "broadcast-conditional":
        out = np.where(a >= a[:8].max() / 2, a * 2, a / 2)
    else:
        out = (warps + upper) * a[:4].mean()
    return {"out": out.ravel().astype(np.float32)}
