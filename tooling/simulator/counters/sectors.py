"""How many 32-byte sectors a warp's request touches in global or local memory.

A request is one memory instruction of one warp. Whatever its width, and in whatever order its lanes stand,
the first-level cache looks up each different sector once (seen on an H200: `tests/simulator/counters`).
"""

from __future__ import annotations

import numpy as np

from tooling.simulator.counters.warp_rows import LANES, NONE, distinct
from tooling.simulator.gpu.hooks import Ints

SECTOR = 32
"""Bytes that move together."""


def global_sectors(rows: Ints) -> Ints:
    """(w,) sectors of loads and stores; accesses are aligned, so no lane's element crosses a border.

    Args:
        rows: (w, 32) device addresses.
    """
    return distinct(np.where(rows == NONE, NONE, rows // SECTOR))


def atomic_sectors(rows: Ints) -> Ints:
    """(w,) sectors of atomics: lanes that meet at one address go one after the other, and each round of
    them looks its sectors up again."""
    ordered = np.sort(rows, axis=1)
    place = np.arange(LANES)
    starts = np.ones(rows.shape, bool)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    meeting = place - np.maximum.accumulate(np.where(starts, place, 0), axis=1)
    return distinct(np.where(ordered == NONE, NONE, ordered // SECTOR * LANES + meeting))


def local_sectors(rows: Ints, width: int) -> Ints:
    """(w,) sectors of local memory, which interleaves the words of a warp's 32 lanes.

    Word `i` of all lanes lies side by side: 128 bytes, four sectors of eight lanes each.

    Args:
        rows: (w, 32) byte offsets in each thread's own window.
        width: bytes per lane.
    """
    sector_of_lane = np.arange(LANES) // (SECTOR // 4)
    words = max(1, width // 4)
    keys = [(rows // 4 + k) * 4 + sector_of_lane for k in range(words)]
    return distinct(np.concatenate([np.where(rows == NONE, NONE, key) for key in keys], axis=1))


def used_bytes(rows: Ints, width: int) -> Ints:
    """(w,) bytes that lanes really ask for; what several lanes read together counts once."""
    return distinct(rows) * width
