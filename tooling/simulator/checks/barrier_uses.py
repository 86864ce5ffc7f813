"""Reuse of numbered barriers: which threads passed each barrier of a block last.

A barrier counts every arriving warp (PTX ISA 9.7.13.1). Warps that may arrive while others still wait there
are counted with those, and release them too early.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.checks.base import WARP
from tooling.simulator.checks.happens_before.block_clocks import Clocks
from tooling.simulator.gpu.code_model import Instruction, Integer, Operand
from tooling.simulator.gpu.hooks import Ints, PartialBarrier


def operands_of(barrier: Instruction) -> tuple[Operand, ...]:
    """A barrier's number and, unless it is a barrier of the whole block, its thread count."""
    return barrier.operands[1:-1] if "red" in barrier.modifiers else barrier.operands


def _is_for_one_warp(barrier: Instruction) -> bool:
    return operands_of(barrier)[1:] == (Integer(WARP),)


class Use(NamedTuple):
    """A barrier passed by some threads of a block: the threads, the clock, and the instruction."""

    threads: Ints
    clock: int
    instruction: Instruction


class BarrierUses:
    """The last use of each barrier by some threads of a block, since the last barrier of the whole block.

    Args:
        threads: of a block.
    """

    def __init__(self, threads: int) -> None:
        self._size = threads
        self._last: dict[tuple[int, int], Use] = {}

    def passed(self, passed: PartialBarrier, clock: int) -> None:
        """Some threads passed a barrier; what they do from now on is after `clock`."""
        for block in passed.blocks.tolist():
            members = passed.threads[passed.threads // self._size == block]
            self._last[block, passed.barrier] = Use(members, clock, passed.instruction)

    def forget(self, blocks: Ints) -> None:
        """All threads of these blocks passed a barrier, which orders all earlier uses."""
        if self._last:
            here = set(blocks.tolist())
            self._last = {key: use for key, use in self._last.items() if key[0] not in here}

    def too_early(
        self, threads: Ints, barrier: int, instruction: Instruction, order: Clocks
    ) -> tuple[int, Use] | None:
        """One of these arriving threads, and an earlier use of the barrier that may not be over for it.

        A warp that arrives at a barrier for one warp completes it at once, so that such uses are separate.
        """
        alone = _is_for_one_warp(instruction)
        for block in np.unique(threads // self._size).tolist() if self._last else ():
            use = self._last.get((block, barrier))
            if use is None or not len(use.threads) or (alone and _is_for_one_warp(use.instruction)):
                continue
            late = threads[threads // self._size == block]
            late = late[~np.isin(late % self._size // WARP, use.threads % self._size // WARP)]
            # A thread after one of them is usually after the first: only the rest is compared with all.
            for members in (use.threads[:1], use.threads):
                late = late[self._unaware(late, members, use.clock, order)]
            if len(late):
                return int(late[0]), use
        return None

    def _unaware(self, threads: Ints, members: Ints, clock: int, order: Clocks) -> NDArray[np.bool_]:
        """(n,) which threads, with all lanes of their warps, are not ordered after any member."""
        shape = (len(threads), len(members))
        clocks = np.full(shape[0] * shape[1], clock)
        pairs = np.tile(members, shape[0]), clocks, np.repeat(threads, shape[1])
        unaware = order.unordered(*pairs).reshape(shape).all(axis=1)
        warps = threads % self._size // WARP
        return np.asarray(unaware & ~np.isin(warps, warps[~unaware]))
