"""Waiting for others: block barriers, cluster barriers, warp barriers (PTX ISA 9.7.13.1 to 9.7.13.4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tooling.simulator.bindings import binds, guard, guarded_lanes
from tooling.simulator.decode import Decoder
from tooling.simulator.lanes import Group
from tooling.simulator.numerics import U32
from tooling.simulator.program import End
from tooling.simulator.ptx_model import Instruction


def waits(decoder: Decoder, instruction: Instruction, following: int, wait: End) -> None:
    """End the block with `wait` for the lanes that the guard lets through; the others go on."""
    decoder.block.successors.append(following)
    guarding = guard(decoder, instruction)
    if guarding is None:
        decoder.block.end = wait
        return

    def end(group: Group, batch: Any) -> bool:
        lanes = guarded_lanes(group, guarding)
        if lanes is False:
            group.pc = following
            return True
        if lanes is True:
            return wait(group, batch)
        arriving, passing = batch.divide(group, lanes, group.pc, following)
        batch.resume(passing)
        if wait(arriving, batch):
            batch.resume(arriving)
        return False

    decoder.block.end = end


@binds("bar", "barrier", alone=True)
def _barrier(decoder: Decoder, instruction: Instruction, following: int) -> None:
    modifiers = tuple(m for m in instruction.modifiers if m not in ("cta", "aligned"))
    if modifiers[:1] == ("warp",):
        _warp_barrier(decoder, instruction, following)
        return
    if modifiers[:1] == ("cluster",):
        _cluster_barrier(decoder, instruction, following, modifiers[1:])
        return
    if modifiers not in (("sync",), ("arrive",)):
        raise decoder.unknown(instruction, "barriers that combine values are not simulated yet")
    number = decoder.value(instruction.operands[0], U32, instruction)
    expected = (
        decoder.value(instruction.operands[1], U32, instruction) if len(instruction.operands) > 1 else None
    )
    arrive_only = modifiers == ("arrive",)

    def wait(group: Group, batch: Any) -> bool:
        barrier = int(group.get(number).view(U32)[0])
        count = None if expected is None else int(group.get(expected).view(U32)[0])
        group.pc = following
        passed: bool = batch.barriers.arrive(group, barrier, count, instruction, stay=not arrive_only)
        return passed

    waits(decoder, instruction, following, wait)


def _warp_barrier(decoder: Decoder, instruction: Instruction, following: int) -> None:
    mask = decoder.value(instruction.operands[0], U32, instruction)

    def wait(group: Group, batch: Any) -> bool:
        ready = batch.gather_warps(group, mask, instruction)
        if ready is None:
            return False
        ready.pc = following
        batch.resume(ready)
        return False

    waits(decoder, instruction, following, wait)


def _cluster_barrier(
    decoder: Decoder, instruction: Instruction, following: int, modifiers: tuple[str, ...]
) -> None:
    known = {"arrive", "wait", "release", "relaxed", "acquire"}
    if not modifiers or not set(modifiers) <= known or instruction.operands:
        raise decoder.unknown(instruction)
    arriving = "arrive" in modifiers

    def wait(group: Group, batch: Any) -> bool:
        group.pc = following
        if arriving:
            batch.cluster_barriers.arrive(group)
            return True
        passed: bool = batch.cluster_barriers.wait(group, instruction)
        return passed

    waits(decoder, instruction, following, wait)


class Parked:
    """Lanes that wait at a barrier; `group.pc` is where they go on."""

    __slots__ = ("barrier", "group", "instruction", "phase")

    def __init__(self, group: Group, barrier: int, instruction: Instruction, phase: Any = None) -> None:
        self.group = group
        self.barrier = barrier
        self.instruction = instruction
        self.phase = phase


class BlockBarriers:
    """The sixteen barriers of every block in a batch.

    Args:
        batch: the running batch (`engine.Batch`).
    """

    def __init__(self, batch: Any) -> None:
        self.batch = batch
        self.parked: list[Parked] = []
        self.arrived: dict[int, Any] = {}
        self.expected: dict[int, Any] = {}

    def arrive(
        self, group: Group, barrier: int, count: int | None, instruction: Instruction, *, stay: bool
    ) -> bool:
        """Lanes of `group` arrive; returns whether they go on at once (the group itself then goes on)."""
        batch = self.batch
        blocks = batch.blocks
        if group.count == batch.alive_count and stay and count is None and not self.parked:
            for hook in batch.hooks.block_barrier:
                hook.block_barrier(batch.first_block + np.flatnonzero(batch.alive > 0))
            return True
        arrived = self.arrived.setdefault(barrier, np.zeros(blocks, np.int64))
        expected = self.expected.setdefault(barrier, np.full(blocks, -1, np.int64))
        own = np.bincount(group.pick(batch.spaces.block_of_lane), minlength=blocks)
        arrived += own
        if count is not None:
            expected[own > 0] = count
        if stay:
            self.parked.append(Parked(group, barrier, instruction))
        self.settle(barrier)
        return not stay

    def settle(self, barrier: int) -> None:
        """Let the lanes of every complete block go on."""
        batch = self.batch
        arrived, expected = self.arrived[barrier], self.expected[barrier]
        goal = np.where(expected < 0, batch.alive, expected)
        complete = (arrived > 0) & (arrived >= goal)
        if not complete.any():
            return
        still: list[Parked] = []
        released: list[Group] = []
        for parked in self.parked:
            if parked.barrier != barrier:
                still.append(parked)
                continue
            going = complete[parked.group.pick(batch.spaces.block_of_lane)]
            if going.all():
                released.append(parked.group)
            elif going.any():
                go, stay = batch.divide(parked.group, going, parked.group.pc, parked.group.pc)
                released.append(go)
                still.append(Parked(stay, barrier, parked.instruction))
            else:
                still.append(parked)
        self.parked = still
        whole = complete & ((expected < 0) | (expected >= batch.alive))
        numbers = batch.first_block + np.flatnonzero(whole)
        if len(numbers):
            for hook in batch.hooks.block_barrier:
                hook.block_barrier(numbers)
        partial = complete & ~whole
        if partial.any() and released:
            threads = np.sort(np.concatenate([g.pick(batch.spaces.threads) for g in released]))
            mine = partial[threads // batch.context.threads_per_block - batch.first_block]
            for hook in batch.hooks.named_barrier:
                hook.named_barrier(batch.first_block + np.flatnonzero(partial), threads[mine])
        arrived[complete] = 0
        expected[complete] = -1
        for group in released:
            batch.resume(group)

    def after_exit(self) -> None:
        """Exited threads are no longer waited for."""
        for barrier in {parked.barrier for parked in self.parked}:
            self.settle(barrier)


class ClusterBarriers:
    """The one barrier of every cluster in a batch: arrive and wait are separate (PTX ISA 9.7.13.4)."""

    def __init__(self, batch: Any) -> None:
        self.batch = batch
        self.parked: list[Parked] = []
        self.clusters = batch.spaces.clusters
        self.arrived = np.zeros(self.clusters.count, np.int64)
        self.phase = np.zeros(self.clusters.count, np.int64)
        self.lane_phase = np.zeros(batch.size, np.int64)
        self.cluster_of_lane = self.clusters.of_block[batch.spaces.block_of_lane]

    def arrive(self, group: Group) -> None:
        """Lanes arrive for the phase that their next wait belongs to."""
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
        for hook in self.batch.hooks.cluster_barrier:
            hook.cluster_barrier(self.clusters.numbers[done])
        waiting, self.parked = self.parked, []
        for parked in waiting:
            if self.wait(parked.group, parked.instruction):
                self.batch.resume(parked.group)

    def wait(self, group: Group, instruction: Instruction) -> bool:
        """Go on when the phase that the lanes arrived for is over; else park them."""
        lanes = group.indices(self.batch.size)
        over = self.phase[self.cluster_of_lane[lanes]] > self.lane_phase[lanes]
        if over.all():
            return True
        if over.any():
            go, stay = self.batch.divide(group, over, group.pc, group.pc)
            self.batch.resume(go)
            self.parked.append(Parked(stay, 0, instruction))
        else:
            self.parked.append(Parked(group, 0, instruction))
        return False

    def after_exit(self) -> None:
        """Exited threads count as arrived."""
        if self.parked:
            self._complete()
