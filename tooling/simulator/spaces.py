"""Memory as instructions see it: loads and stores of many lanes in global, shared, local and generic space.

Generic addresses: local and shared memory have a window of their own each, told by the upper 32 bits;
everything else is global. A shared address with an upper byte names another block of the cluster: its rank
plus one (`mapa`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.faults import illegal_address, misaligned
from tooling.simulator.hooks import Access, AccessKind, Hook, LaunchContext, Space
from tooling.simulator.lanes import Group
from tooling.simulator.ptx_model import Instruction

Array = NDArray[Any]

SHARED_WINDOW = 1 << 61
LOCAL_WINDOW = 1 << 60
CLUSTER_SHIFT = 24
"""Shared addresses: offset in the lower 24 bits, rank + 1 of another block of the cluster above them."""

_UNSIGNED = {1: np.dtype(np.uint8), 2: np.dtype(np.uint16), 4: np.dtype(np.uint32), 8: np.dtype(np.uint64)}
_NAMES = {Space.GLOBAL: "global", Space.SHARED: "shared", Space.LOCAL: "local"}


@dataclass(frozen=True, slots=True)
class Width:
    """Size of an access: `count` elements of `element` bytes per lane."""

    element: int
    count: int

    @property
    def bytes(self) -> int:
        """Bytes per lane."""
        return self.element * self.count


class Spaces:
    """The memory of one batch of blocks.

    Args:
        context: the launch.
        first_block: number of the batch's first block.
        blocks: blocks in the batch.
        observers: hooks that want every access.
    """

    def __init__(
        self, context: LaunchContext, first_block: int, blocks: int, observers: tuple[Hook, ...]
    ) -> None:
        self.context = context
        self.first_block = first_block
        self.observers = observers
        threads = context.threads_per_block
        self.lanes = blocks * threads
        self.threads: NDArray[np.int64] = np.arange(
            first_block * threads, (first_block + blocks) * threads, dtype=np.int64
        )
        memory = context.memory
        self.base = np.uint64(memory.base)
        self.global_bytes = memory.bytes[: memory.used]
        self.shared_stride = -(-context.shared_bytes // 256) * 256
        self.shared_bytes = _poisoned(self.shared_stride * blocks)
        self.local_stride = -(-context.local_bytes // 16) * 16
        self.local_bytes = _poisoned(self.local_stride * self.lanes)
        self.block_of_lane = np.repeat(np.arange(blocks, dtype=np.int64), threads)
        self._views: dict[tuple[Space, int], Array] = {}
        self._steps: dict[int, Array] = {}

    def view(self, space: Space, size: int) -> Array:
        """All bytes of a space as unsigned numbers of `size` bytes."""
        key = (space, size)
        known = self._views.get(key)
        if known is None:
            whole = (self.global_bytes, self.shared_bytes, self.local_bytes)[space]
            known = self._views[key] = whole[: len(whole) // size * size].view(_UNSIGNED[size])
        return known

    def _ramp(self, size: int, count: int) -> Array:
        known = self._steps.get(size)
        if known is None:
            known = self._steps[size] = np.arange(self.lanes, dtype=np.uint64) * np.uint64(size)
        return known[:count]

    # -- generic addresses ---------------------------------------------------------------------------

    def space_of(self, address: Array) -> list[tuple[Space, NDArray[np.bool_] | None, Array]]:
        """Generic addresses sorted out: (space, lanes or None for all, address in that space)."""
        upper = address >> np.uint64(32)
        found: list[tuple[Space, NDArray[np.bool_] | None, Array]] = []
        shared = upper == (SHARED_WINDOW >> 32)
        local = upper == (LOCAL_WINDOW >> 32)
        for space, lanes, window in (
            (Space.SHARED, shared, SHARED_WINDOW),
            (Space.LOCAL, local, LOCAL_WINDOW),
            (Space.GLOBAL, ~(shared | local), 0),
        ):
            if lanes.all():
                return [(space, None, address - np.uint64(window))]
            if lanes.any():
                found.append((space, lanes, (address - np.uint64(window))[lanes]))
        return found

    # -- placing -------------------------------------------------------------------------------------

    def place(
        self,
        space: Space,
        group: Group,
        instruction: Instruction,
        address: Array,
        width: Width,
        lanes: NDArray[np.intp] | None,
    ) -> tuple[Array, NDArray[np.int64] | None]:
        """Byte offsets in the space's buffer, checked for range and alignment.

        Args:
            address: one per active lane, or a single one for all.
            lanes: active lane numbers in the batch, or None for all of the group.

        Returns:
            (offsets as uint64, blocks in the batch whose shared window is meant or None)

        Raises:
            KernelFault: illegal or misaligned address.
        """
        size = width.bytes
        mask = np.uint64(size - 1)
        if (np.bitwise_or.reduce(address) & mask) != 0:
            bad = int(np.argmax((address & mask) != 0))
            raise misaligned(
                self.context.launch,
                instruction,
                self._thread(group, lanes, bad),
                int(address[bad]),
                _NAMES[space],
                size,
            )
        if space is Space.GLOBAL:
            offset = address - self.base
            if int(offset.max()) > len(self.global_bytes) - size:
                self._illegal(
                    space, group, instruction, address, offset > len(self.global_bytes) - size, size, lanes
                )
            return offset, None
        limit = self.context.shared_bytes if space is Space.SHARED else self.context.local_bytes
        blocks: NDArray[np.int64] | None = None
        inside = address
        if space is Space.SHARED:
            blocks = self._pick(self.block_of_lane, group, lanes)
            if int(address.max()) >> CLUSTER_SHIFT:
                rank = (address >> np.uint64(CLUSTER_SHIFT)).astype(np.int64)
                per_cluster = self.context.blocks_per_cluster
                foreign = (blocks // per_cluster) * per_cluster + rank - 1
                if (rank > per_cluster).any():
                    self._illegal(space, group, instruction, address, rank > per_cluster, size, lanes)
                blocks = np.where(rank > 0, foreign, blocks)
                inside = address & np.uint64((1 << CLUSTER_SHIFT) - 1)
        if int(inside.max()) > limit - size:
            self._illegal(space, group, instruction, address, inside > limit - size, size, lanes)
        if space is Space.SHARED:
            assert blocks is not None
            if len(self.shared_bytes) == self.shared_stride:
                return inside, blocks
            return blocks.astype(np.uint64) * np.uint64(self.shared_stride) + inside, blocks
        own = self._indices(group, lanes).astype(np.uint64)
        return own * np.uint64(self.local_stride) + inside, None

    def _illegal(
        self,
        space: Space,
        group: Group,
        instruction: Instruction,
        address: Array,
        bad: Array,
        size: int,
        lanes: NDArray[np.intp] | None,
    ) -> None:
        position = int(np.argmax(bad))
        raise illegal_address(
            self.context.launch,
            instruction,
            self._thread(group, lanes, position),
            int(address[position]),
            _NAMES[space],
            size,
        )

    def _indices(self, group: Group, lanes: NDArray[np.intp] | None) -> NDArray[np.intp]:
        return group.indices(self.lanes) if lanes is None else lanes

    def _pick(self, values: Array, group: Group, lanes: NDArray[np.intp] | None) -> Array:
        return group.pick(values) if lanes is None else values[lanes]

    def _thread(self, group: Group, lanes: NDArray[np.intp] | None, position: int) -> int:
        return int(self._pick(self.threads, group, lanes)[position])

    # -- access --------------------------------------------------------------------------------------

    def announce(
        self,
        space: Space,
        kind: AccessKind,
        group: Group,
        instruction: Instruction,
        address: Array,
        width: Width,
        lanes: NDArray[np.intp] | None,
        values: Array | None,
        *,
        asynchronous: bool = False,
    ) -> NDArray[np.bool_] | None:
        """Tell the hooks; returns the lanes to leave out, or None."""
        threads = self._pick(self.threads, group, lanes)
        count = len(threads)
        uniform = len(address) == 1
        addresses = address.view(np.int64)
        contiguous = False
        if uniform:
            addresses = np.broadcast_to(addresses, count)
            contiguous = count == 1
        elif int(addresses[-1]) - int(addresses[0]) == (count - 1) * width.bytes:
            contiguous = bool((address - self._ramp(width.bytes, count) == address[0]).all())
        elif addresses[-1] == addresses[0]:
            uniform = bool((addresses == addresses[0]).all())
        blocks = None
        if space is Space.SHARED:
            blocks = self._pick(self.block_of_lane, group, lanes)
            if int(address.max()) >> CLUSTER_SHIFT:
                rank = addresses >> CLUSTER_SHIFT
                per_cluster = self.context.blocks_per_cluster
                blocks = np.where(rank > 0, blocks // per_cluster * per_cluster + rank - 1, blocks)
                addresses = addresses & ((1 << CLUSTER_SHIFT) - 1)
            blocks = blocks + self.first_block
        access = Access(
            space,
            kind,
            instruction,
            width.bytes,
            width.element,
            addresses,
            threads,
            blocks,
            contiguous,
            uniform,
            values,
            asynchronous,
        )
        for hook in self.observers:
            hook.access(access)
        suppressed = access.suppressed
        return suppressed if suppressed is not None and suppressed.any() else None

    def load(
        self,
        space: Space,
        group: Group,
        instruction: Instruction,
        address: Array,
        width: Width,
        lanes: NDArray[np.intp] | None = None,
        *,
        asynchronous: bool = False,
    ) -> list[Array]:
        """Read `width.count` elements per lane; each result has one entry per active lane, or a single one.

        Raises:
            KernelFault: illegal or misaligned address.
        """
        if self.observers:
            left_out = self.announce(
                space,
                AccessKind.LOAD,
                group,
                instruction,
                address,
                width,
                lanes,
                None,
                asynchronous=asynchronous,
            )
            if left_out is not None:
                return self._load_rest(space, group, instruction, address, width, lanes, left_out)
        if space is Space.LOCAL and len(address) == 1:
            return self._load_local(group, instruction, address, width, lanes)
        offset, _ = self.place(space, group, instruction, address, width, lanes)
        return self._read(self.view(space, width.element), offset, width)

    def _load_rest(
        self,
        space: Space,
        group: Group,
        instruction: Instruction,
        address: Array,
        width: Width,
        lanes: NDArray[np.intp] | None,
        left_out: NDArray[np.bool_],
    ) -> list[Array]:
        results = [np.zeros(len(left_out), _UNSIGNED[width.element]) for _ in range(width.count)]
        kept = np.flatnonzero(~left_out)
        if len(kept):
            inside = self._indices(group, lanes)[kept]
            wanted = np.broadcast_to(address, len(left_out))[kept]
            offset, _ = self.place(space, group, instruction, wanted, width, inside)
            for result, value in zip(
                results, self._read(self.view(space, width.element), offset, width), strict=True
            ):
                result[kept] = value
        return results

    def _read(self, view: Array, offset: Array, width: Width) -> list[Array]:
        count = len(offset)
        size, shift = width.bytes, width.element.bit_length() - 1
        first = int(offset[0]) >> shift
        if count == 1:
            return [view[first + k : first + k + 1].copy() for k in range(width.count)]
        if self._is_run(offset, size):
            run = view[first : first + count * width.count]
            if width.count == 1:
                return [run.copy()]
            return list(np.ascontiguousarray(run.reshape(count, width.count).T))
        index = (offset >> np.uint64(shift)).view(np.int64)
        if width.count == 1:
            return [view.take(index)]
        return [view.take(index + k) for k in range(width.count)]

    def _is_run(self, offset: Array, size: int) -> bool:
        count = len(offset)
        if int(offset[-1]) - int(offset[0]) != (count - 1) * size:
            return False
        return bool((offset - self._ramp(size, count) == offset[0]).all())

    def _load_local(
        self,
        group: Group,
        instruction: Instruction,
        address: Array,
        width: Width,
        lanes: NDArray[np.intp] | None,
    ) -> list[Array]:
        """The same place in every lane's own window: one strided column per element."""
        rows, column = self._local_columns(group, instruction, address, width, lanes)
        return [rows[:, column + k].copy() for k in range(width.count)]

    def _local_columns(
        self,
        group: Group,
        instruction: Instruction,
        address: Array,
        width: Width,
        lanes: NDArray[np.intp] | None,
    ) -> tuple[Array, int]:
        start = int(address[0])
        one = self._indices(group, lanes)[:1]
        if start % width.bytes or start + width.bytes > self.context.local_bytes:
            self.place(Space.LOCAL, group, instruction, address, width, one)
        rows = self.view(Space.LOCAL, width.element).reshape(self.lanes, -1)
        return self._pick(rows, group, lanes), start // width.element

    def store(
        self,
        space: Space,
        group: Group,
        instruction: Instruction,
        address: Array,
        width: Width,
        values: list[Array],
        lanes: NDArray[np.intp] | None = None,
        *,
        asynchronous: bool = False,
    ) -> None:
        """Write `width.count` elements per lane; where lanes hit the same place the last one wins.

        Args:
            values: unsigned bits per element, each one per active lane or a single one.

        Raises:
            KernelFault: illegal or misaligned address.
        """
        count = group.count if lanes is None else len(lanes)
        if self.observers:
            told = np.stack([np.broadcast_to(v, count) for v in values]) if len(values) > 1 else values[0]
            if told.ndim == 1:
                told = np.broadcast_to(told, count)
            left_out = self.announce(
                space,
                AccessKind.STORE,
                group,
                instruction,
                address,
                width,
                lanes,
                told,
                asynchronous=asynchronous,
            )
            if left_out is not None:
                kept = np.flatnonzero(~left_out)
                if not len(kept):
                    return
                address = np.broadcast_to(address, count)[kept]
                values = [np.broadcast_to(value, count)[kept] for value in values]
                lanes = self._indices(group, lanes)[kept]
                count = len(kept)
        if space is Space.LOCAL and len(address) == 1:
            self._store_local(group, instruction, address, width, values, lanes)
            return
        offset, _ = self.place(space, group, instruction, address, width, lanes)
        self._write(self.view(space, width.element), offset, width, values)

    def _store_local(
        self,
        group: Group,
        instruction: Instruction,
        address: Array,
        width: Width,
        values: list[Array],
        lanes: NDArray[np.intp] | None,
    ) -> None:
        self._local_columns(group, instruction, address, width, lanes)
        rows = self.view(Space.LOCAL, width.element).reshape(self.lanes, -1)
        column = int(address[0]) // width.element
        chosen = lanes if lanes is not None else slice(None) if group.lanes is None else group.lanes
        for k, value in enumerate(values):
            rows[chosen, column + k] = value

    def _write(self, view: Array, offset: Array, width: Width, values: list[Array]) -> None:
        count = len(offset)
        shift = width.element.bit_length() - 1
        first = int(offset[0]) >> shift
        if count == 1:
            for k, value in enumerate(values):
                view[first + k] = value[-1]
        elif self._is_run(offset, width.bytes):
            run = view[first : first + count * width.count]
            if width.count == 1:
                run[:] = values[0]
            else:
                table = run.reshape(count, width.count)
                for k, value in enumerate(values):
                    table[:, k] = value
        else:
            index = (offset >> np.uint64(shift)).view(np.int64)
            for k, value in enumerate(values):
                view[index + k if k else index] = value

    def copy_local(self, group: Group, copies: list[tuple[int, int, int]]) -> None:
        """Copy (from, to, bytes) inside the local memory of every lane: arguments and results of calls."""
        rows = self.local_bytes.reshape(self.lanes, -1)
        chosen = slice(None) if group.lanes is None else group.lanes
        for start, target, size in copies:
            rows[chosen, target : target + size] = rows[chosen, start : start + size]


def _poisoned(size: int) -> NDArray[np.uint8]:
    """Fresh shared or local memory: not zeros, so that a read before the first write shows."""
    content = np.empty(size, np.uint8)
    content.view(np.uint32)[:] = 0x7FC0DEAD
    return content
