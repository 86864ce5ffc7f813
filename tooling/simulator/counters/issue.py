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
    """

    def __init__(self, threads_per_block: int) -> None:
        self._threads = threads_per_block
        self._blocks = 0
        self._runs: dict[int, _Run] = {}

    def batch(self, blocks: int) -> None:
        """A batch of `blocks` blocks runs from now on."""
        self._blocks = blocks

    def issue(self, instructions: Sequence[Instruction], lanes: Lanes) -> None:
        """These lanes of the batch execute these instructions."""
        run = self._runs.get(id(instructions))
        if run is None:
            run = self._runs[id(instructions)] = _Run(instructions)
        if lanes is None:
            run.warps += self._blocks * -(-self._threads // LANES)
            run.lanes += self._blocks * self._threads
            return
        if lanes is not run.seen:  # loops come back with the same lanes
            numbers = numbers_of(lanes)
            warps, _ = warps_and_lanes(numbers, self._threads)
            run.seen, run.latest = lanes, (1 + int(np.count_nonzero(np.diff(warps))), len(numbers))
        run.warps += run.latest[0]
        run.lanes += run.latest[1]

    def counted(self) -> Iterator[tuple[Instruction, int, int]]:
        """Instruction, warps and lanes for everything that was executed."""
        for run in self._runs.values():
            for instruction in run.instructions:
                yield instruction, run.warps, run.lanes
