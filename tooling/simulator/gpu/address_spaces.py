"""Loads and stores of many lanes in global, shared and local memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from tooling.simulator.gpu.clusters import Clusters
from tooling.simulator.gpu.faults import illegal_address, misaligned, read_only
from tooling.simulator.gpu.generic_addresses import CLUSTER_SHIFT
from tooling.simulator.gpu.hooks import Access, AccessKind, Hook, LaunchContext, Rows, Space
from tooling.simulator.gpu.lanes import Group, Lanes, Shape, numbers_of
from tooling.simulator.gpu.loaded_values import LoadedValue
from tooling.simulator.gpu.requests import MemoryRequest

Array = NDArray[Any]

_UNSIGNED: dict[int, np.dtype[Any]] = {
    1: np.dtype(np.uint8),
    2: np.dtype(np.uint16),
    4: np.dtype(np.uint32),
    8: np.dtype(np.uint64),
    16: np.dtype("V16"),
}
_NAMES = {Space.GLOBAL: "global", Space.SHARED: "shared", Space.LOCAL: "local"}


class Spaces:
    """The memory of one batch of blocks.

    Args:
        context: the launch.
        first_block: number of the batch's first block.
        shape: of the batch.
        observers: hooks that receive every access.

    Attributes:
        suppresses_faults: a hook suppresses the lanes whose address is illegal.
        watching: whether `changes` is counted: it increases whenever memory, or a clock that was read,
            changes.
        reservations: some addresses are reserved, and may not be mapped.
        first_wins: of lanes that store to one address at once the first wins, not the last, and those of a
            block perform their atomic operations from the last lane to the first.
    """

    def __init__(
        self, context: LaunchContext, first_block: int, shape: Shape, observers: tuple[Hook, ...]
    ) -> None:
        self.context = context
        self.first_block = first_block
        self.observers = observers
        self.suppresses_faults = any(hook.suppresses_faults for hook in observers)
        self.shape = shape
        self.lanes = shape.lanes
        self.block_of_lane = shape.block_of_lane
        memory = context.memory
        self.base = np.uint64(memory.base)
        self.reservations = bool(memory.reservations)
        self.global_bytes = memory.bytes[: memory.used]
        self.shared_stride = -(-context.shared_bytes // 256) * 256
        self.shared_bytes = _poisoned(self.shared_stride * shape.blocks)
        self.local_stride = -(-context.local_bytes // 16) * 16
        self.local_bytes = _poisoned(self.local_stride * self.lanes)
        self._buffers: tuple[Array, ...] = (self.global_bytes, self.shared_bytes, self.local_bytes)
        self._views: dict[tuple[Space, int], Array] = {}
        self.changes = 0
        self.watching = False
        self.first_wins = False
        self._last_lanes: object = self
        self._last_owners: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
        self._last_blocks = self.block_of_lane, self.block_of_lane + first_block
        self._last_rows_of_lanes: tuple[object, Rows | None] = (self, None)
        self._last_rows: tuple[object, object, int, Rows | None] = (self, None, 0, None)

    @cached_property
    def threads(self) -> NDArray[np.int64]:
        """(lanes,) number of each lane's thread in the launch; meaningless for a lane without a thread."""
        return self.shape.threads_of_lane + self.first_block * self.context.threads_per_block

    def _owners(self, request: MemoryRequest) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(threads in the launch, blocks in the batch) of a request's lanes.

        Neighbouring accesses are often of the same lanes, so that the last answer is kept.
        """
        lanes = request.group.lanes if request.lanes is None else request.lanes
        if self._last_owners is None or self._last_lanes is not lanes:
            self._last_lanes = lanes
            self._last_owners = request.pick(self.threads), request.pick(self.block_of_lane)
        return self._last_owners

    def _in_launch(self, blocks: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of the batch's blocks in the launch; the last answer is kept."""
        if self._last_blocks[0] is not blocks:
            self._last_blocks = blocks, blocks + self.first_block
        return self._last_blocks[1]

    def _rows_of_lanes(self, lanes: Lanes, *, distinct: bool) -> Rows | None:
        """As many lanes of each of some neighbouring blocks, without addresses; None if they are not.

        Args:
            distinct: the lanes are known to ascend, so that they are consecutive if the first and the last
                one of each block are as far apart as there are lanes between them.
        """
        blocks = self.shape.blocks
        size = self.lanes // blocks
        if lanes is None:
            return Rows(0, blocks, size, 0, 0, 0)
        numbers = numbers_of(lanes)
        first, last = int(numbers[0]) // size, int(numbers[-1]) // size
        each, rest = divmod(len(numbers), last - first + 1)
        if rest or each < 1 or not (distinct or bool((np.diff(numbers) > 0).all())):
            return None
        starts = np.arange(first, last + 1) * size
        low, high = numbers[::each] - starts, numbers[each - 1 :: each] - starts
        if int(low.min()) < 0 or int(high.max()) >= size:
            return None
        offset = int(low[0])
        consecutive = bool((low == offset).all() and (high == offset + each - 1).all())
        return Rows(first, last + 1, each, 0, 0, offset if consecutive else None)

    def _rows(self, request: MemoryRequest, address: Array) -> Rows | None:
        """The shared addresses of a request as rows of consecutive, aligned bytes inside the windows of the
        lanes' own blocks; None if they are not.

        The last answer is kept: a load is often followed by a store to the same address.
        """
        lanes = request.group.lanes if request.lanes is None else request.lanes
        size, known = request.width.bytes, self._last_rows
        if known[0] is address and known[1] is lanes and known[2] == size:
            return known[3]
        if self._last_rows_of_lanes[0] is not lanes:
            found = self._rows_of_lanes(lanes, distinct=request.lanes is None)
            self._last_rows_of_lanes = lanes, found
        rows = self._find_rows(self._last_rows_of_lanes[1], address, size)
        self._last_rows = address, lanes, size, rows
        return rows

    def _find_rows(self, rows: Rows | None, address: Array, size: int) -> Rows | None:
        if rows is None:
            return None
        low = int(address[0])
        high = low + rows.lanes * size
        if int(address[-1]) + size != high or high > self.context.shared_bytes or low % size:
            return None
        if len(address) > 1:
            expected = self.shape.ramp(size, rows.lanes) + address[0]
            if not (address.reshape(-1, rows.lanes) == expected).all():
                return None
        return Rows(rows.first, rows.last, rows.lanes, low, high, rows.thread)

    @property
    def shared_windows(self) -> NDArray[np.uint8]:
        """(blocks, bytes) the shared memory of each block."""
        return self.shared_bytes.reshape(self.shape.blocks, self.shared_stride)

    @cached_property
    def clusters(self) -> Clusters:
        """The clusters of the batch."""
        return Clusters(self.context.launch, self.first_block, self.shape.blocks)

    def view(self, space: Space, size: int) -> Array:
        """All bytes of a space as unsigned numbers of `size` bytes."""
        key = (space, size)
        known = self._views.get(key)
        if known is None:
            whole: Array = self._buffers[space]
            known = self._views[key] = whole[: len(whole) // size * size].view(_UNSIGNED[size])
        return known

    # -- offsets -------------------------------------------------------------------------------------

    def offsets(
        self, space: Space, request: MemoryRequest, address: Array, kind: AccessKind = AccessKind.LOAD
    ) -> tuple[Array, NDArray[np.int64] | None]:
        """Byte offsets in the space's buffer, checked for range and alignment.

        Args:
            address: uint64, one per active lane, or a single one for all.

        Returns:
            (offsets as uint64, blocks in the batch whose shared window is accessed or None)

        Raises:
            KernelFault: illegal or misaligned address, or a write to read-only memory.
        """
        if space is Space.SHARED:
            return self.shared_offsets(request, address)
        self._check_alignment(space, request, address)
        size = request.width.bytes
        if space is Space.GLOBAL:
            offset = address - self.base
            if int(offset.max()) > len(self.global_bytes) - size:
                self._illegal(space, request, address, offset > len(self.global_bytes) - size)
            if self.reservations:
                unmapped = self.context.memory.unmapped(address)
                if unmapped.any():
                    self._illegal(space, request, address, unmapped)
                if kind is not AccessKind.LOAD:
                    self._check_writable(request, address)
            return offset, None
        if int(address.max()) > self.context.local_bytes - size:
            self._illegal(space, request, address, address > self.context.local_bytes - size)
        own = request.indices(self.lanes).astype(np.uint64)
        return own * np.uint64(self.local_stride) + address, None

    def shared_offsets(self, request: MemoryRequest, address: Array) -> tuple[Array, NDArray[np.int64]]:
        """As `offsets`, in shared memory.

        Returns:
            (offsets as uint64, blocks in the batch whose shared window is accessed)

        Raises:
            KernelFault: illegal or misaligned address.
        """
        self._check_alignment(Space.SHARED, request, address)
        blocks, inside = self._windows(request, address)
        last = self.context.shared_bytes - request.width.bytes
        if int(inside.max()) > last:
            self._illegal(Space.SHARED, request, address, inside > last)
        if len(self.shared_bytes) == self.shared_stride:
            return inside, blocks
        return blocks.astype(np.uint64) * np.uint64(self.shared_stride) + inside, blocks

    def _check_alignment(self, space: Space, request: MemoryRequest, address: Array) -> None:
        if request.aligned:
            return
        mask = np.uint64(request.width.bytes - 1)
        if (np.bitwise_or.reduce(address) & mask) != 0:
            self._misaligned(space, request, address, (address & mask) != 0)

    def _windows(self, request: MemoryRequest, address: Array) -> tuple[NDArray[np.int64], Array]:
        """The shared window of each address (block in the batch), and the offset inside it.

        An address in no window counts as a signed offset outside the window of the lane's own block.
        """
        known = request.windows
        if known is None or known[0] is not address:
            known = request.windows = (address, *self._find_windows(request, address))
        return known[1:]

    def _find_windows(self, request: MemoryRequest, address: Array) -> tuple[NDArray[np.int64], Array]:
        blocks = self._owners(request)[1]
        if not int(address.max()) >> CLUSTER_SHIFT:
            return blocks, address
        rank = (address >> np.uint64(CLUSTER_SHIFT)).astype(np.int64)
        invalid = rank > self.context.blocks_per_cluster
        inside = address & np.uint64((1 << CLUSTER_SHIFT) - 1)
        if invalid.any():
            below = address.astype(np.uint32).view(np.int32).astype(np.int64).view(np.uint64)
            inside = np.where(invalid, np.where(address >> np.uint64(32) == 0, below, address), inside)
            rank = np.where(invalid, 0, rank)
        foreign = self.clusters.mate(blocks, np.maximum(rank, 1) - 1)
        return np.where(rank > 0, foreign, blocks), inside

    def _illegal(self, space: Space, request: MemoryRequest, address: Array, bad: Array) -> None:
        position = int(np.argmax(bad))
        thread = int(request.pick(self.threads)[position])
        raise illegal_address(self.context.launch, request, thread, int(address[position]), _NAMES[space])

    def _check_writable(self, request: MemoryRequest, address: Array) -> None:
        bad = self.context.memory.read_only(address)
        if bad.any():
            position = int(np.argmax(bad))
            thread = int(request.pick(self.threads)[position])
            raise read_only(self.context.launch, request, thread, int(address[position]))

    def _misaligned(self, space: Space, request: MemoryRequest, address: Array, bad: Array) -> None:
        position = int(np.argmax(bad))
        thread = int(request.pick(self.threads)[position])
        raise misaligned(self.context.launch, request, thread, int(address[position]), _NAMES[space])

    def threads_of(self, group: Group, lanes: NDArray[np.intp] | None = None) -> NDArray[np.int64]:
        """Launch-wide numbers of a group's threads, or of some lanes of the batch."""
        if lanes is not None:
            return self.threads[lanes]
        threads = group.pick(self.threads)
        has_thread = self.shape.has_thread
        return threads if has_thread is None else threads[group.pick(has_thread)]

    # -- access --------------------------------------------------------------------------------------

    def notify(
        self, space: Space, kind: AccessKind, request: MemoryRequest, address: Array, values: Array | None
    ) -> NDArray[np.bool_] | None:
        """Notify the hooks; returns the lanes to leave out, or None.

        Raises:
            KernelFault: illegal or misaligned address, if no hook suppresses such lanes.
        """
        rows = self._rows(request, address) if space is Space.SHARED else None
        if not self.suppresses_faults and rows is None:
            self.offsets(space, request, address, kind)
        threads, own_blocks = self._owners(request)
        count = len(threads)
        uniform = len(address) == 1
        addresses = address.view(np.int64)
        blocks = None
        if rows is not None:
            blocks = self._in_launch(own_blocks)
            request.run = rows.last - rows.first == 1
        elif space is Space.SHARED:
            blocks, inside = self._windows(request, address)
            blocks = self._in_launch(blocks)
            addresses = inside.view(np.int64)
        if rows is not None and not uniform:
            uniform = rows.lanes == 1
        elif uniform:
            addresses = np.broadcast_to(addresses, count)
            request.run = count == 1
        else:
            if request.run is None:
                request.run = self.is_run(address, request.width.bytes)
            if not request.run and addresses[-1] == addresses[0]:
                uniform = bool((addresses == addresses[0]).all())
        access = Access(
            space=space,
            kind=kind,
            instruction=request.instruction,
            bytes=request.width.bytes,
            element_bytes=request.width.element,
            addresses=addresses,
            threads=threads,
            blocks=blocks,
            contiguous=bool(request.run),
            uniform=uniform,
            rows=rows,
            values=values,
            asynchronous=request.asynchronous,
            transfer=request.transfer,
        )
        elements: list[Access] = []
        if request.values is not None:
            elements = _elements(access, request.indices(self.lanes))
            request.values += [each.value for each in elements if each.value is not None]
        if space is Space.LOCAL or (space is Space.SHARED and self.shape.blocks > 1):
            request.run = None  # the windows are not adjacent, so that the bytes are not consecutive
        for hook in self.observers:
            if not (elements and hook.follows_values):
                hook.access(access)
                continue
            for element in elements:
                element.suppressed = access.suppressed
                hook.access(element)
        suppressed = access.suppressed
        return suppressed if suppressed is not None and suppressed.any() else None

    def load(self, space: Space, request: MemoryRequest, address: Array) -> list[Array]:
        """Read the request's elements; each result has one entry per active lane, or a single one.

        Args:
            address: uint64, one per active lane, or a single one for all.

        Raises:
            KernelFault: illegal or misaligned address.
        """
        if self.observers:
            left_out = self.notify(space, AccessKind.LOAD, request, address, None)
            if left_out is not None:
                return self._load_rest(space, request, address, left_out)
        width = request.width
        if space is Space.SHARED:
            found = self._rows(request, address)
            if found is not None:
                return _columns(self._table(found, width.element), width.count)
        if space is Space.LOCAL and len(address) == 1:
            rows, column = self._local_columns(request, address)
            return [request.pick(rows)[:, column + k].copy() for k in range(width.count)]
        start = self._straight(request, address) if space is Space.GLOBAL else None
        if start is not None:
            view, count = self.view(space, width.element), len(address)
            return _columns(view[start : start + count * width.count], width.count)
        offset, _ = self.offsets(space, request, address)
        return self._read(self.view(space, width.element), offset, request)

    def _straight(self, request: MemoryRequest, address: Array) -> int | None:
        """The first element of a contiguous, legal access to global memory; else None.

        Such an access is recognised without looking at every address.
        """
        count, size = len(address), request.width.bytes
        if count == 1 or self.reservations:
            return None
        if request.run is None:
            request.run = self.is_run(address, size)
        start = int(address[0]) - int(self.base)
        if not request.run or start < 0 or start % size or start + count * size > len(self.global_bytes):
            return None
        return start >> request.width.element.bit_length() - 1

    def _table(self, rows: Rows, element: int) -> Array:
        """(blocks, elements) the elements of each block in these rows, as a view."""
        windows = self.view(Space.SHARED, element).reshape(self.shape.blocks, -1)
        return windows[rows.first : rows.last, rows.low // element : rows.high // element]

    def _load_rest(
        self, space: Space, request: MemoryRequest, address: Array, left_out: NDArray[np.bool_]
    ) -> list[Array]:
        width = request.width
        results: list[Array] = [np.zeros(len(left_out), _UNSIGNED[width.element]) for _ in range(width.count)]
        kept = np.flatnonzero(~left_out)
        if len(kept):
            rest = request.only(kept, self.lanes)
            offset, _ = self.offsets(space, rest, np.broadcast_to(address, len(left_out))[kept])
            values = self._read(self.view(space, width.element), offset, rest)
            for result, value in zip(results, values, strict=True):
                result[kept] = value
        return results

    def _read(self, view: Array, offset: Array, request: MemoryRequest) -> list[Array]:
        count, width = len(offset), request.width
        shift = width.element.bit_length() - 1
        first = int(offset[0]) >> shift
        if count == 1:
            return [view[first + k : first + k + 1].copy() for k in range(width.count)]
        if self._run_of(request, offset):
            return _columns(view[first : first + count * width.count], width.count)
        index = (offset >> np.uint64(shift)).view(np.int64)
        return [view.take(index + k if k else index) for k in range(width.count)]

    def _run_of(self, request: MemoryRequest, offset: Array) -> bool:
        """Whether the offsets are consecutive; usually known since the hooks were notified."""
        if request.run is None:
            request.run = self.is_run(offset, request.width.bytes)
        return request.run

    def is_run(self, offset: Array, size: int) -> bool:
        """Whether addresses or offsets (uint64) are consecutive, `size` bytes apart."""
        count = len(offset)
        if int(offset[-1]) - int(offset[0]) != (count - 1) * size:
            return False
        return bool((offset - self.shape.ramp(size, count) == offset[0]).all())

    def _local_columns(self, request: MemoryRequest, address: Array) -> tuple[Array, int]:
        """All local memory as one row per lane, and the column of an address that all lanes share."""
        start, size = int(address[0]), request.width.bytes
        if start % size or start + size > self.context.local_bytes:
            self.offsets(Space.LOCAL, request, address)
        rows = self.view(Space.LOCAL, request.width.element).reshape(self.lanes, -1)
        return rows, start // request.width.element

    def store(self, space: Space, request: MemoryRequest, address: Array, values: list[Array]) -> None:
        """Write the request's elements; see `first_wins` for lanes that write the same address.

        Args:
            address: uint64, one per active lane, or a single one for all.
            values: unsigned bits per element, each one per active lane or a single one.

        Raises:
            KernelFault: illegal or misaligned address.
        """
        rest = self._notify_store(space, request, address, values)
        if rest is not None:
            self._perform_store(space, *rest)

    def later_store(
        self, space: Space, request: MemoryRequest, address: Array, values: list[Array]
    ) -> Callable[[], None] | None:
        """Notify the hooks of a store that is performed later; arguments and errors as for `store`.

        Returns:
            a function that performs it; None if the hooks suppressed all lanes.
        """
        rest = self._notify_store(space, request, address, values)
        return None if rest is None else lambda: self._perform_store(space, *rest)

    def _notify_store(
        self, space: Space, request: MemoryRequest, address: Array, values: list[Array]
    ) -> tuple[MemoryRequest, Array, list[Array]] | None:
        if self.observers:
            count = request.count
            stored: Array = np.broadcast_to(values[0], count)
            if len(values) > 1:
                stored = np.stack([np.broadcast_to(value, count) for value in values])
            left_out = self.notify(space, AccessKind.STORE, request, address, stored)
            if left_out is not None:
                kept = np.flatnonzero(~left_out)
                if not len(kept):
                    return None
                address = np.broadcast_to(address, count)[kept]
                values = [np.broadcast_to(value, count)[kept] for value in values]
                request = request.only(kept, self.lanes)
        return request, address, values

    def _perform_store(
        self, space: Space, request: MemoryRequest, address: Array, values: list[Array]
    ) -> None:
        if space is Space.LOCAL and len(address) == 1:
            rows, column = self._local_columns(request, address)
            group = request.group
            lanes = request.lanes
            chosen = lanes if lanes is not None else slice(None) if group.lanes is None else group.lanes
            if self.watching:
                self.changes += any(
                    (rows[chosen, column + k] != value).any() for k, value in enumerate(values)
                )
            for k, value in enumerate(values):
                rows[chosen, column + k] = value
            return
        rows_of_shared = self._rows(request, address) if space is Space.SHARED and not self.watching else None
        if rows_of_shared is not None:
            table = self._table(rows_of_shared, request.width.element)
            for k, value in enumerate(values):
                part = table[:, k :: len(values)]
                part[...] = value if len(value) == 1 else value.reshape(part.shape)
            return
        start = self._straight(request, address) if space is Space.GLOBAL and not self.watching else None
        if start is not None:
            table = self.view(space, request.width.element)[start : start + len(address) * len(values)]
            for k, value in enumerate(values):
                table[k :: len(values)] = value
            return
        offset, _ = self.offsets(space, request, address, AccessKind.STORE)
        self._write(self.view(space, request.width.element), offset, request, values)

    def _write(self, view: Array, offset: Array, request: MemoryRequest, values: list[Array]) -> None:
        count, width = len(offset), request.width
        shift = width.element.bit_length() - 1
        first = int(offset[0]) >> shift
        if self.watching:
            index = (offset >> np.uint64(shift)).view(np.int64)
            self.changes += any((view[index + k] != value).any() for k, value in enumerate(values))
        if count == 1:
            for k, value in enumerate(values):
                view[first + k] = value[0 if self.first_wins else -1]
        elif self._run_of(request, offset):
            table = view[first : first + count * width.count].reshape(count, width.count)
            for k, value in enumerate(values):
                table[:, k] = value
        else:
            index = (offset >> np.uint64(shift)).view(np.int64)
            if self.first_wins:
                index, values = index[::-1], [value[::-1] for value in values]
            for k, value in enumerate(values):
                view[index + k if k else index] = value

    def copy_local(self, group: Group, copies: list[tuple[int, int, int]]) -> None:
        """Copy (from, to, bytes) inside the local memory of every lane: arguments and results of calls."""
        rows = self.local_bytes.reshape(self.lanes, -1)
        chosen = slice(None) if group.lanes is None else group.lanes
        for start, target, size in copies:
            rows[chosen, target : target + size] = rows[chosen, start : start + size]


def _elements(access: Access, lanes: NDArray[np.intp]) -> list[Access]:
    """A load as one for each register: a compiler may have joined loads of which some lanes use one."""
    count = access.bytes // access.element_bytes
    return [
        replace(
            access,
            bytes=access.element_bytes,
            addresses=(addresses := access.addresses + access.element_bytes * number),
            contiguous=access.contiguous and (count == 1 or len(lanes) == 1),
            rows=access.rows if count == 1 else None,
            value=LoadedValue(access.threads, addresses, lanes),
        )
        for number in range(count)
    ]


def _columns(run: Array, count: int) -> list[Array]:
    """Copies of the elements of neighbouring lanes: the first of each lane, the second, …"""
    if count == 1:
        return [run.flatten()]
    return list(np.ascontiguousarray(run.reshape(-1, count).T))


def _poisoned(size: int) -> NDArray[np.uint8]:
    """New shared or local memory, filled with a pattern so that a read before the first write shows."""
    content = np.empty(size, np.uint8)
    content.view(np.uint32)[:] = 0x7FC0DEAD
    return content
