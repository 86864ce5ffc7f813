"""DS: loads and stores of shared memory (LDS), and exchanges between lanes.

Source: CDNA 3 ISA, "Data Share Operations".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.amd.decoding.instruction import MachineInstruction
from tooling.simulator.amd.decoding.memory_forms import DS_ACCESS, DataShareForm, ds_form
from tooling.simulator.amd.instructions.binders import bind_matching, binds, step_of
from tooling.simulator.amd.instructions.cross_lane import notify_exchange
from tooling.simulator.amd.instructions.memory import Lanes, hold, load, store
from tooling.simulator.amd.instructions.vector import by_wave
from tooling.simulator.amd.lowering.binder import Lowering, put
from tooling.simulator.amd.lowering.waves import ACTIVE, WaveGroup
from tooling.simulator.gpu.hooks import Space
from tooling.simulator.gpu.loaded_values import LoadedValue
from tooling.simulator.numerics.rounding import S32, U32, U64
from tooling.simulator.program.program import Batch

Array = NDArray[Any]


def _address(lowering: Lowering, instruction: MachineInstruction) -> int:
    (slot,) = lowering.of(instruction.sources[0].operand)
    lowering.block.reads(slot)
    lowering.block.reads(ACTIVE)
    return slot


def _offsets(form: DataShareForm, immediate: int) -> list[int]:
    """The offsets of the accesses: one, or two counted in their size."""
    if not form.pair:
        return [immediate]
    return [form.stride * (immediate & 255), form.stride * (immediate >> 8)]


def at_offset(start: Array, offset: int) -> Array:
    """Addresses in shared memory: 32-bit arithmetic."""
    address = start.view(U32)
    return (address + U32.type(offset) if offset else address).astype(U64)


def bind_access(lowering: Lowering, instruction: MachineInstruction, following: int) -> None:
    """A load or a store of shared memory."""
    (_bind_load if instruction.results else _bind_store)(lowering, instruction, following)


def _bind_load(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    form = ds_form(instruction.name)
    at = _address(lowering, instruction)
    slots = lowering.vector_slots(instruction.results[0])
    offsets = _offsets(form, instruction.immediate)
    count = len(slots) // len(offsets)
    element, half, high = form.element, form.half, form.high
    dtype = np.dtype(f"{'i' if form.signed else 'u'}{element}")
    block = lowering.block

    def step(group: WaveGroup, batch: Batch) -> None:
        lanes = Lanes(group)
        if not lanes.count:
            return
        values = []
        follows = batch.followed is not None and instruction.code_position in block.unsure
        loaded: list[LoadedValue] | None = [] if follows else None
        start = lanes.pick(group.get(at))
        for offset in offsets:
            address = at_offset(start, offset)
            values += load(
                batch, Space.SHARED, lanes, instruction, address, element=element, count=count, loaded=loaded
            )
        for slot, value in zip(slots, values, strict=True):
            wide = value if element == 4 else value.view(dtype).astype(S32 if dtype.kind == "i" else U32)
            wide = wide.view(U32)
            if half:
                old, low = lanes.pick(group.get(slot).view(U32)), U32.type(0xFFFF)
                wide = (old & low) | wide << U32.type(16) if high else (old & ~low) | (wide & low)
            lanes.put(slot, wide)
        hold(batch, slots, loaded)

    lowering.block.steps.append(step_of(step))


def _bind_store(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    form = ds_form(instruction.name)
    at = _address(lowering, instruction)
    data = [lowering.of(source.operand) for source in instruction.sources[1:]]
    for slots in data:
        for slot in slots:
            lowering.block.reads(slot)
    offsets = _offsets(form, instruction.immediate)
    element, high = form.element, form.high
    unsigned = np.dtype(f"u{element}")

    def step(group: WaveGroup, batch: Batch) -> None:
        lanes = Lanes(group)
        if not lanes.count:
            return
        start = lanes.pick(group.get(at))
        for offset, slots in zip(offsets, data, strict=True):
            values = [lanes.pick(group.get(slot).view(U32)) for slot in slots]
            if high:
                values = [value >> U32.type(16) for value in values]
            if element != 4:
                values = [value.astype(unsigned) for value in values]
            store(batch, Space.SHARED, lanes, instruction, at_offset(start, offset), values)

    lowering.block.steps.append(step_of(step))


def bind_shared(table: dict[int, str]) -> None:
    """Register the loads and stores of an opcode table."""
    bind_matching(table, (DS_ACCESS, bind_access))


@binds("ds_bpermute_b32")
def _pull(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """Each active lane reads the lane that its address, in bytes, names; an inactive one gives 0."""
    at = _address(lowering, instruction)
    read = lowering.vector(instruction.sources[1], "b32")
    (slot,) = lowering.vector_slots(instruction.results[0])
    last = U32.type(lowering.wave_size - 1)

    def step(group: WaveGroup, batch: Batch) -> None:
        lane = (group.get(at).view(U32) + U32.type(instruction.immediate)) >> U32.type(2)
        lane = lane & last
        source = by_wave(lane, group).astype(np.intp)
        rows = np.arange(group.waves)[:, None]
        value = by_wave(read(group).view(U32), group)[rows, source]
        active = by_wave(group.get(ACTIVE), group)[rows, source]
        received = np.where(active, value, U32.type(0)).reshape(-1)
        if batch.hooks.exchange:
            taking = active & by_wave(group.get(ACTIVE), group)
            notify_exchange(group, batch, instruction, lanes=source, taking=taking, received=received)
        put(group, slot, received)

    lowering.block.steps.append(step_of(step))


@binds("ds_permute_b32")
def _push(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """Each active lane sends its value to the lane that its address names, in bytes; the highest wins."""
    at = _address(lowering, instruction)
    read = lowering.vector(instruction.sources[1], "b32")
    (slot,) = lowering.vector_slots(instruction.results[0])
    size = lowering.wave_size

    def step(group: WaveGroup, batch: Batch) -> None:
        lane = (group.get(at).view(U32) + U32.type(instruction.immediate)) >> U32.type(2)
        target = by_wave(lane & U32.type(size - 1), group).astype(np.intp)
        wave, own = np.nonzero(by_wave(group.get(ACTIVE), group))
        moved = np.zeros((group.waves, size), U32)
        moved[wave, target[wave, own]] = by_wave(read(group).view(U32), group)[wave, own]
        received = moved.reshape(-1)
        if batch.hooks.exchange:
            source = np.full((group.waves, size), -1)
            source[wave, target[wave, own]] = own
            taking = (source >= 0) & by_wave(group.get(ACTIVE), group)
            notify_exchange(group, batch, instruction, lanes=source, taking=taking, received=received)
        put(group, slot, received)

    lowering.block.steps.append(step_of(step))


@binds("ds_swizzle_b32")
def _swizzle(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """Lanes in groups of 32 exchange by a fixed pattern: quads, or three bit masks."""
    read = lowering.vector(instruction.sources[0], "b32")
    (slot,) = lowering.vector_slots(instruction.results[0])
    lane = np.arange(lowering.wave_size)
    control = instruction.immediate
    if control >> 13 == 6:  # rotate: direction, distance, and the bits of the lane's number that stay
        by = control >> 5 & 31
        kept = control & 31
        moved = (lane - by if control >> 10 & 1 else lane + by) & 31
        source = (lane & ~31) + (lane & kept | moved & ~kept)
    elif control >> 15:
        if control >> 8 & 0x7F:
            raise lowering.unsupported(instruction)
        quad = np.array([control >> 2 * k & 3 for k in range(4)])
        source = (lane & ~3) + quad[lane & 3]
    else:
        inside = (lane & 31 & control & 31 | control >> 5 & 31) ^ (control >> 10 & 31)
        source = (lane & ~31) + inside

    def step(group: WaveGroup, batch: Batch) -> None:
        value = by_wave(read(group).view(U32), group)[:, source]
        active = by_wave(group.get(ACTIVE), group)[:, source]
        received = np.where(active, value, U32.type(0)).reshape(-1)
        if batch.hooks.exchange:
            taking = active & by_wave(group.get(ACTIVE), group)
            notify_exchange(group, batch, instruction, lanes=source, taking=taking, received=received)
        put(group, slot, received)

    lowering.block.steps.append(step_of(step))
