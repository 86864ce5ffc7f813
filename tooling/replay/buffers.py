"""The buffers that the recorded blocks use, and the bytes that their memory instructions move."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.replay.cells import Bytes
from tooling.replay.register_types import stated_formats
from tooling.simulator.backends import backend_of
from tooling.simulator.checks.base import lanes_of
from tooling.simulator.counters.hook import route_of, service_of
from tooling.simulator.counters.measure import measure
from tooling.simulator.counters.warp_rows import warp_rows
from tooling.simulator.gpu.device_memory import POISON_BYTES, Allocation
from tooling.simulator.gpu.hooks import Access, AccessKind, Ints, LaunchContext, Space
from tooling.simulator.gpu.launch import Launch
from tooling.simulator.gpu.shared_arrays import SharedArray

WHOLE = 4096
"""Bytes of a buffer whose cells are all recorded, whether they are accessed or not."""
Key = tuple[Space, int, int]
"""A buffer: base of the allocation or number of the shared array, and which recorded block's it is."""


class RecordedMove(Struct, eq=False):
    """A memory instruction of some threads of the recorded blocks, as bytes.

    Attributes:
        offsets: (n,) bytes from the start of the buffer.
        raw: (n, size) loaded or stored; before: memory before it, in a large buffer; after: memory after a
            store or atomic.
        refused: (n,) lanes that a check has suppressed.
        form: of the values, if the kernel's arithmetic states it, else empty.
    """

    key: Key
    action: str
    threads: list[int]
    offsets: Ints
    size: int
    raw: Bytes
    refused: NDArray[np.bool_]
    before: Bytes | None = None
    after: Bytes | None = None
    cost: tuple[int, int] = (0, 0)
    form: str = ""


