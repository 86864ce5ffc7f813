"""Lanes that execute together: the register file of a batch of blocks, and groups at one program point.

A register holds an array: one value per lane of its group, or a single value (length 1) if it is uniform, so
that uniform instructions are cheap. Arrays in registers are never modified, only replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Instruction

Array = NDArray[Any]
Lanes = slice | NDArray[np.intp] | None
"""Which lanes of the batch: all (None), a run of them, or sorted lane numbers."""


class Group:
    """Lanes at one program point.

    Attributes:
        pc: number of the basic block that comes next.
        stack: return points of the calls that the lanes are in, innermost last.
        lanes, count: which lanes of the batch, and how many.
        registers: values by slot; None if the batch's file (`base`) has the value.
        loaded: by slot, what `load` found in that file; a register that still holds it is unchanged.
        counted: lanes that waited at the next instruction, and were counted there already.
        back_edges: jumps backwards since the group was last chosen to run.
        polling: the last instruction that read what other lanes may change (an atomic, a volatile load,
            a try_wait), or None.
    """

    __slots__ = (
        "back_edges",
        "base",
        "count",
        "counted",
        "lanes",
        "loaded",
        "missing",
        "pc",
        "polling",
        "registers",
        "stack",
    )

    def __init__(
        self,
        pc: int,
        stack: tuple[int, ...],
        lanes: Lanes,
        count: int,
        registers: list[Array | None],
        *,
        base: list[Array | None],
        missing: Callable[[int], Array],
    ) -> None:
        self.pc = pc
        self.stack = stack
        self.lanes = lanes
        self.count = count
        self.registers = registers
        self.base = base
        self.missing = missing
        self.loaded: dict[int, Array] = {}
        self.counted = 0
        self.back_edges = 0
        self.polling: Instruction | None = None

    def load(self, slot: int) -> Array:
        """The value of a register that this group has not read yet."""
        value = self.base[slot]
        if value is None:
            value = self.base[slot] = self.missing(slot)
        if self.lanes is not None:
            value = self.loaded[slot] = value if len(value) == 1 else self.pick(value)
        self.registers[slot] = value
        return value

    def changed(self, slot: int) -> Array | None:
        """The value of a register; None if it is that of the batch's file."""
        value = self.registers[slot]
        return None if value is self.loaded.get(slot) else value

    def get(self, slot: int) -> Array:
        """The value of a register."""
        value = self.registers[slot]
        return self.load(slot) if value is None else value

    def executing(self) -> int | None:
        """How many of its lanes are not masked off; None: all."""
        return None

    def indices(self, batch_size: int) -> NDArray[np.intp]:
        """The lane numbers in the batch, sorted."""
        return np.arange(batch_size) if self.lanes is None else numbers_of(self.lanes)

    def numbers_at(self, positions: NDArray[np.intp]) -> NDArray[np.intp]:
        """The lane numbers in the batch at these positions in the group."""
        if self.lanes is None:
            return positions
        if isinstance(self.lanes, slice):
            return positions + np.intp(self.lanes.start)
        return self.lanes.take(positions)

    def positions_of(self, flags: Array) -> NDArray[np.intp]:
        """The positions of the lanes with a flag, one flag per lane."""
        return np.flatnonzero(flags)

    def pick(self, values: Array) -> Array:
        """The elements of this group's lanes, of an array over all lanes of the batch."""
        return values if self.lanes is None else _taken(values, self.lanes)

    def subgroup(self, positions: NDArray[np.intp], pc: int, live: Iterable[int]) -> Group:
        """A group of the lanes at these (sorted) positions in this one; `live` slots are carried over."""
        select = as_slice(positions)
        if self.lanes is None:
            lanes: Lanes = select
        elif isinstance(self.lanes, slice):
            start = self.lanes.start
            lanes = (
                slice(select.start + start, select.stop + start)
                if isinstance(select, slice)
                else select + np.intp(start)
            )
        else:
            lanes = as_slice(self.lanes[select])
        registers: list[Array | None] = [None] * len(self.registers)
        if self.registers is not self.base:
            for slot in live:
                value = self.changed(slot)
                if value is not None:
                    registers[slot] = value if len(value) == 1 else _taken(value, select)
        return self.like(pc, lanes, len(positions), registers)

    def like(self, pc: int, lanes: Lanes, count: int, registers: list[Array | None]) -> Group:
        """A group of other lanes of the same batch."""
        return Group(pc, self.stack, lanes, count, registers, base=self.base, missing=self.missing)

    def joined(self, values: list[Array], groups: Sequence[Group], batch_size: int) -> Array:
        """The values of several groups, each at its lanes, as this group holds them, which is all of them.

        Of a lane in several groups, the last one's value counts.
        """
        first = values[0]
        unsigned = np.dtype(f"u{first.dtype.itemsize}") if first.dtype != np.bool_ else first.dtype
        same = [value.view(unsigned) for value in values]
        if all(len(value) == 1 for value in same) and all(value[0] == same[0][0] for value in same[1:]):
            return first
        whole = np.empty(batch_size, unsigned)
        for value, group in zip(same, groups, strict=True):
            whole[group.lanes] = value
        return self.pick(whole)


