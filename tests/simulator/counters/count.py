"""Runs an access case in the simulator and counts."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from tests.simulator.counters.kernels.access_cases import Case
from tests.simulator.counters.kernels.access_kernels import kernel
from tooling.simulator.counters.profile import KernelProfile
from tooling.simulator.counters.profiler import Profiler
from tooling.simulator.engine.executor import Job
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.hooks import Hook
from tooling.simulator.gpu.launch import Dim3, Launch
from tooling.simulator.nvidia.ptx.reader import parse_module


def count_case(case: Case) -> KernelProfile:
    """The profile of a case's one launch."""
    return count_kernel(kernel(case.form), [case.offsets], grid=case.blocks, block=case.block)


def count_kernel(
    text: str,
    tables: Sequence[np.ndarray] = (),
    *,
    grid: int = 1,
    block: int = 32,
    hooks: Sequence[Hook] = (),
) -> KernelProfile:
    """The profile of one launch; parameters: 64 KiB of data, the tables, another 64 KiB."""
    module = parse_module(text)
    memory = DeviceMemory(np.zeros(1 << 20, np.uint8), 0x10000)
    addresses = [memory.allocate(1 << 16, "data")]
    for table in tables:
        addresses.append(memory.allocate(1 << 16, "table"))
        memory.view(addresses[-1], table.nbytes)[:] = table.view(np.uint8)
    addresses.append(memory.allocate(1 << 16, "never"))
    (function,) = module.kernels.values()
    packed = struct.pack(f"<{len(addresses)}Q", *addresses)
    profiler = Profiler()
    launch = Launch(function, Dim3(grid), Dim3(block), parameters=packed)
    result = profiler.run(Job(launch, module, memory, hooks))
    if result.error is not None:
        raise AssertionError(result.error)
    (profile,) = profiler.profiles.kernels
    return profile
