"""A program's buffers: allocations, and the validity of copies and fills.

The stand-in driver in the program moves the bytes; this module decides whether it may, and notifies the
hooks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from tooling.simulator.gpu.device_memory import Allocation, DeviceMemory, OutOfDeviceMemory
from tooling.simulator.gpu.driver_results import INVALID, OK, DriverResult, Reply
from tooling.simulator.gpu.hooks import Hook
from tooling.simulator.server.arena import Arena
from tooling.simulator.server.protocol import REQUESTS, DriverRequest, MemoryKind, Opcode

MOST_POISONED = 64 << 20
"""Larger allocations are not poisoned and read as zeros, so that unused parts take no memory. The
initialisation check does not depend on the contents."""


class Buffers:
    """The device and pinned memory of one program.

    Args:
        arena: the bytes; memory: the allocations in it.
        hooks: receive the host's operations on memory.
        memory_bytes: device memory.

    Attributes:
        device: the selected device, to which new memory belongs.
        physical_bytes: by device, memory that belongs to no buffer (`virtual_memory`).
        answers: the handler of each request about buffers.
    """

    def __init__(self, arena: Arena, memory: DeviceMemory, hooks: Sequence[Hook], memory_bytes: int) -> None:
        self._memory_bytes = memory_bytes
        self.device = 0
        self.physical_bytes: Counter[int] = Counter()
        self.answers: dict[Opcode, Callable[[DriverRequest], Reply]] = {
            Opcode.ALLOCATE: self._allocate,
            Opcode.FREE: self._free,
            Opcode.RANGE: self._range,
            Opcode.WRITE: self._write,
            Opcode.READ: self._read,
            Opcode.COPY: self._copy,
            Opcode.MEMORY_INFO: self._memory_info,
        }
        self._arena = arena
        self._memory = memory
        self._hooks = hooks
        self._allocations: dict[int, Allocation] = {}
        self._buffer_bytes: Counter[int] = Counter()
        self._launched_serial = 0

    @property
    def free_bytes(self) -> int:
        """Memory of the selected device that can still be allocated."""
        return self._memory_bytes - self._buffer_bytes[self.device] - self.physical_bytes[self.device]

    def launched(self) -> None:
        """A launch begins, which may write all current allocations."""
        self._launched_serial = self._memory.last_serial

    def _allocate(self, request: DriverRequest) -> Reply:
        size, kind = request.fields
        if size == 0:
            return INVALID
        pinned = kind == MemoryKind.PINNED
        if not pinned and size > self.free_bytes:
            return DriverResult.OUT_OF_MEMORY, b""
        try:
            poison = size <= MOST_POISONED
            address = self._memory.allocate(size, host=pinned, poison=poison, device=self.device)
        except OutOfDeviceMemory:
            return DriverResult.OUT_OF_MEMORY, b""
        allocation = self._memory.containing(address)
        assert allocation is not None
        self._allocations[address] = allocation
        if not pinned:
            self._buffer_bytes[self.device] += size
        for hook in self._hooks:
            hook.allocate(allocation)
        return DriverResult.SUCCESS, REQUESTS[Opcode.ALLOCATE].reply.pack(address)

    def _free(self, request: DriverRequest) -> Reply:
        address, kind = request.fields
        if not self.may_free(address, kind):
            return INVALID
        allocation = self._allocations[address]
        for hook in self._hooks:
            hook.free(allocation)
        del self._allocations[address]
        if not allocation.host:
            self._buffer_bytes[allocation.device] -= allocation.size
        self._memory.free(address)
        self._arena.discard(address, allocation.size)
        return OK

    def _range(self, request: DriverRequest) -> Reply:
        allocation = self._memory.containing(request.fields[0])
        if allocation is None or not allocation.live:
            return DriverResult.NOT_FOUND, b""
        kind = MemoryKind.PINNED if allocation.host else MemoryKind.DEVICE
        return DriverResult.SUCCESS, REQUESTS[Opcode.RANGE].reply.pack(
            allocation.base, allocation.size, allocation.serial, kind, allocation.device
        )

    def _memory_info(self, _request: DriverRequest) -> Reply:
        return DriverResult.SUCCESS, REQUESTS[Opcode.MEMORY_INFO].reply.pack(
            self.free_bytes, self._memory_bytes
        )

    # -- copies and fills ----------------------------------------------------------------------------

    def _write(self, request: DriverRequest) -> Reply:
        address, width, rows, pitch = request.fields
        if not self.can_write(address, width, rows, pitch):
            return INVALID
        starts: Iterable[int] = (address,)
        if pitch == width:
            width *= rows
        elif rows > 1:
            starts = range(address, address + rows * pitch, pitch)
        for start in starts:
            for first, size in self._ranges(start, width):
                for hook in self._hooks:
                    hook.host_write(self._memory, first, size)
        return OK

    def can_write(self, address: int, width: int, rows: int, pitch: int) -> bool:
        """Whether these rows are in memory that may be written, and do not overlap."""
        if rows == 0 or not self.holds(address, (rows - 1) * pitch + width, written=True):
            return False
        return rows == 1 or pitch >= width

    def _read(self, request: DriverRequest) -> Reply:
        address, size = request.fields
        if not self.holds(address, size):
            return INVALID
        self._notify_read(address, size)
        for hook in self._hooks:
            hook.host_copy(self._memory, address, size)
        return OK

    def _notify_read(self, address: int, size: int) -> None:
        """Notify the checks of a read of memory that was allocated before the last launch.

        A read of newer memory is not a mistake: `map_to_host` copies a new buffer to the host so that the
        program can fill it there.
        """
        for start, length in self._ranges(address, size):
            allocation = self._memory.containing(start)
            if allocation is not None and allocation.serial <= self._launched_serial:
                for hook in self._hooks:
                    hook.host_read(self._memory, start, length)

    def _copy(self, request: DriverRequest) -> Reply:
        destination, source, size = request.fields
        if not self.holds(destination, size, written=True) or not self.holds(source, size):
            return INVALID
        self._notify_read(source, size)
        for start, length in self._ranges(source, size):
            for target, count in self._ranges(destination + start - source, length):
                for hook in self._hooks:
                    hook.device_copy(self._memory, target, target - destination + source, count)
        return OK

    def may_free(self, address: int, kind: int) -> bool:
        """Whether a live allocation of this kind starts at an address."""
        allocation = self._allocations.get(address)
        return allocation is not None and allocation.host == (kind == MemoryKind.PINNED)

    def holds(self, address: int, size: int, *, written: bool = False) -> bool:
        """Whether these bytes are in live memory: in one allocation, or in adjacent mappings; if `written`,
        in none that is mapped read-only."""
        return size > 0 and sum(length for _, length in self._ranges(address, size, written=written)) == size

    def _ranges(self, address: int, size: int, *, written: bool = False) -> Iterator[tuple[int, int]]:
        """(address, bytes) of each live allocation's part of a range, up to the first gap."""
        while size > 0:
            allocation = self._memory.containing(address)
            if allocation is None or not allocation.live or address >= allocation.end:
                return
            if written and allocation.read_only:
                return
            length = min(size, allocation.end - address)
            yield address, length
            address, size = address + length, size - length
