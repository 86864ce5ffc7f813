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
from tooling.simulator.numerics.rounding import fma32

Array = NDArray[Any]
Positions = NDArray[np.intp]

LANES = 64
_ROWS = 4
"""Consecutive rows of D in consecutive registers of a lane."""
_FORM = re.compile(r"v_mfma_f32_(\d+)x(\d+)x(\d+)(?:_(\d+)b)?_(\w+)")
_BYTES = {"f32": 4, "xf32": 4, "f16": 2, "bf16": 2}


class MatrixForm(Struct, frozen=True):
    """A form of V_MFMA with a float32 result.

    Attributes:
        rows, columns, depth: M, N and K; blocks: independent products.
        inputs: types of the elements of A and B.
    """

    rows: int
    columns: int
    depth: int
    blocks: int
    inputs: tuple[str, str]

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
        return self.rows * self.columns * self.blocks // LANES

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
        """The lane and the register of each element of D: two arrays (blocks, rows, columns)."""
        block, row, column = np.ogrid[: self.blocks, : self.rows, : self.columns]
        together = max(1, LANES * _ROWS // (self.rows * self.columns))  # blocks side by side in the lanes
        groups = LANES // together // self.columns  # of rows, in the lanes
        repeats = self.rows // (_ROWS * groups)  # of these, in the registers
        lane = column + self.columns * (row // _ROWS % groups + groups * (block % together))
        register = row % _ROWS + _ROWS * (row // (_ROWS * groups) % repeats + repeats * (block // together))
        return lane, np.broadcast_to(register, lane.shape)


@cache
def matrix_form(name: str) -> MatrixForm:
    """The form of a mnemonic such as `v_mfma_f32_32x32x4_2b_f16`.

    Raises:
        LookupError: not a V_MFMA with a float32 result.
    """
    match = _FORM.fullmatch(name)
    if match is None:
        raise LookupError(name)
    first, _, second = match[5].partition("_")
    rows, columns, depth = (int(match[number]) for number in (1, 2, 3))
    return MatrixForm(rows, columns, depth, int(match[4] or 1), (first, second or first))


def multiply_add(a: Array, b: Array, c: Array) -> Array:
    """(…, M, N) the product of A and B, added to C.

    The manual specifies neither the order nor the rounding of the additions. Here each product is added
    with one rounding to float32, from k = 0 upwards.

    Args:
        a: (…, M, K) float32; b: (…, N, K) float32, B transposed; c: (…, M, N) float32.
    """
    fused = quieted(fma32)
    total = np.ascontiguousarray(c).reshape(-1)
    for k in range(a.shape[-1]):
        left, right = np.broadcast_arrays(a[..., :, k, None], b[..., None, :, k])
        total = np.asarray(fused(left.reshape(-1), right.reshape(-1), total))
    return total.reshape(c.shape)
