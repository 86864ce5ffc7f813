"""An access cut into warps: one row of addresses for each warp that takes part."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.simulator.gpu.hooks import Access, Ints

LANES = 32
"""Lanes of a warp unless another number is given."""
NONE = -1
"""The entry of an inactive lane."""


class WarpRows(Struct, frozen=True, eq=False):
    """The addresses of an access, warp by warp.

    Attributes:
        addresses: (w, lanes of a warp) byte addresses, NONE for lanes that take no part; every row has one
            that does.
        warps: (w,) number of each row's warp in the launch.
    """

    addresses: Ints
    warps: Ints


def warp_rows(access: Access, threads_per_block: int, size: int = LANES) -> WarpRows | None:
    """Cut an access into warps; lanes that a check took out are left out. None when no lane is left.

    Args:
        size: lanes of a warp.
    """
    addresses, threads = access.addresses, access.threads
    if access.suppressed is not None:
        kept = np.flatnonzero(~access.suppressed)
        addresses, threads = addresses[kept], threads[kept]
    count = len(threads)
    if count == 0:
        return None
    first = int(threads[0])
    consecutive = int(threads[-1]) - first == count - 1
    if consecutive and first % size == 0 and count % size == 0 and threads_per_block % size == 0:
        rows = np.ascontiguousarray(addresses).reshape(-1, size)
        return WarpRows(rows, np.arange(first // size, first // size + len(rows)))
    warps, lanes = warps_and_lanes(threads, threads_per_block, size)
    starts = np.concatenate([[True], warps[1:] != warps[:-1]])
    rows = np.full((int(starts.sum()), size), NONE, np.int64)
    rows[np.cumsum(starts) - 1, lanes] = addresses
    return WarpRows(rows, warps[starts])


def warps_and_lanes(threads: Ints, threads_per_block: int, size: int = LANES) -> tuple[Ints, Ints]:
    """Warp number in the launch and lane number of each thread (`size` consecutive threads of a block)."""
    blocks, inside = np.divmod(threads, threads_per_block)
    per_block = -(-threads_per_block // size)
    return blocks * per_block + inside // size, inside % size


def distinct_warps(warps: Ints) -> Ints:
    """Each of these sorted numbers once."""
    return np.asarray(warps[np.concatenate([[True], warps[1:] != warps[:-1]])])


def distinct(rows: NDArray[Any]) -> Ints:
    """(w,) how many different values each row holds, NONE not counted."""
    ordered = np.sort(rows, axis=1)
    changes = (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)
    return np.asarray(changes + 1 - (ordered[:, 0] == NONE))
