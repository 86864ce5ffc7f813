"""The slots of a program: register-file indices of registers, constants, parameters and addresses."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np

from tooling.simulator.gpu.code_model import Function
from tooling.simulator.gpu.stop_texts import NEVER_GUESSES, UNKNOWN_REGISTER
from tooling.simulator.numerics.rounding import PRED, U8, U32, U64
from tooling.simulator.nvidia.lowering.special_registers import is_special, special_dtype
from tooling.simulator.nvidia.ptx.errors import PtxError
from tooling.simulator.nvidia.semantics.registry import DTYPES
from tooling.simulator.program.program import Origin

PARAMETER_BLOCK = "%parameters"
"""Symbol for the device address of a launch's parameter block; some kernels take a parameter's address."""

CONSTANT_WINDOW = "%constants"
"""Symbol for the device address at which constant memory begins."""

UNSIGNED: dict[int, np.dtype[Any]] = {1: U8, 2: np.dtype(np.uint16), 4: U32, 8: U64}
"""Unsigned array types, by size in bytes."""


class Slots:
    """The slots allocated so far.

    Attributes:
        function: the function whose registers are looked up.
        origins: the initial content of each slot.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.origins: list[Origin] = []
        self._slots: dict[tuple[str, str], int] = {}
        self._constants: dict[tuple[int, Any], int] = {}

    def new(self, origin: Origin) -> int:
        """Allocate a slot."""
        self.origins.append(origin)
        return len(self.origins) - 1

    def unknown_register(self, name: str) -> PtxError:
        """The error for a register that is not declared."""
        return PtxError(UNKNOWN_REGISTER.of(name=name), line=self.function.line, hint=NEVER_GUESSES)

    def register(self, name: str) -> int:
        """The slot of a register of the current function, or of a special register."""
        kind = self.function.registers.get(name)
        key = ("" if kind is None else self.function.name, name)
        slot = self._slots.get(key)
        if slot is None:
            if kind is None:
                if not is_special(name):
                    raise self.unknown_register(name)
                origin = Origin("special", special_dtype(name), name)
            else:
                dtype = DTYPES[kind]
                origin = Origin("undefined", dtype if dtype == PRED else UNSIGNED[dtype.itemsize], name)
            slot = self._slots[key] = self.new(origin)
        return slot

    def width(self, name: str) -> np.dtype[Any]:
        """The array type of a register."""
        kind = self.function.registers.get(name)
        return special_dtype(name) if kind is None else DTYPES[kind]

    def special(self, name: str) -> int:
        """The slot of a special register."""
        return self._only("", name, Origin("special", special_dtype(name), name))

    def flag(self) -> int:
        """The slot of the carry flag of the current function."""
        return self._only(self.function.name, "%cc", Origin("undefined", PRED, "%cc"))

    def constant(self, bits: int, dtype: np.dtype[Any]) -> int:
        """The slot of a constant with these bits."""
        width = 1 if dtype == PRED else 8 * dtype.itemsize
        bits &= (1 << width) - 1
        key = (bits, dtype)
        slot = self._constants.get(key)
        if slot is None:
            slot = self._constants[key] = self.new(Origin("constant", dtype, value=bits))
        return slot

    def parameter(self, offset: int, dtype: np.dtype[Any]) -> int:
        """The slot of a kernel parameter's value."""
        return self._only("parameter", f"{offset}:{dtype}", Origin("parameter", dtype, value=offset))

    def address(self, name: str, offset: int, dtype: np.dtype[Any]) -> int:
        """The slot of the device address at a byte offset into a variable of the module."""
        return self._only("symbol", f"{name}+{offset}:{dtype}", Origin("symbol", dtype, name, offset))

    def parameter_block(self) -> int:
        """The slot of the device address of the launch's parameter block."""
        return self._only("symbol", PARAMETER_BLOCK, Origin("symbol", U64, PARAMETER_BLOCK))

    def constant_window(self) -> int:
        """The slot of the device address at which constant memory begins."""
        return self._only("symbol", CONSTANT_WINDOW, Origin("symbol", U64, CONSTANT_WINDOW))

    def frame(self) -> int:
        """The slot of the current frame's offset from the first frame, in bytes."""
        return self._only("", "%frame", Origin("undefined", U64, "%frame"))

    def registers_of(self, functions: Container[str]) -> frozenset[int]:
        """The slots of the registers that these functions declare."""
        return frozenset(slot for (function, _), slot in self._slots.items() if function in functions)

    def _only(self, owner: str, name: str, origin: Origin) -> int:
        """The slot with this name, allocated at first use."""
        slot = self._slots.get((owner, name))
        if slot is None:
            slot = self._slots[owner, name] = self.new(origin)
        return slot