class Buffers:
    """The buffers of the recorded blocks, by key.

    Args:
        context: the first launch of which blocks are recorded.

    Attributes:
        bases: address of the first byte in its space; sizes: bytes.
        gpus: of an allocation, the GPU whose memory it is in.
        pointers: of an allocation, its address by the number of the parameter that holds it.
        contents: of small buffers, when they are first seen.
        widths: bytes of the narrowest element that was accessed.
        windows: shared memory by recorded block, which the simulation changes.
    """

    def __init__(self, context: LaunchContext) -> None:
        self.bases: dict[Key, int] = {}
        self.sizes: dict[Key, int] = {}
        self.pointers: dict[Key, dict[int, int]] = {}
        self.contents: dict[Key, Bytes] = {}
        self.widths: dict[Key, int] = {}
        self.windows: dict[int, NDArray[np.uint8]] = {}
        self.gpus: dict[Key, int] = {}
        self._context = context
        backend = backend_of(context.module)
        self._read, self._rules = backend.registers_read(context), backend.counting
        self._named: dict[Key, int] = {}  # the GPU whose launch has named an allocation
        self._local: NDArray[np.uint8] = np.zeros(0, np.uint8)
        self._unsettled: list[tuple[RecordedMove, Ints]] = []
        self._forms = stated_formats((context.launch.function, *context.module.functions.values()))

    def add_blocks(self, blocks: int) -> None:
        """Make room for the local memory of further blocks."""
        added = blocks * self._context.threads_per_block * self._context.local_bytes
        poison = np.resize(np.frombuffer(POISON_BYTES, np.uint8), added)
        self._local = np.concatenate([self._local, poison])

    def find_arguments(self, launch: Launch) -> None:
        """Find the allocations whose addresses a kernel was given.

        Kernels of two GPUs may call the same memory by different names: that of its own GPU's counts.
        """
        for number, parameter in enumerate(launch.function.parameters):
            for offset in range(parameter.offset, parameter.offset + parameter.size - 7, 8):
                address = int.from_bytes(launch.parameters[offset : offset + 8], "little")
                allocation = self._context.memory.containing(address)
                if allocation is None or not allocation.live or allocation.internal:
                    continue
                key = self._global(allocation)
                namer = self._named.setdefault(key, launch.device)
                if namer != launch.device and allocation.device == launch.device:
                    self.pointers.pop(key, None)
                    namer = self._named[key] = launch.device
                if namer == launch.device:
                    self.pointers.setdefault(key, {})[number] = address

    def by_buffer(self, access: Access, lanes: NDArray[np.intp]) -> list[NDArray[np.intp]]:
        """The lanes of an instruction by the allocation that they access.

        Those whose access was prevented stay with the first ones.
        """
        if access.space is not Space.GLOBAL:
            return [lanes]
        refused = lanes[:0] if access.suppressed is None else lanes[access.suppressed[lanes]]
        rest = np.setdiff1d(lanes, refused)
        groups: list[NDArray[np.intp]] = []
        while len(rest):
            allocation = self._context.memory.containing(int(access.addresses[rest[0]]))
            if allocation is None:
                groups.append(rest)
                break
            addresses = access.addresses[rest]
            inside = (addresses >= allocation.base) & (addresses < allocation.end)
            groups.append(rest[inside])
            rest = rest[~inside]
        first, *others = groups or [rest]
        return [np.union1d(first, refused), *others]

    def move(
        self, access: Access, lanes: NDArray[np.intp], numbers: Ints, rank: int
    ) -> tuple[RecordedMove, Ints] | None:
        """What some lanes do, and where in the memory of their space, (n, bytes); None if it is not shown.

        Args:
            numbers: (n,) their threads, as recorded.
            rank: the recorded block whose shared memory is accessed.
        """
        addresses = access.addresses[lanes]
        if access.space is Space.LOCAL:
            addresses = addresses + numbers * self._context.local_bytes
        refused = np.zeros(len(lanes), np.bool_) if access.suppressed is None else access.suppressed[lanes]
        inside = np.flatnonzero(~refused)
        representative = int(addresses[inside[0]]) if len(inside) else int(addresses[0])
        key = self._buffer_of(access, representative, rank)
        if key is None:
            return None
        base = self.bases[key]
        origin = self._context.memory.base if key[0] is Space.GLOBAL else 0
        memory = self._memory(key)
        where = np.where(refused, 0, addresses - origin)[:, None] + np.arange(access.bytes)
        where[refused] = 0
        action = access.kind.name.lower()
        if access.kind is AccessKind.LOAD or access.values is None:
            raw = memory[where]
        else:
            bits = np.atleast_2d(access.values)
            wanted = np.broadcast_to(bits, (len(bits), len(access.threads)))[:, lanes].T
            raw = np.ascontiguousarray(wanted).view(np.uint8).reshape(len(lanes), -1)[:, : access.bytes]
        move = RecordedMove(key, action, numbers.tolist(), addresses - base, access.bytes, raw, refused)
        move.form = self._forms.get(access.instruction.code_line, "")
        if key[0] is not Space.LOCAL:
            move.cost = self._cost(access, lanes[inside])
        if key not in self.contents:
            move.before = memory[where]
        return move, where

    def add(self, move: RecordedMove, where: Ints, access: Access) -> None:
        """Record a move, which the simulator is about to perform."""
        self.widths[move.key] = min(self.widths.get(move.key, 8), access.element_bytes)
        if access.kind is AccessKind.LOAD:
            return
        self._unsettled.append((move, where))
        if move.key[0] is Space.LOCAL:  # of which the engine shows no memory
            self._local[where[~move.refused]] = move.raw[~move.refused]

    def settle(self) -> None:
        """Read what the stores since the last event have left in memory."""
        for move, where in self._unsettled:
            move.after = self._memory(move.key)[where]
        self._unsettled.clear()

    def _global(self, allocation: Allocation) -> Key:
        """The key of an allocation; records what a small one contains when it is first seen."""
        key = (Space.GLOBAL, allocation.base, 0)
        if key not in self.bases:
            self.bases[key] = allocation.base
            self.sizes[key] = allocation.size
            if not allocation.host:
                self.gpus[key] = allocation.device
            if allocation.size <= WHOLE:
                self.contents[key] = self._context.memory.view(allocation.base, allocation.size).copy()
        return key

    def _buffer_of(self, access: Access, address: int, rank: int) -> Key | None:
        """The buffer that an access is meant for; None if it is not shown (parameters, `printf`)."""
        if access.space is Space.GLOBAL:
            memory = self._context.memory
            allocation = memory.containing(address)
            if allocation is None:  # out of bounds: the buffer before it
                below = [one for one in memory if one.base <= address and not one.internal]
                allocation = below[-1] if below else None
            if allocation is None or (allocation.internal and not allocation.label):
                return None
            return None if allocation.label.startswith("parameters of") else self._global(allocation)
        if access.space is Space.LOCAL:
            key = (Space.LOCAL, 0, 0)
            self.bases[key], self.sizes[key] = 0, len(self._local)
            return key
        array = self._context.arrays_meant().get(access.instruction.code_position)
        if array is None and access.instruction.opcode == "wgmma":  # it has the address of a descriptor
            array = self._array_at(address)
        number, offset = (array.number, array.offset) if array else (0, 0)
        key = (Space.SHARED, number, rank)
        if key not in self.bases:
            size = array.size if array else None
            self.bases[key] = offset
            self.sizes[key] = self._context.shared_bytes - offset if size is None else size
            self.contents[key] = np.zeros(0, np.uint8)
        return key

    def _array_at(self, address: int) -> SharedArray | None:
        """The array that other instructions access there."""
        arrays = self._context.arrays_meant().values()
        return next((a for a in arrays if a.size and a.offset <= address < a.offset + a.size), None)

    def _memory(self, key: Key) -> Bytes:
        """All bytes of the space that a buffer is in."""
        if key[0] is Space.GLOBAL:
            return self._context.memory.bytes
        return self._local if key[0] is Space.LOCAL else self.windows[key[2]]

    def _cost(self, access: Access, lanes: NDArray[np.intp]) -> tuple[int, int]:
        if not len(lanes) or access.transfer is not None:
            return 0, 0
        own = lanes_of(access, lanes)
        rows = warp_rows(own, self._context.threads_per_block, self._rules.lanes)
        if rows is None:
            return 0, 0
        service = service_of(own) if own.space is Space.SHARED else None
        route = route_of(own, self._read, self._rules)
        traffic, _ = measure(rows.addresses, own.bytes, route, service, self._rules)
        if service is not None:
            return traffic.wavefronts, traffic.wavefronts - traffic.conflicts
        return traffic.sectors, -(-traffic.used_bytes // self._rules.line_bytes)
