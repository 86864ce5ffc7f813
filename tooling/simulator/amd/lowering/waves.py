"""Groups of wavefronts, and the register values of the scalar and the vector unit.

A group consists of whole wavefronts. A value has one entry for each lane (vector registers), one for each
wavefront (scalar registers), or a single one that all share. Which lanes an instruction executes for is in
EXEC: a bit mask per wavefront in one slot, and the same as one flag per lane in another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.lanes import Group, Lanes

Array = NDArray[Any]

EXEC = 0
"""The slot of EXEC: uint64, one per wavefront."""

ACTIVE = 1
"""The slot of the active lanes: a single True if all are, otherwise one flag per lane."""

SCC = 2
"""The slot of SCC: bool, one per wavefront."""

ALL = np.ones(1, np.bool_)
"""The value of `ACTIVE` if every lane is active."""


class WaveGroup(Group):
    """A group of whole wavefronts.

    Attributes:
        wave_size: lanes of a wavefront.
        batch_size: lanes of the batch.
        has_thread: which lanes of the batch have a thread; None if all have. The others are never active.
        found: see `_find_active`.
    """

    __slots__ = ("batch_size", "found", "has_thread", "wave_size")

    wave_size: int
    batch_size: int
    has_thread: Array | None
    found: tuple[Array, NDArray[np.intp] | None, NDArray[np.intp] | None] | None

    def like(self, pc: int, lanes: Lanes, count: int, registers: list[Array | None]) -> WaveGroup:
        """A group of other wavefronts of the same batch."""
        made = WaveGroup(pc, self.stack, lanes, count, registers, base=self.base, missing=self.missing)
        made.wave_size = self.wave_size
        made.batch_size = self.batch_size
        made.has_thread = self.has_thread
        made.found = None
        return made

    @property
    def waves(self) -> int:
        """The number of wavefronts."""
        return self.count // self.wave_size

    def load(self, slot: int) -> Array:
        """The value of a register that this group has not read yet."""
        value = self.base[slot]
        if value is None:
            value = self.base[slot] = self.missing(slot)
        if self.lanes is not None:
            if len(value) != 1:
                value = self.pick(value) if len(value) == self.batch_size else value[self.wave_numbers()]
            self.loaded[slot] = value
        self.registers[slot] = value
        return value

    def active_positions(self) -> NDArray[np.intp] | None:
        """Positions of the active lanes in the group; None if all are active."""
        return self._find_active()[1]

    def active_numbers(self) -> NDArray[np.intp] | None:
        """Their numbers in the batch; None if all lanes of the group are active."""
        return self._find_active()[2]

    def _find_active(self) -> tuple[Array, NDArray[np.intp] | None, NDArray[np.intp] | None]:
        """The flags of the active lanes, and what was found for them; found again when EXEC has changed."""
        active = self.get(ACTIVE)
        if self.found is None or self.found[0] is not active:
            positions = numbers = None
            if len(active) != 1:
                positions = np.flatnonzero(active)
                numbers = self.numbers_at(positions)
            self.found = active, positions, numbers
        return self.found

    def executing(self) -> int | None:
        """How many of its lanes EXEC enables; None: all."""
        active = self.get(ACTIVE)
        return None if len(active) == 1 and active[0] else int(np.count_nonzero(active))

    def positions_of(self, flags: Array) -> NDArray[np.intp]:
        """The positions of the lanes with a flag: one flag per lane, or one per wavefront."""
        if len(flags) == self.count:
            return super().positions_of(flags)
        first = np.flatnonzero(flags) * self.wave_size
        return (first[:, None] + np.arange(self.wave_size)).reshape(-1)

    def wave_numbers(self) -> slice | NDArray[np.intp]:
        """The numbers of its wavefronts in the batch."""
        size = self.wave_size
        if self.lanes is None:
            return slice(None)
        if isinstance(self.lanes, slice):
            return slice(self.lanes.start // size, self.lanes.stop // size)
        return self.lanes[::size] // size

    def subgroup(self, positions: NDArray[np.intp], pc: int, live: Iterable[int]) -> WaveGroup:
        """A group of some of its wavefronts; `live` slots are carried over."""
        chosen = list(live)
        per_wave = {
            slot: value
            for slot in chosen
            if (value := self.changed(slot)) is not None and 1 < len(value) < self.count
        }
        subgroup = super().subgroup(positions, pc, (slot for slot in chosen if slot not in per_wave))
        assert isinstance(subgroup, WaveGroup)
        if self.registers is not self.base:
            waves = positions[:: self.wave_size] // self.wave_size
            for slot, value in per_wave.items():
                subgroup.registers[slot] = value[waves]
        return subgroup

    def joined(self, values: list[Array], groups: Sequence[Group], batch_size: int) -> Array:
        """The values of several groups, as this one holds them: per wavefront if no group's is per lane."""
        counts = {len(value) for value in values}
        per_lane = any(1 < len(v) == g.count for v, g in zip(values, groups, strict=True))
        if (
            counts == {1}
            or (per_lane and all(len(v) in (1, g.count) for v, g in zip(values, groups, strict=True)))
        ) and (per_lane or all(value[0] == values[0][0] for value in values)):
            return super().joined(values, groups, batch_size)
        size = self.wave_size
        if per_lane:
            wide = [
                np.repeat(v, size) if 1 < len(v) < g.count else v for v, g in zip(values, groups, strict=True)
            ]
            return super().joined(wide, groups, batch_size)
        whole = np.empty(batch_size // size, values[0].dtype)
        for value, group in zip(values, groups, strict=True):
            assert isinstance(group, WaveGroup)
            whole[group.wave_numbers()] = value
        return whole[self.wave_numbers()]


def expanded(value: Array, group: WaveGroup) -> Array:
    """A scalar value as one entry per lane, unless all share it."""
    count = len(value)
    return value if count in (1, group.count) else np.repeat(value, group.wave_size)


def packed_mask(flags: Array, group: WaveGroup) -> Array:
    """Flags of the lanes as one mask per wavefront, of the active lanes only."""
    active = group.get(ACTIVE)
    if len(flags) == 1:
        bits = group.get(EXEC)
        return bits if flags[0] else np.zeros(1, np.uint64)
    if len(active) != 1:
        flags = flags & active
    return mask_of(flags, group.wave_size)


def mask_of(flags: Array, wave_size: int) -> Array:
    """Flags of the lanes as one uint64 mask per wavefront."""
    octets = np.packbits(flags, bitorder="little")
    return octets.view(np.uint64) if wave_size == 64 else octets.view(np.uint32).astype(np.uint64)


def flags_of(mask: Array, group: WaveGroup) -> Array:
    """Masks of the wavefronts as one flag per lane; a single one if all are equal."""
    size = group.wave_size
    if len(mask) == 1:
        bits = int(mask[0])
        if bits == 0:
            return np.zeros(1, np.bool_)
        if bits == (1 << size) - 1:
            return ALL
    words = mask if size == 64 else mask.astype(np.uint32)
    flags = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little").view(np.bool_)
    return flags if len(flags) == group.count else np.tile(flags, group.waves)


def set_exec(group: WaveGroup, mask: Array) -> None:
    """Set EXEC, and the flags of the active lanes."""
    registers = group.registers
    registers[EXEC] = mask
    full = (1 << group.wave_size) - 1
    if (mask == np.uint64(full)).all():
        registers[ACTIVE] = ALL if group.has_thread is None else group.pick(group.has_thread)
        return
    flags = flags_of(mask, group)
    if len(flags) != group.count:
        flags = np.zeros(group.count, np.bool_)
    registers[ACTIVE] = flags if group.has_thread is None else flags & group.pick(group.has_thread)
