"""Runs a PTX kernel on arrays: every pointer parameter is an array, in order."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.engine.engine import run
from tooling.simulator.engine.launch_state import Limits
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.hooks import Hook
from tooling.simulator.gpu.launch import Dim3, Launch, LaunchResult
from tooling.simulator.nvidia.ptx.reader import parse_module

BASE = 0x5_0000_0000
"""The device address of the first array: more than 32 bits, as on hardware."""

HEAD = ".version 8.5\n.target sm_90a\n.address_size 64\n"
REGISTERS = """
    .reg .pred %p<10>;
    .reg .b16 %rs<10>;
    .reg .b32 %r<40>;
    .reg .b64 %rd<40>;
"""


def kernel(body: str, parameters: int = 1, before: str = "") -> str:
    """A module with the kernel `k`; pointers in %rd30, %rd31, …, %tid.x in %r30, global thread in %r31."""
    names = ", ".join(f".param .u64 .ptr .align 1 p{n}" for n in range(parameters))
    loads = "".join(f"ld.param.b64 %rd{30 + n}, [p{n}];\n" for n in range(parameters))
    start = (
        "mov.u32 %r30, %tid.x;\nmov.u32 %r32, %ctaid.x;\nmov.u32 %r33, %ntid.x;\n"
        "mad.lo.s32 %r31, %r32, %r33, %r30;\n"
    )
    return f"{HEAD}{before}\n.visible .entry k({names})\n{{{REGISTERS}{loads}{start}{body}\nret;\n}}\n"


def simulate(
    text: str,
    arrays: Sequence[NDArray[Any]],
    *,
    grid: int | Dim3 = 1,
    block: int | Dim3 = 32,
    cluster: int | Dim3 = 1,
    shared: int = 0,
    schedule: str = "lockstep",
    hooks: Sequence[Hook] = (),
    stdout: Callable[[bytes], None] = lambda _text: None,
    extra: bytes = b"",
) -> tuple[LaunchResult, list[NDArray[Any]]]:
    """The result, and the arrays after the kernel; `extra` follows the pointers in the parameters."""
    module = parse_module(text)
    memory = DeviceMemory(np.zeros(1 << 22, np.uint8), BASE)
    addresses = [memory.allocate(array.nbytes, f"array {n}") for n, array in enumerate(arrays)]
    for address, array in zip(addresses, arrays, strict=True):
        memory.view(address, array.nbytes)[:] = array.view(np.uint8).reshape(-1)
    (function,) = module.kernels.values()
    packed = b"".join(struct.pack("<Q", address) for address in addresses) + extra
    shape, threads, together = (Dim3(e) if isinstance(e, int) else e for e in (grid, block, cluster))
    launch = Launch(function, shape, threads, together, shared, packed)
    limits = Limits(lane_instructions=20_000_000)
    result = run(launch, module, memory, hooks, schedule, stdout, limits)
    after = [
        memory.view(address, array.nbytes).view(array.dtype).reshape(array.shape).copy()
        for address, array in zip(addresses, arrays, strict=True)
    ]
    return result, after
