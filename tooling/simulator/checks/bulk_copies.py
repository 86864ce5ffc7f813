"""Race check, bulk copies: nobody touches what a copy works on before its end was seen (PTX ISA 9.7.9.25.1).

A copy has two sides. Until its source was read nobody may write there; until its destination was written
nobody may read or write there. That a side is done is known to a thread that saw the mbarrier's phase
complete or waited for the copy's group, and to whoever meets such a thread afterwards. A copy may write to
global memory after its block has ended. That it still uses the block's shared memory then is a warning: the
PTX ISA gives no word for it, and an H200 was not seen to hand such memory on too early.

Generic accesses and copies among themselves are compared in the order in which they begin: that a copy begins
after what others did before is for the race check to say, which takes a copy for an access of its thread.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np
from numpy.typing import NDArray

from tooling.record import Record, made
from tooling.simulator.checks.base import WARP, CheckHook, action_of, is_strong, survivors
from tooling.simulator.checks.cluster_order import cluster_numbers
from tooling.simulator.findings import Action, Buffer, Check, Finding, Kind, Severity
from tooling.simulator.hooks import (
    Access,
    AccessKind,
    Ints,
    LaunchContext,
    MBarrierOperation,
    Meeting,
    Space,
    Transfer,
)
from tooling.simulator.ptx_model import Instruction

FEW = 256
"""Up to so many lanes, strong accesses carry what threads know to other threads, one by one."""


class _Side(Record, frozen=False, eq=False):
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
    known: dict[int, NDArray[np.bool_]] = made(default_factory=dict)
    told: set[Hashable] = made(default_factory=set)

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


def _matters(side: _Side, access: Access) -> bool:
    """Reads may meet what a copy only reads, and additions may meet additions."""
    if access.kind is AccessKind.LOAD:
        return side.writes
    return not (side.adds and access.kind is AccessKind.ATOMIC)


class BulkCopyCheck(CheckHook):
    """Accesses to what a bulk copy is still reading or writing, and copies that outlive their block."""

    check = Check.RACES

    def __init__(self) -> None:
        super().__init__()
        self._sides: list[_Side] = []
        self._bounds: NDArray[np.int64] = np.zeros((0, 3), np.int64)

    def launch_begin(self, context: LaunchContext) -> None:
        """A launch comes after all copies of earlier ones."""
        super().launch_begin(context)
        self._keep(lambda _side: False)
        self._exits: dict[int, tuple[int, Instruction | None]] = {}
        self._cluster_of = cluster_numbers(context)

    def has_told(self, access: Instruction, copy: Instruction) -> bool:
        """Whether these two were reported: then nobody needs to hear that they race as well."""
        return bool(self._findings) and any(
            (kind, self.context.launch.function.name, access.ptx_line, copy.ptx_line) in self._findings
            for kind in (Kind.BULK_COPY_IN_FLIGHT, Kind.COPY_SOURCE_CHANGED)
        )

    # What is done

    def access(self, access: Access) -> None:
        """Compare an access with the copies under way; the access of a copy itself is one more of them."""
        if access.transfer is None and not self._sides:
            return
        access = survivors(access)
        if access.space is Space.LOCAL or not len(access.threads):
            return
        places = access.addresses
        if access.space is Space.GLOBAL:  # mapped memory may have several addresses
            places = self.context.memory.places(places)
        if access.transfer is None and len(access.threads) <= FEW and is_strong(access.instruction):
            self._talk(access, places)
        for side in self._near(access, places):
            if side.transfer is not access.transfer and _matters(side, access):
                self._compare(side, access, places)
        if access.transfer is not None:
            self._begin(access, places, access.transfer)

    def _near(self, access: Access, places: Ints) -> list[_Side]:
        """The sides that an access may touch; there may be very many."""
        if not self._sides:
            return []
        if len(self._bounds) != len(self._sides):
            ends = [(side.block, int(side.starts[0]), int(side.ends[-1])) for side in self._sides]
            self._bounds = np.array(ends, np.int64)
        block, low, high = self._bounds.T
        near = low < int(places.max()) + access.bytes
        near &= high > int(places.min())
        near &= (block >= 0) == (access.space is Space.SHARED)
        return [self._sides[k] for k in np.flatnonzero(near)]

    def _keep(self, wanted: Callable[[_Side], bool]) -> None:
        kept = [side for side in self._sides if wanted(side)]
        if len(kept) < len(self._sides):
            self._sides, self._bounds = kept, np.zeros((0, 3), np.int64)

    def _compare(self, side: _Side, access: Access, places: Ints) -> None:
        lanes = side.hits(access, places)
        if len(lanes):
            lanes = lanes[~self._knows(side, access.threads[lanes])]
        if not len(lanes):
            return
        copy, lane = side.transfer.instruction, int(lanes[0])
        kind = Kind.BULK_COPY_IN_FLIGHT if side.writes else Kind.COPY_SOURCE_CHANGED
        key = (kind, self.context.launch.function.name, access.instruction.ptx_line, copy.ptx_line)
        if self.again(key, len(lanes)):
            return
        buffer, offset = self._place(access, lane)
        parties = (
            self.party(int(access.threads[lane]), action_of(access), access.instruction),
            self.party(side.transfer.thread, Action.ASYNC_COPY, copy),
        )
        finding = Finding(
            self.check,
            kind,
            Severity.ERROR,
            self.kernel(),
            parties,
            buffer,
            offset=offset,
            size=access.bytes,
            count=len(lanes),
        )
        self.note(key, finding)

    def _place(self, access: Access, lane: int) -> tuple[Buffer | None, int]:
        address = int(access.addresses[lane])
        if access.space is Space.SHARED:
            return self.window(Space.SHARED, access.element_bytes), address
        home = self.context.memory.containing(address)
        if home is None:
            return None, 0
        return self.buffer(home, access.element_bytes), address - home.base

    def _begin(self, access: Access, places: Ints, transfer: Transfer) -> None:
        starts = np.sort(places)
        apart = np.flatnonzero(starts[1:] > starts[:-1] + access.bytes) + 1
        first = np.concatenate([[0], apart])
        last = np.concatenate([apart, [len(starts)]]) - 1
        block = -1 if access.blocks is None else int(access.blocks[0])
        writes = access.kind is not AccessKind.LOAD
        adds = access.kind is AccessKind.ATOMIC
        if writes:  # whoever writes there rightly knows of all copies before: this one takes their place
            over = {id(side) for side in self._near(access, places) if side.block == block}
            thread = np.array([transfer.thread])
            self._keep(lambda side: id(side) not in over or not self._knows(side, thread).all())
        self._sides.append(_Side(transfer, writes, adds, block, starts[first], starts[last] + access.bytes))

    # Who knows that a copy is over

    def _knows(self, side: _Side, threads: Ints) -> NDArray[np.bool_]:
        size = self.context.threads_per_block
        known = np.zeros(len(threads), np.bool_)
        for block, members in side.known.items():
            here = threads // size == block
            known[here] = members[threads[here] % size]
        return known

    def _learn(self, side: _Side, threads: Ints) -> None:
        size = self.context.threads_per_block
        for block in np.unique(threads // size).tolist():
            members = side.known.get(block)
            if members is None:
                members = side.known[block] = np.zeros(size, np.bool_)
            members[threads[threads // size == block] % size] = True

    def _meet(self, threads: Ints) -> None:
        """What one of these threads knows, from now on all know."""
        for side in self._sides:
            if side.known and self._knows(side, threads).any():
                self._learn(side, threads)

    def _leave(self, threads: Ints, message: Hashable) -> None:
        for side in self._sides:
            if side.known and self._knows(side, threads).any():
                side.told.add(message)

    def _pick_up(self, threads: Ints, message: Hashable) -> None:
        for side in self._sides:
            if message in side.told:
                self._learn(side, threads)

    def _talk(self, access: Access, places: Ints) -> None:
        for lane, place in enumerate(places.tolist()):
            message = (access.space, None if access.blocks is None else int(access.blocks[lane]), place)
            thread = access.threads[lane : lane + 1]
            self._pick_up(thread, message)
            self._leave(thread, message)

    def transfer_counted(self, transfer: Transfer) -> None:
        for side in self._sides:
            side.counted |= side.transfer is transfer

    def mbarrier_phase(self, blocks: Ints, offsets: Ints) -> None:
        complete = set(zip(blocks.tolist(), offsets.tolist(), strict=True))
        for side in self._sides:
            side.done |= side.counted and side.transfer.barrier in complete

    def mbarrier(self, operation: MBarrierOperation) -> None:
        passed = operation.action == "passed"
        if not self._sides or not (passed or operation.action in ("arrive", "arrive_drop")):
            return
        blocks, offsets = operation.blocks, operation.offsets
        for barrier in set(zip(blocks.tolist(), offsets.tolist(), strict=True)):
            here = operation.threads[(blocks == barrier[0]) & (offsets == barrier[1])]
            if not passed:
                self._leave(here, ("mbarrier", barrier))
                continue
            self._pick_up(here, ("mbarrier", barrier))
            for side in self._sides:
                if side.done and side.transfer.barrier == barrier:
                    self._learn(side, here)
        if passed:
            self._drop_read_inputs()

    def bulk_wait(self, threads: Ints, groups: Ints, instruction: Instruction) -> None:
        """With `.read` only the sources are known to be done."""
        read = "read" in instruction.modifiers
        over = dict(zip(threads.tolist(), groups.tolist(), strict=True))
        for side in self._sides:
            copy = side.transfer
            if copy.barrier is None and copy.group < over.get(copy.thread, 0) and not (read and side.writes):
                self._learn(side, np.array([copy.thread]))
        self._drop_read_inputs()

    def _drop_read_inputs(self) -> None:
        """Global memory that was read: who writes there now races with its reader, or does not."""
        self._keep(lambda side: side.writes or side.block >= 0 or not side.known)

    def block_barrier(self, blocks: Ints, instruction: Instruction) -> None:
        """Where all threads of its block know of it, a side is forgotten: others have the race check."""
        if self._sides:
            here = set(blocks.tolist())
            self._keep(lambda side: here.isdisjoint(side.known))

    def cluster_arrive(self, threads: Ints, instruction: Instruction) -> None:
        """What these threads learn after their arrival, the barrier tells nobody."""
        self._tell_cluster(threads)

    def _tell_cluster(self, threads: Ints) -> None:
        clusters = self._cluster_of[threads // self.context.threads_per_block]
        for cluster in np.unique(clusters).tolist() if self._sides else ():
            self._leave(threads[clusters == cluster], ("cluster", cluster))

    def cluster_barrier(self, clusters: Ints, instruction: Instruction) -> None:
        """Where all threads of a cluster know of it now, a side is forgotten."""
        here = {("cluster", cluster) for cluster in clusters.tolist()}
        self._keep(lambda side: here.isdisjoint(side.told))

    def barrier_arrive(self, threads: Ints, barrier: int, instruction: Instruction) -> None:
        self._leave(threads, ("barrier", barrier))

    def named_barrier(self, meeting: Meeting) -> None:
        size = self.context.threads_per_block
        for block in meeting.blocks.tolist() if self._sides else ():
            threads = meeting.threads[meeting.threads // size == block]
            if len(meeting.arrived):
                self._pick_up(threads, ("barrier", meeting.barrier))
            self._meet(threads)

    def warp_sync(self, threads: Ints, masks: NDArray[np.uint32], instruction: Instruction) -> None:
        if not any(side.known for side in self._sides):
            return
        size = self.context.threads_per_block
        warps = threads // size * size + threads % size // WARP
        for warp in np.unique(warps):
            self._meet(threads[warps == warp])

    # The end of a block

    def threads_exit(self, threads: Ints, instruction: Instruction | None) -> None:
        if self._sides:
            self._tell_cluster(threads)  # to exit counts as an arrival
            blocks, firsts = np.unique(threads // self.context.threads_per_block, return_index=True)
            for block, first in zip(blocks.tolist(), firsts.tolist(), strict=True):
                self._exits[block] = (int(threads[first]), instruction)

    def batch_end(self, first_block: int, blocks: int) -> None:
        """All threads of these blocks have exited, and their shared memory is given to others."""
        for side in self._sides:
            if first_block <= side.block < first_block + blocks and not side.known:
                self._report_outlived(side)
        self._keep(lambda side: side.block < 0)

    def _report_outlived(self, side: _Side) -> None:
        copy = side.transfer.instruction
        key = (Kind.COPY_OUTLIVES_BLOCK, self.context.launch.function.name, copy.ptx_line)
        size = self.context.threads_per_block
        thread, instruction = self._exits.get(side.block, (side.block * size, None))
        parties = (
            self.party(side.transfer.thread, Action.ASYNC_COPY, copy),
            self.party(thread, Action.EXIT, instruction),
        )
        self.note(
            key,
            Finding(
                self.check,
                Kind.COPY_OUTLIVES_BLOCK,
                Severity.WARNING,
                self.kernel(),
                parties,
                self.window(Space.SHARED, 0),
                size=int((side.ends - side.starts).sum()),
            ),
        )
