"""What bulk copies in progress read and write, and which threads have observed that they are done.

There may be very many at once, a few per block: an event in a block, at an mbarrier or at an address is
passed only to the copies that it concerns.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from tooling.simulator.checks.base import WARP, by_block
from tooling.simulator.gpu.clusters import clusters_of
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import (
    Access,
    Hook,
    Ints,
    LaunchContext,
    MBarrierOperation,
    PartialBarrier,
    Transfer,
)


class Side(Struct, eq=False):
    """The source or the destination of a copy.

    Attributes:
        writes: the destination, not the source; adds: atomically.
        block: the block whose shared memory it is in; -1 for global memory.
        starts, ends: (n,) disjoint byte ranges in ascending order.
        counted: the mbarrier has counted the bytes; done: and that phase is complete.
        owners: of copies by cp.async, the threads that started them.
        observers: per block, which of its threads have observed that the copy is done with this side.
        released_at: where observers released this: mbarriers, barriers, addresses of strong accesses.
    """

    transfer: Transfer
    writes: bool
    adds: bool
    block: int
    starts: Ints
    ends: Ints
    counted: bool = False
    done: bool = False
    owners: Ints | None = None
    observers: dict[int, NDArray[np.bool_]] = field(default_factory=dict)
    released_at: set[Hashable] = field(default_factory=set)

    def hits(self, access: Access, addresses: Ints) -> NDArray[np.int64]:
        """The lanes that access it, at `addresses`."""
        low, high = int(self.starts[0]), int(self.ends[-1])
        near = (addresses < high) & (addresses + access.bytes > low)
        if access.blocks is not None:
            near &= access.blocks == self.block
        lanes = np.flatnonzero(near)
        if not len(lanes) or len(self.starts) == 1:
            return lanes
        run = np.searchsorted(self.ends, addresses[lanes], side="right")
        return lanes[self.starts[run] < addresses[lanes] + access.bytes]


class Sides:
    """The sides of all copies of a launch.

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
        self._observed_in: dict[int, list[Side]] = {}
        self._released_at: dict[Hashable, list[Side]] = {}
        for side in sides:
            self._enter(side)

    def _enter(self, side: Side) -> None:
        if side.transfer.barrier is not None:
            self._at.setdefault(side.transfer.barrier, []).append(side)
        for block in side.observers:
            self._observed_in.setdefault(block, []).append(side)
        for message in side.released_at:
            self._released_at.setdefault(message, []).append(side)

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Side]:
        return iter(self._all)

    def add(self, side: Side) -> None:
        """Add a side."""
        self._all.append(side)
        self._bounds = None
        self._enter(side)

    def keep(self, wanted: Callable[[Side], bool]) -> None:
        """Keep only these."""
        kept = [side for side in self._all if wanted(side)]
        if len(kept) < len(self._all):
            self._put(kept)

    def at(self, barriers: Iterable[tuple[int, int]]) -> Iterator[Side]:
        """The sides of copies that these mbarriers count."""
        for barrier in barriers:
            yield from self._at.get(barrier, ())

    def near(self, access: Access, addresses: Ints) -> list[Side]:
        """The sides that an access at these addresses may touch."""
        if not self._all:
            return []
        if self._bounds is None:
            ends = [(side.block, int(side.starts[0]), int(side.ends[-1])) for side in self._all]
            self._bounds = np.array(ends, np.int64)
        block, low, high = self._bounds.T
        near = low < int(addresses.max()) + access.bytes
        near &= high > int(addresses.min())
        first, last = (-1, -1) if access.blocks is None else (access.blocks.min(), access.blocks.max())
        near &= (first <= block) & (block <= last)
        return [self._all[k] for k in np.flatnonzero(near)]

    def overlapping(self, block: int, low: int, high: int) -> Iterator[Side]:
        """The sides in a block's shared memory (-1: in global memory) between two addresses."""
        for side in self._all:
            if side.block == block and side.starts[0] < high and low < side.ends[-1]:
                yield side

    # Threads that have observed the end of a copy

    def observed_by(self, side: Side, threads: Ints) -> NDArray[np.bool_]:
        """(n,) which of these threads have observed that the copy is done with this side."""
        known = np.zeros(len(threads), np.bool_)
        for block, members in side.observers.items():
            here = threads // self._size == block
            known[here] = members[threads[here] % self._size]
        return known

    def observe(self, side: Side, threads: Ints) -> None:
        """These threads have observed it."""
        for block, inside in by_block(threads, self._size):
            if block not in side.observers:
                side.observers[block] = np.zeros(self._size, np.bool_)
                self._observed_in.setdefault(block, []).append(side)
            side.observers[block][inside] = True

    def synchronise(self, threads: Ints, size: int) -> None:
        """Share what these threads have observed within each group of `size` consecutive threads."""
        for block, inside in by_block(threads, self._size) if self._observed_in else ():
            for side in self._observed_in.get(block, ()):
                members = side.observers[block]
                observed = np.zeros(-(-self._size // size), np.bool_)
                observed[inside[members[inside]] // size] = True
                members[inside[observed[inside // size]]] = True

    def release(self, threads: Ints, message: Hashable) -> None:
        """Threads that acquire `message` observe what one of these threads has observed."""
        for block, inside in by_block(threads, self._size) if self._observed_in else ():
            for side in self._observed_in.get(block, ()):
                if message not in side.released_at and side.observers[block][inside].any():
                    side.released_at.add(message)
                    self._released_at.setdefault(message, []).append(side)

    def acquire(self, threads: Ints, message: Hashable) -> None:
        """These threads observe what was released at `message`."""
        for side in self._released_at.get(message, ()):
            self.observe(side, threads)


class WatchedCopies(Hook):
    """Follows which threads have observed the end of the copies in `_sides`.

    They observe it at the mbarrier that counts a copy, or by meeting a thread that has.
    """

    _watched: LaunchContext

    def __init__(self) -> None:
        super().__init__()
        self._sides = Sides(1)

    def launch_begin(self, context: LaunchContext) -> None:
        """A launch is ordered after all copies of earlier ones."""
        super().launch_begin(context)
        self._watched = context
        self._sides = Sides(context.threads_per_block)

    def transfer_counted(self, transfer: Transfer) -> None:
        for side in self._sides.at([transfer.barrier] if transfer.barrier is not None else []):
            side.counted |= side.transfer is transfer

    def mbarrier_phase(self, blocks: Ints, offsets: Ints) -> None:
        for side in self._sides.at(zip(blocks.tolist(), offsets.tolist(), strict=True)):
            side.done |= side.counted

    def mbarrier(self, operation: MBarrierOperation) -> None:
        passed = operation.action == "passed"
        if not self._sides or not (passed or operation.action in ("arrive", "arrive_drop")):
            return
        blocks, offsets = operation.blocks, operation.offsets
        for barrier in set(zip(blocks.tolist(), offsets.tolist(), strict=True)):
            here = operation.threads[(blocks == barrier[0]) & (offsets == barrier[1])]
            if not passed:
                self._sides.release(here, ("mbarrier", barrier))
                continue
            self._sides.acquire(here, ("mbarrier", barrier))
            for side in self._sides.at([barrier]):
                if side.done:
                    self._sides.observe(side, here)

    def block_barrier(self, blocks: Ints, instruction: Instruction) -> None:
        """Drop the sides that a thread of the block has observed: the race check compares the rest."""
        if self._sides:
            here = set(blocks.tolist())
            self._sides.keep(lambda side: here.isdisjoint(side.observers))

    def cluster_arrive(self, threads: Ints, instruction: Instruction) -> None:
        """The barrier releases only what these threads have observed before their arrival."""
        self._release_to_cluster(threads)

    def _release_to_cluster(self, threads: Ints) -> None:
        if not self._sides:
            return
        clusters = clusters_of(self._watched.launch, threads // self._watched.threads_per_block)
        for cluster in np.unique(clusters).tolist():
            self._sides.release(threads[clusters == cluster], ("cluster", cluster))

    def cluster_barrier(self, clusters: Ints, instruction: Instruction) -> None:
        """Drop the sides that all threads of a cluster have observed now."""
        here = {("cluster", cluster) for cluster in clusters.tolist()}
        self._sides.keep(lambda side: here.isdisjoint(side.released_at))

    def barrier_arrive(self, threads: Ints, barrier: int, instruction: Instruction) -> None:
        self._sides.release(threads, ("barrier", barrier))

    def named_barrier(self, passed: PartialBarrier) -> None:
        size = self._watched.threads_per_block
        for block in passed.blocks.tolist() if self._sides else ():
            threads = passed.threads[passed.threads // size == block]
            if len(passed.arrived):
                self._sides.acquire(threads, ("barrier", passed.barrier))
            self._sides.synchronise(threads, size)

    def warp_sync(self, threads: Ints, masks: NDArray[np.uint32], instruction: Instruction) -> None:
        self._sides.synchronise(threads, WARP)
