"""An index far outside its buffer is reported as that on the simulated AMD GPUs, too.

The kernels are those of `test_ordinary_kernels`: k5 reads elements t and 63 - t of its second argument and
writes element t of its first.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.amd.assembly import assemble, code_object
from tests.simulator.amd.test_ordinary_kernels import code_objects
from tooling.simulator.amd.architectures import ARCHITECTURES
from tooling.simulator.amd.code_object.model import CodeObject, KernelFunction
from tooling.simulator.amd.code_object.reader import read_code_object
from tooling.simulator.amd.lowering.followed_addresses import meant_arguments
from tooling.simulator.backends import backend_for
from tooling.simulator.checks.findings import Check, Finding, Kind, render
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.engine.engine import run
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.launch import Dim3, Launch

each_architecture = pytest.mark.parametrize("architecture", list(ARCHITECTURES))


def ordinary(architecture: str, name: str) -> tuple[CodeObject, KernelFunction]:
    module = read_code_object(code_objects(architecture)[name], ARCHITECTURES[architecture])
    (kernel,) = module.kernels.values()
    assert isinstance(kernel, KernelFunction)
    return module, kernel


def findings(
    architecture: str, elements: tuple[int, int], *, before: int = 0, threads: int = 64
) -> list[Finding]:
    """What the checks find in k5, if its two buffers have these numbers of elements of four bytes.

    Args:
        before: elements of the second buffer that the second argument leaves out.
    """
    module, kernel = ordinary(architecture, "k5")
    memory = DeviceMemory(np.zeros(1 << 20, np.uint8), 0x10000)
    checks = make_checks(list(Check))
    addresses = [memory.allocate(4 * count) for count in elements]
    for address, count in zip(addresses, elements, strict=True):
        allocation = memory.containing(address)
        assert allocation is not None
        for check in checks:
            check.allocate(allocation)
            check.host_write(memory, address, 4 * count)
    addresses[1] += 4 * before
    packed = b"".join(address.to_bytes(8, "little") for address in addresses)
    launch = Launch(kernel, Dim3(1), Dim3(threads), Dim3(1), 0, packed)
    assert run(launch, module, memory, checks).error is None
    return [finding for check in checks for finding in check.findings]


@each_architecture
def test_right_indices_are_silent(architecture: str) -> None:
    assert findings(architecture, (64, 64)) == []
    assert findings(architecture, (64, 164), before=100) == []


@each_architecture
def test_the_argument_and_the_index_are_named(architecture: str) -> None:
    read, *others = findings(architecture, (64, 40))
    assert {finding.kind for finding in (read, *others)} == {Kind.PAST_THE_END}
    assert "the 160-byte buffer #2 (argument 2 of" in render(read)
    assert "element 40 where 39 is the last" in render(read)
    (written,) = findings(architecture, (16, 64))
    assert (written.kind, written.count) == (Kind.PAST_THE_END, 48)
    assert "the 64-byte buffer #1 (argument 1 of" in render(written)
    assert "element 16 where 15 is the last" in render(written)


@each_architecture
def test_indices_that_land_in_other_buffers_are_out_of_bounds_of_their_own(architecture: str) -> None:
    found = findings(architecture, (64, 64), threads=1024)
    assert {(each.kind, each.count, each.buffer.number if each.buffer else 0) for each in found} == {
        (Kind.PAST_THE_END, 960, 1),
        (Kind.PAST_THE_END, 960, 2),
        (Kind.BEFORE_THE_START, 960, 2),
    }
    (negative,) = (each for each in found if each.kind is Kind.BEFORE_THE_START)
    assert "starts 4 bytes before the beginning of the 256-byte buffer #2 (argument 2 of" in render(negative)
    assert "element -1 where 63 is the last" in render(negative)
    assert "The index became negative" in render(negative)


@each_architecture
@pytest.mark.parametrize("name", [f"k{number}" for number in range(1, 8)])
def test_every_access_of_an_ordinary_kernel_is_followed_to_its_argument(architecture: str, name: str) -> None:
    module, kernel = ordinary(architecture, name)
    program = backend_for(architecture).decode(module, kernel)
    meant = meant_arguments(program, kernel, {0, 8})
    accesses = [
        instruction
        for block in program.blocks
        for instruction in block.instructions
        if instruction.form.startswith("global_")
    ]
    wanted = {each.code_position: 0 if each.form.startswith("global_store") else 8 for each in accesses}
    assert wanted
    assert meant == wanted


LOAD = {"gfx942": "s_load_dwordx4 s[0:3], s[0:1], 0x0", "gfx1100": "s_load_b128 s[0:3], s[0:1], 0x0"}
STORE = {"gfx942": "global_store_dword v[0:1], v2, off", "gfx1100": "global_store_b32 v[0:1], v2, off"}
FIRST = ("v_mov_b32_e32 v0, s0", "v_mov_b32_e32 v1, s1")
SECOND = ("v_mov_b32_e32 v0, s2", "v_mov_b32_e32 v1, s3")


def followed(architecture: str, *lines: str) -> list[int]:
    """The argument that the address in v[0:1] is computed from, after these lines; none if it is not known.

    The arguments are two pointers, which the lines find in s[0:1] and s[2:3].
    """
    code = assemble(architecture, [LOAD[architecture], *lines, STORE[architecture], "s_endpgm"])
    module = code_object(architecture, code)
    (kernel,) = module.kernels.values()
    assert isinstance(kernel, KernelFunction)
    program = backend_for(architecture).decode(module, kernel)
    return list(meant_arguments(program, kernel, {0, 8}).values())


@each_architecture
def test_a_register_holds_the_pointer_that_was_written_last(architecture: str) -> None:
    assert followed(architecture, *FIRST) == [0]
    assert followed(architecture, *SECOND) == [8]


@each_architecture
def test_lanes_with_different_pointers_may_access_both_buffers(architecture: str) -> None:
    exec_mask = "exec" if architecture == "gfx942" else "exec_lo"
    bits = "64" if architecture == "gfx942" else "32"
    some, everyone = f"s_mov_b{bits} {exec_mask}, 1", f"s_mov_b{bits} {exec_mask}, -1"
    assert followed(architecture, *FIRST, some, *SECOND, everyone) == []


@each_architecture
def test_a_selected_pointer_may_lead_into_both_buffers(architecture: str) -> None:
    mask = "vcc" if architecture == "gfx942" else "vcc_lo"
    select = f"v_cndmask_b32_e32 v0, v3, v0, {mask}"
    assert followed(architecture, *FIRST, "v_mov_b32_e32 v3, s2", select) == []
    assert followed(architecture, *FIRST, "v_mov_b32_e32 v3, s0", select) == [0]
