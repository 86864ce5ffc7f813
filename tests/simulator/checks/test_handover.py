"""Data and flags that threads hand over by strong stores and loads, within a block and between blocks."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.helpers import findings_of
from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Finding, Kind
from tooling.simulator.checks.suite import make_checks

SCHEDULES = ["lockstep", "random:4", "adversarial"]

SCAN = """
    mul.wide.u32 %rd1, %r32, 4; add.u64 %rd2, %rd31, %rd1; add.u64 %rd3, %rd32, %rd1;
    mov.u32 %r5, 0;
    setp.ne.u32 %p1, %r30, 0; @%p1 bra MEET;
    setp.eq.u32 %p2, %r32, 0; @%p2 bra TOTAL;
    POLL: ld.acquire.gpu.global.b32 %r1, [%rd2+-4]; setp.eq.u32 %p3, %r1, 0; @%p3 bra POLL;
    ld.global.b32 %r5, [%rd3+-4];
    TOTAL: add.u32 %r5, %r5, %r32; st.global.b32 [%rd3], %r5; st.release.gpu.global.b32 [%rd2], 1;
    MEET: bar.sync 0;
    ld.global.b32 %r6, [%rd3]; ld.global.b32 %r7, [%rd2];
    setp.eq.u32 %p2, %r32, 0; @%p2 bra OUT;
    ld.global.b32 %r7, [%rd2+-4];
    OUT: add.u32 %r6, %r6, %r7; mul.wide.u32 %rd4, %r31, 4; add.u64 %rd4, %rd30, %rd4;
    st.global.b32 [%rd4], %r6;
"""
"""A chained scan with look-back: each block adds its number to the total of the block before it, then all its
threads read totals and flags as ordinary data."""

SEMAPHORE = """
    setp.ge.u32 %p1, %r30, 64; @%p1 bra END;
    setp.ne.u32 %p1, %r30, 0; @%p1 bra WAIT;
    POLL: ld.acquire.gpu.global.b32 %r1, [%rd31]; setp.ne.u32 %p2, %r1, %r32; @%p2 bra POLL;
    WAIT: bar.sync 1, 64;
    ld.global.b32 %r2, [%rd31]; mul.wide.u32 %rd1, %r31, 4; add.u64 %rd1, %rd30, %rd1;
    st.global.b32 [%rd1], %r2;
    bar.sync 1, 64;
    @%p1 bra END;
    add.u32 %r3, %r32, 1; st.release.gpu.global.b32 [%rd31], %r3;
    END:
"""
"""Blocks take turns at a semaphore, whose state all threads of a named barrier read."""

WARPS = """
    mov.u32 %r1, flag; setp.ge.u32 %p1, %r30, 32; @%p1 bra SET;
    setp.ne.u32 %p2, %r30, 0; @%p2 bra MEET;
    POLL: ld.acquire.cta.shared.b32 %r2, [%r1]; setp.eq.u32 %p3, %r2, 0; @%p3 bra POLL;
    MEET: {meet}
    ld.shared.b32 %r4, [%r1]; mul.wide.u32 %rd1, %r30, 4; add.u64 %rd1, %rd30, %rd1;
    st.global.b32 [%rd1], %r4; bra END;
    SET: setp.ne.u32 %p2, %r30, 32; @%p2 bra END;
    st.release.cta.shared.b32 [%r1], 7;
    END:
