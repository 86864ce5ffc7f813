"""What the barrier of a cluster orders (PTX ISA 9.7.13.4): for each thread, what lies before its own arrival.

An arrival announces what its thread did until then, and what that thread knew of its block; a relaxed one
only what lies before a fence of the cluster or wider. Who waits learns it all. When one thread has waited,
all of its cluster are taken to know it, and exited threads to have announced everything: that may miss a
race but invents none.
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
"""Fences that announce nothing of ordinary accesses."""

Announce = Callable[[NDArray[np.int64], Ints], None]
"""Raises, in a table (blocks, threads of a block) of stamps, what some threads did and know now."""


class ClusterOrder:
    """Up to which stamp the accesses of each thread are known in its cluster.

    Args:
        context: the launch.
        now: the stamp of its first access.
    """

    def __init__(self, context: LaunchContext, now: int) -> None:
        shape = (context.blocks, context.threads_per_block)
        self._several = context.blocks_per_cluster > 1
        self._launch = context.launch
        self._known = np.full(shape, now, dtype=np.int64)
        self._announced = np.full(shape, now, dtype=np.int64)
        self._fenced = np.full(shape, now, dtype=np.int64)
        self._arrived = np.zeros(shape, dtype=np.bool_)

    def fence(self, threads: Ints, announce: Announce) -> None:
        """These threads executed a fence: a relaxed arrival may announce what came before.

        Only in clusters of several blocks; where a block is alone, every arrival announces everything.
        """
        announce(self._fenced, threads)

    def arrive(self, threads: Ints, instruction: Instruction, announce: Announce) -> None:
        """These threads arrived."""
        if self._several and "relaxed" in instruction.modifiers:
            blocks = np.unique(threads // self._known.shape[1])
            self._announced[blocks] = np.maximum(self._announced[blocks], self._fenced[blocks])
        else:
            announce(self._announced, threads)
        self._arrived.reshape(-1)[threads] = True

    def meet(self, clusters: Ints, now: int) -> tuple[Ints, Ints]:
        """All threads of these clusters have arrived or exited.

        Returns:
            the blocks of each cluster in turn, and per block the stamp before which all is known.
        """
        blocks = blocks_of(self._launch, clusters).reshape(-1)
        known = np.where(self._arrived[blocks], self._announced[blocks], now)
        self._known[blocks] = known
        self._arrived[blocks] = False
        return blocks, known.min(axis=1)

    def ordered(self, earlier: Ints, stamps: Ints, later: Ints) -> NDArray[np.bool_]:
        """(n,) which accesses, of the threads `earlier` at these stamps, the threads `later` know of."""
        size = self._known.shape[1]
        homes = (clusters_of(self._launch, threads // size) for threads in (earlier, later))
        together = np.equal(*homes)
        return np.asarray(together & (stamps < self._known.reshape(-1)[earlier]))


def announces(fence: Instruction) -> bool:
    """Whether what its thread did before this fence is announced by a relaxed arrival after it."""
    modifiers = set(fence.modifiers)
    return not _WIDE.isdisjoint(modifiers) and _OTHER_FENCES.isdisjoint(modifiers)
