"""The 32-byte sectors that a warp's request touches in global or local memory.

A request is one memory instruction of one warp. For every width and order of
lanes the L1 cache looks up each distinct sector once (measured on an H200: `tests/simulator/counters`).
"""

from __future__ import annotations

import numpy as np

from tooling.simulator.counters.warp_rows import LANES, NONE, distinct
from tooling.simulator.gpu.hooks import Ints

SECTOR = 32
"""Bytes of a sector."""


def global_sectors(rows: Ints, line: int = SECTOR) -> Ints:
    """(w,) sectors of loads and stores; accesses are aligned, so that no element crosses a sector boundary.

    Args:
        rows: (w, lanes) device addresses.
        line: bytes of a sector, or of a cache line.
    """
    return distinct(np.where(rows == NONE, NONE, rows // line))


def atomic_sectors(rows: Ints) -> Ints:
    """(w,) sectors of atomics: lanes at one address are serialised, and each round looks up its sectors
    again."""
    ordered = np.sort(rows, axis=1)
    position = np.arange(LANES)
    starts = np.ones(rows.shape, bool)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    turn = position - np.maximum.accumulate(np.where(starts, position, 0), axis=1)
    return distinct(np.where(ordered == NONE, NONE, ordered // SECTOR * LANES + turn))


def local_sectors(rows: Ints, width: int, line: int = SECTOR) -> Ints:
    """(w,) sectors of local memory, which interleaves the words of a warp's lanes.

    Word `i` of all lanes is contiguous: with 32 lanes 128 bytes, four sectors of eight lanes each.

    Args:
        rows: (w, lanes) byte offsets in each thread's own window.
        width: bytes per lane.
        line: bytes of a sector, or of a cache line.
    """
    lanes = rows.shape[1]
    sector_of_lane = np.arange(lanes) // (line // 4)
    words = max(1, width // 4)
    keys = [(rows // 4 + k) * (4 * lanes // line) + sector_of_lane for k in range(words)]
    return distinct(np.concatenate([np.where(rows == NONE, NONE, key) for key in keys], axis=1))


def used_bytes(rows: Ints, width: int) -> Ints:
    """(w,) bytes that lanes access; bytes that several lanes share count once."""
    return distinct(rows) * width