"""
"""The second warp of a block sets a flag, one lane of the first waits for it, and all its lanes read it."""

CLEARED = "mov.u32 %r1, flag; setp.ne.u32 %p1, %r30, 0; @!%p1 st.shared.b32 [%r1], 0; bar.sync 0;\n"
FLAG = ".shared .align 4 .b8 flag[4];"


def run(
    body: str,
    *,
    blocks: int = 1,
    block: int = 64,
    schedule: str = "lockstep",
    before: str = "",
    size: int = 0,
) -> tuple[list[int], list[Finding]]:
    """What is in the first buffer afterwards, and what the checks found; three buffers of zeros."""
    checks = make_checks()
    buffers = [np.zeros(size or blocks * block, np.uint32) for _ in range(3)]
    result, (out, _, _) = simulate(
        kernel(body, 3, before), buffers, grid=blocks, block=block, hooks=checks, schedule=schedule
    )
    assert result.error is None
    return out.tolist(), findings_of(checks)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_chained_scan_may_read_its_flags_after_a_barrier(schedule: str) -> None:
    totals = np.cumsum(np.arange(9)).repeat(64) + 1
    assert run(SCAN, blocks=9, schedule=schedule) == (totals.tolist(), [])


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_threads_of_a_named_barrier_may_read_the_state_of_their_semaphore(schedule: str) -> None:
    expected = np.repeat([0, 1, 2, 3], 96).reshape(4, 96)
    expected[:, 64:] = 0
    assert run(SEMAPHORE, blocks=4, block=96, schedule=schedule) == (expected.ravel().tolist(), [])


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_warp_may_read_a_flag_that_one_of_its_lanes_waited_for(schedule: str) -> None:
    body = CLEARED + WARPS.format(meet="bar.warp.sync 0xffffffff;")
    assert run(body, schedule=schedule, before=FLAG) == ([7] * 32 + [0] * 32, [])


def test_lanes_not_synchronised_with_the_one_that_waited_race() -> None:
    _, findings = run(CLEARED + WARPS.format(meet=""), before=FLAG)
    assert [finding.kind for finding in findings] == [Kind.WRITE_AFTER_READ]


LAST = """
    setp.ne.u32 %p1, %r30, 0; @%p1 bra END;
    mul.wide.u32 %rd1, %r32, 4; add.u64 %rd2, %rd32, %rd1; st.global.b32 [%rd2], %r32;
    atom.acq_rel.gpu.global.add.u32 %r1, [%rd31], 1;
    mov.u32 %r2, %nctaid.x; sub.u32 %r2, %r2, 1; {condition} @%p2 bra END;
    mov.u32 %r3, 0; mov.u64 %rd3, %rd32; mov.u32 %r4, 0;
    ADD: ld.global.b32 %r5, [%rd3]; add.u32 %r3, %r3, %r5; add.u64 %rd3, %rd3, 4;
    add.u32 %r4, %r4, 1; setp.le.u32 %p3, %r4, %r2; @%p3 bra ADD;
    st.global.b32 [%rd30], %r3;
    END:
"""
"""Each block writes its number and counts itself; then the last one to come, or another, adds them up."""

COUNTED = "setp.ne.u32 %p2, %r1, %r2;"
UNHEEDED = "setp.ne.u32 %p2, %r32, %r2;"


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("blocks", [40, 2500])
def test_the_last_block_to_count_itself_may_read_what_all_wrote(blocks: int, schedule: str) -> None:
    counted = LAST.format(condition=COUNTED)
    out, findings = run(counted, blocks=blocks, block=1, size=blocks, schedule=schedule)
    assert (out[0], findings) == (sum(range(blocks)), [])


@pytest.mark.parametrize("blocks", [40, 2500])
def test_a_block_that_ignores_the_counter_has_not_waited(blocks: int) -> None:
    _, findings = run(LAST.format(condition=UNHEEDED), blocks=blocks, block=1, size=blocks)
    assert [finding.kind for finding in findings] == [Kind.READ_AFTER_WRITE]
    assert findings[0].parties[0].block == (blocks - 1, 0, 0)


def test_races_between_blocks_are_found_beside_atomics_however_many_blocks_there_are() -> None:
    body = """
    setp.ne.u32 %p1, %r30, 0; @%p1 bra END;
    atom.acq_rel.gpu.global.add.u32 %r1, [%rd31], 1;
    st.global.b32 [%rd30], %r32;
    mov.u32 %r2, 0; setp.eq.u32 %p2, %r1, 9999; @%p2 st.global.b32 [%rd30+4], %r2;
    END:
    """
    _, findings = run(body, blocks=5000, block=32, size=64)
    assert [finding.kind for finding in findings] == [Kind.SAME_INSTRUCTION, Kind.WRITE_AFTER_WRITE]


def test_chains_of_hundreds_of_blocks_are_followed() -> None:
    blocks = 300
    out, findings = run(SCAN.replace("%r31, 4", "%r32, 4"), blocks=blocks, block=32, size=blocks)
    assert out == (np.cumsum(np.arange(blocks)) + 1).tolist()
    assert findings == []


SHUFFLE = """
    shl.b32 %r1, %r30, 2; mov.u32 %r2, tile; add.u32 %r1, %r1, %r2; st.shared.b32 [%r1], %r30;
    {meet}
    xor.b32 %r3, %r30, 1; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r2; ld.shared.b32 %r4, [%r3];
    mul.wide.u32 %rd1, %r30, 4; add.u64 %rd1, %rd30, %rd1; st.global.b32 [%rd1], %r4;
