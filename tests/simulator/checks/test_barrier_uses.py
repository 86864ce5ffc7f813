"""Groups of threads that use the same barrier number without being ordered."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Check, Kind, explain
from tooling.simulator.checks.suite import make_checks

SCHEDULES = ["lockstep", "adversarial", "random:1", "random:2"]
GROUPS = """
    setp.ge.u32 %p1, %r30, 64;
    {before}
    @%p1 bra SECOND;
    {first}
    bra END;
SECOND:
    {second}
END:
    {after}
"""
"""Two warps go the first way, the others the second."""


def found(threads: int = 128, schedule: str = "lockstep", **parts: str) -> set[Kind]:
    body = GROUPS.format(**({"before": "", "after": "", "first": "", "second": ""} | parts))
    checks = make_checks([Check.RACES, Check.SYNCHRONISATION])
    text = kernel(body, before=".shared .align 8 .b8 gate[8];")
    simulate(text, [np.zeros(16, np.uint32)], block=threads, hooks=checks, schedule=schedule)
    # That warps pass different calls is a warning of its own.
    return {finding.kind for check in checks for finding in check.findings} - {Kind.DIFFERENT_BARRIERS}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("first", "second", "after", "threads"),
    [
        ("bar.sync 1, 64;", "bar.sync 1, 128;", "", 192),
        ("bar.sync 1, 64;", "bar.sync 1, 64;", "", 128),
        ("bar.sync 1, 64;", "", "bar.sync 1, 128;", 128),
        ("bar.sync 0, 64;", "", "bar.sync 0;", 128),
        ("bar.sync 1, 64; bar.arrive 2, 128;", "bar.sync 1, 64; bar.sync 2, 128;", "", 128),
    ],
)
def test_groups_that_may_come_to_one_barrier_at_once_are_found(
    first: str, second: str, after: str, threads: int, schedule: str
) -> None:
    assert Kind.BARRIER_REUSED in found(threads, schedule, first=first, second=second, after=after)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("first", "second", "after", "threads"),
    [
        ("bar.sync 1, 64;", "bar.sync 2, 128;", "", 192),
        ("bar.sync 1, 64; bar.sync 1, 64;", "bar.sync 2, 64; bar.sync 2, 64;", "bar.sync 0;", 128),
        ("bar.sync 1, 64;", "", "bar.sync 0; bar.sync 1, 128;", 128),
        ("bar.sync 1, 64; bar.sync 0;", "bar.sync 0; bar.sync 1, 64;", "", 128),
        ("bar.sync 1, 64; bar.arrive 2, 128;", "bar.sync 2, 128; bar.sync 1, 64;", "", 128),
        (
            "bar.sync 1, 128; bar.arrive 2, 128; bar.sync 1, 128; bar.arrive 2, 128;",
            "bar.arrive 1, 128; bar.sync 2, 128; bar.arrive 1, 128; bar.sync 2, 128;",
            "",
            128,
        ),
    ],
)
def test_separated_uses_of_a_barrier_are_not_reported(
    first: str, second: str, after: str, threads: int, schedule: str
) -> None:
    assert found(threads, schedule, first=first, second=second, after=after) == set()


@pytest.mark.parametrize(
    ("schedule", "kind"), [("lockstep", Kind.BARRIER_REUSED), ("adversarial", Kind.SHORT_BARRIER)]
)
def test_a_second_arrival_before_others_have_waited_is_found(schedule: str, kind: Kind) -> None:
    """If both arrivals come first, the barrier is complete without the waiting threads."""
    first, second = "bar.sync 1, 128; bar.sync 1, 128;", "bar.arrive 1, 128; bar.arrive 1, 128;"
    assert found(schedule=schedule, first=first, second=second) == {kind}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_an_mbarrier_or_a_flag_separates_uses_of_a_barrier(schedule: str) -> None:
    before = """
        mov.b32 %r5, gate; setp.eq.u32 %p2, %r30, 0; setp.eq.u32 %p4, %r30, 64;
        @%p2 mbarrier.init.shared.b64 [%r5], 64;
        bar.sync 0;
    """
    arrive = "bar.sync 1, 64; mbarrier.arrive.shared.b64 %rd1, [%r5];"
    wait = "WAITS: mbarrier.try_wait.parity.shared.b64 %p5, [%r5], 0; @!%p5 bra WAITS; bar.sync 1, 64;"
    assert found(schedule=schedule, before=before, first=arrive, second=wait) == set()
    raised = "bar.sync 1, 64; fence.acq_rel.cta; @%p2 atom.global.exch.b32 %r6, [%rd30], 1;"
    seen = """
        @!%p4 bra SEEN;
        ASK: atom.global.or.b32 %r6, [%rd30], 0; setp.eq.u32 %p5, %r6, 0; @%p5 bra ASK;
        fence.acq_rel.cta;
        SEEN: bar.sync 2, 64; bar.sync 1, 64;
    """
    assert found(schedule=schedule, before=before, first=raised, second=seen) == set()


def test_the_finding_names_both_groups() -> None:
    text = kernel(
        GROUPS.format(
            before="", first=".loc 1 7 5\nbar.sync 1, 64;", second=".loc 1 8 5\nbar.sync 1, 128;", after=""
        ),
        before='.file 1 "lines.mojo"',
    )
    checks = make_checks([Check.RACES])
    simulate(text, [np.zeros(16, np.uint32)], block=192, hooks=checks)
    (finding,) = [finding for check in checks for finding in check.findings]
    late, early = finding.parties
    assert (late.position.line, late.thread[0], early.position.line, early.count) == (8, 64, 7, 64)
    assert (
        explain(finding).what == "threads arrive at barrier 1 while other threads may still be waiting there"
    )
    assert "1번 배리어" in explain(finding, "ko").what


NEIGHBOURS = """
    mov.b32 %r2, cells;
    shl.b32 %r4, %r30, 2;
    add.s32 %r5, %r2, %r4;
    st.shared.b32 [%r5], %r30;
    {barrier}
    xor.b32 %r6, %r4, 252;
    add.s32 %r7, %r2, %r6;
    ld.shared.b32 %r8, [%r7];
    cvt.u64.u32 %rd1, %r4;
    add.s64 %rd2, %rd30, %rd1;
    st.global.b32 [%rd2], %r8;
