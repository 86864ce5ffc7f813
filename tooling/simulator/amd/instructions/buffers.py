"""Accesses through a buffer resource, which has bounds: MUBUF and S_BUFFER_LOAD (CDNA 3 ISA, "Vector Memory
Buffer Instructions"; RDNA 3 ISA, chapter 9), and loads that go to LDS.

A resource has an address, a stride and a number of records. A dword out of its bounds is not accessed: a load
returns 0. gfx942 counts the scalar offset in when it compares, and gfx1100 does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.amd.decoding.instruction import MachineInstruction, Operand
from tooling.simulator.amd.decoding.memory_forms import data_registers
from tooling.simulator.amd.instructions.binders import binds, step_of
from tooling.simulator.amd.instructions.data_share import at_offset
from tooling.simulator.amd.instructions.memory import (
    NARROW,
    Lanes,
    first_lanes,
    flat_address,
    load,
    store,
)
from tooling.simulator.amd.lowering.binder import Lowering
from tooling.simulator.amd.lowering.waves import ACTIVE, WaveGroup, expanded
from tooling.simulator.gpu.hooks import Space
from tooling.simulator.numerics.rounding import S32, U32, U64
from tooling.simulator.program.program import Batch

Array = NDArray[Any]
_SWIZZLE = 1 << 31  # of the second dword
_ADD_THREAD = 1 << 23  # of the fourth
BufferAddresses = Callable[[WaveGroup], tuple[Array, Callable[[int], Array]]]
"""Addresses of the lanes, and for the number of a dword whether it is within the bounds."""


def buffer_addresses(lowering: Lowering, instruction: MachineInstruction, size: int) -> BufferAddresses:
    """A reader of the addresses of a buffer access.

    Args:
        size: bytes of each element that is compared with the bounds, at most 4.
    """
    operands = [source.operand for source in instruction.sources]
    resource, scalar = operands[-2:]
    words = [_word(lowering, resource, number) for number in range(4)]
    read_offset = lowering.scalar(scalar, "u32")
    flags = instruction.flags
    vectors: list[int] = []
    if flags & {"idxen", "offen"}:
        vectors = lowering.of(operands[-3])
        for slot in vectors:
            lowering.block.reads(slot)
    index_slot = vectors[0] if "idxen" in flags else None
    offset_slot = vectors[-1] if "offen" in flags else None
    constant = U64.type(instruction.immediate)
    older = lowering.architecture.lanes == 64
    refusal = lowering.unsupported(instruction)

    def vector(group: WaveGroup, slot: int | None) -> Array:
        return np.zeros(1, U64) if slot is None else group.get(slot).view(U32).astype(U64)

    def addresses(group: WaveGroup) -> tuple[Array, Callable[[int], Array]]:
        low, high, records, control = (expanded(read(group).astype(U64), group) for read in words)
        stride = high >> U64.type(16) & U64.type(0x3FFF)
        if (high & U64.type(_SWIZZLE) != 0).any() or (older and (control & U64.type(_ADD_THREAD)).any()):
            raise refusal  # swizzled buffers, and those that add the thread's number, are of graphics
        base = low | (high & U64.type(0xFFFF)) << U64.type(32)
        outside = expanded(read_offset(group).astype(U64), group)
        index, inside = vector(group, index_slot), vector(group, offset_slot) + constant
        whole = index * stride + inside
        selected = np.full(1, 3, U64) if older else control >> U64.type(28) & U64.type(3)

        def within(number: int) -> Array:
            end = U64.type(size * (number + 1))
            fits = whole + (outside if older else U64.type(0)) + end <= records
            structured = (index < records) & (inside + end <= stride)
            return np.select(
                [selected == 0, selected == 1, selected == 2],
                [structured, index < records, records != 0],
                fits,
            )  # fmt: skip

        return base + outside + whole, within

    return addresses


def _word(lowering: Lowering, resource: Operand, number: int) -> Callable[[WaveGroup], Array]:
    slot = lowering.of(resource)[number]
    lowering.block.reads(slot)
    return lambda group: group.get(slot).view(U32)


def within_bounds(
    lanes: Lanes, address: Array, allowed: Array
) -> tuple[Lanes, Array, NDArray[np.intp] | None]:
    """Of the active lanes those that may access, their addresses, and which they are (None for all)."""
    allowed = np.broadcast_to(allowed, lanes.count)
    if allowed.all():
        return lanes, address, None
    which = np.flatnonzero(allowed)
    own = np.arange(lanes.group.count) if lanes.positions is None else lanes.positions
    return Lanes(lanes.group, own[which]), np.broadcast_to(address, lanes.count)[which], which


def _dwords(lanes: Lanes, within: Callable[[int], Array], count: int) -> tuple[bool, list[Array]]:
    """Whether each lane may access all of its dwords or none, and which lanes may access each dword."""
    allowed = [np.broadcast_to(lanes.pick(within(number)), lanes.count) for number in range(count)]
    return all((each == allowed[0]).all() for each in allowed), allowed


def _element(kind: str) -> tuple[int, np.dtype[Any]]:
    return NARROW.get(kind, (4, U32))


def _kind(name: str, access: str) -> tuple[str, bool, bool]:
    """The type in a mnemonic, whether it fills half of the register, and whether that is the upper one."""
    words = name.partition(f"{access}_")[2].removeprefix("lds_").split("_")
    half, high = "d16" in words, "hi" in words
    return next(word for word in words if word not in ("d16", "hi")), half, high


def _bind_buffer_load(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """A load of one or several registers through a buffer resource, or of one into LDS."""
    kind, half, high = _kind(instruction.name, "load")
    element, dtype = _element(kind)
    if not instruction.results:
        addresses = buffer_addresses(lowering, instruction, element)
        _bind_to_shared(lowering, instruction, addresses, element, dtype)
        return
    count = 1 if element != 4 else instruction.results[0].count
    addresses = buffer_addresses(lowering, instruction, element)
    slots = lowering.vector_slots(instruction.results[0])

    def step(group: WaveGroup, batch: Batch) -> None:
        lanes = Lanes(group)
        if not lanes.count:
            return
        address, within = addresses(group)
        address = np.broadcast_to(lanes.pick(address), lanes.count)
        together, allowed = _dwords(lanes, within, count)
        results = [np.zeros(lanes.count, U32) for _ in range(count)]
        pieces = [(0, count)] if together else [(number, 1) for number in range(count)]
        for first, some in pieces:
            inner, at, which = within_bounds(lanes, address, allowed[first])
            if not inner.count:
                continue
            at = at + U64.type(4 * first)
            values = load(batch, Space.GLOBAL, inner, instruction, at, element=element, count=some)
            for number, value in enumerate(values, first):
                results[number][slice(None) if which is None else which] = _widened(value, element, dtype)
        for slot, value in zip(slots, results, strict=True):
            if not half:
                lanes.put(slot, value)
                continue
            old, low = lanes.pick(group.get(slot).view(U32)), U32.type(0xFFFF)
            lanes.put(slot, (old & low) | value << U32.type(16) if high else (old & ~low) | (value & low))

    lowering.block.steps.append(step_of(step))


def _widened(value: Array, element: int, dtype: np.dtype[Any]) -> Array:
    if element == 4:
        return value.view(U32)
    return value.view(dtype).astype(S32 if dtype.kind == "i" else U32).view(U32)


def _bind_buffer_store(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    kind, _, high = _kind(instruction.name, "store")
    element, _ = _element(kind)
    slots = lowering.of(instruction.sources[0].operand)
    for slot in slots:
        lowering.block.reads(slot)
    lowering.block.reads(ACTIVE)
    addresses = buffer_addresses(lowering, instruction, element)
    count = 1 if element != 4 else len(slots)

    def step(group: WaveGroup, batch: Batch) -> None:
        lanes = Lanes(group)
        if not lanes.count:
            return
        address, within = addresses(group)
        address = np.broadcast_to(lanes.pick(address), lanes.count)
        values = [np.broadcast_to(lanes.pick(group.get(slot).view(U32)), lanes.count) for slot in slots]
        if high:
            values = [value >> U32.type(16) for value in values]
        if element != 4:
            values = [value.astype(f"u{element}") for value in values]
        together, allowed = _dwords(lanes, within, count)
        for first, some in [(0, count)] if together else [(number, 1) for number in range(count)]:
            inner, at, which = within_bounds(lanes, address, allowed[first])
            if inner.count:
                own = [value if which is None else value[which] for value in values[first : first + some]]
                store(batch, Space.GLOBAL, inner, instruction, at + U64.type(4 * first), own)

    lowering.block.steps.append(step_of(step))


# -- loads into LDS ---------------------------------------------------------------------------------------


def _bind_to_shared(
    lowering: Lowering,
    instruction: MachineInstruction,
    addresses: BufferAddresses,
    element: int,
    dtype: np.dtype[Any],
) -> None:
    """Each active lane loads a dword, or less that is extended, to the address in M0 plus the instruction's
    offset plus 4 times the lane's number (CDNA 3 ISA, "LDS load")."""
    slot = lowering.register("m0", 0)
    lowering.block.reads(slot)
    lowering.block.reads(ACTIVE)
    size = lowering.wave_size

    def step(group: WaveGroup, batch: Batch) -> None:
        lanes = Lanes(group)
        if not lanes.count:
            return
        address, within = addresses(group)
        address = np.broadcast_to(lanes.pick(address), lanes.count)
        start = expanded(group.get(slot).view(U32) & U32.type(0xFFFF), group)
        own = np.tile(4 * np.arange(size, dtype=U32), group.waves)
        target = lanes.pick(at_offset(start + own, instruction.immediate))
        result = np.zeros(lanes.count, U32)
        inner, at, which = within_bounds(lanes, address, lanes.pick(within(0)))
        if inner.count:
            (value,) = load(batch, Space.GLOBAL, inner, instruction, at, element=element, count=1)
            result[slice(None) if which is None else which] = _widened(value, element, dtype)
        store(batch, Space.SHARED, lanes, instruction, target, [result])

    lowering.block.steps.append(step_of(step))


