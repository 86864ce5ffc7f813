"""Asynchronous matrix products in progress: groups that warps have committed, and results not waited for.

A fence orders the registers of products after earlier accesses to them; the first product needs one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Instruction

Ints = NDArray[np.int64]


class Product:
    """The result of one product in the registers of some lanes, until they wait for it: see `Followed`.

    Attributes:
        lanes: (n,) of the batch, ascending; groups: (n,) the number of each lane's group that it belongs to.
    """

    computable = False
    joinable = False
    settled = False

    def __init__(
        self,
        instruction: Instruction,
        lanes: NDArray[np.intp],
        groups: Ints,
        used: Callable[[NDArray[np.intp], Instruction, Instruction], None],
    ) -> None:
        self.instruction = instruction
        self.lanes = lanes
        self.groups = groups
        self.holders = 0
        self._used = used

    def use(self, lanes: NDArray[np.intp], instruction: Instruction) -> None:
        """These lanes of the batch use the result, or change it."""
        self._used(lanes, instruction, self.instruction)

    def drop(self) -> None:
        """No register holds it any more."""


class Products:
    """The groups of products that the lanes of a batch have committed.

    Args:
        size: lanes of the batch.
    """

    def __init__(self, size: int) -> None:
        self.committed: Ints = np.zeros(size, np.int64)
        self._unfenced = np.ones(size, np.bool_)

    def commit(self, lanes: NDArray[np.intp]) -> None:
        """These lanes end a group."""
        self.committed[lanes] += 1

    def fence(self, lanes: NDArray[np.intp]) -> None:
        """These lanes execute a fence."""
        self._unfenced[lanes] = False

    def without_fence(self, lanes: NDArray[np.intp]) -> NDArray[np.intp]:
        """Those of the lanes that have executed no fence yet; each one once."""
        found = lanes[self._unfenced[lanes]]
        self._unfenced[found] = False
        return found

    def over(self, lanes: NDArray[np.intp], pending: int) -> Ints:
        """(n,) the number before which each lane's groups are complete, if `pending` may be unfinished."""
        return np.asarray(self.committed[lanes] - pending)
