"""Results that nothing reads: most carries of 64-bit arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tooling.simulator.amd.decoding.instruction import MachineInstruction, Operand
from tooling.simulator.amd.semantics.tables import lookup


def unread_results(block: Sequence[MachineInstruction]) -> Iterator[int]:
    """Offsets of the instructions of a basic block whose second result, in scalar registers, is overwritten
    before anything reads it."""
    for number, instruction in enumerate(block):
        if len(instruction.results) == 2 and instruction.results[1].kind == "s":
            registers = _registers(instruction.results[1])
            following = (each for each in block[number + 1 :] if _uses(each, registers))
            user = next(following, None)
            if user is not None and not _reads(user, registers):
                yield instruction.offset


def _registers(operand: Operand) -> set[int]:
    return set(range(operand.index, operand.index + operand.count)) if operand.kind == "s" else set()


def _uses(instruction: MachineInstruction, registers: set[int]) -> bool:
    return _reads(instruction, registers) or any(
        registers <= _registers(result) for result in instruction.results
    )


def _reads(instruction: MachineInstruction, registers: set[int]) -> bool:
    """Whether it reads any of the registers, or may leave their old values."""
    operation = lookup(instruction.name)
    operands = [source.operand for source in instruction.sources]
    if operation is not None and "acc" in operation.arguments:
        operands += instruction.results
    if instruction.second is not None:
        operands += [source.operand for source in instruction.second.sources]
    return any(registers & _registers(operand) for operand in operands)
