"""What a PTX instruction does with the values of the registers that it reads."""

from __future__ import annotations

from tooling.simulator.gpu.code_model import (
    Instruction,
    Operand,
    Register,
    Vector,
)
from tooling.simulator.nvidia.analysis.register_reads import registers_in, results_and_sources
from tooling.simulator.nvidia.lowering.binders import is_pure
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.program.value_flow import Flow, Role

_COPIES = frozenset({"mov", "cvta"})
_LOGIC = {"and": Role.AND, "or": Role.OR}
_FLAGS = ("pred", "b16")
"""Types of conditions."""

_ALWAYS_WRITTEN = ("param", "const")
"""State spaces whose bytes are always written, and never during the launch."""

_CONSTANT = -1
"""In `Flow.sources`, for an operand that is not a register."""


def flow_of(decoder: Decoder, instruction: Instruction) -> Flow:
    """The flow of an instruction of the decoder's current function."""
    if instruction.opcode == "wgmma" and instruction.modifiers[0] == "fence":
        return Flow(Role.FENCES)
    guard = instruction.predicate
    guarding = None if guard is None else (decoder.register(guard.register), guard.negated)
    first, rest = results_and_sources(instruction)
    if not first:
        return Flow(Role.USES, _slots(decoder, rest), (), guarding)
    targets = _slots(decoder, first)
    role = _role(instruction)
    if role in (Role.SELECTS, Role.AND, Role.OR):
        sources = tuple(
            decoder.register(each.name) if isinstance(each, Register) else _CONSTANT for each in rest
        )
        if role is Role.SELECTS or _CONSTANT not in sources:
            return Flow(role, sources, targets, guarding)
        role = Role.COMPUTES
    if role is Role.MULTIPLIES:
        held = tuple(operand for operand in rest if isinstance(operand, Vector))
        fenced = (*targets, *_slots(decoder, held))
        return Flow(role, (*targets, *_slots(decoder, rest)), targets, guarding, fenced=fenced)
    if role is Role.LOADS and not _may_be_moved(decoder, instruction):
        role = Role.USES
    return Flow(role, _slots(decoder, rest), targets, guarding)


def _may_be_moved(decoder: Decoder, instruction: Instruction) -> bool:
    """Whether a compiler may have moved a load to where its value is not needed.

    It moves no strong load, and leaves no load whose result nothing reads: such a one is of inline PTX.
    """
    results = registers_in(instruction.operands[:1])
    return not instruction.is_strong and any(decoder.is_read(name) for name in results)


def _role(instruction: Instruction) -> Role:
    opcode, modifiers, sources = instruction.opcode, instruction.modifiers, instruction.operands[1:]
    if opcode in ("ld", "ldu"):
        return Role.COMPUTES if modifiers[0].startswith(_ALWAYS_WRITTEN) else Role.LOADS
    if opcode == "wgmma":
        return Role.MULTIPLIES
    if opcode in _COPIES:
        return Role.COPIES
    if not is_pure(instruction):
        return Role.USES
    if opcode == "selp" and len(sources) == 3 and isinstance(sources[2], Register):
        return Role.SELECTS
    if opcode in _LOGIC and modifiers[-1] in _FLAGS:
        return _LOGIC[opcode]
    return Role.COMPUTES


def _slots(decoder: Decoder, operands: tuple[Operand, ...]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(decoder.register(name) for name in registers_in(operands)))
