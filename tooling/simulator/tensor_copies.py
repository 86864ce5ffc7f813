"""cp.async.bulk.tensor: boxes of a tensor between global and shared memory (PTX ISA 9.7.9.27).

Like the other bulk copies they are performed at once, as accesses of the thread that asks for them, and
counted off the mbarrier.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.atomics import Atomic, update_at
from tooling.simulator.decode import Decoder
from tooling.simulator.guards import guard
from tooling.simulator.hooks import Space
from tooling.simulator.lanes import Group
from tooling.simulator.launch import FaultKind, KernelFault
from tooling.simulator.mbarriers import BARRIER, change_at
from tooling.simulator.memory_access import Pointer, active, pointer
from tooling.simulator.memory_requests import Request, Width
from tooling.simulator.numerics import S32, U32, U64
from tooling.simulator.ptx_model import Address, Instruction, Operand
from tooling.simulator.record import Record
from tooling.simulator.semantics import DTYPES
from tooling.simulator.stop_texts import NO_TENSOR_MAP, NOT_SO_MANY_COORDINATES
from tooling.simulator.tensor_maps import BYTES, TensorMap
from tooling.simulator.windows import CLUSTER_SHIFT

Array = NDArray[Any]

_DIMENSIONS = {f"{rank}d": rank for rank in range(1, 6)}
_REDUCTIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")
_COUNTED = "mbarrier::complete_tx::bytes"


class Box(Record, frozen=False):
    """The operand `[map, {coordinates}]`: slots of the map's address and of the coordinates."""

    map: Pointer
    coordinates: tuple[int, ...]


def _box(decoder: Decoder, operand: Operand, instruction: Instruction, rank: int) -> Box:
    if not isinstance(operand, Address) or len(operand.coordinates) != rank:
        raise decoder.unknown(instruction, NOT_SO_MANY_COORDINATES.filled(rank=rank))
    at = pointer(decoder, Address(operand.base, operand.offset), instruction)
    return Box(at, tuple(decoder.value(x, S32, instruction) for x in operand.coordinates))


def bind_tensor(decoder: Decoder, instruction: Instruction) -> None:
    """`cp.async.bulk[.prefetch].tensor` and `cp.reduce.async.bulk.tensor`, in tiles.

    Raises:
        PtxError: another form: `im2col`, or a mode of later GPUs.
    """
    modifiers = list(instruction.modifiers)
    reduction = next((m for m in modifiers if m in _REDUCTIONS), "") if modifiers[0] == "reduce" else ""
    rank = next((_DIMENSIONS[m] for m in modifiers if m in _DIMENSIONS), 0)
    words = {"async", "bulk", "tensor", "tile", "reduce", reduction, f"{rank}d", "L2::cache_hint"}
    form = [m for m in modifiers if m not in words]
    operands = list(instruction.operands)
    if "L2::cache_hint" in modifiers:
        operands.pop()
    if not rank or (modifiers[0] == "reduce") != bool(reduction):
        raise decoder.unknown(instruction)
    if form == ["prefetch", "L2", "global"] and len(operands) == 1:
        _box(decoder, operands[0], instruction, rank)
        return
    if form[:1] in (["shared::cluster"], ["shared::cta"]) and form[1:3] == ["global", _COUNTED]:
        many = form[3:] == ["multicast::cluster"]
        if len(operands) == 3 + many and (many or len(form) == 3) and not reduction:
            _bind_load(decoder, instruction, operands, rank)
            return
    if form == ["global", "shared::cta", "bulk_group"] and len(operands) == 2:
        _bind_store(decoder, instruction, operands, rank, reduction)
        return
    raise decoder.unknown(instruction)


