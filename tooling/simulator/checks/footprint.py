"""The allocations and bytes that an access touches, computed once for all checks."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.simulator.checks.base import lanes_of
from tooling.simulator.gpu.device_memory import Allocation, DeviceMemory
from tooling.simulator.gpu.hooks import Access, Ints


class Piece(Struct, frozen=True):
    """The lanes of an access that are wholly inside one allocation (live or freed).

    `low` and `high` bound the bytes they touch, as offsets in the allocation (`high` is one past the last).
    """

    allocation: Allocation
    access: Access
    low: int
    high: int

    def offsets(self) -> Ints:
        """(n,) byte offsets of the lanes in the allocation."""
        return self.access.addresses - self.allocation.base


class Footprint(Struct, frozen=True):
    """A global access, split by allocation; `out_of_bounds`: lanes in no allocation (None: no such lane)."""

    pieces: tuple[Piece, ...]
    out_of_bounds: NDArray[np.int64] | None = None


class Footprints:
    """Caches the footprint of the current access for all checks."""

    def __init__(self) -> None:
        self._access: Access | None = None
        self._footprint = Footprint(())

    def of(self, access: Access, memory: DeviceMemory) -> Footprint:
        """The footprint of a global access (all lanes, suppressed or not)."""
        if access is not self._access:
            self._footprint = footprint(access, memory)
            self._access = access
        return self._footprint


def footprint(access: Access, memory: DeviceMemory) -> Footprint:
    """Split a global access by the allocations it touches; usually there is only one."""
    if len(access.threads) == 0:
        return Footprint(())
    low, high = extent(access)
    allocation = memory.containing(low)
    if allocation is not None and high <= allocation.end:
        return Footprint((Piece(allocation, access, low - allocation.base, high - allocation.base),))
    return _cut(access, memory)


def extent(access: Access) -> tuple[int, int]:
    """The lowest address of all lanes, and one past the highest."""
    first = int(access.addresses[0])
    if access.contiguous:
        return first, first + access.bytes * len(access.addresses)
    if access.uniform:
        return first, first + access.bytes
    return int(access.addresses.min()), int(access.addresses.max()) + access.bytes


def _cut(access: Access, memory: DeviceMemory) -> Footprint:
    allocations = list(memory)
    if not allocations:
        return Footprint((), np.arange(len(access.threads)))
    bases = np.array([allocation.base for allocation in allocations])
    ends = np.array([allocation.end for allocation in allocations])
    containing = np.searchsorted(bases, access.addresses, side="right") - 1
    inside = (containing >= 0) & (access.addresses + access.bytes <= ends[containing])
    pieces: list[Piece] = []
    for index in np.unique(containing[inside]):
        piece_access = lanes_of(access, np.flatnonzero(inside & (containing == index)))
        low, high = extent(piece_access)
        allocation = allocations[index]
        pieces.append(Piece(allocation, piece_access, low - allocation.base, high - allocation.base))
    return Footprint(tuple(pieces), None if inside.all() else np.flatnonzero(~inside))
