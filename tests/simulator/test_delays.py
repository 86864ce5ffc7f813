"""Blocks that others overtake, and blocks that start only when others have ended."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Check, Kind, explain
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.engine.delays import Delays
from tooling.simulator.engine.schedule import Schedule
from tooling.simulator.gpu.launch import FaultKind

BLOCKS = 12
OTHERS = ("adversarial", "random:1", "random:2", "random:3")
SCHEDULES = ("lockstep", *OTHERS, "adversarial:1", "adversarial:5")

BY_INDEX = "mov.u32 %r4, %r32;"
BY_TICKET = "atom.global.add.u32 %r4, [%rd30], 1;"

WAIT = "AGAIN: ld.acquire.gpu.global.u32 %r6, [%rd2]; setp.eq.u32 %p2, %r6, 0; @%p2 bra AGAIN;"
READ_ONCE = "ld.acquire.gpu.global.u32 %r6, [%rd2];"


def running_sum(number: str, wait: str) -> str:
    """Each block adds its number to the sum of the block before it, and publishes that: 1, 2, 4, 7, …"""
    return kernel(f"""
        {number}
        mul.wide.u32 %rd1, %r4, 4;
        add.s64 %rd2, %rd30, %rd1;
        mov.u32 %r6, 1;
        setp.eq.u32 %p1, %r4, 0;
        @%p1 bra PUBLISH;
        {wait}
    PUBLISH:
        add.u32 %r6, %r6, %r4;
        st.release.gpu.global.u32 [%rd2+4], %r6;
    """)


def sums(text: str, schedule: str, **options: Any) -> tuple[Any, list[int]]:
    array = np.zeros(BLOCKS + 1, np.uint32)
    result, (got,) = simulate(text, [array], grid=BLOCKS, block=1, schedule=schedule, **options)
    return result, got[1:].tolist()


WANTED = (1 + np.arange(BLOCKS).cumsum()).tolist()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_blocks_that_wait_only_for_blocks_that_have_started_always_end(schedule: str) -> None:
    result, got = sums(running_sum(BY_TICKET, WAIT), schedule)
    assert (result.error, got) == (None, WANTED)


@pytest.mark.parametrize("schedule", ("lockstep", *OTHERS))
def test_a_block_that_is_held_back_starts_at_some_time(schedule: str) -> None:
    result, got = sums(running_sum(BY_INDEX, WAIT), schedule)
    assert (result.error, got) == (None, WANTED)


@pytest.mark.parametrize("room", (1, 5))
def test_without_room_a_block_waits_in_vain_for_one_that_has_not_started(room: int) -> None:
    checks = make_checks([Check.SYNCHRONISATION])
    result, _ = sums(running_sum(BY_INDEX, WAIT), f"adversarial:{room}", hooks=checks)
    assert result.error is not None
    assert result.error.kind is FaultKind.DEADLOCK
    assert "further blocks start only when these have ended" in str(result.error)
    (finding,) = [each for check in checks for each in check.findings]
    assert (finding.kind, finding.arrived) == (Kind.LATER_BLOCKS, 1 if room == 1 else 2)
    assert "by an atomic operation when it starts" in explain(finding).hint


def test_a_value_that_is_not_waited_for_is_there_only_while_blocks_stay_in_step() -> None:
    """Every block reads what the one before it has stored, without waiting for it."""
    text = kernel("""
        mul.wide.u32 %rd1, %r32, 4; add.s64 %rd2, %rd30, %rd1; mov.u32 %r5, 1;
        st.release.gpu.global.u32 [%rd2], %r5;
        setp.eq.u32 %p1, %r32, 0; @%p1 bra END;
        ld.acquire.gpu.global.u32 %r6, [%rd2+-4]; add.u32 %r5, %r5, %r6;
        st.global.u32 [%rd2], %r5;
    END:
    """)
    got = {schedule: sums(text, schedule)[1][:-1] for schedule in ("lockstep", *OTHERS)}
    assert got["lockstep"] == [2] * (BLOCKS - 1)
    assert [schedule for schedule, values in got.items() if values == got["lockstep"]] == ["lockstep"]


@pytest.mark.parametrize("schedule", ("lockstep", *OTHERS))
def test_blocks_that_all_wait_for_each_other_pass(schedule: str) -> None:
    text = kernel(f"""
        atom.global.add.u32 %r4, [%rd30], 1;
    AGAIN:
        ld.acquire.gpu.global.u32 %r6, [%rd30]; setp.lt.u32 %p2, %r6, {BLOCKS}; @%p2 bra AGAIN;
        atom.global.add.u32 %r4, [%rd30+4], %r6;
    """)
    result, got = sums(text, schedule)
    assert (result.error, got[0]) == (None, BLOCKS * BLOCKS)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_blocks_that_poll_for_ever_are_a_deadlock_in_every_order(schedule: str) -> None:
    text = kernel("AGAIN: ld.volatile.global.u32 %r6, [%rd30+4]; setp.eq.u32 %p2, %r6, 0; @%p2 bra AGAIN;")
    result, _ = sums(text, schedule)
    assert result.error is not None
    assert result.error.kind is FaultKind.DEADLOCK


@pytest.mark.parametrize("schedule", OTHERS)
def test_the_same_order_gives_the_same_run(schedule: str) -> None:
    text = kernel("atom.global.add.u32 %r4, [%rd30], 1; mul.wide.u32 %rd1, %r4, 4;"
                  "add.s64 %rd2, %rd30, %rd1; st.global.u32 [%rd2+4], %r32;")  # fmt: skip
    first, again = (sums(text, schedule) for _ in range(2))
    assert first[1] == again[1] != list(range(BLOCKS))
    assert first[0].instructions == again[0].instructions


def test_blocks_that_wait_for_no_other_stay_together() -> None:
    """Kernels without a value from other blocks cost no more in the adversarial order."""
    text = kernel("red.global.add.u32 [%rd30], 1; ld.global.u32 %r4, [%rd30+4];")
    issued = {schedule: sums(text, schedule)[0].instructions for schedule in ("lockstep", "adversarial")}
    assert issued["adversarial"] == issued["lockstep"]


def test_the_blocks_of_a_cluster_are_held_back_together() -> None:
    seen = set()
    delays = Delays(12, 3, Random(7))
    while not delays.over:
        if delays.held is not None:
            by_cluster = delays.held.reshape(4, 3)
            assert (by_cluster == by_cluster[:, :1]).all()
            seen |= set(np.flatnonzero(delays.held).tolist())
        delays.advance()
    assert seen == set(range(12))


def test_a_single_cluster_is_not_held_back() -> None:
    assert Schedule("adversarial", 0, [0]).delays(4, 4) is None
    assert Schedule("lockstep", 0, [0]).delays(4, 1) is None


@pytest.mark.parametrize("name", ("adversarial:", "adversarial:0", "lockstep:2", "random", "random:", "late"))
def test_other_names_of_schedules_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="unknown schedule"):
        Schedule(name, 0, [0])
