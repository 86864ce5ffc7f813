"""cp.async.bulk.tensor: copies of boxes (tiled) or pixels (im2col) of a tensor (PTX ISA 9.7.9.27).

As for other bulk copies, the accesses are those of the thread that begins the copy, and checks are notified
of them at once; `engine.transfers` decides when a copy completes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Address, Instruction, Operand, Vector
from tooling.simulator.gpu.generic_addresses import CLUSTER_SHIFT
from tooling.simulator.gpu.hooks import Space, Transfer
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.launch import FaultKind, KernelFault
from tooling.simulator.gpu.requests import MemoryRequest, Width
from tooling.simulator.gpu.stop_texts import (
    BEFORE_THE_PIXELS,
    BEFORE_THE_TENSOR,
    NO_REDUCTION,
    NO_TENSOR_MAP,
    NOT_SO_MANY_COORDINATES,
    NOT_SO_MANY_OFFSETS,
    OTHER_MODE,
    UNEVEN_BOX,
)
from tooling.simulator.numerics.rounding import F32, S32, U16, U32, U64, f32_to_tf32
from tooling.simulator.nvidia.instructions.atomics import Atomic, update_at
from tooling.simulator.nvidia.instructions.load_store import Pointer, active, pointer
from tooling.simulator.nvidia.instructions.mbarriers import Barriers
from tooling.simulator.nvidia.instructions.tensor_maps import BYTES, TensorMap
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.nvidia.lowering.predicates import guard
from tooling.simulator.nvidia.semantics.registry import DTYPES
from tooling.simulator.program.program import Batch
from tooling.text import Text

Array = NDArray[Any]

_DIMENSIONS = {f"{rank}d": rank for rank in range(1, 6)}
_REDUCTIONS: dict[str, tuple[str, ...]] = {
    "add": ("u32", "s32", "u64", "f16", "bf16", "f32", "f64"),
    "min": ("u32", "s32", "u64", "s64", "f16", "bf16"), "max": ("u32", "s32", "u64", "s64", "f16", "bf16"),
    "inc": ("u32",), "dec": ("u32",),
    "and": ("u32", "s32", "u64"), "or": ("u32", "s32", "u64"), "xor": ("u32", "s32", "u64"),
}  # fmt: skip
"""Tensor types of each reduction; an H200 raises a fault for others (PTX ISA 9.7.9.25.4.2)."""
_COUNTED = "mbarrier::complete_tx::bytes"
_WIDTHS = (Width(4, 4), Width(4, 1))
_ALIGNMENT = 16
"""Bytes: the alignment of a box in the innermost dimension that an H200 requires."""


class Box(Struct):
    """The operand `[map, {coordinates}]`: slots of the map's address and of the coordinates.

    `offsets`: slots of the im2col offsets, which are an operand of their own.
    """

    map: Pointer
    coordinates: tuple[int, ...]
    offsets: tuple[int, ...] = ()


def _box(decoder: Decoder, operand: Operand, instruction: Instruction, rank: int) -> Box:
    if not isinstance(operand, Address) or len(operand.coordinates) != rank:
        raise decoder.unknown(instruction, NOT_SO_MANY_COORDINATES.of(rank=rank))
    at = pointer(decoder, Address(operand.base, operand.offset), instruction, "")
    return Box(at, tuple(decoder.value(x, S32, instruction) for x in operand.coordinates))


def bind_tensor(decoder: Decoder, instruction: Instruction) -> None:
    """`cp.async.bulk[.prefetch].tensor` and `cp.reduce.async.bulk.tensor`, tiled; loads also in im2col mode.

    Raises:
        PtxError: another form, such as a store by `im2col_no_offs` or a mode of later GPUs.
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
    is_column = "im2col" in form
    if is_column:
        form.remove("im2col")
    if form == ["prefetch", "L2", "global"] and len(operands) == 1 + is_column:
        _box(decoder, operands[0], instruction, rank)
        return
    if form[:1] in (["shared::cluster"], ["shared::cta"]) and form[1:3] == ["global", _COUNTED]:
        many = form[3:] == ["multicast::cluster"]
        if len(operands) == 3 + is_column + many and (many or len(form) == 3) and not reduction:
            _bind_load(decoder, instruction, operands, rank)
            return
    if form == ["global", "shared::cta", "bulk_group"] and len(operands) == 2 and not is_column:
        _bind_store(decoder, instruction, operands, rank, reduction)
        return
    raise decoder.unknown(instruction)


