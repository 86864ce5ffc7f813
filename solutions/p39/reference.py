"""Puzzle 39: pairs of keys and values, sorted stably by one digit or by all bits of the keys, by NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.uint32]]

SIZE, OTHER_SIZE = 2500, 700
BITS, SHIFT, KEY_BITS = 4, 8, 32
THREADS, ROUNDS = 128, 5
POISON = np.uint32(0xDEADBEEF)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, outputs with their initial content.

    The keys of the probe have few values, so that equal ones are in different blocks, and many are the
    largest key, which fills the end of the last block as well. Its values are distinct, and are not indices.
    """
    size = OTHER_SIZE if dataset == "other-sizes" else SIZE
    if dataset == "book":
        keys, values = random_keys(size), np.arange(size, dtype=np.uint32)
    else:
        i = np.arange(size, dtype=np.uint64)
        keys = np.where(i % 7 == 3, 0xFFFFFFFF, i % 611 * 2654435761).astype(np.uint32)
        values = (3_000_000_000 + i * 7919).astype(np.uint32)
    fill = np.uint32(0) if dataset == "book" else POISON
    return {
        "keys": keys,
        "values": values,
        "out_keys": np.full(size, fill, np.uint32),
        "out_values": np.full(size, fill, np.uint32),
    }


def random_keys(size: int) -> NDArray[np.uint32]:
    """Those of the program: pseudo-random numbers, of which each fifth is equal to an earlier one."""
    keys = np.empty(size, np.uint32)
    state = 1
    for i in range(size):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        keys[i] = keys[i - 3] if i % 5 == 4 else state ^ state >> 15
    return keys


def expected(mode: str, inputs: Buffers) -> Buffers:
    """Exact: integers are moved."""
    keys = inputs["keys"]
    return in_order(inputs, np.argsort(digits(keys) if mode == "pass" else keys, kind="stable"))


def digits(keys: NDArray[np.uint32], shift: int = SHIFT) -> NDArray[np.uint32]:
    """The digit of each key that begins at bit `shift`."""
    return keys >> np.uint32(shift) & np.uint32((1 << BITS) - 1)


def in_order(inputs: Buffers, order: NDArray[np.intp]) -> Buffers:
    """Keys and values in that order."""
    return {"out_keys": inputs["keys"][order], "out_values": inputs["values"][order]}


def backwards_in_warps(keys: NDArray[np.uint32], lanes: int) -> NDArray[np.intp]:
    """The order of a pass in which equal digits of the same warp and round are backwards."""
    i = np.arange(keys.size)
    return np.lexsort((-i, i // lanes, digits(keys)))


def digits_reversed(keys: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The keys with their digits in the opposite order."""
    turned = np.zeros_like(keys)
    for shift in range(0, KEY_BITS, BITS):
        turned = turned << np.uint32(BITS) | digits(keys, shift)
    return turned
