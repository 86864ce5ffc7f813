"""Which launches are accepted, and the attributes of kernels (hipFunction_attribute)."""

from __future__ import annotations

from tooling.simulator.amd.architectures import MAX_BLOCK, MAX_GRID
from tooling.simulator.amd.code_object.model import KernelFunction
from tooling.simulator.gpu import stop_texts
from tooling.simulator.gpu.code_model import Module
from tooling.simulator.gpu.driver_results import DriverResult
from tooling.simulator.gpu.launch import Dim3
from tooling.simulator.program.backend import Device, Kernel, Refusal
from tooling.text import Text

MAX_THREADS = 0
SHARED_BYTES = 1
LOCAL_BYTES = 3
MAX_DYNAMIC_SHARED = 8


def describe_kernel(module: Module, function: KernelFunction, module_handle: int, device: Device) -> Kernel:
    """A new function handle."""
    descriptor = function.descriptor
    attributes = [0] * 16
    attributes[MAX_THREADS] = function.max_block
    attributes[SHARED_BYTES] = descriptor.shared_bytes
    attributes[LOCAL_BYTES] = descriptor.local_bytes
    attributes[MAX_DYNAMIC_SHARED] = device.max_shared_bytes - descriptor.shared_bytes
    required = None if function.required_block is None else Dim3(*function.required_block)
    return Kernel(module, function, attributes, required, None, module_handle, descriptor.shared_bytes)


def judge_launch(
    kernel: Kernel, grid: Dim3, block: Dim3, dynamic_shared: int, device: Device
) -> Refusal | None:
    """Check a launch against the limits of the device and the kernel; None if it is accepted."""
    most_shared = device.max_shared_bytes
    most_threads = min(kernel.attributes[MAX_THREADS], device.max_threads_per_block)
    why: Text | None = None
    if min(*grid, *block) < 1:
        why = stop_texts.EMPTY.of(grid=grid, block=block)
    elif any(extent > most for extent, most in zip(grid, MAX_GRID, strict=True)):
        why = stop_texts.GRID_TOO_LARGE.of(grid=grid, most=Dim3(*MAX_GRID))
    elif any(extent > most for extent, most in zip(block, MAX_BLOCK, strict=True)):
        why = stop_texts.BLOCK_TOO_LARGE.of(block=block, most=Dim3(*MAX_BLOCK))
    elif block.count > most_threads:
        why = stop_texts.TOO_MANY_THREADS.of(threads=block.count, most=most_threads)
    elif kernel.required_block is not None and block != kernel.required_block:
        why = stop_texts.OTHER_BLOCK.of(block=block, required=kernel.required_block)
    elif kernel.static_shared + dynamic_shared > most_shared:
        total = kernel.static_shared + dynamic_shared
        why = stop_texts.TOO_MUCH_SHARED_IN_ALL.of(shared=total, most=most_shared)
    return None if why is None else Refusal(DriverResult.INVALID_VALUE, why)
