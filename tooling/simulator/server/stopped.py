"""The kernel that a simulation stopped: which one, where, and why."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tooling.simulator.checks.base import is_packaged, source_position
from tooling.simulator.checks.findings import Index3, SourcePosition
from tooling.simulator.counters.profile import Line
from tooling.simulator.counters.sources import source_text
from tooling.simulator.gpu.kernel_names import readable_kernel
from tooling.simulator.gpu.launch import FaultKind, KernelFault
from tooling.simulator.server.context import LaunchRecord
from tooling.text import Text

MANY_THREADS = 1 << 24
"""A launch of so many threads takes minutes on the simulated GPU."""


class StoppedKernel(Struct, frozen=True):
    """A kernel that was stopped before its end.

    Attributes:
        name: as its author wrote it.
        position: the line that was being executed; its number is 0 if unknown.
        text: that line; empty if it cannot be read.
        thread, block: the thread that was stopped; None if no single thread is at fault.
        kind, why: the reason.
        blocks, finished: of its launch, and how many of them had ended; threads: of a block.
    """

    name: str
    position: SourcePosition
    text: str
    thread: Index3 | None
    block: Index3 | None
    kind: FaultKind
    why: Text
    blocks: int = 1
    finished: int = 0
    threads: int = 1

    @property
    def large_launch(self) -> bool:
        """Whether it was the number of threads that took the time."""
        many = self.blocks * self.threads > MANY_THREADS
        return self.kind is FaultKind.TIME_LIMIT and many and self.finished > 0


def stopped_kernel(records: Sequence[LaunchRecord]) -> StoppedKernel | None:
    """The first of these launches that was stopped, or None."""
    for record in records:
        fault = record.result.error
        if fault is None:
            continue
        position = _authors_position(fault)
        block = thread = None
        if fault.thread >= 0:
            first, second = record.launch.position(fault.thread)
            block, thread = (first.x, first.y, first.z), (second.x, second.y, second.z)
        return StoppedKernel(
            readable_kernel(record.launch.function.name, record.module.files.values()),
            position,
            source_text(Line(position.file, position.line)),
            thread,
            block,
            fault.kind,
            fault.reason,
            record.launch.blocks,
            record.result.blocks,
            record.launch.threads_per_block,
        )
    return None


def _authors_position(fault: KernelFault) -> SourcePosition:
    """Where the kernel was stopped; inside a function of Mojo's packages, where the author called it."""
    positions = [source_position(instruction) for instruction in (fault.instruction, *fault.callers)]
    return next((one for one in positions if not is_packaged(one.file)), positions[0])
