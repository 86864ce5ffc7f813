"""The engine: runs a launch, many blocks at a time, every group of lanes at the same place together.

Order of execution: the group at the lowest place runs, so that lanes that took different ways meet again;
a group that keeps jumping backwards while others wait steps back, so that a lane which waits for another one
always gets its turn. Lanes at a barrier or `.sync` instruction are parked until the others have come. The
order is the same in every run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.barriers import BlockBarriers, ClusterBarriers
from tooling.simulator.decode import decode
from tooling.simulator.hooks import Hook, LaunchContext, Waiter, WaitsFor
from tooling.simulator.lanes import Group, merge
from tooling.simulator.launch import FaultKind, KernelFault, Launch, LaunchResult
from tooling.simulator.memory import DeviceMemory
from tooling.simulator.numerics import U32
from tooling.simulator.program import Program
from tooling.simulator.ptx_model import Instruction, Module
from tooling.simulator.schedule import Schedule
from tooling.simulator.spaces import Shape, Spaces
from tooling.simulator.specials import differs_by_batch, initial_value
from tooling.simulator.warps import Warps

Array = NDArray[Any]

BATCH_LANES = 16384
"""Lanes executed together: registers of that size stay in a core's second-level cache."""

MAX_THREADS_PER_BLOCK = 1024
MAX_SHARED_BYTES = 227 * 1024

