"""Guard predicates of instructions, and the lanes that they enable (PTX ISA 9.3)."""

from __future__ import annotations

from typing import Any

from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.stop_texts import NO_PREDICATE
from tooling.simulator.numerics.rounding import PRED
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.program.program import Batch, End


def guard(decoder: Decoder, instruction: Instruction) -> tuple[int, bool] | None:
    """(slot, negated) of the instruction's guard predicate; None without one.

    Raises:
        PtxError: the predicate is not a register of type `.pred`.
    """
    if instruction.predicate is None:
        return None
    slot = decoder.register(instruction.predicate.register)
    if decoder.width(instruction.predicate.register) != PRED:
        raise decoder.unknown(instruction, NO_PREDICATE.of(register=instruction.predicate.register))
    decoder.block.reads(slot)
    return slot, instruction.predicate.negated


def guarded_lanes(group: Group, guarding: tuple[int, bool]) -> Any:
    """The lanes of the group that the predicate enables: True (all), False (none) or a mask."""
    predicate = group.get(guarding[0])
    if len(predicate) == 1:
        return bool(predicate[0]) != guarding[1]
    if guarding[1]:
        predicate = ~predicate
    if predicate.all():
        return True
    return predicate if predicate.any() else False


def end_guarded(decoder: Decoder, instruction: Instruction, following: int, end: End) -> None:
    """End the block with `end` for the lanes that the predicate enables; others continue at `following`."""
    guarding = guard(decoder, instruction)
    if guarding is None:
        decoder.block.end = end
        return

    def choose(group: Group, batch: Batch) -> bool:
        lanes = guarded_lanes(group, guarding)
        if lanes is False:
            group.pc = following
            return True
        if lanes is True:
            return end(group, batch)
        chosen, passing = batch.divide(group, lanes, group.pc, following)
        batch.resume(passing)
        if end(chosen, batch):
            batch.resume(chosen)
        return False

    decoder.block.end = choose
