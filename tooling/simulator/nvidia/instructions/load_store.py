"""ld, st, fences, and instructions without an effect on results (PTX ISA 9.7.9, 9.7.13)."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Address, Instruction, Integer, Operand, Register, Symbol, Vector
from tooling.simulator.gpu.faults import illegal_address
from tooling.simulator.gpu.generic_addresses import LOCAL_WINDOW, SHARED_WINDOW, by_space
from tooling.simulator.gpu.hooks import Space
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.requests import MemoryRequest, Width
from tooling.simulator.gpu.stop_texts import (
    NARROW_ADDRESS,
    NARROW_REGISTER,
    NO_ADDRESS,
    OTHER_OPERANDS,
    OTHER_SPACE,
    OUTSIDE_PARAMETERS,
    WRONG_VECTOR,
)
from tooling.simulator.numerics.rounding import U32, U64
from tooling.simulator.nvidia.lowering.binders import assign, binds, write
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.nvidia.lowering.predicates import guard, guarded_lanes
from tooling.simulator.nvidia.ptx.modifiers import LOAD, STORE, is_load_or_store
from tooling.simulator.nvidia.semantics.registry import DTYPES
from tooling.simulator.program.program import Batch, Step

Array = NDArray[Any]

SPACES = {"global": Space.GLOBAL, "const": Space.GLOBAL, "shared": Space.SHARED, "local": Space.LOCAL}
_WINDOWS = {"shared": np.uint64(SHARED_WINDOW), "local": np.uint64(LOCAL_WINDOW)}
_GENERIC = frozenset({"global", "param", *_WINDOWS})
"""State spaces whose variables have generic addresses."""

_POLLING = ("volatile", "relaxed", "acquire")


def space_of(instruction: Instruction) -> tuple[str, Space | None]:
    """The state space named by the modifiers; None for generic addresses."""
    for modifier in instruction.modifiers:
        name = modifier.partition("::")[0]
        if name in SPACES:
            return name, SPACES[name]
        if name == "param":
            return "param", None
    return "", None


def vector_count(instruction: Instruction) -> int:
    """Elements per lane: 4 for `.v4`."""
    for modifier in instruction.modifiers:
        if modifier in ("v2", "v4", "v8"):
            return int(modifier[1])
    return 1


class Pointer(Struct):
    """An address operand: `slot` plus a constant, or a constant alone.

    Attributes:
        window: the slot of the device address at which constant memory begins, for addresses in it.
    """

    slot: int
    offset: np.uint64 | None
    window: int | None = None

    def of(self, group: Group) -> Array:
        """Addresses as uint64: one per lane of the group or a single one."""
        value = group.get(self.slot)
        if value.dtype.itemsize == 4:
            # 32-bit addresses wrap: a negative base plus an offset may be a valid address.
            value = value.view(U32)
            value = value if self.offset is None else value + self.offset.astype(U32)
            if self.window is None:
                return value.astype(U64)
            return value.view(np.int32).astype(np.int64).view(U64) + group.get(self.window)
        if value.dtype is not U64:
            value = value.astype(U64) if value.dtype.itemsize < 8 else value.view(U64)
        if self.window is not None:
            value = value + group.get(self.window)
        return value if self.offset is None else value + self.offset


def pointer(
    decoder: Decoder, operand: Operand, instruction: Instruction, space: str | None = None
) -> Pointer:
    """Bind `[base+offset]`.

    Args:
        space: the state space that the instruction names for this operand, "" for generic addresses. None
            accepts 32-bit registers and variables of any space.

    Raises:
        PtxError: another kind of operand, a register too narrow for an address of that space, or a variable
            of another space.
    """
    if not isinstance(operand, Address):
        raise decoder.unknown(instruction, NO_ADDRESS)
    base = operand.base
    window = decoder.constant_window() if space == "const" else None
    if isinstance(base, Register):
        if space in ("", "global") and decoder.width(base.name).itemsize != U64.itemsize:
            raise decoder.unknown(instruction, NARROW_ADDRESS)
        slot = decoder.register(base.name)
        decoder.block.reads(slot)
        offset = np.uint64(operand.offset % (1 << 64)) if operand.offset else None
        return Pointer(slot, offset, window)
    if isinstance(base, Integer):
        return Pointer(decoder.constant(base.value + operand.offset, U64), None, window)
    symbol = Symbol(base.name, base.offset + operand.offset)
    variable_space = decoder.state_space(base.name)
    # Generic addresses of shared and local variables are in windows; named constants have none.
    generic = _WINDOWS.get(variable_space) if space == "" else None
    if (
        space is not None
        and variable_space not in (space, "")
        and not (space == "" and variable_space in _GENERIC)
    ):
        raise decoder.unknown(instruction, OTHER_SPACE.of(name=base.name, space=variable_space))
    return Pointer(decoder.symbol(symbol, U64, instruction), generic, window)


def for_spaces(
    batch: Batch,
    space: Space | None,
    request: MemoryRequest,
    address: Array,
    action: Callable[[Space, MemoryRequest, Array, Array | None], None],
) -> None:
    """Call `action(space, request, addresses, which)` once for each space that contains any address.

    `which` is the mask of these lanes among the active ones (None for all).
    """
    if space is not None:
        action(space, request, address, None)
        return
    for found, which, inside in by_space(address):
        if which is None:
            action(found, request, inside, None)
        else:
            action(found, request.only(np.flatnonzero(which), batch.size), inside, which)


def active(group: Group, guarding: tuple[int, bool] | None, size: int) -> tuple[bool, Array | None, Any]:
    """(any lane active, mask over the group or None for all, lane numbers or None for all)."""
    if guarding is None:
        return True, None, None
    lanes = guarded_lanes(group, guarding)
    if lanes is True or lanes is False:
        return lanes, None, None
    return True, lanes, group.indices(size)[lanes]


def bind_threads(decoder: Decoder, instruction: Instruction, act: Callable[[Batch, Array], None]) -> None:
    """Append a step that calls `act` with the batch and the threads that execute the instruction, if any."""
    guarding = guard(decoder, instruction)

    def step(group: Group, batch: Batch) -> None:
        some, _, lanes = active(group, guarding, batch.size)
        if some:
            act(batch, batch.spaces.threads_of(group, lanes))

    decoder.block.steps.append(step)


def load_generic(batch: Batch, request: MemoryRequest, address: Array) -> list[Array]:
    """Load from generic addresses, which may be in several spaces."""
    results: list[Array] = []

    def load(found: Space, lanes: MemoryRequest, inside: Array, which: Array | None) -> None:
        values = batch.spaces.load(found, lanes, inside)
        if which is None:
            results[:] = values
            return
        if not results:
            results[:] = [np.zeros(request.count, value.dtype) for value in values]
        for result, value in zip(results, values, strict=True):
            result[which] = value

    for_spaces(batch, None, request, address, load)
    return results


@binds("ld", "ldu")
def _load(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    name, space = space_of(instruction)
    if not is_load_or_store(instruction.modifiers, LOAD) or len(instruction.operands) not in (2, 3):
        raise decoder.unknown(instruction)
    kind = instruction.modifiers[-1]
    memory = DTYPES[kind]
    destination, source = instruction.operands[:2]
    count = vector_count(instruction)
    elements = destination.elements if isinstance(destination, Vector) else (destination,)
    if len(elements) != count:
        raise decoder.unknown(instruction, WRONG_VECTOR)
    widths = [
        memory if not isinstance(e, Register) or e.name == "_" else decoder.width(e.name) for e in elements
    ]
    if any(width.itemsize < memory.itemsize for width in widths):
        raise decoder.unknown(instruction, NARROW_REGISTER)
    extend = [_extension(memory, width) for width in widths]
    if name == "param":
        if not isinstance(source, Address):
            raise decoder.unknown(instruction)
        if decoder.function.is_entry and _is_kernel_parameter(decoder, source):
            if isinstance(source.base, Symbol):
                _load_parameter(decoder, instruction, source.base, elements, extend)
            else:
                _load_computed(decoder, instruction, source, elements, extend)
            return
        space = Space.LOCAL
    at = pointer(decoder, source, instruction, name)
    guarding = guard(decoder, instruction)
    targets = [write(decoder, element, instruction) for element in elements]
    width = Width(memory.itemsize, count)
    polling = any(modifier in _POLLING for modifier in instruction.modifiers)
    block = decoder.block
    block.may_wait |= polling and space in (Space.GLOBAL, None)

    def step(group: Group, batch: Batch) -> None:
        some, mask, lanes = active(group, guarding, batch.size)
        if not some:
            return
        if polling:
            group.polling = instruction
            batch.sync_count += 1
        address = at.of(group)
        if mask is not None and len(address) != 1:
            address = address[mask]
        request = MemoryRequest(group, instruction, width, lanes)
        follows = batch.followed is not None and instruction.code_position in block.unsure
        if follows:
            request.values = []
        if space is not None:
            values = batch.spaces.load(space, request, address)
        else:
            values = load_generic(batch, request, address)
        for target, value, change in zip(targets, values, extend, strict=True):
            wide = value if change is None else change(value)
            if mask is not None and len(wide) != 1:
                whole = np.zeros(group.count, wide.dtype)
                whole[mask] = wide
                wide = whole
            assign(group, target, wide, mask, wide.dtype)
        if follows and batch.followed is not None:
            for number, loaded in enumerate(request.values or ()):
                batch.followed.hold(targets[number % count], loaded, loaded.lanes)

    decoder.block.steps.append(step)


def _extension(memory: np.dtype[Any], register: np.dtype[Any]) -> Callable[[Array], Array] | None:
    """The conversion of a loaded value to the width of its register: sign-extension for signed types."""
    if memory.itemsize == register.itemsize:
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
    source: Symbol,
    elements: tuple[Operand, ...],
    extend: list[Callable[[Array], Array] | None],
) -> None:
    """Load kernel parameters at constant offsets: their slots hold the values already."""
    start = next(p.offset for p in decoder.kernel.parameters if p.name == source.name)
    address = instruction.operands[1]
    assert isinstance(address, Address)
    start += source.offset + address.offset
    unsigned = np.dtype(f"u{DTYPES[instruction.modifiers[-1]].itemsize}")
    size = decoder.kernel.parameter_bytes
    if not 0 <= start <= size - len(elements) * unsigned.itemsize:
        raise decoder.unknown(instruction, OUTSIDE_PARAMETERS.of(bytes=size))
    guarding = guard(decoder, instruction)
    for index, (element, change) in enumerate(zip(elements, extend, strict=True)):
        slot = decoder.parameter(start + index * unsigned.itemsize, unsigned)
        target = write(decoder, element, instruction)
        decoder.block.steps.append(_copy_step(slot, target, change, guarding))


def _load_computed(
    decoder: Decoder,
    instruction: Instruction,
    source: Address,
    elements: tuple[Operand, ...],
    extend: list[Callable[[Array], Array] | None],
) -> None:
    """Load kernel parameters at computed addresses from the parameter block."""
    unsigned = np.dtype(f"u{DTYPES[instruction.modifiers[-1]].itemsize}")
    at = pointer(decoder, source, instruction)
    targets = [write(decoder, element, instruction) for element in elements]
    guarding = guard(decoder, instruction)
    size = unsigned.itemsize

    def step(group: Group, batch: Batch) -> None:
        some, mask, lanes = active(group, guarding, batch.size)
        if not some:
            return
        address = at.of(group)
        block = batch.parameters
        used = address if mask is None or len(address) == 1 else address[mask]
        last = len(block) - size * len(targets)
        bad = used > np.uint64(max(last, 0))
        if last < 0 or bad.any():
            request = MemoryRequest(group, instruction, Width(size, len(targets)), lanes)
            thread = int(request.pick(batch.spaces.threads)[int(np.argmax(bad))])
            raise illegal_address(
                batch.context.launch, request, thread, int(used[int(np.argmax(bad))]), "parameter"
            )
        for k, (target, change) in enumerate(zip(targets, extend, strict=True)):
            # Inactive lanes may hold any address: the values that they read are discarded.
            index = np.minimum(address, last).astype(np.intp) + k * size
            value = block[index[:, None] + np.arange(size)].view(unsigned).reshape(-1)
            value = value if change is None else change(value)
            assign(group, target, value, mask, value.dtype)

    decoder.block.steps.append(step)


def _copy_step(
    slot: int, target: int, change: Callable[[Array], Array] | None, guarding: tuple[int, bool] | None
) -> Step:
    def step(group: Group, batch: Batch) -> None:
        some, mask, _ = active(group, guarding, batch.size)
        if some:
            value = group.get(slot)
            value = value if change is None else change(value)
            assign(group, target, value, mask, value.dtype)

    return step


@binds("st")
def _store(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    name, space = space_of(instruction)
    if not is_load_or_store(instruction.modifiers, STORE) or len(instruction.operands) not in (2, 3):
        raise decoder.unknown(instruction)
    kind = instruction.modifiers[-1]
    if name == "param":
        space = Space.LOCAL
    memory = DTYPES[kind]
    unsigned = np.dtype(f"u{memory.itemsize}")
    destination, source = instruction.operands[:2]
    elements = source.elements if isinstance(source, Vector) else (source,)
    if len(elements) != vector_count(instruction):
        raise decoder.unknown(instruction, WRONG_VECTOR)
    at = pointer(decoder, destination, instruction, name)
    sources = [decoder.value(element, memory, instruction, any_width=True) for element in elements]
    registers = (element for element in elements if isinstance(element, Register))
    if any(decoder.width(register.name).itemsize < memory.itemsize for register in registers):
        raise decoder.unknown(instruction, NARROW_REGISTER)
    guarding = guard(decoder, instruction)
    width = Width(memory.itemsize, len(elements))

    def step(group: Group, batch: Batch) -> None:
        some, mask, lanes = active(group, guarding, batch.size)
        if not some:
            return
        address = at.of(group)
        values = [_narrow(group.get(slot), unsigned) for slot in sources]
        if mask is not None:
            address = address if len(address) == 1 else address[mask]
            values = [value if len(value) == 1 else value[mask] for value in values]

        def store(found: Space, lanes: MemoryRequest, inside: Array, which: Array | None) -> None:
            stored = values if which is None else [v if len(v) == 1 else v[which] for v in values]
            batch.spaces.store(found, lanes, inside, stored)

        request = MemoryRequest(group, instruction, width, lanes)
        if space is not None:
            batch.spaces.store(space, request, address, values)
        else:
            for_spaces(batch, None, request, address, store)

    decoder.block.steps.append(step)


def _narrow(value: Array, unsigned: np.dtype[Any]) -> Array:
    if value.dtype is unsigned:
        return value
    if value.dtype.itemsize == unsigned.itemsize:
        return value.view(unsigned)
    if value.dtype.kind == "f":
        value = value.view(f"u{value.dtype.itemsize}")
    return value.astype(unsigned)


_CACHE_LINE = 128
"""Bytes of a cache line: the size that instructions on a line of the cache name."""


def _require_constants(
    decoder: Decoder, instruction: Instruction, operands: Sequence[Operand], values: Container[int] | None
) -> None:
    """Require that the operands are one constant among `values`, or none at all where that is None.

    Raises:
        PtxError: other operands.
    """
    given = [operand.value if isinstance(operand, Integer) else None for operand in operands]
    if len(given) != (values is not None) or any(values is None or value not in values for value in given):
        raise decoder.unknown(instruction, OTHER_OPERANDS)


@binds("fence", "membar")
def _fence(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    """Fences have no effect on memory, which is sequentially consistent here; hooks are notified."""
    operands = instruction.operands
    if instruction.modifiers[:3] == ("proxy", "tensormap::generic", "acquire"):
        _require_constants(decoder, instruction, operands[1:], {_CACHE_LINE})
    else:
        _require_constants(decoder, instruction, operands, None)

    def notify(batch: Batch, threads: Array) -> None:
        for hook in batch.hooks.fence:
            hook.fence(threads, instruction)

    bind_threads(decoder, instruction, notify)


@binds("pmevent")
def _profiler_event(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    """`pmevent` triggers performance monitor events (PTX ISA 9.7.19.3), which are ignored.

    Compilers emit `pmevent.mask` when optimisation is off.
    """
    most = {(): 15, ("mask",): 0xFFFF}.get(instruction.modifiers)
    (event,) = instruction.operands
    if most is None or not isinstance(event, Integer) or not 0 <= event.value <= most:
        raise decoder.unknown(instruction)


@binds(
    "griddepcontrol",
    "prefetch",
    "prefetchu",
    "discard",
    "applypriority",
    "createpolicy",
    "nanosleep",
    "setmaxnreg",
)
def _nothing(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    """Instructions without an effect on results: launch dependencies, cache hints, nanosleep, setmaxnreg."""
    if instruction.opcode in ("discard", "applypriority"):
        _require_constants(decoder, instruction, instruction.operands[1:], {_CACHE_LINE})
    elif instruction.opcode == "setmaxnreg":
        _require_constants(decoder, instruction, instruction.operands, range(24, 257, 8))
    elif instruction.opcode == "griddepcontrol":
        _require_constants(decoder, instruction, instruction.operands, None)
    elif instruction.opcode == "createpolicy":
        write(decoder, instruction.operands[0], instruction)
    polling = instruction.opcode == "nanosleep"

    def step(group: Group, _batch: Batch) -> None:
        if polling and group.polling is None:
            group.polling = instruction

    decoder.block.steps.append(step)
