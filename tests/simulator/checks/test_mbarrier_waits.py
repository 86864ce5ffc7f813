"""Threads that ask an mbarrier and do not wait for its answer: nothing orders what they read."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Check, Kind, Severity, render
from tooling.simulator.checks.suite import make_checks

THREADS = 64
NEIGHBOUR = """
    mov.b64 %rd10, 7;
    mov.b32 %r1, gate;
    mov.b32 %r2, cells;
    mov.b32 %r3, 64;
    setp.ne.b32 %p1, %r30, 0;
    @%p1 bra READY;
    mbarrier.init.shared.b64 [%r1], %r3;
READY:
    bar.sync 0;
    shl.b32 %r4, %r30, 2;
    add.s32 %r5, %r2, %r4;
    st.shared.b32 [%r5], %r30;
    mbarrier.arrive.shared.b64 %rd11, [%r1];
    ASK
    xor.b32 %r6, %r4, 252;
    add.s32 %r7, %r2, %r6;
    ld.shared.b32 %r8, [%r7];
    mul.wide.u32 %rd1, %r30, 4;
    add.s64 %rd2, %rd30, %rd1;
    st.global.b32 [%rd2], %r8;
"""
"""Each thread writes its element, arrives, tests, and reads the element of a thread in the other warp."""

SHARED = ".shared .align 8 .b8 gate[8];\n.shared .align 4 .b8 cells[256];"
TEST, TRY = "mbarrier.test_wait.shared.b64", "mbarrier.try_wait.shared.b64"


def found(ask: str, schedule: str = "lockstep") -> set[Kind]:
    checks = make_checks(list(Check))
    text = kernel(NEIGHBOUR.replace("ASK", ask), before=SHARED)
    result, (out,) = simulate(
        text, [np.zeros(THREADS, np.uint32)], block=THREADS, hooks=checks, schedule=schedule
    )
    assert result.error is None
    assert out.tolist() == [thread ^ 63 for thread in range(THREADS)]
    return {finding.kind for check in checks for finding in check.findings}


@pytest.mark.parametrize("schedule", ["lockstep", "random:1", "adversarial"])
@pytest.mark.parametrize(
    "ask",
    [
        f"ASK: {TEST} %p2, [%r1], %rd11;\n@!%p2 bra ASK;",
        f"ASK: {TRY} %p2, [%r1], %rd11;\n@!%p2 bra ASK;",
        f"ASK: {TEST} %p2, [%r1], %rd11;\nnot.pred %p3, %p2;\n@%p3 bra ASK;",
        f"ASK: {TEST} %p2, [%r1], %rd11;\nselp.b32 %r9, 1, 0, %p2;\nsetp.eq.s32 %p3, %r9, 0;\n@%p3 bra ASK;",
        f"{TEST} %p2, [%r1], %rd11;\nASK: {TEST} %p3, [%r1], %rd11;\n@!%p3 bra ASK;",
    ],
)
def test_threads_that_ask_until_the_answer_is_true_are_in_order(ask: str, schedule: str) -> None:
    assert found(ask, schedule) - {Kind.MBARRIER_RESULT_IGNORED} == set()


@pytest.mark.parametrize("schedule", ["lockstep", "random:1", "adversarial"])
@pytest.mark.parametrize("ask", [f"{TEST} %p2, [%r1], %rd11;", f"{TRY} %p2, [%r1], %rd11;"])
def test_threads_that_ask_once_and_go_on_race(ask: str, schedule: str) -> None:
    assert found(ask, schedule) == {Kind.READ_AFTER_WRITE, Kind.MBARRIER_RESULT_IGNORED}


@pytest.mark.parametrize("schedule", ["lockstep", "random:1", "adversarial"])
def test_threads_that_look_at_the_answer_and_go_on_all_the_same_race(schedule: str) -> None:
    """Here all have arrived when the first thread asks; elsewhere they need not have."""
    ask = f"{TEST} %p2, [%r1], %rd11;\n@%p2 bra GO;\nmov.b32 %r9, 1;\nGO:"
    assert found(ask, schedule) == {Kind.READ_AFTER_WRITE}


@pytest.mark.parametrize("schedule", ["lockstep", "random:1", "adversarial"])
@pytest.mark.parametrize(
    "before",
    [
        "bar.sync 0;",
        "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;",
        f"FIRST: {TEST} %p3, [%r1], %rd11;\n@!%p3 bra FIRST;",
    ],
)
def test_what_is_surely_over_is_not_denied(before: str, schedule: str) -> None:
    assert found(f"{before}\n{TEST} %p2, [%r1], %rd11;\n@%p2 bra GO;\ntrap;\nGO:", schedule) == set()


def test_a_thread_that_completes_a_phase_alone_is_not_denied() -> None:
    body = f"""
    mov.b32 %r1, gate; mbarrier.init.shared.b64 [%r1], 1; mbarrier.arrive.shared.b64 %rd11, [%r1];
    {TEST} %p2, [%r1], %rd11; @%p2 bra GO; trap; GO: st.global.b32 [%rd30], 1;"""
    result, (out,) = simulate(kernel(body, before=SHARED), [np.zeros(1, np.uint32)], block=1)
    assert result.error is None
    assert out.tolist() == [1]


def test_the_message_says_that_no_thread_waited() -> None:
    checks = make_checks([Check.SYNCHRONISATION])
    text = kernel(NEIGHBOUR.replace("ASK", f"{TEST} %p2, [%r1], %rd11;"), before=SHARED)
    simulate(text, [np.zeros(THREADS, np.uint32)], block=THREADS, hooks=checks)
    (finding,) = (finding for check in checks for finding in check.findings)
    assert finding.severity is Severity.WARNING
    assert "while not mbarrier_test_wait" in render(finding)
    assert "and 63 more" in render(finding)


@pytest.mark.parametrize(("announced", "says"), [("65", "64 of 65 arrivals"), ("200", "64 of 200 arrivals")])
def test_an_mbarrier_that_expects_too_many_reports_the_arrivals(announced: str, says: str) -> None:
    checks = make_checks([Check.SYNCHRONISATION])
    body = NEIGHBOUR.replace("%r3, 64", f"%r3, {announced}")
    text = kernel(body.replace("ASK", f"ASK: {TEST} %p2, [%r1], %rd11;\n@!%p2 bra ASK;"), before=SHARED)
    result, _ = simulate(text, [np.zeros(THREADS, np.uint32)], block=THREADS, hooks=checks)
    assert result.error is not None
    (finding,) = (finding for check in checks for finding in check.findings)
    assert finding.kind is Kind.MBARRIER_STUCK
    assert says in render(finding)
