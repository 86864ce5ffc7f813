"""Some blocks of a launch, executed together: their lanes, what they wait for, and which run next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.engine.delays import Delays
from tooling.simulator.engine.launch_state import LaunchState
from tooling.simulator.engine.livelock import LoopWatch
from tooling.simulator.engine.ready_queue import ReadyQueue
from tooling.simulator.engine.schedule import Schedule
from tooling.simulator.engine.together import Turn
from tooling.simulator.gpu.address_spaces import Spaces
from tooling.simulator.gpu.clusters import blocks_together
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import Waiter, WaitsFor
from tooling.simulator.gpu.lanes import Group, merge
from tooling.simulator.gpu.launch import FaultKind, KernelFault
from tooling.simulator.gpu.stop_texts import DEADLOCK, NO_END
from tooling.simulator.numerics.rounding import U32, U64
from tooling.simulator.program.barrier_contract import ClusterBarrierState
from tooling.simulator.program.first_answers import FirstAnswers
from tooling.simulator.program.followed_values import FollowedValues, UnwrittenRegister
from tooling.simulator.program.frames import Frames
from tooling.simulator.program.products import Products
from tooling.simulator.program.program import BasicBlock, WarpOperation
from tooling.simulator.program.transfers import Transfers
from tooling.simulator.program.warp_lanes import Warps
from tooling.simulator.program.warp_operations import joined_lanes, perform_jointly
from tooling.text import Text

Array = NDArray[Any]


class ParkedWarps(NamedTuple):
    """Lanes that wait at a `.sync` instruction for other lanes of their masks.

    Attributes:
        mask: the slot of each lane's mask.
        operation: what they perform together with lanes at other instructions of the form, if anything.
    """

    group: Group
    mask: int
    instruction: Instruction
    operation: WarpOperation | None


class RunningBatch:
    """Some blocks of a launch, executed together.

    Attributes:
        first_block, blocks: which blocks; size: the number of lanes.
        alive: per block, threads that have not exited; alive_count: all of them.
        sync_count: increases whenever threads may synchronise.
        spaces, warps, barriers, cluster_barriers, transfers, first_answers: what instructions use.
    """

    def __init__(self, state: LaunchState, first_block: int, blocks: int) -> None:
        self.state = state
        self.backend = state.backend
        self.context = state.context
        self.program = state.program
        self.hooks = state.listeners
        self.stdout = state.stdout
        self.parameters = state.parameters
        self.symbols = state.symbols
        self.first_block = first_block
        self.blocks = blocks
        threads = self.context.lanes_per_block
        self.size = blocks * threads
        self.spaces = Spaces(self.context, first_block, state.shape(blocks), self.hooks.access)
        self.alive: NDArray[np.int64] = np.full(blocks, threads, np.int64)
        self.alive_count = self.size
        self._warps: Warps | None = None
        self.barriers = self.backend.block_barriers(self)
        self._cluster_barriers: ClusterBarrierState | None = None
        self.parked_warps: list[ParkedWarps] = []
        self.schedule = Schedule(state.schedule, first_block, self.program.order)
        self.spaces.first_wins = self.schedule.first_wins
        is_last = state.finished_blocks + blocks >= self.context.blocks
        self.watch = LoopWatch(self, is_last=is_last, stop=self.stop_waiting, pace=state.pace)
        self.spaces.watching = state.pace is not None
        self.waiting = ReadyQueue(self.schedule, self._look)
        in_order = self.schedule.kind == "lockstep" or not self.program.may_wait
        self.delays = None if in_order else self.schedule.delays(blocks, blocks_together(self.context.launch))
        self.frames = Frames(self.size)
        self.sync_count = 0
        self.transfers = Transfers(self.spaces, self.hooks, self.schedule.postpones)
        self.first_answers = FirstAnswers(self.schedule.postpones)
        self.products = Products(self.size)
        follows = any(hook.follows_values for hook in self.hooks.all)
        self.followed = FollowedValues(self.size) if follows else None

    @cached_property
    def block_position(self) -> NDArray[np.int64]:
        """(3, blocks): the position of each block in the grid, x, y, z."""
        grid = self.context.launch.grid
        numbers = np.arange(self.first_block, self.first_block + self.blocks)
        return np.stack([numbers % grid.x, numbers // grid.x % grid.y, numbers // (grid.x * grid.y)])

    @property
    def issued(self) -> int:
        """Instructions issued so far: the value of `%clock`."""
        return self.state.issued

    @property
    def warps(self) -> Warps:
        """The batch's warps (created at first use)."""
        if self._warps is None:
            known = self.state.warps.get(self.blocks)
            if known is None:
                known = self.state.warps[self.blocks] = Warps(self.blocks, self.context.threads_per_block)
            self._warps = known
            self._refresh_alive()
        return self._warps

    @property
    def cluster_barriers(self) -> ClusterBarrierState:
        """The cluster barriers (created at first use)."""
        if self._cluster_barriers is None:
            self._cluster_barriers = self.backend.cluster_barriers(self)
        return self._cluster_barriers

    # -- running -------------------------------------------------------------------------------------

    def turns(self) -> Iterator[Turn]:
        """Run all lanes to their end; each step is a turn of one group.

        Raises:
            KernelFault: the kernel was stopped, or is in a deadlock.
        """
        origins = self.program.origins
        self.exited = np.zeros(self.size, bool)

        kept = self.state.values.setdefault(self.blocks, {})

        def missing(slot: int) -> Array:
            value = kept.get(slot)
            if value is None:
                value = self.backend.initial_value(origins[slot], self)
                if not self.backend.differs_by_batch(origins[slot]):
                    kept[slot] = value
            return value

        if self.followed is not None:
            self._follow_unwritten(self.followed)
        self.resume(self.backend.group(self.program, self, missing))
        pace = self.state.pace
        while self.waiting:
            self._run_group(self._next())
            if not self.waiting:
                self._unstick()
            if pace is not None:
                yield Turn(pace.idle, pace.changes + self.spaces.changes)
                pace.idle = False
        self.transfers.end_all()
        if pace is not None:
            pace.changes += self.spaces.changes

    def _follow_unwritten(self, followed: FollowedValues) -> None:
        """Follow the registers that the kernel may read before it has written them."""
        program = self.program
        entry = program.entries[program.name]
        origins = [program.origins[slot] for slot in program.live_in[entry]]
        if not program.blocks[entry].flows or not any(origin.kind == "undefined" for origin in origins):
            return

        def used(lanes: NDArray[np.intp], instruction: Instruction) -> None:
            for hook in self.hooks.register_unwritten:
                hook.register_unwritten(self.spaces.threads[lanes], instruction)

        lanes = np.arange(self.size)
        for slot, origin in zip(program.live_in[entry], origins, strict=True):
            if origin.kind == "undefined" and slot != program.frame_slot:
                followed.hold(slot, UnwrittenRegister(used), lanes)

    def _next(self) -> Group:
        """Take the group that runs next, merged with all others at the same program point."""
        if self.delays is not None and self.delays.turn():
            self._advance(self.delays)
        groups = self.waiting.take()
        if len(groups) == 1:
            return groups[0]
        return merge(groups, self.program.live(groups[0].pc, groups[0].stack), self.size)

    def _run_group(self, group: Group) -> None:
        """Run one group until it waits, ends, splits, or should let another one run."""
        blocks = self.program.blocks
        state = self.state
        issue = self.hooks.issue
        followed = self.followed
        known = first = 0
        while True:
            block = blocks[group.pc]
            count = len(block.instructions)
            lanes = group.count
            if group.counted:
                lanes, group.counted = lanes - group.counted, 0
            if lanes:
                state.issued += count
                state.lane_instructions += count * lanes
                for hook in issue:
                    if not block.gathers:
                        hook.issue(block.instructions, group.lanes, group.executing())
            if followed is not None and (followed or block.starts_values):
                self._follow(block, group, followed)
            else:
                for step in block.steps:
                    step(group, self)
            end = block.end
            assert end is not None
            if not end(group, self):
                self._check_limits(next(iter(self.waiting), group))
                return
            # While a group runs, others are only added: if their number is unchanged, so is `first`.
            if len(self.waiting) != known:
                known = len(self.waiting)
                first = self.waiting.first_rank()
            if known and self.schedule.yields(group, first):
                self.resume(group)
                self._check_limits(group)
                return
            if group.back_edges & 63 == 63 or count > 1000:
                self._check_limits(group)
                if not self.waiting:
                    self._look([group])
                if state.pace is not None:
                    self.resume(group)
                    return

    def _follow(self, block: BasicBlock, group: Group, followed: FollowedValues) -> None:
        """Execute the steps of a block, and follow values through its registers and those of its end."""
        followed.forget(group, self.program.live(block.number, group.stack))
        steps, firsts = block.steps, block.first_steps
        for index, (instruction, flow) in enumerate(zip(block.instructions, block.flows, strict=True)):
            followed.execute(flow, instruction, group)
            last = firsts[index + 1] if index + 1 < len(firsts) else len(steps)
            for step in steps[firsts[index] : last]:
                step(group, self)

    def _check_limits(self, group: Group) -> None:
        limits = self.state.limits
        over = (
            limits.lane_instructions is not None and self.state.lane_instructions > limits.lane_instructions
        )
        if over or limits.passed:
            raise KernelFault(
                FaultKind.TIME_LIMIT,
                NO_END,
                thread=int(self.spaces.threads_of(group)[0]) if group.count else -1,
                instruction=next(iter(self.program.blocks[group.pc].instructions), None),
            )

    def _unstick(self) -> None:
        """No group can run: the end if all lanes have exited, a deadlock otherwise."""
        if self.delays is not None and self.delays.groups:
            self._advance(self.delays)
            return
        if self.alive_count == 0:
            return
        self.stop_waiting([], DEADLOCK)

    def stop_waiting(self, loops: list[Waiter], why: Text) -> None:
        """Stop the kernel, and report which threads wait where, besides those in `loops`.

        Raises:
            KernelFault: always.
        """
        waiters = [
            *loops,
            *(
                Waiter(
                    self.spaces.threads_of(parked.group),
                    parked.instruction,
                    WaitsFor.BLOCK_BARRIER,
                    parked.barrier,
                )
                for parked in self.barriers.parked
            ),
        ]
        waiters += [
            Waiter(self.spaces.threads_of(parked.group), parked.instruction, WaitsFor.WARP)
            for parked in self.parked_warps
        ]
        if self._cluster_barriers is not None:
            waiters += [
                Waiter(self.spaces.threads_of(parked.group), parked.instruction, WaitsFor.CLUSTER_BARRIER)
                for parked in self._cluster_barriers.parked
            ]
        for hook in self.hooks.stuck:
            hook.stuck(waiters)
        total = sum(len(waiter.threads) for waiter in waiters)
        first = waiters[0] if waiters else None
        raise KernelFault(
            FaultKind.DEADLOCK,
            why.of(threads=total),
            thread=int(first.threads[0]) if first else -1,
            instruction=first.instruction if first else None,
        )

    # -- called by the ends of basic blocks -----------------------------------------------------------------

    def resume(self, group: Group) -> None:
        """Add a group to those that can run, without the lanes of blocks that are held back."""
        if self.delays is not None and self.delays.held is not None and not group.counted:
            held = self.delays.held[group.pick(self.spaces.block_of_lane)]
            if held.all():
                self.delays.groups.append(group)
                return
            if held.any():
                late, group = self.divide(group, held, group.pc, group.pc)
                self.delays.groups.append(late)
        self.waiting.add(group)

    def _advance(self, delays: Delays) -> None:
        """Let blocks run that were held back, or hold others back."""
        for group in delays.advance():
            self.waiting.add(group)

    def _look(self, groups: Sequence[Group]) -> None:
        """Each of these groups, all that can run, had its turn, and may wait for one that is held back."""
        if self.delays is None or self.delays.over:
            self.watch.look(groups)
        else:
            self._advance(self.delays)

    def divide(self, group: Group, lanes: Array, first_pc: int, second_pc: int) -> tuple[Group, Group]:
        """Split a group: lanes for which `lanes` is true, at `first_pc`, and the others, at `second_pc`.

        Args:
            lanes: flags as the group's `positions_of` accepts them.
        """
        live = self.program.live(first_pc, group.stack) | self.program.live(second_pc, group.stack)
        # Lanes may return to their current instruction, so that its operands are live as well.
        live |= self.program.live(group.pc, group.stack)
        first = group.subgroup(group.positions_of(lanes), first_pc, live)
        second = group.subgroup(group.positions_of(~lanes), second_pc, live)
        for half in (first, second):
            half.back_edges = group.back_edges
            half.polling = group.polling
        return first, second

    def split(self, group: Group, lanes: Array, target: int, following: int, backwards: bool) -> None:
        """A divergent branch."""
        taken, passed = self.divide(group, lanes, target, following)
        if backwards:
            taken.back_edges += 1
        self.resume(taken)
        self.resume(passed)

    def scatter(self, group: Group, chosen: Array, targets: list[int]) -> None:
        """A jump table: each lane jumps to the target of its index."""
        for index in np.unique(chosen):
            live = self.program.live(targets[index], group.stack)
            self.resume(group.subgroup(np.flatnonzero(chosen == index), targets[index], live))

    def split_return(self, group: Group, lanes: Array, following: int, instruction: Instruction) -> None:
        """A predicated return or exit that some lanes take."""
        gone, staying = self.divide(group, lanes, group.pc, following)
        self.resume(staying)
        if gone.stack and instruction.opcode == "ret":
            self.leave(gone)
            self.resume(gone)
        else:
            self.finish(gone, instruction)

    def leave(self, group: Group) -> None:
        """Return from a call."""
        self.backend.leave(group, self)

    def finish(self, group: Group, instruction: Instruction | None) -> None:
        """Lanes exit, by `ret` or `exit`, or at the end of the text (None)."""
        self.alive_count -= group.count
        for hook in self.hooks.threads_exit:
            hook.threads_exit(self.spaces.threads_of(group), instruction)
        if group.lanes is None:
            self.alive[:] = 0
            return
        self.exited[group.lanes] = True
        self.alive -= np.bincount(group.pick(self.spaces.block_of_lane), minlength=self.blocks)
        if self.alive_count == 0:
            return
        if self._warps is not None:
            self._refresh_alive()
        self.barriers.after_exit()
        if self._cluster_barriers is not None:
            self._cluster_barriers.after_exit()
        if self.parked_warps:
            gathering, self.parked_warps = self.parked_warps, []
            for parked in gathering:
                parked.group.counted = parked.group.count
                self.resume(parked.group)

    def _refresh_alive(self) -> None:
        assert self._warps is not None
        whole = self.alive_count == self.size
        self._warps.alive = self._warps.full if whole else self._warps.masks(np.flatnonzero(~self.exited))

    def gather_warps(
        self, group: Group, mask: int, instruction: Instruction, operation: WarpOperation | None = None
    ) -> Group | None:
        """The lanes of `group` whose whole mask is at this `.sync` instruction; the others are parked.

        Args:
            operation: what lanes of a mask that are at several instructions of its form perform together.

        Returns:
            the lanes that may continue (the group itself if it is all of them), or None.
        """
        self.sync_count += 1
        parked_here = [
            parked
            for parked in self.parked_warps
            if parked.group.pc == group.pc and parked.group.stack == group.stack
        ]
        if parked_here:
            self.parked_warps = [parked for parked in self.parked_warps if parked not in parked_here]
            groups = [group, *(parked.group for parked in parked_here)]
            group = merge(groups, self.program.live(group.pc, group.stack), self.size)
        masks = group.get(mask).view(U32)
        warps = self.warps
        if group.count != self.alive_count:
            warp = group.pick(warps.warp_of_lane)
            here = warps.masks(group.indices(self.size))[warp]
            complete = (masks & warps.alive[warp] & ~here) == 0
            if not complete.all():
                if not complete.any():
                    self._park(ParkedWarps(group, mask, instruction, operation))
                    return None
                ready, rest = self.divide(group, complete, group.pc, group.pc)
                self._park(ParkedWarps(rest, mask, instruction, operation))
                group = ready
                masks = group.get(mask).view(U32)
        self._notify_warps(group, masks, instruction)
        return group

    def _park(self, parked: ParkedWarps) -> None:
        """Park lanes, and let those continue whose mask is complete together with lanes parked elsewhere."""
        self.parked_warps.append(parked)
        if parked.operation is None:
            return
        form = parked.instruction.form
        same = [
            other
            for other in self.parked_warps
            if other.operation is not None and other.instruction.form == form
        ]
        if len(same) > 1:
            self._join(same)

    def _join(self, same: list[ParkedWarps]) -> None:
        """Perform an operation for the masks all of whose lanes are at these instructions of one form."""
        complete = self._complete_masks(same)
        if not any(flags.any() for flags in complete):
            return
        chosen: list[ParkedWarps] = []
        self.parked_warps = [parked for parked in self.parked_warps if parked not in same]
        for parked, flags in zip(same, complete, strict=True):
            group = parked.group
            if flags.all():
                chosen.append(parked)
            elif flags.any():
                ready, rest = self.divide(group, flags, group.pc, group.pc)
                chosen.append(parked._replace(group=ready))
                self.parked_warps.append(parked._replace(group=rest))
            else:
                self.parked_warps.append(parked)
        groups = [parked.group for parked in chosen]
        joint = joined_lanes(groups, self)
        masks = joint.joined([parked.group.get(parked.mask) for parked in chosen], groups, self.size)
        self._notify_warps(joint, masks.view(U32), chosen[0].instruction)
        perform_jointly(
            joint, [(parked.group, parked.operation) for parked in chosen if parked.operation], self
        )
        for group in groups:
            self.resume(group)

    def _complete_masks(self, same: list[ParkedWarps]) -> list[NDArray[np.bool_]]:
        """Per group, which of its lanes have a mask whose lanes are all here and have the same mask."""
        warps = self.warps
        lanes = [parked.group.indices(self.size) for parked in same]
        masks = [
            np.broadcast_to(parked.group.get(parked.mask).view(U32), parked.group.count) for parked in same
        ]
        every, mask = np.concatenate(lanes), np.concatenate(masks)
        warp = warps.warp_of_lane[every]
        _, same_mask = np.unique(warp.astype(U64) << np.uint64(32) | mask, return_inverse=True)
        here = np.zeros(len(every), U32)
        np.bitwise_or.at(here, same_mask, np.uint32(1) << warps.lane_in_warp[every])
        complete = (mask & warps.alive[warp] & ~here[same_mask]) == 0
        return np.split(complete, np.cumsum([len(each) for each in lanes])[:-1])

    def _notify_warps(self, group: Group, masks: Array, instruction: Instruction) -> None:
        if self.hooks.warp_sync:
            wanted = np.broadcast_to(masks, group.count)
            for hook in self.hooks.warp_sync:
                hook.warp_sync(self.spaces.threads_of(group), wanted, instruction)
        if self.hooks.warp_missing and self.alive_count != self.size:
            warps = self.warps
            absent = np.broadcast_to(masks, group.count) & ~warps.alive[group.pick(warps.warp_of_lane)]
            if absent.any():
                chosen = absent != 0
                for hook in self.hooks.warp_missing:
                    hook.warp_missing(self.spaces.threads_of(group)[chosen], absent[chosen], instruction)


def run_batch(state: LaunchState, first: int, most: int) -> Iterator[Turn]:
    """Run up to `most` blocks of a launch together, from `first` on; each step is a turn.

    Raises:
        KernelFault: the kernel was stopped.
    """
    count = min(most, state.context.blocks - first)
    batch = RunningBatch(state, first, count)
    for hook in state.listeners.shared_memory:
        hook.shared_memory(first, batch.spaces.shared_windows)
    for hook in state.listeners.batch_begin:
        hook.batch_begin(first, count)
    yield from batch.turns()
    for hook in state.listeners.batch_end:
        hook.batch_end(first, count)
    state.finished_blocks += count