def _bind_load(decoder: Decoder, instruction: Instruction, operands: list[Operand], rank: int) -> None:
    to = pointer(decoder, operands[0], instruction)
    box = _box(decoder, operands[1], instruction, rank)
    barrier = pointer(decoder, operands[2], instruction)
    blocks = decoder.value(operands[3], U32, instruction) if len(operands) > 3 else None
    guarding = guard(decoder, instruction)

    def step(group: Group, batch: Any) -> None:
        for lane, position, tensor, start in _boxes(group, batch, guarding, box, instruction):
            addresses, inside = tensor.addresses(start)
            chosen = np.flatnonzero(inside)
            width = Width(tensor.element_bytes, 1)
            unsigned = np.dtype(f"u{tensor.element_bytes}")
            values = np.full(len(addresses), tensor.fill, unsigned)
            if len(chosen):
                request = Request(group, instruction, width, np.full(len(chosen), lane))
                (values[chosen],) = batch.spaces.load(Space.GLOBAL, request, addresses[chosen].astype(U64))
            at, where = _at(group, to, position), _at(group, barrier, position)
            for target, counted in _targets(group, blocks, position, at, where):
                mover = np.full(len(values), lane)
                places = tensor.places(target).astype(U64)
                batch.spaces.store(Space.SHARED, Request(group, instruction, width, mover), places, [values])
                one = Request(group, instruction, BARRIER, np.array([lane]))
                size = np.array([tensor.bytes], U32)
                change_at(batch, one, np.array([counted], U64), "complete_tx", size)

    decoder.block.steps.append(step)


def _targets(
    group: Group, blocks: int | None, position: int, at: int, where: int
) -> Iterator[tuple[int, int]]:
    """Shared addresses of the box and of the mbarrier in each block that gets the box."""
    if blocks is None:
        yield at, where
        return
    mask = int(_one(group.get(blocks), position))
    low = (1 << CLUSTER_SHIFT) - 1
    for rank in range(16):
        if mask >> rank & 1:
            window = (rank + 1) << CLUSTER_SHIFT
            yield window | at & low, window | where & low


def _bind_store(
    decoder: Decoder, instruction: Instruction, operands: list[Operand], rank: int, reduction: str
) -> None:
    box = _box(decoder, operands[0], instruction, rank)
    origin = pointer(decoder, operands[1], instruction)
    guarding = guard(decoder, instruction)

    def step(group: Group, batch: Any) -> None:
        for lane, position, tensor, start in _boxes(group, batch, guarding, box, instruction):
            addresses, inside = tensor.addresses(start)
            chosen = np.flatnonzero(inside)
            if not len(chosen):
                continue
            width = Width(tensor.element_bytes, 1)
            mover = np.full(len(chosen), lane)
            places = tensor.places(_at(group, origin, position))[chosen].astype(U64)
            values = batch.spaces.load(Space.SHARED, Request(group, instruction, width, mover), places)
            request = Request(group, instruction, width, mover)
            targets = addresses[chosen].astype(U64)
            if reduction:
                dtype = DTYPES[tensor.kind]
                atomic = Atomic(reduction, dtype, False, tensor.kind)
                update_at(
                    batch, Space.GLOBAL, request, addresses[chosen].astype(U64), atomic=atomic, values=values
                )
            else:
                batch.spaces.store(Space.GLOBAL, request, targets, values)

    decoder.block.steps.append(step)


def _boxes(
    group: Group, batch: Any, guarding: tuple[int, bool] | None, box: Box, instruction: Instruction
) -> Iterator[tuple[int, int, TensorMap, tuple[int, ...]]]:
    """Per active lane: its number, its position in the group, the map, and the coordinates."""
    some, mask, _ = active(group, guarding, batch.size)
    if not some:
        return
    lanes = group.indices(batch.size)
    for position in (np.arange(group.count) if mask is None else np.flatnonzero(mask)).tolist():
        address = _at(group, box.map, position)
        thread = int(batch.spaces.threads[lanes[position]])
        tensor = _map_at(batch, address, instruction, thread)
        start = tuple(int(_one(group.get(slot).view(S32), position)) for slot in box.coordinates)
        yield int(lanes[position]), position, tensor, start


def _map_at(batch: Any, address: int, instruction: Instruction, thread: int) -> TensorMap:
    offset = address - int(batch.spaces.base)
    content = batch.spaces.global_bytes[offset : offset + BYTES] if offset >= 0 else b""
    tensor = TensorMap.unpack(bytes(content)) if len(content) == BYTES else None
    if tensor is None:
        raise KernelFault(
            FaultKind.ILLEGAL_ADDRESS,
            NO_TENSOR_MAP.filled(address=address),
            thread=thread,
            address=address,
            instruction=instruction,
        )
    return tensor


def _at(group: Group, at: Pointer, position: int) -> int:
    return int(_one(at.of(group), position))


def _one(values: Array, position: int) -> Any:
    return values[0] if len(values) == 1 else values[position]
