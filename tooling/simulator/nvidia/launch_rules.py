"""Which launches the driver accepts, and the attributes of kernels (CUfunction_attribute).

Every rule and result code was recorded on an H200 (`tests/simulator/data/driver_answers.json`).
"""

from __future__ import annotations

import math
import re

from tooling.simulator.gpu import stop_texts
from tooling.simulator.gpu.code_model import Function, Module
from tooling.simulator.gpu.driver_results import DriverResult
from tooling.simulator.gpu.kernel_names import readable_kernel
from tooling.simulator.gpu.launch import Dim3
from tooling.simulator.nvidia import device
from tooling.simulator.program.backend import Kernel, Refusal
from tooling.text import Text

MAX_THREADS = 0
SHARED_BYTES = 1
PTX_VERSION = 5
BINARY_VERSION = 6
MAX_DYNAMIC_SHARED = 8
CARVEOUT = 9
CLUSTER_MUST_BE_SET = 10
REQUIRED_CLUSTER = (11, 12, 13)
NON_PORTABLE_CLUSTER = 14
SCHEDULING_POLICY = 15

_DIRECTIVE = re.compile(r"\.(maxntid|reqntid|reqnctapercluster)\s+([\d,\s]+)")
_TARGET = re.compile(r"sm_(\d+)")


def describe_kernel(module: Module, function: Function, module_handle: int = 0) -> Kernel:
    """A new function handle, with attributes from the kernel's declarations and directives."""
    shapes = {
        match[1]: Dim3(*(int(number) for number in match[2].split(",")))
        for match in _DIRECTIVE.finditer(" ".join(function.directives))
    }
    attributes = [0] * 16
    bound = shapes.get("maxntid")
    attributes[MAX_THREADS] = bound.count if bound else device.MAX_THREADS_PER_BLOCK
    attributes[SHARED_BYTES] = static_shared_bytes(module, function)
    target = _TARGET.search(" ".join(module.target))
    attributes[PTX_VERSION] = int(target[1]) if target else 90
    attributes[BINARY_VERSION] = 10 * device.COMPUTE_CAPABILITY[0] + device.COMPUTE_CAPABILITY[1]
    attributes[MAX_DYNAMIC_SHARED] = device.MAX_SHARED_PER_BLOCK - attributes[SHARED_BYTES]
    attributes[CARVEOUT] = -1
    cluster = shapes.get("reqnctapercluster")
    if cluster or any("explicitcluster" in directive for directive in function.directives):
        attributes[CLUSTER_MUST_BE_SET] = 1
    for index, extent in zip(REQUIRED_CLUSTER, cluster or (0, 0, 0), strict=True):
        attributes[index] = extent
    static = attributes[SHARED_BYTES]
    return Kernel(module, function, attributes, shapes.get("reqntid"), cluster, module_handle, static)


def static_shared_bytes(module: Module, function: Function) -> int:
    """Bytes of shared memory declared in a kernel and at module level, alignment included.

    The dynamic shared memory follows, and begins at a multiple of its own alignment.
    """
    end = 0
    shared = [v for v in (*module.globals.values(), *function.variables) if v.space == "shared"]
    for variable in sorted(shared, key=lambda v: v.external):
        end += -end % max(1, variable.align) + (0 if variable.external else variable.size)
    return end


def set_attribute(kernel: Kernel, attribute: int, value: int) -> tuple[DriverResult, Text | None]:
    """Set an attribute of a function handle, or say why the value is not allowed, where that is known."""
    most = device.MAX_SHARED_PER_BLOCK_OPT_IN - kernel.static_shared
    allowed = {
        MAX_DYNAMIC_SHARED: range(most + 1),
        CARVEOUT: range(-1, 101),
        NON_PORTABLE_CLUSTER: range(2),
        SCHEDULING_POLICY: range(3),
    }
    if value not in allowed.get(attribute, ()):
        if attribute != MAX_DYNAMIC_SHARED:
            return DriverResult.INVALID_VALUE, None
        name = readable_kernel(kernel.function.name, kernel.module.files.values())
        facts = {"kernel": name, "value": value, "most": most, "static": kernel.static_shared}
        return DriverResult.INVALID_VALUE, stop_texts.ATTRIBUTE_TOO_LARGE.of(**facts)
    kernel.attributes[attribute] = value
    return DriverResult.SUCCESS, None


def judge_launch(
    kernel: Kernel, grid: Dim3, block: Dim3, cluster: Dim3 | None, dynamic_shared: int
) -> Refusal | None:
    """Check a launch against the limits of the device and the kernel; None where it is accepted.

    Args:
        cluster: the launch attribute, or None.
        dynamic_shared: bytes of dynamic shared memory that the launch requests.
    """
    most_threads, most_shared = kernel.attributes[MAX_THREADS], kernel.attributes[MAX_DYNAMIC_SHARED]
    why: Text | None = None
    if min(*grid, *block) < 1:
        why = stop_texts.EMPTY.of(grid=grid, block=block)
    elif any(extent > most for extent, most in zip(grid, device.MAX_GRID, strict=True)):
        why = stop_texts.GRID_TOO_LARGE.of(grid=grid, most=Dim3(*device.MAX_GRID))
    elif any(extent > most for extent, most in zip(block, device.MAX_BLOCK, strict=True)):
        why = stop_texts.BLOCK_TOO_LARGE.of(block=block, most=Dim3(*device.MAX_BLOCK))
    elif block.count > most_threads:
        why = stop_texts.TOO_MANY_THREADS.of(threads=block.count, most=most_threads)
    elif kernel.required_block is not None and block != kernel.required_block:
        why = stop_texts.OTHER_BLOCK.of(block=block, required=kernel.required_block)
    elif most_shared < 0:
        limit = device.MAX_SHARED_PER_BLOCK
        why = stop_texts.TOO_MUCH_OWN_SHARED.of(shared=kernel.static_shared, most=limit)
    elif dynamic_shared > most_shared:
        why = stop_texts.TOO_MUCH_SHARED.of(
            dynamic=dynamic_shared,
            static=kernel.static_shared,
            most=most_shared,
            plain=device.MAX_SHARED_PER_BLOCK,
            opt_in=device.MAX_SHARED_PER_BLOCK_OPT_IN,
        )
    if why is not None:
        return Refusal(DriverResult.INVALID_VALUE, why)
    return _judge_cluster(kernel, grid, cluster)


def _judge_cluster(kernel: Kernel, grid: Dim3, cluster: Dim3 | None) -> Refusal | None:
    required = kernel.required_cluster
    wanted = cluster or required
    if wanted is None:
        return None
    most = device.MAX_CLUSTER if kernel.attributes[NON_PORTABLE_CLUSTER] else device.PORTABLE_CLUSTER
    why: Text | None = None
    if cluster and required and cluster != required:
        why = stop_texts.OTHER_CLUSTER.of(cluster=cluster, required=required)
    elif not 1 <= math.prod(wanted) <= most:
        why = stop_texts.WRONG_CLUSTER.of(blocks=math.prod(wanted), most=most)
    elif any(blocks % extent for blocks, extent in zip(grid, wanted, strict=True)):
        why = stop_texts.NO_MULTIPLE.of(grid=grid, cluster=wanted)
    return None if why is None else Refusal(DriverResult.INVALID_CLUSTER_SIZE, why)
