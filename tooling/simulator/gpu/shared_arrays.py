"""The shared arrays of a kernel, in the shared memory of a block."""

from __future__ import annotations

from msgspec import Struct


class SharedArray(Struct, frozen=True):
    """A named array in the shared memory of a block.

    Attributes:
        number: counts from 1 in the order of declaration.
        offset, size: bytes; `size` is None for dynamic shared memory, which extends to the end of the window.
    """

    number: int
    offset: int
    size: int | None
