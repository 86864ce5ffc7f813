"""What is recorded of a launch: steps with their memory instructions, as bytes, and findings."""

from __future__ import annotations

import numpy as np
from msgspec import Struct, field

from tooling.replay.buffers import Buffers, RecordedMove
from tooling.replay.cells import Bytes
from tooling.simulator.checks.base import CheckHook
from tooling.simulator.checks.findings import Finding, SourcePosition
from tooling.simulator.gpu.hooks import LaunchContext
from tooling.simulator.gpu.launch import Launch


class Moment(Struct, eq=False):
    """A step while it is recorded.

    Attributes:
        gpu: of its threads.
        codes: the identities of its instructions.
        exchange: receiving threads, for each the thread that gives (-1: one that is not recorded), and the
            bytes of the values.
        used: whether it was added.
    """

    kind: str
    position: SourcePosition
    threads: list[int]
    codes: set[int] = field(default_factory=set)
    moves: list[RecordedMove] = field(default_factory=list)
    exchange: tuple[list[int], list[int], Bytes] | None = None
    used: bool = False
    gpu: int = 0

    def repeats(self, other: Moment) -> bool:
        """Whether the same threads load once more, from the same addresses, and get the same values."""
        if (self.position, self.threads) != (other.position, other.threads) or len(self.moves) != 1:
            return False
        (mine,), theirs = self.moves, other.moves
        return (
            len(theirs) == 1
            and (mine.key, mine.action, mine.threads) == (theirs[0].key, "load", theirs[0].threads)
            and np.array_equal(mine.offsets, theirs[0].offsets)
            and np.array_equal(mine.raw, theirs[0].raw)
        )


class RecordedFinding(Struct):
    """A finding: which one of which check, and the step in which it was found."""

    check: CheckHook
    number: int
    step: int

    @property
    def finding(self) -> Finding:
        return self.check.findings[self.number]


class RecordedLaunch(Struct, frozen=True, eq=False):
    """A launch of which some blocks are recorded.

    Attributes:
        blocks: their numbers in the launch.
        number: of the launch in the program, from 1.
    """

    context: LaunchContext
    blocks: tuple[int, ...]
    number: int

    @property
    def gpu(self) -> int:
        return self.context.launch.device


class Recording(Struct, eq=False):
    """Some blocks of a launch, or of a launch of the same kernel on each of several GPUs.

    The blocks are numbered in the order of the launches, and their threads in this order.

    Attributes:
        pending: lines of the instructions that are issued, and not reached yet.
        seen: how many findings of each kind of check are assigned to a step.
        values: how many are loaded and stored, over all steps.
        left_out: number of steps after the limit.
    """

    launches: list[RecordedLaunch]
    buffers: Buffers
    moments: list[Moment] = field(default_factory=list)
    pending: list[Moment] = field(default_factory=list)
    found: list[RecordedFinding] = field(default_factory=list)
    seen: dict[type[CheckHook], int] = field(default_factory=dict)
    values: int = 0
    left_out: int = 0

    @property
    def context(self) -> LaunchContext:
        """The first launch."""
        return self.launches[0].context

    @property
    def blocks(self) -> int:
        """How many blocks are recorded."""
        return sum(len(launch.blocks) for launch in self.launches)

    def takes(self, launch: Launch) -> bool:
        """Whether a launch is of the same kernel and shape, on a GPU of which nothing is recorded."""
        mine = self.context.launch
        same = (mine.function.name, mine.grid, mine.block) == (
            launch.function.name,
            launch.grid,
            launch.block,
        )
        return same and all(each.gpu != launch.device for each in self.launches)

    def add_waiting(self, moment: Moment) -> bool:
        """Whether a step shows that its threads poll: the step in which they began stands for it.

        The steps of the loop around it are left out.
        """
        own = [number for number, each in enumerate(self.moments) if each.gpu == moment.gpu]
        for at in reversed(own):
            earlier = self.moments[at]
            if moment.repeats(earlier):
                earlier.kind = "poll"
                for number in reversed([each for each in own if each > at]):
                    if set(self.moments[number].threads) <= set(moment.threads):
                        self._remove(number)
                return True
            if set(earlier.threads) & set(moment.threads) and (earlier.kind != "line" or earlier.moves):
                return False
        return False

    def _remove(self, number: int) -> None:
        del self.moments[number]
        for each in self.found:
            each.step -= each.step >= number
