"""The buffers that a launch may write, and those that its accesses mean, from its text and arguments.

Readers of a buffer that no store can access need not be recorded, and most inputs are only read. The address
of each store is traced back to the kernel's parameters; if one cannot be traced (a pointer from memory, a
function, a bulk copy), every buffer counts as written.
"""

from __future__ import annotations

from tooling.simulator.gpu.code_model import Address, Function, Instruction, Symbol
from tooling.simulator.gpu.device_memory import Allocation
from tooling.simulator.gpu.hooks import LaunchContext
from tooling.simulator.nvidia.analysis.followed_addresses import ANY, arrays_meant, follow, value_of

_WRITERS = frozenset({"st", "atom", "red"})


def pointers_of(context: LaunchContext) -> dict[str, Allocation] | None:
    """The pointers among a launch's parameters: by `parameter+offset`, the allocation.

    None if a pointer may lead into any allocation.
    """
    function, memory = context.launch.function, context.memory
    pointers: dict[str, Allocation] = {}
    for parameter in function.parameters:
        for offset in range(0, parameter.size - 7, 8):
            start = parameter.offset + offset
            value = int.from_bytes(context.launch.parameters[start : start + 8], "little")
            if memory.reservation_of(value) is not None:
                return None  # mappings are adjacent: a pointer into one may run on into the next
            allocation = memory.containing(value)
            if allocation is not None:
                pointers[f"{parameter.name}+{offset}"] = allocation
    return pointers


def meant_pointers(function: Function, pointers: frozenset[str]) -> dict[tuple[int, int], str]:
    """By `Instruction.code_position` of an access, the one pointer that its address was computed from.

    The address operand of a tensor copy is that of its map, not of the tensor.
    """
    body = (item for item in function.body if isinstance(item, Instruction))
    tensors = {item.code_position for item in body if "tensor" in item.modifiers}
    meant = arrays_meant(function, pointers)
    return {position: name for position, name in meant.items() if position not in tensors}


def written_pointers(
    function: Function, variables: set[str], pointers: frozenset[str]
) -> frozenset[str] | None:
    """The pointers (`parameter+offset`) that the kernel may write through; None for all memory.

    Args:
        variables: of the module.
    """
    own = {variable.name for variable in function.variables}
    variables = own | variables
    body = [item for item in function.body if isinstance(item, Instruction)]
    values = follow(body, variables | pointers)
    if not body:
        return None
    written: set[str] = set()
    for instruction in body:
        if not _may_write_globally(instruction) or prints(instruction):
            continue
        at = next((operand for operand in instruction.operands if isinstance(operand, Address)), None)
        targets = frozenset() if at is None else value_of(at.base, values, variables)
        if (
            not targets
            or ANY in targets
            or instruction.opcode not in _WRITERS
            or "async" in instruction.modifiers
        ):
            return None
        if targets - own - pointers:
            return None  # a variable of the module, which no parameter points to
        written |= targets - own
    return frozenset(written)


def _may_write_globally(instruction: Instruction) -> bool:
    opcode, modifiers = instruction.opcode, instruction.modifiers
    if opcode in _WRITERS:
        return not any(m.startswith(("shared", "local", "param")) for m in modifiers) or "async" in modifiers
    if opcode == "cp":
        return "bulk" in modifiers or "reduce" in modifiers
    return opcode in ("call", "tensormap", "multimem")


def prints(instruction: Instruction) -> bool:
    """Whether it calls `vprintf`, the one function that writes no memory of the program."""
    return any(isinstance(operand, Symbol) and operand.name == "vprintf" for operand in instruction.operands)