def _bind_load(decoder: Decoder, instruction: Instruction, operands: list[Operand], rank: int) -> None:
    to = pointer(decoder, operands[0], instruction)
    box = _box(decoder, operands[1], instruction, rank)
    barrier = pointer(decoder, operands[2], instruction)
    rest = operands[3:]
    if "im2col" in instruction.modifiers:
        offsets = rest.pop(0)
        if not isinstance(offsets, Vector) or len(offsets.elements) != rank - 2:
            raise decoder.unknown(instruction, NOT_SO_MANY_OFFSETS.of(count=rank - 2))
        box.offsets = tuple(decoder.value(x, U16, instruction) for x in offsets.elements)
    blocks = decoder.value(rest[0], U32, instruction, any_width=True) if rest else None
    guarding = guard(decoder, instruction)

    def step(group: Group, batch: Batch) -> None:
        for lane, position, tensor, start in _boxes(group, batch, guarding, box, instruction):
            offsets = tuple(int(_one(group.get(slot).view(U16), position)) for slot in box.offsets)
            addresses, inside = tensor.addresses(start, offsets)
            chosen = np.flatnonzero(inside)
            at, where = _at(group, to, position), _at(group, barrier, position)
            values: Array = np.full(len(addresses), tensor.fill, f"u{tensor.element_bytes}")
            mask = None if blocks is None else int(_one(group.get(blocks), position))
            for target, counted in destinations(mask, at, where):
                barriers = Barriers.one(batch, group, instruction, lane, counted)
                transfer = batch.transfers.of(lane, instruction, barriers.key)
                if len(chosen):
                    pieces = Pieces.of(addresses[chosen], tensor.element_bytes)
                    request = pieces.request(group, lane, transfer)
                    values[chosen] = pieces.join(
                        batch.spaces.load(Space.GLOBAL, request, pieces.starts), tensor.element_bytes
                    )
                    if tensor.rounds:
                        values = f32_to_tf32(values.view(F32), "rn")
                    chosen = chosen[:0]  # a multicast box is read only once
                pieces = Pieces.of(tensor.shared_addresses(target), tensor.element_bytes)
                request = pieces.request(group, lane, transfer)
                write = batch.spaces.later_store(Space.SHARED, request, pieces.starts, pieces.split(values))
                batch.transfers.begin(transfer, write, barriers.complete_tx(batch, tensor.bytes))

    decoder.block.steps.append(step)


class Pieces(Struct, frozen=True, eq=False):
    """The accesses that copy a box, of the largest width that fits all of them.

    Attributes:
        width: of each access; starts: (n,) addresses.
    """

    width: Width
    starts: Array

    @staticmethod
    def of(addresses: Array, size: int) -> Pieces:
        """The accesses to the elements of `size` bytes at these addresses."""
        for width in _WIDTHS:
            each, rest = divmod(width.bytes, size)
            if rest or len(addresses) % each:
                continue
            rows = addresses.reshape(-1, each)
            if (rows[:, 0] % width.bytes == 0).all() and (rows - rows[:, :1] == np.arange(each) * size).all():
                return Pieces(width, rows[:, 0].astype(U64))
        return Pieces(Width(size, 1), addresses.astype(U64))

    def request(self, group: Group, lane: int, transfer: Transfer) -> MemoryRequest:
        """The request of the lane that begins the copy."""
        return MemoryRequest(
            group, transfer.instruction, self.width, np.full(len(self.starts), lane), transfer=transfer
        )

    def join(self, values: list[Array], size: int) -> Array:
        """The loaded values as elements of `size` bytes (unsigned integers)."""
        return np.stack(values, axis=1).reshape(-1).view(f"u{size}")

    def split(self, values: Array) -> list[Array]:
        """The values to store, from elements as unsigned integers."""
        rows = np.ascontiguousarray(values).view(f"u{self.width.element}").reshape(-1, self.width.count)
        return [rows[:, k] for k in range(self.width.count)]


