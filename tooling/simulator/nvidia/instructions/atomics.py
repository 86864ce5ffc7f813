"""atom and red (PTX ISA 9.7.13.5, 9.7.13.6): lanes perform their operations in order of lane number."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Instruction, Operand, Register, Vector
from tooling.simulator.gpu.hooks import Space
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.requests import MemoryRequest, Width
from tooling.simulator.numerics.rounding import canonical32, flush32
from tooling.simulator.nvidia.instructions.load_store import (
    active,
    for_spaces,
    pointer,
    space_of,
    vector_count,
)
from tooling.simulator.nvidia.lowering.binders import assign, binds, write
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.nvidia.lowering.predicates import guard
from tooling.simulator.nvidia.ptx.modifiers import ATOMIC, in_order
from tooling.simulator.nvidia.semantics.registry import DTYPES
from tooling.simulator.nvidia.semantics.tables import lookup
from tooling.simulator.program.atomics import Update, in_lane_order, update_memory
from tooling.simulator.program.program import Batch

Array = NDArray[Any]


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
    """In global memory subnormal inputs and results are flushed to zero (PTX ISA 9.7.13.5)."""
    return canonical32(flush32(flush32(old) + flush32(value)))


def _add_f64(old: Array, value: Array, _second: Array | None) -> Array:
    """A NaN operand is returned unchanged, signalling or not."""
    total = old + value
    total = np.where(np.isnan(old), old, total)
    return np.where(np.isnan(value), value, total)


def _on_halves(name: str, form: str) -> Update:
    operation = lookup(name, (form,))
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
_WIDE = "b128"
_WIDE_TYPE = np.dtype("V16")
_WHOLE = ("u32", "s32", "u64", "s64")
_KINDS: dict[str, tuple[str, ...]] = {
    "add": ("u32", "s32", "u64", "f32", "f64", "f16", "bf16", "f16x2", "bf16x2"),
    "min": _WHOLE, "max": _WHOLE,
    "and": _BITS, "or": _BITS, "xor": _BITS,
    "exch": (*_BITS, _WIDE), "cas": ("b16", *_BITS, _WIDE),
    "inc": ("u32",), "dec": ("u32",),
}  # fmt: skip
"""The types of each operation (PTX ISA 9.7.13.5)."""

_HALVES = ("f16", "bf16", "f16x2", "bf16x2")
_VECTORS: dict[str, tuple[str, ...]] = {"add": ("f32", *_HALVES), "min": _HALVES, "max": _HALVES}
"""The types of vector operations, which are one atomic per element (global memory only)."""
_MAX_BYTES = 16

_TINY = 2.0**-100
"""Sums of terms of at least this magnitude are never subnormal, even after cancellation."""


class Atomic(Struct, frozen=True):
    """One kind of atomic operation.

    Attributes:
        name: of the operation; dtype: type that it computes in; kind: PTX type.
        returns: whether the old value is needed.
        subnormal: f32 sums in global memory keep subnormal numbers, which `atom` flushes to zero.
    """

    name: str
    dtype: np.dtype[Any]
    returns: bool
    kind: str
    subnormal: bool = False

    def _update(self, space: Space) -> Update:
        if self.kind in _HALVES and self.name in _VECTORS:
            return _on_halves(self.name, self.kind)
        if self.name != "add" or (self.dtype.kind in "iu" and self.kind[0] in "us"):
            return _UPDATES[self.name]
        if self.kind == "f32":
            return _add_f32_flushing if space is Space.GLOBAL and not self.subnormal else _add_f32
        return _add_f64

    def perform(self, space: Space, view: Array, index: Array, value: Array, second: Array | None) -> Array:
        """Update `view[index]` lane by lane and return the old value that each lane read.

        Args:
            view: all memory of the space, as an array of `dtype`.
            index: (n,) indices into `view`; value, second: (n,) operands.
        """
        ufunc = _UFUNCS.get(self.name) if self.kind[0] in "usb" and self.kind not in _HALVES else None
        if self.kind == "f32" and self.name == "add" and len(index) > 1:
            finite = np.isfinite(value).all() and np.isfinite(view[index]).all()
            normal = np.abs(value[value != 0]).min(initial=1.0) >= _TINY
            ufunc = np.add if finite and (normal or space is Space.SHARED) else None
        return in_lane_order(
            view, index, value, second, self._update(space), ufunc=ufunc, returns=self.returns
        )


def update_at(
    batch: Batch, space: Space, request: MemoryRequest, address: Array, *, atomic: Atomic, values: list[Array]
) -> list[Array]:
    """Update memory in one space; returns the old values, one array per element of a vector.

    Args:
        address: (n,) uint64; values: one operand per element, or the two of a compare-and-swap, (n,) each.
    """
    pairs = atomic.name == "cas"
    return update_memory(
        batch,
        space,
        request,
        address,
        dtype=atomic.dtype,
        values=values[-1:] if pairs else values,
        perform=lambda view, at, value, kept: atomic.perform(
            space,
            view,
            at,
            values[0] if pairs and kept is None else values[0][kept] if pairs else value,
            value if pairs else None,
        ),
    )


@binds("atom", "red")
def _atomic(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    kind = instruction.modifiers[-1]
    name = next((m for m in instruction.modifiers if m in _UPDATES), "")
    count = vector_count(instruction)
    known = _VECTORS if count > 1 else _KINDS
    if not name or kind not in known.get(name, ()) or not in_order(instruction.modifiers, ATOMIC):
        raise decoder.unknown(instruction)
    returns = instruction.opcode == "atom"
    operands: list[Operand] = list(instruction.operands)
    if "L2::cache_hint" in instruction.modifiers:
        operands.pop()
    destination = operands.pop(0) if returns else None
    returns = returns and not (isinstance(destination, Register) and destination.name == "_")
    state_space, space = space_of(instruction)
    wide = kind == _WIDE
    dtype = DTYPES["b64" if wide else kind]
    if count > 1 and (space is Space.SHARED or count * dtype.itemsize > _MAX_BYTES):
        raise decoder.unknown(instruction)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    at = pointer(decoder, operands[0], instruction, state_space)
    given = [element for operand in operands[1:] for element in _elements(operand)]
    wanted = _elements(destination) if returns else ()
    parts = 2 if wide else count
    if len(given) != (2 if name == "cas" else 1) * parts or len(wanted) not in (0, parts):
        raise decoder.unknown(instruction)
    sources = [decoder.value(operand, dtype, instruction) for operand in given]
    guarding = guard(decoder, instruction)
    targets = [write(decoder, element, instruction) for element in wanted]
    decoder.block.may_wait |= bool(targets) and space in (Space.GLOBAL, None)
    width = Width(dtype.itemsize, parts)
    atomic = Atomic(name, _WIDE_TYPE if wide else dtype, returns, kind)

    def step(group: Group, batch: Batch) -> None:
        some, mask, lanes = active(group, guarding, batch.size)
        if not some:
            return
        group.polling = instruction
        batch.sync_count += 1
        total = group.count if lanes is None else len(lanes)

        def spread(values: Array) -> Array:
            return np.broadcast_to(values if mask is None or len(values) == 1 else values[mask], total)

        address = spread(at.of(group))
        values = [spread(group.get(slot).view(dtype)) for slot in sources]
        if wide:
            values = [_joined(*values[at : at + 2]) for at in range(0, len(values), 2)]
        found = [np.zeros(total, atomic.dtype) for _ in range(count)]

        def update(where: Space, request: MemoryRequest, inside: Array, which: Array | None) -> None:
            operands = values if which is None else [value[which] for value in values]
            old_values = update_at(batch, where, request, inside, atomic=atomic, values=operands)
            for result, old in zip(found, old_values, strict=True):
                result[slice(None) if which is None else which] = old

        for_spaces(batch, space, MemoryRequest(group, instruction, width, lanes), address, update)
        if wide:
            found = list(found[0].view(dtype).reshape(-1, 2).T)
        for target, old in zip(targets, found, strict=False):
            result = old
            if mask is not None:
                result = np.zeros(group.count, dtype)
                result[mask] = old
            assign(group, target, result.view(unsigned), mask, unsigned)

    decoder.block.steps.append(step)


def _joined(low: Array, high: Array) -> Array:
    """(n,) numbers of 128 bits."""
    return np.stack([low, high], axis=1).view(_WIDE_TYPE)[:, 0]


def _elements(operand: Operand | None) -> tuple[Operand, ...]:
    """The elements of a vector operand, or the operand itself; empty for None."""
    if isinstance(operand, Vector):
        return operand.elements
    return () if operand is None else (operand,)
