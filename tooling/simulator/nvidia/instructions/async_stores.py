"""st.async and red.async: to shared memory of a cluster, with completion on an mbarrier (PTX ISA 9.7.9.12).

Like other copies they are performed at once: a thread that waits for the mbarrier sees them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Instruction, Vector
from tooling.simulator.gpu.generic_addresses import SHARED_WINDOW
from tooling.simulator.gpu.hooks import Space
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.requests import MemoryRequest, Width
from tooling.simulator.gpu.stop_texts import WRONG_VECTOR
from tooling.simulator.nvidia.instructions.atomics import Atomic, update_at
from tooling.simulator.nvidia.instructions.load_store import active, pointer, vector_count
from tooling.simulator.nvidia.instructions.mbarriers import BARRIER, Barriers
from tooling.simulator.nvidia.lowering.binders import binds
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.nvidia.lowering.predicates import guard
from tooling.simulator.nvidia.semantics.registry import DTYPES
from tooling.simulator.program.program import Batch

Array = NDArray[Any]

_ASYNC_KINDS: dict[str, tuple[str, ...]] = {
    "add": ("u32", "s32", "u64", "s64"), "min": ("u32", "s32"), "max": ("u32", "s32"),
    "and": ("b32",), "or": ("b32",), "xor": ("b32",), "inc": ("u32",), "dec": ("u32",),
}  # fmt: skip
_ASYNC_STORED = ("b32", "b64", "u32", "u64", "s32", "s64", "f32", "f64")


@binds("red.async")
def _async_reduction(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    """`red.async`: an atomic on a block's shared memory; complete-tx on its mbarrier (PTX ISA 9.7.13.7)."""
    *form, name, kind = instruction.modifiers
    allowed = _ASYNC_KINDS.get(name, ())
    operands = instruction.operands
    window = _window(form)
    if not _is_async(form) or kind not in allowed or len(operands) != 3:
        raise decoder.unknown(instruction)
    at, barrier = (pointer(decoder, operands[k], instruction) for k in (0, 2))
    dtype = DTYPES[kind]
    source = decoder.value(operands[1], dtype, instruction)
    guarding = guard(decoder, instruction)
    atomic = Atomic(name, dtype, False, kind)

    def step(group: Group, batch: Batch) -> None:
        lanes, (to, where, value) = _active_values(
            group,
            batch,
            guarding,
            (at.of(group) - window, barrier.of(group) - window, group.get(source).view(dtype)),
        )
        if not len(lanes):
            return
        request = MemoryRequest(group, instruction, Width(dtype.itemsize, 1), lanes)
        update_at(batch, Space.SHARED, request, to, atomic=atomic, values=[value])
        done = np.full(len(lanes), dtype.itemsize, np.uint32)
        barriers = Barriers.of(batch, MemoryRequest(group, instruction, BARRIER, lanes), where)
        barriers.count(batch, "complete_tx", done)

    decoder.block.steps.append(step)


@binds("st.async")
def _async_store(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    """`st.async`: a store to a block's shared memory; complete-tx on its mbarrier (PTX ISA 9.7.9.12)."""
    count = vector_count(instruction)
    form = [m for m in instruction.modifiers[:-1] if m not in ("weak", "v2", "v4")]
    kind = instruction.modifiers[-1]
    operands = instruction.operands
    window = _window(form)
    if not _is_async(["relaxed", "cluster", *form]) or kind not in _ASYNC_STORED or len(operands) != 3:
        raise decoder.unknown(instruction)
    at, barrier = (pointer(decoder, operands[k], instruction) for k in (0, 2))
    dtype = np.dtype(f"u{DTYPES[kind].itemsize}")
    given = operands[1].elements if isinstance(operands[1], Vector) else (operands[1],)
    if len(given) != count:
        raise decoder.unknown(instruction, WRONG_VECTOR)
    sources = [decoder.value(operand, DTYPES[kind], instruction) for operand in given]
    guarding = guard(decoder, instruction)
    width = Width(dtype.itemsize, count)

    def step(group: Group, batch: Batch) -> None:
        all_values = [group.get(slot).view(dtype) for slot in sources]
        lanes, (to, where, *values) = _active_values(
            group, batch, guarding, (at.of(group) - window, barrier.of(group) - window, *all_values)
        )
        if not len(lanes):
            return
        batch.spaces.store(Space.SHARED, MemoryRequest(group, instruction, width, lanes), to, values)
        done = np.full(len(lanes), width.bytes, np.uint32)
        barriers = Barriers.of(batch, MemoryRequest(group, instruction, BARRIER, lanes), where)
        barriers.count(batch, "complete_tx", done)

    decoder.block.steps.append(step)


def _is_async(form: list[str]) -> bool:
    required = ["relaxed", "cluster", "async", "shared::cluster", "mbarrier::complete_tx::bytes"]
    return sorted({*form, "shared::cluster"}) == sorted(required) and len(set(form)) == len(form)


def _window(form: list[str]) -> np.uint64:
    """Where the addresses of shared memory begin: without a state space they are generic."""
    return np.uint64(0 if "shared::cluster" in form else SHARED_WINDOW)


def _active_values(
    group: Group, batch: Batch, guarding: tuple[int, bool] | None, values: Iterable[Array]
) -> tuple[Array, list[Array]]:
    """The numbers of the active lanes, and their values, one entry per lane."""
    some, mask, lanes = active(group, guarding, batch.size)
    if not some:
        return np.zeros(0, np.intp), [value[:0] for value in values]
    chosen = group.indices(batch.size) if lanes is None else lanes
    return chosen, [
        np.broadcast_to(value if mask is None or len(value) == 1 else value[mask], len(chosen))
        for value in values
    ]
