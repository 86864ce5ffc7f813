"""Launches of small kernels under the profiler that estimates times."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from tooling.simulator.engine.executor import Job
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.launch import Dim3, Launch
from tooling.simulator.nvidia.ptx.reader import parse_module
from tooling.simulator.timing.profiler import TimedLaunch, TimingProfiler

HEAD = """.version 8.5
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 a, .param .u64 b)
{
    .reg .pred %p<4>;
    .reg .b32 %r<40>;
    .reg .b64 %rd<20>;
    .reg .f32 %f<20>;
    .shared .align 4 .b8 own[4096];
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.s32 %r4, %r2, %r3, %r1;
    mul.wide.s32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
"""
COPY = "ld.global.b32 %r5, [%rd4];\nst.global.b32 [%rd5], %r5;\nret;"


def launched(body: str, *, grid: int | Dim3 = 1, block: int = 32, sampled: bool = False) -> TimedLaunch:
    """The launch of a kernel with this body, whose parameters are two buffers of 4 MiB."""
    module = parse_module(HEAD + body + "\n}\n")
    memory = DeviceMemory(np.zeros(16 << 20, np.uint8), 0x10000)
    addresses: Sequence[int] = [memory.allocate(4 << 20, name) for name in ("a", "b")]
    for address in addresses:
        memory.view(address, 4 << 20)[:] = 0
    (function,) = module.kernels.values()
    extent = grid if isinstance(grid, Dim3) else Dim3(grid)
    launch = Launch(function, extent, Dim3(block), parameters=struct.pack("<2Q", *addresses))
    profiler = TimingProfiler(sampled=sampled)
    result = profiler.run(Job(launch, module, memory))
    assert result.error is None, result.error
    (found,) = profiler.launches
    return found
