"""Saved registers of callers of recursive functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.lanes import Group
from tooling.simulator.numerics.rounding import PRED


class Frames:
    """Saved registers: per call stack, of all lanes.

    Args:
        size: lanes of the batch.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: dict[tuple[int, ...], dict[int, NDArray[Any]]] = {}
        self._lanes: dict[tuple[int, ...], int] = {}

    def keep(self, group: Group, stack: tuple[int, ...], slots: Mapping[int, np.dtype[Any]]) -> None:
        """Save the registers of lanes that make the call that leads to `stack`.

        Args:
            slots: the registers, with the array type of each.
        """
        kept = self._values.setdefault(stack, {})
        self._lanes[stack] = self._lanes.get(stack, 0) + group.count
        lanes = slice(None) if group.lanes is None else group.lanes
        for slot, dtype in slots.items():
            value = group.get(slot)
            if slot not in kept:
                kept[slot] = np.empty(self._size, dtype)
            kept[slot][lanes] = value if dtype == PRED else value.view(dtype)

    def restore(self, group: Group, stack: tuple[int, ...]) -> None:
        """Restore the registers of lanes that return from `stack`; the last ones remove them."""
        for slot, values in self._values[stack].items():
            group.registers[slot] = group.pick(values).copy()
        self._lanes[stack] -= group.count
        if not self._lanes[stack]:
            del self._values[stack], self._lanes[stack]
