"""Deviations of the assembler or an H200 from the PTX ISA, each with the observation that shows it."""

from __future__ import annotations

from msgspec.structs import replace

from tooling.simulator.gpu.code_model import Instruction, Integer, Register

_VECTORS = frozenset({"v2", "v4", "v8"})
_OPERATIONS = frozenset({"add", "min", "max"})
_AFTER = frozenset({"noftz", "L2::cache_hint"})
"""Modifiers that follow the operation."""


def _operation_first(modifiers: tuple[str, ...]) -> tuple[str, ...]:
    """The modifiers of a vector operation with the operation before the vector."""
    first = next(index for index, each in enumerate(modifiers) if each in _VECTORS)
    moved = [each for each in modifiers[first:] if each in _OPERATIONS | _AFTER]
    rest = [each for each in modifiers[first:] if each not in _OPERATIONS | _AFTER]
    return (*modifiers[:first], *moved, *rest)


def as_assembled(instruction: Instruction) -> Instruction:
    """The instruction whose effect by the PTX ISA is that of the assembled code.

    - `bfi.b32` with a constant position and a constant length: the length is taken modulo 32, although the
      ISA (9.7.1.20) uses its low 8 bits; `bfi.b32 d, a, b, 5, 40` inserted 8 bits on an H200. Positions that
      are multiples of 8, and a constant b, have the ISA's result there (every position up to 31, 14 lengths).
    - `red.global.v4.f32.add`: the ISA (9.7.13.6) has the operation before the vector, and its examples after
      the type; the assembler takes both for the same.
    """
    if instruction.opcode in ("atom", "red") and not _VECTORS.isdisjoint(instruction.modifiers):
        return replace(instruction, modifiers=_operation_first(instruction.modifiers))
    if instruction.opcode == "bfi" and instruction.form == "bfi.b32" and len(instruction.operands) == 5:
        *rest, into, position, length = instruction.operands
        if isinstance(position, Integer) and isinstance(length, Integer) and isinstance(into, Register):
            kept = length.value if position.value % 8 == 0 else length.value & 31
            return replace(instruction, operands=(*rest, into, position, Integer(kept)))
    return instruction
