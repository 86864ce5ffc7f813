"""Shadow memory of the race check: who wrote each granule last, and which threads have read it.

Two readers of each granule are kept in arrays, as most granules have no more; further ones are kept apart.

A granule is 1, 2, 4 or 8 bytes: the smallest access width of the kernel in that memory. An entry is one
64-bit key: the stamp of the access (its number in the order of simulation) above, the thread below, so that
"after the last barrier" is one comparison.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Keys: TypeAlias = NDArray[np.int64]

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


MOST_LATER = 64
"""So many other reads wait before they are entered."""

MOST_READERS = 1 << 20
"""So many further readers of granules are kept one by one."""

WARP = 32


class Panel(NamedTuple):
    """Neighbouring granules, the same ones in each of some neighbouring blocks' shared memory.

    The shadow is rows of `stride` granules, a block each: rows `first` up to `last`, columns `low` up to
    `high` (both exclusive). To copy such a part costs a fraction of looking each granule up.
    """

    first: int
    last: int
    low: int
    high: int
    stride: int

    def of(self, array: Keys) -> Keys:
        """This part of an array of all granules, as a view."""
        return array.reshape(-1, self.stride)[self.first : self.last, self.low : self.high]

    def all_granules(self) -> NDArray[np.int64]:
        """All granule numbers, row by row."""
        return self.granules(np.arange((self.last - self.first) * (self.high - self.low)))

    def granules(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Granule numbers at some positions in it, row by row."""
        row, column = np.divmod(positions, self.high - self.low)
        return np.asarray((self.first + row) * self.stride + self.low + column)


Selection: TypeAlias = slice | Panel | NDArray[np.int64]
"""The granules of an access, in the order of its keys: a slice or panel where they are neighbours."""


def look(array: NDArray[Any], where: Selection | NDArray[np.int32]) -> NDArray[Any]:
    """(n,) what an array of all granules holds at some of them."""
    return where.of(array).ravel() if isinstance(where, Panel) else array[where]


