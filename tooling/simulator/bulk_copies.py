"""cp.async.bulk: one thread copies any number of bytes (PTX ISA 9.7.9.25.5).

The copy is performed at once, as so many accesses of 16 bytes by the thread that asks for it, and its bytes
are then counted off the mbarrier: who waits for that sees them, who does not is in a race.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.decode import Decoder
from tooling.simulator.guards import guard
from tooling.simulator.hooks import Space
from tooling.simulator.lanes import Group
from tooling.simulator.mbarriers import BARRIER, change_at
from tooling.simulator.memory_access import active, pointer
from tooling.simulator.memory_requests import Request, Width
from tooling.simulator.modifiers import BULK, stand_in_order
from tooling.simulator.numerics import U32
from tooling.simulator.ptx_model import Instruction, Integer
from tooling.simulator.tensor_copies import bind_tensor

Array = NDArray[Any]
_PIECE = Width(4, 4)
_SPACES = {
    "global": Space.GLOBAL,
    "shared::cta": Space.SHARED,
    "shared::cluster": Space.SHARED,
}


def bind_bulk(decoder: Decoder, instruction: Instruction) -> None:
    """`cp.async.bulk.dst.src.completion [to], [from], size {, [mbarrier]}`, and its groups.

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
        _check_group(decoder, instruction)
        return
    if not stand_in_order(modifiers, BULK) or len(modifiers) < 3:
        raise decoder.unknown(instruction)
    spaces = [_SPACES[m] for m in modifiers if m in _SPACES]
    counted = "mbarrier::complete_tx::bytes" in modifiers
    operands = instruction.operands
    if len(spaces) != 2 or spaces[0] is spaces[1] is Space.GLOBAL or counted != (spaces[0] is Space.SHARED):
        raise decoder.unknown(instruction)
    if len(operands) != (4 if counted else 3) + ("L2::cache_hint" in modifiers):
        raise decoder.unknown(instruction)
    to, origin = pointer(decoder, operands[0], instruction), pointer(decoder, operands[1], instruction)
    size_slot = decoder.value(operands[2], U32, instruction)
    barrier = pointer(decoder, operands[3], instruction) if counted else None
    guarding = guard(decoder, instruction)

    def step(group: Group, batch: Any) -> None:
        some, mask, _ = active(group, guarding, batch.size)
        if not some:
            return
        total = group.count
        chosen = np.arange(total) if mask is None else np.flatnonzero(mask)
        lanes = group.indices(batch.size)[chosen]
        sizes, starts, ends = (
            np.broadcast_to(values, total)[chosen]
            for values in (group.get(size_slot).view(U32), origin.of(group), to.of(group))
        )
        for lane, size, start, end in zip(lanes, sizes, starts, ends, strict=True):
            pieces = np.arange(int(size) // _PIECE.bytes, dtype=np.uint64) * np.uint64(_PIECE.bytes)
            if len(pieces):
                mover = np.full(len(pieces), lane)
                values = batch.spaces.load(
                    spaces[1], Request(group, instruction, _PIECE, mover), start + pieces
                )
                batch.spaces.store(
                    spaces[0], Request(group, instruction, _PIECE, mover), end + pieces, values
                )
        if barrier is not None:
            where = np.broadcast_to(barrier.of(group), total)[chosen]
            change_at(batch, Request(group, instruction, BARRIER, lanes), where, "complete_tx", sizes)

    decoder.block.steps.append(step)


def _check_group(decoder: Decoder, instruction: Instruction) -> None:
    """Copies are complete when they are made, so that there is nothing to wait for."""
    waits = "wait_group" in instruction.modifiers
    operands = instruction.operands
    if len(operands) != waits or not all(isinstance(operand, Integer) for operand in operands):
        raise decoder.unknown(instruction)
