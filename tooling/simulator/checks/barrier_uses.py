"""Which threads passed each numbered barrier of a block last: the next ones must come after that.

A barrier counts whoever comes to it (PTX ISA 9.7.13.1). Warps that may come while others still meet there are
counted among those, and let them go on too early.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.checks.base import WARP
from tooling.simulator.checks.happens_before.block_clocks import Clocks
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import Ints, Meeting


class Use(NamedTuple):
    """A meeting of some threads of a block: the threads that waited, the stamp of its end, and where."""

    threads: Ints
    stamp: int
    instruction: Instruction


class BarrierUses:
    """The last meeting of some threads at each barrier of each block, since all its threads met.

    Args:
        threads: of a block.
    """

    def __init__(self, threads: int) -> None:
        self._size = threads
        self._last: dict[tuple[int, int], Use] = {}

    def passed(self, meeting: Meeting, stamp: int) -> None:
        """Some threads met; what they do from now on comes after `stamp`."""
        for block in meeting.blocks.tolist():
            members = meeting.threads[meeting.threads // self._size == block]
            self._last[block, meeting.barrier] = Use(members, stamp, meeting.instruction)

    def forget(self, blocks: Ints) -> None:
        """All threads of these blocks met: they all know what was."""
        if self._last:
            here = set(blocks.tolist())
            self._last = {place: use for place, use in self._last.items() if place[0] not in here}

    def too_early(self, threads: Ints, barrier: int, clocks: Clocks) -> tuple[int, Use] | None:
        """One of these threads, which come to a barrier, and a meeting there that may not be over for it."""
        for block in np.unique(threads // self._size).tolist() if self._last else ():
            use = self._last.get((block, barrier))
            if use is None or not len(use.threads):
                continue
            late = threads[threads // self._size == block]
            late = late[~np.isin(late % self._size // WARP, use.threads % self._size // WARP)]
            # Mostly who knows of one knows of the first: only the others are held against all of them.
            for members in (use.threads[:1], use.threads):
                late = late[self._unaware(late, members, use.stamp, clocks)]
            if len(late):
                return int(late[0]), use
        return None

    def _unaware(self, threads: Ints, members: Ints, stamp: int, clocks: Clocks) -> NDArray[np.bool_]:
        """(n,) which threads, with all lanes of their warps, know of no member that it passed by then."""
        shape = (len(threads), len(members))
        stamps = np.full(shape[0] * shape[1], stamp)
        pairs = np.tile(members, shape[0]), stamps, np.repeat(threads, shape[1])
        unaware = clocks.unordered(*pairs).reshape(shape).all(axis=1)
        warps = threads % self._size // WARP
        return np.asarray(unaware & ~np.isin(warps, warps[~unaware]))
