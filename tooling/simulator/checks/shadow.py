"""Shadow memory of the race check: the threads that have written each granule, and those that have read it.

The last writer and two readers of each granule are kept in arrays, since most granules have no more; others
are kept in lists. An earlier writer is kept only if no race with the last one hides it: both updated the
granule by strong accesses, or both stored the same value.

A granule is 1, 2, 4 or 8 bytes: the smallest access width of the kernel in that memory. An entry is a 64-bit
epoch with the clock of the access (its number in simulation order) in the upper half and the thread in the
lower (FastTrack's c@t, Flanagan and Freund 2009), so that "after the last barrier" is one comparison. What is
below the horizon happens before everything that follows.
"""

from __future__ import annotations

import mmap
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Epochs: TypeAlias = NDArray[np.int64]
Scalar = TypeVar("Scalar", bound=np.generic)

CLOCK_SHIFT = 32
STRONG = 1 << 31
"""Key flag: an atomic or another strong access; two of these do not race."""
THREAD = STRONG - 1
IN_FLIGHT = 1 << 30
"""Added to the clock of an asynchronous copy that was not waited for: later than every barrier."""


_MAPPED = 4 << 20
"""Bytes from which `sparse_zeros` maps an array. The heap keeps what it has freed (`engine.heap`), and zeros
reused memory from end to end; below this size that is faster than mapping it."""


def sparse_zeros(count: int, dtype: type[Scalar]) -> NDArray[Scalar]:
    """(count,) zeros, of which only the pages that are written take memory, if the array is large."""
    size = count * np.dtype(dtype).itemsize
    if size < _MAPPED:
        return np.zeros(count, dtype)
    return np.frombuffer(mmap.mmap(-1, size), dtype)


def clocks_of(epochs: Epochs) -> NDArray[np.int64]:
    """The clocks, without the flag of a copy in flight."""
    return (epochs >> CLOCK_SHIFT) & (IN_FLIGHT - 1)


MAX_STRIPS = 4096
"""Strips kept before they are written to the arrays."""

LATEST = 4
"""Strips among which a repeated one is looked for."""

MAX_LATER = 64
"""Other reads kept before they are written to the arrays."""

MAX_FURTHER = 1 << 20
"""Further readers, or writers, of granules that are kept individually."""

MANY = 4096
"""Of more lanes than this that write together, two are kept at each granule."""

WARP = 32


