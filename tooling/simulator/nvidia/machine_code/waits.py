"""What an instruction waits for: the instructions that set the scoreboards of its wait mask.

A scoreboard counts: each instruction that sets it adds one when it is issued, and takes one away when its
result is written or its operands have been read. A wait lasts until the count is zero, so it waits for every
instruction that has set the scoreboard since the last wait for it, on any path.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tooling.simulator.nvidia.machine_code.control import SCOREBOARDS
from tooling.simulator.nvidia.machine_code.disassembly import SassInstruction
from tooling.simulator.nvidia.machine_code.flow import Block

_BARRIER = re.compile(r"\bSB([0-5])\b")

_State = tuple[frozenset[int], ...]


def waited_for(
    code: Sequence[SassInstruction], blocks: Sequence[Block]
) -> dict[int, dict[int, tuple[int, ...]]]:
    """For each instruction that waits, by index: the indices of those that set each of its scoreboards.

    `DEPBAR.LE SB0, 0x1` waits until at most one of them is left; all of them are given.
    """
    incoming: list[_State | None] = [None] * len(blocks)
    incoming[0] = (frozenset(),) * SCOREBOARDS
    left = [0]
    while left:
        number = left.pop()
        state = incoming[number]
        if state is None:
            continue
        outgoing = _through(blocks[number], code, state)
        for following in blocks[number].successors:
            known = incoming[following]
            merged = outgoing if known is None else _joined(known, outgoing)
            if merged != known:
                incoming[following] = merged
                left.append(following)
    found: dict[int, dict[int, tuple[int, ...]]] = {}
    for block, state in zip(blocks, incoming, strict=True):
        if state is not None:
            _through(block, code, state, found)
    return found


def scoreboards_waited_for(instruction: SassInstruction) -> tuple[int, ...]:
    """The scoreboards of its wait mask, and those that `DEPBAR` names."""
    if instruction.name != "DEPBAR":
        return instruction.control.waits
    named = (int(number) for number in _BARRIER.findall(instruction.operands))
    return tuple(sorted({*instruction.control.waits, *named}))


def scoreboards_set(instruction: SassInstruction) -> tuple[int, ...]:
    """The scoreboards that it sets, for its result and for its operands."""
    control = instruction.control
    return tuple(number for number in (control.write_barrier, control.read_barrier) if number is not None)


def _through(
    block: Block,
    code: Sequence[SassInstruction],
    state: _State,
    found: dict[int, dict[int, tuple[int, ...]]] | None = None,
) -> _State:
    """The setters of each scoreboard after a block; `found` receives what is waited for."""
    setters = list(state)
    for index in range(block.first, block.end):
        instruction = code[index]
        waits = scoreboards_waited_for(instruction)
        if waits and found is not None:
            found[index] = {number: tuple(sorted(setters[number])) for number in waits}
        for number in waits:
            setters[number] = frozenset()
        for number in scoreboards_set(instruction):
            setters[number] |= {index}
    return tuple(setters)


def _joined(first: _State, second: _State) -> _State:
    return tuple(one | other for one, other in zip(first, second, strict=True))
