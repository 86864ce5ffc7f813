"""The shared array that an instruction accesses, by data flow from the array's name to the address.

In PTX every shared array is a variable, but an address is only a number, and the arrays are adjacent in the
block's window: an index past the end of one is inside the next. The array is the one that the address was
computed from. An address that was loaded from memory, passed to a function, or selected between arrays may
be in any of them, and is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TypeAlias

from tooling.simulator.gpu.code_model import (
    Address,
    Function,
    Instruction,
    Negated,
    Operand,
    OperandPair,
    Register,
    Symbol,
    Vector,
)

Arrays: TypeAlias = frozenset[str]
"""The arrays that a value may point into; empty for a plain number."""

_NUMBER: Arrays = frozenset()
ANY = ""
"""Among the arrays of a value: it may point into others as well."""

_ANY: Arrays = frozenset({ANY})
_COPIES = frozenset({"mov", "cvt", "cvta", "mapa"})
_SUMS = frozenset({"add", "mad", "or", "and"})
_OPAQUE = frozenset({"ld", "ldu", "atom", "setp", "isspacep", "getctarank"})
"""Their result is a number, whatever the address."""


def arrays_meant(function: Function, names: Collection[str]) -> dict[tuple[int, int], str]:
    """Per `Instruction.code_position` of an access, the one shared array that its address was computed from.

    Args:
        names: the shared variables that the function can access.
    """
    body = [item for item in function.body if isinstance(item, Instruction)]
    values = follow(body, names)
    meant: dict[tuple[int, int], Arrays] = {}
    for instruction in body:
        found = _NUMBER
        for operand in instruction.operands:
            if isinstance(operand, Address):
                found = found | value_of(operand.base, values, names)
        if found:
            meant[instruction.code_position] = found
    return {
        position: next(iter(found)) for position, found in meant.items() if len(found) == 1 and found != _ANY
    }


def follow(body: list[Instruction], names: Collection[str]) -> dict[str, Arrays]:
    """The variables that each register may point into; other registers are numbers.

    Args:
        names: of variables, and `parameter+offset` for pointers among a kernel's parameters.
    """
    users: dict[str, list[Instruction]] = {}
    found: list[Instruction] = []
    for instruction in body:
        for operand in sources_of(instruction):
            if isinstance(operand, Register):
                users.setdefault(operand.name, []).append(instruction)
            elif _named(operand, names):
                found.append(instruction)
    tainted: set[str] = set()
    while found:
        for target in results_of(found.pop()):
            if target not in tainted:
                tainted.add(target)
                found += users.get(target, [])
    if not tainted:
        return {}
    work = [item for item in body if any(target in tainted for target in results_of(item))]
    values: dict[str, Arrays] = {}
    changed = True
    while changed:
        changed = False
        for instruction in work:
            result = _result(instruction, values, names, tainted)
            if result is None:
                continue
            for target in results_of(instruction):
                now = _join(values.get(target), result)
                if now != values.get(target):
                    values[target] = now
                    changed = True
    return values


def _result(
    instruction: Instruction, values: dict[str, Arrays], names: Collection[str], tainted: set[str]
) -> Arrays | None:
    """The result of an instruction; None while its operands are unknown."""
    if instruction.opcode in _OPAQUE:
        return _named(instruction.operands[1], names) if instruction.opcode == "ld" else _NUMBER
    operands = []
    for operand in sources_of(instruction):
        if isinstance(operand, Register) and operand.name in tainted and operand.name not in values:
            return None
        operands.append(value_of(operand, values, names))
    pointers = [operand for operand in operands if operand]
    if not pointers:
        return _NUMBER
    if instruction.opcode in _COPIES:
        return pointers[0]
    if instruction.opcode in _SUMS:
        return pointers[0] if len(pointers) == 1 else _ANY
    if instruction.opcode == "sub":
        return operands[0] if operands[0] and not operands[1] else _ANY
    if instruction.opcode == "selp":
        return _join(operands[0], operands[1])
    return _ANY


def _join(one: Arrays | None, other: Arrays) -> Arrays:
    """The union of two possible values."""
    if one is None or one == other:
        return other
    return _ANY if not one or not other or _ANY in (one, other) else one | other


def value_of(operand: Operand, values: dict[str, Arrays], names: Collection[str]) -> Arrays:
    """The variables that an operand may point into, given the values from `follow`."""
    return values.get(operand.name, _NUMBER) if isinstance(operand, Register) else _named(operand, names)


def _named(operand: Operand, names: Collection[str]) -> Arrays:
    """The variable that an operand names, or the pointer that it reads from the parameters."""
    match operand:
        case Symbol(name) if name in names:
            return frozenset({name})
        case Address(Symbol(name, start), offset) if f"{name}+{start + offset}" in names:
            return frozenset({f"{name}+{start + offset}"})
    return _NUMBER


def results_of(instruction: Instruction) -> Iterator[str]:
    """The registers that an instruction writes."""
    for operand in instruction.operands[:1]:
        inner: tuple[Operand, ...] = operand.elements if isinstance(operand, Vector) else (operand,)
        if isinstance(operand, OperandPair):
            inner = (operand.first, operand.second)
        yield from (item.name for item in inner if isinstance(item, Register))


def sources_of(instruction: Instruction) -> Iterator[Operand]:
    """The operands after the first, elements of vectors one by one."""
    for operand in instruction.operands[1:]:
        if isinstance(operand, Vector):
            yield from operand.elements
        else:
            yield operand.operand if isinstance(operand, Negated) else operand
