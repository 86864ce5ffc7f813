"""Virtual memory management of the CUDA driver API: reserved addresses, created memory, mappings, access.

Created memory is in the arena's file, past the part that is the arena; mapping makes it visible at reserved
addresses, in this process and in the program's. The same memory may be mapped at several addresses, and keeps
its content when it is mapped again. A mapping is an allocation, which kernels and copies may access, while
access is enabled, for reading or for both.

The checks identify such bytes by their offset in the file, so that all mappings of a byte are one byte.

Created memory cannot be shared between programs: each has its own simulated GPU, and the stand-in driver
refuses to export memory (cuMemExportToShareableHandle).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from tooling.simulator.gpu.device_memory import Allocation, DeviceMemory, OutOfDeviceMemory
from tooling.simulator.gpu.driver_results import INVALID, OK, DriverResult, Reply
from tooling.simulator.gpu.hooks import Hook
from tooling.simulator.server.arena import Arena, ArenaUnavailable
from tooling.simulator.server.buffers import MOST_POISONED, Buffers
from tooling.simulator.server.protocol import GRANULARITY, REQUESTS, DriverRequest, MemoryAccess, Opcode

_FIRST_HANDLE = 0x5400_0000


class Physical(Struct, eq=False):
    """Created memory.

    Attributes:
        offset: in the arena's file, in bytes; size: bytes.
        device: the GPU that it belongs to.
        handles: the number of handles that are not released.
        mappings: at how many addresses it is mapped.
        used: access to a mapping was enabled before.
    """

    offset: int
    size: int
    device: int
    handles: int = 1
    mappings: int = 0
    used: bool = False


class Mapping(Struct, eq=False):
    """Memory mapped at reserved addresses; `allocation` is None while access is disabled."""

    address: int
    size: int
    number: int
    physical: Physical
    allocation: Allocation | None = None

    @property
    def end(self) -> int:
        """First address past it."""
        return self.address + self.size

    @property
    def access(self) -> MemoryAccess:
        """The device's access to it."""
        if self.allocation is None:
            return MemoryAccess.NONE
        return MemoryAccess.READ if self.allocation.read_only else MemoryAccess.READ_AND_WRITE


