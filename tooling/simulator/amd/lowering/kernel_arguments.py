"""The memory of a kernel's arguments: the launch's, and those that the runtime adds."""

from __future__ import annotations

from tooling.simulator.amd.code_object.model import KernelFunction
from tooling.simulator.gpu.launch import Launch


def argument_block(function: KernelFunction, launch: Launch) -> bytes:
    """The kernel's argument segment of a launch. Arguments that are not provided (hostcall) are 0."""
    size = max(
        [function.descriptor.kernarg_bytes, len(launch.parameters)]
        + [hidden.offset + hidden.size for hidden in function.hidden]
    )
    block = bytearray(size)
    block[: len(launch.parameters)] = launch.parameters
    grid, extent = launch.grid, launch.block
    values = {"hidden_grid_dims": 3 if grid.z * extent.z > 1 else 2 if grid.y * extent.y > 1 else 1}
    for axis in "xyz":
        values[f"hidden_block_count_{axis}"] = getattr(grid, axis)
        values[f"hidden_group_size_{axis}"] = getattr(extent, axis)
        values[f"hidden_remainder_{axis}"] = 0
    values["hidden_dynamic_lds_size"] = launch.shared_bytes
    for hidden in function.hidden:
        value = values.get(hidden.kind, 0) % (1 << 8 * hidden.size)
        block[hidden.offset : hidden.offset + hidden.size] = value.to_bytes(hidden.size, "little")
    return bytes(block)