def enter(array: NDArray[Any], where: Selection | NDArray[np.int32], values: NDArray[Any]) -> None:
    """Set (n,) granules; of several values for one the last stays."""
    if isinstance(where, Panel):
        part = where.of(array)
        part[...] = values.reshape(part.shape)
    else:
        array[where] = values


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

    def forget_strips(self) -> None:
        self.strips.clear()
        self.waiting = (0, 0)

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
        count: granules.
        writer: (granules,) key of the last write, 0 for none.
        reader: (granules,) key of the last read; `earlier`: of a read by another thread before it.
        newest_write, newest_read: a key as new as the newest in the arrays.

    Args:
        size: bytes of the memory.
        granule: bytes of a granule.

    Most buffers of most kernels are touched by each thread at its own place only. Such accesses stay strips:
    the three arrays, six times as large as the memory itself, are not even made.
    """

    __slots__ = (
        "_arrays",
        "_crowd",
        "_later",
        "_read",
        "_written",
        "count",
        "granule",
        "newest_read",
        "newest_write",
    )

    def __init__(self, size: int, granule: int) -> None:
        self.count = -(-size // granule)
        self.granule = granule
        self._arrays: list[Keys | None] = [None, None, None]
        self.newest_write = self.newest_read = 0
        self._written = _Touched()
        self._read = _Touched()
        self._later: list[tuple[slice | Panel | NDArray[np.int32], NDArray[np.int32], int]] = []
        self._crowd = Crowd()

    @property
    def writer(self) -> Keys:
        return self._array(0)

    @property
    def reader(self) -> Keys:
        return self._array(1)

    @property
    def earlier(self) -> Keys:
        return self._array(2)

    def _array(self, number: int) -> Keys:
        array = self._arrays[number]
        if array is None:
            array = self._arrays[number] = np.zeros(self.count, dtype=np.int64)
        return array

    def forget(self) -> None:
        """A new launch: it comes after all that was recorded, so nothing of it can race."""
        self._written.clear()
        self._read.clear()
        self._later.clear()
        self._crowd.clear()

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
            self.enter_writes()
            self.enter_reads(0)
        touched.strips.append(strip)
        touched.waiting = _union(touched.waiting, strip.low, strip.high)
        return True

    def further_readers(self, where: Selection, floor: int) -> tuple[NDArray[np.int64], Keys]:
        """Readers at these granules besides `reader` and `earlier`: positions in `where`, and their keys.

        Args:
            floor: a key below which everything is ordered before every access to come.
        """
        return self._crowd.at(where, floor)

    def enter_writes(self) -> None:
        """Enter the waiting strips that were written into the arrays."""
        for strip in self._written.strips:
            keys = strip.keys()
            self.writer[strip.low : strip.high] = keys
            self._written.entered = _union(self._written.entered, strip.low, strip.high)
            self.newest_write = max(self.newest_write, int(keys[0]))
        self._written.forget_strips()

    def enter_reads(self, floor: int) -> None:
        """Enter the waiting reads, strips and others, into the arrays.

        Args:
            floor: a key below which everything is ordered before every access to come.
        """
        self._crowd.forget(floor)
        for strip in self._read.strips:
            keys = strip.keys()
            self._enter_read(slice(strip.low, strip.high), keys, floor)
            self._read.entered = _union(self._read.entered, strip.low, strip.high)
            self.newest_read = max(self.newest_read, int(keys[0]))
        self._read.forget_strips()
        if self.newest_read >= floor:
            for where, threads, mark in self._later:
                self._enter_read(where, threads.astype(np.int64) | mark, floor)
        self._later.clear()

    def record_read(self, target: Selection, keys: Keys, bounds: tuple[int, int], floor: int) -> None:
        """Record readers; where two threads read one granule, both will be kept.

        They are put down in short form: by the time someone writes, a barrier has mostly made them void.

        Args:
            target: granules, one per key; `bounds` are the first and one past the last.
            keys: (n,) keys of the readers, with a mark in common.
            floor: a key below which everything is ordered before every access to come.
        """
        if self.newest_read < floor:
            self._later.clear()
        elif len(self._later) == MOST_LATER:
            self.enter_reads(floor)
        first = int(keys[0])
        short = target if isinstance(target, slice | Panel) else target.astype(np.int32)
        self._later.append((short, (keys & THREAD).astype(np.int32), first & ~THREAD))
        self._read.entered = _union(self._read.entered, *bounds)
        self.newest_read = max(self.newest_read, first)

    def record_write(self, where: Selection, keys: Keys, bounds: tuple[int, int]) -> NDArray[np.int64]:
        """Record writes; of several lanes that write one granule the last one stays.

        Returns:
            Positions of the keys that were displaced by another lane of the same access.
        """
        enter(self.writer, where, keys)
        self._written.entered = _union(self._written.entered, *bounds)
        self.newest_write = max(self.newest_write, int(keys[0]))
        if isinstance(where, slice | Panel):
            return np.empty(0, np.int64)
        return np.flatnonzero(self.writer[where] != keys)

    def _enter_read(self, where: Selection | NDArray[np.int32], keys: Keys, floor: int) -> None:
        known = look(self.reader, where)
        if int(known.max()) < floor:
            # Nothing worth keeping: of several lanes at one granule, the first and the last are remembered.
            if isinstance(where, slice | Panel):
                enter(self.earlier, where, keys)
            else:
                self.earlier[where[::-1]] = keys[::-1]
            enter(self.reader, where, keys)
        else:
            self._displace(where, keys, known, floor)
            enter(self.reader, where, keys)
        if isinstance(where, slice | Panel):
            return
        lost = np.flatnonzero(self.reader[where] != keys)
        if len(lost):
            self._enter_several(where[lost], keys[lost], floor)

    def _displace(self, where: Selection | NDArray[np.int32], keys: Keys, known: Keys, floor: int) -> None:
        """Readers that are followed by another thread become the earlier ones, and those leave the arrays."""
        other = (known ^ keys) & THREAD != 0
        if not other.any():
            return
        before = look(self.earlier, where)
        leaving = other & (before >= max(floor, 1))
        leaving &= ((before ^ known) & THREAD != 0) & ((before ^ keys) & THREAD != 0)
        self._crowd.add(where, before, np.flatnonzero(leaving))
        enter(self.earlier, where, known if other.all() else np.where(other, known, before))

    def _enter_several(self, where: NDArray[np.int64] | NDArray[np.int32], keys: Keys, floor: int) -> None:
        """Lanes that read a granule together with the lane that is its reader now: the first one becomes the
        earlier reader; of the others one of each warp is kept."""
        before = self.earlier[where]
        self.earlier[where[::-1]] = keys[::-1]
        now = self.earlier[where]
        first = now == keys
        leaving = first & (before >= max(floor, 1)) & (before & ~THREAD != keys & ~THREAD)
        leaving &= (before ^ keys) & THREAD != 0
        self._crowd.add(where, before, np.flatnonzero(leaving))
        rest = np.flatnonzero(~first)
        if len(rest):
            places, warps = where[rest], (keys[rest] & THREAD) // WARP
            new = np.ones(len(rest), np.bool_)
            new[1:] = (places[1:] != places[:-1]) | (warps[1:] != warps[:-1])
            self._crowd.add(where, keys, rest[new])


class Crowd:
    """Readers of granules that have had more than two: pairs of granule and key, sorted when asked for.

    Of very many, one for each warp is kept.
    """

    __slots__ = ("_count", "_granules", "_keys", "_new", "_newest")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """There are none."""
        self._granules = np.empty(0, np.int64)
        self._keys: Keys = np.empty(0, np.int64)
        self._new: list[tuple[NDArray[np.int64], Keys]] = []
        self._newest = self._count = 0

    def forget(self, floor: int) -> None:
        """Nobody can race with what has a key below this one."""
        if self._newest and self._newest < floor:
            self.clear()

    def add(self, where: Selection | NDArray[np.int32], keys: Keys, chosen: NDArray[np.int64]) -> None:
        """Keep the chosen ones of (n,) keys at (n,) granules."""
        if len(chosen):
            kept = keys[chosen]
            self._new.append((granules_of(where, chosen), kept))
            self._newest = max(self._newest, int(kept.max()))
            self._count += len(chosen)
            if self._count > MOST_READERS:
                self._thin_out()

    def at(self, where: Selection, floor: int) -> tuple[NDArray[np.int64], Keys]:
        """Positions in `where`, and keys from `floor` on, of those at its granules."""
        self.forget(floor)
        if not self._count:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        self._sort()
        if isinstance(where, slice):
            low, high = np.searchsorted(self._granules, (where.start, where.stop)).tolist()
            found = np.arange(low, high)
            positions = self._granules[low:high] - where.start
        else:
            granules = where.all_granules() if isinstance(where, Panel) else where
            low, high = (np.searchsorted(self._granules, granules, side) for side in ("left", "right"))
            counts = high - low
            positions = np.repeat(np.arange(len(granules)), counts)
            found = np.arange(len(positions)) + np.repeat(low - (np.cumsum(counts) - counts), counts)
        keys = self._keys[found]
        new = keys >= floor
        return positions[new], keys[new]

    def _sort(self) -> None:
        if self._new:
            granules = np.concatenate([self._granules, *(granules for granules, _ in self._new)])
            keys = np.concatenate([self._keys, *(keys for _, keys in self._new)])
            order = np.argsort(granules, kind="stable")
            self._granules, self._keys = granules[order], keys[order]
            self._new.clear()

    def _thin_out(self) -> None:
        """Keep the newest reader of each warp at each granule."""
        self._sort()
        warps = (self._keys & THREAD) // WARP
        order = np.lexsort((-self._keys, warps, self._granules))
        granules, warps = self._granules[order], warps[order]
        first = np.ones(len(order), np.bool_)
        first[1:] = (granules[1:] != granules[:-1]) | (warps[1:] != warps[:-1])
        self._granules, self._keys = granules[first], self._keys[order][first]
        self._count = len(self._keys)


def granules_of(where: Selection | NDArray[np.int32], positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Granule numbers at some positions of a selection."""
    if isinstance(where, slice):
        return np.asarray(positions + where.start)
    if isinstance(where, Panel):
        return where.granules(positions)
    return where[positions].astype(np.int64)


def _meet(interval: tuple[int, int], low: int, high: int) -> bool:
    return low < interval[1] and interval[0] < high


def _union(interval: tuple[int, int], low: int, high: int) -> tuple[int, int]:
    if interval[0] == interval[1]:
        return (low, high)
    return (min(interval[0], low), max(interval[1], high))
