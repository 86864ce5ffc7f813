"""What bulk copies under way read and write, and which threads know that they are done with it.

There may be very many at once, a few of each block: what happens in a block, at an mbarrier or through a
message goes to those that it concerns, not to all.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from tooling.simulator.checks.base import by_block
from tooling.simulator.gpu.hooks import Access, Ints, Transfer


class Side(Struct, eq=False):
    """What a copy reads or writes.

    Attributes:
        writes: its destination, not its source; adds: atomically.
        block: in whose shared memory it lies; -1 for global memory.
        starts, ends: (n,) the stretches, in order and apart from each other.
        counted: the bytes were counted off the mbarrier; done: and that phase is complete.
        known: per block, which of its threads know that the copy is done with this side.
        told: where such threads left a message: mbarriers, barriers, strong accesses.
    """

    transfer: Transfer
    writes: bool
    adds: bool
    block: int
    starts: Ints
    ends: Ints
    counted: bool = False
    done: bool = False
    known: dict[int, NDArray[np.bool_]] = field(default_factory=dict)
    told: set[Hashable] = field(default_factory=set)

    def hits(self, access: Access, places: Ints) -> NDArray[np.int64]:
        """The lanes that touch it; `places` are where they access."""
        low, high = int(self.starts[0]), int(self.ends[-1])
        near = (places < high) & (places + access.bytes > low)
        if access.blocks is not None:
            near &= access.blocks == self.block
        lanes = np.flatnonzero(near)
        if not len(lanes) or len(self.starts) == 1:
            return lanes
        stretch = np.searchsorted(self.ends, places[lanes], side="right")
        return lanes[self.starts[stretch] < places[lanes] + access.bytes]


class Sides:
    """Those of a launch.

    Args:
        threads: of a block.
    """

    def __init__(self, threads: int) -> None:
        self._size = threads
        self._put([])

    def _put(self, sides: list[Side]) -> None:
        self._all = sides
        self._bounds: NDArray[np.int64] | None = None
        self._at: dict[tuple[int, int], list[Side]] = {}
        self._known_in: dict[int, list[Side]] = {}
        self._told: dict[Hashable, list[Side]] = {}
        for side in sides:
            self._enter(side)

    def _enter(self, side: Side) -> None:
        if side.transfer.barrier is not None:
            self._at.setdefault(side.transfer.barrier, []).append(side)
        for block in side.known:
            self._known_in.setdefault(block, []).append(side)
        for message in side.told:
            self._told.setdefault(message, []).append(side)

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Side]:
        return iter(self._all)

    def add(self, side: Side) -> None:
        """One more."""
        self._all.append(side)
        self._bounds = None
        self._enter(side)

    def keep(self, wanted: Callable[[Side], bool]) -> None:
        """Forget the others."""
        kept = [side for side in self._all if wanted(side)]
        if len(kept) < len(self._all):
            self._put(kept)

    def at(self, barriers: Iterable[tuple[int, int]]) -> Iterator[Side]:
        """Those of the copies that are counted off these mbarriers."""
        for barrier in barriers:
            yield from self._at.get(barrier, ())

    def near(self, access: Access, places: Ints) -> list[Side]:
        """Those that an access at these places may touch."""
        if not self._all:
            return []
        if self._bounds is None:
            ends = [(side.block, int(side.starts[0]), int(side.ends[-1])) for side in self._all]
            self._bounds = np.array(ends, np.int64)
        block, low, high = self._bounds.T
        near = low < int(places.max()) + access.bytes
        near &= high > int(places.min())
        first, last = (-1, -1) if access.blocks is None else (access.blocks.min(), access.blocks.max())
        near &= (first <= block) & (block <= last)
        return [self._all[k] for k in np.flatnonzero(near)]

    # Who knows that a copy is over

    def knows(self, side: Side, threads: Ints) -> NDArray[np.bool_]:
        """(n,) which of these threads know that the copy is done with this side."""
        known = np.zeros(len(threads), np.bool_)
        for block, members in side.known.items():
            here = threads // self._size == block
            known[here] = members[threads[here] % self._size]
        return known

    def learn(self, side: Side, threads: Ints) -> None:
        """These threads know it from now on."""
        for block, inside in by_block(threads, self._size):
            if block not in side.known:
                side.known[block] = np.zeros(self._size, np.bool_)
                self._known_in.setdefault(block, []).append(side)
            side.known[block][inside] = True

    def meet(self, threads: Ints, team: int) -> None:
        """What one of these threads knows, all know from now on that are of its team, so many neighbours."""
        for block, inside in by_block(threads, self._size) if self._known_in else ():
            for side in self._known_in.get(block, ()):
                members = side.known[block]
                told = np.zeros(-(-self._size // team), np.bool_)
                told[inside[members[inside]] // team] = True
                members[inside[told[inside // team]]] = True

    def leave(self, threads: Ints, message: Hashable) -> None:
        """Whoever picks up this message learns what one of these threads knows."""
        for block, inside in by_block(threads, self._size) if self._known_in else ():
            for side in self._known_in.get(block, ()):
                if message not in side.told and side.known[block][inside].any():
                    side.told.add(message)
                    self._told.setdefault(message, []).append(side)

    def pick_up(self, threads: Ints, message: Hashable) -> None:
        """These threads learn what was left there."""
        for side in self._told.get(message, ()):
            self.learn(side, threads)
