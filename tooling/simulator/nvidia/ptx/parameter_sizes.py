"""How many bytes of a call's parameter are passed: those that are stored and loaded, not those declared.

LLVM declares `.param .align 16 .b8 param0[1]` for a `SIMD[DType.bool, 4]` (four bits), and stores and loads
it as four bytes. `ptxas` passes such a parameter in a register, so that on an H200 all four bytes arrive.
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


def with_room(function: Function) -> Function:
    """The function, its call parameters made as large as what it stores to and loads from them.

    A kernel's own parameters stay as they are: their place in the launch's bytes is their size.
    """
    ends = _ends(function)
    if not ends:
        return function

    def sized(thing: Parameter) -> Parameter:
        return replace(thing, size=max(thing.size, ends.get(thing.name, 0)))

    def roomy(variable: Variable) -> Variable:
        return replace(variable, size=max(variable.size, ends.get(variable.name, 0)))

    variables = tuple(roomy(v) if v.space == "param" else v for v in function.variables)
    if function.is_entry:
        return replace(function, variables=variables)
    return replace(
        function,
        variables=variables,
        parameters=tuple(map(sized, function.parameters)),
        results=tuple(map(sized, function.results)),
    )


def _ends(function: Function) -> dict[str, int]:
    """By name, the byte behind the last one of a parameter that an instruction reaches."""
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
