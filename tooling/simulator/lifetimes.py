"""How long the values in registers are needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tooling.simulator.lanes import Group
    from tooling.simulator.program import BasicBlock, Program, Step


def liveness(blocks: Sequence[BasicBlock]) -> list[tuple[int, ...]]:
    """Live-in slots of every block, by the usual backward iteration over sets kept as integers' bits."""
    uses = [_bits(block.uses) for block in blocks]
    kept = [~_bits(block.defines) for block in blocks]
    live = list(uses)
    changed = True
    while changed:
        changed = False
        for number in range(len(blocks) - 1, -1, -1):
            out = 0
            for successor in blocks[number].successors:
                out |= live[successor]
            now = uses[number] | (out & kept[number])
            if now != live[number]:
                live[number] = now
                changed = True
    return [_members(bits) for bits in live]


def forget_dead(program: Program) -> None:
    """Let go of each value after the last step that reads it, so that its memory is used again at once.

    An unrolled kernel has thousands of registers, each of which would otherwise keep a value for every lane.
    What may be read after the block stays, and so does what calls keep: where the frame lies, and what
    recursive functions save for their callers.
    """
    for block in program.blocks:
        needed = {slot for successor in block.successors for slot in program.live(successor, ())}
        needed |= program.framed_slots | {program.frame_slot}
        dead: dict[int, list[int]] = {}
        for slot, last in block.last_steps.items():
            if last >= 0 and slot not in needed and program.origins[slot].kind == "undefined":
                dead.setdefault(last, []).append(slot)
        steps: list[Step] = []
        for number, step in enumerate(block.steps):
            steps.append(step)
            if number in dead:
                steps.append(_forgetting(dead[number]))
        block.steps = steps
        block.last_steps.clear()


def _forgetting(slots: list[int]) -> Step:
    def step(group: Group, _batch: Any) -> None:
        registers = group.registers
        for slot in slots:
            registers[slot] = None

    return step


def _bits(slots: set[int]) -> int:
    total = 0
    for slot in slots:
        total |= 1 << slot
    return total


def _members(bits: int) -> tuple[int, ...]:
    text = bin(bits)[:1:-1]
    members = []
    position = text.find("1")
    while position >= 0:
        members.append(position)
        position = text.find("1", position + 1)
    return tuple(members)
