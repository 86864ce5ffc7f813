"""Host order check: what the host enqueues runs later, and work of two streams in any order.

On hardware a launch or an asynchronous copy returns before its work is done; here it is complete at once.
This check keeps a vector clock for each stream, event and for the host, as the CUDA driver API orders them
("Stream synchronization behavior"), and reports two operations on the same bytes that nothing orders. The
stand-in driver reports accesses of the host to pinned memory that a copy or a kernel uses. A copy between
the device and pageable host memory is complete for the host when the call returns ("API synchronization
behavior").

A host that reads too early sees the old contents, until its next call of the driver.

Not seen: pinned memory whose address a kernel gets from memory, not from an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.simulator.checks.base import CheckHook, allocation_number, survivors
from tooling.simulator.checks.findings import (
    Buffer,
    Check,
    Finding,
    HostAction,
    HostCall,
    Kind,
    Memory,
    Severity,
    SourcePosition,
)
from tooling.simulator.checks.footprint import Footprints
from tooling.simulator.checks.happens_before.copy_times import CopyClock, CopyTimes
from tooling.simulator.checks.shadow import sparse_zeros
from tooling.simulator.gpu.device_memory import Allocation, DeviceMemory
from tooling.simulator.gpu.hooks import Access, AccessKind, LaunchContext, Space
from tooling.simulator.gpu.streams import (
    DEVICE_SHIFT,
    NON_BLOCKING,
    OF_GRAPH,
    explicit_stream,
    legacy_stream,
)

Clock = dict[int, int]
"""By stream, the number of its operations that are complete before what comes next."""

Position = Callable[[], SourcePosition]
Mask = NDArray[np.uint8]

_MOST_USES = 256

_READ, _WRITTEN, _ATOMIC = 1, 2, 4
_BITS = {AccessKind.LOAD: _READ, AccessKind.STORE: _WRITTEN, AccessKind.ATOMIC: _ATOMIC}
_CONFLICTS = np.array(
    [
        [bool((a & _WRITTEN and b) or (b & _WRITTEN and a) or {a & 5, b & 5} == {1, 4}) for b in range(8)]
        for a in range(8)
    ]
)
"""Whether bytes with these bits are used in conflict: atomic updates do not conflict with each other."""


class Operation(Struct, eq=False):
    """Work of one call: its stream, its number in the stream, and the clock of what precedes it."""

    stream: int
    number: int
    before: Clock
    position: Position
    action: HostAction = HostAction.LAUNCH
    kernel: str = ""

    def after(self, other: Operation) -> bool:
        """Whether the other one is complete before this one starts."""
        return self.before.get(other.stream, 0) >= other.number


class _Use(Struct, frozen=True, eq=False):
    """The bytes `low` to `high` (exclusive) of an allocation that an operation uses; `mask`: how each."""

    operation: Operation
    low: int
    high: int
    bits: int
    mask: Mask | None = None

    def bits_of(self, low: int, high: int) -> Mask | int:
        return self.bits if self.mask is None else self.mask[low - self.low : high - self.low]


_Call: TypeAlias = tuple[Operation | None, tuple[int, int]]
"""A call's work, and the host's side of the copy that it is."""


class InFlight(Struct, frozen=True, eq=False):
    """Pinned memory that a copy or a kernel uses until the host has waited; `written` if it writes it."""

    operation: Operation
    address: int
    size: int
    written: bool

    def holds(self, address: int) -> bool:
        return self.address <= address < self.address + self.size


class _Early(Struct, frozen=True, eq=False):
    """Pinned memory in which the host sees the old contents."""

    address: int
    old: NDArray[np.uint8]
    current: NDArray[np.uint8]


class HostOrderCheck(CheckHook):
    """Streams without an event between them; host accesses to memory that a copy is using."""

    check = Check.RACES

    def __init__(self, footprints: Footprints) -> None:
        super().__init__()
        self._footprints = footprints
        self._host: Clock = {}
        self._streams: dict[int, Clock] = {}
        self._numbers: dict[int, int] = {}
        self._devices: dict[int, int] = {}
        self._non_blocking: set[int] = set()
        self._of_graphs: set[int] = set()
        self._events: dict[int, Clock] = {}
        self._operation: Operation | None = None
        self._host_side: tuple[int, int] = (0, 0)
        self._in_flight: list[InFlight] = []
        self._old: dict[int, NDArray[np.uint8]] = {}
        self._early: list[_Early] = []
        self._takes_pinned = False
        self._signals = False
        self._uses: dict[int, list[_Use]] = {}
        self._masks: dict[int, Mask] = {}
        self._meetings: list[tuple[Operation, Operation]] = []
        self._copies = CopyClock()
        self.deferred = False  # several devices: work is done after later calls
        self.freeing: Clock = {}

    # -- what the driver reports ---------------------------------------------------------------------

    @property
    def operation(self) -> Operation | None:
        """The work of the latest call."""
        return self._operation

    @property
    def copies(self) -> CopyTimes:
        """The program's copies, and how long they take as their order allows."""
        return self._copies.times(streams=self.overlaps)

    def met(self, operation: Operation, other: Operation) -> None:
        """A kernel has acquired what a kernel of another device released: what follows it follows that one.

        As a whole, which may miss a race but reports no false one.
        """
        self._meetings.append((operation, other))

    def before_free(self, device: int) -> Clock:
        """What is complete before memory of a device is freed now: its work, and what the host waited for."""
        clock = dict(self._host)
        for stream, known in self._streams.items():
            if self._device_of(stream) == device:
                _join(clock, known)
        return clock

    def free_follows(self, operation: Operation) -> bool:
        """Whether work is complete before the memory is freed whose `free` is being reported."""
        return self.freeing.get(operation.stream, 0) >= operation.number

    def call(self, stream: int, waits: bool, host_address: int, position: Position) -> None:
        """The next work is enqueued by this call; `waits` if the call returns when the work is complete."""
        stream = explicit_stream(stream)
        clock = self._clock_of(stream)
        _join(clock, self._host)
        for other in self._implicit(stream):
            _join(clock, self._clock_of(other))
        before = dict(clock)
        self._copies.begin(stream, before)
        clock[stream] = clock.get(stream, 0) + 1
        self._operation = Operation(stream, clock[stream], before, position)
        self._host_side = (host_address, 0)
        if waits:
            _join(self._host, clock)

    def current_call(self) -> _Call:
        """The call whose work comes next, to be resumed when that work is done later."""
        return self._operation, self._host_side

    def resume_call(self, call: _Call) -> None:
        """The next work is that of an earlier call."""
        self._operation, self._host_side = call

    def create_stream(self, stream: int, flags: int) -> None:
        self._clock_of(stream)
        if flags & OF_GRAPH:
            self._of_graphs.add(stream)
        else:
            self._numbers[stream] = 1 + len(self._numbers)
        self._devices[stream] = flags >> 32
        if flags & NON_BLOCKING:
            self._non_blocking.add(stream)

    def record_event(self, stream: int, event: int) -> None:
        self._events[event] = self._reached(stream)

    def stream_waits(self, stream: int, event: int) -> None:
        _join(self._clock_of(explicit_stream(stream)), self._events.get(event, {}))

    def wait_for_stream(self, stream: int, _event: int) -> None:
        _join(self._host, self._reached(stream))

    def wait_for_event(self, _stream: int, event: int) -> None:
        _join(self._host, self._events.get(event, {}))

    def finished(self) -> Iterator[tuple[int, int]]:
        """(address, bytes) of pinned memory whose copies the host has waited for by now; each one once."""
        done = [each for each in self._in_flight if self._host_waited(each.operation)]
        self._in_flight[:] = [each for each in self._in_flight if each not in done]
        busy = [(each.address, each.address + each.size) for each in self._in_flight]
        for base, old in list(self._old.items()):
            if not any(base <= each.address < base + len(old) for each in self._in_flight):
                del self._old[base]
        for each in done:
            if not any(low < each.address + each.size and each.address < high for low, high in busy):
                yield each.address, each.size

    def touch(self, memory: DeviceMemory, address: int, position: Position) -> None:
        """The host accesses pinned memory that a copy or a kernel is using."""
        using = [each for each in self._in_flight if each.holds(address)]
        allocation = memory.containing(address)
        if not using or allocation is None:
            return
        work = next((each for each in reversed(using) if each.written), using[-1])
        kind, action = Kind.HOST_WRITES_EARLY, HostAction.WRITE
        if work.written:
            kind, action = Kind.HOST_READS_EARLY, HostAction.ACCESS
        here = HostCall(action, position())
        self._note(kind, memory, allocation, address - allocation.base, (here, self._call_of(work.operation)))
        self._in_flight[:] = [each for each in self._in_flight if each not in using]
        old = self._old.pop(allocation.base, None)
        if old is not None:
            view = memory.view(allocation.base, allocation.size)
            self._early.append(_Early(allocation.base, old, view.copy()))
            view[:] = old

    def show_current(self, memory: DeviceMemory) -> None:
        """The program calls the driver: from now on it sees the contents that the GPU has written."""
        for early in self._early:
            view = memory.view(early.address, len(early.old))
            np.copyto(view, early.current, where=view == early.old)
        self._early.clear()

    def used_by_kernel(self) -> list[InFlight]:
        """The pinned memory that the latest launch uses and the host has not waited for."""
        return [each for each in self._in_flight if each.operation is self._operation]

    # -- the events of its work ----------------------------------------------------------------------

    def host_write(self, memory: DeviceMemory, address: int, size: int) -> None:
        operation = self._operation
        if operation is None:
            return
        host, first = self._host_side
        operation.action = HostAction.COPY_TO_DEVICE if host else HostAction.FILL
        self._host_side = (host, first or address)
        if host:
            self._copy(size, to_gpu=True)
            self._use_host(memory, host + address - (first or address), size, _READ)
        self._use(memory, address, size, _WRITTEN)

    def host_copy(self, memory: DeviceMemory, address: int, size: int) -> None:
        if self._operation is not None:
            self._operation.action = HostAction.COPY_TO_HOST
            self._copy(size, to_gpu=False)
            self._use(memory, address, size, _READ)
            self._use_host(memory, self._host_side[0], size, _WRITTEN)

    def device_copy(self, memory: DeviceMemory, address: int, source: int, size: int) -> None:
        if self._operation is not None:
            self._operation.action = HostAction.COPY_ON_DEVICE
            self._use(memory, source, size, _READ)
            self._use(memory, address, size, _WRITTEN)

    def launch_begin(self, context: LaunchContext) -> None:
        super().launch_begin(context)
        self._masks = {}
        self._signals = False
        self._takes_pinned = self._operation is not None and any(
            allocation.host and allocation.live and self.is_argument(allocation)
            for allocation in context.memory
        )
        if self._operation is not None:
            self._operation.kernel = self.kernel()

    def access(self, access: Access) -> None:
        if access.space is not Space.GLOBAL or not (self._concurrent or self._takes_pinned):
            return
        access = survivors(access)
        for piece in self._footprints.of(access, self.context.memory).pieces:
            allocation = piece.allocation
            if not allocation.host and not self._concurrent:
                continue
            if allocation.host and access.kind is not AccessKind.LOAD:
                self._signals |= access.kind is AccessKind.ATOMIC or access.instruction.is_strong
                self._keep_old(self.context.memory, allocation)
            mask = self._masks.get(allocation.base)
            if mask is None:
                mask = self._masks[allocation.base] = sparse_zeros(allocation.size, np.uint8)
            bits = np.uint8(_BITS[access.kind])
            if piece.access.contiguous or piece.access.uniform:
                mask[piece.low : piece.high] |= bits
            else:
                offsets = np.unique(piece.offsets())
                for byte in range(access.bytes):
                    mask[offsets + byte] |= bits

    def launch_end(self, context: LaunchContext) -> None:
        for base, mask in self._masks.items():
            allocation = context.memory.containing(base)
            if allocation is None or self._operation is None:
                continue
            if self._concurrent:
                bits = int(np.bitwise_or.reduce(mask))
                self._enter(context.memory, allocation, _Use(self._operation, 0, allocation.size, bits, mask))
            if allocation.host:
                self._keep_in_flight(allocation, mask)
        self._masks = {}

    def _keep_in_flight(self, allocation: Allocation, mask: Mask) -> None:
        """Pinned memory is in use until the host waits for the kernel.

        A kernel that stores to pinned memory atomically, or with an order, may be telling the host that data
        are ready: then nothing is reported.
        """
        assert self._operation is not None
        if self._signals:
            return
        for bits, written in ((_READ, False), (_WRITTEN | _ATOMIC, True)):
            used = np.flatnonzero(mask & bits)
            if len(used):
                low, high = int(used[0]), int(used[-1]) + 1
                self._in_flight.append(InFlight(self._operation, allocation.base + low, high - low, written))

    def _keep_old(self, memory: DeviceMemory, allocation: Allocation) -> None:
        """Keep the contents of pinned memory from before the work that the host has not waited for."""
        if allocation.base not in self._old:
            self._old[allocation.base] = memory.view(allocation.base, allocation.size).copy()

    def free(self, allocation: Allocation) -> None:
        self._uses.pop(allocation.physical_address, None)
        self._old.pop(allocation.base, None)
        self._early[:] = [each for each in self._early if each.address != allocation.base]
        self._in_flight[:] = [
            each for each in self._in_flight if not allocation.base <= each.address < allocation.end
        ]

    # -- clocks --------------------------------------------------------------------------------------

    @property
    def overlaps(self) -> bool:
        """Whether work of several streams may overlap."""
        return len(self._numbers) > 1 or bool(self._non_blocking)

    @property
    def _concurrent(self) -> bool:
        """Whether the bytes of each operation are kept."""
        return self.overlaps and self._operation is not None

    def _clock_of(self, stream: int) -> Clock:
        return self._streams.setdefault(stream, {})

    def _implicit(self, stream: int) -> Iterator[int]:
        """The streams whose earlier work precedes this stream's next work without an event."""
        device = self._device_of(stream)
        legacy = legacy_stream(device)
        if stream == legacy:
            for other in list(self._streams):
                if other not in self._non_blocking and self._device_of(other) == device:
                    yield other
        elif stream not in self._non_blocking:
            yield legacy

    def _device_of(self, stream: int) -> int:
        return self._devices.get(stream, stream >> DEVICE_SHIFT)

    def _reached(self, stream: int) -> Clock:
        stream = explicit_stream(stream)
        reached = dict(self._clock_of(stream))
        for other in self._implicit(stream):
            _join(reached, self._clock_of(other))
        _join(reached, self._host)
        return reached

    def _host_waited(self, operation: Operation) -> bool:
        return self._host.get(operation.stream, 0) >= operation.number

    # -- memory --------------------------------------------------------------------------------------

    def _copy(self, size: int, *, to_gpu: bool) -> None:
        operation = self._operation
        assert operation is not None
        device = self._device_of(operation.stream)
        self._copies.copy(operation.stream, operation.number, device, size, to_gpu=to_gpu)

    def _use_host(self, memory: DeviceMemory, address: int, size: int, bits: int) -> None:
        """The host's side of a copy: pinned memory is in use until the host waits for the copy."""
        operation, allocation = self._operation, memory.containing(address)
        if operation is None or allocation is None or not allocation.host:
            return
        self._use(memory, address, size, bits)
        if not self._host_waited(operation):
            self._in_flight.append(InFlight(operation, address, size, bits == _WRITTEN))
            if bits == _WRITTEN:
                self._keep_old(memory, allocation)

    def _use(self, memory: DeviceMemory, address: int, size: int, bits: int) -> None:
        allocation = memory.containing(address)
        if allocation is not None and self._operation is not None and self._concurrent:
            low = address - allocation.base
            self._enter(memory, allocation, _Use(self._operation, low, low + size, bits))

    def _enter(self, memory: DeviceMemory, allocation: Allocation, use: _Use) -> None:
        """Compare a use with those that nothing orders before it, and keep it."""
        operation = use.operation
        kept = [
            each
            for each in self._uses.get(allocation.physical_address, ())
            if self.deferred or not self._host_waited(each.operation)
        ]
        for other in kept:
            if other.operation is not operation and not self._follows(use, other):
                offset = _conflict(use, other)
                if offset is not None:
                    calls = (self._call_of(operation), self._call_of(other.operation))
                    both = {operation.stream, other.operation.stream} <= self._of_graphs
                    kind = Kind.GRAPH_RACE if both else Kind.STREAM_RACE
                    self._note(kind, memory, allocation, offset, calls)
                    break
        self._uses[allocation.physical_address] = [*kept[-_MOST_USES:], use]

    def _follows(self, use: _Use, other: _Use) -> bool:
        """Whether the other use is complete before this one; kernels of two devices: see `device_order`."""
        operation, earlier = use.operation, other.operation
        if operation.after(earlier):
            return True
        kernels = use.mask is not None and other.mask is not None
        if kernels and self._device_of(operation.stream) != self._device_of(earlier.stream):
            return True
        return any(
            operation.after(kernel) and (met is earlier or met.after(earlier))
            for kernel, met in self._meetings
        )

    def _call_of(self, operation: Operation) -> HostCall:
        number = self._numbers.get(operation.stream, 0)
        return HostCall(operation.action, operation.position(), number, operation.kernel)

    def _note(
        self,
        kind: Kind,
        memory: DeviceMemory,
        allocation: Allocation,
        offset: int,
        calls: tuple[HostCall, HostCall],
    ) -> None:
        buffer = Buffer(
            Memory.HOST if allocation.host else Memory.GLOBAL,
            allocation.size,
            allocation_number(memory, allocation),
            allocation.label,
        )
        address = allocation.base + offset
        finding = Finding(
            self.check, kind, Severity.ERROR, "", buffer=buffer, offset=offset, address=address, calls=calls
        )
        self.note((kind, *((call.action, call.position, call.kernel) for call in calls)), finding)


def _join(clock: Clock, other: Clock) -> None:
    for stream, number in other.items():
        clock[stream] = max(clock.get(stream, 0), number)


def _conflict(one: _Use, other: _Use) -> int | None:
    """The offset of the first byte that both use, at least one of them writing; None if there is none."""
    low, high = max(one.low, other.low), min(one.high, other.high)
    if low >= high or not _CONFLICTS[one.bits, other.bits]:
        return None
    both = np.broadcast_to(_CONFLICTS[one.bits_of(low, high), other.bits_of(low, high)], high - low)
    return low + int(both.argmax()) if both.any() else None
