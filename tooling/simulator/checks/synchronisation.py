"""Synchronisation check: barriers that some threads do not reach, lanes missing from a mask, deadlocks.

The engine reports which blocks passed a barrier, which threads exited and, at the end, which are stuck; this
check turns that into findings. Model: compute-sanitizer's synccheck, which does not report deadlocks and does
not check clusters.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from msgspec import UNSET, Struct, field
from numpy.typing import NDArray

from tooling.simulator.checks.barrier_uses import operands_of
from tooling.simulator.checks.base import WARP, CheckHook, is_in_library, source_position, survivors
from tooling.simulator.checks.findings import Action, Buffer, Check, Finding, Kind, Party, Severity
from tooling.simulator.checks.remote_accesses import RemoteAccess, RemoteAccesses
from tooling.simulator.gpu.clusters import blocks_of
from tooling.simulator.gpu.code_model import Instruction, Integer
from tooling.simulator.gpu.hooks import (
    Access,
    AccessKind,
    Ints,
    LaunchContext,
    MBarrierOperation,
    Space,
    Waiter,
    WaitsFor,
)

_WHOLE_WARP = 0xFFFFFFFF

_WAITING = {
    WaitsFor.BLOCK_BARRIER: Action.BARRIER,
    WaitsFor.NAMED_BARRIER: Action.BARRIER,
    WaitsFor.CLUSTER_BARRIER: Action.CLUSTER_BARRIER,
    WaitsFor.WARP: Action.WARP_SYNC,
    WaitsFor.LOOP: Action.LOOP,
}


class _MBarrier(Struct):
    """One mbarrier: the thread that initialised it, in which epoch of its block, how often its block had
    signalled to others, and the current phase's arrivals."""

    thread: int
    epoch: int
    signals: int
    instruction: Instruction
    count: int  # arrivals of a phase
    arrived: int = 0
    expected_bytes: int = 0  # in all phases
    completed_bytes: int = 0
    completer: tuple[int, Instruction] | None = None  # of the latest bytes: a thread, and what it started


class _Tally(Struct):
    """How often each thread of a batch executed a kind of instruction, and the last instruction.

    `counts` has an element for each thread from `first` on; it is empty until the first such instruction.
    """

    first: int
    threads: int
    counts: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    last: Instruction | None = None

    def add(self, instruction: Instruction, threads: Ints) -> None:
        if not len(self.counts):
            self.counts = np.zeros(self.threads, dtype=np.int64)
        self.counts[threads - self.first] += 1
        self.last = instruction

    def beyond(self, other: _Tally) -> Ints:
        """The threads that executed this kind of instruction more often than the other."""
        if not len(self.counts):
            return np.zeros(0, dtype=np.int64)
        others = other.counts if len(other.counts) else 0
        return self.first + np.flatnonzero(self.counts > others)


