"""Memory requests of instructions: which lanes access, and how wide."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import Transfer
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.loaded_values import LoadedValue

Array = NDArray[Any]


class Width(Struct, frozen=True):
    """Size of an access: `count` elements of `element` bytes per lane."""

    element: int
    count: int

    @property
    def bytes(self) -> int:
        """Bytes per lane."""
        return self.element * self.count


class MemoryRequest(Struct, eq=False):
    """The lanes, instruction and width of an access.

    Attributes:
        lanes: numbers of the active lanes in the batch, or None for all of the group.
        asynchronous: part of a cp.async.
        transfer: the bulk copy that it is part of.
        run: whether the addresses are consecutive; None if not determined yet.
        aligned: the addresses are known to be multiples of the width.
        values: receives what a load reads, one for each element, if some lanes may not use it
            (`LoadedValue`); None if all use it.
        windows: addresses in shared memory with block in the batch and offset; None if not determined
            yet.
    """

    group: Group
    instruction: Instruction
    width: Width
    lanes: NDArray[np.intp] | None = None
    asynchronous: bool = False
    transfer: Transfer | None = None
    run: bool | None = None
    aligned: bool = False
    windows: tuple[Array, NDArray[np.int64], Array] | None = None
    values: list[LoadedValue] | None = None

    @property
    def count(self) -> int:
        """Active lanes."""
        return self.group.count if self.lanes is None else len(self.lanes)

    def indices(self, batch_size: int) -> NDArray[np.intp]:
        """Numbers of the active lanes in the batch."""
        return self.group.indices(batch_size) if self.lanes is None else self.lanes

    def pick(self, values: Array) -> Array:
        """The elements of the active lanes, of an array over all lanes of the batch."""
        return self.group.pick(values) if self.lanes is None else values.take(self.lanes, axis=0)

    def only(self, positions: NDArray[np.intp], batch_size: int) -> MemoryRequest:
        """The same request for some of its active lanes, by position."""
        chosen = self.indices(batch_size)[positions]
        return MemoryRequest(
            self.group,
            self.instruction,
            self.width,
            chosen,
            self.asynchronous,
            self.transfer,
            values=self.values,
        )
