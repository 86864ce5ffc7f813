"""mma.sync: matrix products of a warp, whose lanes hold fragments of the matrices (PTX ISA 9.7.14).

Fragments follow the tables of PTX ISA 9.7.14.5: lane = 4 * row group + column group. f64 products are
sequences of fused multiply-adds along the depth; the other sums are those of `semantics.tensor_core`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Instruction, Operand, Vector
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.numerics.float64 import fma64
from tooling.simulator.numerics.rounding import F16, F32, F64, S32, S64, U16, U32, U64, bf16_to_f32
from tooling.simulator.nvidia.instructions.warp import together
from tooling.simulator.nvidia.lowering.binders import assign, binds, write
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.nvidia.semantics.float8 import values8
from tooling.simulator.nvidia.semantics.tensor_core import (
    F16_SMALLEST,
    F32_SMALLEST,
    FULL,
    Factors,
    canonical,
    tensor_sum,
)
from tooling.simulator.program.program import Batch

Array = NDArray[Any]


class Element(Struct, frozen=True):
    """An input type.

    Attributes:
        widen: converts registers to the numbers in them.
        smallest: `frexp` exponent of the smallest normal number.
    """

    bits: int
    widen: Callable[[Array], Array]
    smallest: int = F32_SMALLEST

    @property
    def packed(self) -> int:
        """Elements per register."""
        return max(32 // self.bits, 1)


def _halves(convert: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda registers: convert(np.ascontiguousarray(registers).view(U16)).astype(F64)


def _octets(kind: str) -> Callable[[Array], Array]:
    return lambda registers: values8(kind)[np.ascontiguousarray(registers).view(np.uint8)].astype(F64)


def _bits(width: int, *, signed: bool) -> Callable[[Array], Array]:
    """The numbers of less than a byte in registers, the lowest bits first."""

    def widen(registers: Array) -> Array:
        shifts = np.arange(0, 32, width, dtype=np.uint32)
        numbers = (registers[..., None] >> shifts & np.uint32((1 << width) - 1)).astype(S64)
        return numbers - (numbers >> width - 1 << width) if signed else numbers

    return widen


ELEMENTS = {
    "tf32": Element(32, lambda registers: (registers & np.uint32(0xFFFFE000)).view(F32).astype(F64)),
    "f16": Element(16, _halves(lambda bits: bits.view(F16)), F16_SMALLEST),
    "bf16": Element(16, _halves(bf16_to_f32)),
    "e4m3": Element(8, _octets("e4m3"), -5),
    "e5m2": Element(8, _octets("e5m2"), F16_SMALLEST),
    "s8": Element(8, lambda registers: np.ascontiguousarray(registers).view(np.int8).astype(S64)),
    "u8": Element(8, lambda registers: np.ascontiguousarray(registers).view(np.uint8).astype(S64)),
    "s4": Element(4, _bits(4, signed=True)),
    "u4": Element(4, _bits(4, signed=False)),
    "b1": Element(1, _bits(1, signed=False)),
    "f64": Element(64, lambda registers: registers.view(F64)),
}
DEPTHS = {
    "tf32": (4, 8), "f16": (8, 16), "bf16": (8, 16), "e4m3": (16, 32), "e5m2": (16, 32),
    "s8": (16, 32), "u8": (16, 32), "s4": (32, 64), "u4": (32, 64), "b1": (128, 256), "f64": (4, 8, 16),
}  # fmt: skip
"""Depths of m16n8 products."""

FAMILIES = (frozenset({"s8", "u8"}), frozenset({"s4", "u4"}), frozenset({"e4m3", "e5m2"}))
"""Input types that may be combined."""

RESULTS = {
    **dict.fromkeys(("s8", "u8", "s4", "u4", "b1"), ("s32",)),
    "f64": ("f64",),
    "tf32": ("f32",),
    "bf16": ("f32",),
}
"""Result types by input type; f16 and f32 for other inputs."""


def mixes(left: str, right: str) -> bool:
    """Whether matrices of these types can be multiplied."""
    return left == right or any({left, right} <= family for family in FAMILIES)


@binds("mma", alone=True)
def _multiply(decoder: Decoder, instruction: Instruction, following: int) -> None:
    modifiers = [m for m in instruction.modifiers if m not in ("satfinite", "rn")]
    satfinite, rounded = (word in instruction.modifiers for word in ("satfinite", "rn"))
    combine = ""
    if modifiers[-1] == "popc":
        *modifiers, combine, _ = modifiers
    if len(modifiers) != 9 or modifiers[:2] != ["sync", "aligned"] or modifiers[3:5] != ["row", "col"]:
        raise decoder.unknown(instruction)
    shape, result, left, right, addend = modifiers[2], *modifiers[5:]
    height, depth = _shape(shape, left)
    known = left in ELEMENTS and right in ELEMENTS and mixes(left, right) and result == addend
    if not known or not depth or result not in RESULTS.get(left, ("f32", "f16")):
        raise decoder.unknown(instruction)
    if (satfinite and (result != "s32" or combine)) or (rounded and result != "f64"):
        raise decoder.unknown(instruction)
    if (left == "b1") is not (combine in ("and", "xor")):
        raise decoder.unknown(instruction)
    targets, a, b, c = (_elements(decoder, instruction, operand) for operand in instruction.operands)
    word = U64 if left == "f64" else U32
    sources = [[decoder.value(x, word, instruction) for x in operand] for operand in (a, b, c)]
    destinations = [write(decoder, x, instruction) for x in targets]
    mask = decoder.constant(0xFFFFFFFF, U32)
    product = Product(height, depth, ELEMENTS[left], ELEMENTS[right], result, satfinite, combine == "xor")

    def perform(group: Group, _batch: Batch) -> None:
        fragments = [
            np.stack([np.broadcast_to(group.get(slot).view(word), group.count) for slot in slots], axis=1)
            for slots in sources
        ]
        warps = group.count // 32
        registers = product.of(*(fragment.reshape(warps, 32, -1) for fragment in fragments))
        for k, target in enumerate(destinations):
            assign(group, target, np.ascontiguousarray(registers[:, :, k]).reshape(-1), None, word)

    together(decoder, instruction, following, mask, perform, whole=True)


_LOW_SHAPES = frozenset(
    {("m8n8k4", "f64"), *(("m8n8k16", kind) for kind in ("s8", "u8")), ("m8n8k128", "b1")}
    | {("m8n8k32", kind) for kind in ("s4", "u4")}
)
"""Shapes with eight rows, by input type."""


def _shape(shape: str, left: str) -> tuple[int, int]:
    """Height and depth of a shape such as `m16n8k16`; depth 0 for an unknown shape."""
    if (shape, left) in _LOW_SHAPES:
        return 8, int(shape.partition("k")[2])
    size = shape.removeprefix("m16n8k")
    depth = int(size) if size.isdigit() else 0
    return 16, depth if depth in DEPTHS.get(left, ()) else 0


def _elements(decoder: Decoder, instruction: Instruction, operand: Operand) -> tuple[Operand, ...]:
    if not isinstance(operand, Vector):
        raise decoder.unknown(instruction)
    return operand.elements


class Product(Struct, frozen=True):
    """A (height x depth) times B (depth x 8) plus C (height x 8).

    Attributes:
        differs: of single bits, the sum of those that differ, instead of those that are both set.
    """

    height: int
    depth: int
    left: Element
    right: Element
    result: str
    satfinite: bool = False
    differs: bool = False

    def of(self, a: Array, b: Array, c: Array) -> Array:
        """Result registers (warps, 32, n) from the fragments' registers of the same shape."""
        rows = spread(a, self.left, self.height, self.depth)
        columns = spread(b, self.right, 8, self.depth)
        if self.result == "f64":
            row, column = fragment(self.height // 4)
            total = c.view(F64)
            for k in range(self.depth):
                left, right = rows[:, row, k], columns[:, column, k]
                shape = total.shape
                total = fma64(left.reshape(-1), right.reshape(-1), total.reshape(-1)).reshape(shape)
            return np.ascontiguousarray(total).view(U64)
        addend = gather(c, self.result, self.height, 8)
        if self.differs:
            ones = rows.sum(2)[:, :, None] + columns.sum(2)[:, None, :]
            rows, addend = -2 * rows, addend.astype(S64) + ones
        if self.result == "s32":
            return scatter(whole_sum(rows, columns, addend, satfinite=self.satfinite))
        if self.left.bits > 8:
            factors = Factors(rows, self.left.smallest), Factors(columns, self.right.smallest)
            return scatter(tensor_sum(*factors, addend, FULL))
        return scatter(self._sum_of_octets(rows, columns, addend))

    def _sum_of_octets(self, rows: Array, columns: Array, addend: Array) -> Array:
        """8-bit inputs: an H200 converts them to f16, sums the products of the lower pairs of each register,
        then of the upper pairs, and adds the addend last.
        """
        left, right = Factors(rows, F16_SMALLEST), Factors(columns, F16_SMALLEST)
        total = np.zeros_like(addend)
        for pair in (0, 1):
            depths = [k for k in range(self.depth) if k % 4 // 2 == pair]
            total = tensor_sum(left.at_depths(depths), right.at_depths(depths), total, FULL)
        return canonical(total + addend)


def fragment(count: int) -> tuple[Array, Array]:
    """(32, count) the row and the column in a warp's result of each element that a lane holds."""
    lane, element = np.arange(32)[:, None], np.arange(count)[None, :]
    return lane // 4 + 8 * (element // 2 % 2), 8 * (element // 4) + lane % 4 * 2 + element % 2


_RESULT_TYPES: dict[str, np.dtype[Any]] = {"f16": F16, "f32": F32, "s32": S32}


def gather(registers: Array, result: str, height: int, width: int) -> Array:
    """(warps, height, width) the matrices whose fragments are in the lanes' registers (warps, 32, n)."""
    values = np.ascontiguousarray(registers).view(_RESULT_TYPES[result])
    matrix = np.empty((len(values), height, width), values.dtype)
    row, column = fragment(values.shape[2])
    matrix[:, row, column] = values
    return matrix


def scatter(matrix: Array) -> Array:
    """The lanes' registers (warps, 32, n) that hold a result matrix."""
    row, column = fragment(matrix.shape[1] * matrix.shape[2] // 32)
    return np.ascontiguousarray(matrix[:, row, column]).view(U32)


def whole_sum(rows: Array, columns: Array, addend: Array, *, satfinite: bool = False) -> Array:
    """Products of integers and an addend, modulo 2**32 or saturated to the range of an s32."""
    total = np.matmul(rows, columns.transpose(0, 2, 1)) + addend
    return np.asarray(np.clip(total, -(2**31), 2**31 - 1) if satfinite else total).astype(U32).view(S32)


def spread(registers: Array, element: Element, height: int, depth: int) -> Array:
    """(warps, height, depth) the matrix in the lanes' registers: A by rows, or B by columns.

    Lane l holds rows l // 4 and l // 4 + 8; of each, `packed` adjacent elements from depth l % 4 * packed on,
    and again at every further 4 * packed.
    """
    packed = element.packed
    values = element.widen(registers).reshape(registers.shape[0], 32, -1)
    lane = np.arange(32)[:, None]
    index = np.arange(values.shape[2])[None, :]
    register, inside = index // packed, index % packed
    upper_rows = height // 8
    row = lane // 4 + 8 * (register % upper_rows)
    column = lane % 4 * packed + inside + 4 * packed * (register // upper_rows)
    matrix = np.zeros((registers.shape[0], height, depth), values.dtype)
    matrix[:, row, column] = values
    return matrix
