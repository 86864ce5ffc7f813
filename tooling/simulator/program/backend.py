"""The contract of a vendor's back end: what differs between GPUs of different instruction sets.

The engine, the checks, the counters and the server know this interface and no vendor; `simulator.backends`
selects the back end of a module by `Module.instruction_set`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from msgspec import Struct
from numpy.typing import NDArray

from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.simulator.gpu.code_model import Function, Instruction, Module
from tooling.simulator.gpu.device_memory import Allocation
from tooling.simulator.gpu.driver_results import DriverResult
from tooling.simulator.gpu.hooks import LaunchContext, Space
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.launch import Dim3, Launch
from tooling.simulator.program.barrier_contract import BlockBarrierState, ClusterBarrierState
from tooling.simulator.program.counting import CountingRules
from tooling.simulator.program.program import Batch, Origin, Program
from tooling.text import Text


class CodeError(ToolingError):
    """Code that the simulator cannot read or execute; it never guesses."""

    exit_code = ExitCode.NOT_POSSIBLE


class Device(Struct, frozen=True):
    """The simulated device, as the driver describes it to programs.

    Attributes:
        name: its name.
        memory_bytes: device memory.
        attributes: value by the number of the driver's enumeration of device attributes.
        warp_size: lanes of a warp.
        max_threads_per_block, max_shared_bytes: limits of a launch.
        lockstep: blocks consist of whole warps, whose lanes execute each instruction together.
    """

    name: str
    memory_bytes: int
    attributes: Mapping[int, int]
    warp_size: int
    max_threads_per_block: int
    max_shared_bytes: int
    lockstep: bool = False


class StandIns(Struct, frozen=True):
    """The library that replaces the vendor's driver libraries.

    Attributes:
        source: its Mojo source; includes: folders of modules that it shares with others.
        names: the libraries that it replaces.
        path_variables: environment variables that name one of them by its path.
    """

    source: Path
    names: tuple[str, ...]
    includes: tuple[Path, ...] = ()
    path_variables: Mapping[str, str] = {}


class Kernel(Struct):
    """A function handle: the kernel, its module, and its current attributes (by number, 0 to 15)."""

    module: Module
    function: Function
    attributes: list[int]
    required_block: Dim3 | None = None
    required_cluster: Dim3 | None = None
    module_handle: int = 0
    static_shared: int = 0


class Refusal(Struct, frozen=True):
    """Why a launch is rejected: the driver's result code, and the reason, which a driver does not report."""

    result: DriverResult
    why: Text


class Order(NamedTuple):
    """How a strong access, or a fence, orders the accesses of different blocks.

    Attributes:
        reaches: its scope includes other blocks; if not, it orders nothing between blocks.
        acquires, releases: it does so itself; otherwise an access needs a fence after it, or before it.
    """

    reaches: bool = True
    acquires: bool = True
    releases: bool = True


class Scope(IntEnum):
    """The threads for which a strong access is atomic and ordered, fewest first (PTX ISA 8.5)."""

    BLOCK = 0
    CLUSTER = 1
    DEVICE = 2
    SYSTEM = 3


class Accesses(Struct, frozen=True):
    """Properties of the memory accesses of a kernel and of all functions that it may call.

    Attributes:
        granules: bytes of a granule of each memory's shadow: the narrowest access.
        synchronise: some of them may order accesses of threads of different blocks.
        acquiring: memories in which some strong access uses the value it reads (`acquires`).
        acquires: whether a strong access reads a value that is used: false for a store, and for an atomic
            operation whose result is unused.
        order: how a strong access or a fence orders blocks.
        narrow: memories in which the scope of some strong access excludes threads of the launch.
        scope: of a strong access.
        other_proxies: some access is by another proxy, which must be ordered after the last ordinary write.
    """

    granules: dict[Space, int]
    synchronise: bool
    acquiring: frozenset[Space]
    acquires: Callable[[Instruction], bool]
    order: Callable[[Instruction], Order] = lambda _instruction: Order()
    narrow: frozenset[Space] = frozenset()
    scope: Callable[[Instruction], Scope] = lambda _instruction: Scope.DEVICE
    other_proxies: bool = False


class Backend(Protocol):
    """One instruction set: its code, its device and its launch rules."""

    instruction_set: str
    device: Device
    stand_ins: StandIns
    counting: CountingRules

    def parse(self, image: bytes) -> Module:
        """The module of an image that a program loads.

        Raises:
            CodeError: the image has something that the simulator does not support.
        """
        ...

    def decode(self, module: Module, kernel: Function) -> Program:
        """The program of a kernel and of every function it calls; decoded once.

        Raises:
            CodeError: an instruction that the simulator does not support.
        """
        ...

    def describe_kernel(self, module: Module, function: Function, module_handle: int) -> Kernel:
        """A new function handle."""
        ...

    def set_attribute(self, kernel: Kernel, attribute: int, value: int) -> tuple[DriverResult, Text | None]:
        """Set an attribute of a function handle, or say why the value is not allowed, where that is known."""
        ...

    def judge_launch(
        self, kernel: Kernel, grid: Dim3, block: Dim3, cluster: Dim3 | None, dynamic_shared: int
    ) -> Refusal | None:
        """Check a launch against the limits of the device and the kernel; None if it is accepted."""
        ...

    def symbols(self, program: Program, context: LaunchContext) -> dict[str, int]:
        """The device addresses that the slots of a launch name (`Origin.name`)."""
        ...

    def parameter_block(self, program: Program, launch: Launch) -> tuple[str, bytes] | None:
        """The launch's parameters as the kernel finds them in memory, and the name of their address; None if
        it does not need them there."""
        ...

    def group(self, program: Program, batch: Batch, missing: Callable[[int], NDArray[Any]]) -> Group:
        """All lanes of a batch at the entry of the kernel.

        Args:
            missing: the initial value of a slot.
        """
        ...

    def initial_value(self, origin: Origin, batch: Batch) -> NDArray[Any]:
        """The value of a slot that no instruction has written."""
        ...

    def differs_by_batch(self, origin: Origin) -> bool:
        """Whether that value may differ between batches of the same shape."""
        ...

    def block_barriers(self, batch: Batch) -> BlockBarrierState:
        """The barriers of the blocks of a batch."""
        ...

    def cluster_barriers(self, batch: Batch) -> ClusterBarrierState:
        """The barriers of the clusters of a batch."""
        ...

    def leave(self, group: Group, batch: Batch) -> None:
        """Return from a call."""
        ...

    def accesses(self, context: LaunchContext) -> Accesses:
        """The accesses of a launch's kernel."""
        ...

    def written_allocations(self, context: LaunchContext) -> frozenset[int] | None:
        """Serial numbers of the allocations that the launch may write; None if it may write any."""
        ...

    def meant_allocations(self, context: LaunchContext) -> Mapping[tuple[int, int], Allocation]:
        """By `Instruction.code_position`, the allocation from which an access's address was computed."""
        ...

    def copied_loads(self, context: LaunchContext) -> frozenset[int]:
        """Code lines of loads from global memory whose value the launch may store there unchanged."""
        ...

    def estimate(self, instruction: Instruction) -> str:
        """The name of an instruction whose last bits may differ on hardware; empty for any other."""
        ...

    def registers_read(self, context: LaunchContext) -> frozenset[str]:
        """Names of the registers that an instruction of the launch's kernel reads."""
        ...
