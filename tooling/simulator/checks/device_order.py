"""Race check across GPUs: kernels of two devices access the same bytes, and nothing orders the accesses.

Two things order them: streams, as `host_order` follows them (a kernel that another one waits for is complete
before it), and releases and acquires at system scope in the kernels (PTX ISA 8.5, 8.8): a flag that is
written or read with a narrower scope, or relaxed, orders nothing. Blocks are followed as a whole, as the
race check does between the blocks of a launch, which may miss a race but reports no false one.

A kernel may finish before the one that it races with begins: what it accessed is kept until the host has
waited for it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from tooling.simulator.backends import backend_of
from tooling.simulator.checks.base import CheckHook, action_of, party_in, survivors
from tooling.simulator.checks.findings import Action, Check, Finding, Kind, Severity
from tooling.simulator.checks.footprint import Footprints, Piece
from tooling.simulator.checks.happens_before.block_order import BlockOrder
from tooling.simulator.checks.host_order import HostOrderCheck, Operation
from tooling.simulator.checks.shadow import sparse_zeros
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.device_memory import Allocation
from tooling.simulator.gpu.hooks import Access, AccessKind, Hook, Ints, LaunchContext, Space
from tooling.simulator.gpu.kernel_names import readable_kernel
from tooling.simulator.program.backend import Accesses, Scope

_GRANULE = 4


class _Launch(Struct, eq=False):
    """A launch: its first agent (an agent is a block of a launch), and whether it uses system scope."""

    context: LaunchContext
    operation: Operation
    first: int
    accesses: Accesses
    meets: bool = False

    @property
    def device(self) -> int:
        return self.context.launch.device

    def agents(self, threads: Ints) -> Ints:
        """(n,) the agents of these threads."""
        return self.first + threads // self.context.threads_per_block


class _Logged(Struct, frozen=True, eq=False):
    """An access by its clock."""

    launch: _Launch
    instruction: Instruction
    action: Action
    strong: bool
    system: bool
    clock: int


class _Last(Struct):
    """Of each granule, the last access of a kind.

    Attributes:
        after: one more than its clock; 0 without an access.
        thread: that made it.
    """

    after: Ints
    thread: Ints

    @classmethod
    def of(cls, count: int) -> _Last:
        return cls(sparse_zeros(count, np.int64), sparse_zeros(count, np.int64))

    def divided(self, parts: int) -> _Last:
        return _Last(np.repeat(self.after, parts), np.repeat(self.thread, parts))


class _Shadow(Struct):
    """The accesses to one allocation, by device."""

    granule: int
    count: int
    writers: dict[int, _Last] = field(default_factory=dict)
    readers: dict[int, _Last] = field(default_factory=dict)

    def divide(self) -> None:
        """From now on each byte is a granule."""
        parts, self.granule, self.count = self.granule, 1, self.count * self.granule
        for table in (self.writers, self.readers):
            for device, last in table.items():
                table[device] = last.divided(parts)

    def granules(self, piece: Piece) -> tuple[Ints, Ints]:
        """The granules that the lanes of an access touch, and the lane of each."""
        offsets, size = piece.offsets(), piece.access.bytes
        if self.granule > 1 and (size % self.granule or (offsets % self.granule).any()):
            self.divide()
        each = max(1, size // self.granule)
        granules = (offsets[:, None] // self.granule + np.arange(each)).ravel()
        return granules, np.repeat(np.arange(len(offsets)), each)


class _Program(Struct):
    """What the launches of a program share."""

    order: BlockOrder = field(default_factory=lambda: BlockOrder(0, 0))
    launches: list[_Launch] = field(default_factory=list)
    log: list[_Logged] = field(default_factory=list)
    shadows: dict[int, _Shadow] = field(default_factory=dict)
    agents: int = 0

    def add(self, context: LaunchContext, operation: Operation) -> _Launch:
        """A launch begins: its blocks know what the launches before it have acquired."""
        launch = _Launch(context, operation, self.agents, backend_of(context.module).accesses(context))
        self.agents += context.blocks
        self.order.grow(self.agents)
        for earlier in self.launches:
            if operation.after(earlier.operation):
                mine = range(launch.first, self.agents)
                self.order.inherit(range(earlier.first, earlier.first + earlier.context.blocks), mine)
        self.launches.append(launch)
        return launch

    def reached(self, agent: int) -> Ints:
        """(agents,) the clock before which the accesses of each agent happen before this one's."""
        return self.order.reached(agent)

    def launch_of(self, agent: int) -> _Launch:
        return next(each for each in reversed(self.launches) if each.first <= agent)


