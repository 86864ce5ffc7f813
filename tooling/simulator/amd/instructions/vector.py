"""Vector instructions across lanes: readlane, writelane, mbcnt, swap (CDNA 3 ISA 12.8, 12.11)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.amd.decoding.instruction import MachineInstruction
from tooling.simulator.amd.instructions.binders import binds, step_of
from tooling.simulator.amd.lowering.binder import Lowering, put
from tooling.simulator.amd.lowering.waves import ACTIVE, WaveGroup
from tooling.simulator.numerics.rounding import U32
from tooling.simulator.program.program import Batch

Array = NDArray[Any]


def by_wave(value: Array, group: WaveGroup) -> Array:
    """(waves, lanes): a vector value, by wavefront."""
    return np.broadcast_to(value, group.count).reshape(group.waves, group.wave_size)


@binds("v_readfirstlane_b32")
def _read_first_lane(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """The value of the lowest active lane; of lane 0 if none is active."""
    read = lowering.raw(instruction.sources[0].operand, "b32")
    write = lowering.scalar_writer(instruction.results[0], "b32")
    lowering.block.reads(ACTIVE)

    def step(group: WaveGroup, _batch: Batch) -> None:
        value = read(group).view(U32)
        if len(value) > 1 or group.waves == 1:
            active = group.get(ACTIVE)
            if len(value) == 1:
                pass
            elif len(active) == 1:
                value = by_wave(value, group)[:, 0]
            else:
                first = by_wave(active, group).argmax(axis=1)
                value = by_wave(value, group)[np.arange(group.waves), first]
        write(group, value)

    lowering.block.steps.append(step_of(step))


@binds("v_readlane_b32")
def _read_lane(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """The value of one lane, active or not."""
    read = lowering.raw(instruction.sources[0].operand, "b32")
    lane = lowering.scalar(instruction.sources[1].operand, "u32")
    write = lowering.scalar_writer(instruction.results[0], "b32")
    last = U32.type(lowering.wave_size - 1)

    def step(group: WaveGroup, _batch: Batch) -> None:
        value = read(group).view(U32)
        if len(value) > 1:
            wanted = np.broadcast_to(lane(group) & last, group.waves).astype(np.intp)
            value = by_wave(value, group)[np.arange(group.waves), wanted]
        write(group, value)

    lowering.block.steps.append(step_of(step))


@binds("v_writelane_b32")
def _write_lane(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """Set the value of one lane, active or not."""
    value = lowering.scalar(instruction.sources[0].operand, "b32")
    lane = lowering.scalar(instruction.sources[1].operand, "u32")
    (slot,) = lowering.vector_slots(instruction.results[0])
    last = U32.type(lowering.wave_size - 1)

    def step(group: WaveGroup, _batch: Batch) -> None:
        whole = by_wave(group.get(slot).view(U32), group).copy()
        wanted = np.broadcast_to(lane(group) & last, group.waves).astype(np.intp)
        whole[np.arange(group.waves), wanted] = value(group)
        group.registers[slot] = whole.reshape(-1)

    lowering.block.steps.append(step_of(step))


@binds("v_mbcnt_lo_u32_b32", "v_mbcnt_hi_u32_b32")
def _count_lower_lanes(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """The number of ones in the mask below the lane's own bit, plus the second operand."""
    mask = lowering.vector(instruction.sources[0], "u32")
    base = lowering.vector(instruction.sources[1], "u32")
    write = lowering.vector_writer(instruction.results[0], "u32")
    half = 32 if "_hi_" in instruction.name else 0
    numbers = np.arange(lowering.wave_size, dtype=np.int64)
    below = ((np.int64(1) << np.clip(numbers - half, 0, 32)) - 1).astype(U32)

    def step(group: WaveGroup, _batch: Batch) -> None:
        lower = np.tile(below, group.waves)
        write(group, np.bitwise_count(mask(group) & lower).astype(U32) + base(group))

    lowering.block.steps.append(step_of(step))


@binds("v_swap_b32")
def _swap(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    (first,) = lowering.vector_slots(instruction.results[0])
    (second,) = lowering.vector_slots(instruction.sources[0].operand)

    def step(group: WaveGroup, _batch: Batch) -> None:
        one, other = group.get(first), group.get(second)
        put(group, first, other)
        put(group, second, one)

    lowering.block.steps.append(step_of(step))
