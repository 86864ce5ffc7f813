"""The argument that an address was computed from, by data flow through the registers of machine code.

Registers hold many values in turn, so their values are followed along the paths of the program, from the
loads of the arguments to the accesses. A value is a plain number, one argument's pointer, something that was
loaded from memory, or unknown. An access that may mean several buffers is left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import TypeAlias

from tooling.simulator.amd.code_object.model import KernelFunction
from tooling.simulator.amd.decoding.instruction import MachineInstruction, Operand
from tooling.simulator.amd.lowering.entry import parameter_register
from tooling.simulator.program.program import BasicBlock, Program

Register: TypeAlias = tuple[str, int]
Values: TypeAlias = dict[Register, int]
"""What registers hold: the offset of a pointer among the arguments, or one of these. Others hold numbers."""

PARAMETERS, LOADED, UNKNOWN = -1, -2, -3
"""The address of the arguments; what was loaded from memory; a pointer that may lead into any buffer."""

_COPIES = re.compile(
    r"s_mov_b(32|64)|v_mov_b(32|64)|v_dual_mov_b32|v_readfirstlane_b32|v_readlane_b32|v_writelane_b32"
    r"|v_accvgpr_(read|write|mov)_b32"
)
_SELECTIONS = re.compile(r"s_cselect_b(32|64)|v_cndmask_b32|v_dual_cndmask_b32")
_SUMS = re.compile(
    r"(s|v|v_dual)_(add|addc|add3|or|or3|and|lshl_add|lshl[1-4]_add|add_lshl|lshl_or|and_or|mad_[ui]64)_\w+"
)
_DIFFERENCES = re.compile(r"[sv]_sub(b|_co|_co_ci|_nc)?_[a-z_]*[ui](32|64)")
_REVERSED = re.compile(r"v_subb?rev_\w+")
_CALLS = frozenset({"s_swappc_b64", "s_call_b64", "s_setpc_b64"})
_MEMORY = ("s_load_", "s_buffer_", "global_", "flat_", "scratch_", "buffer_", "ds_")


def meant_arguments(
    program: Program, kernel: KernelFunction, pointers: Collection[int]
) -> dict[tuple[int, int], int]:
    """By `Instruction.code_position` of an access to global memory, the one argument that its address was
    computed from: its offset among the arguments.

    Args:
        pointers: the offsets of the arguments that are pointers.
    """
    start = parameter_register(kernel.descriptor.properties)
    if start is None or any(each.name in _CALLS for each in _instructions(program.blocks)):
        return {}
    entry = program.entries[program.name]
    before: dict[int, Values] = {entry: {("s", start): PARAMETERS, ("s", start + 1): PARAMETERS}}
    work = [entry]
    while work:
        number = work.pop()
        values = dict(before[number])
        for instruction in _instructions([program.blocks[number]]):
            _execute(instruction, values, pointers)
        work += [
            successor for successor in program.blocks[number].successors if _enter(before, successor, values)
        ]
    return dict(_accesses(program, before, pointers))


def _instructions(blocks: Iterable[BasicBlock]) -> Iterator[MachineInstruction]:
    for block in blocks:
        for instruction in block.instructions:
            assert isinstance(instruction, MachineInstruction)
            yield instruction


def _accesses(
    program: Program, before: dict[int, Values], pointers: Collection[int]
) -> Iterator[tuple[tuple[int, int], int]]:
    for number, start in before.items():
        values = dict(start)
        for instruction in _instructions([program.blocks[number]]):
            found = _value_of_sum(_address_registers(instruction), values)
            if found is not None and found >= 0:
                yield instruction.code_position, found
            _execute(instruction, values, pointers)


def _address_registers(instruction: MachineInstruction) -> list[Register]:
    """The registers of which the address of an access to global memory is the sum; of others none."""
    operands = [source.operand for source in instruction.sources]
    if instruction.name.startswith("s_load_"):
        return _registers(operands[0])
    if not instruction.name.startswith(("global_", "flat_")) or not operands:
        return []
    registers = _registers(operands[0])
    return [*registers, *_registers(operands[-1])] if "saddr" in instruction.flags else registers


def _execute(instruction: MachineInstruction, values: Values, pointers: Collection[int]) -> None:
    """Changes the values of the registers to those after an instruction."""
    for each in (instruction, instruction.second):
        if each is None:
            continue
        if each.name.startswith("s_load_") and _value(each.sources[0].operand, values) == PARAMETERS:
            _load_arguments(each, values, pointers)
            continue
        result = _result(each, values)
        for operand in each.results[:1]:
            for register in _registers(operand):
                _write(values, register, result)
        for operand in each.results[1:]:
            for register in _registers(operand):
                _write(values, register, None)


def _load_arguments(instruction: MachineInstruction, values: Values, pointers: Collection[int]) -> None:
    """The registers that a load of the arguments fills hold the pointers among them."""
    known = len(instruction.sources) == 1
    for index, register in enumerate(_registers(instruction.results[0])):
        offset = (instruction.immediate + 4 * index) & ~7
        if not known:
            values[register] = UNKNOWN
        elif offset in pointers:
            values[register] = offset
        else:
            values.pop(register, None)


def _write(values: Values, register: Register, value: int | None) -> None:
    """Sets a register. Inactive lanes keep the old value of a vector register, another pointer perhaps."""
    old = values.get(register)
    if value is None:
        values.pop(register, None)
    elif register[0] != "s" and value != LOADED and old is not None and old not in (value, LOADED):
        values[register] = UNKNOWN
    else:
        values[register] = value


def _result(instruction: MachineInstruction, values: Values) -> int | None:
    """What an instruction writes; None for a number."""
    name = instruction.name
    if name.startswith(_MEMORY):
        return LOADED
    operands = [_value(source.operand, values) for source in instruction.sources]
    if _COPIES.fullmatch(name):
        return operands[0] if operands else None
    if _SELECTIONS.fullmatch(name):
        return _either(operands[0], operands[1])
    if _SUMS.fullmatch(name):
        return _sum(operands)
    if _REVERSED.fullmatch(name):
        operands[:2] = operands[1::-1]
    if (_DIFFERENCES.fullmatch(name) or _REVERSED.fullmatch(name)) and operands[1] in (None, LOADED):
        return operands[0]
    found = {operand for operand in operands if operand is not None}
    return None if not found else LOADED if found == {LOADED} else UNKNOWN


def _sum(operands: Iterable[int | None]) -> int | None:
    """A pointer plus numbers is that pointer, whether they were loaded or not."""
    found = {operand for operand in operands if operand is not None}
    pointers = found - {LOADED}
    if not pointers:
        return LOADED if found else None
    return next(iter(pointers)) if len(pointers) == 1 and PARAMETERS not in pointers else UNKNOWN


def _value_of_sum(registers: list[Register], values: Values) -> int | None:
    return _sum(values.get(register) for register in registers)


def _value(operand: Operand, values: Values) -> int | None:
    """What the registers of an operand hold, which are the halves of one value."""
    found = [values.get(register) for register in _registers(operand)]
    pointers = {value for value in found if value is not None}
    if len(pointers) > 1:
        return UNKNOWN
    return next(iter(pointers), None)


def _either(one: int | None, other: int | None) -> int | None:
    """A value that is one of two. A number is no address, so that a pointer or a number is the pointer."""
    if one == other or other is None:
        return one
    if one is None:
        return other
    return UNKNOWN


def _enter(before: dict[int, Values], block: int, arriving: Values) -> bool:
    """Adds the values with which a block may also be entered; returns whether they are new."""
    changed = block not in before
    known = before.setdefault(block, {})
    for register, value in arriving.items():
        both = _either(known.get(register), value)
        if both is not None and both != known.get(register):
            known[register] = both
            changed = True
    return changed


def _registers(operand: Operand) -> list[Register]:
    if operand.kind not in ("s", "v", "a", "vcc", "ttmp"):
        return []
    return [(operand.kind, operand.index + number) for number in range(operand.count)]
