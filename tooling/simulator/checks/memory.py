"""Memory check: every access must be inside a live buffer, at a multiple of its own size.

A faulty lane is reported and suppressed (its store is dropped, its load returns zero), so that one run shows
every faulty line instead of the first. Model: compute-sanitizer's memcheck.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.backends import backend_of
from tooling.simulator.checks.base import CheckHook, action_of
from tooling.simulator.checks.findings import (
    Buffer,
    Check,
    Finding,
    HostAction,
    HostCall,
    Kind,
    Severity,
    SourcePosition,
)
from tooling.simulator.checks.footprint import Footprints, Piece
from tooling.simulator.gpu.device_memory import Allocation, DeviceMemory
from tooling.simulator.gpu.generic_addresses import CLUSTER_SHIFT
from tooling.simulator.gpu.hooks import Access, AccessKind, Ints, LaunchContext, Rows, Space
from tooling.simulator.gpu.shared_arrays import SharedArray

NULL_PAGE = 1 << 16
"""Lower addresses are a null pointer plus an index, in bytes; the arena starts far above."""

NEAR = 1 << 20
"""An access within this distance of a buffer, in bytes, is reported as out of bounds of that buffer."""


class MemoryCheck(CheckHook):
    """Out-of-bounds, misaligned, null, wild and stale addresses; read-only memory; host memory that no
    argument names; device memory that the host accesses; leaks at the end."""

    check = Check.MEMORY
    suppresses_faults = True

    def __init__(self, footprints: Footprints) -> None:
        super().__init__()
        self._footprints = footprints
        self._owned: dict[int, Allocation] = {}
        self._host_failed = False
        self._device = 0
        self._arrays: dict[tuple[int, int], SharedArray] = {}

    def launch_begin(self, context: LaunchContext) -> None:
        super().launch_begin(context)
        self._device = context.launch.device
        self._arrays = context.arrays_meant()
        self._meant = backend_of(context.module).meant_allocations(context)

    def access(self, access: Access) -> None:
        """Check one access of many lanes: two reductions in the common case, none if the lanes are
        contiguous."""
        if access.rows is not None and self._is_inside(access, access.rows):
            return
        bits = _union_of_bits(access)
        if access.space is Space.GLOBAL:
            self._check_global(access)
        else:
            self._check_window(access, bits)
        if bits & (access.bytes - 1):
            self._check_alignment(access)

    def allocate(self, allocation: Allocation) -> None:
        self._owned[allocation.serial] = allocation

    def free(self, allocation: Allocation) -> None:
        self._owned.pop(allocation.serial, None)

    def end(self, memory: DeviceMemory) -> None:
        """Report device memory that was never freed, as a warning."""
        if self._host_failed:
            return
        for allocation in self._owned.values():
            if allocation.live and not allocation.host:
                leaked = self.buffer(allocation, 0, memory)
                finding = Finding(self.check, Kind.LEAK, Severity.WARNING, "", buffer=leaked)
                self.note(("leak", allocation.serial), finding)

    def host_access(
        self, memory: DeviceMemory, address: int, written: bool, position: SourcePosition
    ) -> None:
        """The host accesses device memory, through a pointer or a tensor, and the program ends there."""
        self._host_failed = True
        nearest = memory.find(address)
        call = HostCall(HostAction.WRITE if written else HostAction.READ, position)
        finding = Finding(
            self.check,
            Kind.HOST_TOUCHES_DEVICE,
            Severity.ERROR,
            "",
            buffer=None if nearest is None else self.buffer(nearest, 0, memory),
            offset=0 if nearest is None else address - nearest.base,
            address=address,
            calls=(call,),
        )
        self.note((Kind.HOST_TOUCHES_DEVICE, call), finding)

    def _check_global(self, access: Access) -> None:
        footprint = self._footprints.of(access, self.context.memory)
        meant = self._meant.get(access.instruction.code_position)
        if meant is not None and (
            footprint.out_of_bounds is not None
            or any(one.allocation is not meant for one in footprint.pieces)
        ):
            self._report_outside(access, meant)
            pieces = [piece for piece in footprint.pieces if piece.allocation is meant]
            self._check_pieces(access, pieces)
            return
        self._check_pieces(access, footprint.pieces)
        if footprint.out_of_bounds is not None:
            self._report_out_of_bounds(access, footprint.out_of_bounds)

    def _report_outside(self, access: Access, meant: Allocation) -> None:
        """Report the lanes outside the buffer that their address was computed from.

        That there may be another buffer has nothing to do with the mistake.
        """
        below = access.addresses < meant.base
        above = access.addresses + access.bytes > meant.end
        buffer = self.buffer(meant, access.element_bytes)
        access.suppress(below | (above & ~below))
        for lanes, kind in ((below, Kind.BEFORE_THE_START), (above & ~below, Kind.PAST_THE_END)):
            outside = np.flatnonzero(lanes)
            if len(outside):
                offset = int(access.addresses[outside[0]]) - meant.base
                distance = offset if offset < 0 else offset + access.bytes - meant.size
                self._report(kind, access, outside, buffer, offset=offset, distance=distance)

    def _check_pieces(self, access: Access, pieces: Iterable[Piece]) -> None:
        """Report what is inside an allocation that may not be accessed so."""
        for piece in pieces:
            allocation = piece.allocation
            if not allocation.live:
                kind = Kind.USE_AFTER_FREE
            elif allocation.read_only and access.kind is not AccessKind.LOAD:
                kind = Kind.READ_ONLY
            elif allocation.host and not self.is_argument(allocation):
                kind = Kind.HOST_MEMORY_NOT_PASSED
            else:
                if allocation.device != self._device and not allocation.host:
                    self._check_peer(access, allocation)
                continue
            lanes = (access.addresses >= allocation.base) & (access.addresses < allocation.end)
            self._report(kind, access, np.flatnonzero(lanes), self.buffer(allocation, access.element_bytes),
                         offset=piece.low)  # fmt: skip
            access.suppress(lanes)

    def _check_peer(self, access: Access, allocation: Allocation) -> None:
        """Warn of an access to another device's memory that works only because MAX maps it for all."""
        memory, peers = self.context.memory, (self._device, allocation.device)
        if peers in memory.peers or allocation.mapped:
            return
        key: Hashable = (Kind.PEER_NOT_ENABLED, peers)
        if self.again(key, 0):
            return
        party = self.party(int(access.threads[0]), action_of(access), access.instruction)
        buffer = self.buffer(allocation, access.element_bytes)
        self.note(
            key, Finding(self.check, Kind.PEER_NOT_ENABLED, Severity.WARNING, self.kernel(), (party,), buffer)
        )

    def _report_out_of_bounds(self, access: Access, outside: NDArray[np.int64]) -> None:
        """Report out-of-bounds lanes by what they missed: mapped memory, a null pointer, the end of a buffer,
        its start, or every buffer."""
        lanes = np.zeros(len(access.threads), dtype=np.bool_)
        lanes[outside] = True
        access.suppress(lanes)
        memory, left = self.context.memory, outside
        while len(left):
            addresses = access.addresses[left]
            address = int(addresses[0])
            nearest = memory.find(address)
            reserved = memory.reservation_of(address)
            buffer, offset, distance = None, 0, 0
            if reserved is not None:
                same, kind, offset = reserved.among(addresses), Kind.NOT_MAPPED, address - reserved.base
            elif address < NULL_PAGE or nearest is None:
                same, kind = addresses < NULL_PAGE, Kind.NULL_POINTER
                same[0] = True
            else:
                same, kind, distance = _missed(addresses, access.bytes, nearest)
                buffer, offset = self.buffer(nearest, access.element_bytes), address - nearest.base
            self._report(kind, access, left[same], buffer, offset=offset, distance=distance)
            left = left[~same]

    def _array_of(self, access: Access) -> SharedArray | None:
        shared = access.space is Space.SHARED
        return self._arrays.get(access.instruction.code_position) if shared else None

    def _bounds(self, access: Access) -> tuple[int, int]:
        """Where the shared array of an access begins in the block's window, and its bytes; of the whole
        window, or of a thread's local memory, if no array is known."""
        array = self._array_of(access)
        size = self.context.shared_bytes if access.space is Space.SHARED else self.context.local_bytes
        if array is None:
            return 0, size
        return array.offset, size - array.offset if array.size is None else array.size

    def _is_inside(self, access: Access, rows: Rows) -> bool:
        """Whether rows of shared memory, which are aligned, are inside the array of the access."""
        start, size = self._bounds(access)
        return start <= rows.low and rows.high <= start + size

    def _check_window(self, access: Access, bits: int) -> None:
        """Shared and local accesses must stay inside the window of the block or thread, and inside their
        shared array.
        """
        shared = access.space is Space.SHARED
        start, size = self._bounds(access)
        if (
            not start and 0 <= bits <= size - access.bytes
        ):  # no address is higher than all their bits together
            return
        inside = access.addresses - start if start else access.addresses
        lanes = (inside < 0) | (inside > size - access.bytes)
        if not lanes.any():
            return
        outside = np.flatnonzero(lanes)
        access.suppress(lanes)
        blocks = self.context.blocks_per_cluster
        rank = (int(access.addresses[outside[0]]) >> CLUSTER_SHIFT) - 1
        if shared and rank >= blocks and (blocks > 1 or "shared::cluster" in access.instruction.modifiers):
            self._report(Kind.OUTSIDE_CLUSTER, access, outside, None, expected=blocks, arrived=rank)
            return
        offset = int(inside[outside[0]])
        distance = offset if offset < 0 else offset + access.bytes - size
        kind = Kind.OUTSIDE_LOCAL
        if shared:
            kind = Kind.BEFORE_SHARED if distance < 0 else Kind.OUTSIDE_SHARED
        buffer = self.window(access.space, access.element_bytes, self._array_of(access))
        self._report(kind, access, outside, buffer, offset=offset, distance=distance)

    def _check_alignment(self, access: Access) -> None:
        lanes = access.addresses & (access.bytes - 1) != 0
        if access.suppressed is not None:
            lanes &= ~access.suppressed
        if lanes.any():
            self._report(
                Kind.MISALIGNED, access, np.flatnonzero(lanes), self._misaligned_buffer(access, lanes)
            )
            access.suppress(lanes)

    @property
    def _threads(self) -> int:
        return self.context.blocks * self.context.threads_per_block

    def _misaligned_buffer(self, access: Access, lanes: NDArray[np.bool_]) -> Buffer | None:
        if access.space is not Space.GLOBAL:
            return self.window(access.space, access.element_bytes)
        allocation = self.context.memory.containing(int(access.addresses[lanes][0]))
        return None if allocation is None else self.buffer(allocation, access.element_bytes)

    def _report(
        self,
        kind: Kind,
        access: Access,
        lanes: Ints,
        buffer: Buffer | None,
        *,
        offset: int = 0,
        distance: int = 0,
        expected: int = 0,
        arrived: int = 0,
    ) -> None:
        number = buffer.number if buffer else 0
        key: Hashable = (kind, self.context.launch.function.name, access.instruction.code_line, number)
        first = int(lanes[0])
        finding = Finding(
            self.check,
            kind,
            Severity.ERROR,
            self.kernel(),
            (self.party(int(access.threads[first]), action_of(access), access.instruction),),
            buffer,
            offset=offset,
            size=access.bytes,
            distance=distance,
            address=int(access.addresses[first]),
            expected=expected,
            arrived=arrived,
            count=len(lanes),
            threads=self._threads if kind in (Kind.PAST_THE_END, Kind.BEFORE_THE_START) else 0,
        )
        self.note(key, finding)


def _union_of_bits(access: Access) -> int:
    """The union of all address bits: gives the alignment and an upper bound of the addresses in one pass."""
    if access.contiguous or access.uniform:
        return int(access.addresses[0]) | int(access.addresses[-1])
    return int(np.bitwise_or.reduce(access.addresses))


def _missed(addresses: Ints, size: int, nearest: Allocation) -> tuple[NDArray[np.bool_], Kind, int]:
    """How the first lane missed the nearest buffer, and the lanes that missed it in the same way.

    Returns:
        (n,) those lanes, the kind, and by how many bytes the first lane reaches outside (negative: before).
    """
    first = int(addresses[0])
    if first >= nearest.base:
        past = first + size - nearest.end
        if past <= NEAR:
            return (addresses >= nearest.base) & (addresses <= nearest.end + NEAR), Kind.PAST_THE_END, past
        return addresses > nearest.end, Kind.WILD_POINTER, past
    before = first - nearest.base
    if -before <= NEAR:
        return (addresses < nearest.base) & (addresses >= nearest.base - NEAR), Kind.BEFORE_THE_START, before
    return addresses < nearest.base, Kind.WILD_POINTER, before
