"""Lanes of a warp at different instructions of one form: `.sync` operations join them (PTX ISA 9.7.13).

The values are those of an H200 for the same instructions.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.helpers import findings_of
from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Check, Kind
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.gpu.launch import FaultKind

BRANCHES = """setp.lt.u32 %p1, %r30, 16; setp.eq.u32 %p2, %r30, %r30;
and.b32 %r9, %r30, 7; setp.gt.u32 %p3, %r9, 3;
@%p1 bra A; {upper} bra J; A: {lower} J:
"""
STORE = "mul.wide.u32 %rd1, %r31, 4; add.s64 %rd1, %rd30, %rd1; st.global.u32 [%rd1], %r1;"
SCHEDULES = ["lockstep", "adversarial", "random:1"]

CASES = {
    "bar.warp": (
        "mul.lo.u32 %r7, %r30, 3; bar.warp.sync -1; add.u32 %r1, %r7, 7;",
        "bar.warp.sync -1; mov.u32 %r1, 2;",
        [3 * lane + 7 for lane in range(16)] + [2] * 16,
    ),
    "ballot": (
        "vote.sync.ballot.b32 %r1, %p3, -1; xor.b32 %r1, %r1, 5;",
        "vote.sync.ballot.b32 %r1, %p2, -1; add.u32 %r1, %r1, 1;",
        [0xFFFFF0F5] * 16 + [0xFFFFF0F1] * 16,
    ),
    "negated ballot": (
        "vote.sync.ballot.b32 %r1, !%p3, -1;",
        "vote.sync.ballot.b32 %r1, %p2, -1;",
        [0xFFFF0F0F] * 32,
    ),
    "all": (
        "vote.sync.all.pred %p4, %p3, -1; selp.u32 %r1, 7, 6, %p4;",
        "vote.sync.all.pred %p4, %p2, -1; selp.u32 %r1, 3, 2, %p4;",
        [6] * 16 + [2] * 16,
    ),
    "shuffle idx": (
        "shfl.sync.idx.b32 %r1, %r30, 20, 31, -1; xor.b32 %r1, %r1, 512;",
        "shfl.sync.idx.b32 %r1, %r30, 3, 31, -1; add.u32 %r1, %r1, 256;",
        [0x214] * 16 + [0x103] * 16,
    ),
    "shuffle bfly": (
        "mov.u32 %r7, 16; add.u32 %r8, %r30, 64; shfl.sync.bfly.b32 %r1, %r8, %r7, 31, -1;"
        "xor.b32 %r1, %r1, 512;",
        "shfl.sync.bfly.b32 %r1|%p5, %r30, 16, 31, -1; add.u32 %r1, %r1, 256;",
        [0x210 + lane for lane in range(16)] + [0x140 + lane for lane in range(16)],
    ),
    "redux": (
        "redux.sync.add.u32 %r1, %r30, -1; xor.b32 %r1, %r1, 1024;",
        "redux.sync.add.u32 %r1, 1, -1; add.u32 %r1, %r1, 256;",
        [0x488] * 16 + [0x188] * 16,
    ),
    "match": (
        "add.u32 %r7, %r30, 16; match.any.sync.b32 %r1, %r7, -1; xor.b32 %r1, %r1, 2;",
        "match.any.sync.b32 %r1, %r30, -1; add.u32 %r1, %r1, 1;",
        [0x10001 << lane ^ 2 for lane in range(16)] + [(0x10001 << lane) + 1 for lane in range(16)],
    ),
    "elect": (
        "elect.sync %r1|%p4, -1; add.u32 %r1, %r1, 32;",
        "elect.sync %r1|%p4, -1; add.u32 %r1, %r1, 64;",
        [32] * 16 + [64] * 16,
    ),
}
"""By operation: the instructions of lanes 0-15 and of lanes 16-31, and %r1 after them."""


def body(lower: str, upper: str) -> str:
    return BRANCHES.format(lower=lower, upper=upper) + STORE


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("case", CASES)
def test_lanes_in_both_ways_of_a_branch_work_together(case: str, schedule: str) -> None:
    lower, upper, expected = CASES[case]
    checks = make_checks(frozenset(Check))
    result, (after,) = simulate(
        kernel(body(lower, upper)), [np.zeros(64, np.uint32)], grid=2, hooks=checks, schedule=schedule
    )
    assert result.error is None
    assert after.tolist() == expected * 2
    assert findings_of(checks) == []


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_they_order_the_accesses_of_the_warp(schedule: str) -> None:
    def exchange(sync: str) -> str:
        return f"""mov.u32 %r10, tile; shl.b32 %r11, %r30, 2; add.u32 %r12, %r10, %r11;
        st.shared.u32 [%r12], %r30; xor.b32 %r13, %r12, 64; {BRANCHES.format(lower=sync, upper=sync)}
        ld.shared.u32 %r1, [%r13]; {STORE}"""

    def run(sync: str) -> tuple[list[int], set[Kind]]:
        checks = make_checks(frozenset({Check.RACES, Check.SYNCHRONISATION}))
        text = kernel(exchange(sync), before=".shared .align 128 .b8 tile[128];")
        result, (after,) = simulate(text, [np.zeros(32, np.uint32)], hooks=checks, schedule=schedule)
        assert result.error is None
        return after.tolist(), {finding.kind for finding in findings_of(checks)}

    assert run("bar.warp.sync -1;") == ([lane ^ 16 for lane in range(32)], set())
    halves = "selp.b32 %r4, 0xffff, 0xffff0000, %p1; bar.warp.sync %r4;"
    assert run(halves)[1] == {Kind.READ_AFTER_WRITE}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        ("vote.sync.ballot.b32 %r1, %p2, -1;", "bar.warp.sync -1;"),
        ("vote.sync.ballot.b32 %r1, %p2, -1;", "shfl.sync.idx.b32 %r1, %r30, 20, 31, -1;"),
        ("vote.sync.any.pred %p4, %p2, -1;", "vote.sync.all.pred %p4, %p2, -1;"),
        ("shfl.sync.down.b32 %r1, %r30, 16, 31, -1;", "shfl.sync.idx.b32 %r1, %r30, 3, 31, -1;"),
    ],
)
def test_different_operations_wait_for_each_other_forever(lower: str, upper: str, schedule: str) -> None:
    # An H200 does not end these kernels either.
    result, _ = simulate(kernel(body(lower, upper)), [np.zeros(32, np.uint32)], schedule=schedule)
    assert result.error is not None
    assert result.error.kind is FaultKind.DEADLOCK


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_three_instructions_in_two_functions_are_one_vote(schedule: str) -> None:
    function = """.func (.param .b32 result) ask()
    { .reg .pred %p<2>; .reg .b32 %r<3>;
    mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 30;
    vote.sync.ballot.b32 %r2, %p1, -1; st.param.b32 [result], %r2; ret; }"""
    text = f"""setp.lt.u32 %p1, %r30, 10; setp.lt.u32 %p2, %r30, 20; setp.ne.u32 %p3, %r30, 0;
    @%p1 bra A; @%p2 bra B;
    {{ .param .b32 got; call (got), ask, (); ld.param.b32 %r1, [got]; }}
    bra J;
    A: vote.sync.ballot.b32 %r1, %p3, -1; bra J;
    B: vote.sync.ballot.b32 %r1, %p2, -1;
    J: {STORE}"""
    result, (after,) = simulate(kernel(text, before=function), [np.zeros(32, np.uint32)], schedule=schedule)
    assert result.error is None
    assert after.tolist() == [0xBFFFFFFE] * 32


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_lanes_that_exit_complete_the_mask_of_those_that_wait_elsewhere(schedule: str) -> None:
    text = f"""setp.lt.u32 %p1, %r30, 10; setp.lt.u32 %p2, %r30, 20; setp.eq.u32 %p3, %r30, %r30;
    @%p1 bra A; @%p2 bra B;
    add.u32 %r1, %r30, 1; add.u32 %r1, %r1, 1; add.u32 %r1, %r1, 1; exit;
    A: vote.sync.ballot.b32 %r1, %p3, -1; bra J;
    B: vote.sync.ballot.b32 %r1, %p3, -1;
    J: {STORE}"""
    result, (after,) = simulate(kernel(text), [np.zeros(32, np.uint32)], schedule=schedule)
    assert result.error is None
    assert after.tolist() == [0xFFFFF] * 20 + [0] * 12
