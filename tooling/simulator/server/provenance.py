"""Which bytes of a program's results a kernel stored last: the evidence that the GPU computed them.

One shadow byte per byte of memory that a kernel stored to says whether a kernel's store is the latest one.
A result is identified by its content: a program hands in bytes that it has copied from the device, so every
copy to the host of a result's size is recorded with its digest, and of shorter copies what they brought: a
result may be copied in pieces. What the host writes counts only where it
changes a byte: leaving `map_to_host` writes the same bytes back. Copies between buffers keep the origin of
the bytes, and so does a copy to the host that is written back as it is.

A launch may also copy a result that the host had computed. It is recorded if the kernel stores values as it
loaded them from a buffer that only the host had written, and what it stored is there byte for byte. Whether
that buffer is an input of the puzzle is for the judge to decide. A copy by several launches in pieces, or of
values that the kernel changes, is not seen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from tooling.simulator.backends import backend_of
from tooling.simulator.checks.base import survivors
from tooling.simulator.checks.footprint import Footprints, Piece
from tooling.simulator.gpu.device_memory import Allocation, DeviceMemory
from tooling.simulator.gpu.hooks import Access, AccessKind, Hook, Ints, LaunchContext, Space
from tooling.simulator.gpu.kernel_names import readable_kernel
from tooling.simulator.gpu.launch import Dim3

MOST_KEPT = 64 << 20
"""Bytes of pinned memory that a launch stored to and that are kept."""
MOST_COUNTED_THREADS = 1 << 26
MOST_WATCHED = 1 << 20
"""Bytes of an allocation in which elements that several threads store are found."""

Flags = NDArray[np.uint8]
_LAST = 1  # the latest store is a kernel's
_EVER = 2  # a kernel stored here since the memory was allocated
_STORED = _LAST | _EVER
_SHARED = 4  # several threads of one launch stored here, and no later launch did
_WORD = 4


class Origin(Struct, frozen=True, eq=False):
    """Where the bytes of a copy to the host came from.

    Attributes:
        by_kernel: (bytes,) whether a kernel's store was the latest; None: of every byte.
        ever_by_kernel: whether a kernel stored to any of them at some time.
        by_several: (bytes,) whether several threads of one launch stored it; None: no byte.
    """

    by_kernel: NDArray[np.bool_] | None
    ever_by_kernel: bool
    by_several: NDArray[np.bool_] | None = None

    def elements(self, width: int) -> NDArray[np.bool_] | None:
        """(elements,) those that a kernel stored wholly; None: all of them."""
        if self.by_kernel is None:
            return None
        return np.asarray(self.by_kernel.reshape(-1, width).all(axis=1))


class _Writers(Struct):
    """Of each word of an allocation: one more than the thread that stored it last, and whether others did."""

    allocation: Allocation
    last: Ints
    several: NDArray[np.bool_]


class LaunchFacts(Struct, frozen=True):
    """A launch: its kernel as the author wrote it, its shape, how many threads accessed global memory, and
    whether it read shared memory."""

    kernel: str
    grid: Dim3
    block: Dim3
    threads: int
    reads_shared: bool = False


class Provenance(Struct, frozen=True, eq=False):
    """What is known of a run's results and launches.

    Attributes:
        copied: by content, what was copied to the host; `pieces`: what was shorter than any result.
        pinned: host memory as kernels left it that stored to it directly.
        sources: by content of what a launch stored, the buffers that it copied from, which hold these bytes.
    """

    copied: Mapping[tuple[int, bytes], Origin]
    pinned: tuple[bytes, ...]
    launches: tuple[LaunchFacts, ...]
    sources: Mapping[tuple[int, bytes], tuple[bytes, ...]] = {}
    pieces: Mapping[tuple[int, bytes], Origin] = {}

    def sources_of(self, content: bytes) -> tuple[bytes, ...]:
        """The buffers, written by the host alone, that hold this result and that its launch copied from."""
        return self.sources.get(_key(content), ())

    def of(self, content: bytes) -> Origin | None:
        """The origin of a result, or None if it was never copied from the device."""
        origin = self.copied.get(_key(content)) or self._joined(content)
        if (origin is None or origin.by_kernel is not None) and any(content in each for each in self.pinned):
            return Origin(None, ever_by_kernel=True)
        return origin

    def _joined(self, content: bytes) -> Origin | None:
        """The origin of a result that consists of pieces, each of them copied from the device."""
        lengths = sorted({length for length, _ in self.pieces}, reverse=True)
        found: list[tuple[int, Origin]] = []
        at = 0
        while at < len(content):
            ends = (at + length for length in lengths if at + length <= len(content))
            known = ((end, self.pieces.get(_key(content[at:end]))) for end in ends)
            end, origin = next(((end, each) for end, each in known if each is not None), (at, None))
            if origin is None:
                return None
            found.append((end - at, origin))
            at = end
        by_kernel = np.concatenate([_bytes_of(length, each.by_kernel, True) for length, each in found])
        several = np.concatenate([_bytes_of(length, each.by_several, False) for length, each in found])
        return Origin(
            None if by_kernel.all() else by_kernel,
            any(each.ever_by_kernel for _, each in found),
            several if several.any() else None,
        )


def merged(recorders: Iterable[ProvenanceHook]) -> Provenance:
    """What the hooks of all programs of a run recorded."""
    every = list(recorders)
    copied: dict[tuple[int, bytes], Origin] = {}
    sources: dict[tuple[int, bytes], tuple[bytes, ...]] = {}
    pieces: dict[tuple[int, bytes], Origin] = {}
    for each in every:
        for key, buffers in each.sources.items():
            sources[key] = (*sources.get(key, ()), *buffers)
        for key, origin in each.copied.items():
            _enter(copied, key, origin)
        for key, origin in each.pieces.items():
            _enter(pieces, key, origin)
    return Provenance(
        copied,
        tuple(content for each in every for content in each.pinned),
        tuple(launch for each in every for launch in each.launches),
        sources,
        pieces,
    )


class _HostWrite(Struct, frozen=True, eq=False):
    """A write by the host that the program performs once its request is answered."""

    allocation: Allocation
    low: int
    before: Flags


class _Running(Struct):
    """The launch under way.

    Attributes:
        threads: whether a thread accessed global memory; None for too many threads.
        copied_loads: code lines of the loads whose value the kernel may store unchanged.
        stored: by physical address, what was stored to, and from which byte to which: pinned memory, and with
            `copied_loads` all memory.
        read: by physical address, what was read by `copied_loads`.
        reads_shared: whether it has read shared memory.
        writers: by physical address, who stored to memory of at most MOST_WATCHED bytes.
    """

    threads: NDArray[np.bool_] | None
    copied_loads: frozenset[int] = frozenset()
    stored: dict[int, tuple[Allocation, int, int]] = field(default_factory=dict)
    read: dict[int, Allocation] = field(default_factory=dict)
    reads_shared: bool = False
    writers: dict[int, _Writers] = field(default_factory=dict)


class ProvenanceHook(Hook):
    """Records where a program's results come from. Put it after the memory check.

    Args:
        sizes: of the results, in bytes; copies to the host that are longer than all of them are not recorded.
        footprints: shared with the checks.
    """

    def __init__(self, sizes: frozenset[int], footprints: Footprints) -> None:
        self.copied: dict[tuple[int, bytes], Origin] = {}
        self.pieces: dict[tuple[int, bytes], Origin] = {}
        self.pinned: list[bytes] = []
        self.launches: list[LaunchFacts] = []
        self.sources: dict[tuple[int, bytes], tuple[bytes, ...]] = {}
        self._sizes = sizes
        self._footprints = footprints
        self._stored: dict[int, Flags] = {}
        self._pending: list[tuple[DeviceMemory, _HostWrite]] = []
        self._context: LaunchContext | None = None
        self._running = _Running(None)

    # -- what kernels do -----------------------------------------------------------------------------

    def launch_begin(self, context: LaunchContext) -> None:
        self._settle()
        self._context = context
        threads = context.blocks * context.threads_per_block
        self._running = _Running(
            np.zeros(threads, np.bool_) if threads <= MOST_COUNTED_THREADS else None,
            backend_of(context.module).copied_loads(context),
        )

    def access(self, access: Access) -> None:
        """Mark what is stored, who accesses global memory, and whether shared memory is read."""
        if access.space is Space.SHARED and access.kind is not AccessKind.STORE:
            self._running.reads_shared = True
        if access.space is not Space.GLOBAL or self._context is None:
            return
        access = survivors(access)
        if self._running.threads is not None:
            self._running.threads[access.threads] = True
        if access.kind is AccessKind.LOAD:
            if access.instruction.code_line in self._running.copied_loads:
                for piece in self._footprints.of(access, self._context.memory).pieces:
                    self._running.read[piece.allocation.physical_address] = piece.allocation
            return
        for piece in self._footprints.of(access, self._context.memory).pieces:
            allocation = piece.allocation
            flags = self._flags(allocation)
            if piece.access.contiguous or piece.access.uniform:
                flags[piece.low : piece.high] = _STORED
            else:
                _scatter(flags, piece.offsets(), piece.access.bytes)
            if access.kind is AccessKind.STORE and allocation.size <= MOST_WATCHED:
                self._note_writers(piece)
            if allocation.host or self._running.copied_loads:
                _, low, high = self._running.stored.get(
                    allocation.physical_address, (allocation, piece.low, piece.high)
                )
                self._running.stored[allocation.physical_address] = (
                    allocation,
                    min(low, piece.low),
                    max(high, piece.high),
                )

    def launch_end(self, context: LaunchContext) -> None:
        running, launch = self._running, context.launch
        threads = context.blocks * context.threads_per_block
        self.launches.append(
            LaunchFacts(
                readable_kernel(launch.function.name, context.module.files.values()),
                launch.grid,
                launch.block,
                threads if running.threads is None else int(np.count_nonzero(running.threads)),
                running.reads_shared,
            )
        )
        for writers in running.writers.values():
            flags = self._flags(writers.allocation)
            flags[: writers.several.size * _WORD] |= np.repeat(writers.several, _WORD) * np.uint8(_SHARED)
        for allocation, low, high in running.stored.values():
            if high - low > MOST_KEPT:
                continue
            if allocation.host:
                self.pinned.append(context.memory.view(allocation.base + low, high - low).tobytes())
            if running.read and high - low in self._sizes:
                content = context.memory.view(allocation.base + low, high - low).tobytes()
                self._note_sources(context.memory, content)
        self._running = _Running(None)

    def _note_writers(self, piece: Piece) -> None:
        """Record which thread stores each word, and the words that another one has stored."""
        allocation, access = piece.allocation, piece.access
        if access.element_bytes < _WORD:
            return
        writers = self._running.writers.get(allocation.physical_address)
        if writers is None:
            count = -(-allocation.size // _WORD)
            writers = _Writers(allocation, np.zeros(count, np.int64), np.zeros(count, np.bool_))
            self._running.writers[allocation.physical_address] = writers
        threads = access.threads + 1
        for word in range(access.bytes // _WORD):
            words = (piece.offsets() // _WORD) + word
            before = writers.last[words]
            writers.last[words] = threads
            again = (before != 0) & (before != threads) | (writers.last[words] != threads)
            writers.several[words[again]] = True

    def _note_sources(self, memory: DeviceMemory, stored: bytes) -> None:
        """Record which buffers, written by the host alone, the launch copied from and hold what it stored."""
        if not any(stored):
            return
        key = _key(stored)
        for allocation in self._running.read.values():
            flags = self._stored.get(allocation.physical_address)
            if allocation.internal or allocation.size > MOST_KEPT or (flags is not None and flags.any()):
                continue
            content = memory.view(allocation.base, allocation.size).tobytes()
            if stored in content and content not in self.sources.get(key, ()):
                self.sources[key] = (*self.sources.get(key, ()), content)

    # -- what the host does --------------------------------------------------------------------------

    def free(self, allocation: Allocation) -> None:
        self._settle()
        if not allocation.mapped:  # else it is still there, and may be mapped again
            self.drop(allocation.physical_address)

    def drop(self, physical_address: int) -> None:
        self._settle()
        self._stored.pop(physical_address, None)

    def host_write(self, memory: DeviceMemory, address: int, size: int) -> None:
        """Remember the bytes: the program changes them after this."""
        self._settle()
        allocation = memory.containing(address)
        if allocation is None:
            return
        low = address - allocation.base
        flags = self._stored.get(allocation.physical_address)
        returned = size in self._sizes and bool(self.copied)
        if returned or (flags is not None and flags[low : low + size].any()):
            before = memory.view(address, size).copy()
            self._pending.append((memory, _HostWrite(allocation, low, before)))

    def device_copy(self, memory: DeviceMemory, address: int, source: int, size: int) -> None:
        """The copy has the origin of what it was copied from."""
        self._settle()
        here, there = memory.containing(source), memory.containing(address)
        if here is None or there is None:
            return
        if here.host:  # the program writes to pinned memory without a request
            self.host_write(memory, address, size)
            return
        if there.host:
            self.host_copy(memory, source, size)
        known = self._stored.get(here.physical_address)
        if known is None and there.physical_address not in self._stored:
            return
        low, start = address - there.base, source - here.base
        copied = np.zeros(size, np.uint8) if known is None else known[start : start + size].copy()
        flags = self._flags(there)
        flags[low : low + size] = copied | flags[low : low + size] & _EVER

    def host_copy(self, memory: DeviceMemory, address: int, size: int) -> None:
        """Record where the bytes of a result come from, or those of a piece of one."""
        self._settle()
        if not size or size > max(self._sizes, default=0):
            return
        flags = np.zeros(size, np.uint8)
        done = 0
        while done < size and (allocation := memory.containing(address + done)) is not None:
            low = address + done - allocation.base  # mappings may be adjacent
            known = self._stored.get(allocation.physical_address)
            length = min(size - done, allocation.size - low)
            if known is not None:
                flags[done : done + length] = known[low : low + length]
            done += length
        by_kernel = (flags & _LAST).astype(np.bool_)
        several = (flags & _SHARED).astype(np.bool_)
        origin = Origin(
            None if by_kernel.all() else by_kernel, bool(flags.any()), several if several.any() else None
        )
        recorded = self.copied if size in self._sizes else self.pieces
        _enter(recorded, _key(memory.view(address, size).tobytes()), origin)

    def end(self, memory: DeviceMemory) -> None:
        self._pending.clear()

    def _settle(self) -> None:
        """Compare what the host has written by now with what was there before."""
        while self._pending:
            memory, write = self._pending.pop()
            size = len(write.before)
            now = memory.view(write.allocation.base + write.low, size)
            changed = now != write.before
            if not changed.any():
                continue
            flags = self._flags(write.allocation)[write.low : write.low + size]
            returned = self.copied.get(_key(now.tobytes())) if size in self._sizes else None
            if returned is not None and returned.by_kernel is None:
                flags[:] = _STORED
            else:
                flags[changed] &= np.uint8(_EVER)

    def _flags(self, allocation: Allocation) -> Flags:
        flags = self._stored.get(allocation.physical_address)
        if flags is None:
            flags = self._stored[allocation.physical_address] = np.zeros(
                allocation.size + -allocation.size % 16, np.uint8
            )
        return flags


def _scatter(flags: Flags, offsets: Ints, width: int) -> None:
    """Mark `width` bytes (a power of two) at each offset, a multiple of it."""
    step = min(width, 8)
    words, first = flags.view(f"u{step}"), offsets >> step.bit_length() - 1
    for word in range(max(1, width // 8)):
        words[first + word] = int.from_bytes(bytes([_STORED] * step), "little")


def _bytes_of(length: int, flags: NDArray[np.bool_] | None, default: bool) -> NDArray[np.bool_]:
    """The flag of each byte of a piece."""
    return np.full(length, default, np.bool_) if flags is None else flags


def _key(content: bytes) -> tuple[int, bytes]:
    return len(content), hashlib.blake2b(content, digest_size=16).digest()


def _enter(copied: dict[tuple[int, bytes], Origin], key: tuple[int, bytes], origin: Origin) -> None:
    """Of two copies with the same content, keep the one of which a kernel stored more."""
    known = copied.get(key)
    if known is not None:
        best = max(known, origin, key=_amount)
        origin = Origin(best.by_kernel, known.ever_by_kernel or origin.ever_by_kernel, best.by_several)
    copied[key] = origin


def _amount(origin: Origin) -> float:
    return np.inf if origin.by_kernel is None else float(np.count_nonzero(origin.by_kernel))
