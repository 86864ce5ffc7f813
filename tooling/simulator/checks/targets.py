"""The granules that an access touches: what the race check compares and records."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from tooling.simulator.checks.shadow import Epochs, Panel, Selection, Shadow, Strip, granules_of
from tooling.simulator.gpu.device_memory import Allocation
from tooling.simulator.gpu.hooks import Access, Ints, Rows


class Target(Struct, frozen=True):
    """One access to one range of memory; n = lanes x granules per lane, lane by lane.

    Attributes:
        where: the n granules; `epochs`: (n,) the epoch of each.
        low, high: granules that bound them (`high` is one past the last).
        allocation: the allocation, or None for shared memory.
        chosen: the positions that remain of the access, some of them several times; None: all, once.
    """

    access: Access
    shadow: Shadow
    where: Selection
    epochs: Epochs
    low: int
    high: int
    allocation: Allocation | None
    chosen: NDArray[np.int64] | None = None

    def at(self, positions: NDArray[np.int64]) -> Target:
        """The target at some positions of `epochs`, such as one position for each further reader there."""
        chosen = positions if self.chosen is None else self.chosen[positions]
        return replace(self, where=self.granules(positions), epochs=self.epochs[positions], chosen=chosen)

    def granules(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Granule numbers at some positions of `epochs`."""
        return granules_of(self.where, positions)

    def values(self) -> NDArray[np.uint64]:
        """(n,) the bits about to be stored, granule by granule.

        Raises:
            ValueError: a load stores no values.
        """
        values = self.access.values
        if values is None:
            raise ValueError("a load stores no values")
        rows = np.atleast_2d(values).T.astype(f"u{self.access.element_bytes}", order="C")
        bits = rows.view(f"u{self.shadow.granule}").astype(np.uint64).ravel()
        return bits if self.chosen is None else bits[self.chosen]


def dense_strip(access: Access, shadow: Shadow, low: int, clock_part: int) -> Strip | None:
    """A dense access from byte `low` on as a strip; None if its threads are not consecutive."""
    lanes = len(access.threads)
    first = int(access.threads[0])
    if int(access.threads[-1]) - first != lanes - 1:
        return None
    each = max(1, access.bytes // shadow.granule)
    start = low // shadow.granule
    return Strip(start, start + lanes * each, first, each, clock_part)


def dense_target(
    access: Access, shadow: Shadow, low: int, high: int, *, clock_part: int, allocation: Allocation
) -> Target:
    """The target of an access with contiguous lanes: bytes `low` up to `high` of `allocation`.

    `clock_part` is common to all epochs of the access.
    """
    granule = shadow.granule
    each = max(1, access.bytes // granule)
    epochs = access.threads | clock_part
    epochs = epochs if each == 1 else np.repeat(epochs, each)
    first = low // granule
    return Target(
        access, shadow, slice(first, first + len(epochs)), epochs, first, -(-high // granule), allocation
    )


def row_strip(  # noqa: PLR0917 - a strip and its units
    rows: Rows, granule: int, size: int, first: int, clock_part: int, threads: int, window: int
) -> Strip:
    """An access of consecutive threads to rows of shared memory as a strip.

    Args:
        granule, size, window: bytes of a granule, of a lane's access, and from block to block.
        first: the thread in the launch that is the first one of row 0; threads: of a block.
    """
    low, high = rows.low // granule, rows.high // granule
    return Strip(
        low, high, first, size // granule, clock_part, rows.first, rows.last, threads, window // granule
    )


def row_target(access: Access, rows: Rows, shadow: Shadow, window: int, clock_part: int) -> Target:
    """The target of an access to rows of shared memory.

    Args:
        window: bytes from block to block.
    """
    granule = shadow.granule
    each = access.bytes // granule
    epochs = access.threads | clock_part
    epochs = epochs if each == 1 else np.repeat(epochs, each)
    where = Panel(rows.first, rows.last, rows.low // granule, rows.high // granule, window // granule)
    return Target(access, shadow, where, epochs, 0, shadow.count, None)


def sparse_target(
    access: Access, shadow: Shadow, offsets: Ints, clock_part: int, allocation: Allocation | None
) -> Target:
    """The target of an access at arbitrary byte offsets (n,) of the memory of `shadow`."""
    granule = shadow.granule
    each = max(1, access.bytes // granule)
    epochs = access.threads | clock_part
    where = offsets >> granule.bit_length() - 1
    if each > 1:
        epochs = np.repeat(epochs, each)
        where = (where[:, None] + np.arange(each)).ravel()
    return Target(access, shadow, where, epochs, 0, shadow.count, allocation)
