"""Generic addresses and the memory that each belongs to (PTX ISA 6.4.1).

Local and shared memory have a window each, selected by the upper 32 bits; all other addresses are global.
The upper byte of a shared address, if not 0, is the rank plus one of another block of the cluster (`mapa`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.hooks import Space

Array = NDArray[Any]

SHARED_WINDOW = 1 << 61
LOCAL_WINDOW = 1 << 60
CLUSTER_SHIFT = 24
"""Shared addresses: offset in the lower 24 bits, rank + 1 of another block of the cluster above them."""


def by_space(address: Array) -> list[tuple[Space, NDArray[np.bool_] | None, Array]]:
    """Generic addresses by memory: (space, lanes or None for all, address in that space).

    A window extends from 2 GiB below its start to 2 GiB above, so that a negative index is reported for
    the right memory.
    """
    upper = (address + np.uint64(1 << 31)) >> np.uint64(32)
    found: list[tuple[Space, NDArray[np.bool_] | None, Array]] = []
    shared = upper == (SHARED_WINDOW >> 32)
    local = upper == (LOCAL_WINDOW >> 32)
    for space, lanes, window in (
        (Space.SHARED, shared, SHARED_WINDOW),
        (Space.LOCAL, local, LOCAL_WINDOW),
        (Space.GLOBAL, ~(shared | local), 0),
    ):
        if lanes.all():
            return [(space, None, address - np.uint64(window))]
        if lanes.any():
            found.append((space, lanes, (address - np.uint64(window))[lanes]))
    return found
