"""Jumps, calls and ends (PTX ISA 9.7.12)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tooling.simulator.bindings import binds, guard, guarded_lanes
from tooling.simulator.decode import Decoder
from tooling.simulator.faults import trapped
from tooling.simulator.lanes import Group
from tooling.simulator.numerics import U32
from tooling.simulator.program import End
from tooling.simulator.ptx_model import Arguments, Instruction, Operand, Symbol
from tooling.simulator.vprintf import bind_vprintf


def go_to(target: int, number: int) -> End:
    """An unconditional jump from block `number`."""
    backwards = target <= number

    def end(group: Group, _batch: Any) -> bool:
        group.pc = target
        if backwards:
            group.back_edges += 1
        return True

    return end


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

    def end(group: Group, batch: Any) -> bool:
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

    def end(group: Group, batch: Any) -> bool:
        chosen = group.get(slot).view(U32)
        if len(chosen) == 1:
            group.pc = targets[min(int(chosen[0]), len(targets) - 1)]
            return True
        batch.scatter(group, np.minimum(chosen, len(targets) - 1), targets)
        return False

    decoder.block.end = end


@binds("ret", "exit")
def _return(decoder: Decoder, instruction: Instruction, following: int) -> None:
    guarding = guard(decoder, instruction)
    leave = instruction.opcode == "exit"
    if guarding is not None:
        decoder.block.successors.append(following)

    def end(group: Group, batch: Any) -> bool:
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
    guarding = guard(decoder, instruction)
    if following >= 0:
        decoder.block.successors.append(following)

    def end(group: Group, batch: Any) -> bool:
        lanes = True if guarding is None else guarded_lanes(group, guarding)
        if lanes is False:
            group.pc = following
            return True
        threads = group.pick(batch.spaces.threads)
        position = 0 if lanes is True else int(np.argmax(lanes))
        raise trapped(batch.context.launch, instruction, int(threads[position]))

    decoder.block.end = end


@binds("call")
def _call(decoder: Decoder, instruction: Instruction, following: int) -> None:
    """`call[.uni] [(result),] function [, (arguments)]`: arguments are copied in thread-local memory."""
    operands: list[Operand] = list(instruction.operands)
    results = _arguments(operands)
    callee = operands.pop(0)
    arguments = _arguments(operands)
    if not isinstance(callee, Symbol) or operands or instruction.predicate is not None:
        raise decoder.unknown(instruction, "indirect and guarded calls are not simulated")
    if callee.name == "vprintf":
        bind_vprintf(decoder, instruction, arguments, results)
        return
    function = decoder.module.functions.get(callee.name)
    if function is None:
        raise decoder.unknown(instruction, f"there is no function `{callee.name}`")
    copies: list[tuple[int, int, int]] = []
    for parameter, argument in zip(function.parameters, arguments.elements, strict=True):
        copies.append(
            (
                _place(decoder, argument, instruction),
                _own(decoder, callee.name, parameter.name),
                parameter.size,
            )
        )
    back: list[tuple[int, int, int]] = []
    for parameter, argument in zip(function.results, results.elements, strict=True):
        back.append(
            (
                _own(decoder, callee.name, parameter.name),
                _place(decoder, argument, instruction),
                parameter.size,
            )
        )
    entry = decoder.entries[callee.name]
    decoder.block.successors.extend((entry, following))
    name = callee.name
    decoder.returns[following] = back

    def end(group: Group, batch: Any) -> bool:
        if following in group.stack:
            batch.recursion(group, instruction, name)
        batch.spaces.copy_local(group, copies)
        group.stack = (*group.stack, following)
        group.pc = entry
        return True

    decoder.block.end = end


def _arguments(operands: list[Operand]) -> Arguments:
    """Take a parenthesised list off the front; an empty one where there is none."""
    first = operands[0] if operands else None
    if not isinstance(first, Arguments):
        return Arguments(())
    del operands[0]
    return first


def _place(decoder: Decoder, argument: Operand, instruction: Instruction) -> int:
    if not isinstance(argument, Symbol):
        raise decoder.unknown(instruction, "only `.param` variables are passed to functions")
    place = decoder.local_place(decoder.function.name, argument.name)
    if place is None:
        raise decoder.unknown(instruction, f"there is no `.param` variable `{argument.name}`")
    return place + argument.offset


def _own(decoder: Decoder, function: str, name: str) -> int:
    place = decoder.local_place(function, name)
    assert place is not None, f"the layout has no place for {name} of {function}"
    return place
