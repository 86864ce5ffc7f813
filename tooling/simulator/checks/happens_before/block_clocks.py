"""The happens-before relation between threads: the clocks of the race check.

The clock counts the accesses of a launch, in simulation order. A barrier of a block or a whole warp is one
number: everything its threads did before that clock happens before everything they do afterwards. Barriers
of some of the threads need vectors: `_pairs` for the lanes of a warp, `_vectors` for the threads of a block,
allocated only if such barriers occur. Where arrival and wait are separate, accesses between them are not
ordered: clusters have `cluster_order`, and mbarriers keep what was released until their phase is complete.

Blocks are ordered only by releases and acquires at one address: see `block_order`. Models:
FastTrack (Flanagan and Freund 2009) for the clocks, the PTX memory model (PTX ISA 8.5, section 8) for what
synchronises.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from tooling.simulator.checks.base import WARP, by_block
from tooling.simulator.checks.happens_before.block_order import MAX_PAIRS, BlockOrder
from tooling.simulator.checks.happens_before.cluster_order import ClusterOrder, releases_memory
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import Ints, LaunchContext
from tooling.simulator.program.backend import Order


class _Released(Struct):
    """What arrivals at one address released: a clock for each thread of the block, and for other blocks."""

    threads: Ints | None = None
    blocks: dict[int, int] = field(default_factory=dict)

    def add(self, threads: Ints | None, blocks: dict[int, int]) -> None:
        if threads is not None:
            self.threads = threads if self.threads is None else np.maximum(self.threads, threads)
        self.blocks |= blocks


class Clocks:
    """The clocks of one launch.

    Args:
        context: the launch.
        now: the clock of its first access.
    """

    def __init__(self, context: LaunchContext, now: int) -> None:
        self.launch = now
        self._context = context
        self._threads = context.threads_per_block
        self._blocks = context.blocks
        self._cluster: ClusterOrder | None = None
        self._uneven = False
        self._warps = -(-self._threads // WARP)
        self._block = np.full(context.blocks, now, dtype=np.int64)
        self._warp: Ints | None = None
        self._pairs: dict[int, NDArray[np.int64]] = {}
        self._vectors: dict[int, NDArray[np.int64]] = {}
        self._released: dict[tuple[int, int], _Released] = {}
        self._arrived: dict[tuple[int, int], _Released] = {}
        # Released by too many threads to keep their addresses; the key is True for shared memory.
        self._released_anywhere: dict[bool, int] = {}
        self._acquired_by_all = np.full(context.blocks, now, dtype=np.int64)
        self._block_order = BlockOrder(context.blocks, now)

    def oldest_block_barrier(self, first_block: int, blocks: int) -> int:
        """The clock of the oldest latest barrier of these blocks."""
        return int(self._block[first_block : first_block + blocks].min())

    def block_barrier(self, blocks: Ints, now: int) -> None:
        """All threads of these blocks passed a barrier."""
        self._block[blocks] = now
        if self._vectors:
            for block in blocks:
                self._vectors.pop(int(block), None)

    def cluster_arrive(self, threads: Ints, instruction: Instruction, now: int) -> None:
        """These threads arrived at the barrier of their cluster."""
        self._cluster_order().arrive(threads, instruction, partial(self._release_into, now))

    def cluster_barrier(self, clusters: Ints, now: int) -> None:
        """All threads of these clusters have arrived."""
        blocks, least = self._cluster_order().complete(clusters, now)
        even = least == now
        self.block_barrier(blocks[even], now)
        self._block[blocks] = np.maximum(self._block[blocks], least)
        self._uneven |= not even.all()
        for members in np.split(blocks, len(clusters)):
            self._block_order.join(members)

    def fence(self, threads: Ints, instruction: Instruction, order: Order, now: int) -> None:
        """These threads executed a fence, which may order blocks."""
        if order.reaches and self._blocks > 1:
            blocks = np.unique(threads // self._threads)
            self._block_order.fence(blocks, acquires=order.acquires, releases=order.releases)
        if self._context.blocks_per_cluster > 1 and releases_memory(instruction):
            self._cluster_order().fence(threads, partial(self._release_into, now))

    def warp_sync(self, threads: Ints, masks: NDArray[np.uint32], now: int) -> None:
        """These threads synchronised, each with the lanes of its mask."""
        block, inside = np.divmod(threads, self._threads)
        warp = block * self._warps + inside // WARP
        lanes = np.minimum(self._threads - inside // WARP * WARP, WARP)
        existing = (np.int64(1) << lanes) - 1
        whole = masks.astype(np.int64) & existing == existing
        if self._warp is None:
            self._warp = np.full(self._blocks * self._warps, self.launch, dtype=np.int64)
        self._warp[warp[whole]] = now
        if self._vectors:
            for one in np.unique(block):
                self._share_in_warps(int(one), inside[block == one])
        if whole.all():
            return
        partial_masks = ~whole
        for one, mask in {
            (int(w), int(m)) for w, m in zip(warp[partial_masks], masks[partial_masks], strict=True)
        }:
            self._partial_warp(one, mask, now)

    def named_barrier(self, threads: Ints, now: int) -> None:
        """These threads passed a barrier, those of each block separately."""
        for block, members in by_block(threads, self._threads):
            vector = self._vector(block)
            vector[members] = np.maximum(vector[members], self._joint(block, members, now))

    def arrive(self, threads: Ints, addresses: Ints, now: int) -> None:
        """These threads release their accesses at addresses of their block."""
        for block, members, address in self._by_address(threads, addresses):
            released = self._released.setdefault((block, address), _Released())
            released.add(self._joint(block, members, now), {})

    def arrive_at(self, threads: Ints, blocks: Ints, offsets: Ints, now: int) -> None:
        """These threads, or their copies, arrived at mbarriers in the shared memory of `blocks`.

        A thread that sees the phase complete acquires them; the phase in progress gives nothing.
        """
        near = threads // self._threads == blocks
        for block, members, offset in self._by_address(threads[near], offsets[near]):
            released = self._arrived.setdefault((block, offset), _Released())
            released.add(self._joint(block, members, now), {})
        far = zip(threads[~near].tolist(), blocks[~near].tolist(), offsets[~near].tolist(), strict=True)
        for thread, block, offset in far:
            self._arrived.setdefault((block, offset), _Released()).add(None, {thread // self._threads: now})

    def complete(self, blocks: Ints, offsets: Ints) -> None:
        """A phase of each of these mbarriers is complete."""
        for address in zip(blocks.tolist(), offsets.tolist(), strict=True):
            arrived = self._arrived.pop(address, None)
            if arrived is not None:
                self._released.setdefault(address, _Released()).add(arrived.threads, arrived.blocks)

    def passed(self, threads: Ints, addresses: Ints) -> None:
        """These threads acquire what was released at addresses of their block, such as mbarriers."""
        for block, members, address in self._by_address(threads, addresses):
            self._acquire(block, members, self._released.get((block, address)))

    def _acquire(self, block: int, members: Ints, released: _Released | None) -> None:
        if released is None:
            return
        for other, clock in released.blocks.items():
            self._block_order.acquire_from(block, other, clock)
        if released.threads is not None:
            vector = self._vector(block)
            vector[members] = np.maximum(vector[members], released.threads)

    def synchronise(
        self,
        threads: Ints,
        addresses: Ints,
        now: int,
        *,
        shared: bool,
        acquires: bool,
        releases: bool,
        order: Order,
    ) -> None:
        """Lanes perform a strong access, in the order of their numbers.

        Args:
            threads: (n,) of the lanes; `addresses`: (n,) what they access, in shared memory if `shared`.
            now: the clock after the access.
            acquires: they use the value they read; `releases`: they change the value.
            order: how the access orders blocks; within a block every strong access acquires and releases.
        """
        blocks = threads // self._threads
        if not shared and self._blocks > 1 and order.reaches:
            self._block_order.access(
                blocks, addresses, now, acquires=acquires, releases=releases, order=order
            )
        if not releases:
            self._acquire_at(threads, addresses)
        elif len(threads) <= MAX_PAIRS or len(np.unique(addresses)) * len(np.unique(blocks)) <= MAX_PAIRS:
            self._release(threads, addresses, now, acquires=acquires)
        elif acquires:
            self._acquire_at(threads, addresses)
        else:
            self._released_anywhere[shared] = now
        if acquires and shared in self._released_anywhere:
            self._acquired_by_all[blocks] = np.maximum(
                self._acquired_by_all[blocks], self._released_anywhere[shared]
            )

    def _release(self, threads: Ints, addresses: Ints, now: int, *, acquires: bool) -> None:
        for block, members, address in self._by_address(threads, addresses):
            if acquires and len(members) == 1:  # what others released before
                self._acquire(block, members, self._released.get((block, address)))
            released = self._released.setdefault((block, address), _Released())
            released.add(self._joint(block, members, now), {})
            if acquires and len(members) > 1:
                self._acquire(block, members, released)

    def batch_ends(self) -> None:
        """The blocks that ran have ended, and so the clocks of their threads."""
        self._vectors.clear()
        self._pairs.clear()
        self._released.clear()
        self._released_anywhere.clear()
        self._block_order.batch_ends()

    def _acquire_at(self, threads: Ints, addresses: Ints) -> None:
        """Lanes acquire what was released where they read; usually nothing was."""
        some = np.isin(addresses, np.array([address for _, address in self._released]))
        for block, members, address in self._by_address(threads[some], addresses[some]) if some.any() else ():
            self._acquire(block, members, self._released.get((block, address)))

    def known_until(self, threads: Ints, now: int) -> Ints:
        """(n,) clocks before which all accesses of its block happen before each of these threads.

        If barriers of some of the threads occur, or arrivals before the end of a block's accesses, all
        accesses are assumed to be ordered.
        """
        if self._vectors or self._pairs or self._warp is not None or self._uneven:
            return np.full(len(threads), now, np.int64)
        return np.asarray(self._block[threads // self._threads])

    def unordered(self, earlier: Ints, clocks: Ints, later: Ints) -> NDArray[np.bool_]:
        """Which pairs of accesses are not ordered.

        Args:
            earlier: (n,) threads of the earlier accesses; `clocks`: when they happened.
            later: (n,) threads that access now.

        Returns:
            (n,) true if the earlier access does not happen before the later one.
        """
        block, other = later // self._threads, earlier // self._threads
        result = (clocks >= self.launch) & (earlier != later)
        same = block == other
        result &= ~(same & (clocks < np.maximum(self._block[block], self._acquired_by_all[block])))
        if self._cluster is not None:
            result &= ~self._cluster.ordered(earlier, clocks, later)
        if self._warp is not None and result.any():
            self._apply_warps(result, earlier, clocks, later, same)
        if self._vectors and result.any():
            self._apply_vectors(result, earlier, clocks, later, same)
        between_blocks = np.flatnonzero(result & ~same)
        if len(between_blocks):
            result[between_blocks] = self._block_order.unordered(
                other[between_blocks], clocks[between_blocks], block[between_blocks]
            )
        return np.asarray(result)

    def _apply_warps(
        self, result: NDArray[np.bool_], earlier: Ints, clocks: Ints, later: Ints, same: NDArray[np.bool_]
    ) -> None:
        if self._warp is None:
            return
        mine, others = later % self._threads, earlier % self._threads
        together = same & (mine // WARP == others // WARP)
        warp = later // self._threads * self._warps + mine // WARP
        result &= ~(together & (clocks < self._warp[warp]))
        if not self._pairs:
            return
        for index in np.flatnonzero(result & together):
            pairs = self._pairs.get(int(warp[index]))
            if pairs is not None and clocks[index] < pairs[mine[index] % WARP, others[index] % WARP]:
                result[index] = False

    def _apply_vectors(
        self, result: NDArray[np.bool_], earlier: Ints, clocks: Ints, later: Ints, same: NDArray[np.bool_]
    ) -> None:
        block = later // self._threads
        for one in np.unique(block[result & same]):
            vector = self._vectors.get(int(one))
            if vector is not None:
                lanes = np.flatnonzero(result & same & (block == one))
                known = vector[later[lanes] % self._threads, earlier[lanes] % self._threads]
                result[lanes] = clocks[lanes] >= known

    def _partial_warp(self, warp: int, mask: int, now: int) -> None:
        lanes = np.flatnonzero(np.array([mask >> lane & 1 for lane in range(WARP)]))
        if not len(lanes):
            return
        pairs = self._pairs.get(warp)
        if pairs is None:
            pairs = self._pairs[warp] = np.full((WARP, WARP), self.launch, dtype=np.int64)
        joint = pairs[lanes].max(axis=0)
        joint[lanes] = now
        pairs[lanes] = np.maximum(pairs[lanes], joint)

    def _vector(self, block: int) -> NDArray[np.int64]:
        """(threads, threads): the clock up to which a thread (column) is ordered before a thread (row)."""
        vector = self._vectors.get(block)
        if vector is None:
            shape = (self._threads, self._threads)
            vector = self._vectors[block] = np.full(shape, self._block[block], dtype=np.int64)
        return vector

    def _joint(self, block: int, members: Ints, now: int) -> NDArray[np.int64]:
        """(threads,) the maximum of the vectors of these threads of a block."""
        vector = self._vectors.get(block)
        joint = np.full(self._threads, self._block[block], dtype=np.int64)
        if vector is not None:
            joint = np.maximum(joint, vector[members].max(axis=0))
        self._add_warps(joint, block, members)
        joint[members] = now
        return joint

    def _add_warps(self, joint: NDArray[np.int64], block: int, members: Ints) -> None:
        """Include what the lanes of each warp acquired from one another."""
        if self._warp is None:
            return
        for warp in np.unique(members // WARP).tolist():
            number = block * self._warps + warp
            known = joint[warp * WARP : (warp + 1) * WARP]
            np.maximum(known, self._warp[number], out=known)
            pairs = self._pairs.get(number)
            if pairs is not None:
                lanes = members[members // WARP == warp] % WARP
                np.maximum(known, pairs[lanes, : len(known)].max(axis=0), out=known)

    def _release_into(self, now: int, table: NDArray[np.int64], threads: Ints) -> None:
        """See `cluster_order.Release`."""
        blocks = np.unique(threads // self._threads)
        table[blocks] = np.maximum(table[blocks], self._block[blocks, None])
        if self._vectors or self._warp is not None:
            for block, members in by_block(threads, self._threads):
                table[block] = np.maximum(table[block], self._joint(block, members, now))
        table.reshape(-1)[threads] = now

    def _cluster_order(self) -> ClusterOrder:
        if self._cluster is None:
            self._cluster = ClusterOrder(self._context, self.launch)
        return self._cluster

    def _share_in_warps(self, block: int, members: Ints) -> None:
        """Lanes of a warp that synchronise share what each acquired at barriers of some threads."""
        vector = self._vectors.get(block)
        if vector is not None:
            for warp in np.unique(members // WARP):
                lanes = members[members // WARP == warp]
                vector[lanes] = vector[lanes].max(axis=0)

    def _by_address(self, threads: Ints, addresses: Ints) -> list[tuple[int, Ints, int]]:
        if not len(threads):
            return []
        blocks = threads // self._threads
        order = np.lexsort((addresses, blocks))
        blocks, addresses, inside = blocks[order], addresses[order], threads[order] % self._threads
        starts = np.flatnonzero((np.diff(blocks) != 0) | (np.diff(addresses) != 0)) + 1
        firsts = [0, *starts.tolist()]
        members = np.split(inside, starts)
        return [(int(blocks[at]), here, int(addresses[at])) for at, here in zip(firsts, members, strict=True)]
