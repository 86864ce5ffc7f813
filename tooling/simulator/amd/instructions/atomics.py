"""Atomic operations of FLAT, GLOBAL and DS instructions: lanes perform theirs in order."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from tooling.simulator.amd.decoding.instruction import MachineInstruction
from tooling.simulator.amd.decoding.memory_forms import ds_form
from tooling.simulator.amd.decoding.operands import vector
from tooling.simulator.amd.instructions.binders import binds, step_of
from tooling.simulator.amd.instructions.buffers import BufferAddresses, buffer_addresses, within_bounds
from tooling.simulator.amd.instructions.data_share import at_offset
from tooling.simulator.amd.instructions.memory import Lanes, flat_address, in_spaces
from tooling.simulator.amd.lowering.binder import Lowering
from tooling.simulator.amd.lowering.registers import combined, halves
from tooling.simulator.amd.lowering.waves import ACTIVE, WaveGroup
from tooling.simulator.amd.semantics.bytes_and_pairs import to_bfloat16
from tooling.simulator.amd.semantics.floats import maximum, minimum, quieted
from tooling.simulator.gpu.hooks import Space
from tooling.simulator.gpu.requests import MemoryRequest, Width
from tooling.simulator.numerics.rounding import F16, F32, U16, U32
from tooling.simulator.program.atomics import Update, in_lane_order, update_memory
from tooling.simulator.program.program import Batch

Array = NDArray[Any]

_NAME = re.compile(
    r"(?:(?:flat|global|buffer)_atomic|ds)_"
    r"(swap|wrxchg|storexchg|cmpswap|cmpst|cmpstore|add|sub|rsub|csub|smin|umin|smax|umax|min|max|and|or|xor"
    r"|inc|dec|mskor|wrap|pk_add)"
    r"(?:_rtn)?(?:_(x2|[a-z]+\d+))?(?:_rtn)?"
)

_UFUNCS: dict[str, np.ufunc] = {
    "add": np.add, "sub": np.subtract, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip
_FLOATS: dict[str, Any] = {"add": quieted(np.add), "min": minimum, "max": maximum}


def _increment(old: Array, limit: Array, _second: Array | None) -> Array:
    return np.asarray(np.where(old >= limit, old.dtype.type(0), old + old.dtype.type(1)))


def _decrement(old: Array, limit: Array, _second: Array | None) -> Array:
    return np.where((old == 0) | (old > limit), limit, old - old.dtype.type(1))


def _compare_and_swap(old: Array, new: Array, compare: Array | None) -> Array:
    assert compare is not None
    return np.where(old == compare, new, old)


def _subtract_limited(old: Array, value: Array, _second: Array | None) -> Array:
    """CSUB: not below 0."""
    return np.where(old < value, old.dtype.type(0), old - value)


def _wrap(old: Array, value: Array, other: Array | None) -> Array:
    assert other is not None
    return np.where(old >= value, old - value, old + other)


def _mask_or(old: Array, mask: Array, bits: Array | None) -> Array:
    assert bits is not None
    return np.asarray(old & ~mask | bits)


def _packed_add(kind: str) -> Update:
    """The sums of two halves."""

    def add(old: Array, value: Array, _second: Array | None) -> Array:
        found = []
        for by in (0, 16):
            a, b = ((each >> U32.type(by)).astype(U16) for each in (old, value))
            if kind == "f16":
                found.append(_FLOATS["add"](a.view(F16), b.view(F16)).view(U16).astype(U32))
            else:
                wide = ((each.astype(U32) << U32.type(16)).view(F32) for each in (a, b))
                found.append(to_bfloat16(np.add(*wide)).astype(U32))
        return np.asarray(found[0] | found[1] << U32.type(16))

    return add


_UPDATES: dict[str, Update] = {
    "inc": _increment, "dec": _decrement, "cmpswap": _compare_and_swap, "cmpst": _compare_and_swap,
    "cmpstore": _compare_and_swap, "wrap": _wrap, "mskor": _mask_or, "csub": _subtract_limited,
    "rsub": lambda old, value, _second: np.asarray(value - old),
}  # fmt: skip
TWO_OPERANDS = ("cmpswap", "wrap", "mskor")
"""The kinds of operations with two operands."""


def _operation(name: str) -> tuple[str, np.dtype[Any], Update, np.ufunc | None] | None:
    """(kind, type, update, the same as a ufunc or None) of an atomic instruction; None for an unknown one."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    kind, suffix = match[1], match[2] or ""
    size = 8 if suffix == "x2" or suffix.endswith("64") else 4
    letter = suffix[0] if suffix and suffix != "x2" else ""
    if kind in ("smin", "smax", "umin", "umax"):
        letter, kind = ("i" if kind[0] == "s" else "u"), kind[1:]
    dtype = np.dtype(f"{letter if letter in ('i', 'f') else 'u'}{size}")
    if kind in ("swap", "wrxchg", "storexchg"):
        return "swap", dtype, lambda _old, value, _second: value, None
    if kind == "pk_add":
        return kind, U32, _packed_add(suffix), None
    if kind in _UPDATES:
        return "cmpswap" if kind.startswith("cmp") else kind, dtype, _UPDATES[kind], None
    if dtype.kind == "f":
        function = _FLOATS.get(kind)
        return None if function is None else (kind, dtype, lambda old, v, _s: function(old, v), None)
    ufunc = _UFUNCS[kind]
    return kind, dtype, lambda old, value, _second: np.asarray(ufunc(old, value)), ufunc


