"""Barriers that combine votes, threads that only arrive, and threads that poll for ever."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import Hook, PartialBarrier, Waiter, WaitsFor
from tooling.simulator.gpu.launch import FaultKind

SCHEDULES = ("lockstep", "random:1", "random:2", "adversarial")
STORE = "mul.wide.u32 %rd1, %r31, 4;\nadd.s64 %rd2, %rd30, %rd1;\nst.global.b32 [%rd2], {0};\n"


def zeros(count: int) -> np.ndarray[Any, np.dtype[np.uint32]]:
    return np.zeros(count, np.uint32)


class Witness(Hook):
    def __init__(self) -> None:
        self.meetings: list[PartialBarrier] = []
        self.waiters: list[Waiter] = []
        self.passed: list[tuple[list[int], str]] = []
        self.arrivals: list[tuple[list[int], int]] = []
        self.exits: list[tuple[int, str]] = []
        self.commits: list[int] = []

    def block_barrier(self, blocks: Any, instruction: Instruction) -> None:
        self.passed.append((blocks.tolist(), instruction.form))

    def barrier_arrive(self, threads: Any, barrier: int, instruction: Instruction) -> None:
        self.arrivals.append((threads.tolist(), barrier))

    def named_barrier(self, meeting: PartialBarrier) -> None:
        self.meetings.append(meeting)

    def threads_exit(self, threads: Any, instruction: Instruction | None) -> None:
        self.exits.append((len(threads), instruction.opcode if instruction else ""))

    def async_commit(self, threads: Any, instruction: Instruction) -> None:
        self.commits.append(len(threads))

    def stuck(self, waiters: Any) -> None:
        self.waiters = list(waiters)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("form", "want"),
    [
        ("bar.red.popc.u32 %r1, 0, %p1;", [24, 32]),
        ("barrier.red.popc.aligned.u32 %r1, 0, !%p1;", [40, 32]),
        ("bar.red.and.pred %p2, 0, %p1; selp.u32 %r1, 1, 0, %p2;", [0, 0]),
        ("bar.red.or.pred %p2, 0, %p1; selp.u32 %r1, 1, 0, %p2;", [1, 1]),
        ("bar.red.and.pred %p2, 1, 64, !%p9; selp.u32 %r1, 1, 0, %p2;", [1, 1]),
    ],
)
def test_a_barrier_combines_votes(form: str, want: list[int], schedule: str) -> None:
    body = f"""
        shl.b32 %r2, %r32, 3; add.u32 %r2, %r2, 24;
        setp.lt.u32 %p1, %r30, %r2;
        setp.gt.u32 %p9, %r30, 64;
        setp.lt.u32 %p3, %r30, 7;
        @%p3 bra EARLY;
        mov.b32 %r9, 1;
    EARLY:
        {form}
    """
    result, (got,) = simulate(
        kernel(body + STORE.format("%r1")), [zeros(128)], grid=2, block=64, schedule=schedule
    )
    assert result.error is None
    np.testing.assert_array_equal(got.reshape(2, 64), np.repeat([want], 64, axis=0).T)


def test_threads_that_only_arrive_are_named() -> None:
    body = """
        setp.lt.u32 %p1, %r30, 32;
        @%p1 bra A;
        bar.sync 3, 64;
        bra.uni B;
    A:
        bar.arrive 3, 64;
    B:
        bar.sync 0;
    """
    witness = Witness()
    result, _ = simulate(kernel(body), [zeros(1)], block=64, hooks=[witness])
    assert result.error is None
    assert witness.arrivals == [(list(range(32)), 3)]
    (meeting,) = witness.meetings
    assert (meeting.barrier, meeting.threads.tolist()) == (3, list(range(32, 64)))
    assert meeting.arrived.tolist() == list(range(32))
    assert witness.passed == [([0], "bar.sync")]
    assert witness.exits == [(64, "ret")]


WAITS = {
    "volatile load": "ld.volatile.global.u32 %r1, [%rd30];",
    "acquire load": "ld.acquire.gpu.global.u32 %r1, [%rd30];",
    "compare and swap": "atom.global.cas.b32 %r1, [%rd30], 1, 1;",
    "exchange": "atom.global.exch.b32 %r1, [%rd30], 0;",
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("read", WAITS.values(), ids=WAITS.keys())
def test_polling_for_a_value_that_no_thread_writes_is_a_deadlock(read: str, schedule: str) -> None:
    body = f"""
        setp.eq.u32 %p1, %r30, 40;
        @%p1 bra OTHER;
    AGAIN:
        {read}
        setp.eq.u32 %p2, %r1, 0;
        @%p2 bra AGAIN;
        ret;
    OTHER:
        nanosleep.u32 20;
        ld.volatile.global.u32 %r2, [%rd30+4];
        setp.ne.u32 %p2, %r2, 7;
        @%p2 bra OTHER;
    """
    witness = Witness()
    result, _ = simulate(kernel(body), [zeros(2)], block=64, hooks=[witness], schedule=schedule)
    assert result.error is not None
    assert result.error.kind is FaultKind.DEADLOCK
    assert "64 threads wait for a value that no thread will write" in str(result.error)
    assert {waiter.waits_for for waiter in witness.waiters} == {WaitsFor.LOOP}
    assert sum(len(waiter.threads) for waiter in witness.waiters) == 64


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_polling_with_others_at_a_barrier_names_both(schedule: str) -> None:
    body = """
        setp.lt.u32 %p1, %r30, 8;
        @%p1 bra AGAIN;
        bar.sync 0;
        mov.b32 %r5, 1;
        st.volatile.global.u32 [%rd30], %r5;
        ret;
    AGAIN:
        ld.volatile.global.u32 %r1, [%rd30];
        setp.eq.u32 %p2, %r1, 0;
        @%p2 bra AGAIN;
        bar.sync 0;
    """
    witness = Witness()
    result, _ = simulate(kernel(body), [zeros(1)], block=64, hooks=[witness], schedule=schedule)
    assert result.error is not None
    assert result.error.kind is FaultKind.DEADLOCK
    found = {waiter.waits_for: len(waiter.threads) for waiter in witness.waiters}
    assert found == {WaitsFor.LOOP: 8, WaitsFor.BLOCK_BARRIER: 56}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    "turn",
    [
        "add.u32 %r5, %r5, 1; min.u32 %r5, %r5, 500;",  # the registers settle after several looks
        "add.u32 %r5, %r5, 1; rem.u32 %r5, %r5, 7;",  # they are the same after seven turns
        "add.u32 %r5, %r5, 1; setp.eq.u32 %p3, %r5, 500; selp.u32 %r5, 493, %r5, %p3;",  # both
    ],
    ids=["settles", "repeats", "repeats later"],
)
def test_polling_is_a_deadlock_whenever_the_registers_begin_to_repeat(turn: str, schedule: str) -> None:
    body = f"""
        mov.u32 %r5, 0;
    AGAIN:
        {turn}
        ld.volatile.global.u32 %r1, [%rd30];
        setp.eq.u32 %p2, %r1, 0;
        @%p2 bra AGAIN;
        st.global.u32 [%rd30+4], %r5;
    """
    witness = Witness()
    result, _ = simulate(kernel(body), [zeros(2)], block=1024, hooks=[witness], schedule=schedule)
    assert result.error is not None
    assert result.error.kind is FaultKind.DEADLOCK
    assert "1024 threads wait for a value that no thread will write" in str(result.error)
    assert [waiter.waits_for for waiter in witness.waiters] == [WaitsFor.LOOP] * len(witness.waiters)
    assert sum(len(waiter.threads) for waiter in witness.waiters) == 1024


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_wait_that_ends_late_is_none(schedule: str) -> None:
    """One thread counts long without touching memory, others poll, and one waits for the clock."""
    body = """
        mov.u64 %rd5, %clock64;
        atom.global.or.b32 %r9, [%rd30+8], 0;
        setp.eq.u32 %p1, %r30, 0;
        @%p1 bra COUNT;
        setp.eq.u32 %p1, %r30, 1;
        @%p1 bra CLOCK;
    AGAIN:
        ld.volatile.global.u32 %r1, [%rd30];
        setp.eq.u32 %p2, %r1, 0;
        @%p2 bra AGAIN;
        ret;
    COUNT:
        add.u32 %r2, %r2, 1;
        setp.lt.u32 %p2, %r2, 3000;
        @%p2 bra COUNT;
        st.volatile.global.u32 [%rd30], %r2;
        ret;
    CLOCK:
        mov.u64 %rd6, %clock64;
        sub.u64 %rd7, %rd6, %rd5;
        setp.lt.u64 %p2, %rd7, 20000;
        @%p2 bra CLOCK;
        ret;
    """
    result, (got,) = simulate(kernel(body), [zeros(4)], block=32, schedule=schedule)
    assert result.error is None, result.error
    assert got[0] == 3000


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_lanes_that_diverge_repeatedly_in_the_same_way_do_not_wait(schedule: str) -> None:
    body = """
        mov.u32 %r9, 3;
        red.global.add.u32 [%rd30+128], 1;
    AGAIN:
        and.b32 %r1, %r30, 15;
        add.u32 %r1, %r1, 16;
        and.b32 %r2, %r30, 1;
        setp.ne.u32 %p1, %r2, 0;
        @%p1 bra ODD;
    EVEN:
        sub.u32 %r1, %r1, 1;
        setp.ne.u32 %p2, %r1, 0;
        @%p2 bra EVEN;
        bra MET;
    ODD:
        sub.u32 %r1, %r1, 1;
        setp.ne.u32 %p2, %r1, 0;
        @%p2 bra ODD;
    MET:
        bar.warp.sync 0xffffffff;
        sub.u32 %r9, %r9, 1;
        setp.ne.u32 %p3, %r9, 0;
        @%p3 bra AGAIN;
    """
    result, (got,) = simulate(kernel(body), [zeros(33)], schedule=schedule)
    assert result.error is None
    assert got[32] == 32
