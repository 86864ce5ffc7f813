"""Which registers a kernel reads; results in other registers are unused."""

from __future__ import annotations

from collections.abc import Iterable

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


def registers_read(functions: Iterable[Function]) -> frozenset[str]:
    """Names of all registers that an instruction reads (registers of two functions may share a name)."""
    found: set[str] = set()

    def visit(operand: Operand) -> None:
        match operand:
            case Register(name) | Address(Register(name)):
                found.add(name)
            case Negated(inner):
                visit(inner)
            case Vector(elements) | Arguments(elements):
                for element in elements:
                    visit(element)

    for function in functions:
        for statement in function.body:
            if isinstance(statement, Instruction):
                for index, operand in enumerate(statement.operands):
                    result = index == 0 and isinstance(operand, Register | Vector | OperandPair)
                    if not result or statement.opcode in WITHOUT_RESULT:
                        visit(operand)
                if statement.predicate is not None:
                    found.add(statement.predicate.register)
    return frozenset(found)
