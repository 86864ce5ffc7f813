"""Proxy fences: stores must be fenced before a bulk copy reads them (PTX ISA 9.7.9.25.2).

Ordinary stores go through the generic proxy, bulk copies through the asynchronous one; a barrier alone does
not make the stores visible to the copy. Either the thread that stored executes `fence.proxy.async` after the
store, or the thread that starts the copy does, once it is ordered after the stores. Only what a copy reads is
checked: the PTX ISA does not say whether a fence is needed before a copy overwrites ordinary accesses.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.checks.happens_before.block_clocks import Clocks
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import Ints, Space


class ProxyFences:
    """The latest fences of each thread of a launch.

    Args:
        threads: of the launch.
        now: the clock of its first access.
    """

    def __init__(self, threads: int, now: int) -> None:
        self._shape = (len(Space), threads)
        self._start = now
        self._own: NDArray[np.int64] | None = None
        self._others: NDArray[np.int64] | None = None

    def fence(self, threads: Ints, instruction: Instruction, order: Clocks, now: int) -> None:
        """These threads executed a fence."""
        spaces = _spaces(instruction)
        if not spaces:
            return
        if self._own is None or self._others is None:
            self._own = np.full(self._shape, self._start, np.int64)
            self._others = np.full(self._shape, self._start, np.int64)
        for space in spaces:
            self._own[space, threads] = now
            self._others[space, threads] = order.known_until(threads, now)

    def lacking(self, space: Space, writers: Ints, clocks: Ints, copiers: Ints) -> NDArray[np.bool_]:
        """Which stores a copy cannot see yet.

        Args:
            writers: (n,) threads that stored; clocks: (n,) when.
            copiers: (n,) threads that begin the copy, or multiply.
        """
        if self._own is None or self._others is None:
            return np.ones(len(writers), np.bool_)
        return np.asarray((clocks >= self._own[space, writers]) & (clocks >= self._others[space, copiers]))


def _spaces(instruction: Instruction) -> tuple[Space, ...]:
    """The memories in which it is a fence between the generic and the asynchronous proxy."""
    modifiers = instruction.modifiers
    if "proxy" not in modifiers or not any(m.partition("::")[0] == "async" for m in modifiers):
        return ()
    if "global" in modifiers:
        return (Space.GLOBAL,)
    if any(m.startswith("shared") for m in modifiers):
        return (Space.SHARED,)
    return (Space.GLOBAL, Space.SHARED)
