"""The wavefronts of a warp's request in shared memory, and how many of them are bank conflicts.

Shared memory has 32 banks of 4 bytes: word `i` is in bank `i % 32`. One wavefront takes one word from each
bank. The rules of an H200 (measured with Nsight Compute, `tests/simulator/counters`):

- Lanes that access the same word are served together: a broadcast is free.
- 8 bytes per lane take two passes of 16 lanes, 16 bytes four passes of 8.
- A load merges two adjacent passes into one if all active lanes agree with their neighbour (lane `i` with
  `i ^ 1`), or all with the next but one (`i ^ 2`); a store never does.
- Atomics and cp.async serve no two lanes of a bank together, even at the same word.

Bank conflicts are the wavefronts beyond one for each pass.
"""

from __future__ import annotations

from enum import Enum

import numpy as np
from msgspec import Struct

from tooling.simulator.counters.warp_rows import LANES, NONE
from tooling.simulator.gpu.hooks import Ints

BANKS = 32
WORD = 4
"""Bytes of a bank's word."""


class Service(Enum):
    """How lanes that access the same word are served."""

    LOAD = "together, and passes may be joined"
    STORE = "together"
    SINGLE = "one after the other"
    EXCHANGE = "one after the other, each in two wavefronts"


class Wavefronts(Struct, frozen=True, eq=False):
    """The cost of requests; (w,) one entry per warp."""

    wavefronts: Ints
    conflicts: Ints


def count_wavefronts(rows: Ints, width: int, service: Service, order: Ints | None = None) -> Wavefronts:
    """The cost of one shared-memory instruction.

    Args:
        rows: (w, lanes) byte offsets in the block's window.
        width: bytes per lane: 1, 2, 4, 8 or 16.
        order: (passes, n) the lanes that each pass serves; None: the rules of an H200.
    """
    words = max(1, width // WORD)
    single = service in (Service.SINGLE, Service.EXCHANGE)
    if order is not None:
        accessed = split(rows[:, order].reshape(len(rows), -1), words, len(order))
        depth = _deepest_bank(accessed, single=single).reshape(-1, len(order)).sum(axis=1)
        return Wavefronts(depth, depth - (accessed >= 0).any(axis=1).reshape(-1, len(order)).sum(axis=1))
    fronts = np.zeros(len(rows), np.int64)
    passes = np.zeros(len(rows), np.int64)
    joined = joins(rows, width, service)
    for choice, count in ((~joined, words), (joined, words // 2)):
        if count and choice.any():
            accessed = split(rows[choice], words, count)
            fronts[choice] = _deepest_bank(accessed, single=single).reshape(-1, count).sum(axis=1)
            passes[choice] = (accessed >= 0).any(axis=1).reshape(-1, count).sum(axis=1)
    conflicts = fronts - passes
    return Wavefronts(2 * fronts if service is Service.EXCHANGE else fronts, conflicts)


def joins(rows: Ints, width: int, service: Service) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """(w,) whether a warp's request takes half as many passes as its width requires."""
    if width <= WORD or service is not Service.LOAD:
        return np.zeros(len(rows), bool)
    lanes = np.arange(LANES)
    agreed = np.zeros(len(rows), bool)
    for distance in (1, 2):
        other = rows[:, lanes ^ distance]
        agreed |= ((rows == other) | (rows == NONE) | (other == NONE)).all(axis=1)
    return agreed


def split(rows: Ints, words: int, passes: int) -> Ints:
    """(w * passes, n) the word numbers that each pass accesses, NONE for inactive lanes."""
    first = rows // WORD
    each = np.stack([np.where(rows == NONE, NONE, first + k) for k in range(words)], axis=2)
    return each.reshape(len(rows) * passes, -1)


def _deepest_bank(accessed: Ints, *, single: bool) -> Ints:
    """(p,) the most words (or, `single`, lanes) that one bank must serve in each pass."""
    ordered = np.sort(accessed, axis=1)
    counted = ordered != NONE
    if not single:
        counted[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    slot = np.arange(len(accessed))[:, None] * BANKS + ordered % BANKS
    depth = np.bincount(slot[counted], minlength=len(accessed) * BANKS)
    return np.asarray(depth.reshape(-1, BANKS).max(axis=1))
