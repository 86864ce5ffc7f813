"""Matrix cores: which element of which matrix a lane's register contains (CDNA 3 ISA, "Matrix Arithmetic
Instructions").

V_MFMA computes D = A * B + C for one or more independent blocks. A has M rows and K columns, B has K rows
and N columns; C and D have M rows and N columns.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.simulator.amd.semantics.floats import quieted
from tooling.simulator.numerics.float64 import fma64
from tooling.simulator.numerics.rounding import F32, U32, fma32

Array = NDArray[Any]
Positions = NDArray[np.intp]

LANES = 64
_ROWS = 4
"""Consecutive rows of D in consecutive registers of a lane."""
_FORM = re.compile(r"v_mfma_(f32|i32|f64)_(\d+)x(\d+)x(\d+)(?:_(\d+)b)?_(\w+)")
_BYTES = {"f64": 8, "f32": 4, "xf32": 4, "f16": 2, "bf16": 2}


class MatrixForm(Struct, frozen=True):
    """A form of V_MFMA.

    Attributes:
        rows, columns, depth: M, N and K; blocks: independent products.
        inputs: types of the elements of A and B; result: that of C and D.
    """

    rows: int
    columns: int
    depth: int
    blocks: int
    inputs: tuple[str, str]
    result: str = "f32"

    def _input_bytes(self, elements: int) -> int:
        """Bytes in each lane of an input matrix."""
        return elements * self.blocks * _BYTES.get(self.inputs[0], 1) // LANES

    @property
    def input_registers(self) -> tuple[int, int]:
        """Registers of A and of B."""
        return (
            self._input_bytes(self.rows * self.depth) // 4,
            self._input_bytes(self.columns * self.depth) // 4,
        )

    @property
    def result_registers(self) -> int:
        """Registers of C and of D."""
        return self.rows * self.columns * self.blocks // LANES * (2 if self.result == "f64" else 1)

    @property
    def _together(self) -> int:
        """Consecutive rows of D in consecutive elements of a lane."""
        return 1 if self.result == "f64" else _ROWS

    def input_positions(self, width: int) -> tuple[Positions, Positions]:
        """Of each element of A, or of the transpose of B: the lane, and its number in the lane.

        Args:
            width: M for A, N for B.

        Returns:
            Two arrays (blocks, width, depth).
        """
        block, row, k = np.ogrid[: self.blocks, :width, : self.depth]
        per_lane = width * self.depth * self.blocks // LANES
        lane = row + width * (k // per_lane + self.depth // per_lane * block)
        return lane, np.broadcast_to(k % per_lane, lane.shape)

    def result_positions(self) -> tuple[Positions, Positions]:
        """The lane and the number in it of each element of D: two arrays (blocks, rows, columns)."""
        size = self._together
        block, row, column = np.ogrid[: self.blocks, : self.rows, : self.columns]
        together = max(1, LANES * size // (self.rows * self.columns))  # blocks side by side in the lanes
        groups = LANES // together // self.columns  # of rows, in the lanes
        repeats = self.rows // (size * groups)  # of these, in the registers
        lane = column + self.columns * (row // size % groups + groups * (block % together))
        register = row % size + size * (row // (size * groups) % repeats + repeats * (block // together))
        return lane, np.broadcast_to(register, lane.shape)


@cache
def matrix_form(name: str) -> MatrixForm:
    """The form of a mnemonic such as `v_mfma_f32_32x32x4_2b_f16`.

    Raises:
        LookupError: not a V_MFMA.
    """
    match = _FORM.fullmatch(name)
    if match is None:
        raise LookupError(name)
    first, _, second = match[6].partition("_")
    rows, columns, depth = (int(match[number]) for number in (2, 3, 4))
    return MatrixForm(rows, columns, depth, int(match[5] or 1), (first, second or first), match[1])


_FUSED = {"f": quieted(fma32), "d": quieted(fma64)}


def multiply_add(a: Array, b: Array, c: Array) -> Array:
    """(…, M, N) the product of A and B, added to C; of integers modulo 2**32.

    The manual specifies neither the order nor the rounding of the additions of floats. Here each product is
    added with one rounding, from k = 0 upwards.

    Args:
        a: (…, M, K) float32, float64 or int32; b: (…, N, K), B transposed; c: (…, M, N); of the same type.
    """
    total = np.ascontiguousarray(c).reshape(-1)
    for k in range(a.shape[-1]):
        left, right = np.broadcast_arrays(a[..., :, k, None], b[..., None, :, k])
        if c.dtype.kind == "i":
            total = total + (left * right).reshape(-1)
        else:
            total = np.asarray(_FUSED[c.dtype.char](left.reshape(-1), right.reshape(-1), total))
    return total.reshape(c.shape)


def to_xf32(value: Array) -> Array:
    """float32 numbers with 10 bits of mantissa, rounded to nearest even: the manual does not say how."""
    bits = value.view(U32)
    rounded = bits + (U32.type(0xFFF) + (bits >> U32.type(13) & U32.type(1))) & ~U32.type(0x1FFF)
    return np.where(np.isnan(value), value, rounded.view(F32))


_BROADCASTS = {1: (32, 0), 2: (32, 32), **{4 + quarter: (16, 16 * quarter) for quarter in range(4)}}
"""BLGP to the lanes that are repeated: how many, from which on."""


def input_lanes(pattern: int) -> NDArray[np.intp]:
    """(64,) the lane that each lane's part of B is taken from, by BLGP (CDNA 3 ISA, "MFMA", "BLGP")."""
    lane = np.arange(LANES)
    if pattern == 3:
        return (lane + 16) % LANES
    count, first = _BROADCASTS.get(pattern, (LANES, 0))
    return lane % count + first


WMMA_FORMS = (
    "v_wmma_f32_16x16x16_f16", "v_wmma_f32_16x16x16_bf16", "v_wmma_f16_16x16x16_f16",
    "v_wmma_bf16_16x16x16_bf16", "v_wmma_i32_16x16x16_iu8", "v_wmma_i32_16x16x16_iu4",
)  # fmt: skip
"""The forms of gfx1100."""


def wmma_types(name: str) -> tuple[str, str]:
    """The types of the elements of A and B, and of C and D, of a V_WMMA."""
    _, _, result, _, kind = name.split("_")
    return kind, result


def wmma_registers(name: str) -> tuple[int, int, int]:
    """Registers of A, of B, and of C and D."""
    count = {"f16": 8, "bf16": 8, "iu8": 4, "iu4": 2}[wmma_types(name)[0]]
    return count, count, 8
