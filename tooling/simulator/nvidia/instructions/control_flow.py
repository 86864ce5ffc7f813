"""Control flow: branches, return, exit and trap (PTX ISA 9.7.12)."""

from __future__ import annotations

import numpy as np

from tooling.simulator.gpu.code_model import Instruction, Symbol
from tooling.simulator.gpu.faults import trapped
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.numerics.rounding import U32
from tooling.simulator.nvidia.lowering.binders import binds
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.nvidia.lowering.predicates import guard, guarded_lanes
from tooling.simulator.program.program import Batch, go_to


@binds("bra")
def _branch(decoder: Decoder, instruction: Instruction, following: int) -> None:
    (operand,) = instruction.operands
    if not isinstance(operand, Symbol):
        raise decoder.unknown(instruction)
    target = decoder.label(operand.name, instruction)
    number = decoder.block.number
    decoder.block.successors.append(target)
    guarding = guard(decoder, instruction)
    if guarding is None:
        decoder.block.end = go_to(target, number)
        return
    decoder.block.successors.append(following)
    backwards = target <= number

    def end(group: Group, batch: Batch) -> bool:
        lanes = guarded_lanes(group, guarding)
        if lanes is False:
            group.pc = following
            return True
        if lanes is True:
            group.pc = target
            if backwards:
                group.back_edges += 1
            return True
        batch.split(group, lanes, target, following, backwards)
        return False

    decoder.block.end = end


@binds("brx")
def _branch_table(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    """`brx.idx index, table`: the table is a `.branchtargets` list."""
    index, table = instruction.operands
    if not isinstance(table, Symbol):
        raise decoder.unknown(instruction)
    names = next(
        (s.targets for s in decoder.function.body if not isinstance(s, Instruction) and s.name == table.name),
        (),
    )
    targets = [decoder.label(name, instruction) for name in names]
    slot = decoder.value(index, U32, instruction)
    guarding = guard(decoder, instruction)
    if guarding is not None or not targets:
        raise decoder.unknown(instruction)
    decoder.block.successors.extend(targets)

    def end(group: Group, batch: Batch) -> bool:
        chosen = group.get(slot).view(U32)
        if len(chosen) == 1:
            group.pc = targets[min(int(chosen[0]), len(targets) - 1)]
            return True
        batch.scatter(group, np.minimum(chosen, len(targets) - 1), targets)
        return False

    decoder.block.end = end


@binds("ret", "exit")
def _return(decoder: Decoder, instruction: Instruction, following: int) -> None:
    () = instruction.operands
    guarding = guard(decoder, instruction)
    leave = instruction.opcode == "exit"
    if guarding is not None:
        decoder.block.successors.append(following)

    def end(group: Group, batch: Batch) -> bool:
        lanes = True if guarding is None else guarded_lanes(group, guarding)
        if lanes is False:
            group.pc = following
            return True
        if lanes is True:
            if group.stack and not leave:
                batch.leave(group)
                return True
            batch.finish(group, instruction)
            return False
        batch.split_return(group, lanes, following, instruction)
        return False

    decoder.block.end = end


@binds("trap", "brkpt")
def _trap(decoder: Decoder, instruction: Instruction, following: int) -> None:
    () = instruction.operands
    guarding = guard(decoder, instruction)
    if following >= 0:
        decoder.block.successors.append(following)

    def end(group: Group, batch: Batch) -> bool:
        lanes = True if guarding is None else guarded_lanes(group, guarding)
        if lanes is False:
            group.pc = following
            return True
        threads = group.pick(batch.spaces.threads)
        position = 0 if lanes is True else int(np.argmax(lanes))
        callers = batch.program.callers(group.stack)
        raise trapped(batch.context.launch, instruction, int(threads[position]), callers)

    decoder.block.end = end
