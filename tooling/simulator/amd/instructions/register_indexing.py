"""Registers that an index in M0 selects: `S_SET_GPR_IDX_ON` of gfx942, `V_MOVREL` of gfx1100 and `S_MOVREL`.

Compilers keep small private arrays in registers. An instruction whose operand is indexed is bound once for
each register that the index can select, and executed for the wavefronts of each index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from msgspec.structs import replace

from tooling.simulator.amd.decoding.instruction import MachineInstruction, Operand
from tooling.simulator.amd.decoding.operands import run_text
from tooling.simulator.amd.instructions.binders import bind, binds, step_of
from tooling.simulator.amd.lowering.binder import Lowering
from tooling.simulator.amd.lowering.waves import ACTIVE, WaveGroup, expanded
from tooling.simulator.numerics.rounding import U32
from tooling.simulator.program.program import Batch, Step

_RESULT = 8
"""The bit of the mode for the destination; bits 0 to 2 are the sources."""
_MOST_SCALARS = 102
_ON = "s_set_gpr_idx_on"


def index_modes(instructions: Iterable[MachineInstruction]) -> dict[int, int]:
    """By offset, the mode of the vector instructions between S_SET_GPR_IDX_ON and OFF, in the order of the
    code."""
    found: dict[int, int] = {}
    mode = 0
    for instruction in instructions:
        if instruction.name in (_ON, "s_set_gpr_idx_mode"):
            mode = _mode_of(instruction)
        elif instruction.name == "s_set_gpr_idx_off":
            mode = 0
        elif mode and instruction.encoding.startswith("VOP"):
            found[instruction.offset] = mode
    return found


def _mode_of(instruction: MachineInstruction) -> int:
    """The mode that an instruction sets: as the second operand of S_SET_GPR_IDX_ON."""
    if instruction.name == _ON:
        return instruction.sources[1].operand.value
    return instruction.immediate & 15


@binds(_ON)
def _switch_on(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """M0[7:0] is the index, M0[15:12] the mode."""
    read = lowering.scalar(instruction.sources[0].operand, "u32")
    slot = lowering.register("m0", 0)
    lowering.block.reads(slot)
    mode = U32.type(_mode_of(instruction) << 12)

    def step(group: WaveGroup, _batch: Batch) -> None:
        kept = group.get(slot).view(U32) & U32.type(0xFFFF0F00)
        group.registers[slot] = kept | read(group) & U32.type(255) | mode

    lowering.block.steps.append(step_of(step))


@binds("s_set_gpr_idx_idx")
def _set_index(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    read = lowering.scalar(instruction.sources[0].operand, "u32")
    slot = lowering.register("m0", 0)
    lowering.block.reads(slot)

    def step(group: WaveGroup, _batch: Batch) -> None:
        kept = group.get(slot).view(U32) & U32.type(0xFFFFFF00)
        group.registers[slot] = kept | read(group) & U32.type(255)

    lowering.block.steps.append(step_of(step))


@binds("s_set_gpr_idx_off", "s_set_gpr_idx_mode")
def _switch(_lowering: Lowering, _instruction: MachineInstruction, _following: int) -> None:
    """The mode counts while instructions are bound (`index_modes`)."""


def bind_indexed(lowering: Lowering, instruction: MachineInstruction, mode: int, following: int) -> None:
    """A vector instruction whose vector registers are counted from an index in M0."""
    last = (lowering.kernel.descriptor.resource1 & 63) * 8 + 7
    _bind_for_each_index(
        lowering, instruction, lambda by: _shifted(instruction, mode, by, last), following, U32.type(255)
    )


def _bind_for_each_index(
    lowering: Lowering,
    instruction: MachineInstruction,
    variant: Callable[[int], MachineInstruction | None],
    following: int,
    mask: np.uint32,
) -> None:
    """Bind an instruction for every index for which there is a variant of it."""
    slot = lowering.register("m0", 0)
    lowering.block.reads(slot)
    lowering.block.reads(ACTIVE)
    steps: list[Step] = []
    before = len(lowering.block.steps)
    while (found := variant(len(steps))) is not None:
        bind(lowering, found, following)
        steps.append(lowering.block.steps.pop())
        assert len(lowering.block.steps) == before
    refusal = lowering.unsupported(instruction)

    def step(group: WaveGroup, batch: Batch) -> None:
        index = group.get(slot).view(U32) & mask
        chosen = [int(each) for each in np.unique(index)]
        if chosen[-1] >= len(steps):
            raise refusal  # a register that the kernel does not have
        if len(chosen) == 1:
            steps[chosen[0]](group, batch)
            return
        active = group.get(ACTIVE)
        of_lane = expanded(index, group)
        for each in chosen:
            group.registers[ACTIVE] = active & (of_lane == each)
            steps[each](group, batch)
        group.registers[ACTIVE] = active

    lowering.block.steps.append(step_of(step))


def _shifted(instruction: MachineInstruction, mode: int, by: int, last: int) -> MachineInstruction | None:
    """The instruction with the registers of a mode counted from an index; None beyond the last register."""
    results, sources = list(instruction.results), list(instruction.sources)
    for number, source in enumerate(sources[:3]):
        if mode >> number & 1 and source.operand.kind == "v":
            sources[number] = replace(source, operand=_moved(source.operand, by))
    if mode & _RESULT and results and results[0].kind == "v":
        results[0] = _moved(results[0], by)
    operands = [*results, *(source.operand for source in sources)]
    if any(each.kind == "v" and each.index + each.count - 1 > max(last, 0) for each in operands) and by:
        return None
    return replace(instruction, results=tuple(results), sources=tuple(sources))


def _moved(operand: Operand, by: int) -> Operand:
    index = operand.index + by
    return replace(operand, index=index, text=run_text(operand.kind, index, operand.count))


@binds("v_movreld_b32", "v_movrels_b32", "v_movrelsd_b32")
def _move_relative(lowering: Lowering, instruction: MachineInstruction, following: int) -> None:
    """A move whose destination, source, or both are counted from M0."""
    kind = instruction.name.removeprefix("v_movrel").removesuffix("_b32")
    mode = (_RESULT if "d" in kind else 0) | ("s" in kind)
    move = replace(instruction, name="v_mov_b32")
    last = (lowering.kernel.descriptor.resource1 & 63) * 8 + 7
    _bind_for_each_index(
        lowering, instruction, lambda by: _shifted(move, mode, by, last), following, U32.type(0xFFFFFFFF)
    )


@binds("s_movrels_b32", "s_movrels_b64")
def _read_relative(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """The scalar register whose number is M0 more than the operand's."""
    (source,) = instruction.sources
    kind = "b64" if instruction.name.endswith("b64") else "b32"
    indices = range(source.operand.index, _MOST_SCALARS, 2 if kind == "b64" else 1)
    readers = [lowering.scalar(replace(source.operand, index=index), kind) for index in indices]
    write = lowering.scalar_writer(instruction.results[0], kind)
    slot = lowering.register("m0", 0)
    lowering.block.reads(slot)
    refusal = lowering.unsupported(instruction)
    size = 2 if kind == "b64" else 1

    def step(group: WaveGroup, _batch: Batch) -> None:
        index = group.get(slot).view(U32) // U32.type(size)
        if int(index.max()) >= len(readers):
            raise refusal
        chosen = np.unique(index)
        if len(chosen) == 1:
            write(group, readers[int(chosen[0])](group))
            return
        whole = np.broadcast_to(index, group.waves)
        values = [np.broadcast_to(readers[int(each)](group), group.waves) for each in chosen]
        write(group, np.asarray(np.select([whole == each for each in chosen], values)))

    lowering.block.steps.append(step_of(step))


@binds("s_movreld_b32", "s_movreld_b64")
def _write_relative(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """To the scalar register whose number is M0 more than the destination's."""
    size = 2 if instruction.name.endswith("b64") else 1
    read = lowering.scalar(instruction.sources[0].operand, f"b{32 * size}")
    first = instruction.results[0].index
    slots = [lowering.register("s", index) for index in range(first, _MOST_SCALARS)]
    slot = lowering.register("m0", 0)
    for each in (slot, *slots):
        lowering.block.reads(each)
    refusal = lowering.unsupported(instruction)

    def step(group: WaveGroup, _batch: Batch) -> None:
        index = np.broadcast_to(group.get(slot).view(U32), group.waves)
        if int(index.max()) + size > len(slots):
            raise refusal
        words = np.broadcast_to(read(group), group.waves).copy().view(U32).reshape(group.waves, size)
        for each in np.unique(index):
            here = index == each
            for number in range(size):
                target = slots[int(each) + number]
                old = np.broadcast_to(group.get(target).view(U32), group.waves)
                group.registers[target] = np.where(here, words[:, number], old)

    lowering.block.steps.append(step_of(step))
