"""cp.async: copies from global to shared memory (PTX ISA 9.7.9.25).

A copy is performed at once and reported to hooks as asynchronous: a check finds reads that are too early.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Instruction, Integer, Negated, Operand, Register
from tooling.simulator.gpu.generic_addresses import SHARED_WINDOW
from tooling.simulator.gpu.hooks import Space
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.requests import MemoryRequest, Width
from tooling.simulator.gpu.stop_texts import COPY_SIZE, OTHER_OPERANDS
from tooling.simulator.numerics.rounding import PRED, U32, U64
from tooling.simulator.nvidia.instructions.bulk_copies import bind_bulk, bind_bulk_reduction
from tooling.simulator.nvidia.instructions.load_store import active, bind_threads, pointer
from tooling.simulator.nvidia.instructions.mbarriers import BARRIER, Barriers
from tooling.simulator.nvidia.instructions.tensor_copies import bind_tensor
from tooling.simulator.nvidia.lowering.binders import binds
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.nvidia.lowering.predicates import guard
from tooling.simulator.nvidia.ptx.forms import has_form
from tooling.simulator.program.program import Batch

Array = NDArray[Any]


@binds("cp")
def _copy(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    """All forms of `cp`: bulk and tensor copies, groups, mbarrier arrivals, and `cp.async` itself."""
    modifiers = instruction.modifiers
    if modifiers[:3] == ("reduce", "async", "bulk"):
        (bind_tensor if "tensor" in modifiers else bind_bulk_reduction)(decoder, instruction)
        return
    if modifiers[:1] != ("async",):
        raise decoder.unknown(instruction)
    if modifiers[1:2] == ("bulk",):
        bind_bulk(decoder, instruction)
        return
    if not has_form("cp.async", modifiers[1:]):
        raise decoder.unknown(instruction)
    if modifiers[1] in ("wait_all", "wait_group", "commit_group"):
        _copy_wait(decoder, instruction)
        return
    if modifiers[1] == "mbarrier":
        _arrive_when_copied(decoder, instruction)
        return
    destination, source, size, *rest = instruction.operands
    if "L2::cache_hint" in modifiers and rest:
        decoder.value(rest.pop(), U64, instruction)  # a cache policy changes no result
    elif "L2::cache_hint" in modifiers:
        raise decoder.unknown(instruction)
    if not isinstance(size, Integer) or len(rest) > 1:
        raise decoder.unknown(instruction)
    if size.value not in ((16,) if modifiers[1] == "cg" else (4, 8, 16)):
        raise decoder.unknown(instruction, COPY_SIZE.of(bytes=size.value))
    to = pointer(decoder, destination, instruction)
    origin = pointer(decoder, source, instruction, "global")
    guarding = guard(decoder, instruction)
    count = max(1, size.value // 4)
    width = Width(4, count)
    wanted = _source_bytes(decoder, instruction, rest[0], size.value) if rest else None

    def step(group: Group, batch: Batch) -> None:
        some, mask, lanes = active(group, guarding, batch.size)
        if not some:
            return
        request = MemoryRequest(group, instruction, width, lanes, asynchronous=True)

        def active_values(values: Array) -> Array:
            return values if mask is None or len(values) == 1 else values[mask]

        target, start = active_values(to.of(group)), active_values(origin.of(group))
        if wanted is None:
            values = batch.spaces.load(Space.GLOBAL, request, start)
        else:
            values = _load_zero_filled(batch, request, start, active_values(wanted(group)))
        request.run = None
        batch.spaces.store(Space.SHARED, request, target, values)

    decoder.block.steps.append(step)


def _arrive_when_copied(decoder: Decoder, instruction: Instruction) -> None:
    """cp.async.mbarrier.arrive (PTX ISA 9.7.13.15.16): the arrival follows when all copies of the thread are
    complete, which is at once. For the checks the copies end when the phase has been waited for.

    Without `.noinc` the pending count is first incremented, so that the arrival leaves it unchanged.
    """
    (barrier,) = instruction.operands
    at = pointer(decoder, barrier, instruction)
    action = "arrive" if "noinc" in instruction.modifiers else "arrive_counted"
    window = np.uint64(0 if any(m.startswith("shared") for m in instruction.modifiers) else SHARED_WINDOW)
    guarding = guard(decoder, instruction)

    def step(group: Group, batch: Batch) -> None:
        some, mask, _ = active(group, guarding, batch.size)
        if not some:
            return
        chosen = np.arange(group.count) if mask is None else np.flatnonzero(mask)
        lanes = group.indices(batch.size)[chosen]
        where = np.broadcast_to(at.of(group), group.count)[chosen] - window
        barriers = Barriers.of(batch, MemoryRequest(group, instruction, BARRIER, lanes), where)
        for hook in batch.hooks.async_arrive:
            hook.async_arrive(barriers.threads, barriers.blocks, barriers.offsets, instruction)
        barriers.count(batch, action, np.ones(len(lanes), U32))

    decoder.block.steps.append(step)


def _source_bytes(
    decoder: Decoder, instruction: Instruction, operand: Operand, size: int
) -> Callable[[Group], Array]:
    """The number of source bytes to copy: the src-size operand, or 0 where ignore-src is true."""
    inner = operand.operand if isinstance(operand, Negated) else operand
    if not isinstance(inner, Register) or decoder.width(inner.name) != PRED:
        slot = decoder.value(operand, U32, instruction)
        return lambda group: group.get(slot).view(U32)
    ignored = decoder.value(inner, PRED, instruction)
    negated = isinstance(operand, Negated)
    return lambda group: np.where(group.get(ignored) != negated, U32.type(0), U32.type(size))


def _load_zero_filled(batch: Batch, request: MemoryRequest, start: Array, wanted: Array) -> list[Array]:
    """Load the first `wanted` bytes of each lane; the rest is zero."""
    total = request.count
    start, wanted = np.broadcast_to(start, total), np.broadcast_to(wanted, total)
    values = [np.zeros(total, U32) for _ in range(request.width.count)]

    def load(lanes: Array, offset: int, size: int) -> Array:
        piece = request.only(lanes, batch.size)
        piece.width = Width(size, 1)
        read: list[Array] = batch.spaces.load(Space.GLOBAL, piece, start[lanes] + np.uint64(offset))
        return read[0].astype(U32)

    for k, value in enumerate(values):
        whole = np.flatnonzero(wanted >= 4 * (k + 1))
        if len(whole):
            value[whole] = load(whole, 4 * k, 4)
        for byte in range(4 * k, 4 * k + 3):
            some = np.flatnonzero((wanted > byte) & (wanted < 4 * (k + 1)))
            if len(some):
                value[some] |= load(some, byte, 1) << U32.type(8 * (byte - 4 * k))
    return values


def _copy_wait(decoder: Decoder, instruction: Instruction) -> None:
    what = instruction.modifiers[1]
    pending: int | None = None
    if what == "wait_group":
        (operand,) = instruction.operands
        if not isinstance(operand, Integer):
            raise decoder.unknown(instruction)
        pending = operand.value
    elif instruction.operands:
        raise decoder.unknown(instruction, OTHER_OPERANDS)

    def notify(batch: Batch, threads: Array) -> None:
        if what == "commit_group":
            for hook in batch.hooks.async_commit:
                hook.async_commit(threads, instruction)
        else:
            for hook in batch.hooks.async_wait:
                hook.async_wait(threads, pending, instruction)

    bind_threads(decoder, instruction, notify)
