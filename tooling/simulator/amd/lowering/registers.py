"""The slots of a program: scalar and vector registers, flags, constants, and what a launch initialises."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.amd.decoding.instruction import Operand
from tooling.simulator.amd.lowering.waves import ACTIVE, EXEC, SCC, WaveGroup, set_exec
from tooling.simulator.numerics.rounding import U32, U64
from tooling.simulator.program.program import Origin

Array = NDArray[Any]

PARAMETERS = "%parameters"
"""Symbol for the device address of the kernel's arguments."""

_LOW = U64.type(0xFFFFFFFF)
_HALF = U64.type(32)


class Slots:
    """The slots allocated so far; the first are EXEC, the active lanes, and SCC."""

    def __init__(self, wave_size: int) -> None:
        self.wave_size = wave_size
        self.origins: list[Origin] = [
            Origin("special", U64, "exec"),
            Origin("special", np.dtype(np.bool_), "active"),
            Origin("register", np.dtype(np.bool_), "scc"),
        ]
        assert (EXEC, ACTIVE, SCC) == (0, 1, 2)
        self._slots: dict[tuple[str, int], int] = {}
        self._constants: dict[tuple[int, np.dtype[Any]], int] = {}

    def register(self, kind: str, index: int) -> int:
        """The slot of a 32-bit register: `s`, `v`, `a`, `vcc`, `m0`, …"""
        key = (kind, index)
        if key not in self._slots:
            self._slots[key] = self._new(Origin("register", U32, f"{kind}{index}"))
        return self._slots[key]

    def initialise(self, kind: str, index: int, origin: Origin) -> None:
        """A register that the launch sets."""
        self.origins[self.register(kind, index)] = origin

    def constant(self, bits: int, dtype: np.dtype[Any]) -> int:
        """The slot of a constant with these bits."""
        key = (bits & (1 << 8 * dtype.itemsize) - 1, dtype)
        if key not in self._constants:
            self._constants[key] = self._new(Origin("constant", dtype, value=key[0]))
        return self._constants[key]

    def symbol(self, name: str, offset: int) -> int:
        """The slot of a device address: a symbol plus an offset in bytes."""
        key = (f"{name}+", offset)
        if key not in self._slots:
            self._slots[key] = self._new(Origin("symbol", U64, name, offset))
        return self._slots[key]

    def of(self, operand: Operand) -> list[int]:
        """The slots of a register operand, the lowest register first.

        Raises:
            LookupError: not a register that has slots.
        """
        if operand.kind not in ("s", "v", "a", "vcc", "m0", "ttmp", "flat_scratch", "xnack_mask", "null"):
            raise LookupError(operand.kind)
        return [self.register(operand.kind, operand.index + k) for k in range(operand.count)]

    def _new(self, origin: Origin) -> int:
        self.origins.append(origin)
        return len(self.origins) - 1


def combined(low: Array, high: Array) -> Array:
    """Two registers as one uint64 array."""
    low, high = low.view(U32), high.view(U32)
    if len(low) == len(high) == 1:
        return np.array([low.item() | high.item() << 32], U64)
    whole = _whole(low, high)
    if whole is not None:
        return whole
    count = max(len(low), len(high))
    if len(high) == 1 and not high[0]:
        return low.astype(U64)
    if count < 64:
        return low.astype(U64) | high.astype(U64) << _HALF
    pair = np.empty((count, 2), U32)
    pair[:, 0] = low
    pair[:, 1] = high
    return pair.reshape(-1).view(U64)


def halves(value: Array) -> tuple[Array, Array]:
    """A 64-bit array as two registers: views of its words. `combined` joins those of several values without
    copying."""
    words = np.ascontiguousarray(value).view(U32)
    return words[0::2], words[1::2]


def _whole(low: Array, high: Array) -> Array | None:
    """The 64-bit array that two registers are the halves of; None if they are not."""
    owner = low.base
    if owner is None or owner is not high.base or not low.strides == high.strides == (8,):
        return None
    if owner.nbytes != 8 * len(low) or len(low) != len(high) or not owner.flags.c_contiguous:
        return None
    start = owner.__array_interface__["data"][0]
    if (low.__array_interface__["data"][0], high.__array_interface__["data"][0]) != (start, start + 4):
        return None  # the halves are exchanged, or one half is taken twice
    return np.asarray(owner.reshape(-1).view(U64))


def write_exec(group: WaveGroup, half: int | None, value: Array) -> None:
    """Set EXEC, or one half of it."""
    if half is None:
        mask = value.view(U64) if value.dtype.itemsize == 8 else value.view(U32).astype(U64)
    else:
        old = group.get(EXEC)
        new = value.view(U32).astype(U64)
        mask = (old & ~_LOW) | new if half == 0 else (old & _LOW) | new << _HALF
    set_exec(group, mask)
