"""Binding: each instruction becomes a step that reads and writes the slots of its operands.

Pure instructions come from the tables in `semantics`; memory, control-flow and warp instructions have their
own binders, registered in `BINDERS` by opcode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Instruction, Negated, Operand, OperandPair, Register, Vector
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.stop_texts import (
    DOES_NOT_FIT,
    NO_OPERANDS,
    NO_REGISTER,
    NO_SOURCE,
    OPERAND_COUNT,
    OTHER_OPERAND,
    OTHER_OPERANDS,
    WRONG_VECTOR,
)
from tooling.simulator.numerics.rounding import PRED, U32
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.nvidia.lowering.predicates import guard, guarded_lanes
from tooling.simulator.nvidia.lowering.slots import UNSIGNED
from tooling.simulator.nvidia.lowering.special_registers import initial_value, is_special, special_dtype
from tooling.simulator.nvidia.ptx.forms import has_form
from tooling.simulator.nvidia.ptx.operands import print_operand
from tooling.simulator.nvidia.semantics.registry import Operation, PairFunction
from tooling.simulator.nvidia.semantics.tables import lookup
from tooling.simulator.program.program import Batch, Origin, Step

Array = NDArray[Any]
Binder = Callable[[Decoder, Instruction, int], None]

BINDERS: dict[str, Binder] = {}
"""Binders of instructions that are not pure, by opcode. Modules register their binders on import, and
`engine.lower` imports them all. `st.async` and `red.async` have entries of their own."""

CLOCKS = ("%clock", "%globaltimer")
"""Special registers whose value changes while a kernel runs."""

ENDS: set[str] = {"bra", "brx", "ret", "exit", "trap", "call"}
"""Opcodes after which a new basic block starts."""

ALONE: set[str] = set()
"""Opcodes that make a basic block of their own: lanes may wait there."""


def binds(*opcodes: str, alone: bool = False) -> Callable[[Binder], Binder]:
    """Register a binder for these opcodes; `alone`: lanes may wait at these instructions."""

    def enter(binder: Binder) -> Binder:
        for opcode in opcodes:
            BINDERS[opcode] = binder
            if alone:
                ALONE.add(opcode)
        return binder

    return enter


def stands_alone(instruction: Instruction) -> bool:
    """Whether lanes may wait at this instruction, so that it needs a block of its own."""
    return instruction.opcode in ALONE


def ends_block(instruction: Instruction) -> bool:
    """Whether a new basic block starts after this instruction."""
    return instruction.opcode in ENDS or instruction.opcode in ALONE


def is_pure(instruction: Instruction) -> bool:
    """Whether its result depends on its operands alone, and it has no other effect."""
    return _bound_as(instruction) not in BINDERS


def bind(decoder: Decoder, instruction: Instruction, following: int) -> None:
    """Append the step of an instruction to the current block, or set how the block ends.

    Raises:
        PtxError: an unknown instruction or form.
    """
    decoder.instruction = instruction
    if not has_form(instruction.opcode, instruction.modifiers):
        raise decoder.unknown(instruction)
    binder = BINDERS.get(_bound_as(instruction))
    if binder is not None:
        try:
            binder(decoder, instruction, following)
        except (ValueError, LookupError) as error:  # from unpacking operands or looking up types
            raise decoder.unknown(instruction, OTHER_OPERANDS) from error
        return
    operation = lookup(instruction.opcode, instruction.modifiers) if instruction.modifiers else None
    if operation is None:
        raise decoder.unknown(instruction)
    try:
        _bind_pure(decoder, instruction, operation)
    except (ValueError, LookupError) as error:  # a register of an unknown type
        raise decoder.unknown(instruction, OTHER_OPERANDS) from error


def _bound_as(instruction: Instruction) -> str:
    """The opcode under which the instruction's binder is registered."""
    opcode, modifiers = instruction.opcode, instruction.modifiers
    if "cc" in modifiers:
        return "cc"
    return f"{opcode}.async" if opcode in ("st", "red") and "async" in modifiers else opcode


