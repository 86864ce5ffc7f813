"""What is recorded of a launch: steps with their memory instructions, as bytes, and findings."""

from __future__ import annotations

from msgspec import Struct, field

from tooling.replay.buffers import Buffers, RecordedMove
from tooling.replay.cells import Bytes
from tooling.simulator.checks.base import CheckHook
from tooling.simulator.checks.findings import Finding, SourcePosition
from tooling.simulator.gpu.hooks import LaunchContext


class Moment(Struct, eq=False):
    """A step while it is recorded.

    Attributes:
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


class RecordedFinding(Struct):
    """A finding: which one of which check, and the step in which it was found."""

    check: CheckHook
    number: int
    step: int

    @property
    def finding(self) -> Finding:
        return self.check.findings[self.number]


class Recording(Struct, eq=False):
    """Some blocks of a launch.

    Attributes:
        blocks: their numbers in the launch. Their threads are numbered in this order.
        left_out: number of steps after the limit.
    """

    context: LaunchContext
    blocks: tuple[int, ...]
    buffers: Buffers
    moments: list[Moment] = field(default_factory=list)
    found: list[RecordedFinding] = field(default_factory=list)
    left_out: int = 0
