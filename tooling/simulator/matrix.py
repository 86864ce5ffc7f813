"""Tensor core products: mma.sync (PTX ISA 9.7.14), a warp's matrices spread over its lanes.

Fragments follow the tables of PTX ISA 9.7.14.5: lane = 4 * row group + column group. Products are exact; an
H200 adds them in an order and precision of its own, so sums are made here in double precision, rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.bindings import assign, binds, write
from tooling.simulator.decode import Decoder
from tooling.simulator.lanes import Group
from tooling.simulator.numerics import F16, F32, F64, S64, U16, U32, bf16_to_f32
from tooling.simulator.ptx_model import Instruction, Operand, Vector
from tooling.simulator.record import Record
from tooling.simulator.warps import together

Array = NDArray[Any]


class Element(Record):
    """An input type: bits, how many fit into a register, and how a register's bits become numbers."""

    bits: int
    widen: Callable[[Array], Array]

    @property
    def packed(self) -> int:
        """Elements per 32-bit register."""
        return 32 // self.bits


def _halves(convert: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda registers: convert(np.ascontiguousarray(registers).view(U16)).astype(F64)


ELEMENTS = {
    "tf32": Element(32, lambda registers: (registers & np.uint32(0xFFFFE000)).view(F32).astype(F64)),
    "f16": Element(16, _halves(lambda bits: bits.view(F16))),
    "bf16": Element(16, _halves(bf16_to_f32)),
    "s8": Element(8, lambda registers: np.ascontiguousarray(registers).view(np.int8).astype(S64)),
    "u8": Element(8, lambda registers: np.ascontiguousarray(registers).view(np.uint8).astype(S64)),
}
DEPTHS = {"tf32": (4, 8), "f16": (8, 16), "bf16": (8, 16), "s8": (16, 32), "u8": (16, 32)}


@binds("mma", alone=True)
def _multiply(decoder: Decoder, instruction: Instruction, following: int) -> None:
    modifiers = instruction.modifiers
    if len(modifiers) != 9 or modifiers[:2] != ("sync", "aligned") or modifiers[3:5] != ("row", "col"):
        raise decoder.unknown(instruction)
    shape, result, left, right, addend = modifiers[2], *modifiers[5:]
    depth = int(shape.partition("k")[2]) if shape.startswith("m16n8k") else 0
    known = left in ELEMENTS and right in ELEMENTS and depth in DEPTHS[left] and result == addend
    whole = left in ("s8", "u8")
    if not known or (left != right and not whole) or result not in (("s32",) if whole else ("f32", "f16")):
        raise decoder.unknown(instruction)
    targets, a, b, c = (_elements(decoder, instruction, operand) for operand in instruction.operands)
    sources = [[decoder.value(x, U32, instruction) for x in part] for part in (a, b, c)]
    destinations = [write(decoder, x, instruction) for x in targets]
    mask = decoder.constant(0xFFFFFFFF, U32)
    product = Product(depth, ELEMENTS[left], ELEMENTS[right], result)

    def perform(group: Group, _batch: Any) -> None:
        fragments = [
            np.stack([np.broadcast_to(group.get(slot).view(U32), group.count) for slot in part], axis=1)
            for part in sources
        ]
        warps = group.count // 32
        registers = product.of(*(fragment.reshape(warps, 32, -1) for fragment in fragments))
        for k, target in enumerate(destinations):
            assign(group, target, np.ascontiguousarray(registers[:, :, k]).reshape(-1), None, U32)

    together(decoder, instruction, following, mask, perform)


def _elements(decoder: Decoder, instruction: Instruction, operand: Operand) -> tuple[Operand, ...]:
    if not isinstance(operand, Vector):
        raise decoder.unknown(instruction)
    return operand.elements


class Product(Record):
    """A (16 x depth) times B (depth x 8) plus C (16 x 8)."""

    depth: int
    left: Element
    right: Element
    result: str

    def of(self, a: Array, b: Array, c: Array) -> Array:
        """Result registers (warps, 32, n) from the fragments' registers of the same shape."""
        rows, columns = self._matrix(a, self.left, 16), self._matrix(b, self.right, 8)
        lane = np.arange(32)
        row = np.stack([lane // 4, lane // 4, lane // 4 + 8, lane // 4 + 8], axis=1)
        column = np.stack([lane % 4 * 2, lane % 4 * 2 + 1] * 2, axis=1)
        total = np.matmul(rows, columns.transpose(0, 2, 1))[:, row, column]
        if self.result == "s32":
            return np.asarray(total + c.view(np.int32), U32)
        if self.result == "f32":
            return np.asarray(total + c.view(F32), F32).view(U32)
        halves = np.ascontiguousarray(c).view(F16).reshape(*c.shape[:2], 4)
        return np.ascontiguousarray((total + halves).astype(F16)).view(U32)

    def _matrix(self, registers: Array, element: Element, height: int) -> Array:
        """(warps, height, depth): A by rows, or B by columns.

        Lane l holds rows l // 4 (and 8 more), `packed` neighbours from depth l % 4 * packed on, then the
        same half the depth further on where the depth has two halves.
        """
        packed = element.packed
        values = element.widen(registers).reshape(registers.shape[0], 32, -1)
        lane = np.arange(32)[:, None]
        index = np.arange(values.shape[2])[None, :]
        register, inside = index // packed, index % packed
        upper_rows = height // 8
        row = lane // 4 + 8 * (register % upper_rows)
        depth = lane % 4 * packed + inside + 4 * packed * (register // upper_rows)
        matrix = np.zeros((registers.shape[0], height, self.depth), values.dtype)
        matrix[:, row, depth] = values
        return matrix