def bind_atomic(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """An atomic operation of FLAT, GLOBAL or DS."""
    operation = _operation(instruction.name)
    if operation is None:
        raise lowering.unsupported(instruction)
    kind, dtype, update, ufunc = operation
    unsigned = np.dtype(f"u{dtype.itemsize}")
    sources = [source.operand for source in instruction.sources]
    buffer: BufferAddresses | None = None
    if instruction.encoding == "DS":
        space: Space | None = Space.SHARED
        (at,) = lowering.of(sources.pop(0))
        lowering.block.reads(at)
        form = ds_form(instruction.name)
        offset = instruction.immediate
        address: Callable[[WaveGroup], Array] = lambda group: at_offset(group.get(at), offset)  # noqa: E731
        slots = [slot for operand in sources[: len(form.data)] for slot in lowering.of(operand)]
        # CMPST has the value to compare with first, CMPSTORE (RDNA 3) the new value.
        compare_first = "cmpstore" not in instruction.name
    elif instruction.encoding == "MUBUF":
        space, buffer = Space.GLOBAL, buffer_addresses(lowering, instruction, dtype.itemsize)
        slots = lowering.of(sources[0])
        compare_first = False
    else:
        space, address = flat_address(lowering, instruction)
        slots = lowering.of(sources[1])
        compare_first = False
    for slot in slots:
        lowering.block.reads(slot)
    lowering.block.reads(ACTIVE)
    targets = lowering.vector_slots(instruction.results[0]) if instruction.results else []
    targets = targets[: dtype.itemsize // 4]
    lowering.block.may_wait |= bool(targets) and space is not Space.SHARED
    words = dtype.itemsize // 4
    width = Width(dtype.itemsize, 1)

    def operand_of(group: WaveGroup, number: int) -> Array:
        registers = [group.get(slot).view(U32) for slot in slots[words * number : words * (number + 1)]]
        return registers[0] if words == 1 else combined(*registers)

    def step(group: WaveGroup, batch: Batch) -> None:
        lanes = Lanes(group)
        if not lanes.count:
            return
        group.polling = instruction
        batch.sync_count += 1

        def spread(values: Array) -> Array:
            return np.broadcast_to(lanes.pick(values), lanes.count)

        first = spread(operand_of(group, 0)).view(dtype)
        value, compare = first, None
        if kind in TWO_OPERANDS:
            second = spread(operand_of(group, 1)).view(dtype)
            swapped = compare_first and kind == "cmpswap"
            value, compare = (second, first) if swapped else (first, second)
        found = np.zeros(lanes.count, dtype)

        def perform(found_in: Space, some: Lanes, inside: Array, which: Array | None) -> None:
            own = value if which is None else value[which]
            other = compare if which is None or compare is None else compare[which]
            request = MemoryRequest(group, instruction, width, some.numbers)

            def act(view: Array, index: Array, values: Array, kept: Array | None) -> Array:
                wanted = other if other is None or kept is None else other[kept]
                return in_lane_order(view, index, values, wanted, update, ufunc=ufunc, returns=bool(targets))

            (old,) = update_memory(
                batch, found_in, request, np.broadcast_to(inside, some.count),
                dtype=dtype, values=[own], perform=act,
            )  # fmt: skip
            found[slice(None) if which is None else which] = old

        if buffer is None:
            in_spaces(space, lanes, spread(address(group)), perform)
        else:
            where, within = buffer(group)
            inner, at, which = within_bounds(lanes, spread(where), lanes.pick(within(0)))
            if inner.count:
                perform(Space.GLOBAL, inner, at, which)
        if targets:
            bits = found.view(unsigned)
            for slot, word in zip(targets, [bits] if words == 1 else halves(bits), strict=True):
                lanes.put(slot, word)

    lowering.block.steps.append(step_of(step))


_EXCHANGE_TWO = re.compile(r"ds_(wrxchg2|storexchg_2addr)")


def _bind_two_exchanges(lowering: Lowering, instruction: MachineInstruction, following: int) -> None:
    """Two exchanges, at two addresses."""
    form = ds_form(instruction.name)
    (result,), (address, *data) = instruction.results, instruction.sources
    count = form.data[0]
    single = instruction.name.replace("xchg2st64", "xchg").replace("xchg2", "xchg")
    single = single.replace("_2addr_stride64", "").replace("_2addr", "")
    for number, value in enumerate(data):
        target = vector(result.index + count * number, count, accumulation=result.kind == "a")
        offset = form.stride * (instruction.immediate >> 8 * number & 255)
        one = replace(instruction, name=single, results=(target,), sources=(address, value), immediate=offset)
        bind_atomic(lowering, one, following)


def bind_atomics(table: dict[int, str]) -> None:
    """Register the atomic operations of an opcode table."""
    for name in table.values():
        if _operation(name) is not None:
            binds(name)(bind_atomic)
        elif _EXCHANGE_TWO.match(name):
            binds(name)(_bind_two_exchanges)
