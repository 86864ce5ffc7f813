"""PTX functions to a `Program`: splits basic blocks, gives registers slots, binds every instruction."""

from __future__ import annotations

from typing import Any

import numpy as np

from tooling.collection import uncollected
from tooling.simulator.lifetimes import forget_dead
from tooling.simulator.numerics import PRED, U8, U32, U64
from tooling.simulator.phrases import Phrase
from tooling.simulator.program import BasicBlock, Landing, Origin, Program
from tooling.simulator.ptx_errors import PtxError
from tooling.simulator.ptx_model import (
    Float,
    Function,
    Instruction,
    Integer,
    Label,
    Module,
    Operand,
    Parameter,
    Register,
    Symbol,
    Variable,
)
from tooling.simulator.register_reads import registers_read
from tooling.simulator.remembered import Remembered
from tooling.simulator.semantics import DTYPES
from tooling.simulator.shared_arrays import SharedArray
from tooling.simulator.specials import SCALARS, VECTORS
from tooling.simulator.stop_texts import (
    CANNOT_EXECUTE,
    NEVER_GUESSES,
    OTHER_OPERAND,
    UNKNOWN_FORM,
    UNKNOWN_LABEL,
    UNKNOWN_REGISTER,
    UNKNOWN_VARIABLE,
)

_PROGRAMS: Remembered[Program] = Remembered()

PARAMETER_BLOCK = "%parameters"
"""Stands among a launch's symbols for its parameters, where a kernel takes their address."""

_UNSIGNED: dict[int, np.dtype[Any]] = {1: U8, 2: np.dtype(np.uint16), 4: U32, 8: U64}


def decode(module: Module, kernel: Function) -> Program:
    """The program of a kernel; decoded once per module text and kernel.

    Raises:
        PtxError: an instruction or form that the simulator does not know.
    """

    def find() -> Program:
        with uncollected():
            return Decoder(module, kernel).decode()

    return _PROGRAMS.get((module.digest, kernel.name), find)


