"""Memory instructions: SMEM, FLAT, GLOBAL, SCRATCH, cache control (CDNA 3 ISA).

A load or store of several registers is one access if its addresses are multiples of its size, as the checks
expect; otherwise it is one of each register, or of each byte: hardware permits any address here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.amd.code_object.model import CODE
from tooling.simulator.amd.decoding.instruction import MachineInstruction
from tooling.simulator.amd.instructions.binders import bind_matching, binds, step_of
from tooling.simulator.amd.instructions.host_calls import HOST_CALLS, host_calls
from tooling.simulator.amd.lowering.binder import Lowering
from tooling.simulator.amd.lowering.registers import PARAMETERS, combined
from tooling.simulator.amd.lowering.waves import ACTIVE, WaveGroup, expanded
from tooling.simulator.gpu.generic_addresses import by_space
from tooling.simulator.gpu.hooks import Space
from tooling.simulator.gpu.loaded_values import LoadedValue
from tooling.simulator.gpu.requests import MemoryRequest, Width
from tooling.simulator.numerics.rounding import S8, S16, S32, U8, U16, U32, U64
from tooling.simulator.program.program import Batch

Array = NDArray[Any]

NARROW: dict[str, tuple[int, np.dtype[Any]]] = {
    "ubyte": (1, U8), "sbyte": (1, S8), "ushort": (2, U16), "sshort": (2, S16), "short": (2, U16),
    "byte": (1, U8), "u8": (1, U8), "i8": (1, S8), "u16": (2, U16), "i16": (2, S16), "b8": (1, U8),
    "b16": (2, U16),
}  # fmt: skip
"""Accesses narrower than a register: bytes, and the type that is extended to 32 bits."""


class Lanes:
    """The active lanes of a group at an access.

    Attributes:
        positions: in the group, or None for all; count: how many.
        numbers: in the batch, or None for all of the group.

    Args:
        some: their positions, if not all active lanes access.
    """

    def __init__(self, group: WaveGroup, some: NDArray[np.intp] | None = None) -> None:
        self.group = group
        self.positions = group.active_positions() if some is None else some
        self.numbers = group.active_numbers() if some is None else group.numbers_at(some)
        self.count = group.count if self.positions is None else len(self.positions)

    def pick(self, value: Array) -> Array:
        """The elements of the active lanes, of a vector value; a single one stays single."""
        return value if self.positions is None or len(value) == 1 else value.take(self.positions)

    def put(self, slot: int, value: Array) -> None:
        """Set a register at the active lanes; the value is one per active lane or a single one."""
        registers = self.group.registers
        if self.positions is None:
            registers[slot] = value
            return
        old = self.group.get(slot).view(U32)
        whole = old.copy() if len(old) == self.group.count else np.full(self.group.count, old[0])
        whole[self.positions] = value.view(U32)
        registers[slot] = whole


def _find_run(batch: Batch, space: Space, address: Array, size: int) -> tuple[bool | None, int]:
    """Whether accesses of `size` bytes are consecutive in global memory (None if not determined), and the
    bits that any of the addresses has."""
    if space is Space.GLOBAL and len(address) > 1:
        run = batch.spaces.is_run(address, size)
        return run, int(address[0] if run else np.bitwise_or.reduce(address))
    return None, int(np.bitwise_or.reduce(address))


def load(
    batch: Batch, space: Space, lanes: Lanes, instruction: MachineInstruction, address: Array, *,
    element: int, count: int, loaded: list[LoadedValue] | None = None,
) -> list[Array]:  # fmt: skip
    """Read `count` elements of `element` bytes (1, 2 or 4): unsigned, one per active lane or a single one.

    Args:
        loaded: receives what is read, if some lanes may not use it.
    """

    def request(width: Width) -> MemoryRequest:
        return MemoryRequest(lanes.group, instruction, width, lanes.numbers, values=loaded)

    run, misaligned = _find_run(batch, space, address, element * count)
    if count != 3 and not misaligned & element * count - 1:
        whole = request(Width(element, count))
        whole.run, whole.aligned = run, True
        return batch.spaces.load(space, whole, address)
    if not misaligned & element - 1:
        return [
            batch.spaces.load(space, request(Width(element, 1)), address + U64.type(element * k))[0]
            for k in range(count)
        ]
    values = []
    for k in range(count):
        total: Any = 0
        for octet in range(element):
            at = address + U64.type(element * k + octet)
            (byte,) = batch.spaces.load(space, request(Width(1, 1)), at)
            total = total | byte.astype(f"u{element}") << np.dtype(f"u{element}").type(8 * octet)
        values.append(np.asarray(total))
    return values


def store(  # noqa: PLR0917 - as of `Spaces.store`
    batch: Batch, space: Space, lanes: Lanes, instruction: MachineInstruction, address: Array,
    values: list[Array],
) -> None:  # fmt: skip
    """Write one element per value: unsigned, one per active lane or a single one."""
    element, count = values[0].dtype.itemsize, len(values)

    def request(width: Width) -> MemoryRequest:
        return MemoryRequest(lanes.group, instruction, width, lanes.numbers)

    run, misaligned = _find_run(batch, space, address, element * count)
    if count != 3 and not misaligned & element * count - 1:
        whole = request(Width(element, count))
        whole.run, whole.aligned = run, True
        batch.spaces.store(space, whole, address, values)
        return
    for k, value in enumerate(values):
        at = address + U64.type(element * k)
        if not misaligned & element - 1:
            batch.spaces.store(space, request(Width(element, 1)), at, [value])
            continue
        for octet in range(element):
            byte = (value >> value.dtype.type(8 * octet)).astype(U8)
            batch.spaces.store(space, request(Width(1, 1)), at + U64.type(octet), [byte])


def in_spaces(
    space: Space | None,
    lanes: Lanes,
    address: Array,
    action: Callable[[Space, Lanes, Array, NDArray[np.bool_] | None], None],
) -> None:
    """Call `action(space, lanes, addresses in it, which)` for each memory that flat addresses are in.

    `which` are these lanes among the active ones (None for all).
    """
    if space is not None:
        action(space, lanes, address, None)
        return
    for found, which, inside in by_space(np.broadcast_to(address, lanes.count)):
        if which is None:
            action(found, lanes, inside, None)
            continue
        own = np.arange(lanes.group.count) if lanes.positions is None else lanes.positions
        action(found, Lanes(lanes.group, own[which]), inside, which)


# -- scalar loads ----------------------------------------------------------------------------------------


def first_lanes(group: WaveGroup) -> NDArray[np.intp]:
    """The position of the first active lane of each wavefront, for which a scalar access counts."""
    active = np.broadcast_to(group.get(ACTIVE), group.count).reshape(group.waves, group.wave_size)
    return np.asarray(np.arange(group.count)[:: group.wave_size] + active.argmax(axis=1), np.intp)


@binds(
    *(f"s_load_dword{'' if n == 1 else f'x{n}'}" for n in (1, 2, 4, 8, 16)),
    *(f"s_load_b{32 * n}" for n in (1, 2, 4, 8, 16)),
)
def _scalar_load(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """Read registers at an address that each wavefront has one of.

    The kernel's arguments and the code object's constants are read directly; in other memory the access is
    one of the first active lane. The buffer for calls of the host is allocated when its address is read.
    """
    base = lowering.scalar(instruction.sources[0].operand, "u64")
    offset = None
    if len(instruction.sources) > 1:
        offset = lowering.scalar(instruction.sources[1].operand, "u32")
    plus = U64.type(instruction.immediate % (1 << 64))
    operand = instruction.results[0]
    count = operand.count
    slots = lowering.of(operand)
    lowering._written_slots(slots, always=True)
    lowering.block.reads(ACTIVE)
    code_size = lowering.module.image_bytes
    parameter_size = max(lowering.kernel.descriptor.kernarg_bytes, 1)
    mailbox = [each.offset for each in lowering.kernel.hidden if each.kind == HOST_CALLS]

    def step(group: WaveGroup, batch: Batch) -> None:
        address = base(group) + plus
        if offset is not None:
            address = address + offset(group).astype(U64)
        address = address & ~U64.type(3)
        known = ((batch.symbols[PARAMETERS], parameter_size), (batch.symbols[CODE], code_size))
        low, high = int(address.min()), int(address.max()) + 4 * count
        registers = group.registers
        if any(start <= low and high <= start + size for start, size in known):
            if mailbox and low <= (pointer := batch.symbols[PARAMETERS] + mailbox[0]) < high:
                buffer = host_calls(batch.context.memory).address
                batch.context.memory.view(pointer, 8).view(U64)[:] = buffer
            view = batch.spaces.view(Space.GLOBAL, 4)
            first = ((address - batch.spaces.base) >> U64.type(2)).astype(np.intp)
            for k, slot in enumerate(slots):
                registers[slot] = view[first + k]
            return
        has_thread = batch.spaces.shape.has_thread
        present = first_lanes(group)
        assert has_thread is None or bool(group.pick(has_thread)[present].all())
        whole = np.broadcast_to(address, group.waves)
        values = load(
            batch, Space.GLOBAL, Lanes(group, present), instruction, whole, element=4, count=1
        ) if count == 1 else [
            load(batch, Space.GLOBAL, Lanes(group, present), instruction, whole + U64.type(4 * k),
                 element=4, count=1)[0]
            for k in range(count)
        ]  # fmt: skip
        for slot, value in zip(slots, values, strict=True):
            registers[slot] = value

    lowering.block.steps.append(step_of(step))


# -- addresses ---------------------------------------------------------------------------------------------


def flat_address(
    lowering: Lowering, instruction: MachineInstruction
) -> tuple[Space | None, Callable[[WaveGroup], Array]]:
    """The memory of a FLAT, GLOBAL or SCRATCH instruction (None: any), and a reader of its addresses."""
    table = instruction.name.partition("_")[0]
    space = {"global": Space.GLOBAL, "scratch": Space.LOCAL, "flat": None}[table]
    sources = list(instruction.sources)
    has_base = "saddr" in instruction.flags
    base = sources.pop().operand if has_base else None
    vector = sources[0].operand if table != "scratch" or "vaddr" in instruction.flags else None
    plus = instruction.immediate
    if space is Space.LOCAL:
        return space, _scratch_address(lowering, base, vector, plus)
    add = U64.type(plus % (1 << 64))
    assert vector is not None
    slots = lowering.of(vector)
    for slot in slots:
        lowering.block.reads(slot)
    if base is not None:
        read_base = lowering.scalar(base, "u64")
        (only,) = slots

        def with_base(group: WaveGroup) -> Array:
            start = expanded(read_base(group) + add, group)
            return start + group.get(only).view(U32)

        return space, with_base
    low, high = slots
    if not plus:
        return space, lambda group: combined(group.get(low), group.get(high))
    return space, lambda group: combined(group.get(low), group.get(high)) + add


def _scratch_address(lowering: Lowering, base: Any, vector: Any, plus: int) -> Callable[[WaveGroup], Array]:
    """An offset in the thread's local memory: 32-bit arithmetic."""
    readers: list[Callable[[WaveGroup], Array]] = []
    if base is not None:
        read_base = lowering.scalar(base, "u32")
        readers.append(lambda group: expanded(read_base(group), group))
    if vector is not None:
        (slot,) = lowering.of(vector)
        lowering.block.reads(slot)
        readers.append(lambda group: group.get(slot).view(U32))
    add = U32.type(plus % (1 << 32))

    def read(group: WaveGroup) -> Array:
        total: Any = np.full(1, add, U32)
        for reader in readers:
            total = total + reader(group)
        return np.asarray(total, U64)

    return read


