"""Vector instructions across lanes: readlane, writelane, mbcnt, swap (VOP1 and VOP3, CDNA 3 ISA)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from tooling.simulator.amd.decoding.instruction import MachineInstruction
from tooling.simulator.amd.instructions.binders import binds, step_of
from tooling.simulator.amd.instructions.cross_lane import notify_exchange
from tooling.simulator.amd.lowering.binder import Lowering, put
from tooling.simulator.amd.lowering.waves import ACTIVE, WaveGroup
from tooling.simulator.amd.semantics.bytes_and_pairs import fields
from tooling.simulator.amd.semantics.floats import quieted
from tooling.simulator.amd.semantics.narrow_floats import VALUES
from tooling.simulator.amd.semantics.registry import OPERATIONS
from tooling.simulator.numerics.rounding import F16, F32, U16, U32, fma32
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
        if 1 < len(value) == group.count:
            active = group.get(ACTIVE)
            first = 0 if len(active) == 1 else by_wave(active, group).argmax(axis=1)
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
        if 1 < len(value) == group.count:
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


@binds("v_permlane16_b32", "v_permlanex16_b32")
def _permute_rows(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """Each lane reads the lane of its row of 16, or of the other row, that 4 bits of 64 select.

    op_sel[0] also reads inactive lanes; op_sel[1] reads 0 where a lane is inactive, without it nothing is
    written there.
    """
    source, low, high = instruction.sources
    read = lowering.vector(replace(source, low_half=0), "b32")
    selectors = [lowering.scalar(replace(each, low_half=0).operand, "u32") for each in (low, high)]
    (slot,) = lowering.vector_slots(instruction.results[0])
    lane = np.arange(lowering.wave_size)
    row = lane & ~15 ^ (16 if "x16" in instruction.name else 0)
    inactive, zeroes = bool(source.low_half), bool(low.low_half)

    def step(group: WaveGroup, batch: Batch) -> None:
        first, last = (np.broadcast_to(each(group), group.waves)[:, None] for each in selectors)
        word = np.where(lane & 8, last, first)
        lanes = row + (word >> (4 * (lane & 7)).astype(U32) & U32.type(15)).astype(np.intp)
        rows = np.arange(group.waves)[:, None]
        active = by_wave(group.get(ACTIVE), group)
        valid = active[rows, lanes] | inactive
        value = np.where(valid, by_wave(read(group).view(U32), group)[rows, lanes], U32.type(0))
        if batch.hooks.exchange:
            received = value.reshape(-1)
            notify_exchange(group, batch, instruction, lanes=lanes, taking=active & valid, received=received)
        old = by_wave(group.get(slot).view(U32), group)
        put(group, slot, np.where(valid | zeroes, value, old).reshape(-1))

    lowering.block.steps.append(step_of(step))


@binds("v_permlane64_b32")
def _exchange_halves(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """Lanes of a wavefront of 64 exchange its halves; one of 32 lanes keeps its value (RDNA 3 ISA 16.8)."""
    if lowering.wave_size != 32:
        raise lowering.unsupported(instruction)
    read = lowering.vector(instruction.sources[0], "b32")
    write = lowering.vector_writer(instruction.results[0], "b32")
    lowering.block.steps.append(step_of(lambda group, _batch: write(group, read(group))))


def _widened(reader: Callable[[WaveGroup], Array]) -> Callable[[WaveGroup], Array]:
    return lambda group: reader(group).astype(F32)


@binds("v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16")
def _mixed_precision(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """A fused multiply-add of operands that are float32, or a float16 half of a register (op_sel_hi)."""
    readers: list[Callable[[WaveGroup], Array]] = []
    for source in instruction.sources:
        if source.high_half:
            readers.append(_widened(lowering.vector(replace(source, high_half=0), "f16")))
        else:
            readers.append(lowering.vector(replace(source, low_half=0), "f32"))
    high = instruction.name == "v_fma_mixhi_f16"
    narrow = instruction.name != "v_fma_mix_f32"
    (slot,) = lowering.vector_slots(instruction.results[0])
    fused = quieted(fma32)
    clamps = "clamp" in instruction.flags

    def step(group: WaveGroup, _batch: Batch) -> None:
        value = fused(*[np.asarray(reader(group)) for reader in readers])
        if clamps:
            value = np.where(value > 0, np.minimum(value, F32.type(1)), F32.type(0))
        if not narrow:
            put(group, slot, value.view(U32))
            return
        bits, old = value.astype(F16).view(U16).astype(U32), group.get(slot).view(U32)
        low = U32.type(0xFFFF)
        put(group, slot, (old & low) | bits << U32.type(16) if high else (old & ~low) | bits)

    lowering.block.steps.append(step_of(step))


@binds(*(f"v_cvt_{how}_{kind}_f32" for how in ("pk", "sr") for kind in VALUES))
def _narrow_floats(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """Two numbers of 8 bits to a half of the register (op_sel), or one to a byte; the rest is kept."""
    operation = OPERATIONS[instruction.name]
    readers = [
        lowering.vector(source, kind)
        for source, kind in zip(instruction.sources, operation.arguments, strict=True)
    ]
    (slot,) = lowering.vector_slots(instruction.results[0])
    if instruction.name.startswith("v_cvt_pk"):
        low, mask = 16 * instruction.high_result, 0xFFFF
    else:
        low = next(8 * number for number in range(4) if f"byte:{number}" in instruction.flags)
        mask = 0xFF
    kept, by = U32.type(~(mask << low) & 0xFFFFFFFF), U32.type(low)

    def step(group: WaveGroup, _batch: Batch) -> None:
        bits = operation.function(*(reader(group) for reader in readers)).astype(U32)
        put(group, slot, group.get(slot).view(U32) & kept | bits << by)

    lowering.block.steps.append(step_of(step))


@binds("v_swap_b32")
def _swap(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    other_operand = instruction.sources[0].operand
    if other_operand.kind != "v":  # it is written as well
        raise lowering.unsupported(instruction)
    (first,) = lowering.vector_slots(instruction.results[0])
    (second,) = lowering.vector_slots(other_operand)

    def step(group: WaveGroup, _batch: Batch) -> None:
        one, other = group.get(first), group.get(second)
        put(group, first, other)
        put(group, second, one)

    lowering.block.steps.append(step_of(step))


@binds("v_dot4_i32_iu8", "v_dot8_i32_iu4")
def _mixed_products(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """The sum of the products of bytes or of 4 bits; the sign modifiers say which operands are signed."""
    left, right, addend = instruction.sources
    width = 8 if instruction.name.endswith("iu8") else 4
    plain = [lowering.vector(replace(each, negate=False), "b32") for each in (left, right)]
    signs = (left.negate, right.negate)
    base = lowering.vector(addend, "i32")
    write = lowering.vector_writer(instruction.results[0], "i32")
    clamps = "clamp" in instruction.flags

    def step(group: WaveGroup, _batch: Batch) -> None:
        a, b = (
            fields(np.asarray(read(group)), width, signed=signed)
            for read, signed in zip(plain, signs, strict=True)
        )
        total = base(group).astype(np.int64)
        for x, y in zip(a, b, strict=True):
            total = total + x * y
        if clamps:
            total = np.clip(total, -(2**31), 2**31 - 1)
        write(group, np.asarray(total.astype(np.int32)))

    lowering.block.steps.append(step_of(step))
