"""Values that an access has loaded into registers, of which some lanes may make no use.

A compiler may move a load out of a branch or a loop: lanes that never use the value execute it as well. What
such a load reads is a finding only for lanes that use the value, so that checks wait for that.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Instruction

Ints = NDArray[np.int64]

Report = Callable[[Ints], None]
"""Reports what was found, given positions of lanes that use the value (at least one)."""


class _Waiting(Struct):
    """A finding that waits for the use of a value by one of some lanes (a mask)."""

    lanes: NDArray[np.bool_]
    report: Report


class LoadedValue:
    """What one access has loaded.

    Attributes:
        threads: (n,) of its lanes, ascending; addresses: (n,) what they read.
        lanes: (n,) their numbers in the batch.
        holders: registers that hold it in some lane; without any it cannot be used any more.
        computable: arithmetic does not use it; what uses its result does.
        joinable: of the uses by a lane only the first one counts.
        comparable: a check may still compare a later access with this one.
    """

    computable = True
    joinable = True

    def __init__(self, threads: Ints, addresses: Ints, lanes: NDArray[np.intp]) -> None:
        self.threads = threads
        self.addresses = addresses
        self.lanes = lanes
        self.holders = 0
        self.comparable = False
        self._used = np.zeros(len(threads), np.bool_)
        self._waiting: dict[Hashable, _Waiting] = {}

    @property
    def settled(self) -> bool:
        """No finding waits for its use, and none can be added."""
        return not (self.comparable or self._waiting)

    def settle(self) -> None:
        """Every later access is ordered after this one: no check compares them any more."""
        self.comparable = False
        if not self._waiting:
            self._keep(np.zeros(len(self.threads), np.bool_))

    def when_used(self, key: Hashable, threads: Ints, report: Report) -> None:
        """Call `report` once some of these threads use the value; of reports with one key, the first.

        It is called at once for those that have used it.
        """
        lanes = np.zeros(len(self.threads), np.bool_)
        lanes[self.positions(threads)] = True
        used = np.flatnonzero(lanes & self._used)
        if len(used):
            report(used)
        rest = lanes & ~self._used
        if not rest.any():
            return
        known = self._waiting.get(key)
        if known is None:
            self._waiting[key] = _Waiting(rest, report)
        else:
            known.lanes |= rest

    def use(self, lanes: NDArray[np.intp], _instruction: Instruction) -> None:
        """These lanes of the batch use the value."""
        if self.settled:
            return
        positions = np.searchsorted(self.lanes, lanes)
        new = positions[~self._used[positions]]
        if not len(new):
            return
        self._used[new] = True
        for waiting in self._waiting.values():
            found = new[waiting.lanes[new]]
            if len(found):
                waiting.lanes[found] = False
                waiting.report(found)

    def drop(self) -> None:
        """No register holds it any more: keep only the lanes that have used it."""
        self._waiting.clear()
        if not self._used.all():
            self._keep(self._used)

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        """Forget the lanes without a flag."""
        self.threads, self.addresses = self.threads[kept], self.addresses[kept]
        self.lanes, self._used = self.lanes[kept], self._used[kept]

    def positions(self, threads: Ints) -> NDArray[np.int64]:
        """The positions of those of these threads that are among its lanes."""
        if not len(self.threads):
            return np.empty(0, np.int64)
        found = np.minimum(np.searchsorted(self.threads, threads), len(self.threads) - 1)
        return np.asarray(found[self.threads[found] == threads])

    def at_same_address(self, thread: int, size: int) -> Ints:
        """The threads that read what this one reads, in its group of `size` consecutive threads."""
        first = thread // size * size
        low, high = np.searchsorted(self.threads, (first, first + size)).tolist()
        members = self.threads[low:high]
        own = self.positions(np.array([thread]))
        if not len(own):  # it has not used the value, and nothing else is known of it
            return members
        return np.asarray(members[self.addresses[low:high] == self.addresses[own[0]]])