def _bind_load_to_shared(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """A load from global or local memory into LDS."""
    element, dtype = _element(_kind(instruction.name, "load")[0])
    space, address = flat_address(lowering, instruction)
    if space is not Space.GLOBAL:
        raise lowering.unsupported(instruction)
    everywhere = np.ones(1, np.bool_)
    _bind_to_shared(
        lowering, instruction, lambda group: (address(group), lambda _number: everywhere), element, dtype
    )


# -- scalar loads -----------------------------------------------------------------------------------------


@binds(
    *(f"s_buffer_load_dword{'' if n == 1 else f'x{n}'}" for n in (1, 2, 4, 8, 16)),
    *(f"s_buffer_load_b{32 * n}" for n in (1, 2, 4, 8, 16)),
)
def _scalar_buffer_load(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """Registers from a buffer, one load for each wavefront; a dword out of bounds is 0."""
    words = [_word(lowering, instruction.sources[0].operand, number) for number in range(3)]
    offset = None
    if len(instruction.sources) > 1:
        offset = lowering.scalar(instruction.sources[1].operand, "u32")
    plus = U64.type(instruction.immediate % (1 << 64))
    slots = lowering.of(instruction.results[0])
    lowering.block.reads(ACTIVE)
    lowering.block.defines.update(slots)

    def step(group: WaveGroup, batch: Batch) -> None:
        low, high, records = (np.broadcast_to(read(group).astype(U64), group.waves) for read in words)
        base = low | (high & U64.type(0xFFFF)) << U64.type(32)
        stride = high >> U64.type(16) & U64.type(0x3FFF)
        inside = np.broadcast_to(plus, group.waves)
        if offset is not None:
            inside = inside + offset(group).astype(U64)
        inside = inside & ~U64.type(3)
        limit = np.where(stride != 0, records * stride, records)
        present = first_lanes(group)
        for number, slot in enumerate(slots):
            at = inside + U64.type(4 * number)
            which = np.flatnonzero(at + U64.type(4) <= limit)
            value = np.zeros(group.waves, U32)
            if len(which):
                lanes = Lanes(group, present[which])
                (value[which],) = load(
                    batch, Space.GLOBAL, lanes, instruction, (base + at)[which], element=4, count=1
                )
            group.registers[slot] = value

    lowering.block.steps.append(step_of(step))


def bind_buffers(buffer_table: dict[int, str], global_table: dict[int, str]) -> None:
    """Register the loads and stores of opcode tables."""
    for name in buffer_table.values():
        try:
            loaded, stored = data_registers(name, returns=False)
        except LookupError:
            continue  # a format, or cache control
        if "atomic" not in name and "store_lds" not in name:
            binds(name)(_bind_buffer_load if loaded and not stored else _bind_buffer_store)
    for name in global_table.values():
        if "_load_lds_" in name and "addtid" not in name:
            binds(name)(_bind_load_to_shared)
