"""Shadow memory of the race check: who wrote each granule last, and which two threads read it last.

A granule is 1, 2, 4 or 8 bytes: the smallest access width of the kernel in that memory. An entry is one
64-bit key: the stamp of the access (its number in the order of simulation) above, the thread below, so that
"after the last barrier" is one comparison.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Keys: TypeAlias = NDArray[np.int64]
Selection: TypeAlias = slice | NDArray[np.int64]
"""The granules of an access, in the order of its keys: a slice where they are neighbours."""

STAMP_SHIFT = 32
STRONG = 1 << 31
"""Key flag: an atomic or another strong access; two of these may meet."""
THREAD = STRONG - 1
IN_FLIGHT = 1 << 30
"""Added to the stamp of an asynchronous copy that nobody has waited for: after every barrier."""


def stamps_of(keys: Keys) -> NDArray[np.int64]:
    """The stamps, without the mark of a copy in flight."""
    return (keys >> STAMP_SHIFT) & (IN_FLIGHT - 1)


class Shadow:
    """The shadow of one stretch of memory.

    Attributes:
        writer: (granules,) key of the last write, 0 for none.
        reader: (granules,) key of the last read; `earlier`: of a read by another thread before it.

    Args:
        size: bytes of the memory.
        granule: bytes of a granule.
    """

    __slots__ = ("_read", "_written", "earlier", "granule", "reader", "writer")

    def __init__(self, size: int, granule: int) -> None:
        count = -(-size // granule)
        self.granule = granule
        self.writer: Keys = np.zeros(count, dtype=np.int64)
        self.reader: Keys = np.zeros(count, dtype=np.int64)
        self.earlier: Keys = np.zeros(count, dtype=np.int64)
        self._written = (0, 0)
        self._read = (0, 0)

    def forget(self) -> None:
        """A new launch: it comes after all that was recorded, so nothing of it can race."""
        self._written = self._read = (0, 0)

    def was_written(self, low: int, high: int) -> bool:
        """Whether a granule of [low, high) may have been written in this launch."""
        return low < self._written[1] and self._written[0] < high

    def was_read(self, low: int, high: int) -> bool:
        """Whether a granule of [low, high) may have been read in this launch."""
        return low < self._read[1] and self._read[0] < high

    def record_read(self, where: Selection, keys: Keys, low: int, high: int) -> None:
        """Record readers; where two threads read one granule, both are kept.

        Args:
            where: granules, one per key; `low` and `high` bound them.
            keys: (n,) keys of the readers.
        """
        if self.was_read(low, high):
            self._displace(where, keys)
        self.reader[where] = keys
        if not isinstance(where, slice):
            lost = np.flatnonzero(self.reader[where] != keys)
            if len(lost):
                # Several lanes read the granule at once: the last one stays in `reader`, the first in
                # `earlier`.
                backwards = lost[::-1]
                self.earlier[where[backwards]] = keys[backwards]
        self._read = _union(self._read, low, high)

    def record_write(self, where: Selection, keys: Keys, low: int, high: int) -> NDArray[np.int64]:
        """Record writers; of several lanes that write one granule the last one stays.

        Returns:
            Positions of the keys that were displaced by another lane of the same access.
        """
        self.writer[where] = keys
        self._written = _union(self._written, low, high)
        if isinstance(where, slice):
            return np.empty(0, np.int64)
        return np.flatnonzero(self.writer[where] != keys)

    def _displace(self, where: Selection, keys: Keys) -> None:
        known = self.reader[where]
        other = (known ^ keys) & THREAD != 0
        if other.all():
            self.earlier[where] = known
        elif other.any():
            self.earlier[where] = np.where(other, known, self.earlier[where])


def _union(interval: tuple[int, int], low: int, high: int) -> tuple[int, int]:
    if interval[0] == interval[1]:
        return (low, high)
    return (min(interval[0], low), max(interval[1], high))
