"""Sizes of call parameters: the bytes that are stored and loaded, which may exceed those declared.

LLVM declares `.param .align 16 .b8 param0[1]` for a `SIMD[DType.bool, 4]` (four bits), and stores and loads
it as four bytes. `ptxas` passes such a parameter in a register, so an H200 passes all four bytes.
"""

from __future__ import annotations

from msgspec.structs import replace

from tooling.simulator.gpu.code_model import (
    Address,
    Function,
    Instruction,
    Parameter,
    Symbol,
    Variable,
    Vector,
)
from tooling.simulator.nvidia.ptx.variables import TYPE_BYTES


def with_accessed_sizes(function: Function) -> Function:
    """The function, with its call parameters extended to the bytes that it stores to and loads from them.

    A kernel's own parameters keep their size, which determines their offsets in the launch's parameter block.
    """
    ends = _ends(function)
    if not ends:
        return function

    def extended(parameter: Parameter) -> Parameter:
        return replace(parameter, size=max(parameter.size, ends.get(parameter.name, 0)))

    def extended_variable(variable: Variable) -> Variable:
        return replace(variable, size=max(variable.size, ends.get(variable.name, 0)))

    variables = tuple(extended_variable(v) if v.space == "param" else v for v in function.variables)
    if function.is_entry:
        return replace(function, variables=variables)
    return replace(
        function,
        variables=variables,
        parameters=tuple(map(extended, function.parameters)),
        results=tuple(map(extended, function.results)),
    )


def _ends(function: Function) -> dict[str, int]:
    """By parameter name, the end of the bytes that instructions access, as an offset."""
    ends: dict[str, int] = {}
    for statement in function.body:
        if not (
            isinstance(statement, Instruction)
            and statement.opcode in {"ld", "st"}
            and statement.modifiers[:1] in {("param",), ("param::func",)}
        ):
            continue
        for operand in statement.operands:
            if isinstance(operand, Address) and isinstance(operand.base, Symbol):
                end = operand.base.offset + operand.offset + _bytes(statement)
                ends[operand.base.name] = max(ends.get(operand.base.name, 0), end)
    return ends


def _bytes(access: Instruction) -> int:
    element = TYPE_BYTES.get(access.modifiers[-1], 0)
    counts = [len(operand.elements) for operand in access.operands if isinstance(operand, Vector)]
    return element * max(counts, default=1)