# -- destinations --------------------------------------------------------------------------------------


def write(
    decoder: Decoder, operand: Operand, instruction: Instruction, dtype: np.dtype[Any] | None = None
) -> int:
    """The slot of a destination register; `_` (no destination) gets a slot that no instruction reads.

    Args:
        dtype: type of the result, where the register must have the same size.

    Raises:
        PtxError: not a register, or one of another size.
    """
    if not isinstance(operand, Register) or is_special(operand.name):
        raise decoder.unknown(instruction, NO_REGISTER, print_operand(operand))
    if operand.name == "_":
        return decoder.constant(0xDEAD, U32)
    if dtype is not None:
        width = decoder.width(operand.name)
        if width.itemsize != dtype.itemsize or (width == PRED) is not (dtype == PRED):
            raise decoder.unknown(instruction, DOES_NOT_FIT.of(register=operand.name), operand.name)
    slot = decoder.register(operand.name)
    if instruction.predicate is None:
        decoder.block.defines.add(slot)
    else:
        decoder.block.reads(slot)
    return slot


def assign(group: Group, slot: int, value: Array, lanes: Array | None, dtype: np.dtype[Any]) -> None:
    """Set a register for all lanes of the group, or for those selected by the mask `lanes`.

    Args:
        value: one entry per lane of the group, or a single one for all lanes.
        dtype: the register's type.
    """
    if value.dtype is not dtype:
        value = value.view(dtype)
    if lanes is not None:
        old = group.get(slot)
        if old.dtype is not dtype:
            old = old.view(dtype)
        value = np.where(lanes, value, old)
    group.registers[slot] = value


# -- pure instructions --------------------------------------------------------------------------------


def _bind_pure(decoder: Decoder, instruction: Instruction, operation: Operation) -> None:
    operands = instruction.operands
    if not operands:
        raise decoder.unknown(instruction, NO_OPERANDS)
    destination, *sources = operands
    if not sources:
        raise decoder.unknown(instruction, NO_SOURCE)
    if instruction.opcode == "mov" and (
        isinstance(destination, Vector) or (len(sources) == 1 and isinstance(sources[0], Vector))
    ):
        _bind_vector_move(decoder, instruction)
        return
    if isinstance(sources[0], Register) and sources[0].name.startswith(CLOCKS):
        _bind_clock(decoder, instruction, sources[0].name)
        return
    if len(sources) != len(operation.arguments):
        counts = OPERAND_COUNT.of(given=len(sources), known=len(operation.arguments))
        raise decoder.unknown(instruction, counts)
    function = operation.pair if isinstance(destination, OperandPair) else operation.function
    if function is None:
        raise decoder.unknown(instruction, OTHER_OPERANDS)
    function, slots, kinds = _bind_sources(decoder, instruction, function, operation.arguments)
    guarding = guard(decoder, instruction)
    if isinstance(destination, OperandPair):
        first = write(decoder, destination.first, instruction, operation.result)
        second = write(decoder, destination.second, instruction, PRED)
        targets = ((None if _is_unwanted(destination.first) else first, operation.result), (second, PRED))
        decoder.block.steps.append(_pair_step(function, targets, slots, kinds, guarding))
        return
    result = operation.result
    if isinstance(destination, Register) and destination.name != "_" and result != PRED:
        register = decoder.width(destination.name)
        if register.itemsize > result.itemsize:
            function = _extended(function, result, register)
            result = register
    target = write(decoder, destination, instruction, result)
    assert isinstance(destination, Register)
    if destination.name == "_":
        return
    if guarding is not None:
        decoder.block.steps.append(_guarded_step(function, target, slots, kinds, guarding))
    else:
        decoder.block.steps.append(_step(function, target, slots, kinds))


def _is_unwanted(operand: Operand) -> bool:
    return isinstance(operand, Register) and operand.name == "_"


