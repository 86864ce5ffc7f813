"""An access cut into warps: one row of 32 addresses for each warp that takes part."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.simulator.gpu.hooks import Access, Ints

LANES = 32
NONE = -1
"""The entry of an inactive lane."""


class WarpRows(Struct, frozen=True, eq=False):
    """The addresses of an access, warp by warp.

    Attributes:
        addresses: (w, 32) byte addresses, NONE for lanes that take no part; every row has one that does.
        warps: (w,) number of each row's warp in the launch.
    """

    addresses: Ints
    warps: Ints


def warp_rows(access: Access, threads_per_block: int) -> WarpRows | None:
    """Cut an access into warps; lanes that a check took out are left out. None when no lane is left."""
    addresses, threads = access.addresses, access.threads
    if access.suppressed is not None:
        kept = np.flatnonzero(~access.suppressed)
        addresses, threads = addresses[kept], threads[kept]
    count = len(threads)
    if count == 0:
        return None
    first = int(threads[0])
    consecutive = int(threads[-1]) - first == count - 1
    if consecutive and first % LANES == 0 and count % LANES == 0 and threads_per_block % LANES == 0:
        rows = np.ascontiguousarray(addresses).reshape(-1, LANES)
        return WarpRows(rows, np.arange(first // LANES, first // LANES + len(rows)))
    warps, lanes = warps_and_lanes(threads, threads_per_block)
    starts = np.concatenate([[True], warps[1:] != warps[:-1]])
    rows = np.full((int(starts.sum()), LANES), NONE, np.int64)
    rows[np.cumsum(starts) - 1, lanes] = addresses
    return WarpRows(rows, warps[starts])


def warps_and_lanes(threads: Ints, threads_per_block: int) -> tuple[Ints, Ints]:
    """Warp number in the launch and lane number of each thread (32 consecutive threads of a block)."""
    blocks, inside = np.divmod(threads, threads_per_block)
    per_block = -(-threads_per_block // LANES)
    return blocks * per_block + inside // LANES, inside % LANES


def distinct(rows: NDArray[Any]) -> Ints:
    """(w,) how many different values each row holds, NONE not counted."""
    ordered = np.sort(rows, axis=1)
    changes = (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)
    return np.asarray(changes + 1 - (ordered[:, 0] == NONE))
