"""Shadow memory of the race check: who wrote each granule last, and which two threads read it last.

A granule is 1, 2, 4 or 8 bytes: the smallest access width of the kernel in that memory. An entry is one
64-bit key: the stamp of the access (its number in the order of simulation) above, the thread below, so that
"after the last barrier" is one comparison.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

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


MOST_STRIPS = 4096
"""So many strips wait before they are entered granule by granule."""


class Strip(NamedTuple):
    """A dense access: neighbouring threads on neighbouring granules, kept as five numbers.

    Granules `low` up to `high` (exclusive), `each` per thread, the first thread being `first`; `mark` is what
    the keys have in common.
    """

    low: int
    high: int
    first: int
    each: int
    mark: int

    def keys(self) -> Keys:
        """The keys of the granules."""
        threads = np.arange(self.first, self.first + (self.high - self.low) // self.each)
        keys = threads | self.mark
        return keys if self.each == 1 else np.repeat(keys, self.each)

    def same_threads(self, other: Strip) -> bool:
        """Whether each granule belongs to the same thread in both."""
        return (
            self.each == other.each
            and self.first * self.each - self.low == other.first * other.each - other.low
        )


class _Touched:
    """Which granules an access of one sort (read, write) touched in this launch: strips, and bounds of the
    rest."""

    __slots__ = ("entered", "strips", "waiting")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.strips: list[Strip] = []
        self.waiting = self.entered = (0, 0)

    def overlaps(self, low: int, high: int) -> bool:
        return _meet(self.entered, low, high) or _meet(self.waiting, low, high)

    def may_clash(self, strip: Strip) -> bool:
        """Whether another thread may have touched a granule of this strip."""
        if _meet(self.entered, strip.low, strip.high):
            return True
        return _meet(self.waiting, strip.low, strip.high) and any(
            other.low < strip.high and strip.low < other.high and not other.same_threads(strip)
            for other in self.strips
        )


class Shadow:
    """The shadow of one stretch of memory.

    Attributes:
        writer: (granules,) key of the last write, 0 for none.
        reader: (granules,) key of the last read; `earlier`: of a read by another thread before it.

    Args:
        size: bytes of the memory.
        granule: bytes of a granule.

    Most buffers of most kernels are touched by each thread at its own place only. Such accesses stay strips:
    the three arrays, six times as large as the memory itself, are not even touched.
    """

    __slots__ = ("_read", "_written", "earlier", "granule", "reader", "writer")

    def __init__(self, size: int, granule: int) -> None:
        count = -(-size // granule)
        self.granule = granule
        self.writer: Keys = np.zeros(count, dtype=np.int64)
        self.reader: Keys = np.zeros(count, dtype=np.int64)
        self.earlier: Keys = np.zeros(count, dtype=np.int64)
        self._written = _Touched()
        self._read = _Touched()

    def forget(self) -> None:
        """A new launch: it comes after all that was recorded, so nothing of it can race."""
        self._written.clear()
        self._read.clear()

    def was_written(self, low: int, high: int) -> bool:
        """Whether a granule of [low, high) may have been written in this launch."""
        return self._written.overlaps(low, high)

    def was_read(self, low: int, high: int) -> bool:
        """Whether a granule of [low, high) may have been read in this launch."""
        return self._read.overlaps(low, high)

    def take(self, strip: Strip, *, writes: bool) -> bool:
        """Record a dense access as a strip, unless it may clash with another thread's.

        Returns:
            False where it must be compared and recorded granule by granule.
        """
        if self._written.may_clash(strip) or (writes and self._read.may_clash(strip)):
            return False
        touched = self._written if writes else self._read
        if len(touched.strips) == MOST_STRIPS:
            self.enter()
        touched.strips.append(strip)
        touched.waiting = _union(touched.waiting, strip.low, strip.high)
        return True

    def enter(self) -> None:
        """Enter the waiting strips into the arrays."""
        for strip in self._read.strips:
            self._enter_read(slice(strip.low, strip.high), strip.keys(), strip.low, strip.high)
        for strip in self._written.strips:
            self.writer[strip.low : strip.high] = strip.keys()
            self._written.entered = _union(self._written.entered, strip.low, strip.high)
        for touched in (self._read, self._written):
            touched.strips.clear()
            touched.waiting = (0, 0)

    def record_read(self, where: Selection, keys: Keys, low: int, high: int) -> None:
        """Record readers; where two threads read one granule, both are kept.

        Args:
            where: granules, one per key; `low` and `high` bound them.
            keys: (n,) keys of the readers.
        """
        if self._read.strips:
            self.enter()
        self._enter_read(where, keys, low, high)

    def record_write(self, where: Selection, keys: Keys, low: int, high: int) -> NDArray[np.int64]:
        """Record writes; of several lanes that write one granule the last one stays.

        Returns:
            Positions of the keys that were displaced by another lane of the same access.
        """
        if self._written.strips:
            self.enter()
        self.writer[where] = keys
        self._written.entered = _union(self._written.entered, low, high)
        if isinstance(where, slice):
            return np.empty(0, np.int64)
        return np.flatnonzero(self.writer[where] != keys)

    def _enter_read(self, where: Selection, keys: Keys, low: int, high: int) -> None:
        if _meet(self._read.entered, low, high):
            known = self.reader[where]
            other = (known ^ keys) & THREAD != 0
            if other.all():
                self.earlier[where] = known
            elif other.any():
                self.earlier[where] = np.where(other, known, self.earlier[where])
        self.reader[where] = keys
        if not isinstance(where, slice):
            lost = np.flatnonzero(self.reader[where] != keys)
            if len(lost):
                # Several lanes read the granule at once: the last stays in `reader`, the first in `earlier`.
                backwards = lost[::-1]
                self.earlier[where[backwards]] = keys[backwards]
        self._read.entered = _union(self._read.entered, low, high)


def _meet(interval: tuple[int, int], low: int, high: int) -> bool:
    return low < interval[1] and interval[0] < high


def _union(interval: tuple[int, int], low: int, high: int) -> tuple[int, int]:
    if interval[0] == interval[1]:
        return (low, high)
    return (min(interval[0], low), max(interval[1], high))
