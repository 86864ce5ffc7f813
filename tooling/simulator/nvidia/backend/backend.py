"""What the engine, the checks and the server ask of the simulated NVIDIA GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Function, Instruction, Module
from tooling.simulator.gpu.device_memory import Allocation
from tooling.simulator.gpu.driver_results import DriverResult
from tooling.simulator.gpu.hooks import LaunchContext
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.launch import Dim3, Launch
from tooling.simulator.nvidia import device, launch_rules
from tooling.simulator.nvidia.analysis.kernel import analysis_of
from tooling.simulator.nvidia.backend.counting import COUNTING
from tooling.simulator.nvidia.backend.lower import decode
from tooling.simulator.nvidia.instructions.barriers import ClusterBarriers
from tooling.simulator.nvidia.instructions.calls import leave
from tooling.simulator.nvidia.lowering.slots import CONSTANT_WINDOW, PARAMETER_BLOCK
from tooling.simulator.nvidia.lowering.special_registers import differs_by_batch, initial_value
from tooling.simulator.nvidia.ptx.reader import parse_module
from tooling.simulator.program.backend import Accesses, Device, Kernel, Refusal, StandIns
from tooling.simulator.program.barrier_contract import BlockBarrierState, ClusterBarrierState
from tooling.simulator.program.block_barriers import BlockBarriers
from tooling.simulator.program.program import Batch, Origin, Program
from tooling.text import Text

_NVPTX = "libNVPTX.so"


class NvidiaBackend:
    """See `Backend`."""

    instruction_set = "ptx"
    device = Device(
        device.NAME,
        device.MEMORY_BYTES,
        device.ATTRIBUTES,
        device.WARP_SIZE,
        device.MAX_THREADS_PER_BLOCK,
        device.MAX_SHARED_PER_BLOCK_OPT_IN,
    )

    counting = COUNTING
    stand_ins = StandIns(
        Path(__file__).parents[1] / "driver" / "library.mojo",
        ("libcuda.so.1", "libnvidia-ml.so.1", _NVPTX),
        path_variables={"MODULAR_NVPTX_LIBRARY_PATH": _NVPTX},
    )

    def parse(self, image: bytes) -> Module:
        """See `Backend.parse`; the image is PTX text."""
        return parse_module(image.decode("utf-8", "replace"))

    def decode(self, module: Module, kernel: Function) -> Program:
        """See `Backend.decode`."""
        return decode(module, kernel)

    def describe_kernel(self, module: Module, function: Function, module_handle: int) -> Kernel:
        """See `Backend.describe_kernel`."""
        return launch_rules.describe_kernel(module, function, module_handle)

    def set_attribute(self, kernel: Kernel, attribute: int, value: int) -> tuple[DriverResult, Text | None]:
        """See `Backend.set_attribute`."""
        return launch_rules.set_attribute(kernel, attribute, value)

    def judge_launch(
        self, kernel: Kernel, grid: Dim3, block: Dim3, cluster: Dim3 | None, dynamic_shared: int
    ) -> Refusal | None:
        """See `Backend.judge_launch`."""
        return launch_rules.judge_launch(kernel, grid, block, cluster, dynamic_shared)

    def symbols(self, program: Program, context: LaunchContext) -> dict[str, int]:
        """See `Backend.symbols`: the module's variables and its constant window."""
        memory, module = context.memory, context.module
        device = context.launch.device
        window = memory.constant_window(module, device)
        return {**memory.symbols(module, device), CONSTANT_WINDOW: window}

    def parameter_block(self, program: Program, launch: Launch) -> tuple[str, bytes] | None:
        """See `Backend.parameter_block`: some kernels take the address of a parameter."""
        named = any(origin.name == PARAMETER_BLOCK for origin in program.origins)
        return (PARAMETER_BLOCK, launch.parameters) if named else None

    def group(self, program: Program, batch: Batch, missing: Callable[[int], NDArray[Any]]) -> Group:
        """See `Backend.group`."""
        base: list[NDArray[Any] | None] = [None] * len(program.origins)
        entry = program.entries[program.name]
        return Group(entry, (), None, batch.size, base, base=base, missing=missing)

    def initial_value(self, origin: Origin, batch: Batch) -> NDArray[Any]:
        """See `Backend.initial_value`."""
        return initial_value(origin, batch)

    def differs_by_batch(self, origin: Origin) -> bool:
        """See `Backend.differs_by_batch`."""
        return differs_by_batch(origin)

    def block_barriers(self, batch: Batch) -> BlockBarrierState:
        """See `Backend.block_barriers`."""
        return BlockBarriers(batch)

    def cluster_barriers(self, batch: Batch) -> ClusterBarrierState:
        """See `Backend.cluster_barriers`."""
        return ClusterBarriers(batch)

    def leave(self, group: Group, batch: Batch) -> None:
        """See `Backend.leave`."""
        leave(group, batch)

    def accesses(self, context: LaunchContext) -> Accesses:
        """See `Backend.accesses`."""
        return analysis_of(context).accesses

    def written_allocations(self, context: LaunchContext) -> frozenset[int] | None:
        """See `Backend.written_allocations`."""
        return analysis_of(context).written_allocations(context)

    def meant_allocations(self, context: LaunchContext) -> Mapping[tuple[int, int], Allocation]:
        """See `Backend.meant_allocations`."""
        return analysis_of(context).meant_allocations(context)

    def copied_loads(self, context: LaunchContext) -> frozenset[int]:
        """See `Backend.copied_loads`."""
        return analysis_of(context).copied_loads

    def estimate(self, instruction: Instruction) -> str:
        """See `Backend.estimate`."""
        return instruction.form if instruction.form == "tanh.approx.f32" else ""

    def registers_read(self, context: LaunchContext) -> frozenset[str]:
        """See `Backend.registers_read`."""
        return analysis_of(context).registers_read
