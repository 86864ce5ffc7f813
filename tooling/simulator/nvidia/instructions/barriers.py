"""Barriers of blocks, clusters and warps (PTX ISA 9.7.13.1 to 9.7.13.4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Instruction, Integer, Negated, Operand
from tooling.simulator.gpu.faults import wrong_barrier
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.stop_texts import (
    DIFFERENT_BARRIERS,
    NO_BARRIER,
    NO_THREADS,
    NO_WHOLE_WARPS,
    NOT_OF_A_BARRIER,
)
from tooling.simulator.numerics.rounding import PRED, U32, U64
from tooling.simulator.nvidia.device import WARP_SIZE
from tooling.simulator.nvidia.lowering.binders import binds, write
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.nvidia.lowering.predicates import end_guarded
from tooling.simulator.program.barrier_contract import Vote
from tooling.simulator.program.block_barriers import COMBINES, Parked
from tooling.simulator.program.program import Batch, WarpOperation
from tooling.text import Text

BARRIERS = 16
"""Barriers of a block, numbered from 0."""


@binds("bar", "barrier", alone=True)
def _barrier(decoder: Decoder, instruction: Instruction, following: int) -> None:
    """`bar.sync`, `bar.arrive` and `bar.red.{popc, and, or}` (PTX ISA 9.7.13.1).

    Number and count may be in registers, with another value in each warp.
    """
    modifiers = tuple(m for m in instruction.modifiers if m not in ("cta", "aligned"))
    if modifiers[:1] == ("warp",):
        _warp_barrier(decoder, instruction, following)
        return
    if modifiers[:1] == ("cluster",):
        _cluster_barrier(decoder, instruction, following, modifiers[1:])
        return
    operands: list[Operand] = list(instruction.operands)
    vote: Vote | None = None
    if modifiers[:1] == ("red",):
        vote, operands = _vote(decoder, instruction, modifiers[1:])
    if not 1 <= len(operands) <= 2 or (modifiers == ("arrive",) and len(operands) == 1):
        raise decoder.unknown(instruction, NOT_OF_A_BARRIER)
    _refuse_constants(decoder, instruction, operands)
    number = decoder.value(operands[0], U32, instruction)
    expected = decoder.value(operands[1], U32, instruction) if len(operands) > 1 else None
    arrive_only = modifiers == ("arrive",)

    def wait_together(group: Group, batch: Batch, barrier: int, threads: int | None) -> bool:
        why = _refusal(barrier, threads, arrive_only=arrive_only)
        if why is not None:
            first = int(group.pick(batch.spaces.threads)[0])
            raise wrong_barrier(batch.context.launch, instruction, first, why)
        count = threads or None  # 0 stands for all threads of the block
        group.pc = following
        subgroups = batch.barriers.generations(group, barrier, count)
        if len(subgroups) == 1:
            return arrive(group, batch, barrier, count)
        for subgroup in subgroups:
            if arrive(subgroup, batch, barrier, count):
                batch.resume(subgroup)
        return False

    def arrive(group: Group, batch: Batch, barrier: int, count: int | None) -> bool:
        if vote is not None:
            batch.barriers.cast(group, barrier, vote)
        passed = batch.barriers.arrive(group, barrier, count, instruction, stay=not arrive_only)
        if passed and vote is not None:
            batch.barriers.count(group, barrier, vote)
        return passed

    def wait(group: Group, batch: Batch) -> bool:
        numbers = group.get(number).view(U32)
        threads = None if expected is None else group.get(expected).view(U32)
        if len(numbers) == 1 and (threads is None or len(threads) == 1):
            return wait_together(group, batch, int(numbers[0]), None if threads is None else int(threads[0]))
        keys = np.broadcast_to(numbers.astype(U64) << np.uint64(32), group.count)
        if threads is not None:
            keys = keys | threads
        _require_uniform_warps(group, batch, keys, instruction)
        for subgroup, key in _by_key(group, batch, keys):
            if wait_together(subgroup, batch, key >> 32, None if threads is None else key & 0xFFFFFFFF):
                batch.resume(subgroup)
        return False

    decoder.block.successors.append(following)
    end_guarded(decoder, instruction, following, wait)


def _refusal(barrier: int, threads: int | None, *, arrive_only: bool) -> Text | None:
    """Why a barrier of this number cannot wait for this number of threads; None if it can.

    A block has 16 barriers (PTX ISA 9.7.13.1). An H100 takes a larger number from a register, with an effect
    that nothing specifies, and the assembler refuses it as a constant: here it always stops the kernel.
    """
    if not 0 <= barrier < BARRIERS:
        return NO_BARRIER.of(number=barrier, last=BARRIERS - 1)
    if threads is None:
        return None
    if threads % WARP_SIZE or threads < 0:
        return NO_WHOLE_WARPS.of(threads=threads, size=WARP_SIZE)
    return NO_THREADS if arrive_only and threads == 0 else None


def _refuse_constants(decoder: Decoder, instruction: Instruction, operands: list[Operand]) -> None:
    """Check constant operands of a barrier when the kernel is loaded, as the assembler does.

    Raises:
        PtxError: a barrier that a block does not have, or a wrong number of threads.
    """
    number, *threads = (operand.value if isinstance(operand, Integer) else None for operand in operands)
    arrive_only = "arrive" in instruction.modifiers
    why = _refusal(number or 0, threads[0] if threads else None, arrive_only=arrive_only)
    if why is not None:
        raise decoder.unknown(instruction, why)


def _by_key(group: Group, batch: Batch, keys: NDArray[np.uint64]) -> list[tuple[Group, int]]:
    """The group divided into the lanes of each key, which remain at their instruction."""
    subgroups = []
    for key in np.unique(keys)[:-1]:
        chosen = keys == key
        subgroup, group = batch.divide(group, chosen, group.pc, group.pc)
        subgroups.append((subgroup, int(key)))
        keys = keys[~chosen]
    return [*subgroups, (group, int(keys[0]))]


def _require_uniform_warps(
    group: Group, batch: Batch, keys: NDArray[np.uint64], instruction: Instruction
) -> None:
    """Stop the kernel if lanes of a warp name different barriers or numbers of threads, as an H200 does.

    Args:
        keys: per lane of the group, the number of the barrier and, in the low 32 bits, that of the threads.
    """
    warp = group.pick(batch.warps.warp_of_lane)
    different = (warp[1:] == warp[:-1]) & (keys[1:] != keys[:-1])
    if different.any():
        thread = int(group.pick(batch.spaces.threads)[1 + int(np.argmax(different))])
        raise wrong_barrier(batch.context.launch, instruction, thread, DIFFERENT_BARRIERS)


def _vote(
    decoder: Decoder, instruction: Instruction, modifiers: tuple[str, ...]
) -> tuple[Vote, list[Operand]]:
    """The vote of `bar.red d, a {, b}, {!}c`, and the operands that name the barrier: a and b."""
    destination, *middle, voted = instruction.operands
    inner = voted.operand if isinstance(voted, Negated) else voted
    predicate = decoder.value(inner, PRED, instruction)
    target = write(decoder, destination, instruction, COMBINES[modifiers[0]][1])
    return Vote(predicate, isinstance(voted, Negated), modifiers[0], target), middle


def _warp_barrier(decoder: Decoder, instruction: Instruction, following: int) -> None:
    """`bar.warp.sync membermask`: lanes may wait at different instructions (PTX ISA 9.7.13.3)."""
    (members,) = instruction.operands
    mask = decoder.value(members, U32, instruction)
    operation = WarpOperation(instruction, following, (mask,), (), lambda _group, _batch, _operands: ())

    def wait(group: Group, batch: Batch) -> bool:
        ready = batch.gather_warps(group, mask, instruction, operation)
        if ready is not None:
            ready.pc = following
            batch.resume(ready)
        return False

    decoder.block.gathers = True
    decoder.block.successors.append(following)
    end_guarded(decoder, instruction, following, wait)


def _cluster_barrier(
    decoder: Decoder, instruction: Instruction, following: int, modifiers: tuple[str, ...]
) -> None:
    if instruction.operands:
        raise decoder.unknown(instruction)
    arriving = "arrive" in modifiers

    def wait(group: Group, batch: Batch) -> bool:
        group.pc = following
        if arriving:
            batch.cluster_barriers.arrive(group, instruction)
            return True
        for hook in batch.hooks.cluster_wait:
            hook.cluster_wait(group.pick(batch.spaces.threads), instruction)
        return batch.cluster_barriers.wait(group, instruction)

    decoder.block.successors.append(following)
    end_guarded(decoder, instruction, following, wait)


class ClusterBarriers:
    """The barrier of every cluster in a batch, with separate arrive and wait (PTX ISA 9.7.13.4)."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.parked: list[Parked] = []
        self.clusters = batch.spaces.clusters
        self.arrived = np.zeros(self.clusters.count, np.int64)
        self.phase = np.zeros(self.clusters.count, np.int64)
        self.unannounced = np.zeros(self.clusters.count, np.bool_)
        self.lane_phase = np.zeros(batch.size, np.int64)
        self.cluster_of_lane = self.clusters.of_block[batch.spaces.block_of_lane]

    def arrive(self, group: Group, instruction: Instruction) -> None:
        """Lanes arrive for the phase that their next wait belongs to."""
        self.batch.sync_count += 1
        for hook in self.batch.hooks.cluster_arrive:
            hook.cluster_arrive(group.pick(self.batch.spaces.threads), instruction)
        clusters = group.pick(self.cluster_of_lane)
        lanes = group.indices(self.batch.size)
        self.lane_phase[lanes] = self.phase[clusters]
        self.arrived += np.bincount(clusters, minlength=self.clusters.count)
        self._complete()

    def _complete(self) -> None:
        alive = self.batch.alive[self.clusters.members].sum(axis=1)
        done = (self.arrived > 0) & (self.arrived >= alive)
        if not done.any():
            return
        self.phase[done] += 1
        self.arrived[done] = 0
        self.unannounced |= done
        waiting, self.parked = self.parked, []
        for parked in waiting:
            if self.wait(parked.group, parked.instruction):
                self.batch.resume(parked.group)

    def wait(self, group: Group, instruction: Instruction) -> bool:
        """Whether the phase that the lanes arrived for is over; lanes for which it is not are parked."""
        lanes = group.indices(self.batch.size)
        over = self.phase[self.cluster_of_lane[lanes]] > self.lane_phase[lanes]
        self._announce(self.cluster_of_lane[lanes[over]], instruction)
        if over.all():
            return True
        if over.any():
            go, stay = self.batch.divide(group, over, group.pc, group.pc)
            self.batch.resume(go)
            self.parked.append(Parked(stay, 0, instruction))
        else:
            self.parked.append(Parked(group, 0, instruction))
        return False

    def _announce(self, clusters: NDArray[np.intp], instruction: Instruction) -> None:
        """Notify hooks that the clusters' barriers are complete: once, at the first wait that passes."""
        passed = np.zeros(self.clusters.count, np.bool_)
        passed[clusters] = True
        passed &= self.unannounced
        if passed.any():
            self.unannounced &= ~passed
            for hook in self.batch.hooks.cluster_barrier:
                hook.cluster_barrier(self.clusters.numbers[passed], instruction)

    def after_exit(self) -> None:
        """Exited threads count as arrived."""
        if self.parked:
            self._complete()
