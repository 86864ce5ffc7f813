"""Initialisation check: no byte is read that was never written by the host or a thread.

One shadow byte per byte of memory is 1 if it was written. Buffers are usually written from end to end,
so each shadow also keeps one interval that is known to be written: an access inside it needs no lookup.
Model: compute-sanitizer's initcheck, which checks global memory only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.checks.base import CheckHook, action_of, is_in_library, survivors
from tooling.simulator.checks.findings import Action, Check, Finding, Kind, Severity
from tooling.simulator.checks.footprint import Footprints, extent
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.device_memory import Allocation, DeviceMemory
from tooling.simulator.gpu.hooks import Access, AccessKind, Ints, LaunchContext, Rows, Space


class WrittenBytes:
    """Which bytes of a range of memory were written.

    Args:
        size: its length in bytes.
    """

    __slots__ = ("_bytes", "_clean_reads", "_flushed", "_high", "_low", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self._bytes = np.zeros(size + -size % 16, dtype=np.uint8)
        self._bytes[size:] = 1
        self._low = self._high = self._flushed = self._clean_reads = 0

    def write(self, low: int, high: int) -> None:
        """Every byte from `low` up to `high` (exclusive) is written now."""
        if self._low == self._high:
            self._low, self._high = low, high
        elif low <= self._high and self._low <= high:
            self._low, self._high = min(self._low, low), max(self._high, high)
        elif high - low > self._high - self._low:
            self._bytes[self._low : self._high] = 1
            self._low, self._high = low, high
        else:
            self._bytes[low:high] = 1

    def scatter(self, offsets: Ints, width: int) -> None:
        """`width` bytes (a power of two) at each offset, a multiple of it, are written now."""
        words, first, full = self._words(offsets, width)
        for word in range(max(1, width // 8)):
            words[first + word if word else first] = full

    def take_rows(self, rows: Rows, window: int, *, reads: bool, writes: bool) -> bool:
        """Record an access to the same bytes of some blocks' windows.

        Returns:
            False, and nothing recorded, if it reads bytes that were not written.
        """
        self._flush_interval()
        bytes_of_blocks = self._bytes[: self.size].reshape(-1, window)
        here = bytes_of_blocks[rows.first : rows.last, rows.low : rows.high]
        if reads and not here.all():
            return False
        if writes:
            here[...] = 1
        if reads:
            self.check_complete()
        return True

    def copy(self, low: int, source: WrittenBytes, start: int, size: int) -> None:
        """`size` bytes were copied here from `start` of another range: they are written if those are."""
        if source.written_between(start, start + size):
            self.write(low, low + size)
            return
        self._flush_interval()
        self._bytes[low : low + size] = source._bytes[start : start + size]
        self._low = self._high = self._flushed = 0

    def covers(self, low: int, high: int) -> bool:
        """Whether all these bytes are known to be written, by the interval alone."""
        return self._low <= low and high <= self._high

    def written_between(self, low: int, high: int) -> bool:
        """Whether all bytes from `low` up to `high` (exclusive) are written."""
        if self.covers(low, high):
            return True
        self._flush_interval()
        if not self._bytes[low:high].all():
            return False
        self.write(low, high)
        return True

    def missing(self, low: int, high: int) -> tuple[int, int]:
        """The number of unwritten bytes from `low` up to `high` (exclusive), and the offset of the first."""
        if self.written_between(low, high):
            return 0, high
        written = self._bytes[low:high]
        return len(written) - int(np.count_nonzero(written)), low + int(written.argmin())

    def unwritten(self, offsets: Ints, width: int) -> NDArray[np.bool_]:
        """(n,) lanes whose `width` bytes (a power of two, aligned) are not all written."""
        self._flush_interval()
        words, first, full = self._words(offsets, width)
        unwritten = words[first] != full
        for word in range(1, width // 8):
            unwritten |= words[first + word] != full
        return np.asarray(unwritten)

    def check_complete(self) -> None:
        """After 1, 2, 4, … reads of written bytes, check whether the whole range is written by now."""
        self._clean_reads += 1
        if self._clean_reads & (self._clean_reads - 1) == 0 and self._bytes.all():
            self._low, self._high = 0, self.size

    def _words(self, offsets: Ints, width: int) -> tuple[NDArray[Any], Ints, int]:
        """The shadow in words of at most 8 bytes, the first word of each lane, and a fully written word."""
        step = min(width, 8)
        return (
            self._bytes.view(f"u{step}"),
            offsets >> step.bit_length() - 1,
            0x0101010101010101 >> 8 * (8 - step),
        )

    def _flush_interval(self) -> None:
        """Write the interval to the bytes; not needed while writes only extend it."""
        if not self._flushed >= (self._high - self._low):
            self._bytes[self._low : self._high] = 1
            self._flushed = self._high - self._low


class InitialisationCheck(CheckHook):
    """Reads of never-written global, shared and local bytes; copies of such bytes to the host.

    Args:
        unused_memory: whether device memory that was never written is reported too, when the program ends.
    """

    check = Check.INITIALISATION
    follows_values = True

    def __init__(self, footprints: Footprints, *, unused_memory: bool = False) -> None:
        super().__init__()
        self._reports_unused = unused_memory
        self._device: list[tuple[Allocation, WrittenBytes]] = []
        self._footprints = footprints
        self._buffers: dict[int, WrittenBytes] = {}
        self._shared = self._local = WrittenBytes(0)
        self._first_block = 0

    def allocate(self, allocation: Allocation) -> None:
        """Device memory starts unwritten; pinned host memory is not checked."""
        if not allocation.host:
            written = self._buffers.setdefault(allocation.physical_address, WrittenBytes(allocation.size))
            if self._reports_unused and not allocation.mapped:
                self._device.append((allocation, written))

    def free(self, allocation: Allocation) -> None:
        if not allocation.mapped:  # mapped memory still exists, and may be mapped again
            self.drop(allocation.physical_address)

    def drop(self, physical_address: int) -> None:
        self._buffers.pop(physical_address, None)

    def end(self, memory: DeviceMemory) -> None:
        """Report what was never written, freed memory included."""
        for allocation, written in self._device:
            count, first = written.missing(0, allocation.size)
            if count:
                unused = Finding(
                    self.check,
                    Kind.UNUSED_MEMORY,
                    Severity.WARNING,
                    "",
                    buffer=self.buffer(allocation, 0, memory),
                    offset=first,
                    size=count,
                )
                self.note((Kind.UNUSED_MEMORY, allocation.serial), unused)

    def host_write(self, memory: DeviceMemory, address: int, size: int) -> None:
        allocation = memory.containing(address)
        written = self._buffers.get(allocation.physical_address) if allocation else None
        if allocation is not None and written is not None:
            low = address - allocation.base
            written.write(low, min(low + size, written.size))

    def device_copy(self, memory: DeviceMemory, address: int, source: int, size: int) -> None:
        """Copies of unwritten bytes are unwritten."""
        origin, target = memory.containing(source), memory.containing(address)
        known = None if origin is None else self._buffers.get(origin.physical_address)
        there = None if target is None else self._buffers.get(target.physical_address)
        if origin is None or known is None or target is None or there is None:
            self.host_write(memory, address, size)
        else:
            there.copy(address - target.base, known, source - origin.base, size)

    def host_read(self, memory: DeviceMemory, address: int, size: int) -> None:
        allocation = memory.containing(address)
        written = self._buffers.get(allocation.physical_address) if allocation else None
        if allocation is None or written is None:
            return
        low = address - allocation.base
        count, first = written.missing(low, min(low + size, written.size))
        if count:
            element = 4 if first % 4 == 0 and count % 4 == 0 else 1
            finding = Finding(
                self.check,
                Kind.UNWRITTEN_COPY,
                Severity.WARNING,
                self.kernel(),
                (),
                self.buffer(allocation, element, memory),
                offset=first,
                size=count,
                address=allocation.base + first,
            )
            self.note((Kind.UNWRITTEN_COPY, allocation.serial), finding)

    def batch_begin(self, first_block: int, blocks: int) -> None:
        """New blocks: their shared and local memory is unwritten."""
        context = self.context
        self._first_block = first_block
        self._shared = WrittenBytes(blocks * _padded(context.shared_bytes))
        self._local = WrittenBytes(blocks * context.threads_per_block * _padded(context.local_bytes))

    def launch_end(self, context: LaunchContext) -> None:
        self._shared = self._local = WrittenBytes(0)

    def access(self, access: Access) -> None:
        """Check a read against the shadow; record a write in it."""
        access = survivors(access)
        if not len(access.threads):
            return
        if access.space is Space.GLOBAL:
            for piece in self._footprints.of(access, self.context.memory).pieces:
                written = self._buffers.get(piece.allocation.physical_address)
                if written is not None and not written.covers(piece.low, piece.high):
                    if piece.access.contiguous:
                        self._dense(piece.access, written, piece.low, piece.high, piece.allocation)
                    else:
                        self._sparse(piece.access, written, piece.offsets(), piece.allocation)
            return
        if _is_call_parameter(access):
            return
        written = self._shared if access.space is Space.SHARED else self._local
        if written.covers(0, written.size):
            return
        if access.rows is None or not written.take_rows(
            access.rows,
            _padded(self.context.shared_bytes),
            reads=access.kind is not AccessKind.STORE,
            writes=access.kind is not AccessKind.LOAD,
        ):
            self._sparse(access, written, self._window_offsets(access), None)

    def register_unwritten(self, threads: Ints, instruction: Instruction) -> None:
        reader = self.party(int(threads[0]), Action.READ, instruction, len(threads))
        finding = Finding(
            self.check, Kind.UNWRITTEN_REGISTER, Severity.ERROR, self.kernel(), (reader,), count=len(threads)
        )
        key = (Kind.UNWRITTEN_REGISTER, self.context.launch.function.name, instruction.code_line)
        self.note(key, finding)

    def _window_offsets(self, access: Access) -> Ints:
        context = self.context
        if access.space is Space.LOCAL:
            first = self._first_block * context.threads_per_block
            return (access.threads - first) * _padded(context.local_bytes) + access.addresses
        blocks = access.threads // context.threads_per_block if access.blocks is None else access.blocks
        return (blocks - self._first_block) * _padded(context.shared_bytes) + access.addresses

    def _dense(
        self, access: Access, written: WrittenBytes, low: int, high: int, allocation: Allocation
    ) -> None:
        if access.kind is not AccessKind.STORE and not written.written_between(low, high):
            offsets = access.addresses - allocation.base
            self._report(access, offsets, written.unwritten(offsets, access.bytes), allocation)
        if access.kind is not AccessKind.LOAD:
            written.write(low, high)

    def _sparse(
        self, access: Access, written: WrittenBytes, offsets: Ints, allocation: Allocation | None
    ) -> None:
        if access.kind is not AccessKind.STORE:
            if allocation is not None:
                low, high = extent(access)
                if written.written_between(low - allocation.base, high - allocation.base):
                    return
            unwritten = written.unwritten(offsets, access.bytes)
            if unwritten.any():
                self._report(access, offsets, unwritten, allocation)
            else:
                written.check_complete()
        if access.kind is not AccessKind.LOAD:
            written.scatter(offsets, access.bytes)

    def _report(
        self, access: Access, offsets: Ints, unwritten: NDArray[np.bool_], allocation: Allocation | None
    ) -> None:
        """Report a read of unwritten bytes: at once, or when a lane uses what it read (`LoadedValue`)."""
        value = access.value
        lanes = np.flatnonzero(unwritten)
        if value is None:
            self._note_read(access, allocation, lanes, int(offsets[lanes[0]]))
            return
        threads = access.threads

        def report(positions: Ints) -> None:
            used = lanes[np.isin(threads[lanes], value.threads[positions])]
            if len(used):
                self._note_read(access, allocation, used, int(offsets[used[0]]))

        value.when_used(self.check, threads[lanes], report)

    def _note_read(self, access: Access, allocation: Allocation | None, lanes: Ints, offset: int) -> None:
        first = int(lanes[0])
        if allocation is None:
            shared = access.space is Space.SHARED
            array = self.context.arrays_meant().get(access.instruction.code_position) if shared else None
            buffer = self.window(access.space, access.element_bytes, array)
            offset = int(access.addresses[first]) - (array.offset if array else 0)
        else:
            buffer = self.buffer(allocation, access.element_bytes)
        reader = self.party(int(access.threads[first]), action_of(access), access.instruction)
        # A warp of the library may read its whole scratch array and use a part of it: a warning.
        scratch = allocation is None and is_in_library(access.instruction)
        finding = Finding(
            self.check,
            Kind.UNWRITTEN_LIBRARY_READ if scratch else Kind.UNWRITTEN_READ,
            Severity.WARNING if scratch else Severity.ERROR,
            self.kernel(),
            (reader,),
            buffer,
            offset=offset,
            size=access.bytes,
            address=int(access.addresses[first]),
            count=len(lanes),
        )
        self.note((self.context.launch.function.name, access.instruction.code_line, buffer.number), finding)


def _is_call_parameter(access: Access) -> bool:
    """Parameters of a called function are in local memory; the call itself writes them, except padding."""
    modifiers = access.instruction.modifiers
    return access.space is Space.LOCAL and bool(modifiers) and modifiers[0].startswith("param")


def _padded(size: int) -> int:
    """Windows start at multiples of 16 bytes, so that an aligned access is aligned in the shadow."""
    return size + -size % 16
