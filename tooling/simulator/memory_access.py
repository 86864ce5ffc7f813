"""ld, st, cvta, cp.async, mapa, isspacep and fences (PTX ISA 9.7.9)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.bindings import assign, binds, guard, guarded_lanes, write
from tooling.simulator.decode import Decoder
from tooling.simulator.hooks import Space
from tooling.simulator.lanes import Group
from tooling.simulator.numerics import PRED, U32, U64
from tooling.simulator.ptx_model import Address, Instruction, Integer, Operand, Register, Symbol, Vector
from tooling.simulator.semantics import DTYPES
from tooling.simulator.spaces import CLUSTER_SHIFT, LOCAL_WINDOW, SHARED_WINDOW, Request, Width

Array = NDArray[Any]

_SPACES = {"global": Space.GLOBAL, "const": Space.GLOBAL, "shared": Space.SHARED, "local": Space.LOCAL}
_POLLING = ("volatile", "relaxed", "acquire")


def space_of(instruction: Instruction) -> tuple[str, Space | None]:
    """The state space named by the modifiers; None for generic addresses."""
    for modifier in instruction.modifiers:
        name = modifier.partition("::")[0]
        if name in _SPACES:
            return name, _SPACES[name]
        if name == "param":
            return "param", None
    return "", None


def vector_count(instruction: Instruction) -> int:
    """Elements per lane: 4 for `.v4`."""
    for modifier in instruction.modifiers:
        if modifier in ("v2", "v4", "v8"):
            return int(modifier[1])
    return 1


@dataclass(slots=True)
class Pointer:
    """An address operand: `slot` plus a constant, or a constant alone."""

    slot: int
    offset: np.uint64 | None

    def of(self, group: Group) -> Array:
        """Addresses as uint64: one per lane of the group or a single one."""
        value = group.get(self.slot)
        if value.dtype is not U64:
            value = value.astype(U64) if value.dtype.itemsize < 8 else value.view(U64)
        return value if self.offset is None else value + self.offset


def pointer(decoder: Decoder, operand: Operand, instruction: Instruction) -> Pointer:
    """Bind `[base+offset]`.

    Raises:
        PtxError: another kind of operand.
    """
    if not isinstance(operand, Address):
        raise decoder.unknown(instruction, "an address in brackets is expected")
    base = operand.base
    if isinstance(base, Register):
        slot = decoder.register(base.name)
        decoder.block.reads(slot)
        offset = np.uint64(operand.offset % (1 << 64)) if operand.offset else None
        return Pointer(slot, offset)
    if isinstance(base, Integer):
        return Pointer(decoder.constant(base.value + operand.offset, U64), None)
    return Pointer(decoder.symbol(Symbol(base.name, base.offset + operand.offset), U64, instruction), None)


def for_spaces(
    batch: Any,
    space: Space | None,
    group: Group,
    address: Array,
    lanes: NDArray[np.intp] | None,
    action: Callable[[Space, Array, NDArray[np.intp] | None, Array | None], None],
) -> None:
    """Call `action(space, addresses, lanes, which)` once per space that the addresses lie in.

    `which` says which of the active lanes are meant (None for all).
    """
    if space is not None:
        action(space, address, lanes, None)
        return
    for found, which, inside in batch.spaces.space_of(address):
        if which is None:
            action(found, inside, lanes, None)
        else:
            indices = group.indices(batch.size) if lanes is None else lanes
            action(found, inside, indices[which], which)


def active(group: Group, guarding: tuple[int, bool] | None, size: int) -> tuple[bool, Array | None, Any]:
    """(any lane active, mask over the group or None for all, lane numbers or None for all)."""
    if guarding is None:
        return True, None, None
    lanes = guarded_lanes(group, guarding)
    if lanes is True or lanes is False:
        return lanes, None, None
    return True, lanes, group.indices(size)[lanes]


@binds("ld", "ldu")
def _load(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    name, space = space_of(instruction)
    kind = instruction.modifiers[-1]
    if kind not in DTYPES or len(instruction.operands) < 2:
        raise decoder.unknown(instruction)
    memory = DTYPES[kind]
    destination, source = instruction.operands[:2]
    count = vector_count(instruction)
    elements = destination.elements if isinstance(destination, Vector) else (destination,)
    if len(elements) != count:
        raise decoder.unknown(instruction, "its vector has the wrong number of elements")
    widths = [
        memory if not isinstance(e, Register) or e.name == "_" else decoder.width(e.name) for e in elements
    ]
    extend = [_extension(memory, width) for width in widths]
    if name == "param":
        if not isinstance(source, Address):
            raise decoder.unknown(instruction)
        if decoder.function.is_entry and _is_kernel_parameter(decoder, source):
            _load_parameter(decoder, instruction, source, elements, memory, extend)
            return
        space = Space.LOCAL
    at = pointer(decoder, source, instruction)
    guarding = guard(decoder, instruction)
    targets = [write(decoder, element, instruction) for element in elements]
    width = Width(memory.itemsize, count)
    polling = any(modifier in _POLLING for modifier in instruction.modifiers)
    unsigned = np.dtype(f"u{memory.itemsize}")

    def step(group: Group, batch: Any) -> None:
        some, mask, lanes = active(group, guarding, batch.size)
        if not some:
            return
        if polling:
            group.polling = True
        address = at.of(group)
        if mask is not None and len(address) != 1:
            address = address[mask]
        if space is not None:
            values = batch.spaces.load(space, Request(group, instruction, width, lanes), address)
        else:
            values = _gather(group, batch, address, lanes)
        for target, value, change in zip(targets, values, extend, strict=True):
            wide = value if change is None else change(value)
            if mask is not None and len(wide) != 1:
                whole = np.zeros(group.count, wide.dtype)
                whole[mask] = wide
                wide = whole
            assign(group, target, wide, mask, wide.dtype)

    def _gather(group: Group, batch: Any, address: Array, lanes: Any) -> list[Array]:
        total = group.count if lanes is None else len(lanes)
        results: list[Array] = []

        def one(found: Space, inside: Array, some: Any, which: Array | None) -> None:
            values = batch.spaces.load(found, Request(group, instruction, width, some), inside)
            if which is None:
                results[:] = values
                return
            if not results:
                results[:] = [np.zeros(total, unsigned) for _ in values]
            for result, value in zip(results, values, strict=True):
                result[which] = value

        for_spaces(batch, None, group, address, lanes, one)
        return results

    decoder.block.steps.append(step)


def _extension(memory: np.dtype[Any], register: np.dtype[Any]) -> Callable[[Array], Array] | None:
    """How a loaded value becomes as wide as its register: by sign for signed types."""
    if memory.itemsize >= register.itemsize:
        return None
    signed = memory.kind == "i"
    wide = np.dtype(f"{'i' if signed else 'u'}{register.itemsize}")
    narrow = np.dtype(f"{'i' if signed else 'u'}{memory.itemsize}")
    return lambda value: value.view(narrow).astype(wide)


def _is_kernel_parameter(decoder: Decoder, source: Address) -> bool:
    base = source.base
    if isinstance(base, Symbol):
        return any(parameter.name == base.name for parameter in decoder.kernel.parameters)
    return isinstance(base, Register)


def _load_parameter(
    decoder: Decoder,
    instruction: Instruction,
    source: Address,
    elements: tuple[Operand, ...],
    memory: np.dtype[Any],
    extend: list[Callable[[Array], Array] | None],
) -> None:
    """Kernel parameters are constants of the launch: loading one only names its value."""
    if not isinstance(source.base, Symbol):
        raise decoder.unknown(instruction, "kernel parameters at computed addresses are not simulated")
    start = next(p.offset for p in decoder.kernel.parameters if p.name == source.base.name)
    start += source.base.offset + source.offset
    unsigned = np.dtype(f"u{memory.itemsize}")
    guarding = guard(decoder, instruction)
    for index, (element, change) in enumerate(zip(elements, extend, strict=True)):
        slot = decoder.parameter(start + index * memory.itemsize, unsigned)
        target = write(decoder, element, instruction)
        decoder.block.steps.append(_copy_step(slot, target, change, guarding))


def _copy_step(
    slot: int, target: int, change: Callable[[Array], Array] | None, guarding: tuple[int, bool] | None
) -> Callable[[Group, Any], None]:
    def step(group: Group, batch: Any) -> None:
        some, mask, _ = active(group, guarding, batch.size)
        if some:
            value = group.get(slot)
            value = value if change is None else change(value)
            assign(group, target, value, mask, value.dtype)

    return step


@binds("st")
def _store(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    name, space = space_of(instruction)
    kind = instruction.modifiers[-1]
    if kind not in DTYPES or len(instruction.operands) != 2:
        raise decoder.unknown(instruction)
    if name == "param":
        space = Space.LOCAL
    memory = DTYPES[kind]
    unsigned = np.dtype(f"u{memory.itemsize}")
    destination, source = instruction.operands
    elements = source.elements if isinstance(source, Vector) else (source,)
    if len(elements) != vector_count(instruction):
        raise decoder.unknown(instruction, "its vector has the wrong number of elements")
    at = pointer(decoder, destination, instruction)
    sources = [decoder.value(element, memory, instruction) for element in elements]
    guarding = guard(decoder, instruction)
    width = Width(memory.itemsize, len(elements))

    def step(group: Group, batch: Any) -> None:
        some, mask, lanes = active(group, guarding, batch.size)
        if not some:
            return
        address = at.of(group)
        values = [_narrow(group.get(slot), unsigned) for slot in sources]
        if mask is not None:
            address = address if len(address) == 1 else address[mask]
            values = [value if len(value) == 1 else value[mask] for value in values]

        def one(found: Space, inside: Array, some_lanes: Any, which: Array | None) -> None:
            told = values if which is None else [v if len(v) == 1 else v[which] for v in values]
            batch.spaces.store(found, Request(group, instruction, width, some_lanes), inside, told)

        if space is not None:
            batch.spaces.store(space, Request(group, instruction, width, lanes), address, values)
        else:
            for_spaces(batch, None, group, address, lanes, one)

    decoder.block.steps.append(step)


def _narrow(value: Array, unsigned: np.dtype[Any]) -> Array:
    if value.dtype is unsigned:
        return value
    if value.dtype.itemsize == unsigned.itemsize:
        return value.view(unsigned)
    if value.dtype.kind == "f":
        value = value.view(f"u{value.dtype.itemsize}")
    return value.astype(unsigned)


@binds("cvta")
def _generic(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    """To and from generic addresses (PTX ISA 9.7.9.20): shared and local have a window, global has none."""
    space = next(
        (m.partition("::")[0] for m in instruction.modifiers if m.partition("::")[0] in _SPACES), "param"
    )
    window = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}.get(space, 0)
    back = "to" in instruction.modifiers
    destination, source = instruction.operands
    slot = decoder.value(source, U64, instruction)
    target = write(decoder, destination, instruction)
    guarding = guard(decoder, instruction)
    result = DTYPES[instruction.modifiers[-1]]
    step_size = np.uint64((-window if back else window) % (1 << 64))

    def step(group: Group, batch: Any) -> None:
        some, mask, _ = active(group, guarding, batch.size)
        if not some:
            return
        value = group.get(slot)
        if window:
            value = (
                (value if value.dtype.itemsize == 8 else value.astype(U64)).view(U64) + step_size
            ).astype(result)
        assign(group, target, value, mask, value.dtype)

    decoder.block.steps.append(step)


@binds("isspacep")
def _is_space(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    wanted = _SPACES.get(instruction.modifiers[0].partition("::")[0])
    if wanted is None:
        raise decoder.unknown(instruction)
    destination, source = instruction.operands
    slot = decoder.value(source, U64, instruction)
    target = write(decoder, destination, instruction)

    def step(group: Group, batch: Any) -> None:
        address = group.get(slot).view(U64)
        result = np.zeros(len(address), PRED)
        for found, which, _ in batch.spaces.space_of(address):
            if found is wanted:
                result |= True if which is None else which
        group.registers[target] = result

    decoder.block.steps.append(step)


@binds("mapa")
def _map_address(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    """The address of the same shared place in another block of the cluster (PTX ISA 9.7.9.22)."""
    destination, source, block = instruction.operands
    dtype = DTYPES[instruction.modifiers[-1]]
    generic = not any(m.startswith("shared") for m in instruction.modifiers)
    slot = decoder.value(source, dtype, instruction)
    rank_slot = decoder.value(block, U32, instruction)
    target = write(decoder, destination, instruction)

    def step(group: Group, _batch: Any) -> None:
        address = group.get(slot).view(dtype)
        rank = group.get(rank_slot).view(U32).astype(dtype) + dtype.type(1)
        window = dtype.type(SHARED_WINDOW if generic else 0)
        offset = (address - window) & dtype.type((1 << CLUSTER_SHIFT) - 1)
        group.registers[target] = (rank << dtype.type(CLUSTER_SHIFT)) + offset + window

    decoder.block.steps.append(step)


@binds("getctarank")
def _block_rank(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    destination, source = instruction.operands
    slot = decoder.value(source, U64, instruction)
    own = decoder.special("%cluster_ctarank")
    target = write(decoder, destination, instruction)

    def step(group: Group, _batch: Any) -> None:
        address = group.get(slot).astype(U64)
        rank = ((address & np.uint64(0xFFFFFFFF)) >> np.uint64(CLUSTER_SHIFT)).astype(U32)
        group.registers[target] = np.where(rank > 0, rank - np.uint32(1), group.get(own))

    decoder.block.steps.append(step)


@binds("fence", "membar")
def _fence(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    """Memory is always in order here; checks still want to know."""

    def step(group: Group, batch: Any) -> None:
        for hook in batch.hooks.fence:
            hook.fence(group.pick(batch.spaces.threads), instruction)

    decoder.block.steps.append(step)


@binds("griddepcontrol", "prefetch", "prefetchu", "discard", "applypriority", "createpolicy", "nanosleep")
def _nothing(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    """Instructions without an effect on results: launch dependencies, cache hints, naps."""
    if instruction.opcode == "createpolicy":
        write(decoder, instruction.operands[0], instruction)
    polling = instruction.opcode == "nanosleep"

    def step(group: Group, _batch: Any) -> None:
        if polling:
            group.polling = True

    decoder.block.steps.append(step)


@binds("cp")
def _copy(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    """cp.async: performed at once, announced as asynchronous (PTX ISA 9.7.9.25)."""
    modifiers = instruction.modifiers
    if modifiers[:1] != ("async",):
        raise decoder.unknown(instruction)
    if modifiers[1:2] in (("wait_all",), ("wait_group",), ("commit_group",)):
        _copy_wait(decoder, instruction)
        return
    if modifiers[1] == "mbarrier":
        raise decoder.unknown(instruction, "cp.async.mbarrier is not simulated yet")
    if modifiers[1] not in ("ca", "cg") or not any(m.startswith("shared") for m in modifiers):
        raise decoder.unknown(instruction)
    destination, source, size, *rest = instruction.operands
    if not isinstance(size, Integer) or len(rest) > 1:
        raise decoder.unknown(instruction)
    to, origin = pointer(decoder, destination, instruction), pointer(decoder, source, instruction)
    guarding = guard(decoder, instruction)
    count = max(1, size.value // 4)
    width = Width(4, count)
    kept = decoder.value(rest[0], U32, instruction) if rest else None

    def step(group: Group, batch: Any) -> None:
        some, mask, lanes = active(group, guarding, batch.size)
        if not some:
            return
        target, start = to.of(group), origin.of(group)
        total = group.count if lanes is None else len(lanes)
        if mask is not None:
            target = target if len(target) == 1 else target[mask]
            start = start if len(start) == 1 else start[mask]
        if kept is not None:
            _copy_part(group, batch, target, start, lanes, total, mask)
            return
        request = Request(group, instruction, width, lanes, asynchronous=True)
        values = batch.spaces.load(Space.GLOBAL, request, start)
        batch.spaces.store(
            Space.SHARED, Request(group, instruction, width, lanes, asynchronous=True), target, values
        )

    def _copy_part(
        group: Group, batch: Any, target: Array, start: Array, lanes: Any, total: int, mask: Array | None
    ) -> None:
        """With a source size: bytes past it are zero (all of them, when it is 0)."""
        assert kept is not None
        wanted = group.get(kept).view(U32)
        wanted = np.broadcast_to(wanted if mask is None or len(wanted) == 1 else wanted[mask], total)
        indices = group.indices(batch.size) if lanes is None else lanes
        values = [np.zeros(total, U32) for _ in range(count)]
        for k in range(count):
            some = np.flatnonzero(wanted >= 4 * (k + 1))
            if len(some):
                begin = np.broadcast_to(start, total)[some] + np.uint64(4 * k)
                request = Request(group, instruction, Width(4, 1), indices[some], asynchronous=True)
                (value,) = batch.spaces.load(Space.GLOBAL, request, begin)
                values[k][some] = value
        batch.spaces.store(
            Space.SHARED, Request(group, instruction, width, lanes, asynchronous=True), target, values
        )

    decoder.block.steps.append(step)


def _copy_wait(decoder: Decoder, instruction: Instruction) -> None:
    what = instruction.modifiers[1]
    pending = 0
    if what == "wait_group":
        (operand,) = instruction.operands
        if not isinstance(operand, Integer):
            raise decoder.unknown(instruction)
        pending = operand.value
    if what == "commit_group":
        pending = -1

    def step(group: Group, batch: Any) -> None:
        for hook in batch.hooks.async_wait:
            hook.async_wait(group.pick(batch.spaces.threads), pending, instruction)

    decoder.block.steps.append(step)
