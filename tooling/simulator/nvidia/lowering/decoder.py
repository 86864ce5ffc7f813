"""The state of lowering one kernel: binders resolve operands to slots and labels to basic blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tooling.simulator.gpu.code_model import (
    Float,
    Function,
    Instruction,
    Integer,
    Module,
    Operand,
    Register,
    Symbol,
)
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.stop_texts import (
    CANNOT_EXECUTE,
    NARROW_ADDRESS,
    NEVER_GUESSES,
    OTHER_OPERAND,
    OTHER_OPERANDS,
    UNKNOWN_FORM,
    UNKNOWN_LABEL,
    UNKNOWN_REGISTER,
    UNKNOWN_VARIABLE,
)
from tooling.simulator.numerics.rounding import PRED, U32, U64
from tooling.simulator.nvidia.analysis.register_reads import registers_read
from tooling.simulator.nvidia.lowering.layout import Layout
from tooling.simulator.nvidia.lowering.slots import UNSIGNED, Slots
from tooling.simulator.nvidia.ptx.errors import PtxError, locate
from tooling.simulator.nvidia.ptx.operands import print_operand
from tooling.simulator.program.program import BasicBlock, Batch, Landing, Origin
from tooling.text import Text


class Decoder(Slots):
    """State of lowering one kernel. Binders (`binders`, `control_flow`, …) get their slots from it.

    Attributes:
        function: the current function; `block`: the current basic block.
        instruction: the instruction being bound.
        called: every function that the kernel may call; `functions`: the kernel and these.
        framed: the names of the recursive ones.
    """

    def __init__(
        self, module: Module, kernel: Function, called: Sequence[Function], framed: frozenset[str]
    ) -> None:
        super().__init__(kernel)
        self.module = module
        self.kernel = kernel
        self.called = called
        self.functions = (kernel, *called)
        self.framed = framed
        self.layout = Layout(module, [kernel, *called], framed)
        self.instruction: Instruction | None = None
        self.blocks: list[BasicBlock] = []
        self.block = BasicBlock(0, kernel.name)
        self.entries: dict[str, int] = {}
        self.labels: dict[str, int] = {}
        self.landings: dict[int, Landing] = {}
        self._read: dict[str, frozenset[str]] = {}

    def start_block(self, function: Function) -> BasicBlock:
        """A new basic block of a function, which follows all others."""
        self.blocks.append(BasicBlock(len(self.blocks), function.name))
        return self.blocks[-1]

    def label(self, name: str, instruction: Instruction) -> int:
        """The block that a label of the current function starts.

        Raises:
            PtxError: an undefined label.
        """
        try:
            return self.labels[f"{self.function.name}:{name}"]
        except KeyError:
            raise self.unknown(instruction, UNKNOWN_LABEL.of(name=name), name) from None

    def symbol(self, symbol: Symbol, dtype: np.dtype[Any], instruction: Instruction) -> int:
        """The slot of a variable's address: an offset in its space, or a device address.

        Raises:
            PtxError: an unknown variable, or a type too narrow for its address.
        """
        name, offset = symbol.name, symbol.offset
        shared = self.layout.shared.get(name)
        if shared is not None:
            return self.constant(shared + offset, dtype)
        local = self.local_offset(self.function.name, name)
        if local is not None:
            constant = self.constant(local + offset, dtype)
            return self._in_frame(constant, dtype) if self.function.name in self.framed else constant
        for parameter in self.kernel.parameters:
            if parameter.name == name:
                return self.constant(parameter.offset + offset, dtype)
        constants = self.module.constant_addresses()
        if name in constants:
            return self.constant(constants[name] + offset, dtype)
        if dtype.itemsize < U64.itemsize and (name in self.module.globals or name in self.module.functions):
            raise self.unknown(instruction, NARROW_ADDRESS)
        if name in self.module.globals:
            return self.address(name, offset, dtype)
        if name in self.module.functions:
            return self.constant(self.module.code_addresses()[name] + offset, dtype)
        raise self.unknown(instruction, UNKNOWN_VARIABLE.of(name=name), name)

    def state_space(self, name: str) -> str:
        """The state space of a variable visible in the current function; "" for an unknown one."""
        if name in self.layout.shared:
            return "shared"
        for variable in (*self.function.variables, *self.module.globals.values()):
            if variable.name == name:
                return variable.space
        parameters = (*self.function.parameters, *self.function.results, *self.kernel.parameters)
        return "param" if any(parameter.name == name for parameter in parameters) else ""

    def is_read(self, register: str) -> bool:
        """Whether any instruction of the function reads a register."""
        name = self.function.name
        if name not in self._read:
            self._read[name] = registers_read([self.function])
        return register in self._read[name]

    def _in_frame(self, offset_slot: int, dtype: np.dtype[Any]) -> int:
        """A slot with the address of a variable in the frame of the current call, from its offset's slot."""
        frame = self.frame()
        self.block.reads(frame)
        slot = self.new(Origin("undefined", dtype, "%address"))
        self.block.defines.add(slot)

        def step(group: Group, _batch: Batch) -> None:
            group.registers[slot] = group.get(offset_slot) + group.get(frame).astype(dtype)

        self.block.steps.append(step)
        return slot

    def local_offset(self, function: str, name: str) -> int | None:
        """The offset of a local variable or call parameter in a thread's local memory; None if unknown."""
        return self.layout.local.get((function, name))

    def value(
        self,
        operand: Operand,
        dtype: np.dtype[Any],
        instruction: Instruction,
        *,
        any_width: bool = False,
    ) -> int:
        """The slot of a source operand that is a register or a constant.

        Args:
            any_width: the instruction also accepts registers narrower or wider than `dtype`.

        Raises:
            PtxError: another kind of operand, or a register of another size.
        """
        match operand:
            case Register(name):
                width = self.width(name)
                if (width == PRED) is not (dtype == PRED) or (
                    width.itemsize != dtype.itemsize and not any_width
                ):
                    raise self.unknown(instruction, OTHER_OPERANDS)
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
        raise self.unknown(instruction, OTHER_OPERAND, print_operand(operand))

    def unknown(
        self, instruction: Instruction, why: Text = UNKNOWN_FORM, token: str | None = None
    ) -> PtxError:
        """The error for an instruction that cannot be executed; its caret is at `token` or the mnemonic."""
        return self._error_at(instruction, CANNOT_EXECUTE.of(form=instruction.form), why, token)

    def unknown_register(self, name: str) -> PtxError:
        """The error for a register that is not declared; its caret is at the name."""
        missing = UNKNOWN_REGISTER.of(name=name)
        if self.instruction is None:
            return super().unknown_register(name)
        return self._error_at(self.instruction, missing, None, name)

    def _error_at(
        self, instruction: Instruction, what: Text, why: Text | None, token: str | None
    ) -> PtxError:
        lines = self.module.text.split("\n")
        index, column = instruction.code_line - 1, instruction.code_column - 1
        if token:
            start = 0 if instruction.predicate and token == instruction.predicate.register else column
            index, column = locate(lines, index, start, token)
        return PtxError(
            what,
            line=index + 1,
            column=column + 1,
            text=lines[index] if index < len(lines) else "",
            source=instruction.source,
            why=why,
            hint=NEVER_GUESSES,
        )