def _bind_sources(
    decoder: Decoder,
    instruction: Instruction,
    function: Callable[..., Any],
    arguments: Sequence[np.dtype[Any]],
) -> tuple[Callable[..., Any], list[int], list[np.dtype[Any]]]:
    """The slots of the source operands and the types in which they are read.

    Returns:
        The function of values of these types, the slots, the types.
    """
    slots: list[int] = []
    kinds: list[np.dtype[Any]] = []
    for position, (source, dtype) in enumerate(zip(instruction.operands[1:], arguments, strict=True)):
        negate = isinstance(source, Negated)
        if negate and dtype != PRED:
            raise decoder.unknown(instruction, OTHER_OPERAND)
        inner: Operand = source.operand if isinstance(source, Negated) else source
        slots.append(decoder.value(inner, dtype, instruction, any_width=True))
        width = decoder.width(inner.name) if isinstance(inner, Register) else dtype
        if width.itemsize != dtype.itemsize or negate:
            function = _adapted(function, position, dtype, width, negate)
            kinds.append(width)
        else:
            kinds.append(dtype)
    return function, slots, kinds


def _bind_clock(decoder: Decoder, instruction: Instruction, name: str) -> None:
    """Clock registers are read at each execution; they count issued instructions, not time."""
    origin = Origin("special", special_dtype(name), name)
    target = write(decoder, instruction.operands[0], instruction, origin.dtype)
    guarding = guard(decoder, instruction)

    def step(group: Group, batch: Batch) -> None:
        lanes = True if guarding is None else guarded_lanes(group, guarding)
        if lanes is not False:
            # A loop that reads the clock probably polls.
            group.polling = instruction
            batch.spaces.changes += 1
            assign(
                group, target, initial_value(origin, batch), None if lanes is True else lanes, origin.dtype
            )

    decoder.block.steps.append(step)


def _adapted(
    function: Callable[..., Any], position: int, dtype: np.dtype[Any], width: np.dtype[Any], negate: bool
) -> Callable[..., Any]:
    """The function, with one argument truncated to `dtype` or negated first."""

    def adapted(*arguments: Array) -> Any:
        changed = list(arguments)
        value = changed[position]
        if negate:
            value = ~value
        if width.itemsize > dtype.itemsize:
            value = value.astype(f"u{dtype.itemsize}").view(dtype)
        elif width.itemsize < dtype.itemsize:
            value = value.astype(dtype)
        changed[position] = value
        return function(*changed)

    return adapted


def _extended(
    function: Callable[..., Array], result: np.dtype[Any], register: np.dtype[Any]
) -> Callable[..., Array]:
    """The function with its result extended to the register's width: sign-extended if signed."""
    wide = np.dtype(f"{'i' if result.kind == 'i' else 'u'}{register.itemsize}")

    def extended(*arguments: Array) -> Array:
        value = function(*arguments)
        return value.view(f"u{result.itemsize}").astype(wide) if result.kind == "f" else value.astype(wide)

    return extended


def _step(function: Callable[..., Array], target: int, slots: list[int], kinds: list[np.dtype[Any]]) -> Step:
    """A step without a predicate, specialised for one and two operands, which are the most frequent."""
    if len(slots) == 1:
        (a,), (ta,) = slots, kinds

        def step1(group: Group, _batch: Batch) -> None:
            registers = group.registers
            x = registers[a]
            if x is None:
                x = group.load(a)
            if x.dtype is not ta:
                x = x.view(ta)
            registers[target] = function(x)

        return step1
    if len(slots) == 2:
        (a, b), (ta, tb) = slots, kinds

        def step2(group: Group, _batch: Batch) -> None:
            registers = group.registers
            x = registers[a]
            if x is None:
                x = group.load(a)
            if x.dtype is not ta:
                x = x.view(ta)
            y = registers[b]
            if y is None:
                y = group.load(b)
            if y.dtype is not tb:
                y = y.view(tb)
            registers[target] = function(x, y)

        return step2

    def step(group: Group, _batch: Batch) -> None:
        group.registers[target] = function(*_arguments(group, slots, kinds))

    return step