"""
TILE = ".shared .align 4 .b8 tile[128];"


@pytest.mark.parametrize(
    "meet",
    [
        "shfl.sync.idx.b32 %r5, %r30, 0, 31, -1;",
        "setp.eq.u32 %p2, %r30, 0; vote.sync.any.pred %p1, %p2, -1;",
        "match.any.sync.b32 %r5, %r30, -1;",
        "redux.sync.add.s32 %r5, %r30, -1;",
    ],
)
def test_exchanging_values_in_a_warp_does_not_order_memory(meet: str) -> None:
    _, findings = run(SHUFFLE.format(meet=meet), block=32, before=TILE)
    assert [finding.kind for finding in findings] == [Kind.READ_AFTER_WRITE]


def test_a_barrier_of_a_warp_orders_memory() -> None:
    out, findings = run(SHUFFLE.format(meet="bar.warp.sync -1;"), block=32, before=TILE)
    assert (out, findings) == ([lane ^ 1 for lane in range(32)], [])


@pytest.mark.parametrize("blocks", [3, 300])
def test_warps_of_many_blocks_hand_over_flags_at_once(blocks: int) -> None:
    body = CLEARED + WARPS.format(meet="bar.warp.sync 0xffffffff;").replace("%r30, 4", "%r31, 4")
    out, findings = run(body, blocks=blocks, before=FLAG)
    assert (out, findings) == (([7] * 32 + [0] * 32) * blocks, [])


def test_all_threads_of_a_block_may_wait_for_one_flag() -> None:
    body = """
    setp.ge.u32 %p1, %r30, 32; @!%p1 bra SET;
    POLL: ld.acquire.gpu.global.b32 %r1, [%rd31]; setp.eq.u32 %p3, %r1, 0; @%p3 bra POLL;
    ld.global.b32 %r2, [%rd32]; mul.wide.u32 %rd1, %r30, 4; add.u64 %rd1, %rd30, %rd1;
    st.global.b32 [%rd1], %r2; bra END;
    SET: setp.ne.u32 %p2, %r30, 0; @%p2 bra END;
    st.global.b32 [%rd32], 5; st.release.gpu.global.b32 [%rd31], 1;
    END:
    """
    assert run(body, block=1024) == ([0] * 32 + [5] * 992, [])


UPDATED = """
    mov.u32 %r1, flag; setp.ne.u32 %p1, %r30, 0; @!%p1 st.shared.b32 [%r1], 0; bar.sync 0;
    red.shared.add.u32 [%r1], 1;
    setp.ne.u32 %p2, %r30, {reader}; @%p2 bra END;
    {meet} ld.shared.b32 %r2, [%r1]; st.global.b32 [%rd30], %r2;
    END:
"""
"""All threads of a block count, then one of them reads the total."""


@pytest.mark.parametrize("reader", [0, 31, 63])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_no_thread_may_read_a_total_without_waiting_for_the_others(reader: int, schedule: str) -> None:
    _, findings = run(UPDATED.format(reader=reader, meet=""), before=FLAG, schedule=schedule)
    assert {finding.kind for finding in findings} <= {Kind.READ_AFTER_WRITE, Kind.WRITE_AFTER_READ}
    assert len(findings) == 1


@pytest.mark.parametrize("action", ["ld.global.b32 %r2, [%rd30];", "st.global.b32 [%rd30], 5;"])
def test_the_block_that_counted_last_has_not_waited_for_the_others(action: str) -> None:
    body = f"""
    red.global.add.u32 [%rd30], 1; setp.ne.u32 %p1, %r32, 1; @%p1 bra END; {action}
    END:
    """
    _, findings = run(body, blocks=2, block=1)
    (finding,) = findings
    assert finding.kind in (Kind.READ_AFTER_WRITE, Kind.WRITE_AFTER_WRITE)
    assert [party.block[0] for party in finding.parties] == [1, 0]


MESSAGE = """
    setp.ne.u32 %p1, %r32, 0; @%p1 bra WAIT;
    st.global.b32 [%rd31], 5; {after_data} {set} bra END;
    WAIT: {poll} setp.eq.u32 %p2, %r2, 0; @%p2 bra WAIT;
    {before_data} ld.global.b32 %r1, [%rd31]; st.global.b32 [%rd30], %r1;
    END:
