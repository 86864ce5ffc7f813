"""The memory that the simulator shares with one program: its device memory and pinned host memory.

A sparse memory file of this process, without a name in any file system: only pages that were written take
memory, and nothing is left behind however either side ends. The program opens it as `/proc/<pid>/fd/<n>` and
maps it at `base`, so that a device address is the address of the same byte in the program.
"""

from __future__ import annotations

import mmap
import os

from tooling.errors import ToolingError
from tooling.exit_codes import ExitCode
from tooling.simulator.protocol import ARENA_BYTES

_MAP_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)
_PAGE = mmap.PAGESIZE
_WORTH_RETURNING = 1 << 20


class ArenaUnavailable(ToolingError):
    """The system refuses the simulator its memory file."""

    exit_code = ExitCode.NOT_POSSIBLE


class Arena:
    """A mapped memory file.

    Args:
        base: the address at which the program has it; a multiple of the page size.
        size: bytes of address space; a multiple of the page size.

    Raises:
        ArenaUnavailable: the system has no memory files, or too little address space is allowed.
    """

    def __init__(self, base: int, size: int = ARENA_BYTES) -> None:
        self.base = base
        self.size = size
        try:
            self.descriptor = os.memfd_create("simulated-gpu", os.MFD_CLOEXEC)
        except (AttributeError, OSError) as error:
            raise ArenaUnavailable(
                "the simulated GPU gets no memory file",
                why=f"memfd_create: {error}",
                hint="it needs Linux; on other systems run on a real GPU",
            ) from error
        try:
            os.ftruncate(self.descriptor, size)
            flags = mmap.MAP_SHARED | _MAP_NORESERVE
            self._map = mmap.mmap(self.descriptor, size, flags, mmap.PROT_READ | mmap.PROT_WRITE)
        except (OSError, ValueError, OverflowError) as error:
            os.close(self.descriptor)
            raise ArenaUnavailable(
                f"the simulated GPU gets no {size >> 30} GiB of address space",
                why=str(error),
                hint="lift the limit on address space (ulimit -v unlimited); unused memory costs nothing",
            ) from error

    @property
    def buffer(self) -> memoryview:
        """All its bytes, writable."""
        return memoryview(self._map)

    def discard(self, address: int, size: int) -> None:
        """Give the whole pages of a freed stretch back to the system; they read as zeros afterwards.

        Small stretches are left alone: the call costs more than the pages.
        """
        first = -(-(address - self.base) // _PAGE) * _PAGE
        last = (address - self.base + size) // _PAGE * _PAGE
        if last - first >= _WORTH_RETURNING:
            self._map.madvise(mmap.MADV_REMOVE, first, last - first)

    def close(self) -> None:
        """Give all pages back and close the file. Views of the bytes stay valid and read as zeros."""
        if self.descriptor >= 0:
            self._map.madvise(mmap.MADV_REMOVE, 0, self.size)
            os.close(self.descriptor)
            self.descriptor = -1