# -- loads and stores --------------------------------------------------------------------------------------

_LOAD = re.compile(r"(?:flat|global|scratch)_load_(?:d16_)?(hi_)?(\w+?)(_d16)?(_hi)?$")
_STORE = re.compile(r"(?:flat|global|scratch)_store_(?:d16_)?(hi_)?(\w+?)(_d16_hi)?$")
_COUNTS = {"dword": 1, "dwordx2": 2, "dwordx3": 3, "dwordx4": 4, "b32": 1, "b64": 2, "b96": 3, "b128": 4}


def bind_flat_load(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """A load through FLAT, GLOBAL or SCRATCH."""
    match = _LOAD.fullmatch(instruction.name)
    assert match is not None
    kind = match[2]
    half, high = bool(match[3] or "_d16_" in instruction.name), bool(match[4] or match[1])
    if kind not in _COUNTS and kind not in NARROW:
        raise lowering.unsupported(instruction)
    space, address = flat_address(lowering, instruction)
    slots = lowering.vector_slots(instruction.results[0])
    element, dtype = NARROW.get(kind, (4, U32))
    count = _COUNTS.get(kind, 1)
    polls = instruction.is_strong
    block = lowering.block
    block.may_wait |= polls and space is not Space.LOCAL

    def step(group: WaveGroup, batch: Batch) -> None:
        lanes = Lanes(group)
        if not lanes.count:
            return
        if polls:
            group.polling = instruction
            batch.sync_count += 1
        results: list[Array] = [np.zeros(lanes.count, U32) for _ in range(count)]
        follows = batch.followed is not None and instruction.code_position in block.unsure

        def read(found: Space, some: Lanes, inside: Array, which: NDArray[np.bool_] | None) -> None:
            loaded: list[LoadedValue] | None = [] if follows else None
            values = load(
                batch, found, some, instruction, inside, element=element, count=count, loaded=loaded
            )
            hold(batch, slots, loaded)
            for number, value in enumerate(values):
                wide = value if element == 4 else value.view(dtype).astype(S32 if dtype.kind == "i" else U32)
                if which is None:
                    results[number] = wide.view(U32)
                else:
                    results[number][which] = wide.view(U32)

        in_spaces(space, lanes, lanes.pick(address(group)), read)
        for slot, value in zip(slots, results, strict=True):
            if half:
                old = lanes.pick(group.get(slot).view(U32))
                low = U32.type(0xFFFF)
                lanes.put(slot, (old & low) | value << U32.type(16) if high else (old & ~low) | (value & low))
                continue
            lanes.put(slot, value)

    lowering.block.steps.append(step_of(step))


def hold(batch: Batch, slots: Sequence[int], loaded: Sequence[LoadedValue] | None) -> None:
    """Registers hold what a load has read: as many values of each."""
    if loaded and batch.followed is not None:
        each = len(loaded) // len(slots)
        for number, value in enumerate(loaded):
            batch.followed.hold(slots[number // each], value, value.lanes)


def is_whole_load(name: str) -> bool:
    """Whether an instruction loads whole registers through FLAT, GLOBAL or SCRATCH."""
    return _LOAD.fullmatch(name) is not None and "d16" not in name


def bind_flat_store(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """A store through FLAT, GLOBAL or SCRATCH."""
    match = _STORE.fullmatch(instruction.name)
    assert match is not None
    kind, high = match[2], bool(match[3] or match[1])
    if kind not in _COUNTS and kind not in NARROW:
        raise lowering.unsupported(instruction)
    space, address = flat_address(lowering, instruction)
    sources = list(instruction.sources)
    if "saddr" in instruction.flags:
        sources.pop()
    slots = lowering.of(sources[-1].operand)
    for slot in slots:
        lowering.block.reads(slot)
    lowering.block.reads(ACTIVE)
    element = NARROW[kind][0] if kind in NARROW else 4
    unsigned = np.dtype(f"u{element}")

    def step(group: WaveGroup, batch: Batch) -> None:
        lanes = Lanes(group)
        if not lanes.count:
            return
        values = [lanes.pick(group.get(slot).view(U32)) for slot in slots]
        if high:
            values = [value >> U32.type(16) for value in values]
        if element != 4:
            values = [value.astype(unsigned) for value in values]

        def write(found: Space, some: Lanes, inside: Array, which: NDArray[np.bool_] | None) -> None:
            own = values if which is None else [np.broadcast_to(v, lanes.count)[which] for v in values]
            store(batch, found, some, instruction, inside, own)

        in_spaces(space, lanes, lanes.pick(address(group)), write)

    lowering.block.steps.append(step_of(step))


@binds("buffer_wbl2", "buffer_inv", "buffer_gl0_inv", "buffer_gl1_inv")
def _cache_control(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """A part of a release or acquire fence: memory is always coherent here."""
    lowering.block.reads(ACTIVE)

    def step(group: WaveGroup, batch: Batch) -> None:
        batch.sync_count += 1
        if batch.hooks.fence:
            lanes = Lanes(group)
            if lanes.count:
                threads = batch.spaces.threads_of(group, lanes.numbers)
                for hook in batch.hooks.fence:
                    hook.fence(threads, instruction)

    lowering.block.steps.append(step_of(step))


def bind_memory(table: dict[int, str]) -> None:
    """Register the loads and stores of an opcode table."""
    bind_matching(table, (_LOAD, bind_flat_load), (_STORE, bind_flat_store))
