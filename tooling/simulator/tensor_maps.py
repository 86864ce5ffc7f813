"""Tensor maps: what `cuTensorMapEncodeTiled` makes and the tensor copies read (PTX ISA 5.5).

CUDA leaves the 128 bytes opaque. The stand-in driver (`driver/tensors.mojo`) and this module agree on the
layout below.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.record import Record
from tooling.simulator.semantics import DTYPES

Array = NDArray[Any]

BYTES = 128
MAGIC = int.from_bytes(b"PUZZLTMA", "little")
LAYOUT = struct.Struct("<QQ5I5HBB4Q5BBBB")
"""Magic, address, last index per dimension, box, rank, type, strides from the second dimension on, element
strides, swizzle, interleave, fill."""

TYPES = (
    "u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32", "f32", "f32",
)  # fmt: skip
"""The PTX type of each CUtensorMapDataType; the last three are f32 that hardware flushes or cuts to tf32."""

_SWIZZLES = {0: 0, 1: 1, 2: 3, 3: 7}
"""Of each CUtensorMapSwizzle (none, 32, 64 and 128 bytes), the bits of the 16-byte piece that change."""


class TensorMap(Record):
    """A tensor in global memory and the box that one copy moves; dimensions from the innermost on.

    Attributes:
        address: of the first element; kind: PTX type of an element.
        extents, strides: elements, and bytes from one to the next, in each dimension.
        box: elements of a box in each dimension, gaps included; steps: take every so many-th of them.
        swizzle: which bits of a 16-byte piece's number are changed by those of its 128-byte row.
        fill: bits of an element outside the tensor.
    """

    address: int
    kind: str
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...]
    swizzle: int
    fill: int

    @staticmethod
    def unpack(content: bytes) -> TensorMap | None:
        """The map that these 128 bytes hold; None where they hold none, or one with interleaved elements."""
        magic, address, *numbers = LAYOUT.unpack_from(content)
        last, box, (rank, number) = numbers[:5], numbers[5:10], numbers[10:12]
        strides, steps, (swizzle, interleave, fill) = numbers[12:16], numbers[16:21], numbers[21:24]
        if magic != MAGIC or not 1 <= rank <= 5 or number >= len(TYPES) or interleave or swizzle > 3:
            return None
        kind = TYPES[number]
        nan = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": 0x7FFFFFFFFFFFFFFF}
        return TensorMap(
            address,
            kind,
            tuple(n + 1 for n in last[:rank]),
            (DTYPES[kind].itemsize, *strides[: rank - 1]),
            tuple(box[:rank]),
            tuple(steps[:rank]),
            _SWIZZLES[swizzle],
            nan.get(kind, 0) if fill else 0,
        )

    @property
    def element_bytes(self) -> int:
        """Bytes of an element."""
        return DTYPES[self.kind].itemsize

    @property
    def counts(self) -> tuple[int, ...]:
        """Elements that a copy moves in each dimension."""
        return tuple(-(-extent // step) for extent, step in zip(self.box, self.steps, strict=True))

    @property
    def bytes(self) -> int:
        """Bytes of a box in shared memory."""
        return int(np.prod(self.counts)) * self.element_bytes

    def addresses(self, start: tuple[int, ...]) -> tuple[Array, NDArray[np.bool_]]:
        """(n,) the device address of each element of the box at `start`, and whether it is in the tensor."""
        address: Array = np.full(1, self.address, np.int64)
        inside: NDArray[np.bool_] = np.ones(1, np.bool_)
        for dimension in range(len(start) - 1, -1, -1):
            index = start[dimension] + np.arange(self.counts[dimension]) * self.steps[dimension]
            here = (index >= 0) & (index < self.extents[dimension])
            address = (address[:, None] + index * self.strides[dimension]).reshape(-1)
            inside = (inside[:, None] & here).reshape(-1)
        return address, inside

    def places(self, start: int) -> Array:
        """(n,) the shared address of each element of a box that lies at `start`."""
        place = start + np.arange(int(np.prod(self.counts))) * self.element_bytes
        piece = place >> 4 ^ (place >> 7 & self.swizzle)
        return np.asarray(piece << 4 | place & 15)
