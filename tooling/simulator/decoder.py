"""What binders ask of the kernel that is being decoded: operands become slots, labels blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tooling.simulator.layout import Layout
from tooling.simulator.numerics import U32, U64
from tooling.simulator.phrases import Phrase
from tooling.simulator.program import BasicBlock, Landing, Origin
from tooling.simulator.ptx_errors import PtxError
from tooling.simulator.ptx_model import (
    Float,
    Function,
    Instruction,
    Integer,
    Module,
    Operand,
    Register,
    Symbol,
)
from tooling.simulator.register_reads import registers_read
from tooling.simulator.slots import UNSIGNED, Slots
from tooling.simulator.stop_texts import (
    CANNOT_EXECUTE,
    NEVER_GUESSES,
    OTHER_OPERAND,
    UNKNOWN_FORM,
    UNKNOWN_LABEL,
    UNKNOWN_VARIABLE,
)


class Decoder(Slots):
    """State of decoding one kernel. Binders (`bindings`, `control`, …) ask it for slots.

    Attributes:
        function: the function being decoded; `block`: the basic block being filled.
        called: every function that the kernel may call; `framed`: those that may come to call themselves.
    """

    def __init__(
        self, module: Module, kernel: Function, called: Sequence[Function], framed: frozenset[str]
    ) -> None:
        super().__init__(kernel)
        self.module = module
        self.kernel = kernel
        self.called = called
        self.framed = framed
        self.layout = Layout(module, [kernel, *called], framed)
        self.blocks: list[BasicBlock] = []
        self.block = BasicBlock(0, kernel.name)
        self.entries: dict[str, int] = {}
        self.labels: dict[str, int] = {}
        self.landings: dict[int, Landing] = {}
        self._read: dict[str, frozenset[str]] = {}

    def label(self, name: str, instruction: Instruction) -> int:
        """The block that a label of the current function starts.

        Raises:
            PtxError: no such label.
        """
        try:
            return self.labels[f"{self.function.name}:{name}"]
        except KeyError:
            raise self.unknown(instruction, UNKNOWN_LABEL.filled(name=name)) from None

    def symbol(self, symbol: Symbol, dtype: np.dtype[Any], instruction: Instruction) -> int:
        """The slot of a variable's address: an offset in its space, or a device address.

        Raises:
            PtxError: no such variable.
        """
        name, offset = symbol.name, symbol.offset
        shared = self.layout.shared.get(name)
        if shared is not None:
            return self.constant(shared + offset, dtype)
        place = self.local_place(self.function.name, name)
        if place is not None:
            constant = self.constant(place + offset, dtype)
            return self._in_frame(constant, dtype) if self.function.name in self.framed else constant
        for parameter in self.kernel.parameters:
            if parameter.name == name:
                return self.constant(parameter.offset + offset, dtype)
        if name in self.module.globals:
            return self.address(name, offset, dtype)
        if name in self.module.functions:
            return self.constant(self.module.code_addresses()[name] + offset, dtype)
        raise self.unknown(instruction, UNKNOWN_VARIABLE.filled(name=name))

    def is_read(self, register: str) -> bool:
        """Whether some instruction of the function reads a register."""
        name = self.function.name
        if name not in self._read:
            self._read[name] = registers_read([self.function])
        return register in self._read[name]

    def _in_frame(self, place: int, dtype: np.dtype[Any]) -> int:
        """A slot with the address of a variable in the frame of the call that is running."""
        frame = self.frame()
        self.block.reads(frame)
        slot = self.new(Origin("undefined", dtype, "%address"))
        self.block.defines.add(slot)

        def step(group: Any, _batch: Any) -> None:
            group.registers[slot] = group.get(place) + group.get(frame).astype(dtype)

        self.block.steps.append(step)
        return slot

    def local_place(self, function: str, name: str) -> int | None:
        """Where a local variable or call parameter of a function lies in a thread's local memory."""
        return self.layout.local.get((function, name))

    def value(self, operand: Operand, dtype: np.dtype[Any], instruction: Instruction) -> int:
        """The slot of a source operand that is a register or a constant.

        Raises:
            PtxError: the operand is of another kind.
        """
        match operand:
            case Register(name):
                slot = self.register(name)
                self.block.reads(slot)
                return slot
            case Integer(value):
                if dtype.kind == "f":
                    return self.constant(int(np.array(value, dtype).view(UNSIGNED[dtype.itemsize])), dtype)
                return self.constant(value, dtype)
            case Float(bits, width):
                if width != 8 * dtype.itemsize and dtype.kind == "f":
                    number = np.array(bits, U32 if width == 32 else U64).view(f"f{width // 8}").astype(dtype)
                    return self.constant(int(number.view(UNSIGNED[dtype.itemsize])), dtype)
                return self.constant(bits, dtype)
            case Symbol():
                return self.symbol(operand, dtype, instruction)
        raise self.unknown(instruction, OTHER_OPERAND)

    def unknown(self, instruction: Instruction, why: Phrase = UNKNOWN_FORM) -> PtxError:
        """The error for an instruction that cannot be executed."""
        return PtxError(
            CANNOT_EXECUTE.filled(form=instruction.form),
            line=instruction.ptx_line,
            source=instruction.source,
            why=why,
            hint=NEVER_GUESSES,
        )