def _arguments(group: Group, slots: list[int], kinds: list[np.dtype[Any]]) -> list[Array]:
    values = []
    registers = group.registers
    for slot, kind in zip(slots, kinds, strict=True):
        value = registers[slot]
        if value is None:
            value = group.load(slot)
        values.append(value if value.dtype is kind else value.view(kind))
    return values


def _guarded_step(
    function: Callable[..., Array],
    target: int,
    slots: list[int],
    kinds: list[np.dtype[Any]],
    guarding: tuple[int, bool],
) -> Step:
    def step(group: Group, _batch: Batch) -> None:
        lanes = guarded_lanes(group, guarding)
        if lanes is False:
            return
        value = function(*_arguments(group, slots, kinds))
        assign(group, target, value, None if lanes is True else lanes, value.dtype)

    return step


def _pair_step(
    function: PairFunction,
    targets: tuple[tuple[int | None, np.dtype[Any]], tuple[int, np.dtype[Any]]],
    slots: list[int],
    kinds: list[np.dtype[Any]],
    guarding: tuple[int, bool] | None,
) -> Step:
    """`setp … p|q`, or `lop3 … d|p`: the function returns both results. A target of None is not wanted."""

    def step(group: Group, _batch: Batch) -> None:
        lanes = True if guarding is None else guarded_lanes(group, guarding)
        if lanes is False:
            return
        results = function(*_arguments(group, slots, kinds))
        mask = None if lanes is True else lanes
        for (target, dtype), result in zip(targets, results, strict=True):
            if target is not None:
                assign(group, target, result, mask, dtype)

    return step


def _bind_vector_move(decoder: Decoder, instruction: Instruction) -> None:
    """`mov.b64 {lo, hi}, a` and `mov.b64 d, {lo, hi}` (PTX ISA 9.7.9.2): the first element is the lowest."""
    destination, source = instruction.operands
    guarding = guard(decoder, instruction)
    if isinstance(destination, Vector) and isinstance(source, Register):
        whole = decoder.value(source, U32, instruction, any_width=True)
        count = len(destination.elements)
        element_type = _element_type(decoder, instruction, source, destination)
        targets = [write(decoder, element, instruction, element_type) for element in destination.elements]

        def unpack(group: Group, _batch: Batch) -> None:
            lanes = True if guarding is None else guarded_lanes(group, guarding)
            if lanes is False:
                return
            pieces = np.ascontiguousarray(group.get(whole)).view(element_type).reshape(-1, count)
            for column, target in enumerate(targets):
                assign(
                    group, target, pieces[:, column].copy(), None if lanes is True else lanes, element_type
                )

        decoder.block.steps.append(unpack)
        return
    if isinstance(source, Vector) and isinstance(destination, Register):
        element_type = _element_type(decoder, instruction, destination, source)
        whole_type = np.dtype(f"u{decoder.width(destination.name).itemsize}")
        slots = [decoder.value(element, element_type, instruction) for element in source.elements]
        target = write(decoder, destination, instruction)

        def pack(group: Group, _batch: Batch) -> None:
            lanes = True if guarding is None else guarded_lanes(group, guarding)
            if lanes is False:
                return
            value = np.zeros(1, whole_type)
            for position, slot in enumerate(slots):
                piece = group.get(slot).view(element_type).astype(whole_type)
                value = value | (piece << whole_type.type(8 * element_type.itemsize * position))
            assign(group, target, value, None if lanes is True else lanes, whole_type)

        decoder.block.steps.append(pack)
        return
    raise decoder.unknown(instruction)


def _element_type(
    decoder: Decoder, instruction: Instruction, whole: Register, vector: Vector
) -> np.dtype[Any]:
    """The type of the elements of a vector that is as wide as a register.

    Raises:
        PtxError: the register's width is not that number of elements of equal size.
    """
    size, count = decoder.width(whole.name).itemsize, len(vector.elements)
    if not count or size % count or size // count not in UNSIGNED:
        raise decoder.unknown(instruction, WRONG_VECTOR)
    return UNSIGNED[size // count]
