"""Warp instructions issued: how often each basic block ran, for how many warps and lanes.

The engine's `issue` event names lanes, not warps, so a probe is put in front of every basic block of the
decoded kernel for the length of a launch, and taken out after it. A probe hears the batch whose launch it
belongs to and no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tooling.simulator.counters.warp_rows import warps_and_lanes
from tooling.simulator.decode import decode
from tooling.simulator.hooks import LaunchContext
from tooling.simulator.lanes import Group, Lanes
from tooling.simulator.program import BasicBlock
from tooling.simulator.ptx_model import Instruction

WARP_WIDE = frozenset({"shfl", "vote", "match", "redux", "elect"})


def counts_when_passed(instruction: Instruction) -> bool:
    """Whether an instruction waits for the other lanes of its warp.

    The engine may come back to it while it waits, so it is counted by the `warp_sync` event instead.
    """
    return instruction.opcode in WARP_WIDE or instruction.modifiers[:1] == ("warp",)


class _Probe:
    """Counts one basic block."""

    __slots__ = ("_lanes", "_warps", "block", "context", "lanes", "warps")

    def __init__(self, block: BasicBlock, context: LaunchContext) -> None:
        self.block = block
        self.context = context
        self.warps = self.lanes = 0
        self._lanes: Lanes = None
        self._warps = 0

    def __call__(self, group: Group, batch: Any) -> None:
        if batch.context is not self.context:
            return
        self.lanes += group.count
        if group.lanes is None:
            per_block = -(-self.context.threads_per_block // 32)
            self.warps += batch.blocks * per_block
            return
        if group.lanes is not self._lanes:  # loops come back with the same lanes
            warps, _ = warps_and_lanes(group.indices(batch.size), self.context.threads_per_block)
            self._lanes, self._warps = group.lanes, 1 + int(np.count_nonzero(np.diff(warps)))
        self.warps += self._warps


class IssueCounter:
    """Counts the instructions of one launch, from `start` to `stop`."""

    def __init__(self) -> None:
        self._probes: list[_Probe] = []

    def start(self, context: LaunchContext) -> None:
        """Put the probes in place."""
        program = decode(context.module, context.launch.function)
        self._probes = [_Probe(block, context) for block in program.blocks if block.instructions]
        for probe in self._probes:
            probe.block.steps = [probe, *probe.block.steps]

    def stop(self) -> Iterator[tuple[Instruction, int, int]]:
        """Take the probes out; yields instruction, warps and lanes for everything that ran."""
        for probe in self._probes:
            probe.block.steps = [step for step in probe.block.steps if step is not probe]
        probes, self._probes = self._probes, []
        for probe in probes:
            if probe.warps:
                for instruction in probe.block.instructions:
                    if not counts_when_passed(instruction):
                        yield instruction, probe.warps, probe.lanes