"""
"""Block 0 writes data and sets a flag; block 1 waits for the flag and reads the data."""

VOLATILE = ("st.volatile.global.b32 [%rd32], 1;", "ld.volatile.global.b32 %r2, [%rd32];")
RELAXED = ("st.relaxed.gpu.global.b32 [%rd32], 1;", "ld.relaxed.gpu.global.b32 %r2, [%rd32];")
ATOMIC = ("red.global.add.u32 [%rd32], 1;", "atom.global.or.b32 %r2, [%rd32], 0;")
ORDERED = ("st.release.gpu.global.b32 [%rd32], 1;", "ld.acquire.gpu.global.b32 %r2, [%rd32];")
IN_BLOCK = ("st.release.cta.global.b32 [%rd32], 1;", "ld.acquire.cta.global.b32 %r2, [%rd32];")
FENCE, NARROW, OTHER = "fence.acq_rel.gpu;", "fence.acq_rel.cta;", "fence.proxy.async.global;"


@pytest.mark.parametrize(
    ("flag", "after_data", "before_data", "ordered"),
    [
        (VOLATILE, "membar.gl;", "membar.gl;", True),
        (VOLATILE, "membar.sys;", "fence.sc.gpu;", True),
        (RELAXED, FENCE, FENCE, True),
        (ATOMIC, FENCE, FENCE, True),
        (ORDERED, "", "", True),
        ((ORDERED[0], RELAXED[1]), "", FENCE, True),
        ((RELAXED[0], ORDERED[1]), FENCE, "", True),
        (VOLATILE, "membar.gl;", "", False),
        (VOLATILE, "", "membar.gl;", False),
        (RELAXED, FENCE, "", False),
        (ATOMIC, "", FENCE, False),
        ((ORDERED[0], RELAXED[1]), "", "", False),
        ((RELAXED[0], ORDERED[1]), "", "", False),
        (VOLATILE, "membar.cta;", "membar.cta;", False),
        (RELAXED, NARROW, FENCE, False),
        (RELAXED, FENCE, NARROW, False),
        (RELAXED, OTHER, OTHER, False),
        (IN_BLOCK, "", "", False),
    ],
)
def test_a_flag_orders_blocks_if_both_sides_do_so_at_a_scope_with_both(
    flag: tuple[str, str], after_data: str, before_data: str, ordered: bool
) -> None:
    body = MESSAGE.format(set=flag[0], poll=flag[1], after_data=after_data, before_data=before_data)
    out, findings = run(body, blocks=2, block=1)
    assert out[0] == 5
    assert [finding.kind for finding in findings] == [
        *[Kind.NARROW_SCOPE] * (flag is IN_BLOCK),  # the flag itself
        *[Kind.READ_AFTER_WRITE] * (not ordered),
    ]


def test_a_fence_of_one_thread_serves_its_block() -> None:
    body = """
    mul.wide.u32 %rd1, %r30, 4; add.u64 %rd2, %rd31, %rd1; add.u64 %rd3, %rd30, %rd1;
    setp.ne.u32 %p1, %r32, 0; setp.ne.u32 %p2, %r30, 0; @%p1 bra WAIT;
    st.global.b32 [%rd2], 5; bar.sync 0; @%p2 bra END;
    membar.gl; st.volatile.global.b32 [%rd32], 1; bra END;
    WAIT: @%p2 bra MEET;
    POLL: ld.volatile.global.b32 %r2, [%rd32]; setp.eq.u32 %p3, %r2, 0; @%p3 bra POLL; membar.gl;
    MEET: bar.sync 0; ld.global.b32 %r1, [%rd2]; st.global.b32 [%rd3], %r1;
    END:
    """
    assert run(body, blocks=2, block=64, size=64) == ([5] * 64, [])