class Panel(NamedTuple):
    """Neighbouring granules, the same ones in each of some neighbouring blocks' shared memory.

    The shadow is rows of `stride` granules, a block each: rows `first` up to `last`, columns `low` up to
    `high` (both exclusive). Copying such a slice is much cheaper than indexing each granule.
    """

    first: int
    last: int
    low: int
    high: int
    stride: int

    def of(self, array: Epochs) -> Epochs:
        """The panel of an array of all granules, as a view."""
        return array.reshape(-1, self.stride)[self.first : self.last, self.low : self.high]

    def all_granules(self) -> NDArray[np.int64]:
        """All granule numbers, row by row."""
        return self.granules(np.arange((self.last - self.first) * (self.high - self.low)))

    def granules(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Granule numbers at some positions in it, row by row."""
        row, column = np.divmod(positions, self.high - self.low)
        return np.asarray((self.first + row) * self.stride + self.low + column)


Selection: TypeAlias = slice | Panel | NDArray[np.int64]
"""The granules of an access, in the order of its epochs: a slice or panel if they are contiguous."""


def gather(array: NDArray[Any], where: Selection | NDArray[np.int32]) -> NDArray[Any]:
    """(n,) the values of an array at some granules."""
    return where.of(array).ravel() if isinstance(where, Panel) else array[where]


def scatter(array: NDArray[Any], where: Selection | NDArray[np.int32], values: NDArray[Any]) -> None:
    """Set (n,) granules; of several values for one granule the last is kept."""
    if isinstance(where, Panel):
        view = where.of(array)
        view[...] = values.reshape(view.shape)
    else:
        array[where] = values


class Strip(NamedTuple):
    """A dense access: consecutive threads on consecutive granules, kept as a few numbers.

    Granules `low` up to `high` (exclusive), `each` per thread, from thread `first` on; `clock_part` is common
    to the epochs. In the shared memory of blocks of `threads` threads, which is rows of `stride` granules, it
    is the same granules of rows `top` up to `bottom` (exclusive), and `first` is the thread in row 0.
    """

    low: int
    high: int
    first: int
    each: int
    clock_part: int
    top: int = 0
    bottom: int = 1
    threads: int = 0
    stride: int = 0

    @property
    def where(self) -> slice | Panel:
        """The granules."""
        if not self.stride:
            return slice(self.low, self.high)
        return Panel(self.top, self.bottom, self.low, self.high, self.stride)

    def epochs(self) -> Epochs:
        """The epochs of the granules."""
        threads = np.arange(self.first, self.first + (self.high - self.low) // self.each)
        if self.stride:
            threads = (np.arange(self.top, self.bottom)[:, None] * self.threads + threads).ravel()
        epochs = threads | self.clock_part
        return epochs if self.each == 1 else np.repeat(epochs, self.each)

    def overlaps(self, other: Strip) -> bool:
        """Whether they have granules in common."""
        return (
            other.low < self.high
            and self.low < other.high
            and other.top < self.bottom
            and self.top < other.bottom
        )

    def same_threads(self, other: Strip) -> bool:
        """Whether each granule belongs to the same thread in both."""
        return (
            self.each == other.each
            and self.first * self.each - self.low == other.first * other.each - other.low
        )


class _Read(NamedTuple):
    """A read that is not a strip: granules, and the thread of each."""

    clock_part: int
    where: slice | Panel | NDArray[np.int32]
    threads: NDArray[np.int32]

    def epochs(self) -> Epochs:
        """The epochs of the granules."""
        return self.threads.astype(np.int64) | self.clock_part


def _clock_part(read: Strip | _Read) -> int:
    return read.clock_part


class _Touched:
    """The granules that reads, or writes, touched in this launch: strips, and bounds of the rest."""

    __slots__ = ("entered", "strips", "waiting")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.strips: list[Strip] = []
        self.waiting = self.entered = (0, 0)

    def forget_strips(self) -> None:
        self.strips.clear()
        self.waiting = (0, 0)

    def forget_repeated(self, strip: Strip) -> None:
        """Remove one of the latest strips if this one repeats it later, as the accesses of a loop do."""
        strips = self.strips
        for index in range(len(strips) - 1, max(-1, len(strips) - 1 - LATEST), -1):
            other = strips[index]
            same_place = other[:4] == strip[:4] and other[5:] == strip[5:]
            if same_place and (other.clock_part ^ strip.clock_part) & STRONG == 0:
                del strips[index]
                return

    def overlaps(self, low: int, high: int) -> bool:
        return _overlap(self.entered, low, high) or _overlap(self.waiting, low, high)

    def may_clash(self, strip: Strip) -> bool:
        """Whether another thread may have touched a granule of the strip."""
        if _overlap(self.entered, strip.low, strip.high):
            return True
        return _overlap(self.waiting, strip.low, strip.high) and any(
            other.overlaps(strip) and not other.same_threads(strip) for other in self.strips
        )

    def forget_ordered(self, newest: int, horizon: int) -> None:
        """Forget what is ordered before every later access: all that is below the horizon.

        Args:
            newest: an upper bound of the epochs of granules that were touched by other accesses than strips.
        """
        if self.strips and self.strips[-1].clock_part < horizon:
            self.forget_strips()
        if newest < horizon:
            self.entered = (0, 0)


class Shadow:
    """The shadow of one range of memory.

    Attributes:
        count: granules.
        writer: (granules,) epoch of the last write, 0 for none.
        reader: (granules,) epoch of the last read; `earlier`: of a read by another thread before it.
        newest_write, newest_read: an upper bound of the epochs in the arrays.

    Args:
        size: bytes of the memory.
        granule: bytes of a granule.
        warp_mates: how many neighbouring threads are always of one warp of one block, so that one reader or
            writer may stand for the others.

    Most buffers are accessed by each thread at its own element only. Such accesses stay strips: the three
    arrays, six times as large as the memory itself, are not allocated.
    """

    __slots__ = (
        "_arrays",
        "_further_readers",
        "_later",
        "_plain_writers",
        "_read",
        "_strong_writers",
        "_written",
        "count",
        "granule",
        "newest_read",
        "newest_write",
        "warp_mates",
    )

    def __init__(self, size: int, granule: int, warp_mates: int = WARP) -> None:
        self.count = -(-size // granule)
        self.granule = granule
        self.warp_mates = warp_mates
        self._arrays: list[Epochs | None] = [None, None, None]
        self.newest_write = self.newest_read = 0
        self._written = _Touched()
        self._read = _Touched()
        self._later: list[_Read] = []
        self._further_readers = Further()
        self._strong_writers = Further()
        self._plain_writers = Further()

    @property
    def writer(self) -> Epochs:
        return self._array(0)

    @property
    def reader(self) -> Epochs:
        return self._array(1)

    @property
    def earlier(self) -> Epochs:
        return self._array(2)

    def _array(self, number: int) -> Epochs:
        array = self._arrays[number]
        if array is None:
            array = self._arrays[number] = sparse_zeros(self.count, np.int64)
        return array

    def forget(self, warp_mates: int) -> None:
        """A new launch, ordered after everything recorded, with warps of this size."""
        self.warp_mates = warp_mates
        self._written.clear()
        self._read.clear()
        self._later.clear()
        for further in self._further:
            further.clear()

    @property
    def _further(self) -> tuple[Further, Further, Further]:
        return self._further_readers, self._strong_writers, self._plain_writers

    def divide(self, granule: int) -> None:
        """Divide the granules into smaller ones, for an access that is narrower than expected."""
        self.flush_writes()
        self.flush_reads(0)
        times = self.granule // granule
        self._arrays = [None if array is None else np.repeat(array, times) for array in self._arrays]
        for further in self._further:
            further.divide(times)
        for touched in (self._written, self._read):
            low, high = touched.entered
            touched.entered = low * times, high * times
        self.count *= times
        self.granule = granule

    def was_written(self, low: int, high: int) -> bool:
        """Whether a granule of [low, high) may have been written in this launch."""
        return self._written.overlaps(low, high)

    def was_read(self, low: int, high: int) -> bool:
        """Whether a granule of [low, high) may have been read in this launch."""
        return self._read.overlaps(low, high)

    def forget_ordered(self, horizon: int) -> None:
        """Forget the accesses below the horizon if none of them can matter any more, not even as the last
        writer of its granules."""
        self._written.forget_ordered(self.newest_write, horizon)
        self._read.forget_ordered(self.newest_read, horizon)

    def take(self, strip: Strip, *, writes: bool) -> bool:
        """Record a dense access as a strip, unless it may conflict with another thread's.

        Returns:
            False if it must be compared and recorded granule by granule.
        """
        if self._written.may_clash(strip) or (writes and self._read.may_clash(strip)):
            return False
        touched = self._written if writes else self._read
        if not strip.stride or len(touched.strips) > LATEST:
            touched.forget_repeated(strip)
        if len(touched.strips) == MAX_STRIPS:
            self.flush_writes()
            self.flush_reads(0)
        touched.strips.append(strip)
        touched.waiting = _union(touched.waiting, strip.low, strip.high)
        return True

    def further_readers(self, where: Selection, horizon: int) -> tuple[NDArray[np.int64], Epochs]:
        """Readers at these granules besides `reader` and `earlier`: positions in `where`, and their epochs.

        Args:
            horizon: an epoch below which every access is ordered before every later access.
        """
        return self._further_readers.at(where, horizon)

    def further_writers(
        self, where: Selection, horizon: int, *, strong: bool
    ) -> tuple[NDArray[np.int64], Epochs]:
        """Writers at these granules before `writer`, strong or others: see `further_readers`."""
        return (self._strong_writers if strong else self._plain_writers).at(where, horizon)

    def flush_writes(self) -> None:
        """Write the pending write strips to the arrays."""
        for strip in self._written.strips:
            epochs, where = strip.epochs(), strip.where
            if strip.clock_part & STRONG:
                before = gather(self.writer, where)
                own = (before & STRONG == 0) & (before > 0)
                self.keep_writers(where, before, np.flatnonzero(own))
            scatter(self.writer, where, epochs)
            self._written.entered = _union(self._written.entered, strip.low, strip.high)
            self.newest_write = max(self.newest_write, int(epochs[0]))
        self._written.forget_strips()

    def flush_reads(self, horizon: int) -> None:
        """Write the pending reads, strips and others, to the arrays.

        Args:
            horizon: an epoch below which every access is ordered before every later access.
        """
        self._further_readers.forget(horizon)
        strips, later = self._read.strips, self._later
        if strips:
            self.newest_read = max(self.newest_read, strips[-1].clock_part | THREAD)
            for strip in strips:
                self._read.entered = _union(self._read.entered, strip.low, strip.high)
        if self.newest_read < horizon:
            later = []
        reads: list[Strip | _Read] = [*strips, *later]
        for read in sorted(reads, key=_clock_part):
            self._write_readers(read.where, read.epochs(), horizon)
        self._read.forget_strips()
        self._later.clear()

    def record_read(self, target: Selection, epochs: Epochs, bounds: tuple[int, int], horizon: int) -> None:
        """Record readers; if two threads read one granule, both are kept.

        They are kept in compact form: a barrier usually invalidates them before the next write.

        Args:
            target: granules, one per epoch; `bounds` are the first and one past the last.
            epochs: (n,) epochs of the readers, with a clock_part in common.
            horizon: an epoch below which every access is ordered before every later access.
        """
        if self.newest_read < horizon:
            self._later.clear()
        elif len(self._later) == MAX_LATER:
            self.flush_reads(horizon)
        first = int(epochs[0])
        short = target if isinstance(target, slice | Panel) else target.astype(np.int32)
        self._later.append(_Read(first & ~THREAD, short, (epochs & THREAD).astype(np.int32)))
        self._read.entered = _union(self._read.entered, *bounds)
        self.newest_read = max(self.newest_read, first)

    def keep_writers(self, where: Selection, epochs: Epochs, chosen: NDArray[np.int64]) -> None:
        """Keep the chosen ones of (n,) epochs at (n,) granules, which an access displaces as the last ones.

        Of many that wrote one granule together, the first and the last are kept, of fewer one of each warp.
        """
        if not len(chosen):
            return
        if len(chosen) > MANY:
            chosen = chosen[self._first_or_last(granules_of(where, chosen))]
        new = self._one_of_each_warp(granules_of(where, chosen), epochs[chosen])
        strong = epochs[chosen] & STRONG != 0
        self._strong_writers.add(where, epochs, chosen[new & strong])
        self._plain_writers.add(where, epochs, chosen[new & ~strong])

    def has_further_writers(self, horizon: int, *, strong: bool) -> bool:
        """Whether `further_writers` may find any."""
        further = self._strong_writers if strong else self._plain_writers
        further.forget(horizon)
        return bool(len(further))

    def record_write(self, where: Selection, epochs: Epochs, bounds: tuple[int, int]) -> NDArray[np.int64]:
        """Record writes; of several lanes that write one granule the last is kept.

        Returns:
            Positions of the epochs that were displaced by another lane of the same access.
        """
        scatter(self.writer, where, epochs)
        self._written.entered = _union(self._written.entered, *bounds)
        self.newest_write = max(self.newest_write, int(epochs[0]))
        if isinstance(where, slice | Panel):
            return np.empty(0, np.int64)
        return np.flatnonzero(self.writer[where] != epochs)

    def _write_readers(self, where: Selection | NDArray[np.int32], epochs: Epochs, horizon: int) -> None:
        known = gather(self.reader, where)
        if int(known.max()) < horizon:
            # Nothing to keep: of several lanes at one granule, the first and the last are recorded.
            if isinstance(where, slice | Panel):
                scatter(self.earlier, where, epochs)
            else:
                self.earlier[where[::-1]] = epochs[::-1]
            scatter(self.reader, where, epochs)
        else:
            self._displace(where, epochs, known, horizon)
            scatter(self.reader, where, epochs)
        if isinstance(where, slice | Panel):
            return
        lost = np.flatnonzero(self.reader[where] != epochs)
        if len(lost):
            self._write_several(where[lost], epochs[lost], horizon)

    def _displace(
        self, where: Selection | NDArray[np.int32], epochs: Epochs, known: Epochs, horizon: int
    ) -> None:
        """Move readers that another thread replaces to `earlier`, and earlier ones to the list."""
        other = (known ^ epochs) & THREAD != 0
        if not other.any():
            return
        before = gather(self.earlier, where)
        leaving = other & (before >= max(horizon, 1))
        leaving &= ((before ^ known) & THREAD != 0) & ((before ^ epochs) & THREAD != 0)
        self._further_readers.add(where, before, np.flatnonzero(leaving))
        scatter(self.earlier, where, known if other.all() else np.where(other, known, before))

    def _write_several(
        self, where: NDArray[np.int64] | NDArray[np.int32], epochs: Epochs, horizon: int
    ) -> None:
        """Record lanes that read a granule together with the lane that is its reader now: the first becomes
        the earlier reader; of the others one of each warp is kept."""
        before = self.earlier[where]
        self.earlier[where[::-1]] = epochs[::-1]
        now = self.earlier[where]
        first = now == epochs
        leaving = first & (before >= max(horizon, 1)) & (before & ~THREAD != epochs & ~THREAD)
        leaving &= (before ^ epochs) & THREAD != 0
        self._further_readers.add(where, before, np.flatnonzero(leaving))
        rest = np.flatnonzero(~first)
        if len(rest):
            new = self._one_of_each_warp(where[rest], epochs[rest])
            self._further_readers.add(where, epochs, rest[new])

    def _first_or_last(self, granules: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(n,) true for the first and the last of the lanes at each granule."""
        lanes = np.arange(len(granules))
        lane_at = np.empty(self.count, np.int64)
        lane_at[granules[::-1]] = lanes[::-1]
        chosen = lane_at[granules] == lanes
        lane_at[granules] = lanes
        chosen |= lane_at[granules] == lanes
        return np.asarray(chosen)

    def _one_of_each_warp(self, granules: NDArray[Any], epochs: Epochs) -> NDArray[np.bool_]:
        """(n,) true for the first of neighbouring lanes of one warp at one granule."""
        warps = (epochs & THREAD) // self.warp_mates
        new = np.ones(len(epochs), np.bool_)
        new[1:] = (granules[1:] != granules[:-1]) | (warps[1:] != warps[:-1])
        return new


class Further:
    """Further readers or writers of granules: pairs of granule and epoch, sorted on demand.

    If there are too many, the newest of each warp is kept, and if these are still too many, the newest of
    2, 4, 8, … neighbouring warps.
    """

    __slots__ = ("_count", "_granules", "_keys", "_new", "_newest")

    def __init__(self) -> None:
        self.clear()

    def __len__(self) -> int:
        return self._count

    def clear(self) -> None:
        """Remove all."""
        self._granules = np.empty(0, np.int64)
        self._keys: Epochs = np.empty(0, np.int64)
        self._new: list[tuple[NDArray[np.int64], Epochs]] = []
        self._newest = self._count = 0

    def forget(self, horizon: int) -> None:
        """Remove the epochs below this one if it is above all of them."""
        if self._newest and self._newest < horizon:
            self.clear()

    def divide(self, times: int) -> None:
        """Replace each granule by several."""
        if self._count:
            self._sort()
            smaller = self._granules[:, None] * times + np.arange(times)
            self._granules, self._keys = smaller.ravel(), np.repeat(self._keys, times)
            self._count *= times

    def add(self, where: Selection | NDArray[np.int32], epochs: Epochs, chosen: NDArray[np.int64]) -> None:
        """Add the chosen ones of (n,) epochs at (n,) granules."""
        if len(chosen):
            kept = epochs[chosen]
            self._new.append((granules_of(where, chosen), kept))
            self._newest = max(self._newest, int(kept.max()))
            self._count += len(chosen)
            if self._count > MAX_FURTHER:
                self._thin_out()

    def at(self, where: Selection, horizon: int) -> tuple[NDArray[np.int64], Epochs]:
        """Positions in `where`, and epochs from `horizon` on, of those at its granules.

        If they are too many because lanes have granules in common, each lane gets the latest ones.
        """
        self.forget(horizon)
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
            if counts.sum() > MAX_FURTHER:
                counts = np.minimum(counts, max(2, MAX_FURTHER // len(granules)))
                low = high - counts
            positions = np.repeat(np.arange(len(granules)), counts)
            found = np.arange(len(positions)) + np.repeat(low - (np.cumsum(counts) - counts), counts)
        epochs = self._keys[found]
        new = epochs >= horizon
        return positions[new], epochs[new]

    def _all(self) -> tuple[NDArray[np.int64], Epochs]:
        """Granules and epochs in the order in which they were added, but for those sorted before."""
        granules = np.concatenate([self._granules, *(granules for granules, _ in self._new)])
        return granules, np.concatenate([self._keys, *(epochs for _, epochs in self._new)])

    def _sort(self) -> None:
        if self._new:
            granules, epochs = self._all()
            order = np.argsort(granules, kind="stable")
            self._granules, self._keys = granules[order], epochs[order]
            self._new.clear()

    def _thin_out(self) -> None:
        """Keep the newest epoch of each warp at each granule, or of several warps."""
        granules, epochs = self._all()
        self._new.clear()
        order = np.argsort(granules << CLOCK_SHIFT | epochs & THREAD)
        granules, epochs = granules[order], epochs[order]
        group = WARP
        while len(epochs) > MAX_FURTHER // 2 and group < THREAD:
            groups = (epochs & THREAD) // group
            first = np.ones(len(epochs), np.bool_)
            first[1:] = (granules[1:] != granules[:-1]) | (groups[1:] != groups[:-1])
            granules, epochs = granules[first], np.maximum.reduceat(epochs, np.flatnonzero(first))
            group *= 2
        self._granules, self._keys = granules, epochs
        self._count = len(epochs)


def granules_of(where: Selection | NDArray[np.int32], positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Granule numbers at some positions of a selection."""
    if isinstance(where, slice):
        return np.asarray(positions + where.start)
    if isinstance(where, Panel):
        return where.granules(positions)
    return where[positions].astype(np.int64, copy=False)


def _overlap(interval: tuple[int, int], low: int, high: int) -> bool:
    return low < interval[1] and interval[0] < high


def _union(interval: tuple[int, int], low: int, high: int) -> tuple[int, int]:
    if interval[0] == interval[1]:
        return (low, high)
    return (min(interval[0], low), max(interval[1], high))