class VirtualMemory:
    """One program's reserved addresses, created memory and mappings.

    Attributes:
        answers: the handler of each request about them.
    """

    def __init__(self, arena: Arena, memory: DeviceMemory, buffers: Buffers, hooks: Sequence[Hook]) -> None:
        self.answers: dict[Opcode, Callable[[DriverRequest], Reply]] = {
            Opcode.RESERVE: self._reserve,
            Opcode.UNRESERVE: self._unreserve,
            Opcode.CREATE: self._create,
            Opcode.RELEASE: self._release,
            Opcode.RETAIN: self._retain,
            Opcode.MAP: self._map,
            Opcode.UNMAP: self._unmap,
            Opcode.SET_ACCESS: self._set_access,
            Opcode.ACCESS: self._access,
        }
        self._arena = arena
        self._memory = memory
        self._buffers = buffers
        self._hooks = hooks
        self._physical: dict[int, Physical] = {}
        self._mappings: list[Mapping] = []
        self._last_handle = _FIRST_HANDLE

    # -- addresses -----------------------------------------------------------------------------------

    def _reserve(self, request: DriverRequest) -> Reply:
        size, alignment = request.fields
        if size == 0 or size % GRANULARITY or alignment & (alignment - 1):
            return INVALID
        try:
            reservation = self._memory.reserve(size, max(alignment, GRANULARITY))
        except OutOfDeviceMemory:
            return DriverResult.OUT_OF_MEMORY, b""
        return DriverResult.SUCCESS, REQUESTS[Opcode.RESERVE].reply.pack(reservation.base)

    def _unreserve(self, request: DriverRequest) -> Reply:
        address, size = request.fields
        reservation = self._memory.reservation_of(address)
        if reservation is None or (reservation.base, reservation.size) != (address, size):
            return INVALID
        if self._inside(address, size):
            return INVALID
        self._memory.unreserve(reservation)
        return OK

    # -- memory --------------------------------------------------------------------------------------

    def _create(self, request: DriverRequest) -> Reply:
        (size,) = request.fields
        if size == 0 or size % GRANULARITY:
            return INVALID
        if size > self._buffers.free_bytes:
            return DriverResult.OUT_OF_MEMORY, b""
        self._last_handle += 16
        self._physical[self._last_handle] = Physical(self._arena.extend(size), size, self._buffers.device)
        self._buffers.physical_bytes[self._buffers.device] += size
        return DriverResult.SUCCESS, REQUESTS[Opcode.CREATE].reply.pack(self._last_handle)

    def _release(self, request: DriverRequest) -> Reply:
        (number,) = request.fields
        physical = self._physical.get(number)
        if physical is None or physical.handles == 0:
            return INVALID
        physical.handles -= 1
        self._drop_unused(number)
        return OK

    def _retain(self, request: DriverRequest) -> Reply:
        mapping = self._mapping_of(request.fields[0])
        if mapping is None:
            return INVALID
        mapping.physical.handles += 1
        return DriverResult.SUCCESS, REQUESTS[Opcode.RETAIN].reply.pack(mapping.number)

    def _drop_unused(self, number: int) -> None:
        """Free memory without a handle or a mapping."""
        physical = self._physical[number]
        if physical.handles == physical.mappings == 0:
            del self._physical[number]
            self._arena.drop(physical.offset, physical.size)
            self._buffers.physical_bytes[physical.device] -= physical.size
            for hook in self._hooks:
                hook.drop(self._arena.base + physical.offset)

    # -- mappings ------------------------------------------------------------------------------------

    def _map(self, request: DriverRequest) -> Reply:
        address, size, number = request.fields
        physical = self._physical.get(number)
        if physical is None or physical.handles == 0 or size == 0:
            return INVALID
        if size != physical.size:  # an H200 maps created memory whole
            return DriverResult.NOT_SUPPORTED, b""
        reservation = self._memory.reservation_of(address)
        if address % GRANULARITY or reservation is None:
            return INVALID
        if not reservation.holds(address, size) or self._inside(address, size):
            return INVALID
        try:
            self._arena.map(address, size, physical.offset)
        except ArenaUnavailable:
            return DriverResult.OUT_OF_MEMORY, b""
        physical.mappings += 1
        self._mappings.append(Mapping(address, size, number, physical))
        return DriverResult.SUCCESS, REQUESTS[Opcode.MAP].reply.pack(physical.offset)

    def _unmap(self, request: DriverRequest) -> Reply:
        address, size = request.fields
        reservation = self._memory.reservation_of(address)
        if size == 0 or reservation is None or not reservation.holds(address, size):
            return INVALID
        inside = self._inside(address, size)
        if any(mapping.address < address or mapping.end > address + size for mapping in inside):
            return INVALID
        for mapping in inside:
            self._disable(mapping)
            self._arena.restore(mapping.address, mapping.size)
            self._mappings.remove(mapping)
            mapping.physical.mappings -= 1
            self._drop_unused(mapping.number)
        return OK

    def _set_access(self, request: DriverRequest) -> Reply:
        address, size, access = request.fields
        inside = self._inside(address, size)
        whole = all(mapping.address >= address and mapping.end <= address + size for mapping in inside)
        if not inside or not whole or sum(mapping.size for mapping in inside) != size:
            return INVALID
        for mapping in inside:
            if access == MemoryAccess.NONE:
                self._disable(mapping)
            else:
                self._enable(mapping, read_only=access == MemoryAccess.READ)
        return OK

    def _access(self, request: DriverRequest) -> Reply:
        mapping = self._mapping_of(request.fields[0])
        if mapping is None:
            return INVALID
        return DriverResult.SUCCESS, REQUESTS[Opcode.ACCESS].reply.pack(mapping.access)

    def _enable(self, mapping: Mapping, *, read_only: bool) -> None:
        if mapping.allocation is not None:
            mapping.allocation.read_only = read_only
            return
        physical = mapping.physical
        mapping.allocation = self._memory.map(
            mapping.address,
            mapping.size,
            self._arena.base + physical.offset,
            read_only=read_only,
            device=physical.device,
        )
        for hook in self._hooks:
            hook.allocate(mapping.allocation)
        if not physical.used and mapping.size <= MOST_POISONED:
            self._memory.poison(mapping.address, mapping.size)
        physical.used = True

    def _disable(self, mapping: Mapping) -> None:
        if mapping.allocation is not None:
            for hook in self._hooks:
                hook.free(mapping.allocation)
            self._memory.unmap(mapping.allocation)
            mapping.allocation = None

    def _mapping_of(self, address: int) -> Mapping | None:
        return next((m for m in self._mappings if m.address <= address < m.end), None)

    def _inside(self, address: int, size: int) -> list[Mapping]:
        """The mappings that a range touches."""
        return [m for m in self._mappings if m.address < address + size and address < m.end]
