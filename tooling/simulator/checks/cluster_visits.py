"""Uses of another block's shared memory that its block does not know to be over.

A block may end only when nobody uses its shared memory any more. It knows that of all others when its cluster
met at a barrier, and of a block whose threads arrived, or whose copies were counted, at one of its mbarriers
when it saw that phase complete; strong accesses to one place tell as much. Who arrives is taken to speak for
all threads of its block, and who sees the phase to tell all of its own. What one block learns of a second one
through a third is not followed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tooling.simulator.checks.base import action_of, is_strong
from tooling.simulator.checks.findings import Action
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import Access, Ints, MBarrierOperation


class Visit(NamedTuple):
    """The latest use by a block: by which thread, and how many there were before it in the batch."""

    thread: int
    action: Action
    instruction: Instruction
    number: int


class ClusterVisits:
    """Those of a batch.

    Args:
        threads: of a block.
    """

    def __init__(self, threads: int) -> None:
        self._size = threads
        self._count = 0
        self._visits: dict[int, dict[int, Visit]] = {}
        self._announced: dict[tuple[int, int], dict[int, int]] = {}
        self._complete: dict[tuple[int, int], dict[int, int]] = {}

    def __bool__(self) -> bool:
        return bool(self._visits)

    def enter(self, access: Access, hosts: Ints, lanes: Ints) -> Ints:
        """These lanes of an access use the shared memory of `hosts` (n,), other blocks than their own.

        Returns:
            the distinct hosts.
        """
        visitors = access.threads[lanes] // self._size
        pairs, firsts = np.unique(np.stack([hosts[lanes], visitors]), axis=1, return_index=True)
        for host, visitor, first in zip(*pairs.tolist(), lanes[firsts].tolist(), strict=True):
            visit = Visit(int(access.threads[first]), action_of(access), access.instruction, self._count)
            visits = self._visits.setdefault(host, {})
            visits.pop(visitor, None)
            visits[visitor] = visit
        self._count += 1
        if is_strong(access.instruction):
            places = hosts[lanes].tolist(), access.addresses[lanes].tolist()
            for host, offset, visitor in set(zip(*places, visitors.tolist(), strict=True)):
                self._complete.setdefault((host, offset), {})[visitor] = self._count
        return np.unique(pairs[0])

    def look(self, access: Access, hosts: Ints) -> None:
        """Threads access shared memory: where it is their own block's, they see what others told there."""
        if self._visits and is_strong(access.instruction):
            own = np.flatnonzero(hosts == access.threads // self._size)
            for place in set(zip(hosts[own].tolist(), access.addresses[own].tolist(), strict=True)):
                self._see(place)

    def of(self, host: int) -> Visit | None:
        """The latest one that the block does not know to be over."""
        return next(reversed(self._visits.get(host, {}).values()), None)

    def operate(self, operation: MBarrierOperation) -> None:
        """Blocks arrive at mbarriers of others, or look at their own."""
        if not self._visits:
            return
        places = operation.blocks.tolist(), operation.offsets.tolist()
        if operation.action in ("arrive", "arrive_drop", "complete"):
            visitors = (operation.threads // self._size).tolist()
            for host, offset, visitor in set(zip(*places, visitors, strict=True)):
                self._announced.setdefault((host, offset), {})[visitor] = self._count
        elif operation.action == "passed":
            for place in set(zip(*places, strict=True)):
                self._see(place)

    def _see(self, place: tuple[int, int]) -> None:
        visits = self._visits.get(place[0], {})
        for visitor, count in self._complete.get(place, {}).items():
            if visitor in visits and visits[visitor].number < count:
                del visits[visitor]

    def complete(self, hosts: Ints, offsets: Ints) -> None:
        """A phase of each of these mbarriers is complete."""
        for place in zip(hosts.tolist(), offsets.tolist(), strict=True):
            self._complete.setdefault(place, {}).update(self._announced.pop(place, {}))

    def meet(self, hosts: Ints) -> None:
        """All threads of the clusters of these blocks met."""
        for host in hosts.tolist() if self._visits else ():
            self._visits.pop(host, None)
