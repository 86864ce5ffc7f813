"""An index far outside its buffer is reported as that, whatever is at the address that it leads to."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.simulate import BASE, HEAD, kernel
from tooling.simulator.checks.findings import Check, Finding, Kind, render
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.engine.engine import run
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.launch import Dim3, Launch
from tooling.simulator.nvidia.ptx.reader import parse_module

ELEMENTS = 1024
FAR = """
    ld.param.s32 %r1, [p2];
    add.s32 %r2, %r31, %r1;
    mul.wide.s32 %rd1, %r2, 4;
    add.s64 %rd2, {base}, %rd1;
    {access}
"""
"""Each thread accesses the element at its number plus the third argument."""

LOAD = """
    ld.global.b32 %r3, [%rd2];
    mul.wide.u32 %rd3, %r31, 4;
    add.s64 %rd4, %rd30, %rd3;
    st.global.b32 [%rd4], %r3;
"""
STORE = "st.global.b32 [%rd2], 1;"


def findings(body: str, offset: int, *, free: bool = False, block: int = 64) -> list[Finding]:
    """Three buffers of 1,024 elements; the kernel gets the first and the second, and an offset."""
    text = kernel(body, parameters=2).replace("p1)", "p1, .param .u32 p2)")
    assert text.startswith(HEAD)
    module = parse_module(text)
    memory = DeviceMemory(np.zeros(1 << 20, np.uint8), BASE)
    checks = make_checks(list(Check))
    addresses = [memory.allocate(4 * ELEMENTS) for _ in range(3)]
    for address in addresses:
        allocation = memory.containing(address)
        assert allocation is not None
        for check in checks:
            check.allocate(allocation)
            check.host_write(memory, address, 4 * ELEMENTS)
    if free:
        gone = memory.free(addresses[2])
        for check in checks:
            check.free(gone)
    packed = b"".join(address.to_bytes(8, "little") for address in addresses[:2])
    packed += (offset % (1 << 32)).to_bytes(4, "little")
    (function,) = module.kernels.values()
    result = run(Launch(function, Dim3(1), Dim3(block), Dim3(1), 0, packed), module, memory, checks)
    assert result.error is None
    return [finding for check in checks for finding in check.findings]


# The buffers are 4,352 bytes apart.
@pytest.mark.parametrize("free", [False, True], ids=["live", "freed"])
@pytest.mark.parametrize("access", [LOAD, STORE], ids=["read", "write"])
def test_an_index_that_lands_in_another_buffer_is_out_of_bounds_of_its_own(access: str, free: bool) -> None:
    (finding,) = findings(FAR.format(base="%rd31", access=access), 1100, free=free)
    assert (finding.kind, finding.count) == (Kind.PAST_THE_END, 64)
    assert "the 4096-byte buffer #2 (argument 2 of k): element 1100 where 1023 is the last" in render(finding)


def test_lanes_inside_are_performed_and_those_outside_are_counted() -> None:
    (finding,) = findings(FAR.format(base="%rd31", access=LOAD), 1000)
    assert (finding.kind, finding.count, finding.parties[0].thread) == (Kind.PAST_THE_END, 40, (24, 0, 0))


def test_a_negative_index_that_lands_in_the_buffer_before_is_explained_as_negative() -> None:
    (finding,) = findings(FAR.format(base="%rd31", access=LOAD), -200)
    assert finding.kind is Kind.BEFORE_THE_START
    text = render(finding)
    assert "starts 800 bytes before the beginning of the 4096-byte buffer #2 (argument 2 of k)" in text
    assert "element -200 where 1023 is the last" in text
    assert "before subtracting" in text


@pytest.mark.parametrize("threads", [1, 64, 1024])
def test_an_index_that_has_overflowed_is_explained_as_that(threads: int) -> None:
    (finding,) = findings(FAR.format(base="%rd31", access=LOAD), -32768, block=threads)
    assert finding.kind is Kind.BEFORE_THE_START
    assert "element -32768 where 1023 is the last" in render(finding)
    assert "after 32,767 an `Int16` continues at -32,768" in render(finding)


@pytest.mark.parametrize(("bits", "most"), [(16, "65,535"), (32, "4,294,967,295")])
def test_an_unsigned_index_below_zero_is_explained_as_that(bits: int, most: str) -> None:
    subtract = f"sub.s32 %r2, 3, %r31;\nand.b32 %r2, %r2, {2**bits - 1};\nmul.wide.u32 %rd1, %r2, 4;"
    (finding,) = findings(f"{subtract}\nadd.s64 %rd2, %rd31, %rd1;\n{LOAD}", 0)
    assert (finding.kind, finding.count) == (Kind.PAST_THE_END, 60)
    assert f"element {2**bits - 1} where 1023 is the last" in render(finding)
    assert f"negative in the type `UInt{bits}`" in render(finding)
    assert f"below 0 it continues at {most}" in render(finding)
    assert f"`UInt{bits}`" in render(finding, "ko")


def test_a_large_index_that_no_subtraction_gives_is_not_called_negative() -> None:
    (finding,) = findings(FAR.format(base="%rd31", access=LOAD), 60000)
    assert "no negative numbers" not in render(finding)


@pytest.mark.parametrize(("offset", "access"), [(0, LOAD), (960, LOAD), (0, STORE), (960, STORE)])
def test_accesses_inside_their_buffer_are_silent(offset: int, access: str) -> None:
    assert findings(FAR.format(base="%rd31", access=access), offset) == []


def test_a_pointer_that_may_be_one_of_two_may_lead_into_both() -> None:
    choose = "setp.lt.u32 %p1, %r30, 32;\nselp.b64 %rd9, %rd30, %rd31, %p1;"
    body = choose + FAR.format(base="%rd9", access=STORE)
    assert findings(body, 0) == []
