"""Tensor maps: what the driver encodes, tiled or im2col, and the tensor copies read (PTX ISA 5.5).

CUDA leaves the 128 bytes opaque. The stand-in driver (`driver/tensors.mojo`) and this module agree on the
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
strides, swizzle, interleave, fill; then, of an im2col map, both corners of the pixel box, channels, pixels
and 1."""

TYPES = (
    "u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32", "f32", "f32",
)  # fmt: skip
"""The PTX type of each CUtensorMapDataType; the last three are f32 that hardware flushes or cuts to tf32."""

_FLUSHING, _TF32 = (10, 12), (11, 12)

_SWIZZLES = {0: 0, 1: 1, 2: 3, 3: 7}
"""Of each CUtensorMapSwizzle (none, 32, 64 and 128 bytes), the bits of the 16-byte piece that change."""


_NAN = 0x7FF7
"""What fills half a word outside a tensor, where NaN does: so an H200 has it for every type."""


class Column(Struct, frozen=True):
    """What a copy by an im2col map brings (PTX ISA 5.5.4): channels of some pixels, one after the other.

    Attributes:
        lower, upper: corners of the box that the first corner of a filter moves in, from the tensor's own.
        channels, pixels: of one copy.
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    channels: int
    pixels: int


class TensorMap(Struct, frozen=True):
    """A tensor in global memory and what one copy moves of it; dimensions from the innermost on.

    Attributes:
        address: of the first element; kind: PTX type of an element.
        extents, strides: elements, and bytes from one to the next, in each dimension.
        box: elements of a box in each dimension, gaps included; steps: take every so many-th of them.
        swizzle: which bits of a 16-byte piece's number are changed by those of its 128-byte row.
        fill: bits of an element outside the tensor.
        flushes: subnormal numbers become zero in sums; rounds: what is loaded is rounded to tf32.
        column: of an im2col map, which has no box.
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
        """The map that these 128 bytes hold; None where they hold none, or one with interleaved elements."""
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
            (1, *steps[1:rank]),  # the driver API says that the first one counts for nothing
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
        """(n,) the device address of each element that a copy moves, and whether it is in the tensor.

        Args:
            start: of the copy; offsets: of an im2col map, from a filter's first corner to the pixel meant.
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
        """Whether the first pixel of an im2col copy lies in the box that pixels are taken from."""
        return self.column is None or all(
            low <= at < end for at, low, end in zip(start[1:-1], self.column.lower, self._ends, strict=True)
        )

    @property
    def _ends(self) -> list[int]:
        """Where the box ends that pixels are taken from, in each inner dimension."""
        assert self.column is not None
        return [n + up for n, up in zip(self.extents[1:-1], self.column.upper, strict=True)]

    def _pixel_addresses(
        self, start: tuple[int, ...], offsets: tuple[int, ...], column: Column
    ) -> tuple[Array, NDArray[np.bool_]]:
        """Pixels follow one another in the box, row after row, and from one image to the next."""
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

    def places(self, start: int) -> Array:
        """(n,) the shared address of each element of a box that lies at `start`."""
        place = start + np.arange(int(np.prod(self.counts))) * self.element_bytes
        piece = place >> 4 ^ (place >> 7 & self.swizzle)
        return np.asarray(piece << 4 | place & 15)
