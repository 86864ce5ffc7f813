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

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.checks.base import WARP, CheckHook, action_of, is_strong, survivors
from tooling.simulator.checks.copy_sides import Side, Sides
from tooling.simulator.checks.findings import Action, Buffer, Check, Finding, Kind, Severity
from tooling.simulator.gpu.clusters import clusters_of
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import (
    Access,
    AccessKind,
    Ints,
    LaunchContext,
    MBarrierOperation,
    Meeting,
    Space,
    Transfer,
)

FEW = 256
"""Up to so many lanes, strong accesses carry what threads know to other threads, one by one."""


def _matters(side: Side, access: Access) -> bool:
    """Reads may meet what a copy only reads, and additions may meet additions."""
    if access.kind is AccessKind.LOAD:
        return side.writes
    return not (side.adds and access.kind is AccessKind.ATOMIC)


class BulkCopyCheck(CheckHook):
    """Accesses to what a bulk copy is still reading or writing, and copies that outlive their block."""

    check = Check.RACES

    def __init__(self) -> None:
        super().__init__()
        self._sides = Sides(1)

    def launch_begin(self, context: LaunchContext) -> None:
        """A launch comes after all copies of earlier ones."""
        super().launch_begin(context)
        self._sides = Sides(context.threads_per_block)
        self._exits: dict[int, tuple[int, Instruction | None]] = {}

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
        for side in self._sides.near(access, places):
            if side.transfer is not access.transfer and _matters(side, access):
                self._compare(side, access, places)
        if access.transfer is not None:
            self._begin(access, places, access.transfer)

    def _compare(self, side: Side, access: Access, places: Ints) -> None:
        lanes = side.hits(access, places)
        if len(lanes):
            lanes = lanes[~self._sides.knows(side, access.threads[lanes])]
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
            over = {id(side) for side in self._sides.near(access, places) if side.block == block}
            thread = np.array([transfer.thread])
            self._sides.keep(lambda side: id(side) not in over or not self._sides.knows(side, thread).all())
        ends = starts[last] + access.bytes
        self._sides.add(Side(transfer, writes, adds, block, starts[first], ends))

    # Who knows that a copy is over

    def _talk(self, access: Access, places: Ints) -> None:
        for lane, place in enumerate(places.tolist()):
            message = (access.space, None if access.blocks is None else int(access.blocks[lane]), place)
            thread = access.threads[lane : lane + 1]
            self._sides.pick_up(thread, message)
            self._sides.leave(thread, message)

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
                self._sides.leave(here, ("mbarrier", barrier))
                continue
            self._sides.pick_up(here, ("mbarrier", barrier))
            for side in self._sides.at([barrier]):
                if side.done:
                    self._sides.learn(side, here)
        if passed:
            self._drop_read_inputs()

    def bulk_wait(self, threads: Ints, groups: Ints, instruction: Instruction) -> None:
        """With `.read` only the sources are known to be done."""
        read = "read" in instruction.modifiers
        over = dict(zip(threads.tolist(), groups.tolist(), strict=True))
        for side in self._sides:
            copy = side.transfer
            if copy.barrier is None and copy.group < over.get(copy.thread, 0) and not (read and side.writes):
                self._sides.learn(side, np.array([copy.thread]))
        self._drop_read_inputs()

    def _drop_read_inputs(self) -> None:
        """Global memory that was read: who writes there now races with its reader, or does not."""
        self._sides.keep(lambda side: side.writes or side.block >= 0 or not side.known)

    def block_barrier(self, blocks: Ints, instruction: Instruction) -> None:
        """Where all threads of its block know of it, a side is forgotten: others have the race check."""
        if self._sides:
            here = set(blocks.tolist())
            self._sides.keep(lambda side: here.isdisjoint(side.known))

    def cluster_arrive(self, threads: Ints, instruction: Instruction) -> None:
        """What these threads learn after their arrival, the barrier tells nobody."""
        self._tell_cluster(threads)

    def _tell_cluster(self, threads: Ints) -> None:
        if not self._sides:
            return
        clusters = clusters_of(self.context.launch, threads // self.context.threads_per_block)
        for cluster in np.unique(clusters).tolist():
            self._sides.leave(threads[clusters == cluster], ("cluster", cluster))

    def cluster_barrier(self, clusters: Ints, instruction: Instruction) -> None:
        """Where all threads of a cluster know of it now, a side is forgotten."""
        here = {("cluster", cluster) for cluster in clusters.tolist()}
        self._sides.keep(lambda side: here.isdisjoint(side.told))

    def barrier_arrive(self, threads: Ints, barrier: int, instruction: Instruction) -> None:
        self._sides.leave(threads, ("barrier", barrier))

    def named_barrier(self, meeting: Meeting) -> None:
        size = self.context.threads_per_block
        for block in meeting.blocks.tolist() if self._sides else ():
            threads = meeting.threads[meeting.threads // size == block]
            if len(meeting.arrived):
                self._sides.pick_up(threads, ("barrier", meeting.barrier))
            self._sides.meet(threads, size)

    def warp_sync(self, threads: Ints, masks: NDArray[np.uint32], instruction: Instruction) -> None:
        self._sides.meet(threads, WARP)

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
        self._sides.keep(lambda side: side.block < 0)

    def _report_outlived(self, side: Side) -> None:
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
