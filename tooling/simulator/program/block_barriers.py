"""The barriers of blocks: lanes are parked until the others have arrived."""

from __future__ import annotations

from typing import Any

import numpy as np

from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import PartialBarrier, Waiter, WaitsFor
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.numerics.rounding import PRED, U32
from tooling.simulator.program.barrier_contract import Vote
from tooling.simulator.program.program import Batch

COMBINES = {"popc": ("u32", U32), "and": ("pred", PRED), "or": ("pred", PRED)}
"""The reductions of `bar.red`, with the type of the result."""


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
            hook.barrier_reached(batch.spaces.threads_of(group), barrier, instruction)
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
            threads = batch.spaces.threads_of(group)
            self._arrivals.setdefault(barrier, []).append(threads)
            for hook in batch.hooks.barrier_arrive:
                hook.barrier_arrive(threads, barrier, instruction)
        self.settle(barrier, instruction)
        return not stay

    def generations(self, group: Group, barrier: int, count: int | None) -> list[Group]:
        """The group's lanes, divided where more arrive than a barrier for `count` threads still waits for.

        The barrier is complete when the last of these has arrived, and the others arrive at its next use: it
        orders nothing between the two.
        """
        arrived = self.arrived.get(barrier)
        if count is None or (group.count <= count and (arrived is None or not arrived.any())):
            return [group]
        waits_for = np.full(self.batch.blocks, count) if arrived is None else count - arrived
        waits_for[waits_for <= 0] = group.count  # others wait there for another count
        divided: list[Group] = []
        while True:
            block = group.pick(self.batch.spaces.block_of_lane)
            rank = np.arange(group.count) - np.searchsorted(block, block)  # among the lanes of its block
            late = rank >= waits_for[block]
            if not late.any():
                return [*divided, group]
            first, group = self.batch.divide(group, ~late, group.pc, group.pc)
            divided.append(first)
            waits_for[:] = count

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
        dtype = COMBINES[vote.combine][1]
        group.registers[vote.target] = result.astype(dtype)

    # -- release -------------------------------------------------------------------------------------

    def settle(self, barrier: int, instruction: Instruction) -> None:
        """Release the lanes of all blocks whose barrier is complete; `instruction` completed it."""
        batch = self.batch
        arrived, expected = self.arrived[barrier], self.expected[barrier]
        complete = (arrived > 0) & (arrived >= self._goal(expected))
        if not complete.any():
            return
        released = self._release(barrier, complete)
        if len(released) > 1 and (batch.hooks.barrier_mixed or batch.hooks.barrier_mixed_warps):
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
        waited = self._inside(partial, [batch.spaces.threads_of(parked.group) for parked in released])
        arrived = self._inside(partial, self._arrivals.get(barrier, []))
        blocks = batch.first_block + np.flatnonzero(partial)
        for hook in batch.hooks.named_barrier:
            hook.named_barrier(PartialBarrier(blocks, waited, arrived, barrier, instruction))

    def _notify_mixed(self, barrier: int, released: list[Parked]) -> None:
        """Notify hooks of a warp whose lanes passed the barrier at different instructions.

        An `.aligned` instruction, as every `bar` is, must be executed by all lanes of a warp; otherwise its
        behaviour is undefined (PTX ISA 9.7.13.1). Different warps may arrive by different instructions in
        PTX, which counts them, but not in Mojo or CUDA. compute-sanitizer reports both cases; hardware lets
        both pass.
        """
        spaces, size = self.batch.spaces, self.batch.context.threads_per_block
        by_line: dict[int, list[Parked]] = {}
        for parked in released:
            if _aligned(parked.instruction):
                by_line.setdefault(parked.instruction.code_line, []).append(parked)
        if len(by_line) < 2:
            return
        threads = [
            np.sort(np.concatenate([spaces.threads_of(parked.group) for parked in here]))
            for here in by_line.values()
        ]
        warps = [t // size * size + t % size // self.batch.context.warp_size for t in threads]
        every, times = np.unique(np.concatenate([np.unique(w) for w in warps]), return_counts=True)
        if not (times > 1).any():
            self._notify_mixed_warps(barrier, threads, [here[0].instruction for here in by_line.values()])
            return
        warp = every[int(np.argmax(times > 1))]
        waiters = [
            Waiter(t[w == warp], here[0].instruction, WaitsFor.BLOCK_BARRIER, barrier)
            for t, w, here in zip(threads, warps, by_line.values(), strict=True)
            if (w == warp).any()
        ]
        for hook in self.batch.hooks.barrier_mixed:
            hook.barrier_mixed(waiters, np.unique(every[times > 1] // size))

    def _notify_mixed_warps(self, barrier: int, threads: list[Any], instructions: list[Instruction]) -> None:
        """Notify hooks of a block whose warps passed the barrier at different instructions."""
        size = self.batch.context.threads_per_block
        blocks, times = np.unique(np.concatenate([np.unique(t // size) for t in threads]), return_counts=True)
        for block in blocks[times > 1][:1].tolist():
            waiters = [
                Waiter(t[t // size == block], instruction, WaitsFor.BLOCK_BARRIER, barrier)
                for t, instruction in zip(threads, instructions, strict=True)
                if (t // size == block).any()
            ]
            for hook in self.batch.hooks.barrier_mixed_warps:
                hook.barrier_mixed_warps(waiters)

    def _notify_counts(self, group: Group, barrier: int, blocks: Any, instruction: Instruction) -> None:
        """Notify hooks if lanes of the same blocks wait at the barrier for another number of threads."""
        hooks = self.batch.hooks.barrier_counts
        for parked in self.parked if hooks and blocks.any() else ():
            here = (group, instruction), (parked.group, parked.instruction)
            waiters = [
                Waiter(
                    self._inside(blocks, [self.batch.spaces.threads_of(one)]),
                    at,
                    WaitsFor.BLOCK_BARRIER,
                    barrier,
                )
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


class NoClusterBarriers:
    """The cluster barriers of a GPU without clusters."""

    parked: tuple[Parked, ...] = ()

    def arrive(self, group: Group, instruction: Instruction) -> None:
        """Never called."""
        raise NotImplementedError

    def wait(self, group: Group, instruction: Instruction) -> bool:
        """Never called."""
        raise NotImplementedError

    def after_exit(self) -> None:
        """Nothing waits."""
