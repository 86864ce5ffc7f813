"""Atomic operations that order other accesses, and those that do not, in code compiled by Mojo 1.2.

`data/code_objects` has the kernels of this program, built with `--debug-level line-tables`: `flag` with
sequentially consistent operations (`ordered_flag`) and with `Ordering.RELAXED` (`relaxed_flag`), and
`relaxed`.

    def flag(o: Pointer[Float32, MutAnyOrigin]):
        var sh = unsafe_stack_allocation[1, Float32, alignment=16, address_space=AddressSpace.SHARED]()
        var t = thread_idx.x
        if t == 0:
            sh[unsafe_offset=0] = 0
        barrier()
        if t == 130:
            o[unsafe_offset=0] = 42
            _ = Atomic.fetch_add(sh, Float32(1))
        if t == 3:
            while Atomic.fetch_add(sh, Float32(0)) < 1:
                pass
            o[unsafe_offset=1] = o[unsafe_offset=0] + 1

    def relaxed(o: Pointer[Float32, MutAnyOrigin], a: Pointer[Float32, ImmutAnyOrigin]):
        var t = thread_idx.x
        var g = global_idx.x
        _ = Atomic.fetch_add[ordering=Ordering.RELAXED](o.unsafe_offset(t), a[unsafe_offset=g])
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.simulator.helpers import findings_of
from tooling.simulator.amd.architectures import ARCHITECTURES
from tooling.simulator.amd.code_object.reader import read_code_object
from tooling.simulator.backends import backend_for
from tooling.simulator.checks.findings import Kind
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.engine import engine
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.launch import Dim3, Launch

DATA = Path(__file__).parent / "data" / "code_objects"
each_architecture = pytest.mark.parametrize("architecture", list(ARCHITECTURES))


def found(name: str, architecture: str, grid: int, block: int) -> tuple[list[Kind], list[float]]:
    """The kinds of findings of a launch with buffers of 256 zeros and 256 ones, then the first one."""
    image = (DATA / f"{name}_{architecture}.elf").read_bytes()
    module = read_code_object(image, ARCHITECTURES[architecture])
    (kernel,) = module.kernels.values()
    backend_for(architecture).decode(module, kernel)
    memory = DeviceMemory(np.zeros(1 << 22, np.uint8), 0x10000)
    checks = make_checks()
    addresses = []
    for value in (0, 1):
        address = memory.allocate(1024)
        memory.view(address, 1024).view(np.float32)[:] = value
        buffer = memory.containing(address)
        assert buffer is not None
        for check in checks:
            check.allocate(buffer)
            check.host_write(memory, address, 1024)
        addresses.append(address)
    parameters = b"".join(address.to_bytes(8, "little") for address in addresses)
    launch = Launch(kernel, Dim3(grid), Dim3(block), Dim3(1), 0, parameters[: kernel.parameter_bytes])
    assert engine.run(launch, module, memory, checks).error is None
    result = memory.view(addresses[0], 1024).view(np.float32)
    return [finding.kind for finding in findings_of(checks)], [float(value) for value in result]


@each_architecture
def test_a_flag_in_shared_memory_orders_accesses_of_global_memory(architecture: str) -> None:
    kinds, result = found("ordered_flag", architecture, 1, 192)
    assert kinds == []
    assert result[:2] == [42, 43]


@each_architecture
def test_a_relaxed_flag_in_shared_memory_orders_nothing(architecture: str) -> None:
    kinds, _ = found("relaxed_flag", architecture, 1, 192)
    assert kinds == [Kind.READ_AFTER_WRITE]


@each_architecture
def test_a_relaxed_sum_of_blocks_is_not_a_race(architecture: str) -> None:
    """On gfx1100 it is a loop of compare-and-swap, whose first load has another position."""
    kinds, result = found("ordered_relaxed", architecture, 4, 32)
    assert kinds == []
    assert result[:32] == [4] * 32