class DeviceRaceCheck(CheckHook):
    """Races between kernels of two devices; flags whose scope excludes the other device; freed memory.

    Args:
        host_order: knows how streams order the launches.
    """

    check = Check.RACES

    def __init__(self, footprints: Footprints, host_order: HostOrderCheck) -> None:
        super().__init__()
        self._footprints = footprints
        self._host_order = host_order
        self._program = _Program()
        self._launch: _Launch | None = None
        self._operation: Operation | None = None

    def for_launch(self, twins: Mapping[int, Hook]) -> DeviceRaceCheck:
        """A twin that knows the call that makes the launch."""
        twin = super().for_launch(twins)
        assert isinstance(twin, DeviceRaceCheck)
        twin._operation = self._host_order.operation
        return twin

    def launch_begin(self, context: LaunchContext) -> None:
        super().launch_begin(context)
        self._launch = self._program.add(context, self._operation) if self._operation else None

    def launch_end(self, context: LaunchContext) -> None:
        """Copies after this launch follow, as a whole, the launches that it has met."""
        launch = self._launch
        if launch is None or not launch.meets:
            return
        met = set()
        for agent in range(launch.first, launch.first + context.blocks):
            for other in np.flatnonzero(self._program.reached(agent)).tolist():
                met.add(id(self._program.launch_of(other)))
        for each in self._program.launches:
            if id(each) in met and each is not launch:
                self._host_order.met(launch.operation, each.operation)

    def fence(self, threads: Ints, instruction: Instruction) -> None:
        launch = self._launch
        if launch is None or launch.accesses.scope(instruction) < Scope.SYSTEM:
            return
        order = launch.accesses.order(instruction)
        if order.reaches:
            launch.meets = True
            agents = np.unique(launch.agents(threads))
            self._program.order.fence(agents, acquires=order.acquires, releases=order.releases)

    def access(self, access: Access) -> None:
        """Compare an access with those of other devices, then record it."""
        launch = self._launch
        if launch is None or access.space is not Space.GLOBAL:
            return
        access = survivors(access)
        if not len(access.threads):
            return
        strong = access.kind is AccessKind.ATOMIC or access.instruction.is_strong
        system = strong and launch.accesses.scope(access.instruction) >= Scope.SYSTEM
        log = self._program.log
        clock = len(log)
        log.append(_Logged(launch, access.instruction, action_of(access), strong, system, clock))
        if system:
            self._synchronise(launch, access, clock + 1)
        for piece in self._footprints.of(access, self.context.memory).pieces:
            if not piece.allocation.of_runtime:
                self._compare_and_record(launch, piece, clock)

    def _synchronise(self, launch: _Launch, access: Access, now: int) -> None:
        launch.meets = True
        self._program.order.access(
            launch.agents(access.threads),
            self.context.memory.physical_addresses(access.addresses),
            now,
            acquires=launch.accesses.acquires(access.instruction),
            releases=access.kind is not AccessKind.LOAD,
            order=launch.accesses.order(access.instruction),
        )

    def _compare_and_record(self, launch: _Launch, piece: Piece, clock: int) -> None:
        allocation, device = piece.allocation, launch.device
        shadow = self._program.shadows.get(allocation.physical_address)
        if shadow is None:
            count = -(-allocation.size // _GRANULE)
            shadow = self._program.shadows[allocation.physical_address] = _Shadow(_GRANULE, count)
        granules, lanes = shadow.granules(piece)
        writes = piece.access.kind is not AccessKind.LOAD
        for other, last in shadow.writers.items():
            if other != device:
                kind = Kind.DEVICE_WRITE_WRITE if writes else Kind.DEVICE_READ_WRITE
                self._compare(launch, piece, granules, lanes, last, kind)
        for other, last in shadow.readers.items() if writes else ():
            if other != device:
                self._compare(launch, piece, granules, lanes, last, Kind.DEVICE_WRITE_READ)
        table = shadow.writers if writes else shadow.readers
        own = table.get(device)
        if own is None:
            own = table[device] = _Last.of(shadow.count)
        own.after[granules] = clock + 1
        own.thread[granules] = piece.access.threads[lanes]

    def _compare(  # noqa: PLR0917 - an access, and what it is compared with
        self, launch: _Launch, piece: Piece, granules: Ints, lanes: Ints, last: _Last, kind: Kind
    ) -> None:
        """Report the accesses of another device, in these granules, that are not ordered before this one."""
        clocks = last.after[granules] - 1
        if clocks.max() < 0:
            return
        log = self._program.log
        mine = log[-1]
        for clock in np.unique(clocks[clocks >= 0]).tolist():
            other = log[clock]
            if launch.operation.after(other.launch.operation):
                continue
            here = np.flatnonzero(clocks == clock)
            if mine.strong and other.strong:
                if not (mine.system and other.system):
                    self._report(Kind.DEVICE_SCOPE, launch, piece, lanes[here], other, last, granules[here])
                continue
            agents = launch.agents(piece.access.threads[lanes[here]])
            others = other.launch.agents(last.thread[granules[here]])
            here = here[self._unordered(agents, others, other)]
            if len(here):
                self._report(kind, launch, piece, lanes[here], other, last, granules[here])

    def _unordered(self, agents: Ints, others: Ints, other: _Logged) -> NDArray[np.bool_]:
        """(n,) whether the access of each other agent does not happen before the agent's access of now."""
        result = np.ones(len(agents), np.bool_)
        for agent in np.unique(agents).tolist():
            row = self._program.reached(agent)
            chosen = agents == agent
            result[chosen] = other.clock >= row[others[chosen]]
            if result[chosen].any() and self._follows(row, other.launch):
                result[chosen] = False
        return result

    def _follows(self, row: Ints, launch: _Launch) -> bool:
        """Whether something was acquired from a launch that follows another one, in its streams."""
        return any(
            self._program.launch_of(agent).operation.after(launch.operation)
            for agent in np.flatnonzero(row).tolist()
        )

    def _report(  # noqa: PLR0917 - both sides of the race
        self,
        kind: Kind,
        launch: _Launch,
        piece: Piece,
        lanes: Ints,
        other: _Logged,
        last: _Last,
        granules: Ints,
    ) -> None:
        access, earlier = piece.access, other
        kernels = (launch.context.launch.function.name, other.launch.context.launch.function.name)
        key = (kind, kernels, access.instruction.code_line, earlier.instruction.code_line)
        if self.again(key, len(lanes)):
            return
        lane = int(lanes[0])
        parties = (
            party_in(launch.context, int(access.threads[lane]), action_of(access), access.instruction),
            party_in(
                other.launch.context,
                int(last.thread[granules[0]]),
                earlier.action,
                earlier.instruction,
            ),
        )
        finding = Finding(
            self.check,
            kind,
            Severity.ERROR,
            self.kernel(),
            parties,
            self.buffer(piece.allocation, access.element_bytes),
            offset=int(access.addresses[lane]) - piece.allocation.base,
            size=access.bytes,
            count=len(lanes),
            meets=launch.meets and other.launch.meets,
        )
        self.note(key, finding)

    def free(self, allocation: Allocation) -> None:
        """Report kernels of other devices that have accessed the memory and that the free does not follow."""
        shadow = self._program.shadows.pop(allocation.physical_address, None)
        if shadow is None or allocation.host:
            return
        for device, last in (*shadow.readers.items(), *shadow.writers.items()):
            if device == allocation.device:
                continue
            for after in np.unique(last.after[last.after > 0]).tolist():
                logged = self._program.log[after - 1]
                if not self._host_order.free_follows(logged.launch.operation):
                    granule = int(np.flatnonzero(last.after == after)[0])
                    self._report_free(allocation, logged, int(last.thread[granule]), granule * shadow.granule)

    def _report_free(self, allocation: Allocation, logged: _Logged, thread: int, offset: int) -> None:
        context = logged.launch.context
        key = (Kind.FREED_BEFORE_READ, context.launch.function.name, logged.instruction.code_line)
        finding = Finding(
            self.check,
            Kind.FREED_BEFORE_READ,
            Severity.ERROR,
            readable_kernel(context.launch.function.name, context.module.files.values()),
            (party_in(context, thread, logged.action, logged.instruction),),
            self.buffer(allocation, 0, context.memory),
            offset=offset,
        )
        self.note(key, finding)
