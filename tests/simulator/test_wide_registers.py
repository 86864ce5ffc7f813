"""Registers of 128 bits: moves, loads, stores and atomic operations."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Check
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.nvidia.ptx.errors import PtxError

WIDE = ".reg .b128 %x, %y, %z; .reg .b64 %low, %high;"
MINE = "mul.wide.u32 %rd1, %r30, 16; add.s64 %rd2, %rd30, %rd1;"
OLD = [[n, 100 + n] for n in range(4)]


def run(body: str, memory: np.ndarray, block: int = 1) -> list[list[int]]:
    """The pairs of 64 bits in memory after a kernel, in which no check finds anything."""
    checks = make_checks(list(Check))
    result, (after,) = simulate(kernel(WIDE + body), [memory], block=block, hooks=checks)
    assert result.error is None, result.error
    assert [finding.kind for check in checks for finding in check.findings] == []
    return [[int(low), int(high)] for low, high in after.reshape(-1, 2)]


def pairs() -> np.ndarray:
    return np.array(OLD, np.uint64).ravel()


def test_a_wide_register_is_made_of_two_or_four_and_taken_apart() -> None:
    body = """
    ld.global.b128 %x, [%rd30];
    mov.b128 {%rd3, %rd4}, %x;
    mov.b128 %y, {%rd4, %rd3};
    st.global.b128 [%rd30+16], %y;
    mov.b128 {%r1, %r2, %r3, %r4}, %y;
    mov.b128 %z, {%r3, %r4, %r1, %r1};
    mov.b128 %x, %z;
    st.global.b128 [%rd30+32], %x;
    """
    assert run(body, pairs())[1:3] == [[100, 0], [0, 100 << 32 | 100]]


@pytest.mark.parametrize("space", [".global", ""])
def test_128_bits_are_exchanged_at_once(space: str) -> None:
    body = f"""
    {MINE}
    cvt.u64.u32 %rd3, %r30;
    mov.b128 %x, {{%rd3, %rd30}};
    atom.relaxed.gpu{space}.exch.b128 %y, [%rd2], %x;
    mov.b128 {{%low, %high}}, %y;
    mov.b128 %z, {{%high, %low}};
    st.global.b128 [%rd2], %z;
    """
    assert run(body, pairs(), block=4) == [[high, low] for low, high in OLD]


def test_lanes_exchange_one_number_in_their_order() -> None:
    body = """
    cvt.u64.u32 %rd3, %r30; add.u64 %rd4, %rd3, 7;
    mov.b128 %x, {%rd3, %rd4};
    atom.global.exch.b128 _, [%rd30], %x;
    """
    assert run(body, pairs(), block=32)[0] == [31, 38]


@pytest.mark.parametrize(("high", "after"), [(100, [5, 6]), (101, [0, 100])])
def test_128_bits_are_compared_as_one_number(high: int, after: list[int]) -> None:
    body = f"""
    mov.b64 %low, 0; mov.b64 %high, {high};
    mov.b128 %x, {{%low, %high}};
    mov.b64 %rd3, 5; mov.b64 %rd4, 6;
    mov.b128 %y, {{%rd3, %rd4}};
    atom.acq_rel.gpu.global.cas.b128 %z, [%rd30], %x, %y;
    st.global.b128 [%rd30+16], %z;
    """
    assert run(body, pairs())[:2] == [after, [0, 100]]


def test_shared_memory_takes_them_too() -> None:
    body = """
    .shared .align 16 .b8 room[64];
    mov.u32 %r1, room;
    ld.global.b128 %x, [%rd30+16];
    st.shared.b128 [%r1+16], %x;
    atom.shared.exch.b128 %y, [%r1+16], %x;
    st.global.b128 [%rd30], %y;
    """
    assert run(body, pairs())[0] == [1, 101]


@pytest.mark.parametrize(
    "form", ["atom.global.add.b128 %y, [%rd30], %x;", "mov.b128 %x, %rd3;", "selp.b128 %x, %x, %y, %p1;"]
)
def test_forms_that_the_assembler_refuses_are_refused(form: str) -> None:
    with pytest.raises(PtxError):
        simulate(kernel(WIDE + form), [pairs()])
