"""What a PTX instruction does with the values of the registers that it reads."""

from __future__ import annotations

from collections.abc import Iterator

from tooling.simulator.gpu.code_model import (
    Address,
    Arguments,
    Instruction,
    Negated,
    Operand,
    OperandPair,
    Register,
    Vector,
)
from tooling.simulator.nvidia.analysis.register_reads import WITHOUT_RESULT
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
    first, rest = instruction.operands[:1], instruction.operands[1:]
    if instruction.opcode in WITHOUT_RESULT or not isinstance(next(iter(first), None), _RESULTS):
        return Flow(Role.USES, _slots(decoder, instruction.operands), (), guarding)
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
    results = _registers(instruction.operands[0])
    return not instruction.is_strong and any(decoder.is_read(name) for name in results)


_RESULTS = (Register, Vector, OperandPair)


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
    return tuple(dict.fromkeys(decoder.register(name) for one in operands for name in _registers(one)))


def _registers(operand: Operand) -> Iterator[str]:
    match operand:
        case Register(name):
            if name != "_":
                yield name
        case Negated(inner):
            yield from _registers(inner)
        case OperandPair(first, second):
            yield from _registers(first)
            yield from _registers(second)
        case Vector(elements) | Arguments(elements):
            for element in elements:
                yield from _registers(element)
        case Address(base, _, coordinates):
            for each in (base, *coordinates):
                yield from _registers(each)
