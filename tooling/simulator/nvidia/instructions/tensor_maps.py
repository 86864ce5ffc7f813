"""Tensor maps, tiled and im2col: encoded by the driver and read by tensor copies (PTX ISA 5.5).

The 128 bytes are opaque in CUDA. The simulated driver (`driver/tensors.mojo`) and this module share the
layout below.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.simulator.nvidia.semantics.registry import DTYPES

Array = NDArray[Any]

BYTES = 128
MAGIC = int.from_bytes(b"PUZZLTMA", "little")
LAYOUT = struct.Struct("<QQ5I5HBB4Q5BBBB3h3hHHB")
"""Magic, address, last index per dimension, box, rank, type, strides from the second dimension on, element
strides, swizzle, interleave, fill; then, in an im2col map, both corners of the pixel box, channels, pixels
and 1."""

TYPES = (
    "u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32", "f32", "f32",
)  # fmt: skip
"""The PTX type of each CUtensorMapDataType; the last three are f32 with flush-to-zero, tf32, and tf32 with
flush-to-zero."""

_FLUSHING, _TF32 = (10, 12), (11, 12)

_SWIZZLES = {0: 0, 1: 1, 2: 3, 3: 7}
"""For each CUtensorMapSwizzle (none, 32, 64, 128 bytes), the bits of a 16-byte piece's number that change."""


_NAN = 0x7FF7
"""The 16-bit pattern that an H200 writes outside a tensor if the fill is NaN, whatever the type."""


class Column(Struct, frozen=True):
    """The extent of an im2col copy (PTX ISA 5.5.4): channels of consecutive pixels.

    Attributes:
        lower, upper: corners of the bounding box of the filter's first element, relative to the tensor's.
        channels, pixels: copied by one instruction.
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    channels: int
    pixels: int


class TensorMap(Struct, frozen=True):
    """A tensor in global memory and the box that one copy moves; dimensions start with the innermost.

    Attributes:
        address: of the first element; kind: PTX type of an element.
        extents, strides: in each dimension, the number of elements, and the bytes between two of them.
        box: extent of a box in each dimension; steps: element strides within the box.
        swizzle: the bits of a 16-byte piece's number that are XORed with those of its 128-byte row.
        fill: bits of an element outside the tensor.
        flushes: reductions flush subnormal numbers to zero; rounds: loads round to tf32.
        column: extent of an im2col copy, which has no box.
    """

    address: int
    kind: str
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...]
    swizzle: int
    fill: int
    flushes: bool = False
    rounds: bool = False
    column: Column | None = None

    @staticmethod
    def unpack(content: bytes) -> TensorMap | None:
        """The tensor map in these 128 bytes; None if they are not one, or one with an interleaved layout."""
        magic, address, *numbers = LAYOUT.unpack_from(content)
        last, box, (rank, number) = numbers[:5], numbers[5:10], numbers[10:12]
        strides, steps, (swizzle, interleave, fill) = numbers[12:16], numbers[16:21], numbers[21:24]
        lower, upper, (channels, pixels, is_column) = numbers[24:27], numbers[27:30], numbers[30:33]
        if magic != MAGIC or not 1 <= rank <= 5 or number >= len(TYPES) or interleave or swizzle > 3:
            return None
        kind = TYPES[number]
        size = DTYPES[kind].itemsize
        return TensorMap(
            address,
            kind,
            tuple(n + 1 for n in last[:rank]),
            (size, *strides[: rank - 1]),
            tuple(box[:rank]),
            (1, *steps[1:rank]),  # the first element stride is ignored (CUDA driver API)
            _SWIZZLES[swizzle],
            sum(_NAN << 16 * half for half in range(size // 2)) if fill else 0,
            number in _FLUSHING,
            number in _TF32,
            Column(tuple(lower[: rank - 2]), tuple(upper[: rank - 2]), channels, pixels)
            if is_column
            else None,
        )

    @property
    def element_bytes(self) -> int:
        """Bytes of an element."""
        return DTYPES[self.kind].itemsize

    @property
    def counts(self) -> tuple[int, ...]:
        """Elements that a copy moves in each dimension, or channels and pixels."""
        if self.column is not None:
            return (self.column.channels, self.column.pixels)
        return tuple(-(-extent // step) for extent, step in zip(self.box, self.steps, strict=True))

    @property
    def bytes(self) -> int:
        """Bytes of a box in shared memory."""
        return int(np.prod(self.counts)) * self.element_bytes

    def addresses(
        self, start: tuple[int, ...], offsets: tuple[int, ...] = ()
    ) -> tuple[Array, NDArray[np.bool_]]:
        """(n,) the device address of each element that a copy moves, and whether it is inside the tensor.

        Args:
            start: coordinates of the copy; offsets: im2col offsets from the filter's first element.
        """
        if self.column is not None:
            return self._pixel_addresses(start, offsets, self.column)
        address: Array = np.full(1, self.address, np.int64)
        inside: NDArray[np.bool_] = np.ones(1, np.bool_)
        for dimension in range(len(start) - 1, -1, -1):
            index = start[dimension] + np.arange(self.counts[dimension]) * self.steps[dimension]
            here = (index >= 0) & (index < self.extents[dimension])
            address = (address[:, None] + index * self.strides[dimension]).reshape(-1)
            inside = (inside[:, None] & here).reshape(-1)
        return address, inside

    def begins_inside(self, start: tuple[int, ...]) -> bool:
        """Whether the first pixel of an im2col copy is in the bounding box; True for tiled copies."""
        return self.column is None or all(
            low <= at < end for at, low, end in zip(start[1:-1], self.column.lower, self._ends, strict=True)
        )

    @property
    def _ends(self) -> list[int]:
        """The end of the bounding box in each inner dimension."""
        assert self.column is not None
        return [n + up for n, up in zip(self.extents[1:-1], self.column.upper, strict=True)]

    def _pixel_addresses(
        self, start: tuple[int, ...], offsets: tuple[int, ...], column: Column
    ) -> tuple[Array, NDArray[np.bool_]]:
        """`addresses` for im2col: pixels are numbered row by row in the bounding box, then image by image."""
        pixels = np.empty((column.pixels, len(start) - 1), np.int64)
        at = list(start[1:])
        for pixel in pixels:
            pixel[:] = at
            for dimension, (low, end) in enumerate(zip(column.lower, self._ends, strict=True)):
                at[dimension] += self.steps[1 + dimension]
                if at[dimension] < end:
                    break
                at[dimension] = low
            else:
                at[-1] += self.steps[-1]
        pixels[:, :-1] += np.array(offsets, np.int64)
        channels = start[0] + np.arange(column.channels)
        address = pixels @ np.array(self.strides[1:], np.int64)
        inside: NDArray[np.bool_] = np.all((pixels >= 0) & (pixels < np.array(self.extents[1:])), axis=1)
        here = (channels >= 0) & (channels < self.extents[0])
        return (
            (self.address + address[:, None] + channels * self.strides[0]).reshape(-1),
            (inside[:, None] & here).reshape(-1),
        )

    def shared_addresses(self, start: int) -> Array:
        """(n,) the shared address of each element of a box at `start`, swizzled."""
        address = start + np.arange(int(np.prod(self.counts))) * self.element_bytes
        piece = address >> 4 ^ (address >> 7 & self.swizzle)
        return np.asarray(piece << 4 | address & 15)
