"""atom and red (PTX ISA 9.7.13.5, 9.7.13.6): lanes take effect in the order of their numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.bindings import assign, binds, guard, write
from tooling.simulator.decode import Decoder
from tooling.simulator.hooks import AccessKind, Space
from tooling.simulator.lanes import Group
from tooling.simulator.memory_access import active, for_spaces, pointer, space_of
from tooling.simulator.modifiers import ATOMIC, stand_in_order
from tooling.simulator.numerics import canonical32, flush32
from tooling.simulator.ptx_model import Instruction, Operand, Register
from tooling.simulator.record import Record
from tooling.simulator.semantics import DTYPES, lookup
from tooling.simulator.spaces import Request, Width

Array = NDArray[Any]
Update = Callable[[Array, Array, "Array | None"], Array]
"""(old, operand, second operand) to new."""


def _increment(old: Array, limit: Array, _second: Array | None) -> Array:
    return np.asarray(np.where(old >= limit, old.dtype.type(0), old + old.dtype.type(1)))


def _decrement(old: Array, limit: Array, _second: Array | None) -> Array:
    return np.where((old == 0) | (old > limit), limit, old - old.dtype.type(1))


def _compare_and_swap(old: Array, compare: Array, new: Array | None) -> Array:
    assert new is not None
    return np.where(old == compare, new, old)


def _plain(ufunc: np.ufunc) -> Update:
    return lambda old, value, _second: np.asarray(ufunc(old, value))


def _add_f32(old: Array, value: Array, _second: Array | None) -> Array:
    return canonical32(old + value)


def _add_f32_flushing(old: Array, value: Array, _second: Array | None) -> Array:
    """In global memory subnormal inputs and results become zero (PTX ISA 9.7.13.5)."""
    return canonical32(flush32(flush32(old) + flush32(value)))


def _add_f64(old: Array, value: Array, _second: Array | None) -> Array:
    """A NaN operand is kept as it is, signalling or not."""
    total = old + value
    total = np.where(np.isnan(old), old, total)
    return np.where(np.isnan(value), value, total)


def _add_half(form: str) -> Update:
    operation = lookup("add", (form,))
    assert operation is not None
    return lambda old, value, _second: operation.function(old, value)


_UFUNCS: dict[str, np.ufunc] = {
    "add": np.add, "min": np.minimum, "max": np.maximum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip

_UPDATES: dict[str, Update] = {
    **{name: _plain(ufunc) for name, ufunc in _UFUNCS.items()},
    "exch": lambda _old, value, _second: value,
    "cas": _compare_and_swap,
    "inc": _increment,
    "dec": _decrement,
}
_BITS = ("b32", "b64")
_WHOLE = ("u32", "s32", "u64", "s64")
_KINDS: dict[str, tuple[str, ...]] = {
    "add": ("u32", "s32", "u64", "f32", "f64", "f16", "bf16", "f16x2", "bf16x2"),
    "min": _WHOLE, "max": _WHOLE,
    "and": _BITS, "or": _BITS, "xor": _BITS,
    "exch": _BITS, "cas": ("b16", *_BITS),
    "inc": ("u32",), "dec": ("u32",),
}  # fmt: skip
"""The types that each operation takes (PTX ISA 9.7.13.5)."""

_TINY = 2.0**-100
"""Sums of terms above this one cannot become subnormal but by cancellation to multiples of its last bit."""


class Atomic(Record):
    """One kind of atomic: its name, the type it computes in, and whether the old value is wanted."""

    name: str
    dtype: np.dtype[Any]
    returns: bool
    kind: str

    def _update(self, space: Space) -> Update:
        if self.name != "add" or (self.dtype.kind in "iu" and self.kind[0] in "us"):
            return _UPDATES[self.name]
        if self.kind == "f32":
            return _add_f32_flushing if space is Space.GLOBAL else _add_f32
        return _add_f64 if self.kind == "f64" else _add_half(self.kind)

    def perform(self, space: Space, view: Array, index: Array, value: Array, second: Array | None) -> Array:
        """Update `view[index]` lane by lane and return what each lane found there.

        Args:
            view: all memory of the space, in the computing type.
            index: (n,) places; value, second: (n,) operands.
        """
        update = self._update(space)
        order = np.argsort(index, kind="stable")
        places = index[order]
        first = np.concatenate([[True], places[1:] != places[:-1]])
        starts = np.flatnonzero(first)
        if len(starts) == len(index):
            old = view[index]
            view[index] = update(old, value, second)
            return old
        ufunc = _UFUNCS.get(self.name) if self.kind[0] in "usb" and self.kind != "bf16x2" else None
        if (
            self.kind == "f32"
            and self.name == "add"
            and np.isfinite(value).all()
            and np.isfinite(view[places[starts]]).all()
        ):
            normal = np.abs(value[value != 0]).min(initial=1.0) >= _TINY
            ufunc = np.add if normal or space is Space.SHARED else None
        if ufunc is not None and not self.returns:
            ufunc.at(view, index, value)
            return view[index]
        lengths = np.diff(np.append(starts, len(index)))
        value, second = value[order], None if second is None else second[order]
        found = np.empty(len(index), self.dtype)
        if ufunc is not None and len(starts) < int(lengths.max()):
            _scan(view, places, starts, lengths, value, found, ufunc)
        else:
            for turn in range(int(lengths.max())):
                lanes = starts[lengths > turn] + turn
                old = view[places[lanes]]
                found[lanes] = old
                view[places[lanes]] = update(old, value[lanes], None if second is None else second[lanes])
        result = np.empty_like(found)
        result[order] = found
        return result


def _scan(*parts: Any) -> None:
    """Few places, many lanes each: a running total per place (sequential, so that rounding is in order)."""
    view, places, starts, lengths, value, found, ufunc = parts
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        place = places[start]
        running = ufunc.accumulate(np.concatenate([view[place : place + 1], value[start : start + length]]))
        found[start : start + length] = running[:-1]
        view[place] = running[-1]


@binds("atom", "red")
def _atomic(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    kind = instruction.modifiers[-1]
    name = next((m for m in instruction.modifiers if m in _UPDATES), "")
    if not name or kind not in _KINDS[name] or not stand_in_order(instruction.modifiers, ATOMIC):
        raise decoder.unknown(instruction)
    returns = instruction.opcode == "atom"
    operands: list[Operand] = list(instruction.operands)
    destination = operands.pop(0) if returns else None
    returns = returns and not (isinstance(destination, Register) and destination.name == "_")
    _, space = space_of(instruction)
    dtype = DTYPES[kind]
    unsigned = np.dtype(f"u{dtype.itemsize}")
    at = pointer(decoder, operands[0], instruction)
    sources = [decoder.value(operand, dtype, instruction) for operand in operands[1:]]
    if len(sources) != (2 if name == "cas" else 1):
        raise decoder.unknown(instruction)
    guarding = guard(decoder, instruction)
    target = write(decoder, destination, instruction) if destination is not None and returns else None
    width = Width(dtype.itemsize, 1)
    atomic = Atomic(name, dtype, returns, kind)

    def step(group: Group, batch: Any) -> None:
        some, mask, lanes = active(group, guarding, batch.size)
        if not some:
            return
        group.polling = instruction
        total = group.count if lanes is None else len(lanes)

        def spread(values: Array) -> Array:
            return np.broadcast_to(values if mask is None or len(values) == 1 else values[mask], total)

        address = spread(at.of(group))
        values = [spread(group.get(slot).view(dtype)) for slot in sources]
        found = np.zeros(total, dtype)

        def one(where: Space, part: Request, inside: Array, which: Array | None) -> None:
            told = values if which is None else [value[which] for value in values]
            old = _perform(batch, where, part, inside, told)
            if which is None:
                found[:] = old
            else:
                found[which] = old

        for_spaces(batch, space, Request(group, instruction, width, lanes), address, one)
        if target is not None:
            result = found
            if mask is not None:
                result = np.zeros(group.count, dtype)
                result[mask] = found
            assign(group, target, result.view(unsigned), mask, unsigned)

    def _perform(batch: Any, where: Space, request: Request, address: Array, values: list[Array]) -> Array:
        spaces = batch.spaces
        kept = None
        told = values[-1].view(unsigned)
        if spaces.observers:
            left_out = spaces.announce(where, AccessKind.ATOMIC, request, address, told)
            if left_out is not None:
                kept = np.flatnonzero(~left_out)
                if not len(kept):
                    return np.zeros(len(address), dtype)
                request = request.only(kept, batch.size)
                values = [value[kept] for value in values]
                address = address[kept]
        offset, _ = spaces.place(where, request, address)
        index = np.broadcast_to(
            (offset >> np.uint64(dtype.itemsize.bit_length() - 1)).view(np.int64), len(address)
        )
        view = spaces.view(where, dtype.itemsize).view(dtype)
        before = view[index] if spaces.watching else None
        old = atomic.perform(where, view, index, values[0], (*values, None)[1])
        if before is not None:
            spaces.changes += view[index].tobytes() != before.tobytes()
        if kept is None:
            return old
        whole = np.zeros(len(told), dtype)
        whole[kept] = old
        return whole

    decoder.block.steps.append(step)
