"""Writes to what `cp.async` still reads: the copy is complete only when its thread has waited for it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.helpers import findings_of
from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Finding, Kind, render
from tooling.simulator.checks.suite import make_checks

TILE = ".shared .align 16 .b8 tile[512];"

COPY = """
    mov.u32 %r1, tile; shl.b32 %r2, %r30, 2; add.u32 %r1, %r1, %r2;
    mul.wide.u32 %rd1, %r30, 4; add.u64 %rd2, %rd30, %rd1;
    xor.b32 %r3, %r30, 32; mul.wide.u32 %rd1, %r3, 4; add.u64 %rd3, %rd30, %rd1;
    cp.async.ca.shared.global [%r1], [%rd2], 4; {rest}
    cp.async.wait_all; bar.sync 0; ld.shared.b32 %r4, [%r1];
    mul.wide.u32 %rd1, %r30, 4; add.u64 %rd4, %rd31, %rd1; st.global.b32 [%rd4], %r4;
"""
"""Each of 64 threads copies its element; `rest` follows. %rd2 is its element, %rd3 one of the other warp."""


def found(rest: str, *, narrow: bool = False) -> list[Finding]:
    """What the race check finds; `narrow`: its granules are bytes, since the kernel also stores a byte."""
    checks = make_checks(["races"])
    body = COPY.format(rest=rest) + ("@%p9 st.global.b8 [%rd30], %r1;" if narrow else "")
    buffers = [np.arange(64, dtype=np.uint32), np.zeros(64, np.uint32)]
    result, _ = simulate(kernel(body, 2, TILE), buffers, block=64, hooks=checks)
    assert result.error is None
    return findings_of(checks)


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize(
    ("rest", "other"),
    [
        ("st.global.b32 [%rd2], 7;", 0),
        ("red.global.add.u32 [%rd2], 7;", 0),
        ("bar.sync 0; st.global.b32 [%rd3], 7;", 32),
        ("cp.async.commit_group; cp.async.wait_group 1; st.global.b32 [%rd2], 7;", 0),
        ("cp.async.wait_group 0; st.global.b32 [%rd2], 7;", 0),
    ],
)
def test_a_source_must_not_change_before_the_wait(rest: str, other: int, *, narrow: bool) -> None:
    (finding,) = found(rest, narrow=narrow)
    assert (finding.kind, finding.count) == (Kind.SOURCE_IN_FLIGHT, 256 if narrow else 64)
    assert [party.warp * 32 + party.lane for party in finding.parties] == [0, other]
    assert "global memory that an asynchronous copy is still reading" in render(finding)


@pytest.mark.parametrize(
    "rest",
    [
        "cp.async.wait_all; st.global.b32 [%rd2], 7;",
        "cp.async.commit_group; cp.async.wait_group 0; st.global.b32 [%rd2], 7;",
        "cp.async.wait_all; bar.sync 0; st.global.b32 [%rd3], 7;",
    ],
)
def test_it_may_change_after_the_wait(rest: str) -> None:
    assert found(rest) == []


def test_a_barrier_before_the_wait_does_not_order_the_copy_before_another_thread() -> None:
    (finding,) = found("bar.sync 0; cp.async.wait_all; st.global.b32 [%rd3], 7;")
    assert (finding.kind, finding.count) == (Kind.WRITE_AFTER_READ, 64)
