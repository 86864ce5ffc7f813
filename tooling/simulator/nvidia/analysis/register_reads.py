"""Which registers a kernel reads; results in other registers are unused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tooling.simulator.gpu.code_model import (
    Address,
    Arguments,
    Function,
    Instruction,
    Negated,
    Operand,
    OperandPair,
    Register,
    Vector,
)

WITHOUT_RESULT = frozenset({"st", "red", "call", "ret", "bra", "brx", "bar", "barrier"})
"""Opcodes without a result: their first operand may be read. Of all others it is the destination."""


_RESULTS = (Register, Vector, OperandPair)


def results_and_sources(
    instruction: Instruction,
) -> tuple[tuple[Operand, ...], tuple[Operand, ...]]:
    """The operand that an instruction writes, if it has a result, and those that it reads."""
    first, rest = instruction.operands[:1], instruction.operands[1:]
    if instruction.opcode in WITHOUT_RESULT or not isinstance(next(iter(first), None), _RESULTS):
        return (), instruction.operands
    return first, rest


def registers_in(operands: Iterable[Operand]) -> Iterator[str]:
    """Names of the registers in operands, in their order; `_` is none."""
    for operand in operands:
        match operand:
            case Register(name):
                if name != "_":
                    yield name
            case Negated(inner):
                yield from registers_in((inner,))
            case OperandPair(first, second):
                yield from registers_in((first, second))
            case Vector(elements) | Arguments(elements):
                yield from registers_in(elements)
            case Address(base, _, coordinates):
                yield from registers_in((base, *coordinates))


def registers_read(functions: Iterable[Function]) -> frozenset[str]:
    """Names of all registers that an instruction reads (registers of two functions may share a name)."""
    found: set[str] = set()
    for function in functions:
        for statement in function.body:
            if isinstance(statement, Instruction):
                found.update(registers_in(results_and_sources(statement)[1]))
                if statement.predicate is not None:
                    found.add(statement.predicate.register)
    return frozenset(found)
