"""Livelock detection: all remaining threads poll for values that will never change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.engine.together import Pace
from tooling.simulator.gpu.hooks import Waiter, WaitsFor
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.stop_texts import ENDLESS_WAIT, WAIT_FOR_LATER_BLOCKS
from tooling.simulator.program.program import Batch
from tooling.text import Text

Array = NDArray[Any]
State = dict[tuple[Any, ...], list[Array]]
"""Per program point and set of lanes, the registers that are still needed there."""


class LoopWatch:
    """Compares the state of a batch with an earlier one.

    If all registers are equal, every lane has had its turn, and no byte of memory changed in between, the
    batch is in an infinite loop. The earlier state is replaced after 1, 2, 4, 8, … comparisons (Brent's cycle
    detection), so that a cycle of any length is found.

    Args:
        batch: the running batch.
        is_last: no block of the launch has yet to start.
        stop: stops the kernel, given the polling threads.
        pace: of a launch that runs together with launches of other devices, which is idle instead.
    """

    def __init__(
        self,
        batch: Batch,
        *,
        is_last: bool,
        stop: Callable[[list[Waiter], Text], None],
        pace: Pace | None = None,
    ) -> None:
        self.batch = batch
        self._pace = pace
        self._is_last = is_last
        self._stop = stop
        self._looks = 0
        self._renewal = 1
        self._changes = -1
        self._state: State = {}

    def look(self, groups: Sequence[Group]) -> None:
        """Compare states; each of these groups, all that can run, had its turn since the last call.

        Raises:
            KernelFault: they are in an infinite loop.
        """
        batch = self.batch
        if not all(group.polling for group in groups):
            return
        batch.spaces.watching = True
        state = {(g.pc, g.stack, g.indices(batch.size).tobytes()): _needed(batch, g) for g in groups}
        if self._changes == batch.spaces.changes and _same(state, self._state):
            if batch.transfers.end_all():
                return
            if self._pace is not None and not self._pace.ends:
                self._pace.idle = True  # another device may still change what these poll
                return
            waiters = [
                Waiter(group.pick(batch.spaces.threads), group.polling, WaitsFor.LOOP)
                for group in groups
                if group.polling is not None
            ]
            self._stop(waiters, ENDLESS_WAIT if self._is_last else WAIT_FOR_LATER_BLOCKS)
        self._looks += 1
        if self._looks >= self._renewal or self._changes != batch.spaces.changes:
            self._renewal = max(self._renewal, 2 * self._looks)
            self._state, self._changes = state, batch.spaces.changes


def _needed(batch: Batch, group: Group) -> list[Array]:
    return [group.get(slot) for slot in sorted(batch.program.live(group.pc, group.stack))]


def _same(now: State, before: State) -> bool:
    return now.keys() == before.keys() and all(
        x is y or np.array_equal(_bits(x), _bits(y))
        for point, registers in now.items()
        for x, y in zip(registers, before[point], strict=True)
    )


def _bits(value: Array) -> Array:
    """NaNs compare equal by their bits."""
    return value.view(f"u{value.dtype.itemsize}")
