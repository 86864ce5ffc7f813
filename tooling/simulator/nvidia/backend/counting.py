"""Which PTX instructions are barriers, matrix products, and atomics whose result is used."""

from __future__ import annotations

from tooling.simulator.gpu.code_model import Instruction, Register
from tooling.simulator.program.counting import CountingRules


def is_barrier(instruction: Instruction) -> bool:
    """Whether warps wait for others of their block or cluster here."""
    if instruction.opcode not in ("bar", "barrier") or instruction.modifiers[:1] == ("warp",):
        return False
    return "arrive" not in instruction.modifiers


def is_tensor(instruction: Instruction) -> bool:
    """Whether tensor cores multiply matrices here."""
    opcode, modifiers = instruction.opcode, instruction.modifiers
    return (
        opcode == "mma"
        or (opcode == "wmma" and "mma" in modifiers)
        or (opcode == "wgmma" and "mma_async" in modifiers)
    )


def returns(instruction: Instruction, read: frozenset[str]) -> bool:
    """Whether the old value of an atomic is used: as for ptxas, one whose result is unused is a reduction."""
    destination = instruction.operands[0]
    return instruction.opcode == "atom" and isinstance(destination, Register) and destination.name in read


COUNTING = CountingRules(32, 32, is_barrier, is_tensor, returns)