class Decoder:
    """State of decoding one kernel. Binders (`bindings`, `control`, …) ask it for slots.

    Attributes:
        function: the function being decoded; `block`: the basic block being filled.
        called: every function that the kernel may call; `framed`: those that may come to call themselves.
    """

    def __init__(self, module: Module, kernel: Function) -> None:
        self.module = module
        self.kernel = kernel
        self.function = kernel
        self.origins: list[Origin] = []
        self.blocks: list[BasicBlock] = []
        self.block = BasicBlock(0, kernel.name)
        self.entries: dict[str, int] = {}
        self.labels: dict[str, int] = {}
        self.landings: dict[int, Landing] = {}
        self.called: list[Function] = []
        self.framed: frozenset[str] = frozenset()
        self._slots: dict[tuple[str, str], int] = {}
        self._constants: dict[tuple[int, Any], int] = {}
        self._shared: dict[str, int] = {}
        self._arrays: dict[str, SharedArray] = {}
        self._local: dict[tuple[str, str], int] = {}
        self._shared_end = 0
        self._local_end = 0
        self._dynamic: list[str] = []
        self._read: dict[str, frozenset[str]] = {}

    def decode(self) -> Program:
        """Decode the kernel and, after it, every function it calls.

        Raises:
            PtxError: an instruction or form that the simulator does not know.
        """
        from tooling.simulator.bindings import load_binders  # noqa: PLC0415 - it imports this module
        from tooling.simulator.calls import STACK_BYTES, reached, recursive  # noqa: PLC0415 - it imports this module

        load_binders()
        self.called = reached(self.module, self.kernel)
        self.framed = recursive(self.module, self.called)
        functions = [self.kernel, *self.called]
        for variable in self.module.globals.values():
            if variable.space == "shared":
                self._place_shared(variable)
        for function in functions:
            for variable in function.variables:
                if variable.space == "shared":
                    self._place_shared(variable)
        self._shared_end += -self._shared_end % 16
        for name in self._dynamic:
            self._shared[name] = self._shared_end
            self._arrays[name] = SharedArray(len(self._arrays) + 1, self._shared_end, None)
        for function in functions:
            if function.name not in self.framed:
                self._layout_local(function)
        self._local_end += -self._local_end % 16
        frame_start = self._local_end
        for function in functions:
            if function.name in self.framed:
                self._layout_local(function)
        self._local_end += -self._local_end % 16
        frame_bytes = max(self._local_end - frame_start, 16) if self.framed else 0
        layout = [self._split(function) for function in functions]
        for function, pieces in zip(functions, layout, strict=True):
            self._bind(function, pieces)
        program = Program(
            self.kernel.name,
            self.blocks,
            self.origins,
            self.entries,
            self._shared_end,
            self._shared_end,
            frame_start + STACK_BYTES if self.framed else self._local_end,
            self.landings,
            frame_bytes,
            frame_start,
            self.frame() if self.framed else -1,
            frozenset(slot for (function, _), slot in self._slots.items() if function in self.framed),
            tuple(functions),
            self._arrays,
        )
        forget_dead(program)
        return program

    # -- layout --------------------------------------------------------------------------------------

    def _place_shared(self, variable: Variable) -> None:
        if variable.external or not variable.size:
            self._dynamic.append(variable.name)
            return
        self._shared_end += -self._shared_end % variable.align
        number = len(self._arrays) + 1
        self._arrays[variable.name] = SharedArray(number, self._shared_end, variable.size)
        self._shared[variable.name] = self._shared_end
        self._shared_end += variable.size

    def _layout_local(self, function: Function) -> None:
        """Local variables, and the parameters of calls, have a place of their own in each thread."""
        things: list[Variable | Parameter] = [v for v in function.variables if v.space in ("local", "param")]
        if not function.is_entry:
            things += [*function.parameters, *function.results]
        for thing in things:
            self._local_end += -self._local_end % max(thing.align, 1)
            self._local[function.name, thing.name] = self._local_end
            self._local_end += thing.size

    def _split(self, function: Function) -> list[tuple[BasicBlock, list[Instruction]]]:
        """Cut the body where a label stands or an instruction ends a block."""
        from tooling.simulator.bindings import ends_block, stands_alone  # noqa: PLC0415 - they import this module

        pieces: list[tuple[BasicBlock, list[Instruction]]] = []
        current: list[Instruction] | None = None

        def start() -> list[Instruction]:
            block = BasicBlock(len(self.blocks), function.name)
            self.blocks.append(block)
            pieces.append((block, []))
            return pieces[-1][1]

        self.entries[function.name] = len(self.blocks)
        current = start()
        for statement in function.body:
            if isinstance(statement, Label):
                if current:
                    current = start()
                self.labels[f"{function.name}:{statement.name}"] = pieces[-1][0].number
                continue
            if current and stands_alone(statement):
                current = start()
            current.append(statement)
            if ends_block(statement):
                current = start()
        return pieces

    def label(self, name: str, instruction: Instruction) -> int:
        """The block that a label of the current function starts.

        Raises:
            PtxError: no such label.
        """
        try:
            return self.labels[f"{self.function.name}:{name}"]
        except KeyError:
            raise self.unknown(instruction, UNKNOWN_LABEL.filled(name=name)) from None

    def _bind(self, function: Function, pieces: list[tuple[BasicBlock, list[Instruction]]]) -> None:
        from tooling.simulator.bindings import bind  # noqa: PLC0415 - it imports this module

        self.function = function
        for index, (block, instructions) in enumerate(pieces):
            self.block = block
            block.instructions = instructions
            following = pieces[index + 1][0].number if index + 1 < len(pieces) else -1
            for instruction in instructions:
                steps = len(block.steps)
                bind(self, instruction, following)
                block.bound(steps)
            if block.end is None:
                if following >= 0:
                    block.successors.append(following)
                block.end = _fall_through(following) if following >= 0 else _end_of_text

    # -- slots ---------------------------------------------------------------------------------------

    def _new(self, origin: Origin) -> int:
        self.origins.append(origin)
        return len(self.origins) - 1

    def register(self, name: str) -> int:
        """The slot of a register of the current function, or of a special register."""
        kind = self.function.registers.get(name)
        key = ("" if kind is None else self.function.name, name)
        slot = self._slots.get(key)
        if slot is None:
            if kind is None:
                if not is_special(name):
                    missing = UNKNOWN_REGISTER.filled(name=name)
                    raise PtxError(missing, line=self.function.line, hint=NEVER_GUESSES)
                origin = Origin("special", special_dtype(name), name)
            else:
                dtype = DTYPES[kind]
                origin = Origin("undefined", dtype if dtype == PRED else _UNSIGNED[dtype.itemsize], name)
            slot = self._slots[key] = self._new(origin)
        return slot

    def width(self, name: str) -> np.dtype[Any]:
        """The array type of a register."""
        kind = self.function.registers.get(name)
        return special_dtype(name) if kind is None else DTYPES[kind]

    def special(self, name: str) -> int:
        """The slot of a special register."""
        key = ("", name)
        if key not in self._slots:
            self._slots[key] = self._new(Origin("special", special_dtype(name), name))
        return self._slots[key]

    def flag(self) -> int:
        """The slot of the carry flag, which each function has for itself."""
        key = (self.function.name, "%cc")
        if key not in self._slots:
            self._slots[key] = self._new(Origin("undefined", PRED, "%cc"))
        return self._slots[key]

    def constant(self, bits: int, dtype: np.dtype[Any]) -> int:
        """The slot of a constant with these bits."""
        width = 1 if dtype == PRED else 8 * dtype.itemsize
        bits &= (1 << width) - 1
        key = (bits, dtype)
        slot = self._constants.get(key)
        if slot is None:
            slot = self._constants[key] = self._new(Origin("constant", dtype, value=bits))
        return slot

    def symbol(self, symbol: Symbol, dtype: np.dtype[Any], instruction: Instruction) -> int:
        """The slot of a variable's address: an offset in its space, or a device address.

        Raises:
            PtxError: no such variable.
        """
        name, offset = symbol.name, symbol.offset
        if name in self._shared:
            return self.constant(self._shared[name] + offset, dtype)
        place = self._local.get((self.function.name, name))
        if place is not None:
            constant = self.constant(place + offset, dtype)
            return self._in_frame(constant, dtype) if self.function.name in self.framed else constant
        for parameter in self.kernel.parameters:
            if parameter.name == name:
                return self.constant(parameter.offset + offset, dtype)
        if name in self.module.globals:
            key = ("symbol", f"{name}+{offset}:{dtype}")
            if key not in self._slots:
                self._slots[key] = self._new(Origin("symbol", dtype, name, offset))
            return self._slots[key]
        if name in self.module.functions:
            return self.constant(self.module.code_addresses()[name] + offset, dtype)
        raise self.unknown(instruction, UNKNOWN_VARIABLE.filled(name=name))

    def is_read(self, register: str) -> bool:
        """Whether some instruction of the function reads a register."""
        name = self.function.name
        if name not in self._read:
            self._read[name] = registers_read([self.function])
        return register in self._read[name]

    def parameter_block(self) -> int:
        """The slot of the device address at which the launch's parameters lie."""
        key = ("symbol", PARAMETER_BLOCK)
        if key not in self._slots:
            self._slots[key] = self._new(Origin("symbol", U64, PARAMETER_BLOCK))
        return self._slots[key]

    def frame(self) -> int:
        """The slot that says how far a recursive call's frame lies behind the first one, in bytes."""
        key = ("", "%frame")
        if key not in self._slots:
            self._slots[key] = self._new(Origin("undefined", U64, "%frame"))
        return self._slots[key]

    def _in_frame(self, place: int, dtype: np.dtype[Any]) -> int:
        """A slot with the address of a variable in the frame of the call that is running."""
        frame = self.frame()
        self.block.reads(frame)
        slot = self._new(Origin("undefined", dtype, "%address"))
        self.block.defines.add(slot)

        def step(group: Any, _batch: Any) -> None:
            group.registers[slot] = group.get(place) + group.get(frame).astype(dtype)

        self.block.steps.append(step)
        return slot

    def local_place(self, function: str, name: str) -> int | None:
        """Where a local variable or call parameter of a function lies in a thread's local memory."""
        return self._local.get((function, name))

    def parameter(self, offset: int, dtype: np.dtype[Any]) -> int:
        """The slot of a kernel parameter's value."""
        key = ("parameter", f"{offset}:{dtype}")
        if key not in self._slots:
            self._slots[key] = self._new(Origin("parameter", dtype, value=offset))
        return self._slots[key]

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
                    return self.constant(int(np.array(value, dtype).view(_UNSIGNED[dtype.itemsize])), dtype)
                return self.constant(value, dtype)
            case Float(bits, width):
                if width != 8 * dtype.itemsize and dtype.kind == "f":
                    number = np.array(bits, U32 if width == 32 else U64).view(f"f{width // 8}").astype(dtype)
                    return self.constant(int(number.view(_UNSIGNED[dtype.itemsize])), dtype)
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


def _fall_through(following: int) -> Any:
    def end(group: Any, _batch: Any) -> bool:
        group.pc = following
        return True

    return end


def _end_of_text(group: Any, batch: Any) -> bool:
    """A function that ends without `ret` returns all the same."""
    if group.stack:
        batch.leave(group)
        return True
    batch.finish(group, None)
    return False


def is_special(name: str) -> bool:
    """Whether the simulator has this special register."""
    base, _, axis = name.partition(".")
    return name in SCALARS or (base in VECTORS and axis in ("x", "y", "z"))


def special_dtype(name: str) -> np.dtype[Any]:
    """The array type of a special register (PTX ISA 10)."""
    if name in ("%clock64", "%globaltimer", "%gridid"):
        return U64
    if name == "%is_explicit_cluster":
        return PRED
    return U32
