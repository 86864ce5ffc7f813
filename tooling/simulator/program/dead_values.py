"""Steps that release the values of dead registers."""

from __future__ import annotations

from tooling.simulator.gpu.lanes import Group
from tooling.simulator.program.program import Batch, Program, Step


def forget_dead(program: Program) -> None:
    """Release each value after the last step that reads it, so that its memory is reused at once.

    An unrolled kernel has thousands of registers, each of which would otherwise keep a value for every lane.
    Values that are live after the block stay, and so do the frame register and the registers that recursive
    functions save for their callers.
    """
    for block in program.blocks:
        needed = {slot for successor in block.successors for slot in program.live(successor, ())}
        needed |= program.framed_slots | {program.frame_slot}
        dead: dict[int, list[int]] = {}
        for slot, last in block.last_steps.items():
            if last >= 0 and slot not in needed and program.origins[slot].kind == "undefined":
                dead.setdefault(last, []).append(slot)
        steps: list[Step] = []
        new_indices = [0]  # of each old step, and of the end
        for number, step in enumerate(block.steps):
            steps.append(step)
            if number in dead:
                steps.append(_forgetting(dead[number]))
            new_indices.append(len(steps))
        block.steps = steps
        block.first_steps = [new_indices[first] for first in block.first_steps]
        block.last_steps.clear()


def _forgetting(slots: list[int]) -> Step:
    def step(group: Group, _batch: Batch) -> None:
        registers = group.registers
        for slot in slots:
            registers[slot] = None
            group.loaded.pop(slot, None)

    return step
