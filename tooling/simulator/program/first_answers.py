"""First results of `mbarrier.test_wait`, which does not wait and so may test before the phase is complete.

In the simulator threads usually arrive together before the first of them tests, which hardware does not
guarantee. If a testing thread is not ordered after all arrivals that completed the phase, its first test
returns false: a kernel that does not test again then continues without having waited, and the checks see it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

Array = NDArray[Any]


class _Phase(Struct):
    """A phase of an mbarrier.

    Attributes:
        arrivals: per lane that arrived, the batch's `sync_count` at that time.
        copied: bytes of copies were counted, which no barrier orders.
        asked: lanes that have tested before; they get the true result.
        seen: the batch's `sync_count` when the first lane got true.
    """

    arrivals: dict[int, int] = field(default_factory=dict)
    copied: bool = False
    asked: set[int] = field(default_factory=set)
    seen: int | None = None


class FirstAnswers:
    """The first test results of a batch's mbarriers.

    Args:
        postpones: whether a result that may be false is false (`Schedule.postpones`).
    """

    def __init__(self, postpones: Callable[[], bool]) -> None:
        self._postpones = postpones
        self._running: dict[int, _Phase] = {}
        self._complete: dict[int, _Phase] = {}

    def contribute(self, barrier: int, lane: int, now: int, *, copied: bool) -> None:
        """A lane arrives at the mbarrier at this offset, or bytes of its copy are counted there.

        Args:
            now: the batch's `Batch.sync_count`.
        """
        phase = self._running.setdefault(barrier, _Phase())
        if copied:
            phase.copied = True
        else:
            phase.arrivals[lane] = now

    def forget(self, barrier: int) -> None:
        """An mbarrier is initialised or invalidated at this offset."""
        self._running.pop(barrier, None)
        self._complete.pop(barrier, None)

    def flip(self, barrier: int) -> None:
        """The current phase is complete."""
        self._complete[barrier] = self._running.pop(barrier, _Phase())

    def denied(self, barriers: Array, lanes: Array, now: int) -> NDArray[np.bool_]:
        """(n,) which of these lanes get false although the phase is complete.

        Args:
            now: as for `contribute`.
        """
        denied = np.zeros(len(lanes), np.bool_)
        for k, (barrier, lane) in enumerate(zip(barriers.tolist(), lanes.tolist(), strict=True)):
            phase = self._complete.get(barrier)
            if phase is None or lane in phase.asked:
                continue
            phase.asked.add(lane)
            if phase.seen in (None, now) and _may_be_early(phase, lane, now):
                denied[k] = self._postpones()
        for barrier in set(barriers[~denied].tolist()):
            phase = self._complete.get(barrier)
            if phase is not None and phase.seen is None:
                phase.seen = now
        return denied


def _may_be_early(phase: _Phase, lane: int, now: int) -> bool:
    """Whether an arrival that completed the phase is not ordered before the lane's test."""
    return phase.copied or any(count == now for other, count in phase.arrivals.items() if other != lane)
