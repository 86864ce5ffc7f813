"""The warps of a batch, and the warp-wide operations on their lanes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.lanes import Group
from tooling.simulator.numerics.rounding import S32, U32

Array = NDArray[Any]

ALL_LANES = np.uint32(0xFFFFFFFF)
"""The mask of a whole warp."""


class Sources(NamedTuple):
    """The source lanes of a shuffle.

    Attributes:
        positions: (n,) in the group; inside: (n,) the predicate.
        lanes: (n,) numbers in the warp; here: (n,) whether such a lane is in the group; all_here: all are.
    """

    positions: Array
    inside: NDArray[np.bool_]
    lanes: Array
    here: NDArray[np.bool_]
    all_here: bool


class Warps:
    """The warps of a batch: 32 consecutive threads of a block each; the last of a block may have fewer."""

    def __init__(self, blocks: int, threads_per_block: int) -> None:
        thread = np.arange(threads_per_block)
        per_block = -(-threads_per_block // 32)
        self.size = blocks * threads_per_block
        self.lane_in_warp: Array = np.tile((thread % 32).astype(U32), blocks)
        self.warp_of_lane: Array = (
            np.repeat(np.arange(blocks), threads_per_block) * per_block + np.tile(thread // 32, blocks)
        ).astype(np.intp)
        self.count = blocks * per_block
        self.first_lane: Array = (
            np.repeat(np.arange(blocks) * threads_per_block, per_block)
            + np.tile(np.arange(per_block) * 32, blocks)
        ).astype(np.intp)
        self.full: Array = self.masks(np.arange(self.size))
        self.alive = self.full
        self._shuffles: dict[tuple[Any, ...], Sources] = {}

    def masks(self, lanes: Array) -> Array:
        """Per warp, the lane mask of these lane numbers (sorted)."""
        result = np.zeros(self.count, U32)
        if len(lanes):
            warp = self.warp_of_lane[lanes]
            starts = np.flatnonzero(np.concatenate([[True], warp[1:] != warp[:-1]]))
            result[warp[starts]] = np.bitwise_or.reduceat(np.uint32(1) << self.lane_in_warp[lanes], starts)
        return result

    def whole(self, group: Group) -> bool:
        """Whether the group holds all 32 lanes of each of its warps."""
        if group.lanes is None:
            return self.size == 32 * self.count
        lanes = group.indices(self.size)
        return bool((self.masks(lanes)[self.warp_of_lane[lanes]] == ALL_LANES).all())

    def ballot(self, group: Group, predicate: Array) -> Array:
        """Per lane of the group, the mask of the group's lanes in its warp whose predicate is true."""
        lanes = group.indices(self.size)
        chosen = lanes[np.broadcast_to(predicate, group.count)]
        return self.masks(chosen)[self.warp_of_lane[lanes]]

    def shuffle(self, mode: str, group: Group, amount: Array, control: Array) -> Sources:
        """The source of each lane of the group.

        A source that does not take part (exited, or not in the group) has the position of the reading lane.
        """
        uniform = len(amount) == 1 and len(control) == 1
        key = (mode, int(amount[0]), int(control[0])) if uniform and group.lanes is None else None
        if key is not None and key in self._shuffles:
            return self._shuffles[key]
        lane = group.pick(self.lane_in_warp).astype(S32)
        shift = (amount & np.uint32(31)).astype(S32)
        clamp = (control & np.uint32(31)).astype(S32)
        segment = ((control >> np.uint32(8)) & np.uint32(31)).astype(S32)
        lowest = lane & segment
        highest = lowest | (clamp & ~segment)
        if mode == "up":
            source = lane - shift
            inside = source >= highest
        else:
            if mode == "down":
                source = lane + shift
            elif mode == "bfly":
                source = lane ^ shift
            else:
                source = lowest | (shift & ~segment)
            inside = source <= highest
        source = np.where(inside, source, lane)
        wanted = self.first_lane[group.pick(self.warp_of_lane)] + source
        positions, here = self._positions(group, wanted, group.pick(self.warp_of_lane))
        inside, source = np.broadcast_to(inside, group.count), np.broadcast_to(source, group.count)
        result = Sources(positions, inside, source, here, bool(here.all()))
        if key is not None:
            self._shuffles[key] = result
        return result

    def _positions(self, group: Group, wanted: Array, warp: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Positions in the group of lane numbers, and whether they are in it.

        A lane that is not in the group is replaced by the reading lane.
        """
        own = np.arange(group.count)
        valid = wanted < self.size
        wanted = np.where(valid, wanted, 0)
        valid &= self.warp_of_lane[wanted] == warp
        if group.lanes is None:
            return np.where(valid, wanted, own), valid
        lanes = group.indices(self.size)
        position = np.minimum(np.searchsorted(lanes, wanted), group.count - 1)
        valid &= lanes[position] == wanted
        return np.where(valid, position, own), valid
