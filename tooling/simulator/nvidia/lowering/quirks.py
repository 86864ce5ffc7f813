"""Deviations of the assembler or an H200 from the PTX ISA, each with the observation that shows it."""

from __future__ import annotations

from msgspec.structs import replace

from tooling.simulator.gpu.code_model import Instruction, Integer


def as_assembled(instruction: Instruction) -> Instruction:
    """The instruction whose effect by the PTX ISA is that of the assembled code.

    - `bfi.b32` with a constant position and a constant length: the length is taken modulo 32, although the
      ISA (9.7.1.20) uses its low 8 bits; `bfi.b32 d, a, b, 5, 40` inserted 8 bits on an H200.
    """
    if instruction.opcode == "bfi" and instruction.form == "bfi.b32" and len(instruction.operands) == 5:
        *rest, position, length = instruction.operands
        if isinstance(position, Integer) and isinstance(length, Integer):
            return replace(instruction, operands=(*rest, position, Integer(length.value & 31)))
    return instruction
