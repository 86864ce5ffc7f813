"""cp.async.bulk: one thread copies any number of bytes (PTX ISA 9.7.9.25.5).

A copy is a sequence of 16-byte accesses, of which checks are notified at once; `engine.transfers` decides
when it completes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Instruction, Integer
from tooling.simulator.gpu.hooks import Space
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.requests import MemoryRequest, Width
from tooling.simulator.numerics.rounding import U16, U32, U64
from tooling.simulator.nvidia.instructions.atomics import Atomic, update_at
from tooling.simulator.nvidia.instructions.load_store import Pointer, active, bind_threads, pointer
from tooling.simulator.nvidia.instructions.mbarriers import Barriers
from tooling.simulator.nvidia.instructions.tensor_copies import bind_tensor, destinations
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.nvidia.lowering.predicates import guard
from tooling.simulator.nvidia.ptx.modifiers import BULK, BULK_REDUCTION, in_order
from tooling.simulator.nvidia.semantics.registry import DTYPES
from tooling.simulator.program.program import Batch

Array = NDArray[Any]
_PIECE = Width(4, 4)
_MAX_BYTES = 1 << 20
"""Bytes of a copy that are simulated: more than any block's shared memory, so the rest is out of bounds."""
_ORDERED = ("s32", "u32", "s64", "u64", "f16", "bf16")
_REDUCTIONS: dict[str, tuple[str, ...]] = {
    "and": ("b32", "b64"), "or": ("b32", "b64"), "xor": ("b32", "b64"),
    "add": ("u32", "s32", "u64", "f32", "f64", "f16", "bf16"),
    "inc": ("u32",), "dec": ("u32",), "min": _ORDERED, "max": _ORDERED,
}  # fmt: skip
"""The types of each reduction (PTX ISA 9.7.9.25.5.3)."""
_SPACES = {
    "global": Space.GLOBAL,
    "shared::cta": Space.SHARED,
    "shared::cluster": Space.SHARED,
}


def bind_bulk(decoder: Decoder, instruction: Instruction) -> None:
    """`cp.async.bulk.dst.src.completion [to], [from], size {, [mbarrier]}`, `commit_group`, `wait_group`.

    Raises:
        PtxError: another form.
    """
    if "tensor" in instruction.modifiers:
        bind_tensor(decoder, instruction)
        return
    modifiers = instruction.modifiers[2:]
    if modifiers in (("prefetch", "L2", "global"), ("prefetch", "L2", "global", "L2::cache_hint")):
        return
    if modifiers in (("commit_group",), ("wait_group",), ("wait_group", "read")):
        _bind_group(decoder, instruction)
        return
    if not in_order(modifiers, BULK) or len(modifiers) < 3:
        raise decoder.unknown(instruction)
    spaces = [_SPACES[m] for m in modifiers if m in _SPACES]
    counted = "mbarrier::complete_tx::bytes" in modifiers
    operands = instruction.operands
    if len(spaces) != 2 or spaces[0] is spaces[1] is Space.GLOBAL or counted != (spaces[0] is Space.SHARED):
        raise decoder.unknown(instruction)
    many = "multicast::cluster" in modifiers
    if many and (spaces[1] is not Space.GLOBAL or modifiers[0] != "shared::cluster"):
        raise decoder.unknown(instruction)
    if len(operands) != (4 if counted else 3) + many + ("L2::cache_hint" in modifiers):
        raise decoder.unknown(instruction)
    to, origin = (
        pointer(decoder, operand, instruction, "global" if space is Space.GLOBAL else "shared")
        for operand, space in zip(operands[:2], spaces, strict=True)
    )
    size_slot = decoder.value(operands[2], U32, instruction)
    barrier = pointer(decoder, operands[3], instruction) if counted else None
    blocks = decoder.value(operands[4], U16, instruction) if many else None
    guarding = guard(decoder, instruction)

    def step(group: Group, batch: Batch) -> None:
        for lane, size, start, end, at_barrier, mask in _copies(
            group, batch, guarding, (size_slot, origin, to, barrier, blocks)
        ):
            pieces = _pieces(size)
            mover = np.full(len(pieces), lane)
            values: list[Array] = []
            for target, counted_at in destinations(mask, end, at_barrier):
                key: tuple[int, int] | None = None
                complete_tx: Callable[[], None] | None = None
                if barrier is not None:
                    at = Barriers.one(batch, group, instruction, lane, counted_at)
                    key, complete_tx = at.key, at.complete_tx(batch, size)
                transfer = batch.transfers.of(lane, instruction, key)
                write = None
                if len(pieces):
                    request = MemoryRequest(group, instruction, _PIECE, mover, transfer=transfer)
                    if not values:  # a multicast copy reads its source only once
                        values = batch.spaces.load(spaces[1], request, np.uint64(start) + pieces)
                        request = MemoryRequest(group, instruction, _PIECE, mover, transfer=transfer)
                    write = batch.spaces.later_store(spaces[0], request, np.uint64(target) + pieces, values)
                batch.transfers.begin(transfer, write, complete_tx)

    decoder.block.steps.append(step)