def _taken(values: Array, lanes: slice | NDArray[np.intp]) -> Array:
    """`values[lanes]`; NumPy takes by sorted numbers faster than it indexes."""
    return values[lanes] if isinstance(lanes, slice) else values.take(lanes, axis=0)


def numbers_of(lanes: slice | NDArray[np.intp]) -> NDArray[np.intp]:
    """The lane numbers, sorted."""
    return np.arange(lanes.start, lanes.stop) if isinstance(lanes, slice) else lanes


def as_slice(positions: NDArray[np.intp]) -> slice | NDArray[np.intp]:
    """Sorted distinct positions as a slice when they are consecutive."""
    first, last = int(positions[0]), int(positions[-1])
    return slice(first, last + 1) if last - first == len(positions) - 1 else positions


def merge(groups: Sequence[Group], live: Iterable[int], batch_size: int) -> Group:
    """Merge groups at the same program point, with their `live` registers."""
    first = groups[0]
    count = sum(group.count for group in groups)
    lanes: Lanes = None
    if count < batch_size:
        chosen = np.zeros(batch_size, np.bool_)
        for group in groups:
            chosen[group.lanes] = True
        lanes = as_slice(np.flatnonzero(chosen))
    base = first.base
    registers: list[Array | None] = base if lanes is None else [None] * len(base)
    merged = first.like(first.pc, lanes, count, registers)
    merged.counted = sum(group.counted for group in groups)
    merged.back_edges = max(group.back_edges for group in groups)
    merged.polling = next((group.polling for group in groups if group.polling), None)
    updates: list[tuple[int, Array]] = []
    for slot in live:
        held = [(group, value) for group in groups if (value := group.changed(slot)) is not None]
        if not held:
            continue
        if len(held) < len(groups):
            rest = [merged] if lanes is None else [group for group in groups if group.changed(slot) is None]
            held = [(group, group.get(slot)) for group in rest] + held
        values = [value for _, value in held]
        updates.append((slot, merged.joined(values, [group for group, _ in held], batch_size)))
    for slot, value in updates:
        registers[slot] = value
    return merged


class Shape:
    """Arrays that depend only on how many blocks of how many threads execute together.

    Attributes:
        lanes: how many; block_of_lane: (lanes,) block in the batch; numbers: (lanes,) 0, 1, 2, …
        threads_of_lane: (lanes,) thread in the batch; -1 for a lane without a thread, which is never active.
        has_thread: (lanes,) which lanes have a thread, or None if all have.

    Args:
        threads: of a block; padded: its lanes, where blocks consist of whole warps.
    """

    def __init__(self, blocks: int, threads: int, padded: int = 0) -> None:
        self.blocks = blocks
        self.has_thread: NDArray[np.bool_] | None = None
        if padded > threads:
            inside = np.tile(np.arange(padded, dtype=np.int64), blocks)
            self.has_thread = inside < threads
            first = np.repeat(np.arange(blocks, dtype=np.int64) * threads, padded)
            self.threads_of_lane: NDArray[np.int64] = np.where(self.has_thread, first + inside, -1)
            threads = padded
        self.lanes = blocks * threads
        self.numbers: NDArray[np.int64] = np.arange(self.lanes, dtype=np.int64)
        self.block_of_lane: NDArray[np.int64] = np.repeat(np.arange(blocks, dtype=np.int64), threads)
        if self.has_thread is None:
            self.threads_of_lane = self.numbers
        self._ramps: dict[int, Array] = {}

    def ramp(self, size: int, count: int) -> Array:
        """`count` multiples of `size`, from 0."""
        if count > self.lanes:  # a bulk copy: one lane moves more elements than there are lanes
            return np.arange(count, dtype=np.uint64) * np.uint64(size)
        known = self._ramps.get(size)
        if known is None:
            known = self._ramps[size] = self.numbers.view(np.uint64) * np.uint64(size)
        return known[:count]
