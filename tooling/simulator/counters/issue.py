"""Warp instructions issued: executions of each run of instructions, and the instructions of each warp."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from tooling.simulator.counters.warp_rows import LANES, distinct_warps, warps_and_lanes
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import Ints
from tooling.simulator.gpu.lanes import Lanes, numbers_of


class WarpWork(Struct, frozen=True):
    """The instructions that the warps of one launch issue.

    Attributes:
        warps: how many there are; instructions: of all of them.
        busiest: instructions of the warp that issues most.
    """

    warps: int = 0
    instructions: int = 0
    busiest: int = 0

    @property
    def of_mean(self) -> float:
        """The instructions of the busiest warp relative to the mean of all warps; 0 if none was issued."""
        return self.busiest * self.warps / self.instructions if self.instructions else 0.0


class _Run(Struct):
    """Instructions without a jump, and their executions.

    Attributes:
        seen: the lanes of the latest execution, of which there are `lanes_seen`, in the warps `warps_seen`.
        again: executions by these lanes that are not yet among the work of their warps.
    """

    instructions: Sequence[Instruction]
    warps: int = 0
    lanes: int = 0
    seen: Lanes = None
    lanes_seen: int = 0
    warps_seen: Ints | None = None
    again: int = 0


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
        self._warps = -(-threads_per_block // size)  # of a block
        self._blocks = 0
        self._first_warp = 0
        self._runs: dict[int, _Run] = {}
        self._own: Ints = np.zeros(0, np.int64)  # by each warp of the batch, without those of all
        self._of_all = 0
        self._work = WarpWork()

    def batch(self, first_block: int, blocks: int) -> None:
        """A batch of `blocks` blocks runs from now on."""
        self._end_batch()
        self._blocks = blocks
        self._first_warp = first_block * self._warps
        self._own = np.zeros(blocks * self._warps, np.int64)

    def issue(self, instructions: Sequence[Instruction], lanes: Lanes, executing: int | None = None) -> None:
        """These lanes of the batch execute these instructions; `executing` of them are not masked off."""
        run = self._runs.get(id(instructions))
        if run is None:
            run = self._runs[id(instructions)] = _Run(instructions)
        if lanes is None:
            run.warps += self._blocks * self._warps
            run.lanes += self._blocks * self._threads if executing is None else executing
            self._of_all += len(instructions)
            return
        if lanes is not run.seen or run.warps_seen is None:  # loops come back with the same lanes
            self._settle(run)
            numbers = numbers_of(lanes)
            warps, _ = warps_and_lanes(numbers, self._lanes, self._size)
            run.seen, run.lanes_seen, run.warps_seen = lanes, len(numbers), distinct_warps(warps)
        run.again += 1
        run.warps += len(run.warps_seen)
        run.lanes += run.lanes_seen if executing is None else executing

    def issue_one(self, warps: Ints) -> None:
        """These warps of the launch, each once, execute one instruction outside of a run."""
        self._own[warps - self._first_warp] += 1

    def work(self) -> WarpWork:
        """The work of the warps that ran, once all of them have ended."""
        self._end_batch()
        return self._work

    def counted(self) -> Iterator[tuple[Instruction, int, int]]:
        """Instruction, warps and lanes for everything that was executed."""
        for run in self._runs.values():
            for instruction in run.instructions:
                yield instruction, run.warps, run.lanes

    def _settle(self, run: _Run) -> None:
        if run.again and run.warps_seen is not None:
            self._own[run.warps_seen] += run.again * len(run.instructions)
            run.again = 0

    def _end_batch(self) -> None:
        for run in self._runs.values():
            self._settle(run)
            run.seen = run.warps_seen = None  # lanes of the next batch are others
        if len(self._own):
            work, own = self._work, self._own + self._of_all
            self._work = WarpWork(
                work.warps + len(own),
                work.instructions + int(own.sum()),
                max(work.busiest, int(own.max())),
            )
        self._own, self._of_all = np.zeros(0, np.int64), 0
