"""The counting hook: accesses by instruction and route, with the most expensive request of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct, field

from tooling.simulator.backends import backend_of, default_backend
from tooling.simulator.checks.base import lanes_of, survivors
from tooling.simulator.checks.copy_sides import Side, WatchedCopies
from tooling.simulator.counters.banks import Service
from tooling.simulator.counters.issue import IssueCounter, WarpWork
from tooling.simulator.counters.measure import measure
from tooling.simulator.counters.traffic import Counts, Route
from tooling.simulator.counters.warp_rows import distinct_warps, warp_rows, warps_and_lanes
from tooling.simulator.gpu.code_model import Instruction, Integer
from tooling.simulator.gpu.hooks import Access, AccessKind, Ints, LaunchContext, Space, Transfer
from tooling.simulator.gpu.lanes import Lanes
from tooling.simulator.program.counting import CountingRules


class Sample(Struct, frozen=True, eq=False):
    """The most expensive request of an instruction; of equal ones the first.

    Attributes:
        addresses: (lanes of a warp,) byte addresses (GLOBAL) or offsets in the window, NONE for absent lanes.
        width: bytes per lane.
        cost: sectors, or wavefronts in shared memory.
        warp: its number in the launch; service: how banks serve it (shared memory).
    """

    addresses: Ints
    width: int
    cost: int
    warp: int
    service: Service | None = None


class Tally(Struct):
    """The counts of one instruction."""

    instruction: Instruction
    counts: Counts = field(default_factory=Counts)
    samples: dict[Route, Sample] = field(default_factory=dict)


class CounterHook(WatchedCopies):
    """Counts one launch. It comes after the memory check, which suppresses faulty lanes.

    Attributes:
        tallies: the counts, by the identity of the instruction; complete after `launch_end`.
        work: of the warps; complete after `launch_end`.
        stages: mbarriers that counted copies of a block at the same time, at most: of copies whose end a
            thread does not know when it starts another one.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tallies: dict[int, Tally] = {}
        self.work = WarpWork()
        self.stages = 0
        self._issue = IssueCounter(1)
        self._threads_per_block = 1
        self._read: frozenset[str] = frozenset()
        self._rules = default_backend().counting

    def launch_begin(self, context: LaunchContext) -> None:
        super().launch_begin(context)
        self._threads_per_block = context.threads_per_block
        backend = backend_of(context.module)
        self._rules = backend.counting
        self._read = backend.registers_read(context)
        self._issue = IssueCounter(context.threads_per_block, context.lanes_per_block, self._rules.lanes)

    def launch_end(self, context: LaunchContext) -> None:
        self.work = self._issue.work()
        for instruction, warps, lanes in self._issue.counted():
            counts = self._tally(instruction).counts
            counts.instructions += warps
            counts.lanes += lanes
            if self._rules.is_barrier(instruction):
                counts.barriers += warps
            if self._rules.is_matrix(instruction):
                counts.tensor += warps

    def batch_begin(self, first_block: int, blocks: int) -> None:
        self._issue.batch(first_block, blocks)

    def issue(self, instructions: Sequence[Instruction], lanes: Lanes, executing: int | None) -> None:
        self._issue.issue(instructions, lanes, executing)

    def batch_end(self, first_block: int, blocks: int) -> None:
        self._sides.keep(lambda side: not first_block <= side.block < first_block + blocks)

    def warp_sync(self, threads: Ints, masks: np.ndarray, instruction: Instruction) -> None:
        super().warp_sync(threads, masks, instruction)
        warps, _ = warps_and_lanes(threads, self._threads_per_block, self._rules.lanes)
        counts = self._tally(instruction).counts
        own = distinct_warps(warps)
        self._issue.issue_one(own)
        issued = len(own)
        counts.instructions += issued
        if self._rules.is_matrix(instruction):
            counts.tensor += issued
        counts.lanes += len(threads)

    def access(self, access: Access) -> None:
        if "const" in access.instruction.modifiers:
            return  # served by the constant cache: none of the counters below counts it
        if access.transfer is not None and "bulk" in access.instruction.modifiers:
            self._bulk_copy(access)
            return
        if access.instruction.opcode == "wgmma":
            return  # the tensor cores read their operands, not the path of loads and stores
        width = access.bytes
        if access.asynchronous and access.space is Space.GLOBAL:
            # A copy with a source size is reported word by word; its first word represents all of it.
            width = _copied_bytes(access.instruction)
            if width != access.bytes:
                access = survivors(access)
                access = lanes_of(access, np.flatnonzero(access.addresses % width == 0))
        rows = warp_rows(access, self._threads_per_block, self._rules.lanes)
        if rows is None:
            return
        route = route_of(access, self._read, self._rules)
        tally = self._tally(access.instruction)
        service = service_of(access) if access.space is Space.SHARED else None
        traffic, cost = measure(rows.addresses, width, route, service, self._rules)
        tally.counts.routes[route].add(traffic)
        most_expensive = int(np.argmax(cost))
        known = tally.samples.get(route)
        if known is None or cost[most_expensive] > known.cost:
            tally.samples[route] = Sample(
                rows.addresses[most_expensive].copy(),
                width,
                int(cost[most_expensive]),
                int(rows.warps[most_expensive]),
                service,
            )

    def _bulk_copy(self, access: Access) -> None:
        if access.space is not Space.GLOBAL:  # the banks do not serve it through the path of loads and stores
            if access.transfer is not None and access.transfer.barrier is not None:
                self._fill(access.transfer, access.transfer.barrier[0])
            return
        counts = self._tally(access.instruction).counts
        copied = access.bytes * len(survivors(access).addresses)
        if access.kind is AccessKind.LOAD:
            counts.bulk_read += copied
        else:
            counts.bulk_written += copied

    def _fill(self, transfer: Transfer, block: int) -> None:
        """A copy to shared memory begins, that an mbarrier of this block counts."""
        thread, nowhere = np.array([transfer.thread]), np.zeros(1, np.int64)
        self._sides.keep(lambda side: side.block != block or not self._sides.observed_by(side, thread).all())
        self._sides.add(Side(transfer, True, False, block, nowhere, nowhere))
        barriers = {side.transfer.barrier for side in self._sides if side.block == block}
        self.stages = max(self.stages, len(barriers))

    def _tally(self, instruction: Instruction) -> Tally:
        tally = self.tallies.get(id(instruction))
        if tally is None:
            tally = self.tallies[id(instruction)] = Tally(instruction)
        return tally


