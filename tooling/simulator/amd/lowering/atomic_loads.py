"""The plain loads that belong to an atomic operation.

The compiler turns an operation that it has no instruction for into a loop of compare-and-swap, which begins
with a plain load. It is recognised by what becomes of its value: the first one that is compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from tooling.simulator.amd.decoding.instruction import MachineInstruction, Operand

_ENDS = ("s_endpgm", "s_branch", "s_setpc_b64", "s_trap")
_MOVES = ("v_mov_b32", "v_mov_b64", "v_dual_mov_b32", "v_accvgpr_read_b32", "v_accvgpr_write_b32")
_LOADS = ("_load_", "ds_read_", "ds_load_")
_Register = tuple[str, int]


def with_atomic_loads(instructions: Mapping[int, MachineInstruction]) -> dict[int, MachineInstruction]:
    """The instructions with these loads marked as relaxed accesses.

    Args:
        instructions: by offset, in the order of the code.
    """
    before = _predecessors(instructions)
    found: set[int] = set()
    seen: set[tuple[int, _Register]] = set()
    work = [
        (offset, register)
        for offset, instruction in instructions.items()
        for register in _compared(instruction)
    ]
    while work:
        offset, register = work.pop()
        for earlier in before.get(offset, ()):
            if (earlier, register) in seen:
                continue
            seen.add((earlier, register))
            writers = [half for half in _halves(instructions[earlier]) if register in _written(half)]
            if not writers:
                work.append((earlier, register))
            for half in writers:
                if any(word in half.name for word in _LOADS):
                    found.add(earlier)
                elif half.name in _MOVES:
                    number = _written(half).index(register)
                    work += [(earlier, each) for each in _registers(half.sources[0].operand)[number:][:1]]
    return {
        offset: replace(instruction, modifiers=("relaxed",)) if offset in found else instruction
        for offset, instruction in instructions.items()
    }


def _predecessors(instructions: Mapping[int, MachineInstruction]) -> dict[int, list[int]]:
    """By offset, the instructions that may be executed before it."""
    before: dict[int, list[int]] = {}
    for offset, instruction in instructions.items():
        if instruction.name not in _ENDS:
            before.setdefault(offset + instruction.size, []).append(offset)
        if instruction.target >= 0:
            before.setdefault(instruction.target, []).append(offset)
    return before


def _compared(instruction: MachineInstruction) -> list[_Register]:
    """The registers with the value that a compare-and-swap compares."""
    name = instruction.name
    if "_atomic_cmpswap" in name:
        data = instruction.sources[0 if name.startswith("buffer") else 1].operand
        registers = _registers(data)
        return registers[len(registers) // 2 :]
    if name.startswith(("ds_cmpst_", "ds_cmpstore_")):
        return _registers(instruction.sources[2 if "cmpstore" in name else 1].operand)
    return []


def _halves(instruction: MachineInstruction) -> Iterator[MachineInstruction]:
    """The instruction, and the second half of a dual one."""
    yield instruction
    if instruction.second is not None:
        yield instruction.second


def _written(instruction: MachineInstruction) -> list[_Register]:
    return [register for result in instruction.results for register in _registers(result)]


def _registers(operand: Operand) -> list[_Register]:
    if operand.kind not in ("s", "v", "a"):
        return []
    return [(operand.kind, operand.index + number) for number in range(operand.count)]