class SynchronisationCheck(CheckHook):
    """Barriers, `.sync` masks, mbarriers and cluster barriers that required threads do not take part in."""

    check = Check.SYNCHRONISATION

    def launch_begin(self, context: LaunchContext) -> None:
        super().launch_begin(context)
        self._exited = np.zeros(context.blocks, dtype=np.int64)
        self._epoch = np.zeros(context.blocks, dtype=np.int64)
        self._signals = np.zeros(context.blocks, dtype=np.int64)
        self._exits: list[tuple[Ints, Instruction | None]] = []
        self._last_exit: Instruction | None = None
        self._mbarriers: dict[tuple[int, int], _MBarrier] = {}
        self._several_devices = context.several_devices
        self._polled: dict[tuple[int, int], int] = {}  # with several GPUs: the address, by the load
        self._mixed: set[int] = set()  # blocks whose threads have waited at different barriers
        self._started = 0  # blocks

    def batch_begin(self, first_block: int, blocks: int) -> None:
        self._started += blocks
        self._outside: dict[str, tuple[Instruction, Party, int]] = {}
        self._remote = RemoteAccesses(self.context.threads_per_block)
        size = self.context.threads_per_block
        self._arrivals, self._waits = (_Tally(first_block * size, blocks * size) for _ in range(2))
        self._stuck = False

    # Block barriers

    def block_barrier(self, blocks: Ints, instruction: Instruction) -> None:
        self._epoch[blocks] += 1
        gone = self._exited[blocks]
        if not gone.any() or _is_counted(instruction):  # the count that it was called with has arrived
            return
        size = self.context.threads_per_block
        incomplete = [
            block for block in blocks[(gone > 0) & (gone < size)].tolist() if block not in self._mixed
        ]
        if incomplete:
            self._report_exited(incomplete[0], instruction, len(incomplete))

    def _report_exited(self, block: int, barrier: Instruction, blocks: int) -> None:
        size = self.context.threads_per_block
        arrived = size - int(self._exited[block])
        first = block * size
        exits = {
            thread: instruction
            for threads, instruction in self._exits
            for thread in threads[(threads >= first) & (threads < first + size)].tolist()
        }
        waiting = next((t for t in range(first, first + size) if t not in exits), first)
        gone = next((t for t in range(first, first + size) if t in exits), first)
        parties = (
            self.party(waiting, Action.BARRIER, barrier, arrived),
            self.party(gone, Action.EXIT, exits.get(gone), size - arrived),
        )
        self._note(
            Kind.EXITED_BEFORE_BARRIER,
            barrier,
            parties,
            expected=size,
            arrived=arrived,
            count=blocks,
        )

    def threads_exit(self, threads: Ints, instruction: Instruction | None) -> None:
        self._last_exit = instruction
        size = self.context.threads_per_block
        first = int(threads[0]) // size
        blocks, rest = divmod(len(threads), size)
        if not rest and int(threads[0]) == first * size and int(threads[-1]) == (first + blocks) * size - 1:
            self._exited[first : first + blocks] = size  # whole blocks, the usual case
            here = np.arange(first, first + blocks)
        else:
            gone = np.bincount(threads // size - first)
            self._exited[first : first + len(gone)] += gone
            here = first + np.flatnonzero(gone)
            if len(threads) < len(here) * size:
                self._exits.append((threads, instruction))
        for block in here[self._exited[here] == size].tolist() if self._remote else ():
            remote_access = self._remote.latest(block)
            if remote_access is not None:
                self._report_gone(block, remote_access)

    # Warps

    def warp_sync(self, threads: Ints, masks: NDArray[np.uint32], instruction: Instruction) -> None:
        """A lane must be in its own mask (PTX ISA 9.7.9.6, 9.7.13.4): otherwise the result is undefined."""
        if masks.strides == (0,) and masks[0] == _WHOLE_WARP:
            return
        lanes = (threads % self.context.threads_per_block % WARP).astype(np.uint32)
        outside = np.flatnonzero(masks >> lanes & np.uint32(1) == 0)
        if not len(outside):
            return
        mask, count = int(masks[outside[0]]), len(outside)
        party = self.party(int(threads[outside[0]]), Action.WARP_SYNC, instruction, count)
        self._outside.setdefault(str(source_position(instruction)), (instruction, party, mask))

    def _report_outside(self) -> None:
        """Report lanes outside their own masks, unless what they receive was reported."""
        for instruction, party, mask in self._outside.values():
            others = (Kind.ABSENT_SOURCE, Kind.MISSING_LANE)
            if self._findings.keys().isdisjoint(self._key(kind, instruction) for kind in others):
                self._note(Kind.OUTSIDE_MASK, instruction, (party,), expected=mask)
        self._outside.clear()

    def warp_missing(self, threads: Ints, masks: NDArray[np.uint32], instruction: Instruction) -> None:
        inside = int(threads[0]) % self.context.threads_per_block
        warp_first = int(threads[0]) - inside % WARP
        present = np.unique(threads[(threads >= warp_first) & (threads < warp_first + WARP)] - warp_first)
        arrived = int(sum(1 << int(lane) for lane in present))
        expected = arrived | int(masks[0])
        party = self.party(int(threads[0]), Action.WARP_SYNC, instruction, len(threads))
        self._note(Kind.MISSING_LANE, instruction, (party,), expected=expected, arrived=arrived)

    def shuffle_from_absent(
        self, threads: Ints, sources: Ints, masks: NDArray[np.uint32], instruction: Instruction
    ) -> None:
        """Results are undefined (PTX ISA 9.7.9.6).

        Reported only if a warp gets no other value: in a stepwise reduction, the last active lanes may read
        from inactive ones, as long as the result is not used.
        """
        if self._key(Kind.MISSING_LANE, instruction) in self._findings:
            return
        party = self.party(int(threads[0]), Action.WARP_SYNC, instruction, len(threads))
        self._note(Kind.ABSENT_SOURCE, instruction, (party,), expected=int(masks[0]), arrived=int(sources[0]))

    # Clusters

    def cluster_arrive(self, threads: Ints, instruction: Instruction) -> None:
        self._arrivals.add(instruction, threads)

    def cluster_wait(self, threads: Ints, instruction: Instruction) -> None:
        self._waits.add(instruction, threads)

    def cluster_barrier(self, clusters: Ints, instruction: Instruction) -> None:
        here = blocks_of(self.context.launch, clusters).reshape(-1)
        self._epoch[here] += 1
        self._signals[here] += 1
        self._remote.cluster_barrier(here)

    def access(self, access: Access) -> None:
        """Another block's shared memory may be accessed only while that block cannot have exited."""
        if access.space is Space.GLOBAL and self._several_devices and access.kind is AccessKind.LOAD:
            self._polled[access.instruction.code_position] = int(access.addresses[0])
        if self.context.blocks_per_cluster == 1:
            return
        if access.instruction.is_strong and access.kind is not AccessKind.LOAD:
            self._signals[access.threads // self.context.threads_per_block] += 1
        if access.space is not Space.SHARED or access.blocks is None:
            return
        access = survivors(access)
        blocks = access.blocks
        if blocks is None or not len(access.threads):
            return
        self._remote.acquire(access, blocks)
        remote = np.flatnonzero(blocks != access.threads // self.context.threads_per_block)
        if not len(remote):
            return
        for host in self._remote.add(access, blocks, remote).tolist():
            remote_access = self._remote.latest(host)
            if remote_access is not None and self._exited[host] == self.context.threads_per_block:
                self._report_gone(host, remote_access)

    def _report_gone(self, block: int, remote_access: RemoteAccess) -> None:
        size = self.context.threads_per_block
        leaver = self.party(block * size, Action.EXIT, self._last_exit, size)
        parties = (self.party(remote_access.thread, remote_access.action, remote_access.instruction), leaver)
        self._note(Kind.CLUSTER_BLOCK_GONE, remote_access.instruction, parties)

    def batch_end(self, first_block: int, blocks: int) -> None:
        """All threads of the batch have exited: each must have waited as often as it arrived."""
        self._report_outside()
        self._check_mbarriers(first_block, first_block + blocks)
        if self._stuck:
            return
        for kind, more, fewer in (
            (Kind.CLUSTER_WAIT_MISSING, self._arrivals, self._waits),
            (Kind.CLUSTER_ARRIVE_MISSING, self._waits, self._arrivals),
        ):
            threads = more.beyond(fewer)
            if len(threads) and more.last is not None:
                party = self.party(int(threads[0]), Action.CLUSTER_BARRIER, more.last, len(threads))
                self._note(kind, more.last, (party,), arrived=len(threads))

    # Mbarriers

    def mbarrier_phase(self, blocks: Ints, offsets: Ints) -> None:
        self._remote.complete(blocks, offsets)

    def mbarrier(self, operation: MBarrierOperation) -> None:
        self._remote.mbarrier(operation)
        action, instruction, threads = operation.action, operation.instruction, operation.threads.tolist()
        counts = [1] * len(threads) if operation.values is None else operation.values.tolist()
        addresses = zip(operation.blocks.tolist(), operation.offsets.tolist(), strict=True)
        for index, (thread, (block, offset), count) in enumerate(
            zip(threads, addresses, counts, strict=True)
        ):
            known = self._mbarriers.get((block, offset))
            if known is not None and action in ("init", "inval"):
                self._check_bytes(known)
            if action == "init":
                self._mbarriers[block, offset] = _MBarrier(
                    thread, int(self._epoch[block]), int(self._signals[block]), instruction, count
                )
            elif known is None or not self._visible(known, thread, block):
                parties = [self.party(thread, Action.MBARRIER, instruction)]
                if known is not None:
                    parties.append(self.party(known.thread, Action.MBARRIER, known.instruction))
                at = known.instruction if known else instruction
                self._note(Kind.MBARRIER_NOT_READY, at, tuple(parties))
            elif action == "arrive":
                known.arrived += count
            if known is not None and action != "init" and operation.bytes is not None:
                self._count_bytes(known, thread, operation, int(operation.bytes[index]))
        if self.context.blocks_per_cluster > 1:
            homes = operation.threads // self.context.threads_per_block
            self._signals[homes[homes != operation.blocks]] += 1
        if action == "ignored":
            party = self.party(threads[0], Action.MBARRIER, instruction, len(threads))
            self._note(Kind.MBARRIER_RESULT_IGNORED, instruction, (party,), severity=Severity.WARNING)

    def _count_bytes(self, known: _MBarrier, thread: int, operation: MBarrierOperation, size: int) -> None:
        if size >= 0:
            known.expected_bytes += size
            return
        known.completed_bytes -= size
        known.completer = thread, operation.instruction

    def _check_mbarriers(self, first: int, end: int) -> None:
        """The mbarriers of these blocks, whose shared memory is gone."""
        for address in [address for address in self._mbarriers if first <= address[0] < end]:
            self._check_bytes(self._mbarriers.pop(address))

    def _check_bytes(self, barrier: _MBarrier) -> None:
        """At the end of an mbarrier's life: more bytes than were expected in all phases completed a phase too
        early, or kept it from completing, as the order of events would have it."""
        if barrier.completed_bytes <= barrier.expected_bytes or barrier.completer is None:
            return
        self._note(
            Kind.MBARRIER_BYTES,
            barrier.completer[1],
            (self.party(barrier.completer[0], Action.ASYNC_COPY, barrier.completer[1]),),
            expected=barrier.expected_bytes,
            arrived=barrier.completed_bytes,
        )

    def _visible(self, known: _MBarrier, thread: int, block: int) -> bool:
        """A barrier of the block, or being in the same warp, lets a thread see the initialisation.

        Threads of other blocks see it after a barrier of the cluster, or after a signal of this block: a
        strong store, or an operation at an mbarrier of another block.

        Args:
            block: the one whose shared memory holds the mbarrier.
        """
        size = self.context.threads_per_block
        if thread // size != block:
            return bool(self._signals[block] > known.signals)
        same_block = known.thread // size == thread // size
        same_warp = known.thread % size // WARP == thread % size // WARP
        return bool((same_block and same_warp) or self._epoch[block] > known.epoch)

    def barrier_mixed(self, waiters: Sequence[Waiter], blocks: Ints) -> None:
        """Undefined behaviour, although current hardware lets such a barrier pass.

        From then on the threads of these blocks are at different barriers: that they meet at other ones, or
        that some have exited, follows from the first finding and is not reported.
        """
        here = set(blocks.tolist())
        known = self._key(Kind.DIVERGENT_BARRIER, waiters[0].instruction) in self._findings
        if here <= self._mixed and not known:
            return
        self._mixed |= here
        parties = tuple(
            self.party(int(w.threads[0]), Action.BARRIER, w.instruction, len(w.threads)) for w in waiters
        )
        expected = sum(len(waiter.threads) for waiter in waiters)
        arrived = len(waiters[0].threads)
        self._note(
            Kind.DIVERGENT_BARRIER, waiters[0].instruction, parties, expected=expected, arrived=arrived
        )

    def barrier_mixed_warps(self, waiters: Sequence[Waiter]) -> None:
        """A warning: PTX defines it, and hardware counts the warps, but Mojo's rule is that all threads of a
        block pass the same call of `barrier()`, and a GPU whose compiler relies on that may wait forever.

        A compiler may copy a barrier, so that only calls at different source positions count.
        """
        if _is_counted(waiters[0].instruction) or all(is_in_library(w.instruction) for w in waiters):
            return
        positions = {str(source_position(waiter.instruction)) for waiter in waiters}
        if len(positions) == 1:
            return
        parties = tuple(
            self.party(int(w.threads[0]), Action.BARRIER, w.instruction, len(w.threads)) for w in waiters
        )
        expected = sum(len(waiter.threads) for waiter in waiters)
        self._note(
            Kind.DIFFERENT_BARRIERS,
            waiters[0].instruction,
            parties,
            expected=expected,
            arrived=len(waiters[0].threads),
            severity=Severity.WARNING,
        )

    def barrier_inactive(self, threads: Ints, inactive: Ints, instruction: Instruction) -> None:
        """Report one warp of which only some lanes are at the barrier."""
        size, warp_size = self.context.threads_per_block, self.context.warp_size
        warp = int(inactive[0]) // size, int(inactive[0]) % size // warp_size
        here, there = (
            t[(t // size == warp[0]) & (t % size // warp_size == warp[1])] for t in (threads, inactive)
        )
        if not len(here):  # no thread of the warp takes part: it passes a branch that the compiler kept
            return
        party = self.party(int(here[0]), Action.BARRIER, instruction, len(here))
        total = len(here) + len(there)
        self._note(Kind.INACTIVE_AT_BARRIER, instruction, (party,), expected=total, arrived=len(here))

    # Deadlock

    def stuck(self, waiters: Sequence[Waiter]) -> None:
        """No thread can run: report which threads wait where, and why."""
        self._stuck = True
        parties = tuple(
            self.party(int(w.threads[0]), self._waiting(w), w.instruction, len(w.threads)) for w in waiters
        )
        size = self.context.threads_per_block
        first = waiters[0]
        block = int(first.threads[0]) // size
        at = first.instruction
        reasons = {waiter.waits_for for waiter in waiters}
        in_block = sum(int((waiter.threads // size == block).sum()) for waiter in waiters)
        polled = next((w for w in waiters if w.instruction.opcode == "mbarrier"), None)
        if polled is not None:
            self._report_mbarrier(block, polled.instruction, parties)
        elif reasons == {WaitsFor.BLOCK_BARRIER} and any(_is_counted(w.instruction) for w in waiters):
            self._report_counted(waiters, block, parties)
        elif reasons == {WaitsFor.BLOCK_BARRIER} and len(waiters) > 1:
            here = int((first.threads // size == block).sum())
            self._note(Kind.DIVERGENT_BARRIER, at, parties, expected=size, arrived=here)
        elif reasons == {WaitsFor.BLOCK_BARRIER} and in_block < size:
            self._report_exited(block, at, 1)
        elif reasons == {WaitsFor.WARP}:
            present = np.unique(first.threads[first.threads // size == block] % size % WARP)
            arrived = int(sum(1 << int(lane) for lane in present))
            self._note(Kind.MISSING_LANE, at, parties, expected=0xFFFFFFFF, arrived=arrived)
        elif WaitsFor.LOOP in reasons:
            self._report_loop(waiters, parties)
        else:
            self._note(Kind.DEADLOCK, at, parties)

    def _report_loop(self, waiters: Sequence[Waiter], parties: tuple[Party, ...]) -> None:
        """Threads poll in vain; with several GPUs, which memory, since another GPU might have written it."""
        at = next(each.instruction for each in waiters if each.waits_for is WaitsFor.LOOP)
        address = self._polled.get(at.code_position)
        memory = self.context.memory
        allocation = None if address is None else memory.containing(address)
        if address is None or allocation is None:
            kind = Kind.ENDLESS_WAIT if self._started == self.context.blocks else Kind.LATER_BLOCKS
            self._note(kind, waiters[0].instruction, parties, arrived=self._started)
            return
        buffer = self.buffer(allocation, 0)
        self._note(Kind.GPUS_DEADLOCK, at, parties, buffer=buffer, offset=address - allocation.base)

    def _report_counted(self, waiters: Sequence[Waiter], block: int, parties: tuple[Party, ...]) -> None:
        """Threads wait at barriers with counts: too few at one, or at several for each other."""
        first = waiters[0]
        count = operands_of(first.instruction)[1:]
        if len(waiters) > 1 or not isinstance(count[0], Integer):
            self._note(Kind.DEADLOCK, first.instruction, parties)
            return
        here = int((first.threads // self.context.threads_per_block == block).sum())
        self._note(Kind.SHORT_BARRIER, first.instruction, parties, expected=count[0].value, arrived=here)

    def _waiting(self, waiter: Waiter) -> Action:
        return Action.MBARRIER if waiter.instruction.opcode == "mbarrier" else _WAITING[waiter.waits_for]

    def _report_mbarrier(self, block: int, polled: Instruction, parties: tuple[Party, ...]) -> None:
        known = [
            barrier for (owner, _), barrier in self._mbarriers.items() if owner == block and barrier.count
        ]
        for each in known:
            self._check_bytes(each)
        incomplete = [barrier for barrier in known if barrier.arrived % barrier.count]
        barrier = next(iter(incomplete or known), None)
        expected = barrier.count if barrier else 0
        arrived = barrier.arrived % expected if barrier else 0
        self._note(Kind.MBARRIER_STUCK, polled, parties, expected=expected, arrived=arrived)

    def _note(
        self,
        kind: Kind,
        at: Instruction,
        parties: tuple[Party, ...],
        *,
        expected: int = 0,
        arrived: int = 0,
        count: int = 1,
        buffer: Buffer | None = None,
        offset: int = 0,
        severity: Severity = Severity.ERROR,
    ) -> None:
        """Record a finding, once for all instructions inlined from one call of a library function."""
        finding = Finding(
            self.check,
            kind,
            severity,
            self.kernel(),
            parties,
            buffer,
            offset=offset,
            expected=expected,
            arrived=arrived,
            count=count,
        )
        key: Hashable = self._key(kind, at)
        if parties and parties[0].device is not UNSET:
            key = (key, parties[0].device)
        self.note(key, finding)

    def _key(self, kind: Kind, at: Instruction) -> Hashable:
        return (kind, self.context.launch.function.name, str(source_position(at)))


def _is_counted(barrier: Instruction) -> bool:
    return len(operands_of(barrier)) > 1
