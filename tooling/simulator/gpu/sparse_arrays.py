"""Arrays that are as long as a buffer, of which few elements may be used."""

from __future__ import annotations

import mmap
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)

_LARGE = 4 << 20
"""Bytes from which an array is mapped. The heap keeps what it has freed (`engine.heap`), and zeros reused
memory from end to end; below this size that is faster than mapping it."""


def sparse_zeros(count: int, dtype: type[Scalar]) -> NDArray[Scalar]:
    """(count,) zeros, of which only the pages that are written take memory, if the array is large."""
    size = count * np.dtype(dtype).itemsize
    if size < _LARGE:
        return np.zeros(count, dtype)
    return np.frombuffer(mmap.mmap(-1, size), dtype)
