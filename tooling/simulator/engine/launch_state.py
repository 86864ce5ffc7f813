"""The state that the batches of a launch share, and their counts."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.simulator.engine.together import Pace
from tooling.simulator.gpu.hooks import LaunchContext
from tooling.simulator.gpu.lanes import Shape
from tooling.simulator.gpu.listeners import Listeners
from tooling.simulator.program.backend import Backend
from tooling.simulator.program.program import Program
from tooling.simulator.program.warp_lanes import Warps

Array = NDArray[Any]


class Limits(Struct, frozen=True):
    """Limits at which a kernel is stopped.

    Attributes:
        lane_instructions: maximum of lane instructions of one launch, or None.
        deadline: `time.monotonic()` at which it is stopped, or None.
        stop: polled; true stops the kernel.
        blocks: the only blocks that run; None: all.
    """

    lane_instructions: int | None = None
    deadline: float | None = None
    stop: Callable[[], bool] | None = None
    blocks: tuple[range, ...] | None = None

    @property
    def passed(self) -> bool:
        """Whether the deadline has passed, or `stop` is true."""
        late = self.deadline is not None and time.monotonic() > self.deadline
        return late or (self.stop is not None and self.stop())


class LaunchState:
    """A launch in progress, and its counts."""

    def __init__(
        self,
        backend: Backend,
        program: Program,
        context: LaunchContext,
        symbols: dict[str, int],
        listeners: Listeners,
        *,
        schedule: str,
        stdout: Callable[[bytes], None],
        limits: Limits,
        pace: Pace | None = None,
    ) -> None:
        self.backend = backend
        self.program = program
        self.context = context
        self.symbols = symbols
        self.listeners = listeners
        self.schedule = schedule
        self.stdout = stdout
        self.limits = limits
        self.pace = pace  # None: it does not take turns with launches of other devices
        self.parameters: NDArray[np.uint8] = np.frombuffer(context.launch.parameters, np.uint8)
        self.values: dict[int, dict[int, Array]] = {}
        self.warps: dict[int, Warps] = {}
        self.shapes: dict[int, Shape] = {}
        self.issued = 0
        self.lane_instructions = 0
        self.finished_blocks = 0

    def shape(self, blocks: int) -> Shape:
        """The arrays that batches of `blocks` blocks share."""
        known = self.shapes.get(blocks)
        if known is None:
            known = self.shapes[blocks] = Shape(
                blocks, self.context.threads_per_block, self.context.lanes_per_block
            )
        return known
