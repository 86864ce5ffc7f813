"""The order that a cluster barrier establishes (PTX ISA 9.7.13.4), up to each thread's own arrival.

An arrival releases the accesses of its thread and what the thread acquired in its block; a relaxed arrival
only those before a fence of cluster scope or wider. A wait acquires them. Once one thread has waited, all
threads of its cluster are assumed to have acquired them, and exited threads to have released everything:
that may miss a race but reports no false one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.clusters import blocks_of, clusters_of
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import Ints, LaunchContext

_WIDE = frozenset({"cluster", "gpu", "sys", "gl"})
_OTHER_FENCES = frozenset({"proxy", "mbarrier_init", "acquire"})
"""Fences that do not release ordinary accesses."""

Release = Callable[[NDArray[np.int64], Ints], None]
"""Raises the clocks of a table (blocks, threads of a block) to what some threads did and acquired."""


class ClusterOrder:
    """The clock up to which the accesses of each thread happen before those of its cluster.

    Args:
        context: the launch.
        now: the clock of its first access.
    """

    def __init__(self, context: LaunchContext, now: int) -> None:
        shape = (context.blocks, context.threads_per_block)
        self._several = context.blocks_per_cluster > 1
        self._launch = context.launch
        self._known = np.full(shape, now, dtype=np.int64)
        self._released = np.full(shape, now, dtype=np.int64)
        self._fenced = np.full(shape, now, dtype=np.int64)
        self._arrived = np.zeros(shape, dtype=np.bool_)

    def fence(self, threads: Ints, release: Release) -> None:
        """These threads executed a fence: a relaxed arrival may release what came before.

        Only in clusters of several blocks; in a cluster of one block every arrival releases everything.
        """
        release(self._fenced, threads)

    def arrive(self, threads: Ints, instruction: Instruction, release: Release) -> None:
        """These threads arrived."""
        if self._several and "relaxed" in instruction.modifiers:
            blocks = np.unique(threads // self._known.shape[1])
            self._released[blocks] = np.maximum(self._released[blocks], self._fenced[blocks])
        else:
            release(self._released, threads)
        self._arrived.reshape(-1)[threads] = True

    def complete(self, clusters: Ints, now: int) -> tuple[Ints, Ints]:
        """All threads of these clusters have arrived or exited.

        Returns:
            the blocks of each cluster in turn, and per block the clock before which everything is ordered.
        """
        blocks = blocks_of(self._launch, clusters).reshape(-1)
        known = np.where(self._arrived[blocks], self._released[blocks], now)
        self._known[blocks] = known
        self._arrived[blocks] = False
        return blocks, known.min(axis=1)

    def ordered(self, earlier: Ints, clocks: Ints, later: Ints) -> NDArray[np.bool_]:
        """(n,) which accesses of threads `earlier`, at these clocks, happen before threads `later`."""
        size = self._known.shape[1]
        clusters = (clusters_of(self._launch, threads // size) for threads in (earlier, later))
        together = np.equal(*clusters)
        return np.asarray(together & (clocks < self._known.reshape(-1)[earlier]))


def releases_memory(fence: Instruction) -> bool:
    """Whether a relaxed arrival after this fence releases the accesses before it."""
    modifiers = set(fence.modifiers)
    return not _WIDE.isdisjoint(modifiers) and _OTHER_FENCES.isdisjoint(modifiers)