HOOK_NAMES = (
    "batch_begin", "batch_end", "issue", "access", "block_barrier", "named_barrier", "warp_sync",
    "warp_missing", "cluster_barrier", "fence", "async_wait", "mbarrier", "threads_exit", "stuck",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Limits:
    """When a kernel is stopped that does not end.

    Attributes:
        lane_instructions: most lane instructions of one launch, or None.
        deadline: `time.monotonic()` at which it is stopped, or None.
        stop: asked now and then; true stops the kernel.
    """

    lane_instructions: int | None = None
    deadline: float | None = None
    stop: Callable[[], bool] | None = None


class Listeners:
    """Per event, the hooks that override it: an event nobody listens to costs an empty loop."""

    def __init__(self, hooks: Sequence[Hook]) -> None:
        self.batch_begin = self.batch_end = self.issue = self.access = self.block_barrier = ()
        self.named_barrier = self.warp_sync = self.warp_missing = self.cluster_barrier = self.fence = ()
        self.async_wait = self.mbarrier = self.threads_exit = self.stuck = ()
        for name in HOOK_NAMES:
            own = tuple(hook for hook in hooks if getattr(type(hook), name) is not getattr(Hook, name))
            setattr(self, name, own)

    batch_begin: tuple[Hook, ...]
    batch_end: tuple[Hook, ...]
    issue: tuple[Hook, ...]
    access: tuple[Hook, ...]
    block_barrier: tuple[Hook, ...]
    named_barrier: tuple[Hook, ...]
    warp_sync: tuple[Hook, ...]
    warp_missing: tuple[Hook, ...]
    cluster_barrier: tuple[Hook, ...]
    fence: tuple[Hook, ...]
    async_wait: tuple[Hook, ...]
    mbarrier: tuple[Hook, ...]
    threads_exit: tuple[Hook, ...]
    stuck: tuple[Hook, ...]


def run(  # noqa: PLR0917 - a launch needs them all, in the order that callers know
    launch: Launch,
    module: Module,
    memory: DeviceMemory,
    hooks: Sequence[Hook] = (),
    schedule: str = "lockstep",
    stdout: Callable[[bytes], None] = lambda _text: None,
    limits: Limits | None = None,
) -> LaunchResult:
    """Execute a launch to its end or its first fault.

    Args:
        schedule: `lockstep`, `random:SEED` or `adversarial`.
        stdout: gets what the kernel prints, in order.

    Raises:
        PtxError: the kernel holds an instruction that the simulator does not know.
        ValueError: an unknown schedule.
    """
    started = time.perf_counter()
    program = decode(module, launch.function)
    symbols = memory.symbols(module)
    blocks_per_cluster = launch.cluster.count
    context = LaunchContext(
        launch,
        module,
        memory,
        launch.threads_per_block,
        launch.blocks,
        blocks_per_cluster,
        program.shared_bytes + launch.shared_bytes,
        program.local_bytes,
    )
    runner = _Runner(
        program,
        context,
        symbols,
        Listeners(hooks),
        schedule=schedule,
        stdout=stdout,
        limits=limits or Limits(),
    )
    for hook in hooks:
        hook.launch_begin(context)
    error: KernelFault | None = None
    try:
        with np.errstate(all="ignore"):
            _check_shape(context)
            runner.run()
    except KernelFault as fault:
        error = fault
    for hook in hooks:
        hook.launch_end(context)
    return LaunchResult(
        runner.issued, runner.lane_instructions, runner.finished_blocks, error, time.perf_counter() - started
    )


def _check_shape(context: LaunchContext) -> None:
    launch = context.launch
    problem = ""
    if min(*launch.grid, *launch.block, *launch.cluster) < 1:
        problem = f"grid {launch.grid}, block {launch.block} and cluster {launch.cluster} must be at least 1"
    elif context.threads_per_block > MAX_THREADS_PER_BLOCK:
        problem = f"a block of {context.threads_per_block} threads; {MAX_THREADS_PER_BLOCK} are possible"
    elif context.shared_bytes > MAX_SHARED_BYTES:
        problem = f"{context.shared_bytes} bytes of shared memory; {MAX_SHARED_BYTES} are possible"
    elif any(g % c for g, c in zip(launch.grid, launch.cluster, strict=True)):
        problem = f"grid {launch.grid} is no multiple of cluster {launch.cluster}"
    elif launch.cluster.y != 1 or launch.cluster.z != 1:
        problem = f"clusters of shape {launch.cluster} are not simulated; use (n, 1, 1)"
    elif len(launch.parameters) < launch.function.parameter_bytes:
        needed = launch.function.parameter_bytes
        problem = f"{len(launch.parameters)} bytes of parameters; the kernel takes {needed}"
    if problem:
        raise KernelFault(FaultKind.INVALID_LAUNCH, problem)


class _Runner:
    """One launch, batch after batch; keeps the counts."""

    def __init__(
        self,
        program: Program,
        context: LaunchContext,
        symbols: dict[str, int],
        listeners: Listeners,
        *,
        schedule: str,
        stdout: Callable[[bytes], None],
        limits: Limits,
    ) -> None:
        self.program = program
        self.context = context
        self.symbols = symbols
        self.listeners = listeners
        self.schedule = schedule
        self.stdout = stdout
        self.limits = limits
        self.parameters: NDArray[np.uint8] = np.frombuffer(context.launch.parameters, np.uint8)
        self.values: dict[int, dict[int, Array]] = {}
        self.warps: dict[int, Warps] = {}
        self.shapes: dict[int, Shape] = {}
        self.issued = 0
        self.lane_instructions = 0
        self.finished_blocks = 0

    def run(self) -> None:
        """Run every block.

        Raises:
            KernelFault: the kernel was stopped.
        """
        context = self.context
        unit = context.blocks_per_cluster
        step = max(1, BATCH_LANES // (context.threads_per_block * unit)) * unit
        for first in range(0, context.blocks, step):
            count = min(step, context.blocks - first)
            batch = Batch(self, first, count)
            for hook in self.listeners.batch_begin:
                hook.batch_begin(first, count)
            batch.run()
            for hook in self.listeners.batch_end:
                hook.batch_end(first, count)
            self.finished_blocks += count

    def shape(self, blocks: int) -> Shape:
        """The arrays that batches of so many blocks share."""
        known = self.shapes.get(blocks)
        if known is None:
            known = self.shapes[blocks] = Shape(blocks, self.context.threads_per_block)
        return known


class Batch:
    """Some blocks of a launch, executed together.

    Attributes:
        first_block, blocks: which blocks; size: how many lanes.
        alive: per block, threads that have not exited; alive_count: all of them.
        spaces, warps, barriers, cluster_barriers: the parts that instructions use.
    """

    def __init__(self, runner: _Runner, first_block: int, blocks: int) -> None:
        self.runner = runner
        self.context = runner.context
        self.program = runner.program
        self.hooks = runner.listeners
        self.stdout = runner.stdout
        self.parameters = runner.parameters
        self.symbols = runner.symbols
        self.first_block = first_block
        self.blocks = blocks
        threads = self.context.threads_per_block
        self.size = blocks * threads
        self.spaces = Spaces(self.context, first_block, runner.shape(blocks), self.hooks.access)
        self.alive: NDArray[np.int64] = np.full(blocks, threads, np.int64)
        self.alive_count = self.size
        grid = self.context.launch.grid
        numbers = np.arange(first_block, first_block + blocks)
        self.block_position = np.stack(
            [numbers % grid.x, numbers // grid.x % grid.y, numbers // (grid.x * grid.y)]
        )
        self._warps: Warps | None = None
        self.barriers = BlockBarriers(self)
        self._cluster_barriers: ClusterBarriers | None = None
        self.parked_warps: list[tuple[Group, Instruction]] = []
        self.waiting: list[Group] = []
        self.schedule = Schedule(runner.schedule, first_block)

    @property
    def issued(self) -> int:
        """Instructions issued so far, what `%clock` shows."""
        return self.runner.issued

    @property
    def warps(self) -> Warps:
        """The batch's warps (made at first use)."""
        if self._warps is None:
            known = self.runner.warps.get(self.blocks)
            if known is None:
                known = self.runner.warps[self.blocks] = Warps(self.blocks, self.context.threads_per_block)
            self._warps = known
            self._refresh_alive()
        return self._warps

    @property
    def cluster_barriers(self) -> ClusterBarriers:
        """The cluster barriers (made at first use)."""
        if self._cluster_barriers is None:
            self._cluster_barriers = ClusterBarriers(self)
        return self._cluster_barriers

    # -- running -------------------------------------------------------------------------------------

    def run(self) -> None:
        """Run all lanes to their end.

        Raises:
            KernelFault: the kernel was stopped, or nothing can run any more.
        """
        origins = self.program.origins
        base: list[Array | None] = [None] * len(origins)
        self.exited = np.zeros(self.size, bool)

        kept = self.runner.values.setdefault(self.blocks, {})

        def missing(slot: int) -> Array:
            value = kept.get(slot)
            if value is None:
                value = initial_value(origins[slot], self)
                if not differs_by_batch(origins[slot]):
                    kept[slot] = value
            return value

        self.waiting = [
            Group(
                self.program.entries[self.program.name], (), None, self.size, base, base=base, missing=missing
            )
        ]
        while self.waiting:
            self._run_group(self._next())
            if not self.waiting:
                self._unstick()

    def _next(self) -> Group:
        """Take the group that runs next, merged with all others at the same place."""
        waiting = self.waiting
        if len(waiting) == 1:
            return waiting.pop()
        chosen = self.schedule.choose(waiting)
        same = [group for group in waiting if group.pc == chosen.pc and group.stack == chosen.stack]
        if len(same) == 1:
            waiting.remove(chosen)
            return chosen
        self.waiting = [group for group in waiting if group.pc != chosen.pc or group.stack != chosen.stack]
        return merge(same, self.program.live(chosen.pc, chosen.stack), self.size)

    def _run_group(self, group: Group) -> None:
        """Run one group until it waits, ends, splits, or should let another one run."""
        blocks = self.program.blocks
        runner = self.runner
        issue = self.hooks.issue
        while True:
            block = blocks[group.pc]
            count = len(block.instructions)
            runner.issued += count
            runner.lane_instructions += count * group.count
            if issue:
                for hook in issue:
                    hook.issue(block.instructions, group.count)
            for step in block.steps:
                step(group, self)
            end = block.end
            assert end is not None
            if not end(group, self):
                self._check_limits()
                return
            if self.waiting and self.schedule.yields(group, self.waiting):
                self.waiting.append(group)
                self._check_limits()
                return
            if group.back_edges & 63 == 63 or count > 1000:
                self._check_limits()

    def _check_limits(self) -> None:
        limits = self.runner.limits
        over = (
            limits.lane_instructions is not None and self.runner.lane_instructions > limits.lane_instructions
        )
        if not over and limits.deadline is not None:
            over = time.monotonic() > limits.deadline
        if over or (limits.stop is not None and limits.stop()):
            raise KernelFault(FaultKind.TIME_LIMIT, "the kernel did not end within its limit")

    def _unstick(self) -> None:
        """Nothing can run: fine when all lanes have exited, a deadlock otherwise."""
        if self.alive_count == 0:
            return
        waiters = [
            Waiter(
                parked.group.pick(self.spaces.threads),
                parked.instruction,
                WaitsFor.BLOCK_BARRIER,
                parked.barrier,
            )
            for parked in self.barriers.parked
        ]
        waiters += [
            Waiter(group.pick(self.spaces.threads), instruction, WaitsFor.WARP)
            for group, instruction in self.parked_warps
        ]
        if self._cluster_barriers is not None:
            waiters += [
                Waiter(parked.group.pick(self.spaces.threads), parked.instruction, WaitsFor.CLUSTER_BARRIER)
                for parked in self._cluster_barriers.parked
            ]
        for hook in self.hooks.stuck:
            hook.stuck(waiters)
        total = sum(len(waiter.threads) for waiter in waiters)
        first = waiters[0] if waiters else None
        raise KernelFault(
            FaultKind.DEADLOCK,
            f"{total} threads wait for each other and none can go on",
            thread=int(first.threads[0]) if first else -1,
            instruction=first.instruction if first else None,
        )

    # -- what ends of blocks ask for -----------------------------------------------------------------

    def resume(self, group: Group) -> None:
        """Let a group run when its turn comes."""
        self.waiting.append(group)

    def divide(self, group: Group, lanes: Array, first_pc: int, second_pc: int) -> tuple[Group, Group]:
        """Two groups: the lanes where `lanes` holds, at `first_pc`, and the others, at `second_pc`."""
        live = self.program.live(first_pc, group.stack) | self.program.live(second_pc, group.stack)
        # Lanes may go back to the instruction they are at, so its own operands are needed as well.
        live |= self.program.live(group.pc, group.stack)
        first = group.part(np.flatnonzero(lanes), first_pc, live)
        second = group.part(np.flatnonzero(~lanes), second_pc, live)
        for part in (first, second):
            part.back_edges = group.back_edges
            part.polling = group.polling
        return first, second

    def split(self, group: Group, lanes: Array, target: int, following: int, backwards: bool) -> None:
        """A branch that some lanes take and others do not."""
        taken, passed = self.divide(group, lanes, target, following)
        if backwards:
            taken.back_edges += 1
        self.waiting += (taken, passed)

    def scatter(self, group: Group, chosen: Array, targets: list[int]) -> None:
        """A jump table: lanes go where their index says."""
        for index in np.unique(chosen):
            live = self.program.live(targets[index], group.stack)
            self.waiting.append(group.part(np.flatnonzero(chosen == index), targets[index], live))

    def split_return(self, group: Group, lanes: Array, following: int, leave: bool) -> None:
        """A guarded return or exit that some lanes take."""
        gone, staying = self.divide(group, lanes, group.pc, following)
        self.waiting.append(staying)
        if gone.stack and not leave:
            self.leave(gone)
            self.waiting.append(gone)
        else:
            self.finish(gone)

    def leave(self, group: Group) -> None:
        """Return from a call."""
        place = group.stack[-1]
        group.stack = group.stack[:-1]
        group.pc = place
        copies = self.program.returns.get(place)
        if copies:
            self.spaces.copy_local(group, copies)

    def recursion(self, _group: Group, instruction: Instruction, name: str) -> None:
        """Stop at a recursive call: its registers would need a stack of their own.

        Raises:
            KernelFault: always.
        """
        raise KernelFault(
            FaultKind.ILLEGAL_INSTRUCTION, f"recursive call of {name}: not simulated", instruction=instruction
        )

    def finish(self, group: Group) -> None:
        """Lanes that exit."""
        self.alive_count -= group.count
        for hook in self.hooks.threads_exit:
            hook.threads_exit(group.pick(self.spaces.threads))
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
            parked, self.parked_warps = self.parked_warps, []
            for waiting, _ in parked:
                self.resume(waiting)

    def _refresh_alive(self) -> None:
        assert self._warps is not None
        whole = self.alive_count == self.size
        self._warps.alive = self._warps.full if whole else self._warps.masks(np.flatnonzero(~self.exited))

    def gather_warps(self, group: Group, mask: int, instruction: Instruction) -> Group | None:
        """The lanes of `group` whose whole mask is at this `.sync` instruction; the others are parked.

        Returns:
            the lanes that may go on (the group itself when it is all of them), or None.
        """
        mates = [
            entry for entry in self.parked_warps if entry[0].pc == group.pc and entry[0].stack == group.stack
        ]
        if mates:
            self.parked_warps = [entry for entry in self.parked_warps if entry not in mates]
            groups = [group, *(entry[0] for entry in mates)]
            group = merge(groups, self.program.live(group.pc, group.stack), self.size)
        masks = group.get(mask).view(U32)
        warps = self.warps
        if group.count != self.alive_count:
            warp = group.pick(warps.warp_of_lane)
            here = warps.masks(group.indices(self.size))[warp]
            complete = (masks & warps.alive[warp] & ~here) == 0
            if not complete.all():
                if not complete.any():
                    self.parked_warps.append((group, instruction))
                    return None
                ready, rest = self.divide(group, complete, group.pc, group.pc)
                self.parked_warps.append((rest, instruction))
                group = ready
                masks = group.get(mask).view(U32)
        self._tell_warps(group, masks, instruction)
        return group

    def _tell_warps(self, group: Group, masks: Array, instruction: Instruction) -> None:
        if self.hooks.warp_sync:
            told = np.broadcast_to(masks, group.count)
            for hook in self.hooks.warp_sync:
                hook.warp_sync(group.pick(self.spaces.threads), told, instruction)
        if self.hooks.warp_missing and self.alive_count != self.size:
            warps = self.warps
            absent = np.broadcast_to(masks, group.count) & ~warps.alive[group.pick(warps.warp_of_lane)]
            if absent.any():
                chosen = absent != 0
                for hook in self.hooks.warp_missing:
                    hook.warp_missing(group.pick(self.spaces.threads)[chosen], absent[chosen], instruction)
