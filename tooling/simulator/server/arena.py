"""The memory that the simulator shares with one program: its device memory and pinned host memory.

A sparse anonymous memory file of this process: only pages that were written take memory, and nothing is left
behind however either side ends. The program opens it as `/proc/<pid>/fd/<n>` and
maps it at `base`, so that a device address is the address of the same byte in the program.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
from functools import cache

import numpy as np

from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.simulator.server.protocol import ARENA_BYTES

_MAP_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)
_MAP_FIXED = 0x10
_PUNCH_HOLE = 3  # FALLOC_FL_PUNCH_HOLE, FALLOC_FL_KEEP_SIZE
_PAGE = mmap.PAGESIZE
_WORTH_RETURNING = 1 << 20


@cache
def _libc() -> ctypes.CDLL:
    """The C library, whose `mmap` can map a part of a file over a part of a mapping; Python's cannot."""
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_size_t
    library.mmap.argtypes = (
        ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long,
    )  # fmt: skip
    library.fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long)
    return library


class ArenaUnavailable(ToolingError):
    """The system cannot provide the simulator's memory file."""

    exit_code = ExitCode.NOT_POSSIBLE


class Arena:
    """A mapped memory file.

    Args:
        base: the address at which the program maps it; a multiple of the page size.
        size: bytes of address space; a multiple of the page size.

    Raises:
        ArenaUnavailable: the system has no memory files, or the address space is limited.
    """

    def __init__(self, base: int, size: int = ARENA_BYTES) -> None:
        self.base = base
        self.size = size
        self._file_bytes = size
        self._remapped: dict[int, int] = {}
        try:
            self.descriptor = os.memfd_create("simulated-gpu", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        except (AttributeError, OSError) as error:
            raise ArenaUnavailable(
                "the simulated GPU gets no memory file",
                why=f"memfd_create: {error}",
                hint="it needs Linux; on other systems run on a real GPU",
            ) from error
        try:
            os.ftruncate(self.descriptor, size)
            # A program that made the file shorter would end this process by SIGBUS.
            fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
            flags = mmap.MAP_SHARED | _MAP_NORESERVE
            self._map = mmap.mmap(self.descriptor, size, flags, mmap.PROT_READ | mmap.PROT_WRITE)
        except (OSError, ValueError, OverflowError) as error:
            os.close(self.descriptor)
            raise ArenaUnavailable(
                f"the simulated GPU gets no {size >> 30} GiB of address space",
                why=str(error),
                hint="lift the limits on address space and on the size of files (`ulimit -v unlimited`, "
                "`ulimit -f unlimited`); unused memory costs nothing",
            ) from error

    def extend(self, size: int) -> int:
        """Extend the file by `size` bytes, past the mapped arena; returns their offset in the file.

        `map` maps them to addresses. An offset in the file is not reused.
        """
        offset = self._file_bytes
        self._file_bytes += size
        os.ftruncate(self.descriptor, self._file_bytes)
        return offset

    def drop(self, offset: int, size: int) -> None:
        """Release these bytes of the file to the system."""
        _libc().fallocate(self.descriptor, _PUNCH_HOLE, offset, size)

    def map(self, address: int, size: int, offset: int) -> None:
        """Map another part of the file to device addresses.

        Raises:
            ArenaUnavailable: the system refuses.
        """
        start = np.frombuffer(self._map, np.uint8).ctypes.data + address - self.base
        protection, flags = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED | _MAP_FIXED | _MAP_NORESERVE
        got = _libc().mmap(start, size, protection, flags, self.descriptor, offset)
        if got != start:
            raise ArenaUnavailable("the simulated GPU cannot map memory", why=os.strerror(ctypes.get_errno()))
        self._remapped[address] = size

    def restore(self, address: int, size: int) -> None:
        """Map the arena's own part of the file to device addresses again."""
        self.map(address, size, address - self.base)
        del self._remapped[address]

    @property
    def buffer(self) -> memoryview:
        """All its bytes, writable."""
        return memoryview(self._map)

    def discard(self, address: int, size: int) -> None:
        """Release the whole pages of a freed range to the system; they read as zeros afterwards.

        Small ranges are kept: the call costs more than the pages.
        """
        first = -(-(address - self.base) // _PAGE) * _PAGE
        last = (address - self.base + size) // _PAGE * _PAGE
        if last - first >= _WORTH_RETURNING:
            self._map.madvise(mmap.MADV_REMOVE, first, last - first)

    def close(self) -> None:
        """Release all pages and close the file. Views of the bytes stay valid and read as zeros."""
        if self.descriptor >= 0:
            for address, size in list(self._remapped.items()):
                self.restore(address, size)
            self.drop(0, self._file_bytes)  # a sealed file cannot be made shorter
            os.close(self.descriptor)
            self.descriptor = -1
