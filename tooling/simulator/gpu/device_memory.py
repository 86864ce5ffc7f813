"""Device memory: one arena, its allocations, and those already freed.

Device addresses are addresses in the arena, which starts at `base`: offset = address - base. Device memory is
taken from its beginning and pinned host memory from its end, so that an access past a buffer does not reach
the host's memory.
"""

from __future__ import annotations

import mmap
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Module

POISON = 0x7FC0DEAD
"""The pattern in new device memory (little-endian): a NaN as float32, never a plausible number."""

POISON_BYTES = POISON.to_bytes(4, "little")

ALIGNMENT = 256
"""Alignment of every allocation, as cudaMalloc guarantees, in bytes."""

RED_ZONE = 256
"""Minimum distance between two allocations, in bytes, so that a small overrun hits no other one."""


def _space_for(size: int, host: bool) -> int:
    """The bytes that an allocation takes with its red zone.

    Pinned memory takes whole pages: the stand-in driver protects them while a copy uses the memory.
    """
    space = max(1, size) + RED_ZONE
    return space + -space % (mmap.PAGESIZE if host else ALIGNMENT)


class OutOfDeviceMemory(Exception):
    """The arena is full."""


class Allocation(Struct):
    """One allocation; kept after it was freed, so that a use after free can be reported.

    Attributes:
        base: first device address.
        size: requested bytes.
        serial: from 1, in order of allocation.
        live: not yet freed.
        label: its name in reports.
        host: pinned host memory.
        internal: a module's variable or a launch's parameters, which the program did not allocate.
        physical_address: `base`, or, for created memory that is mapped here, an address beyond the arena that
            is the same for each of its mappings.
        read_only: created memory is mapped here for reading only.
        of_runtime: only the vendor's code accesses it, by a protocol that the race check does not judge.
        device: the GPU that it belongs to.
    """

    base: int
    size: int
    serial: int
    live: bool = True
    label: str = ""
    host: bool = False
    internal: bool = False
    physical_address: int = 0
    read_only: bool = False
    of_runtime: bool = False
    device: int = 0

    @property
    def end(self) -> int:
        """First address past it."""
        return self.base + self.size

    @property
    def mapped(self) -> bool:
        """Whether created memory is mapped here."""
        return self.physical_address != self.base


class Reservation(Struct, frozen=True):
    """A reserved address range; the ranges in it to which memory is mapped are allocations.

    Attributes:
        base: first address; size: bytes.
        space: the range of the arena that it is in.
    """

    base: int
    size: int
    space: _Space

    def holds(self, address: int, size: int = 1) -> bool:
        """Whether these bytes are in it."""
        return self.base <= address and address + size <= self.base + self.size

    def among(self, addresses: NDArray[Any]) -> NDArray[np.bool_]:
        """(n,) which of the addresses are in it."""
        return (addresses >= self.base) & (addresses < self.base + self.size)


class _Space(Struct):
    """A reusable range of the arena: a freed allocation with its red zone."""

    base: int
    size: int
    allocation: Allocation | None = None