def destinations(mask: int | None, at: int, where: int) -> Iterator[tuple[int, int]]:
    """Shared addresses of a copy's destination and of its mbarrier in each destination block.

    Args:
        mask: the ranks of these blocks in the cluster, as bits; None for a copy to one block.
    """
    if mask is None:
        yield at, where
        return
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

    def step(group: Group, batch: Batch) -> None:
        for lane, position, tensor, start in _boxes(group, batch, guarding, box, instruction):
            addresses, inside = tensor.addresses(start)
            size = tensor.element_bytes
            if tensor.steps[0] == 1:
                row = inside.reshape(-1, tensor.counts[0])
                # An H200 stores whole 16-byte pieces, even where the tensor ends within one.
                inside = row[:, np.arange(tensor.counts[0]) * size // _ALIGNMENT * _ALIGNMENT // size].ravel()
            chosen = np.flatnonzero(inside)
            if not len(chosen):
                continue
            transfer = batch.transfers.of(lane, instruction, None)
            pieces = Pieces.of(tensor.shared_addresses(_at(group, origin, position))[chosen], size)
            request = pieces.request(group, lane, transfer)
            values = pieces.join(batch.spaces.load(Space.SHARED, request, pieces.starts), size)
            targets = addresses[chosen]
            if reduction:
                pieces = Pieces(Width(size, 1), targets.astype(U64))
                request = pieces.request(group, lane, transfer)
                dtype = DTYPES[tensor.kind]
                atomic = Atomic(reduction, dtype, False, tensor.kind, not tensor.flushes)
                update_at(
                    batch, Space.GLOBAL, request, pieces.starts, atomic=atomic, values=[values.view(dtype)]
                )
                continue
            pieces = Pieces.of(targets, size)
            request = pieces.request(group, lane, transfer)
            write = batch.spaces.later_store(Space.GLOBAL, request, pieces.starts, pieces.split(values))
            batch.transfers.begin(transfer, write)

    decoder.block.steps.append(step)


def _boxes(
    group: Group, batch: Batch, guarding: tuple[int, bool] | None, box: Box, instruction: Instruction
) -> Iterator[tuple[int, int, TensorMap, tuple[int, ...]]]:
    """For each active lane: its number, its position in the group, the tensor map, and the coordinates."""
    some, mask, _ = active(group, guarding, batch.size)
    if not some:
        return
    lanes = group.indices(batch.size)
    for position in (np.arange(group.count) if mask is None else np.flatnonzero(mask)).tolist():
        address = _at(group, box.map, position)
        thread = int(batch.spaces.threads[lanes[position]])
        tensor = _map_at(batch, address, instruction, thread)
        start = tuple(int(_one(group.get(slot).view(S32), position)) for slot in box.coordinates)
        problem = _problem(tensor, instruction, start)
        if problem is not None:
            raise KernelFault(FaultKind.ILLEGAL_INSTRUCTION, problem, thread=thread, instruction=instruction)
        yield int(lanes[position]), position, tensor, start


def _problem(tensor: TensorMap, instruction: Instruction, start: tuple[int, ...]) -> Text | None:
    """Why hardware raises a fault for this copy; None if it does not."""
    modifiers = instruction.modifiers
    if (tensor.column is not None) != ("im2col" in modifiers):
        return OTHER_MODE.of(mode="tile" if tensor.column is None else "im2col")
    if not tensor.begins_inside(start):
        return BEFORE_THE_PIXELS.of(pixel=start[1:-1])
    at = start[0] * tensor.element_bytes
    if "bulk_group" in modifiers and min(start) < 0:
        return BEFORE_THE_TENSOR.of(start=start)
    if at % _ALIGNMENT:
        return UNEVEN_BOX.of(bytes=at, alignment=_ALIGNMENT)
    if modifiers[0] == "reduce":
        operation = next(m for m in modifiers if m in _REDUCTIONS)
        if tensor.kind not in _REDUCTIONS[operation]:
            return NO_REDUCTION.of(operation=operation, kind=tensor.kind)
    return None


def _map_at(batch: Batch, address: int, instruction: Instruction, thread: int) -> TensorMap:
    offset = address - int(batch.spaces.base)
    content = batch.spaces.global_bytes[offset : offset + BYTES] if offset >= 0 else b""
    tensor = TensorMap.unpack(bytes(content)) if len(content) == BYTES else None
    if tensor is None:
        raise KernelFault(
            FaultKind.ILLEGAL_ADDRESS,
            NO_TENSOR_MAP.of(address=address),
            thread=thread,
            address=address,
            instruction=instruction,
        )
    return tensor


def _at(group: Group, at: Pointer, position: int) -> int:
    return int(_one(at.of(group), position))


def _one(values: Array, position: int) -> Any:
    return values[0] if len(values) == 1 else values[position]
