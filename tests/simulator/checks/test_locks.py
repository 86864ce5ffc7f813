"""A lock orders what it protects if it is acquired and released; the advice for one that does not says so."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Check, Finding, render
from tooling.simulator.checks.suite import make_checks

LOCKED = """
TAKE:
    atom.{take}.gpu.global.{operation};
    setp.ne.b32 %p1, %r1, 0;
    @%p1 bra TAKE;
    ld.global.b32 %r2, [%rd30];
    add.s32 %r3, %r2, 1;
    st.global.b32 [%rd30], %r3;
    st.{give}.gpu.global.b32 [%rd31], 0;
"""
SWAP, EXCHANGE = "cas.b32 %r1, [%rd31], 0, 1", "exch.b32 %r1, [%rd31], 1"


def findings(take: str, give: str, operation: str, *, grid: int, block: int) -> list[Finding]:
    checks = make_checks([Check.RACES])
    text = kernel(LOCKED.format(take=take, give=give, operation=operation), parameters=2)
    arrays = [np.zeros(1, np.uint32), np.zeros(1, np.uint32)]
    result, (count, _) = simulate(text, arrays, grid=grid, block=block, hooks=checks)
    assert result.error is None
    assert count.tolist() == [grid * block]
    return [finding for check in checks for finding in check.findings]


@pytest.mark.parametrize(("grid", "block"), [(2, 1), (1, 64), (2, 64)])
@pytest.mark.parametrize("operation", [SWAP, EXCHANGE], ids=["swap", "exchange"])
def test_a_relaxed_lock_gets_the_advice_to_acquire_and_release(operation: str, grid: int, block: int) -> None:
    found = findings("relaxed", "relaxed", operation, grid=grid, block=block)
    assert found
    for finding in found:
        text = render(finding)
        assert "`success_ordering=Ordering.ACQUIRE`" in text
        assert "call `barrier()`" not in text
        assert finding.to_json()["unordered_lock"] is True


@pytest.mark.parametrize(("grid", "block"), [(2, 1), (1, 64), (2, 64)])
@pytest.mark.parametrize("operation", [SWAP, EXCHANGE], ids=["swap", "exchange"])
def test_a_lock_that_orders_is_silent(operation: str, grid: int, block: int) -> None:
    assert findings("acquire", "release", operation, grid=grid, block=block) == []


def test_an_atomic_update_by_compare_and_swap_is_no_lock() -> None:
    """Its operands are values, not the states of a flag: other races keep their advice."""
    body = """
AGAIN:
    ld.relaxed.gpu.global.b32 %r1, [%rd31];
    add.s32 %r2, %r1, 1;
    atom.relaxed.gpu.global.cas.b32 %r3, [%rd31], %r1, %r2;
    setp.ne.b32 %p1, %r3, %r1;
    @%p1 bra AGAIN;
    ld.global.b32 %r4, [%rd30];
    add.s32 %r5, %r4, 1;
    st.global.b32 [%rd30], %r5;
"""
    checks = make_checks([Check.RACES])
    simulate(kernel(body, parameters=2), [np.zeros(1, np.uint32)] * 2, grid=2, block=1, hooks=checks)
    found = [finding for check in checks for finding in check.findings]
    assert found
    assert not any(finding.unordered_lock for finding in found)
