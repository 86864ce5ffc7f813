"""cp.async.bulk: one thread copies any number of bytes (PTX ISA 9.7.9.25.5).

A copy is a sequence of 16-byte accesses, of which checks are notified at once; `engine.transfers` decides
when it completes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Instruction, Integer
from tooling.simulator.gpu.hooks import Space
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.requests import MemoryRequest, Width
from tooling.simulator.numerics.rounding import U32, U64
from tooling.simulator.nvidia.instructions.load_store import active, bind_threads, pointer
from tooling.simulator.nvidia.instructions.mbarriers import Barriers
from tooling.simulator.nvidia.instructions.tensor_copies import bind_tensor
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.nvidia.lowering.predicates import guard
from tooling.simulator.nvidia.ptx.modifiers import BULK, in_order
from tooling.simulator.program.program import Batch

Array = NDArray[Any]
_PIECE = Width(4, 4)
_MAX_BYTES = 1 << 20
"""Bytes of a copy that are simulated: more than any block's shared memory, so the rest is out of bounds."""
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
    if len(operands) != (4 if counted else 3) + ("L2::cache_hint" in modifiers):
        raise decoder.unknown(instruction)
    to, origin = (
        pointer(decoder, operand, instruction, "global" if space is Space.GLOBAL else "shared")
        for operand, space in zip(operands[:2], spaces, strict=True)
    )
    size_slot = decoder.value(operands[2], U32, instruction)
    barrier = pointer(decoder, operands[3], instruction) if counted else None
    guarding = guard(decoder, instruction)

    def step(group: Group, batch: Batch) -> None:
        some, mask, _ = active(group, guarding, batch.size)
        if not some:
            return
        total = group.count
        chosen = np.arange(total) if mask is None else np.flatnonzero(mask)
        lanes = group.indices(batch.size)[chosen]
        sizes, starts, ends, barriers_at = (
            np.broadcast_to(values, total)[chosen]
            for values in (
                group.get(size_slot).view(U32),
                origin.of(group),
                to.of(group),
                np.zeros(1, U64) if barrier is None else barrier.of(group),
            )
        )
        for lane, size, start, end, at_barrier in zip(lanes, sizes, starts, ends, barriers_at, strict=True):
            count = min(int(size), _MAX_BYTES) // _PIECE.bytes
            pieces = np.arange(count, dtype=np.uint64) * np.uint64(_PIECE.bytes)
            key: tuple[int, int] | None = None
            complete_tx: Callable[[], None] | None = None
            if barrier is not None:
                at = Barriers.one(batch, group, instruction, lane, at_barrier)
                key, complete_tx = at.key, at.complete_tx(batch, int(size))
            transfer = batch.transfers.of(int(lane), instruction, key)
            write = None
            if len(pieces):
                mover = np.full(len(pieces), lane)
                request = MemoryRequest(group, instruction, _PIECE, mover, transfer=transfer)
                values = batch.spaces.load(spaces[1], request, start + pieces)
                request = MemoryRequest(group, instruction, _PIECE, mover, transfer=transfer)
                write = batch.spaces.later_store(spaces[0], request, end + pieces, values)
            batch.transfers.begin(transfer, write, complete_tx)

    decoder.block.steps.append(step)


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
