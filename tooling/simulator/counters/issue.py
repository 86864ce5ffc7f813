"""Warp instructions issued: executions of each run of instructions, by warps and lanes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from tooling.simulator.counters.warp_rows import LANES, warps_and_lanes
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.lanes import Lanes, numbers_of


class _Run(Struct):
    """Instructions without a jump, and their executions; `latest` is the count for the lanes `seen`."""

    instructions: Sequence[Instruction]
    warps: int = 0
    lanes: int = 0
    seen: Lanes = None
    latest: tuple[int, int] = (0, 0)


class IssueCounter:
    """Counts the instructions of one launch.

    Args:
        threads_per_block: threads of a block of the launch.
        lanes_per_block: the same, with lanes that have no thread if blocks consist of whole warps.
        size: lanes of a warp.
    """

    def __init__(self, threads_per_block: int, lanes_per_block: int | None = None, size: int = LANES) -> None:
        self._threads = threads_per_block
        self._lanes = lanes_per_block or threads_per_block
        self._size = size
        self._blocks = 0
        self._runs: dict[int, _Run] = {}

    def batch(self, blocks: int) -> None:
        """A batch of `blocks` blocks runs from now on."""
        self._blocks = blocks

    def issue(self, instructions: Sequence[Instruction], lanes: Lanes, executing: int | None = None) -> None:
        """These lanes of the batch execute these instructions; `executing` of them are not masked off."""
        run = self._runs.get(id(instructions))
        if run is None:
            run = self._runs[id(instructions)] = _Run(instructions)
        if lanes is None:
            run.warps += self._blocks * -(-self._threads // self._size)
            run.lanes += self._blocks * self._threads if executing is None else executing
            return
        if lanes is not run.seen:  # loops come back with the same lanes
            numbers = numbers_of(lanes)
            warps, _ = warps_and_lanes(numbers, self._lanes, self._size)
            run.seen, run.latest = lanes, (1 + int(np.count_nonzero(np.diff(warps))), len(numbers))
        run.warps += run.latest[0]
        run.lanes += run.latest[1] if executing is None else executing

    def counted(self) -> Iterator[tuple[Instruction, int, int]]:
        """Instruction, warps and lanes for everything that was executed."""
        for run in self._runs.values():
            for instruction in run.instructions:
                yield instruction, run.warps, run.lanes
