"""wgmma: matrix products of four warps, with B and usually A in shared memory (PTX ISA 9.7.15).

A product is performed at once, warp by warp: a warp needs its own 16 rows of A and all of B. A descriptor
(PTX ISA 9.7.15.5.1.2) gives the start of a matrix, its byte offsets, and the swizzle mode.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Instruction, Integer, Operand, Vector
from tooling.simulator.gpu.hooks import Access, AccessKind, Space, Transfer
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.requests import MemoryRequest, Width
from tooling.simulator.gpu.stop_texts import WRONG_RESULT
from tooling.simulator.numerics.rounding import PRED, U32, U64
from tooling.simulator.nvidia.instructions.mma import (
    ELEMENTS,
    RESULTS,
    Element,
    gather,
    mixes,
    scatter,
    spread,
    whole_sum,
)
from tooling.simulator.nvidia.instructions.warp import together
from tooling.simulator.nvidia.lowering.binders import assign, binds, write
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.nvidia.semantics.tensor_core import EIGHT_BITS, FULL, Factors, tensor_sum
from tooling.simulator.program.products import Product
from tooling.simulator.program.program import Batch, Step

Array = NDArray[Any]

_ROW_BYTES = 32
"""Bytes of a row of A along the depth, in every type."""
_SPANS = (16, 128, 64, 32)
"""Bytes of a row of 16-byte pieces, by the descriptor's swizzle mode (none, 128, 64 and 32 bytes)."""
_TRANSPOSED = ("f16", "bf16")


@binds("wgmma", alone=True)
def _warpgroup(decoder: Decoder, instruction: Instruction, following: int) -> None:
    modifiers = instruction.modifiers
    mask = decoder.constant(0xFFFFFFFF, U32)
    if modifiers[0] in ("fence", "commit_group", "wait_group") and modifiers[1:] == ("sync", "aligned"):
        together(decoder, instruction, following, mask, _ordering(decoder, instruction))
        return
    if len(modifiers) != 7 or modifiers[:3] != ("mma_async", "sync", "aligned"):
        raise decoder.unknown(instruction)
    form = _form(decoder, instruction)
    result, a, b, scale, *signs = instruction.operands
    if not isinstance(result, Vector) or len(result.elements) != form.registers:
        raise decoder.unknown(instruction, WRONG_RESULT)
    addends = [decoder.value(element, U32, instruction) for element in result.elements]
    numbers = [sign.value for sign in signs if isinstance(sign, Integer)]
    if len(numbers) != len(signs) or len(numbers) not in form.immediates(isinstance(a, Vector)):
        raise decoder.unknown(instruction)
    left_sign, right_sign, *turns = numbers or [1, 1]
    held = a.elements if isinstance(a, Vector) else ()
    left = [decoder.value(element, U32, instruction) for element in held]
    described = None if held else decoder.value(a, U64, instruction)
    right = decoder.value(b, U64, instruction)
    keeps = _condition(decoder, instruction, scale)
    turned = [*([False] if held else []), *map(bool, turns), False, False]
    # Bound after the sources: the addends are the values before the instruction.
    targets = [write(decoder, element, instruction) for element in result.elements]

    block = decoder.block

    def perform(group: Group, batch: Batch) -> None:
        warps = group.count // 32
        read: list[Array] = []
        lanes = group.indices(batch.size).reshape(warps, 32)
        number = (
            batch.warps.warp_of_lane[lanes[:, 0]]
            - batch.warps.warp_of_lane[
                batch.spaces.block_of_lane[lanes[:, 0]] * batch.context.threads_per_block
            ]
        )
        if described is None:
            stacked = [np.broadcast_to(group.get(slot).view(U32), group.count) for slot in left]
            rows = spread(np.stack(stacked, axis=1).reshape(warps, 32, -1), form.left, 16, form.depth)
        else:
            at = form.addresses(_per_warp(group, described), 16, 16 * (number % 4), turned[0])
            rows = _load(batch, group, instruction, lanes, at, form.left)
            read.append(at)
        at = form.addresses(_per_warp(group, right), form.width, np.zeros(warps, np.int64), turned[1])
        columns = _load(batch, group, instruction, lanes, at, form.right)
        read.append(at)
        old = np.stack([np.broadcast_to(group.get(slot).view(U32), group.count) for slot in addends], axis=1)
        wanted = np.broadcast_to(group.get(keeps), group.count).reshape(warps, 32, 1)
        before = np.where(wanted, old.reshape(warps, 32, -1), np.uint32(0))
        addend = gather(before, form.result, 16, form.width)
        registers = scatter(form.sum(rows * left_sign, columns * right_sign, addend))
        for k, target in enumerate(targets):
            assign(group, target, np.ascontiguousarray(registers[:, :, k]).reshape(-1), None, U32)
        fenced = instruction.code_position not in block.unfenced
        _begin(group, batch, instruction, targets, read, fenced=fenced)

    together(decoder, instruction, following, mask, perform, whole=True)