def route_of(access: Access, read: frozenset[str], rules: CountingRules) -> Route:
    """The route of an access; an atomic whose result is unused is a reduction."""
    name = access.space.name
    if access.asynchronous:
        return Route[f"{name}_ASYNC"]
    if access.kind is not AccessKind.ATOMIC:
        return Route[f"{name}_{access.kind.name}"]
    if access.space is Space.GLOBAL and not rules.returns(access.instruction, read):
        return Route.GLOBAL_REDUCTION
    return Route.GLOBAL_ATOMIC if access.space is Space.GLOBAL else Route.SHARED_ATOMIC


def service_of(access: Access) -> Service:
    """How the banks serve a shared-memory access."""
    if access.asynchronous:
        return Service.SINGLE
    if access.kind is AccessKind.LOAD:
        return Service.LOAD
    if access.kind is AccessKind.STORE:
        return Service.STORE
    instruction = access.instruction
    if "cas" in instruction.modifiers:
        return Service.EXCHANGE
    # ptxas turns `red.add 1` into a population count of the lanes at each word.
    counting = instruction.opcode == "red" and "add" in instruction.modifiers
    return Service.STORE if counting and instruction.operands[-1] == Integer(1) else Service.SINGLE


def _copied_bytes(instruction: Instruction) -> int:
    size = instruction.operands[2]
    return size.value if isinstance(size, Integer) else 4
