"""What the engine, the checks and the server ask of a simulated AMD GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.amd import launch_rules
from tooling.simulator.amd.architectures import Architecture
from tooling.simulator.amd.backend.counting import counting_rules
from tooling.simulator.amd.backend.lower import decode
from tooling.simulator.amd.code_object.model import CodeObject, KernelFunction
from tooling.simulator.amd.code_object.reader import read_code_object
from tooling.simulator.amd.decoding.instruction import MachineInstruction
from tooling.simulator.amd.lowering.accesses import accesses_of
from tooling.simulator.amd.lowering.followed_addresses import meant_arguments
from tooling.simulator.amd.lowering.kernel_arguments import argument_block
from tooling.simulator.amd.lowering.registers import PARAMETERS
from tooling.simulator.amd.lowering.waves import ALL, WaveGroup, mask_of
from tooling.simulator.amd.semantics.floats import ESTIMATES
from tooling.simulator.gpu.code_model import Function, Instruction, Module
from tooling.simulator.gpu.device_memory import Allocation
from tooling.simulator.gpu.driver_results import DriverResult
from tooling.simulator.gpu.hooks import LaunchContext
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.launch import Dim3, Launch
from tooling.simulator.numerics.rounding import U32, U64
from tooling.simulator.program.backend import Accesses, Kernel, Refusal, StandIns
from tooling.simulator.program.barrier_contract import BlockBarrierState, ClusterBarrierState
from tooling.simulator.program.block_barriers import BlockBarriers, NoClusterBarriers
from tooling.simulator.program.module_cache import ModuleCache
from tooling.simulator.program.program import Batch, Origin, Program
from tooling.text import Text

Array = NDArray[Any]

_ROOMS = Path(__file__).parents[2]
_MEANT: ModuleCache[dict[tuple[int, int], int]] = ModuleCache()


class AmdBackend:
    """See `Backend`.

    Args:
        architecture: what is simulated.
    """

    stand_ins = StandIns(
        _ROOMS / "amd" / "driver" / "library.mojo",
        ("libamdhip64.so", "libhsa-runtime64.so", "libhsa-runtime64.so.1"),
        (_ROOMS / "nvidia" / "driver",),
    )

    def __init__(self, architecture: Architecture) -> None:
        self.architecture = architecture
        self.instruction_set = architecture.name
        self.device = architecture.device
        self.counting = counting_rules(architecture)

    def parse(self, image: bytes) -> Module:
        """See `Backend.parse`; the image is a code object."""
        return read_code_object(image, self.architecture)

    def decode(self, module: Module, kernel: Function) -> Program:
        """See `Backend.decode`."""
        assert isinstance(module, CodeObject)
        assert isinstance(kernel, KernelFunction)
        return decode(module, kernel, self.architecture)

    def describe_kernel(self, module: Module, function: Function, module_handle: int) -> Kernel:
        """See `Backend.describe_kernel`."""
        assert isinstance(function, KernelFunction)
        return launch_rules.describe_kernel(module, function, module_handle, self.device)

    def set_attribute(self, kernel: Kernel, attribute: int, value: int) -> tuple[DriverResult, Text | None]:
        """See `Backend.set_attribute`: the size of dynamic shared memory has no limit of its own."""
        if attribute != launch_rules.MAX_DYNAMIC_SHARED:
            return DriverResult.INVALID_VALUE, None
        kernel.attributes[attribute] = value
        return DriverResult.SUCCESS, None

    def judge_launch(
        self, kernel: Kernel, grid: Dim3, block: Dim3, cluster: Dim3 | None, dynamic_shared: int
    ) -> Refusal | None:
        """See `Backend.judge_launch`; there are no clusters."""
        return launch_rules.judge_launch(kernel, grid, block, dynamic_shared, self.device)

    def symbols(self, program: Program, context: LaunchContext) -> dict[str, int]:
        """See `Backend.symbols`: where the code object is loaded, and its variables."""
        memory, module = context.memory, context.module
        assert isinstance(module, CodeObject)
        return memory.symbols(module, context.launch.device)

    def parameter_block(self, program: Program, launch: Launch) -> tuple[str, bytes] | None:
        """See `Backend.parameter_block`: arguments are always in memory."""
        assert isinstance(launch.function, KernelFunction)
        return PARAMETERS, argument_block(launch.function, launch)

    def group(self, program: Program, batch: Batch, missing: Callable[[int], Array]) -> Group:
        """See `Backend.group`."""
        base: list[Array | None] = [None] * len(program.origins)
        entry = program.entries[program.name]
        group = WaveGroup(entry, (), None, batch.size, base, base=base, missing=missing)
        group.wave_size = self.architecture.lanes
        group.batch_size = batch.size
        group.has_thread = batch.spaces.shape.has_thread
        group.found = None
        return group

    def initial_value(self, origin: Origin, batch: Batch) -> Array:
        """See `Backend.initial_value`."""
        if origin.kind == "constant":
            unsigned = np.dtype(f"u{origin.dtype.itemsize}")
            return np.array([origin.value], unsigned).view(origin.dtype)
        if origin.kind == "register":
            return np.zeros(1, origin.dtype)
        if origin.kind == "symbol":
            return np.array([batch.symbols[origin.name] + origin.value], U64)
        return self._special(origin, batch)

    def _special(self, origin: Origin, batch: Batch) -> Array:
        """What a launch sets: EXEC, the block's position, the thread's, the address of the arguments."""
        has_thread = batch.spaces.shape.has_thread
        lanes = self.architecture.lanes
        match origin.name:
            case "exec":
                if has_thread is None:
                    return np.array([(1 << lanes) - 1], U64)
                return mask_of(has_thread, lanes)
            case "active":
                return ALL if has_thread is None else has_thread
            case "workgroup":
                position = batch.block_position[origin.value]
                waves = batch.context.lanes_per_block // lanes
                return np.repeat(position.astype(U32), waves)
            case "workitem":
                block = batch.context.launch.block
                thread = np.arange(batch.context.lanes_per_block)
                x, y, z = thread % block.x, thread // block.x % block.y, thread // (block.x * block.y)
                packed = (x | y << 10 | z << 20).astype(U32)
                return np.tile(packed, batch.blocks)
        address = batch.symbols[origin.name]
        return np.array([address >> 32 * origin.value & 0xFFFFFFFF], U32)

    def differs_by_batch(self, origin: Origin) -> bool:
        """See `Backend.differs_by_batch`."""
        return origin.name == "workgroup"

    def block_barriers(self, batch: Batch) -> BlockBarrierState:
        """See `Backend.block_barriers`."""
        return BlockBarriers(batch)

    def cluster_barriers(self, batch: Batch) -> ClusterBarrierState:
        """See `Backend.cluster_barriers`: there are none."""
        return NoClusterBarriers()

    def leave(self, group: Group, batch: Batch) -> None:
        """See `Backend.leave`: return addresses are in registers, so that no group has a stack."""

    def accesses(self, context: LaunchContext) -> Accesses:
        """See `Backend.accesses`."""
        return accesses_of(context, self)

    def written_allocations(self, context: LaunchContext) -> frozenset[int] | None:
        """See `Backend.written_allocations`: addresses are not followed in machine code."""
        return None

    def meant_allocations(self, context: LaunchContext) -> Mapping[tuple[int, int], Allocation]:
        """See `Backend.meant_allocations`."""
        module, kernel, parameters = context.module, context.launch.function, context.launch.parameters
        assert isinstance(kernel, KernelFunction)
        pointers: dict[int, Allocation] = {}
        for offset in range(0, len(parameters) - 7, 8):
            address = int.from_bytes(parameters[offset : offset + 8], "little")
            if context.memory.reservation_of(address) is not None:
                return {}  # mappings are adjacent: a pointer into one may run on into the next
            allocation = context.memory.containing(address)
            if allocation is not None:
                pointers[offset] = allocation
        program, names = self.decode(module, kernel), frozenset(pointers)
        meant = _MEANT.get(
            (module.digest, kernel.name, names), lambda: meant_arguments(program, kernel, names)
        )
        return {position: pointers[offset] for position, offset in meant.items()}

    def copied_loads(self, context: LaunchContext) -> frozenset[int]:
        """See `Backend.copied_loads`: values are not followed in machine code."""
        return frozenset()

    def estimate(self, instruction: Instruction) -> str:
        """See `Backend.estimate`."""
        name = instruction.name if isinstance(instruction, MachineInstruction) else ""
        return name if name in ESTIMATES else ""

    def registers_read(self, context: LaunchContext) -> frozenset[str]:
        """See `Backend.registers_read`: instructions have no operands by name."""
        return frozenset()