def _ordering(decoder: Decoder, instruction: Instruction) -> Step:
    """wgmma.fence, which is only recorded, commit_group or wait_group (PTX ISA 9.7.15.7)."""
    what = instruction.modifiers[0]
    if what == "fence":
        return lambda group, batch: batch.products.fence(group.indices(batch.size))
    if what == "commit_group":
        return lambda group, batch: batch.products.commit(group.indices(batch.size))
    (operand,) = instruction.operands
    if not isinstance(operand, Integer):
        raise decoder.unknown(instruction)
    pending = operand.value

    def wait(group: Group, batch: Batch) -> None:
        lanes = group.indices(batch.size)
        over = batch.products.over(lanes, pending)
        for hook in batch.hooks.product_wait:
            hook.product_wait(batch.spaces.threads[lanes], over, instruction)
        if batch.followed is not None:
            limits = np.zeros(batch.size, np.int64)
            limits[lanes] = over
            batch.followed.release(
                lambda value: (
                    value.lanes[value.groups < limits[value.lanes]] if isinstance(value, Product) else None
                )
            )

    return wait


def _begin(
    group: Group,
    batch: Batch,
    instruction: Instruction,
    targets: list[int],
    read: list[Array],
    *,
    fenced: bool,
) -> None:
    """A product is in progress: notify the hooks of what it reads, and follow its result.

    Args:
        read: the shared addresses of its operands (warps, rows, depth).
        fenced: no register of it was computed since the last fence of the code.
    """
    lanes = group.indices(batch.size)
    groups = batch.products.committed[lanes]
    spaces = batch.spaces
    if batch.hooks.product_unfenced:
        unfenced = batch.products.without_fence(lanes) if fenced else lanes
        for hook in batch.hooks.product_unfenced if len(unfenced) else ():
            hook.product_unfenced(spaces.threads[unfenced], instruction)
    if batch.hooks.products_read:
        size = batch.context.threads_per_block
        for warp, first_thread in enumerate(spaces.threads[lanes[::32]].tolist()):
            starts = np.unique(np.concatenate([each[warp].ravel() for each in read]) & ~np.int64(15))
            # What is outside the block's memory was reported when it was read.
            starts = starts[(starts >= 0) & (starts <= batch.context.shared_bytes - 16)]
            count = len(starts)
            transfer = Transfer(first_thread, instruction, None, int(groups[32 * warp]))
            operands = Access(
                Space.SHARED, AccessKind.LOAD, instruction, 16, 4, starts, np.full(count, first_thread),
                blocks=np.full(count, first_thread // size), transfer=transfer,
            )  # fmt: skip
            for hook in batch.hooks.products_read if count else ():
                hook.products_read(operands)
    if batch.followed is not None:

        def used(lanes: NDArray[np.intp], at: Instruction, product: Instruction) -> None:
            for hook in batch.hooks.product_used:
                hook.product_used(spaces.threads[lanes], at, product)

        product = Product(instruction, lanes, groups, used)
        for target in targets:
            batch.followed.replace(target, product, group)


def _condition(decoder: Decoder, instruction: Instruction, operand: Operand) -> int:
    """The slot of scale-d: whether the result registers are also the addend."""
    if isinstance(operand, Integer):
        return decoder.constant(int(operand.value != 0), PRED)
    return decoder.value(operand, PRED, instruction)


class Form(Struct, frozen=True):
    """One product: 64 rows of A, `width` columns of B, `depth` elements along both."""

    width: int
    depth: int
    left: Element
    right: Element
    kind: str
    result: str

    @property
    def registers(self) -> int:
        """Registers of a lane's result."""
        return self.width // (4 if self.result == "f16" else 2)

    def sum(self, rows: Array, columns: Array, addend: Array) -> Array:
        """Each warp's result (warps, 16, width), of rows of A and columns of B along the depth."""
        if self.result == "s32":
            return whole_sum(rows, columns, addend)
        precision = FULL if self.left.bits > 8 else EIGHT_BITS
        left, right = Factors(rows, self.left.smallest), Factors(columns, self.right.smallest)
        return tensor_sum(left, right, addend, precision)

    def immediates(self, in_registers: bool) -> tuple[int, ...]:
        """Allowed numbers of immediates after scale-d: signs of A and B, and whether each is transposed."""
        if self.result == "s32":
            return (0,)
        if self.kind not in _TRANSPOSED:
            return (2,)
        return (3,) if in_registers else (4,)

    def addresses(self, descriptor: Array, height: int, first: Array, turned: bool) -> Array:
        """(warps, height, depth) the shared address of each element of a matrix, from row `first` on."""
        size = self.left.bits // 8
        bits = descriptor[:, None, None].astype(np.int64)
        start, leading, stride = ((bits >> shift & 0x3FFF) << 4 for shift in (0, 16, 32))
        mode = int(descriptor[0]) >> 62
        span = _SPANS[mode]
        row = first[:, None, None] + np.arange(height)[None, :, None]
        depth = np.arange(self.depth)[None, None, :]
        if turned:
            along, across = row * size, depth
        else:
            along, across = depth * size, row
        inner, outer = (stride, leading) if turned and mode == 0 else (leading, stride)
        address = start + along // span * inner + across // 8 * outer + across % 8 * span + along % span
        return np.asarray(address ^ ((address >> 7 & (span // 16 - 1)) << 4))


def _form(decoder: Decoder, instruction: Instruction) -> Form:
    shape, result, left, right = instruction.modifiers[3:]
    width = shape.removeprefix("m64n").partition("k")[0]
    known = left in ELEMENTS and right in ELEMENTS and mixes(left, right)
    if (
        not known
        or ELEMENTS[left].bits not in (8, 16, 32)
        or not width.isdigit()
        or result not in RESULTS.get(left, ("f32", "f16"))
    ):
        raise decoder.unknown(instruction)
    depth = 8 * _ROW_BYTES // ELEMENTS[left].bits
    if shape != f"m64n{width}k{depth}" or int(width) % 8 or not 8 <= int(width) <= 256:
        raise decoder.unknown(instruction)
    return Form(int(width), depth, ELEMENTS[left], ELEMENTS[right], left, result)


def _per_warp(group: Group, slot: int) -> Array:
    """One value per warp, that of its first lane: descriptors are the same in all lanes."""
    return np.broadcast_to(group.get(slot).view(U64), group.count)[::32]


def _load(  # noqa: PLR0917 - the arguments of one access
    batch: Batch, group: Group, instruction: Instruction, lanes: Array, addresses: Array, element: Element
) -> Array:
    """The numbers at shared addresses (warps, rows, depth), read by the lanes of each warp in turn."""
    warps, rows, depth = addresses.shape
    movers = lanes[:, np.arange(rows * depth) % 32].reshape(-1)
    order = np.argsort(movers, kind="stable")
    request = MemoryRequest(group, instruction, Width(element.bits // 8, 1), movers[order])
    (sorted_bits,) = batch.spaces.load(Space.SHARED, request, addresses.reshape(-1)[order].astype(U64))
    bits = np.empty_like(sorted_bits)
    bits[order] = sorted_bits
    numbers = element.widen(bits if element.bits == 32 else bits.view(np.uint8).view(U32))
    return np.asarray(numbers.reshape(warps, rows, depth))
