"""First answers of `mbarrier.test_wait`: it does not wait, so that it may ask too early.

Here threads mostly arrive together before the first of them asks, which no hardware promises. Where nothing
orders the asking thread after all that completed the phase, its first question is answered as if it had come
too early: a kernel that does not ask again then goes on without having waited, and the checks see it.
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
        arrivals: per lane that arrived, how many times threads had met by then.
        copied: bytes of copies were counted, which no barrier orders.
        asked: lanes that have asked before; those are told the truth.
        seen: how many times threads had met when the first lane was told that it is complete.
    """

    arrivals: dict[int, int] = field(default_factory=dict)
    copied: bool = False
    asked: set[int] = field(default_factory=set)
    seen: int | None = None


class FirstAnswers:
    """What a batch's mbarriers may still deny.

    Args:
        postpones: whether an answer that may be denied is denied (`Schedule.postpones`).
    """

    def __init__(self, postpones: Callable[[], bool]) -> None:
        self._postpones = postpones
        self._running: dict[int, _Phase] = {}
        self._complete: dict[int, _Phase] = {}

    def contribute(self, place: int, lane: int, now: int, *, copied: bool) -> None:
        """A lane arrives at the mbarrier at this place, or bytes of its copy are counted there.

        Args:
            now: how many times threads have met (`Batch.meetings`).
        """
        phase = self._running.setdefault(place, _Phase())
        if copied:
            phase.copied = True
        else:
            phase.arrivals[lane] = now

    def forget(self, place: int) -> None:
        """An mbarrier is made, or made invalid, at this place."""
        self._running.pop(place, None)
        self._complete.pop(place, None)

    def flip(self, place: int) -> None:
        """The phase under way is complete."""
        self._complete[place] = self._running.pop(place, _Phase())

    def denied(self, places: Array, lanes: Array, now: int) -> NDArray[np.bool_]:
        """(n,) which of these lanes, all of which find the phase complete, are told that it is not.

        Args:
            now: as for `contribute`.
        """
        denied = np.zeros(len(lanes), np.bool_)
        for k, (place, lane) in enumerate(zip(places.tolist(), lanes.tolist(), strict=True)):
            phase = self._complete.get(place)
            if phase is None or lane in phase.asked:
                continue
            phase.asked.add(lane)
            if phase.seen in (None, now) and _may_be_early(phase, lane, now):
                denied[k] = self._postpones()
        for place in set(places[~denied].tolist()):
            phase = self._complete.get(place)
            if phase is not None and phase.seen is None:
                phase.seen = now
        return denied


def _may_be_early(phase: _Phase, lane: int, now: int) -> bool:
    """Whether something that completed the phase is not known to be over when the lane asks."""
    return phase.copied or any(met == now for other, met in phase.arrivals.items() if other != lane)
