"""Race check: two threads access one address, at least one writes, and the accesses are not ordered.

Every access is compared with the last writer and the readers of each granule it touches (`shadow`);
`happens_before` decides whether a barrier, a warp operation or a fence orders the two. Writes of the value
that is already there, and pairs of atomic operations whose scopes include both threads, are not races.
Models: compute-sanitizer's racecheck (shared memory only) and Oclgrind's race detector.
"""

from __future__ import annotations

import functools
import math
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import UNSET, Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from tooling.simulator.backends import backend_of
from tooling.simulator.checks.barrier_uses import BarrierUses
from tooling.simulator.checks.base import CheckHook, action_of, lanes_of, survivors
from tooling.simulator.checks.bulk_copies import BulkCopyCheck
from tooling.simulator.checks.findings import Action, Buffer, Check, Finding, Kind, Party, Severity
from tooling.simulator.checks.footprint import Footprints
from tooling.simulator.checks.happens_before.block_clocks import Clocks
from tooling.simulator.checks.proxies import ProxyFences
from tooling.simulator.checks.shadow import (
    CLOCK_SHIFT,
    IN_FLIGHT,
    STRONG,
    THREAD,
    Epochs,
    Panel,
    Shadow,
    clocks_of,
    gather,
    scatter,
)
from tooling.simulator.checks.targets import (
    Target,
    dense_strip,
    dense_target,
    row_strip,
    row_target,
    sparse_target,
)
from tooling.simulator.gpu.clusters import clusters_of
from tooling.simulator.gpu.code_model import Instruction, Integer
from tooling.simulator.gpu.device_memory import Allocation
from tooling.simulator.gpu.hooks import (
    Access,
    AccessKind,
    Hook,
    Ints,
    LaunchContext,
    MBarrierOperation,
    PartialBarrier,
    Rows,
    Space,
    Transfer,
    Waiter,
)
from tooling.simulator.gpu.loaded_values import LoadedValue
from tooling.simulator.program.backend import Scope

_NONE: NDArray[np.int64] = np.empty(0, np.int64)
"""No positions."""


MAX_UNSTORED = 64
"""Writes of shared memory whose values are kept as they are, before they are stored in the shadow."""


class _Logged(NamedTuple):
    """An access by its clock; `value`: what it has loaded, if some lanes may not use it."""

    instruction: Instruction
    action: Action
    value: LoadedValue | None = None


class _Clash(NamedTuple):
    """Accesses of two instructions that are not ordered.

    Attributes:
        target: the later one; logged: the earlier one.
        lanes: (n,) positions in the target; later, earlier: (n,) the two threads.
    """

    target: Target
    logged: _Logged
    kind: Kind
    key: Hashable
    lanes: NDArray[np.int64]
    later: Ints
    earlier: Ints


class _Copy(Struct):
    """An asynchronous copy in flight: its destination in shared memory, or its source, which may change.

    Attributes:
        granules, epochs, groups: (n,) what it fills or reads, by which threads, in which of their groups.
        source: the shadow of the memory that it reads, and bytes of a granule; None for the destination.
        base: the physical address of that memory.
    """

    instruction: Instruction
    granules: NDArray[np.int64]
    epochs: Epochs
    groups: NDArray[np.int64]
    source: tuple[Shadow, int] | None = None
    base: int = 0

    def only(self, lanes: NDArray[np.bool_]) -> _Copy:
        """Some of its lanes."""
        return replace(
            self, granules=self.granules[lanes], epochs=self.epochs[lanes], groups=self.groups[lanes]
        )


def _barrier_address(barrier: int) -> int:
    """The address at which `bar.arrive` releases: below the addresses of mbarriers."""
    return -1 - barrier


def _takes_lock(instruction: Instruction) -> bool:
    """Whether an instruction sets a flag, as a lock does, without ordering other accesses."""
    modifiers = instruction.modifiers
    if instruction.opcode != "atom" or not {"cas", "exch"} & set(modifiers) or "acquire" in modifiers:
        return False
    return "acq_rel" not in modifiers and any(isinstance(each, Integer) for each in instruction.operands[2:])


def _owned_by(threads: Ints, _copy: _Copy, owners: Ints) -> NDArray[np.bool_]:
    """Which copies these threads have started."""
    return np.isin(owners, threads)