"""
"""Each thread reads what a thread of the other of two warps has stored."""


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("barrier", "kinds"),
    [
        ("bar.sync 1, 64;", set()),
        ("bar.sync 1;", set()),
        ("bar.sync 1, 32; bar.sync 0;", set()),
        ("bar.arrive 2, 64; bar.sync 1, 64;", set()),
        ("bar.sync 1, 32;", {Kind.READ_AFTER_WRITE}),
        ("bar.red.popc.u32 %r9, 1, 32, %p1;", {Kind.READ_AFTER_WRITE}),
    ],
)
def test_a_barrier_orders_only_the_threads_of_one_completion(
    barrier: str, kinds: set[Kind], schedule: str
) -> None:
    """A barrier for 32 threads completes once for each warp."""
    checks = make_checks([Check.RACES, Check.SYNCHRONISATION])
    text = kernel(NEIGHBOURS.format(barrier=barrier), before=".shared .align 8 .b8 cells[256];")
    simulate(text, [np.zeros(64, np.uint32)], block=64, hooks=checks, schedule=schedule)
    assert {finding.kind for check in checks for finding in check.findings} == kinds


def test_votes_are_counted_for_one_completion() -> None:
    body = """
    bar.red.popc.u32 %r9, 1, 64, %p1;
    shl.b32 %r4, %r30, 2;
    cvt.u64.u32 %rd1, %r4;
    add.s64 %rd2, %rd30, %rd1;
    st.global.b32 [%rd2], %r9;
    """
    votes = f"setp.lt.u32 %p1, %r30, 70;{body}"
    result, (out,) = simulate(kernel(votes), [np.zeros(128, np.uint32)], block=128)
    assert result.error is None
    assert out.tolist() == [64] * 64 + [6] * 64
