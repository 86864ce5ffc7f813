"""Barriers reached at several instructions: undefined within a warp, a warning between warps."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Check, Finding, Kind, Severity, render
from tooling.simulator.checks.suite import make_checks

BRANCHES = """
    {condition}
    @%p1 bra LOW;
    {first}
    mov.b32 %r2, 1;
    bra.uni END;
LOW:
    {second}
    mov.b32 %r2, 2;
END:
    mul.wide.u32 %rd1, %r30, 4; add.s64 %rd1, %rd1, %rd30; st.global.b32 [%rd1], %r2;
"""
BY_WARP = "setp.lt.u32 %p1, %r30, 32;"
BY_LANE = "and.b32 %r1, %r30, 1; setp.eq.u32 %p1, %r1, 0;"


def findings(condition: str, first: str, second: str, schedule: str) -> list[Finding]:
    checks = make_checks([Check.SYNCHRONISATION])
    text = kernel(BRANCHES.format(condition=condition, first=first, second=second))
    result, _ = simulate(text, [np.zeros(64, np.uint32)], block=64, hooks=checks, schedule=schedule)
    assert result.error is None, result.error
    return [finding for check in checks for finding in check.findings]


@pytest.mark.parametrize("schedule", ["lockstep", "random:4", "adversarial"])
@pytest.mark.parametrize(
    ("condition", "first", "second", "wrong"),
    [
        (BY_WARP, "bar.sync 1, 64;", "bar.sync 1, 64;", False),
        (BY_LANE, "bar.sync 0;", "bar.sync 0;", True),
        (BY_LANE, "bar.sync 1, 64;", "bar.sync 1, 64;", True),
        (BY_LANE, "barrier.sync.aligned 0;", "barrier.sync.aligned 0;", True),
        (BY_LANE, "barrier.sync 0;", "barrier.sync 0;", False),
    ],
)
def test_lanes_of_a_warp_must_come_to_the_same_instruction(
    condition: str, first: str, second: str, wrong: bool, schedule: str
) -> None:
    found = findings(condition, first, second, schedule)
    assert [finding.kind for finding in found] == ([Kind.DIVERGENT_BARRIER] if wrong else [])
    if wrong:
        assert (found[0].arrived, found[0].expected, len(found[0].parties)) == (16, 32, 2)


@pytest.mark.parametrize("schedule", ["lockstep", "random:4", "adversarial"])
@pytest.mark.parametrize("lines", [(11, 14), (11, 11), None])
def test_warps_that_pass_different_calls_are_a_warning(lines: tuple[int, int] | None, schedule: str) -> None:
    """A compiler may copy a call, which remains one call at its line."""
    first, second = (f".loc 1 {line} 9\nbar.sync 0;" for line in lines or (0, 0))
    text = kernel(BRANCHES.format(condition=BY_WARP, first=first, second=second))
    text = text.replace(".address_size 64\n", '.address_size 64\n.file 1 "/x/kernel.mojo"\n')
    if lines is None:
        text = text.replace(".loc 1 0 9\n", "")
    checks = make_checks([Check.SYNCHRONISATION])
    simulate(text, [np.zeros(64, np.uint32)], block=64, hooks=checks, schedule=schedule)
    found = [finding for check in checks for finding in check.findings]
    if lines == (11, 11):
        assert found == []
        return
    assert [(one.kind, one.severity) for one in found] == [(Kind.DIFFERENT_BARRIERS, Severity.WARNING)]
    assert (found[0].arrived, found[0].expected, len(found[0].parties)) == (32, 64, 2)
    assert "warps of one block pass a barrier at different calls: 32 of 64 threads" in render(found[0])


@pytest.mark.parametrize("schedule", ["lockstep", "random:4", "adversarial"])
def test_what_follows_from_a_barrier_in_a_branch_is_not_reported(schedule: str) -> None:
    """The other half of each warp waits at the next barrier, and has exited when this half arrives."""
    body = """
    setp.ge.u32 %p1, %r30, 16;
    @%p1 bra JOIN;
    bar.sync 0;
JOIN:
    bar.sync 0;
"""
    text = kernel(body)
    checks = make_checks([Check.SYNCHRONISATION])
    result, _ = simulate(text, [np.zeros(1)], grid=3, block=32, hooks=checks, schedule=schedule)
    assert result.error is None, result.error
    found = [finding for check in checks for finding in check.findings]
    assert [(one.kind, one.arrived, one.expected) for one in found] == [(Kind.DIVERGENT_BARRIER, 16, 32)]


def test_a_warp_operation_that_waits_for_an_exit_is_counted_once() -> None:
    body = """
    setp.lt.u32 %p1, %r30, 16; @%p1 bra LATER;
    bar.warp.sync 0xffffffff;
    bra.uni END;
LATER:
    mov.b32 %r1, 0;
END:
"""
    counted: list[int] = []
    for schedule in ("lockstep", "adversarial"):
        result, _ = simulate(kernel(body), [np.zeros(1)], block=32, schedule=schedule)
        assert result.error is None
        counted.append(result.lane_instructions)
    assert counted[0] == counted[1]