def bind_bulk_reduction(decoder: Decoder, instruction: Instruction) -> None:
    """`cp.reduce.async.bulk.dst.shared::cta.completion.op.type [to], [from], size {, [mbarrier]}`.

    Raises:
        PtxError: another form.
    """
    modifiers, operands = instruction.modifiers[3:], instruction.operands
    counted = "mbarrier::complete_tx::bytes" in modifiers
    name = next((m for m in modifiers if m in _REDUCTIONS), "")
    kind = modifiers[-1]
    halves = kind in ("f16", "bf16")
    if (
        not in_order(modifiers, BULK_REDUCTION)
        or kind not in _REDUCTIONS.get(name, ())
        or counted != (modifiers[0] == "shared::cluster")
        or (counted and kind not in ("b32", "s32", "u32") and (name, kind) != ("add", "u64"))
        or (halves and name == "add") != ("noftz" in modifiers)
        or len(operands) != (4 if counted else 3) + ("L2::cache_hint" in modifiers)
    ):
        raise decoder.unknown(instruction)
    space = Space.SHARED if counted else Space.GLOBAL
    to = pointer(decoder, operands[0], instruction, "shared" if counted else "global")
    origin = pointer(decoder, operands[1], instruction, "shared")
    size_slot = decoder.value(operands[2], U32, instruction)
    barrier = pointer(decoder, operands[3], instruction) if counted else None
    guarding = guard(decoder, instruction)
    dtype = DTYPES[kind]
    width = Width(dtype.itemsize, 1)
    atomic = Atomic(name, dtype, returns=False, kind=kind, subnormal=True)

    def step(group: Group, batch: Batch) -> None:
        for lane, size, start, end, at_barrier, _ in _copies(
            group, batch, guarding, (size_slot, origin, to, barrier, None)
        ):
            at = None if barrier is None else Barriers.one(batch, group, instruction, lane, at_barrier)
            transfer = batch.transfers.of(lane, instruction, None if at is None else at.key)
            pieces = np.arange(min(size, _MAX_BYTES) // _PIECE.bytes, dtype=np.uint64) * np.uint64(
                _PIECE.bytes
            )
            if len(pieces):
                mover = np.full(len(pieces), lane)
                request = MemoryRequest(group, instruction, _PIECE, mover, transfer=transfer)
                words = np.stack(batch.spaces.load(Space.SHARED, request, np.uint64(start) + pieces), axis=1)
                values = np.ascontiguousarray(words).reshape(-1).view(dtype)
                addresses = np.uint64(end) + np.arange(len(values), dtype=np.uint64) * np.uint64(width.bytes)
                request = MemoryRequest(
                    group, instruction, width, np.full(len(values), lane), transfer=transfer
                )
                update_at(batch, space, request, addresses, atomic=atomic, values=[values])
            batch.transfers.begin(transfer, None, None if at is None else at.complete_tx(batch, size))

    decoder.block.steps.append(step)


def _pieces(size: int) -> Array:
    """The offsets of the accesses of a copy of this many bytes."""
    return np.arange(min(size, _MAX_BYTES) // _PIECE.bytes, dtype=np.uint64) * np.uint64(_PIECE.bytes)


def _copies(
    group: Group,
    batch: Batch,
    guarding: tuple[int, bool] | None,
    operands: tuple[int, Pointer, Pointer, Pointer | None, int | None],
) -> Iterator[tuple[int, int, int, int, int, int | None]]:
    """For each active lane: its number, the size, the addresses of source, destination and mbarrier, and the
    mask of the destination blocks; `operands` are these, from the size on."""
    some, mask, _ = active(group, guarding, batch.size)
    if not some:
        return
    size, origin, to, barrier, blocks = operands
    total = group.count
    chosen = np.arange(total) if mask is None else np.flatnonzero(mask)
    columns = (
        group.get(size).view(U32),
        origin.of(group),
        to.of(group),
        np.zeros(1, U64) if barrier is None else barrier.of(group),
        np.zeros(1, U64) if blocks is None else group.get(blocks),
    )
    rows = zip(*(np.broadcast_to(values, total)[chosen].tolist() for values in columns), strict=True)
    for lane, row in zip(group.indices(batch.size)[chosen].tolist(), rows, strict=True):
        *rest, ranks = row
        yield (lane, *rest, None if blocks is None else ranks)


def _bind_group(decoder: Decoder, instruction: Instruction) -> None:
    """`cp.async.bulk.commit_group` and `cp.async.bulk.wait_group{.read} N` (PTX ISA 9.7.9.25.5)."""
    waits = "wait_group" in instruction.modifiers
    numbers = [operand.value for operand in instruction.operands if isinstance(operand, Integer)]
    if not len(numbers) == len(instruction.operands) == waits:
        raise decoder.unknown(instruction)

    def act(batch: Batch, threads: Array) -> None:
        if waits:
            batch.transfers.wait(threads, numbers[0], instruction)
        else:
            batch.transfers.commit(threads)

    bind_threads(decoder, instruction, act)
