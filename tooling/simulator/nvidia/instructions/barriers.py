"""Barriers of blocks, clusters and warps (PTX ISA 9.7.13.1 to 9.7.13.4)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Instruction, Negated, Operand
from tooling.simulator.gpu.hooks import PartialBarrier, Waiter, WaitsFor
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.stop_texts import NOT_OF_A_BARRIER
from tooling.simulator.numerics.rounding import PRED, U32
from tooling.simulator.nvidia.lowering.binders import assign, binds, write
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.nvidia.lowering.predicates import end_guarded
from tooling.simulator.program.barrier_contract import Vote
from tooling.simulator.program.program import Batch

_COMBINES = {"popc": ("u32", U32), "and": ("pred", PRED), "or": ("pred", PRED)}
"""The reductions of `bar.red`, with the type of the result."""


@binds("bar", "barrier", alone=True)
def _barrier(decoder: Decoder, instruction: Instruction, following: int) -> None:
    """`bar.sync`, `bar.arrive` and `bar.red.{popc, and, or}` (PTX ISA 9.7.13.1)."""
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
    elif modifiers not in (("sync",), ("arrive",)):
        raise decoder.unknown(instruction)
    if not 1 <= len(operands) <= 2 or (modifiers == ("arrive",) and len(operands) == 1):
        raise decoder.unknown(instruction, NOT_OF_A_BARRIER)
    number = decoder.value(operands[0], U32, instruction)
    expected = decoder.value(operands[1], U32, instruction) if len(operands) > 1 else None
    arrive_only = modifiers == ("arrive",)

    def wait(group: Group, batch: Batch) -> bool:
        barrier = int(group.get(number).view(U32)[0])
        count = None if expected is None else int(group.get(expected).view(U32)[0])
        if vote is not None:
            batch.barriers.cast(group, barrier, vote)
        group.pc = following
        passed = batch.barriers.arrive(group, barrier, count, instruction, stay=not arrive_only)
        if passed and vote is not None:
            batch.barriers.count(group, barrier, vote)
        return passed

    decoder.block.successors.append(following)
    end_guarded(decoder, instruction, following, wait)


def _vote(
    decoder: Decoder, instruction: Instruction, modifiers: tuple[str, ...]
) -> tuple[Vote, list[Operand]]:
    """The vote of `bar.red d, a {, b}, {!}c`, and the operands that name the barrier: a and b."""
    destination, *middle, voted = instruction.operands
    if len(modifiers) != 2 or _COMBINES.get(modifiers[0], ("",))[0] != modifiers[1]:
        raise decoder.unknown(instruction)
    inner = voted.operand if isinstance(voted, Negated) else voted
    predicate = decoder.value(inner, PRED, instruction)
    target = write(decoder, destination, instruction, _COMBINES[modifiers[0]][1])
    return Vote(predicate, isinstance(voted, Negated), modifiers[0], target), middle


def _warp_barrier(decoder: Decoder, instruction: Instruction, following: int) -> None:
    mask = decoder.value(instruction.operands[0], U32, instruction)

    def wait(group: Group, batch: Batch) -> bool:
        ready = batch.gather_warps(group, mask, instruction)
        if ready is None:
            return False
        ready.pc = following
        batch.resume(ready)
        return False

    decoder.block.gathers = True
    decoder.block.successors.append(following)
    end_guarded(decoder, instruction, following, wait)


def _cluster_barrier(
    decoder: Decoder, instruction: Instruction, following: int, modifiers: tuple[str, ...]
) -> None:
    known = {"arrive", "wait", "release", "relaxed", "acquire"}
    if not modifiers or not set(modifiers) <= known or instruction.operands:
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


class Parked:
    """Lanes that wait at a barrier; `group.pc` is the block at which they resume."""

    __slots__ = ("barrier", "group", "instruction", "vote")

    def __init__(
        self, group: Group, barrier: int, instruction: Instruction, vote: Vote | None = None
    ) -> None:
        self.group = group
        self.barrier = barrier
        self.instruction = instruction
        self.vote = vote


def _aligned(instruction: Instruction) -> bool:
    return instruction.opcode == "bar" or "aligned" in instruction.modifiers


class BlockBarriers:
    """The sixteen barriers of every block in a batch.

    Args:
        batch: the running batch.
    """

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.parked: list[Parked] = []
        self.arrived: dict[int, Any] = {}
        self.expected: dict[int, Any] = {}
        self._arrivals: dict[int, list[Any]] = {}
        self._votes: dict[int, Any] = {}
        self._cast: Vote | None = None

    def arrive(
        self, group: Group, barrier: int, count: int | None, instruction: Instruction, *, stay: bool
    ) -> bool:
        """Lanes of `group` arrive; returns whether the group continues without waiting.

        Args:
            count: threads that the instruction expects at the barrier; None for all of the block.
            stay: whether the lanes wait; False for `bar.arrive`.
        """
        batch = self.batch
        batch.sync_count += 1
        blocks = batch.blocks
        for hook in batch.hooks.barrier_reached:
            hook.barrier_reached(group.pick(batch.spaces.threads), barrier, instruction)
        all_arrive = group.count == batch.alive_count and count is None and not self.arrived
        if all_arrive and stay and not self.parked:
            self._notify_complete(batch.first_block + np.flatnonzero(batch.alive > 0), instruction)
            return True
        arrived = self.arrived.setdefault(barrier, np.zeros(blocks, np.int64))
        expected = self.expected.setdefault(barrier, np.full(blocks, -1, np.int64))
        own = np.bincount(group.pick(batch.spaces.block_of_lane), minlength=blocks)
        goal, own_goal = self._goal(expected), batch.alive if count is None else count
        self._notify_counts(group, barrier, (own > 0) & (arrived > 0) & (goal != own_goal), instruction)
        arrived += own
        if count is not None:
            expected[own > 0] = count
        if stay:
            self.parked.append(Parked(group, barrier, instruction, self._cast))
            self._cast = None
        else:
            threads = group.pick(batch.spaces.threads)
            self._arrivals.setdefault(barrier, []).append(threads)
            for hook in batch.hooks.barrier_arrive:
                hook.barrier_arrive(threads, barrier, instruction)
        self.settle(barrier, instruction)
        return not stay

    # -- votes ---------------------------------------------------------------------------------------

    def cast(self, group: Group, barrier: int, vote: Vote) -> None:
        """Count the votes of lanes that arrive at a `bar.red`: per block, those that are true, and all."""
        voted = np.broadcast_to(group.get(vote.predicate), group.count) != vote.negated
        block = group.pick(self.batch.spaces.block_of_lane)
        blocks = self.batch.blocks
        votes = self._votes.setdefault(barrier, np.zeros((2, blocks), np.int64))
        votes[0] += np.bincount(block, weights=voted, minlength=blocks).astype(np.int64)
        votes[1] += np.bincount(block, minlength=blocks)
        self._cast = vote

    def count(self, group: Group, barrier: int, vote: Vote) -> None:
        """Assign the result to lanes that passed without waiting, and clear the votes."""
        self._give(group, barrier, vote)
        self._votes[barrier][:] = 0
        self._cast = None

    def _give(self, group: Group, barrier: int, vote: Vote) -> None:
        yes, voted = self._votes[barrier][:, group.pick(self.batch.spaces.block_of_lane)]
        result = {"popc": yes, "and": yes == voted, "or": yes > 0}[vote.combine]
        dtype = _COMBINES[vote.combine][1]
        assign(group, vote.target, result.astype(dtype), None, dtype)

    # -- release -------------------------------------------------------------------------------------

    def settle(self, barrier: int, instruction: Instruction) -> None:
        """Release the lanes of all blocks whose barrier is complete; `instruction` completed it."""
        batch = self.batch
        arrived, expected = self.arrived[barrier], self.expected[barrier]
        complete = (arrived > 0) & (arrived >= self._goal(expected))
        if not complete.any():
            return
        released = self._release(barrier, complete)
        if len(released) > 1 and batch.hooks.barrier_mixed:
            self._notify_mixed(barrier, released)
        for parked in released:
            instruction = parked.instruction
            if parked.vote is not None:
                self._give(parked.group, barrier, parked.vote)
        waited = np.zeros(batch.blocks, np.int64)
        for parked in released:
            block = parked.group.pick(batch.spaces.block_of_lane)
            waited += np.bincount(block, minlength=batch.blocks)
        for threads in self._arrivals.get(barrier, ()):  # threads that only arrive may have exited since
            waited[self._block(threads)] = 0
        whole = complete & (waited >= batch.alive) & (waited > 0)
        self._notify_complete(batch.first_block + np.flatnonzero(whole), instruction)
        self._notify_partial(barrier, complete & ~whole, released, instruction)
        arrived[complete] = 0
        expected[complete] = -1
        if barrier in self._votes:
            self._votes[barrier][:, complete] = 0
        self._forget_arrivals(barrier, complete)
        if not arrived.any():
            del self.arrived[barrier], self.expected[barrier]
        for parked in released:
            batch.resume(parked.group)

    def _goal(self, expected: Any) -> Any:
        """(blocks,) the number of threads that must arrive."""
        return np.where(expected < 0, self.batch.alive, expected)

    def _release(self, barrier: int, complete: Any) -> list[Parked]:
        """Remove the lanes of the complete blocks from the parked ones and return them."""
        batch = self.batch
        still: list[Parked] = []
        released: list[Parked] = []
        for parked in self.parked:
            going = complete[parked.group.pick(batch.spaces.block_of_lane)]
            if parked.barrier != barrier or not going.any():
                still.append(parked)
            elif going.all():
                released.append(parked)
            else:
                go, stay = batch.divide(parked.group, going, parked.group.pc, parked.group.pc)
                released.append(Parked(go, barrier, parked.instruction, parked.vote))
                still.append(Parked(stay, barrier, parked.instruction, parked.vote))
        self.parked = still
        return released

    def _notify_complete(self, blocks: Any, instruction: Instruction) -> None:
        if len(blocks):
            for hook in self.batch.hooks.block_barrier:
                hook.block_barrier(blocks, instruction)

    def _notify_partial(
        self, barrier: int, partial: Any, released: list[Parked], instruction: Instruction
    ) -> None:
        batch = self.batch
        if not partial.any() or not batch.hooks.named_barrier:
            return
        waited = self._inside(partial, [parked.group.pick(batch.spaces.threads) for parked in released])
        arrived = self._inside(partial, self._arrivals.get(barrier, []))
        blocks = batch.first_block + np.flatnonzero(partial)
        for hook in batch.hooks.named_barrier:
            hook.named_barrier(PartialBarrier(blocks, waited, arrived, barrier, instruction))

    def _notify_mixed(self, barrier: int, released: list[Parked]) -> None:
        """Notify hooks of a warp whose lanes passed the barrier at different instructions.

        An `.aligned` instruction, as every `bar` is, must be executed by all lanes of a warp; otherwise its
        behaviour is undefined (PTX ISA 9.7.13.1). Different warps may arrive by different instructions: the
        barrier counts them. compute-sanitizer reports both cases; hardware lets both pass.
        """
        spaces, size = self.batch.spaces, self.batch.context.threads_per_block
        by_line: dict[int, list[Parked]] = {}
        for parked in released:
            if _aligned(parked.instruction):
                by_line.setdefault(parked.instruction.code_line, []).append(parked)
        if len(by_line) < 2:
            return
        threads = [
            np.sort(np.concatenate([parked.group.pick(spaces.threads) for parked in here]))
            for here in by_line.values()
        ]
        warps = [t // size * size + t % size // 32 for t in threads]
        every, times = np.unique(np.concatenate([np.unique(w) for w in warps]), return_counts=True)
        if not (times > 1).any():
            return
        warp = every[int(np.argmax(times > 1))]
        waiters = [
            Waiter(t[w == warp], here[0].instruction, WaitsFor.BLOCK_BARRIER, barrier)
            for t, w, here in zip(threads, warps, by_line.values(), strict=True)
            if (w == warp).any()
        ]
        for hook in self.batch.hooks.barrier_mixed:
            hook.barrier_mixed(waiters)

    def _notify_counts(self, group: Group, barrier: int, blocks: Any, instruction: Instruction) -> None:
        """Notify hooks if lanes of the same blocks wait at the barrier for another number of threads."""
        hooks, threads = self.batch.hooks.barrier_counts, self.batch.spaces.threads
        for parked in self.parked if hooks and blocks.any() else ():
            here = (group, instruction), (parked.group, parked.instruction)
            waiters = [
                Waiter(self._inside(blocks, [one.pick(threads)]), at, WaitsFor.BLOCK_BARRIER, barrier)
                for one, at in here
            ]
            for hook in hooks if parked.barrier == barrier and len(waiters[1].threads) else ():
                hook.barrier_counts(waiters)

    def _inside(self, blocks: Any, threads: list[Any]) -> Any:
        """The threads that are in one of these blocks of the batch, sorted."""
        every = np.sort(np.concatenate([np.zeros(0, np.int64), *threads]))
        return every[blocks[self._block(every)]]

    def _block(self, threads: Any) -> Any:
        return threads // self.batch.context.threads_per_block - self.batch.first_block

    def _forget_arrivals(self, barrier: int, complete: Any) -> None:
        if barrier in self._arrivals:
            kept = [threads[~complete[self._block(threads)]] for threads in self._arrivals[barrier]]
            self._arrivals[barrier] = [threads for threads in kept if len(threads)]

    def after_exit(self) -> None:
        """Release barriers that threads have completed by exiting."""
        for barrier, instruction in {parked.barrier: parked.instruction for parked in self.parked}.items():
            self.settle(barrier, instruction)


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