class RaceCheck(CheckHook):
    """Races in shared memory, in the shared memory of a cluster, and in global memory.

    Args:
        bulk_copies: the check whose findings are not reported again.
    """

    check = Check.RACES
    follows_values = True

    def __init__(self, footprints: Footprints, bulk_copies: BulkCopyCheck) -> None:
        super().__init__()
        self._footprints = footprints
        self._bulk_copies = bulk_copies
        self._now = 1
        self._log: list[_Logged] = []
        self._log_start = 1
        self._comparable: deque[tuple[int, LoadedValue]] = deque()
        self._global: dict[int, Shadow] = {}
        self._shared = Shadow(0, 4)
        self._shared_values: NDArray[np.uint64] | None = None
        self._unstored: list[tuple[int, Access]] = []
        self._first_block = self._batch = self._shared_horizon = 0
        self._copies: list[_Copy] = []
        self._committed: Ints = np.zeros(0, np.int64)
        self._locks: Ints = np.zeros(0, np.int64)
        self._granules = {Space.GLOBAL: 4, Space.SHARED: 4}
        self._written: frozenset[int] | None = None

    def for_launch(self, twins: Mapping[int, Hook]) -> RaceCheck:
        """A twin with shadows of its own, and the twin of the check of bulk copies."""
        twin = super().for_launch(twins)
        assert isinstance(twin, RaceCheck)
        bulk_copies = twins[id(self._bulk_copies)]
        assert isinstance(bulk_copies, BulkCopyCheck)
        twin._bulk_copies = bulk_copies
        twin._global, twin._log, twin._copies, twin._comparable = {}, [], [], deque()
        twin._unstored = []
        return twin

    # Events of a launch

    def launch_begin(self, context: LaunchContext) -> None:
        """A launch is ordered after all earlier ones, so that it cannot race with them."""
        super().launch_begin(context)
        self._clocks = Clocks(context, self._now)
        self._log.clear()
        self._log_start = self._now
        self._committed = np.zeros(0, np.int64)
        self._locks = np.zeros(0, np.int64)
        backend = backend_of(context.module)
        self._written = backend.written_allocations(context)
        self._fences = ProxyFences(context.blocks * context.threads_per_block, self._now)
        accesses = backend.accesses(context)
        if accesses.granules[Space.GLOBAL] != self._granules[Space.GLOBAL]:
            self._global.clear()
        self._granules, self._accesses = accesses.granules, accesses
        self._forgets_strips = not accesses.other_proxies and context.blocks_per_cluster == 1
        for shadow in self._global.values():
            shadow.forget(self._warp_mates)

    def batch_begin(self, first_block: int, blocks: int) -> None:
        self._first_block, self._batch = first_block, blocks
        self._shared = Shadow(blocks * self._window, self._granules[Space.SHARED], self._warp_mates)
        self._shared_values = None
        self._unstored.clear()
        self._uses = BarrierUses(self.context.threads_per_block)
        self._copies.clear()
        self._comparable.clear()
        self._raise_shared_horizon()

    def batch_end(self, first_block: int, blocks: int) -> None:
        self._clocks.batch_ends()

    def free(self, allocation: Allocation) -> None:
        self.drop(allocation.physical_address)

    def drop(self, physical_address: int) -> None:
        self._global.pop(physical_address, None)

    def fence(self, threads: Ints, instruction: Instruction) -> None:
        self._fences.fence(threads, instruction, self._clocks, self._now)
        self._clocks.fence(threads, instruction, self._accesses.order(instruction), self._now)

    def async_commit(self, threads: Ints, instruction: Instruction) -> None:
        """Count the groups of each thread: a wait says how many of the latest may be unfinished."""
        if not len(self._committed):
            self._committed = np.zeros(self.context.blocks * self.context.threads_per_block, np.int64)
        self._committed[threads] += 1

    def block_barrier(self, blocks: Ints, instruction: Instruction) -> None:
        self._clocks.block_barrier(blocks, self._now)
        self._uses.forget(blocks)
        self._raise_shared_horizon()

    def cluster_arrive(self, threads: Ints, instruction: Instruction) -> None:
        self._clocks.cluster_arrive(threads, instruction, self._now)

    def cluster_barrier(self, clusters: Ints, instruction: Instruction) -> None:
        self._clocks.cluster_barrier(clusters, self._now)

    def barrier_reached(self, threads: Ints, barrier: int, instruction: Instruction) -> None:
        """Threads that arrive at a barrier must be ordered after those that passed it before."""
        found = self._uses.too_early(threads, barrier, instruction, self._clocks)
        if found is not None:
            late, use = found
            self._report_reused(
                barrier,
                self.party(late, Action.BARRIER, instruction),
                self.party(int(use.threads[0]), Action.BARRIER, use.instruction, len(use.threads)),
            )

    def barrier_counts(self, waiters: Sequence[Waiter]) -> None:
        """Two groups use the barrier at once: they wait for different thread counts."""
        late, early = (
            self.party(int(w.threads[0]), Action.BARRIER, w.instruction, len(w.threads)) for w in waiters
        )
        self._report_reused(waiters[0].barrier, late, early)

    def _report_reused(self, barrier: int, late: Party, early: Party) -> None:
        kind = Kind.BARRIER_REUSED
        key = (kind, self.context.launch.function.name, str(late.position), str(early.position))
        finding = Finding(self.check, kind, Severity.ERROR, self.kernel(), (late, early), arrived=barrier)
        self.note(key, finding)

    def barrier_arrive(self, threads: Ints, barrier: int, instruction: Instruction) -> None:
        self._clocks.arrive(threads, np.full(len(threads), _barrier_address(barrier)), self._now)

    def named_barrier(self, passed: PartialBarrier) -> None:
        """Order the accesses of the waiting threads, and those of other threads before `bar.arrive`."""
        self._clocks.named_barrier(passed.threads, self._now)
        if len(passed.arrived):
            addresses = np.full(len(passed.threads), _barrier_address(passed.barrier))
            self._clocks.passed(passed.threads, addresses)
        self._uses.passed(passed, self._tick(passed.instruction, Action.BARRIER))

    def warp_sync(self, threads: Ints, masks: NDArray[np.uint32], instruction: Instruction) -> None:
        """Of the warp operations only `bar.warp.sync` orders memory (PTX ISA 9.7.13.4)."""
        if instruction.opcode == "bar":
            self._clocks.warp_sync(threads, masks, self._now)

    def mbarrier(self, operation: MBarrierOperation) -> None:
        threads, offsets = operation.threads, operation.offsets
        if operation.action in ("arrive", "arrive_drop", "complete"):
            self._clocks.arrive_at(threads, operation.blocks, offsets, self._now)
        elif operation.action == "passed":
            self._clocks.passed(threads, offsets)

    def mbarrier_phase(self, blocks: Ints, offsets: Ints) -> None:
        self._clocks.complete(blocks, offsets)

    def async_arrive(self, threads: Ints, blocks: Ints, offsets: Ints, instruction: Instruction) -> None:
        """The copies of these threads so far arrive at mbarriers: those that wait there find them complete.

        For others they are in progress, which `BulkCopyCheck` reports.
        """
        for barrier in set(zip(blocks.tolist(), offsets.tolist(), strict=True)):
            here = threads[(blocks == barrier[0]) & (offsets == barrier[1])]
            self._end_copies(functools.partial(_owned_by, here), barrier)

    def _end_copies(
        self,
        wanted: Callable[[_Copy, Ints], NDArray[np.bool_]],
        barrier: tuple[int, int] | None = None,
    ) -> None:
        """Copies, chosen by their owners, are ordinary accesses from now on.

        Args:
            barrier: the mbarrier where they arrive.
        """
        left: list[_Copy] = []
        for copy in self._copies:
            done = wanted(copy, copy.epochs & THREAD)
            if done.any():
                self._complete(copy.only(done), self._tick(copy.instruction, Action.ASYNC_COPY))
                if barrier is not None:
                    self._hand_over(copy.only(done), barrier)
            if not done.all():
                left.append(copy.only(~done))
        self._copies = left

    def _hand_over(self, copy: _Copy, barrier: tuple[int, int]) -> None:
        owners = np.unique(copy.epochs & THREAD)
        transfer = Transfer(int(owners[0]), copy.instruction, barrier)
        if copy.source is not None:
            size = copy.source[1]
            addresses = copy.base + copy.granules * size
            self._bulk_copies.arriving(transfer, AccessKind.LOAD, -1, addresses, size, owners)
            return
        size = self._shared.granule
        blocks, offsets = np.divmod(copy.granules * size, self._window)
        for block in np.unique(blocks).tolist():
            here = offsets[blocks == block]
            its_block = self._first_block + block
            self._bulk_copies.arriving(transfer, AccessKind.STORE, its_block, here, size, owners)

    def products_read(self, operands: Access) -> None:
        """A matrix product must be able to see what it reads: see `ProxyFences`."""
        self._tick(operands.instruction, Action.PRODUCT)
        for target in self._targets(operands, (self._now - 1) << CLOCK_SHIFT):
            self._look_for_fences(target)

    def async_wait(self, threads: Ints, pending: int | None, instruction: Instruction) -> None:
        """Copies that these threads waited for are complete: from here on they are ordinary accesses."""

        def waited_for(copy: _Copy, owners: Ints) -> NDArray[np.bool_]:
            done = np.isin(owners, threads)
            if pending is not None:
                done &= copy.groups < self._groups_of(owners) - pending
            return done

        self._end_copies(waited_for)

    def _complete(self, copy: _Copy, clock: int) -> None:
        granules, epochs = copy.granules, copy.epochs
        now = (epochs & THREAD) | clock << CLOCK_SHIFT
        if copy.source is None:
            own = self._shared.writer[granules] == epochs
            self._shared.writer[granules[own]] = now[own]
            self._shared.newest_write = max(self._shared.newest_write, (clock + 1) << CLOCK_SHIFT)
            return
        shadow, granule = copy.source
        times = granule // shadow.granule
        granules = (granules[:, None] * times + np.arange(times)).ravel()
        bounds = int(granules.min()), int(granules.max()) + 1
        horizon = self._clocks.launch << CLOCK_SHIFT
        shadow.record_read(granules, np.repeat(now, times), bounds, horizon)

    def _is_being_copied(self, shadow: Shadow) -> bool:
        """Whether an asynchronous copy in flight reads this memory."""
        return any(copy.source is not None and copy.source[0] is shadow for copy in self._copies)

    def _compare_sources(self, target: Target) -> None:
        """Report writes to what asynchronous copies in flight read."""
        for copy in self._copies:
            if copy.source is None or copy.source[0] is not target.shadow:
                continue
            granules = target.granules(np.arange(len(target.epochs)))
            order = np.argsort(copy.granules, kind="stable")
            sources = copy.granules[order]
            wanted = granules // (copy.source[1] // target.shadow.granule)
            at = np.minimum(np.searchsorted(sources, wanted), len(sources) - 1)
            lanes = np.flatnonzero(sources[at] == wanted)
            self._report(target, copy.epochs[order][at], lanes, Kind.SOURCE_IN_FLIGHT)

    def _groups_of(self, threads: Ints) -> Ints:
        """The number of copy groups that each of these threads has committed."""
        return self._committed[threads] if len(self._committed) else np.zeros(len(threads), np.int64)

    # One access

    def access(self, access: Access) -> None:
        """Compare an access with the shadow, then record it there."""
        access = survivors(access)
        if access.space is Space.LOCAL or not len(access.threads):
            return
        strong = access.kind is AccessKind.ATOMIC or access.instruction.is_strong
        clock = self._tick(access.instruction, action_of(access), access.value)
        if access.rows is not None and not strong and self._take_strip(access, access.rows, clock):
            return
        if access.asynchronous and access.kind is AccessKind.STORE:
            clock += IN_FLIGHT
        if strong and _takes_lock(access.instruction):
            self._note_lock(access)
        if strong and self._accesses.synchronise and access.space in self._accesses.acquiring:
            self._synchronise(access)
        for target in self._targets(access, clock << CLOCK_SHIFT | (STRONG if strong else 0)):
            known, same_value = self._compare(target, strong)
            if access.instruction.is_non_coherent:
                self._look_for_writes(target)
            if self._copies and target.allocation is not None and access.kind is not AccessKind.LOAD:
                self._compare_sources(target)
            if access.transfer is not None and access.kind is not AccessKind.STORE:
                self._look_for_fences(target)
            self._record(target, known, same_value)

    def _note_lock(self, access: Access) -> None:
        """Remember by thread where it has tried to take a lock that orders nothing."""
        if not len(self._locks):
            self._locks = np.zeros(self.context.blocks * self.context.threads_per_block, np.int64)
        self._locks[access.threads] = access.addresses + 1  # 0: none

    def _have_one_lock(self, later: int, earlier: int) -> bool:
        """Whether two threads have used the same lock, which would order them if it acquired and released."""
        if not len(self._locks):
            return False
        return bool(self._locks[later] and self._locks[later] == self._locks[earlier])

    def _synchronise(self, access: Access) -> None:
        """A strong access may release, acquire, or both, at its address.

        Only a thread that uses the value it reads acquires: one that adds to a counter and ignores the
        result has not waited for anything. A release includes this access: a thread that reads the flag is
        ordered after its store.
        """
        acquires = self._accesses.acquires(access.instruction)
        releases = access.kind is not AccessKind.LOAD
        order = self._accesses.order(access.instruction)
        addresses = access.addresses
        if access.space is Space.GLOBAL:
            addresses = self.context.memory.physical_addresses(addresses)
        shared = access.space is Space.SHARED
        self._clocks.synchronise(
            access.threads,
            addresses,
            self._now,
            shared=shared,
            acquires=acquires,
            releases=releases,
            order=order,
        )

    @property
    def _window(self) -> int:
        """Bytes between the shared windows of two blocks in the shadow."""
        return self.context.shared_bytes + -self.context.shared_bytes % 16

    @property
    def _warp_mates(self) -> int:
        """The most threads with neighbouring numbers that are always of one warp."""
        return math.gcd(self.context.threads_per_block, self.context.warp_size)

    def _tick(self, instruction: Instruction, action: Action, value: LoadedValue | None = None) -> int:
        self._log.append(_Logged(instruction, action, value))
        self._now += 1
        return self._now - 1

    def _targets(self, access: Access, clock_part: int) -> Iterator[Target]:
        """The granules to compare; `clock_part` is common to the epochs of the access."""
        if access.space is Space.SHARED:
            self._compare_later(access)
            if access.bytes < self._shared.granule:
                self._divide_shared(access.bytes)
            rows = None if access.asynchronous else access.rows  # copies are tracked granule by granule
            if rows is not None:
                yield row_target(access, rows, self._shared, self._window, clock_part)
                return
            size = self.context.threads_per_block
            blocks = access.threads // size if access.blocks is None else access.blocks
            offsets = access.addresses + (blocks - self._first_block) * self._window
            yield sparse_target(access, self._shared, offsets, clock_part=clock_part, allocation=None)
            return
        writes = access.kind is not AccessKind.LOAD
        for piece in self._footprints.of(access, self.context.memory).pieces:
            allocation, piece_access = piece.allocation, piece.access
            if allocation.of_runtime:
                continue
            if not writes and self._written is not None and allocation.serial not in self._written:
                continue
            if access.value is not None:
                access.value.comparable = True
            shadow = self._global.get(allocation.physical_address)
            if shadow is None:
                granule = self._granules[Space.GLOBAL]
                shadow = self._global[allocation.physical_address] = Shadow(
                    allocation.size, granule, self._warp_mates
                )
            if piece_access.bytes < shadow.granule:
                shadow.divide(piece_access.bytes)
            if piece_access.contiguous:
                single = (
                    access.asynchronous
                    or (writes and self._is_being_copied(shadow))
                    or (access.instruction.is_non_coherent and shadow.was_written(0, shadow.count))
                )
                strip = None if single else dense_strip(piece_access, shadow, piece.low, clock_part)
                if strip is not None and shadow.take(strip, writes=writes):
                    continue
                yield dense_target(
                    piece_access, shadow, piece.low, piece.high, clock_part=clock_part, allocation=allocation
                )
                continue
            if (
                piece_access.uniform
                and piece_access.kind is AccessKind.LOAD
                and not shadow.was_written(0, shadow.count)
            ):
                # All lanes read one address that is never written: one reader per warp is enough.
                warps = piece_access.threads // self.context.warp_size
                first = np.flatnonzero(np.diff(warps, prepend=-1))
                piece_access = lanes_of(piece_access, np.unique(np.append(first, len(warps) - 1)))
            yield sparse_target(
                piece_access,
                shadow,
                piece_access.addresses - allocation.base,
                clock_part=clock_part,
                allocation=allocation,
            )

    def _take_strip(self, access: Access, rows: Rows, clock: int) -> bool:
        """Record an ordinary access to rows of shared memory as a strip, if it certainly does not race.

        Strips of before the last barrier are forgotten, which is right if no copy by another proxy needs the
        last writer of its granules, and if other blocks do not access them.
        """
        shadow = self._shared
        if not self._forgets_strips or access.asynchronous or access.transfer is not None:
            return False
        if access.bytes < shadow.granule or rows.thread is None:
            return False
        threads, clock_part = self.context.threads_per_block, clock << CLOCK_SHIFT
        first = self._first_block * threads + rows.thread
        strip = row_strip(rows, shadow.granule, access.bytes, first, clock_part, threads, self._window)
        shadow.forget_ordered(self._shared_horizon)
        writes = access.kind is not AccessKind.LOAD
        if not shadow.take(strip, writes=writes):
            return False
        self._compare_later(access)
        if writes:
            if len(self._unstored) == MAX_UNSTORED:
                self._store_values()
            self._unstored.append((clock_part, access))
        return True

    def _compare_later(self, access: Access) -> None:
        """Accesses of shared memory until the next barrier are compared with this one."""
        if access.value is not None:
            access.value.comparable = True
            self._comparable.append((self._now - 1, access.value))

    def _store_values(self) -> None:
        """Store the values of the strips of writes in the shadow: what a later write may store as well."""
        for clock_part, access in self._unstored:
            if access.rows is not None and access.values is not None and clock_part >= self._shared_horizon:
                target = row_target(access, access.rows, self._shared, self._window, 0)
                self._set_values(target)
        self._unstored.clear()

    def _set_values(self, target: Target) -> None:
        """The values of shared memory after a write."""
        if self._shared_values is None:
            self._shared_values = np.zeros(target.shadow.count, dtype=np.uint64)
        scatter(self._shared_values, target.where, target.values())

    def _divide_shared(self, granule: int) -> None:
        """Divide the granules of shared memory: some GPUs load from any address, byte by byte."""
        self._store_values()
        before = self._shared.granule
        self._shared.divide(granule)
        if self._shared_values is not None:
            bits = 8 * granule * np.arange(before // granule, dtype=np.uint64)
            smaller = self._shared_values[:, None] >> bits & np.uint64((1 << 8 * granule) - 1)
            self._shared_values = smaller.ravel()

    def _compare(self, target: Target, strong: bool) -> tuple[Epochs | None, NDArray[np.int64]]:
        """Compare an access with the writers of its granules, and if it writes, with their readers.

        Returns:
            (n,) the epochs of the last writers, None if nothing was written since `_horizon`; and positions
            of those that stored, unordered with this access, the value that it stores.
        """
        shadow, where, horizon = target.shadow, target.where, self._horizon(target)
        writes = target.access.kind is not AccessKind.LOAD
        known, same_value = None, _NONE
        shadow.flush_writes()
        if shadow.newest_write >= horizon and shadow.was_written(target.low, target.high):
            kind = Kind.WRITE_AFTER_WRITE if writes else Kind.READ_AFTER_WRITE
            known = gather(shadow.writer, where)
            reported, same_value = self._compare_keys(target, known, kind, strong)
            if not strong or self._has_scopes(target):
                self._compare_further_writers(target, kind, reported, strong=strong, among_strong=True)
            if writes:
                self._compare_further_writers(target, kind, reported, strong=strong, among_strong=False)
        if writes and shadow.was_read(target.low, target.high):
            shadow.flush_reads(horizon)
            if shadow.newest_read >= horizon:
                reader, earlier = gather(shadow.reader, where), gather(shadow.earlier, where)
                self._compare_keys(target, reader, Kind.WRITE_AFTER_READ, strong)
                self._compare_keys(
                    target, np.where(earlier == reader, 0, earlier), Kind.WRITE_AFTER_READ, strong
                )
                positions, further = shadow.further_readers(where, horizon)
                if len(positions):
                    self._compare_keys(target.at(positions), further, Kind.WRITE_AFTER_READ, strong)
        return known, same_value

    def _compare_further_writers(
        self, target: Target, kind: Kind, reported: NDArray[np.int64], *, strong: bool, among_strong: bool
    ) -> None:
        """Compare an access with the writers before the last one, where no race with that was reported.

        Args:
            reported: positions of the races with the last writers.
            among_strong: compare with those that wrote by strong accesses, and not with the others.
        """
        shadow, horizon = target.shadow, self._horizon(target)
        if not shadow.has_further_writers(horizon, strong=among_strong):
            return
        left = np.ones(len(target.epochs), np.bool_)
        left[reported] = False
        if not among_strong:  # these all stored what the granule contains now
            left &= self._changes_value(target, np.arange(len(left)))
        rest = target.at(np.flatnonzero(left))
        positions, further = shadow.further_writers(rest.where, horizon, strong=among_strong)
        if len(positions):
            self._compare_keys(rest.at(positions), further, kind, strong)

    def _horizon(self, target: Target) -> int:
        """A key below which every access is ordered before every later access."""
        return self._shared_horizon if target.allocation is None else self._clocks.launch << CLOCK_SHIFT

    def _raise_shared_horizon(self) -> None:
        """Shared memory is accessed by its own block only, unless there are clusters."""
        horizon = self._clocks.launch
        if self.context.blocks_per_cluster == 1:
            horizon = self._clocks.oldest_block_barrier(self._first_block, self._batch)
        self._shared_horizon = horizon << CLOCK_SHIFT
        if self._unstored and self._unstored[-1][0] < self._shared_horizon:
            self._unstored.clear()
        while self._comparable and self._comparable[0][0] < horizon:
            self._comparable.popleft()[1].settle()

    def _record(self, target: Target, known: Epochs | None, same_value: NDArray[np.int64]) -> None:
        """Record an access; see `_compare` for `known` and `same_value`."""
        access, shadow = target.access, target.shadow
        if access.kind is AccessKind.LOAD:
            if access.instruction.opcode == "wgmma":  # `BulkCopyCheck` knows when its operands may change
                return
            shadow.record_read(target.where, target.epochs, (target.low, target.high), self._horizon(target))
            if access.asynchronous and target.allocation is not None:
                self._begin_copy(target, (shadow, shadow.granule))
            return
        keeps = known is not None and (len(same_value) > 0 or bool(target.epochs[0] & STRONG))
        if known is not None and keeps and known.base is not None:
            known = known.copy()  # a view of what is about to be overwritten
        displaced = shadow.record_write(target.where, target.epochs, (target.low, target.high))
        if known is not None and keeps:
            self._keep_displaced(target, known, same_value, displaced)
        if len(displaced):
            if access.kind is AccessKind.STORE:
                displaced = self._compare_within(target, displaced)
            elif self._has_scopes(target):
                winners = gather(shadow.writer, target.where)
                excluded = self._out_of_scope(target, winners)[displaced]
                self._report(target, winners, displaced[excluded], Kind.NARROW_SCOPE)
            shadow.keep_writers(target.where, target.epochs, displaced)
        if access.space is Space.SHARED and access.values is not None:
            self._store_values()
            self._set_values(target)
        if access.asynchronous and not isinstance(target.where, slice | Panel):
            self._begin_copy(target, None)

    def _begin_copy(self, target: Target, source: tuple[Shadow, int] | None) -> None:
        granules = target.granules(np.arange(len(target.epochs)))
        groups = self._groups_of(target.epochs & THREAD)
        base = 0 if target.allocation is None else target.allocation.physical_address
        self._copies.append(_Copy(target.access.instruction, granules, target.epochs, groups, source, base))

    def _compare_keys(
        self, target: Target, known: Epochs, kind: Kind, strong: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Compare an access with the epochs in its granules; report the pairs that are not ordered.

        Returns:
            positions that were reported; and those that are not ordered, but store the same value.
        """
        horizon = self._horizon(target)
        newest = int(known.max())
        if newest < horizon:
            return _NONE, _NONE
        clash = (known >= horizon) & ((known ^ target.epochs) & THREAD != 0)
        flying = same_value = excluded = _NONE
        if newest >= IN_FLIGHT << CLOCK_SHIFT:
            in_flight = known >= IN_FLIGHT << CLOCK_SHIFT
            own = (known ^ target.epochs) & THREAD == 0
            flying = np.flatnonzero(in_flight & ~own if target.access.asynchronous else in_flight)
            clash &= ~in_flight
        scoped = strong and self._has_scopes(target)
        if strong:
            weak = known & STRONG == 0
            clash &= weak | self._out_of_scope(target, known) if scoped else weak
        lanes = np.flatnonzero(clash)
        if len(lanes):
            mine, others = target.epochs[lanes] & THREAD, known[lanes] & THREAD
            unordered = self._clocks.unordered(others, clocks_of(known[lanes]), mine)
            if self.context.lockstep:  # a warp performs its accesses in the order of its instructions
                unordered &= self._warp(others) != self._warp(mine)
            lanes = lanes[unordered]
        if len(lanes) and scoped:
            both = known[lanes] & STRONG != 0
            excluded, lanes = lanes[both], lanes[~both]
            self._report(target, known, excluded, Kind.NARROW_SCOPE)
        if len(lanes) and kind is Kind.WRITE_AFTER_WRITE:
            changes = self._changes_value(target, lanes) | (known[lanes] & STRONG != 0)
            same_value, lanes = lanes[~changes], lanes[changes]
        self._report(target, known, lanes, kind)
        self._report(target, known, flying, Kind.COPY_IN_FLIGHT)
        return np.concatenate([excluded, lanes, flying]) if len(flying) or len(
            excluded
        ) else lanes, same_value

    def _has_scopes(self, target: Target) -> bool:
        """Whether the scope of some strong access to this memory excludes threads of the launch."""
        return target.access.space in self._accesses.narrow

    def _out_of_scope(self, target: Target, known: Epochs) -> NDArray[np.bool_]:
        """(n,) of which epochs, if this access is strong, either excludes the other thread by its scope.

        Only two operations whose scopes include both threads are morally strong (PTX ISA 8.7.1).
        """
        result = np.zeros(len(known), np.bool_)
        clocks = clocks_of(known)
        mine, others = (
            (epochs & THREAD) // self.context.threads_per_block for epochs in (target.epochs, known)
        )
        lanes = np.flatnonzero((known & STRONG != 0) & (clocks >= self._log_start) & (mine != others))
        if len(lanes):
            scope_of = self._accesses.scope
            indices, which = np.unique(clocks[lanes] - self._log_start, return_inverse=True)
            scopes = np.array([scope_of(self._log[index].instruction) for index in indices.tolist()])
            scope = np.minimum(scopes[which], scope_of(target.access.instruction))
            launch = self.context.launch
            other_cluster = clusters_of(launch, mine[lanes]) != clusters_of(launch, others[lanes])
            result[lanes] = (scope == Scope.BLOCK) | ((scope == Scope.CLUSTER) & other_cluster)
        return result

    def _keep_displaced(
        self, target: Target, known: Epochs, same_value: NDArray[np.int64], displaced: NDArray[np.int64]
    ) -> None:
        """Keep the writers that an access has displaced as the last ones, without a race, but unordered.

        Args:
            known: (n,) their epochs; same_value: positions at which they stored the same value.
            displaced: positions at which another lane of the access is now the last writer.
        """
        kept = same_value
        if target.epochs[0] & STRONG:
            other = (known ^ target.epochs) & THREAD != 0
            was_strong = known & STRONG != 0
            unordered = (known >= self._horizon(target)) & (known < IN_FLIGHT << CLOCK_SHIFT)
            unordered &= other == was_strong
            unordered[displaced] &= ~was_strong[displaced]  # once for each granule
            kept = np.flatnonzero(unordered)
        target.shadow.keep_writers(target.where, known, kept)

    def _warp(self, threads: Epochs) -> Epochs:
        """A number of each thread's warp, different for warps of different blocks."""
        size = self.context.threads_per_block
        return threads // size * size + threads % size // self.context.warp_size

    def _compare_within(self, target: Target, displaced: NDArray[np.int64]) -> NDArray[np.int64]:
        """Lanes of one instruction that wrote the same granule: a race unless they wrote the same value.

        Returns:
            those of `displaced` that wrote the same value as the lane that is now the last writer.
        """
        known = gather(target.shadow.writer, target.where)
        same_value = _NONE
        if target.access.values is not None:
            values = target.values()
            order = np.argsort(target.epochs, kind="stable")
            winner = order[np.searchsorted(target.epochs[order], known[displaced])]
            # A thread's key covers all granules of its vector: move to the granule in question.
            winner = winner + target.granules(displaced) - target.granules(winner)
            changes = values[winner] != values[displaced]
            same_value, displaced = displaced[~changes], displaced[changes]
        self._report(target, known, displaced, Kind.SAME_INSTRUCTION)
        return same_value

    def _look_for_writes(self, target: Target) -> None:
        """Report a load through the read-only path of what this launch has written, by whichever thread."""
        shadow = target.shadow
        if not shadow.was_written(target.low, target.high):
            return
        shadow.flush_writes()
        known = gather(shadow.writer, target.where)
        written = known >= self._clocks.launch << CLOCK_SHIFT
        self._report(target, known, np.flatnonzero(written), Kind.READ_ONLY_PATH)

    def _look_for_fences(self, target: Target) -> None:
        """Report ordinary stores that are ordered before a bulk copy but not visible to it."""
        known = gather(target.shadow.writer, target.where)
        clocks = clocks_of(known)
        lanes = np.flatnonzero(clocks >= self._log_start)
        if not len(lanes):
            return
        generic = [
            clock
            for clock in np.unique(clocks[lanes]).tolist()
            if "bulk" not in self._log[clock - self._log_start].instruction.modifiers
        ]
        lanes = lanes[np.isin(clocks[lanes], generic)]
        writers, copiers = known[lanes] & THREAD, target.epochs[lanes] & THREAD
        if len(lanes):
            late = self._fences.lacking(target.access.space, writers, clocks[lanes], copiers)
            late &= ~self._clocks.unordered(writers, clocks[lanes], copiers)
            self._report(target, known, lanes[late], Kind.PROXY_FENCE_MISSING)

    def _changes_value(self, target: Target, lanes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(n,) lanes that store another value than the last writer did."""
        access = target.access
        if access.values is None or access.kind is AccessKind.ATOMIC:
            return np.ones(len(lanes), dtype=np.bool_)
        new = target.values()[lanes]
        granule = target.shadow.granule
        granules = target.granules(lanes)
        if target.allocation is None:
            self._store_values()
            if self._shared_values is None:
                return np.ones(len(lanes), dtype=np.bool_)
            return np.asarray(self._shared_values[granules] != new)
        memory = self.context.memory
        whole = memory.bytes[: len(memory.bytes) // granule * granule].view(f"u{granule}")
        old = whole[(target.allocation.base - memory.base) // granule + granules]
        return np.asarray(old != new)

    def _report(self, target: Target, known: Epochs, lanes: NDArray[np.int64], kind: Kind) -> None:
        """Report clashes, one finding for each pair of instructions.

        A clash with a load counts when the lane that loads uses the value (`LoadedValue`).
        """
        if not len(lanes):
            return
        all_clocks = clocks_of(known[lanes])
        access = target.access
        for clock in np.unique(all_clocks).tolist():
            here = lanes[all_clocks == clock]
            logged = self._log[clock - self._log_start]
            key: Hashable = (
                kind,
                self.context.launch.function.name,
                access.instruction.code_line,
                logged.instruction.code_line,
            )
            if self._bulk_copies.has_reported(access.instruction, logged.instruction):
                continue
            later, earlier = target.epochs[here] & THREAD, known[here] & THREAD
            clash = _Clash(target, logged, kind, key, here, later, earlier)
            if access.value is not None:
                self._report_if_used(clash, access.value, later, later)
            elif logged.value is not None:
                self._report_if_used(clash, logged.value, *self._readers_meant(clash, logged.value, clock))
            else:
                self._note_clash(clash, 0, int(earlier[0]), len(here))

    def _readers_meant(self, clash: _Clash, value: LoadedValue, clock: int) -> tuple[Ints, Ints]:
        """The threads that have loaded a value, besides those that stand for their warps in the shadow, and
        of each the thread that overwrites what it has loaded."""
        readers, writers = [], []
        for later, earlier in sorted(set(zip(clash.later.tolist(), clash.earlier.tolist(), strict=True))):
            warp_mates = value.at_same_address(earlier, self._warp_mates)
            clocks, writer = np.full(len(warp_mates), clock), np.full(len(warp_mates), later)
            unordered = warp_mates[self._clocks.unordered(warp_mates, clocks, writer)]
            readers.append(unordered)
            writers.append(np.full(len(unordered), later))
        return np.concatenate(readers), np.concatenate(writers)

    def _report_if_used(self, clash: _Clash, value: LoadedValue, readers: Ints, later: Ints) -> None:
        """Report a clash when one of some threads uses the value that it has loaded.

        Args:
            later: (n,) the thread of the later access, for each of the readers.
        """

        def report(positions: Ints) -> None:
            used = value.threads[positions]
            found = np.flatnonzero(np.isin(readers, used))
            if not len(found):  # by a later execution of the same two instructions
                found = np.zeros(1, np.int64)
            lane = int(np.argmax(clash.later == later[found[0]]))
            earlier = int(clash.earlier[lane]) if later is readers else int(readers[found[0]])
            self._note_clash(clash, lane, earlier, len(used))

        if len(readers):
            value.when_used((self.check, clash.key), readers, report)

    def _note_clash(self, clash: _Clash, lane: int, earlier: int, count: int) -> None:
        """Record a finding; `lane` is an index into the clash's lanes."""
        if self.again(clash.key, count):
            return
        target, logged = clash.target, clash.logged
        access, later = target.access, int(clash.later[lane])
        finding = Finding(
            self.check,
            clash.kind,
            Severity.ERROR,
            self.kernel(),
            (
                self.party(later, action_of(access), access.instruction),
                self.party(earlier, logged.action, logged.instruction),
            ),
            self._buffer(target),
            offset=self._offset(target, int(clash.lanes[lane])),
            size=access.bytes,
            count=count,
            one_cluster=self.context.launch.one_cluster(later, earlier),
            unordered_lock=self._have_one_lock(later, earlier) or UNSET,
        )
        self.note(clash.key, finding)

    def _buffer(self, target: Target) -> Buffer:
        element = target.access.element_bytes
        return (
            self.window(Space.SHARED, element)
            if target.allocation is None
            else self.buffer(target.allocation, element)
        )

    def _offset(self, target: Target, lane: int) -> int:
        offset = int(target.granules(np.array([lane]))[0]) * target.shadow.granule
        return offset % self._window if target.allocation is None else offset