class DeviceMemory:
    """The arena and its allocations.

    Args:
        buffer: the arena's bytes, writable (an mmap, memoryview or uint8 array).
        base: device address of its first byte, a multiple of `ALIGNMENT`, not 0.

    Attributes:
        peers: (device, peer) if kernels of the device were enabled to access the peer's memory.

    Raises:
        ValueError: `base` is zero or not aligned.
    """

    def __init__(self, buffer: memoryview | NDArray[Any], base: int) -> None:
        if base <= 0 or base % ALIGNMENT:
            raise ValueError(f"the arena's base {base:#x} must be a positive multiple of {ALIGNMENT}")
        self.bytes: NDArray[np.uint8] = np.frombuffer(buffer, dtype=np.uint8)
        self.base = base
        self.size = len(self.bytes) // ALIGNMENT * ALIGNMENT
        self._top = 0
        self._bottom = self.size
        self._serial = 0
        self._bases: list[int] = []
        self._allocations: dict[int, Allocation] = {}
        self._freed: list[_Space] = []
        self._freed_host: list[_Space] = []
        self._reservations: list[Reservation] = []
        self._mapped: list[Allocation] = []
        self._symbols: dict[tuple[str, int], dict[str, int]] = {}
        self._constant_windows: dict[tuple[str, int], int] = {}
        self.peers: set[tuple[int, int]] = set()

    @property
    def used(self) -> int:
        """Bytes from the arena's start up to the last one ever allocated, red zones included."""
        return self._top if self._bottom == self.size else self.size

    @property
    def last_serial(self) -> int:
        """The serial number of the latest allocation, 0 before the first one."""
        return self._serial

    def allocate(
        self,
        size: int,
        label: str = "",
        *,
        host: bool = False,
        poison: bool = True,
        internal: bool = False,
        device: int = 0,
    ) -> int:
        """Reserve `size` bytes (at least 1) of a device's memory and return the device address.

        Device memory is filled with the poison pattern; pinned host memory is left as it is (zeros if never
        used), so that a large staging pool takes no memory.

        Raises:
            OutOfDeviceMemory: no free range is large enough.
            ValueError: negative size.
        """
        if size < 0:
            raise ValueError(f"cannot allocate {size} bytes")
        space = _space_for(size, host)
        address = self._take_host(space) if host else self._take(space)
        self._enter(address, size, label, host=host, internal=internal, device=device)
        if poison and not host:
            self.poison(address, size)
        return address

    def _enter(
        self,
        address: int,
        size: int,
        label: str = "",
        *,
        host: bool = False,
        internal: bool = False,
        physical_address: int = 0,
        read_only: bool = False,
        device: int = 0,
    ) -> Allocation:
        self._serial += 1
        allocation = Allocation(
            address,
            size,
            self._serial,
            True,
            label,
            host,
            internal,
            physical_address or address,
            read_only,
            device=device,
        )
        if address not in self._allocations:
            self._bases.insert(bisect_right(self._bases, address), address)
        self._allocations[address] = allocation
        return allocation

    def free(self, address: int) -> Allocation:
        """Free an allocation. Its addresses are reused only when the rest of the arena is full.

        Raises:
            KeyError: no live allocation starts there.
        """
        allocation = self._allocations.get(address)
        if allocation is None or not allocation.live:
            raise KeyError(address)
        allocation.live = False
        freed = self._freed_host if allocation.host else self._freed
        freed.append(_Space(address, _space_for(allocation.size, allocation.host), allocation))
        return allocation

    # -- reserved addresses and mappings (`virtual_memory`) -----------------------------------------------

    @property
    def reservations(self) -> Sequence[Reservation]:
        """The reserved address ranges."""
        return self._reservations

    def reserve(self, size: int, alignment: int) -> Reservation:
        """Reserve addresses without memory, from a multiple of `alignment` on.

        Raises:
            OutOfDeviceMemory: no free range is large enough.
        """
        space = _Space(self._take(size + alignment), size + alignment)
        reservation = Reservation(space.base + -space.base % alignment, size, space)
        self._reservations.append(reservation)
        return reservation

    def unreserve(self, reservation: Reservation) -> None:
        """Release reserved addresses."""
        self._reservations.remove(reservation)
        self._freed.append(reservation.space)

    def reservation_of(self, address: int) -> Reservation | None:
        """The reservation that holds an address, or None."""
        return next((r for r in self._reservations if r.holds(address)), None)

    def unmapped(self, addresses: NDArray[Any]) -> NDArray[np.bool_]:
        """(n,) which addresses are reserved without accessible memory."""
        found = np.zeros(len(addresses), np.bool_)
        for reservation in self._reservations:
            found |= reservation.among(addresses)
        for address in np.unique(addresses[found]).tolist() if found.any() else ():
            found[addresses == address] = self.containing(address) is None
        return found

    def read_only(self, addresses: NDArray[Any]) -> NDArray[np.bool_]:
        """(n,) at which addresses memory is mapped read-only."""
        found = np.zeros(len(addresses), np.bool_)
        for allocation in self._mapped:
            if allocation.read_only:
                found |= (addresses >= allocation.base) & (addresses < allocation.end)
        return found

    def physical_addresses(self, addresses: NDArray[Any]) -> NDArray[Any]:
        """(n,) the physical addresses: equal for two addresses of the same byte."""
        found = addresses
        for allocation in self._mapped:
            inside = (addresses >= allocation.base) & (addresses < allocation.end)
            if inside.any():
                found = np.where(inside, addresses + (allocation.physical_address - allocation.base), found)
        return found

    def map(
        self, address: int, size: int, physical_address: int, *, read_only: bool, device: int = 0
    ) -> Allocation:
        """Make reserved addresses an allocation of a device, whose bytes are at `physical_address`."""
        allocation = self._enter(
            address, size, physical_address=physical_address, read_only=read_only, device=device
        )
        self._mapped.append(allocation)
        return allocation

    def unmap(self, allocation: Allocation) -> None:
        """Remove such an allocation."""
        allocation.live = False
        self._mapped.remove(allocation)
        del self._allocations[allocation.base]
        self._bases.remove(allocation.base)

    # -- looking up ----------------------------------------------------------------------------------

    def find(self, address: int) -> Allocation | None:
        """The allocation that contains `address`, or else the nearest one (freed ones included).

        Of two equally near ones it is the one below: an overrun is more likely than an underrun.
        None only if nothing was ever allocated.
        """
        position = bisect_right(self._bases, address)
        below = self._allocations[self._bases[position - 1]] if position else None
        above = self._allocations[self._bases[position]] if position < len(self._bases) else None
        if below is None or above is None:
            return below or above
        if address < below.end or address - below.end < above.base - address:
            return below
        return above

    def containing(self, address: int) -> Allocation | None:
        """The allocation (live or freed) that contains `address`, or None."""
        position = bisect_right(self._bases, address)
        if not position:
            return None
        allocation = self._allocations[self._bases[position - 1]]
        return allocation if address < allocation.base + max(1, allocation.size) else None

    def __iter__(self) -> Iterator[Allocation]:
        """Every allocation, live or freed, by ascending address."""
        return (self._allocations[base] for base in self._bases)

    def view(self, address: int, size: int) -> NDArray[np.uint8]:
        """The bytes at a device address, to read or write.

        Raises:
            IndexError: not wholly inside the arena.
        """
        offset = address - self.base
        if offset < 0 or size < 0 or offset + size > self.size:
            raise IndexError(f"{size} bytes at {address:#x} are not in the arena")
        return self.bytes[offset : offset + size]

    def symbols(self, module: Module, device: int = 0) -> dict[str, int]:
        """Device addresses of a module's `.global` and `.const` variables, allocated at first use.

        Each device has its own.
        """
        known = self._symbols.get((module.digest, device))
        if known is None:
            loaded = module.load(self)
            known = self._symbols[module.digest, device] = (
                self._allocate_variables(module, device) if loaded is None else loaded
            )
        return known

    def _allocate_variables(self, module: Module, device: int) -> dict[str, int]:
        variables = [v for v in module.globals.values() if v.space in ("global", "const")]
        addresses = self._allocate_constants(module, device)
        for variable in variables:
            if variable.space == "global":
                addresses[variable.name] = self.allocate(
                    variable.size, variable.name, poison=False, internal=True, device=device
                )
        named = addresses | module.constant_addresses() | module.code_addresses()
        for variable in variables:
            content = self.view(addresses[variable.name], variable.size)
            content[:] = 0
            content[: len(variable.initial)] = np.frombuffer(variable.initial, dtype=np.uint8)
            for reference in variable.references:
                known = addresses if reference.generic else named
                value = known.get(reference.symbol.name, named[reference.symbol.name])
                low = (value + reference.symbol.offset) % (1 << 8 * reference.size)
                field = slice(reference.offset, reference.offset + reference.size)
                content[field] = np.frombuffer(low.to_bytes(reference.size, "little"), dtype=np.uint8)
        return addresses

    def _allocate_constants(self, module: Module, device: int) -> dict[str, int]:
        """Device addresses of the `.const` variables, laid out as in the constant window."""
        offsets = module.constant_addresses()
        if not offsets:
            return {}
        size = module.constant_bytes + RED_ZONE
        window = self._constant_windows[module.digest, device] = self._take(size + -size % ALIGNMENT)
        for name, offset in offsets.items():
            self._enter(window + offset, module.globals[name].size, name, internal=True, device=device)
        return {name: window + offset for name, offset in offsets.items()}

    def constant_window(self, module: Module, device: int = 0) -> int:
        """The device address of constant address 0 of a module; 0 if it has no `.const` variables."""
        self.symbols(module, device)
        return self._constant_windows.get((module.digest, device), 0)

    def _take(self, space: int) -> int:
        if self._top + space <= self._bottom:
            address = self.base + self._top
            self._top += space
            return address
        return self._reuse(self._freed, space)

    def _take_host(self, space: int) -> int:
        if self._top + space <= self._bottom:
            self._bottom -= space
            return self.base + self._bottom
        return self._reuse(self._freed_host, space)

    def _reuse(self, spaces: list[_Space], space: int) -> int:
        for index, freed in enumerate(spaces):
            if freed.size >= space:
                del spaces[index]
                if freed.size > space:
                    spaces.append(_Space(freed.base + space, freed.size - space))
                return freed.base
        raise OutOfDeviceMemory(f"cannot allocate {space} of {self.size} bytes")

    def poison(self, address: int, size: int) -> None:
        """Fill memory with the poison pattern."""
        offset = address - self.base
        whole = size // 4 * 4
        self.bytes[offset : offset + whole].view(np.uint32)[:] = POISON
        tail = size - whole
        self.bytes[offset + whole : offset + size] = np.frombuffer(POISON_BYTES[:tail], dtype=np.uint8)
