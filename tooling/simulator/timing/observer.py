"""The hook: what some warps execute, in order, and which memory some blocks access."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct, field

from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import Access, AccessKind, Hook, Ints, LaunchContext, Space
from tooling.simulator.gpu.lanes import Lanes
from tooling.simulator.timing.sampling import Neighbours, neighbours

MOST_LANES = 1 << 18
"""Accesses of lanes that are kept for each block; of a longer block the rest is extrapolated."""
MOST_RUNS = 200_000
"""Runs of instructions that are kept for each warp."""


class Path(Struct):
    """The runs of instructions that a warp executed, as numbers in `WorkObserver.runs`."""

    thread: int
    runs: list[int] = field(default_factory=list)
    cut: bool = False


class BlockAccesses(Struct):
    """The accesses of a block to global memory, in order.

    Attributes:
        instructions, kinds: of each event; addresses, warps: of its lanes.
        kept, seen: accesses of lanes that are kept here, and that there were.
    """

    instructions: list[int] = field(default_factory=list)
    kinds: list[AccessKind] = field(default_factory=list)
    addresses: list[Ints] = field(default_factory=list)
    warps: list[Ints] = field(default_factory=list)
    kept: int = 0
    seen: int = 0


class WorkObserver(Hook):
    """Observes one launch.

    Args:
        near: the blocks whose accesses are kept; None: those in the middle of the grid.

    Attributes:
        near: these blocks, once the launch has begun.
        runs: the distinct runs of instructions.
        paths: of some warps of the first observed block.
        blocks: the accesses of a block and of its neighbours, by their numbers.
    """

    def __init__(self, near: Neighbours | None = None) -> None:
        self.near = near or Neighbours(0, None, None, None)
        self._middle = near is None
        self.runs: list[Sequence[Instruction]] = []
        self.paths: list[Path] = []
        self.blocks: dict[int, BlockAccesses] = {}
        self.context: LaunchContext | None = None
        self._numbers: dict[int, int] = {}
        self._here: list[tuple[Path, int]] = []
        self._blocks_here: list[tuple[BlockAccesses, int]] = []
        self._threads = 1
        self._latest: tuple[Lanes, list[Path]] = (None, [])

    def launch_begin(self, context: LaunchContext) -> None:
        self.context = context
        self._threads = context.threads_per_block
        if self._middle:
            self.near = neighbours(context.launch.grid)
        self.blocks = {block: BlockAccesses() for block in self.near if block is not None}
        warps = -(-self._threads // context.warp_size)
        first = self.near.first * self._threads
        self.paths = [Path(first + warp * context.warp_size) for warp in sorted({0, warps // 2, warps - 1})]

    def batch_begin(self, first_block: int, blocks: int) -> None:
        start, end = first_block * self._threads, (first_block + blocks) * self._threads
        self._here = [(path, path.thread - start) for path in self.paths if start <= path.thread < end]
        self._blocks_here = [
            (accesses, block)
            for block, accesses in self.blocks.items()
            if first_block <= block < first_block + blocks
        ]
        self._latest = (None, [])

    def issue(self, instructions: Sequence[Instruction], lanes: Lanes, executing: int | None) -> None:
        if self._here:
            self._append(instructions, self._those_in(lanes))

    def warp_sync(self, threads: Ints, masks: np.ndarray, instruction: Instruction) -> None:
        if not self._here:
            return
        ends = [(path, path.thread, path.thread + 32) for path, _ in self._here]
        own = [path for path, low, high in ends if _any_between(threads, low, high)]
        self._append((instruction,), own)

    def access(self, access: Access) -> None:
        if access.space is not Space.GLOBAL or not self._blocks_here:
            return
        for accesses, block in self._blocks_here:
            low, high = np.searchsorted(access.threads, [block * self._threads, (block + 1) * self._threads])
            if low == high:
                continue
            accesses.seen += int(high - low)
            if accesses.kept >= MOST_LANES:
                continue
            accesses.kept += int(high - low)
            accesses.instructions.append(access.instruction.code_line)
            accesses.kinds.append(access.kind)
            accesses.addresses.append(np.array(access.addresses[low:high]))
            accesses.warps.append((access.threads[low:high] - block * self._threads) >> 5)

    def _append(self, instructions: Sequence[Instruction], paths: Sequence[Path]) -> None:
        if not paths:
            return
        key = id(instructions) if len(instructions) > 1 else id(instructions[0])
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.runs)
            self.runs.append(instructions)
        for path in paths:
            if len(path.runs) < MOST_RUNS:
                path.runs.append(number)
            else:
                path.cut = True

    def _those_in(self, lanes: Lanes) -> list[Path]:
        if lanes is None:
            return [path for path, _ in self._here]
        known, found = self._latest
        if known is not lanes:
            if isinstance(lanes, slice):
                found = [path for path, lane in self._here if lanes.start < lane + 32 and lane < lanes.stop]
            else:
                found = [path for path, lane in self._here if _any_between(lanes, lane, lane + 32)]
            self._latest = (lanes, found)
        return found


def _any_between(numbers: np.ndarray, low: int, high: int) -> bool:
    first, end = np.searchsorted(numbers, [low, high])
    return bool(first < end)
