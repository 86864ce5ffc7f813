"""A kernel launch and how it ended."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from msgspec import Struct

from tooling.simulator.gpu.code_model import Function, Instruction, SourceLocation
from tooling.text import ENGLISH, Text


class Dim3(NamedTuple):
    """Extents or a position in three dimensions."""

    x: int = 1
    y: int = 1
    z: int = 1

    @property
    def count(self) -> int:  # type: ignore[override]
        """The number of elements of this extent."""
        return self.x * self.y * self.z

    def position(self, linear: int) -> Dim3:
        """The position with this linear number (x fastest)."""
        return Dim3(linear % self.x, linear // self.x % self.y, linear // (self.x * self.y))

    def __str__(self) -> str:
        return f"({self.x}, {self.y}, {self.z})"


SINGLE = Dim3(1, 1, 1)


class Launch(Struct, frozen=True):
    """One kernel launch as the driver received it.

    Attributes:
        grid: blocks; block: threads of a block; cluster: blocks of a cluster (1, 1, 1 without one).
        shared_bytes: dynamic shared memory per block, in bytes.
        parameters: the parameter block, in the layout of `function.parameters`.
        stream: the stream's number, which has no influence on the order of launches.
        explicit_cluster: the launch call specified a cluster size.
        device: the GPU that runs it.
    """

    function: Function
    grid: Dim3
    block: Dim3
    cluster: Dim3 = SINGLE
    shared_bytes: int = 0
    parameters: bytes = b""
    stream: int = 0
    explicit_cluster: bool = False
    device: int = 0

    @property
    def threads_per_block(self) -> int:
        """Threads of one block."""
        return self.block.count

    @property
    def blocks(self) -> int:
        """Blocks of the whole launch."""
        return self.grid.count

    def position(self, thread: int) -> tuple[Dim3, Dim3]:
        """Block index and thread index of a linear thread number of this launch."""
        block, inside = divmod(thread, self.threads_per_block)
        return self.grid.position(block), self.block.position(inside)

    def one_cluster(self, *threads: int) -> bool:
        """Whether the blocks of these linear thread numbers are in one cluster."""
        corners = {
            tuple(at // extent for at, extent in zip(self.position(thread)[0], self.cluster, strict=True))
            for thread in threads
        }
        return len(corners) == 1


class FaultKind(Enum):
    """Why a kernel was stopped; the value is the driver's result code for it."""

    ILLEGAL_ADDRESS = 700
    ILLEGAL_INSTRUCTION = 715
    MISALIGNED_ADDRESS = 716
    TRAP = 719
    DEADLOCK = 702
    TIME_LIMIT = 10702
    INVALID_LAUNCH = 1

    @property
    def driver_result(self) -> int:
        """The code that the next driver call returns (702 is LAUNCH_TIMEOUT, also for a time limit)."""
        return self.value % 10000


class KernelFault(Exception):
    """A kernel was stopped.

    Attributes:
        kind: why.
        reason: one sentence; `what` is its English rendering.
        thread: linear thread number in the launch, -1 if no single thread is at fault.
        address: the address in question, or None.
        instruction: the instruction at which it happened, or None.
        callers: the calls that led there, innermost first, if known.
    """

    def __init__(
        self,
        kind: FaultKind,
        reason: Text,
        *,
        thread: int = -1,
        address: int | None = None,
        instruction: Instruction | None = None,
        callers: tuple[Instruction, ...] = (),
    ) -> None:
        super().__init__(reason.render(ENGLISH))
        self.kind = kind
        self.reason = reason
        self.thread = thread
        self.address = address
        self.instruction = instruction
        self.callers = callers

    @property
    def what(self) -> str:
        """The reason in English."""
        return self.reason.render(ENGLISH)

    @property
    def source(self) -> SourceLocation | None:
        """The Mojo source position, if the PTX has line tables."""
        return self.instruction.source if self.instruction else None


class LaunchResult(Struct, frozen=True):
    """The result of a launch.

    Attributes:
        instructions: instructions issued, counted once per group of lanes executed together.
        lane_instructions: the same, counted once per lane.
        blocks: blocks that ran to their end.
        error: why the kernel was stopped, or None.
        seconds: wall time of the simulation, which is not a time of a real GPU.
        processor_seconds: processor time of the simulating thread.
        repeated: not simulated, since an earlier launch had the same effect, which this is the result of.
    """

    instructions: int
    lane_instructions: int
    blocks: int
    error: KernelFault | None = None
    seconds: float = 0.0
    processor_seconds: float = 0.0
    repeated: bool = False
