"""Bulk copies under the checks: observed completion, missing fences, and legal uses."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator import test_tensor_copies as tensors
from tests.simulator.helpers import findings_of
from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Finding, Kind
from tooling.simulator.checks.suite import make_checks

THREADS = 64
SHARED = """.shared .align 16 .b8 tile[256]; .shared .align 16 .b8 other[256];
.shared .align 8 .b64 bar; .shared .align 8 .b64 next; .shared .align 4 .b32 flag;"""

START = """
    setp.eq.u32 %p1, %r30, 0; setp.lt.u32 %p2, %r30, 32; shl.b32 %r4, %r30, 2;
    mov.b32 %r1, tile; add.s32 %r5, %r1, %r4; mov.b32 %r2, bar; mov.b32 %r3, next;
    mul.wide.u32 %rd1, %r30, 4; add.s64 %rd2, %rd30, %rd1; add.s64 %rd3, %rd31, %rd1;
    @%p1 mbarrier.init.shared.b64 [bar], 1; @%p1 mbarrier.init.shared.b64 [next], 32;
    @%p1 st.shared.b32 [flag], 0; bar.sync 0;
"""
LOAD = """
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd30], 256, [bar];
"""
WAIT = "WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0; @!%p3 bra WAIT;\n"
FIRST_WARP_WAITS = f"@!%p2 bra AFTER; {WAIT} AFTER:\n"
READ = "ld.shared.b32 %r9, [%r5]; st.global.b32 [%rd3], %r9;\n"
FILL = "st.shared.b32 [%r5], %r30;\n"
FENCE = "fence.proxy.async.shared::cta;\n"
STORE = "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd31], [tile], 256;\n"
COMMIT = "@%p1 cp.async.bulk.commit_group;\n"
DONE = "@%p1 cp.async.bulk.wait_group 0;\n"
DONE_READING = "@%p1 cp.async.bulk.wait_group.read 0;\n"
BARRIER = "bar.sync 0;\n"

SCHEDULES = ("lockstep", "random:1", "random:2", "adversarial")


def findings(body: str, schedule: str = "lockstep", grid: int = 1) -> list[Finding]:
    checks = make_checks()
    arrays = [np.arange(THREADS, dtype=np.uint32), np.zeros(THREADS, np.uint32)]
    text = kernel(START + body, parameters=2, before=SHARED)
    result, _ = simulate(text, arrays, grid=grid, block=THREADS, hooks=checks, schedule=schedule)
    assert result.error is None, result.error
    return findings_of(checks)


def found(body: str, schedule: str = "lockstep") -> set[Kind]:
    return {finding.kind for finding in findings(body, schedule)}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    "release",
    [
        BARRIER,
        "bar.sync 1, 64;",
        "@%p2 mbarrier.arrive.shared.b64 _, [next];"
        "NEXT: mbarrier.try_wait.parity.shared.b64 %p3, [next], 0; @!%p3 bra NEXT;",
        "@%p2 bar.arrive 2, 64; @!%p2 bar.sync 2, 64;",
        "@%p2 st.release.cta.shared.b32 [flag], 1; @%p2 bra SEEN;"
        "SPIN: ld.acquire.cta.shared.b32 %r9, [flag]; setp.eq.u32 %p3, %r9, 0; @%p3 bra SPIN; SEEN:",
    ],
)
def test_a_thread_that_waited_passes_completion_on(release: str, schedule: str) -> None:
    assert found(LOAD + FIRST_WARP_WAITS + release + READ, schedule) == set()


def test_a_thread_that_did_not_observe_completion_may_not_read() -> None:
    half = "@%p2 bar.sync 1, 32;"
    assert found(LOAD + FIRST_WARP_WAITS + half + READ) == {Kind.BULK_COPY_IN_FLIGHT}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    "handed_over",
    [
        FENCE + BARRIER,
        BARRIER + FENCE,
        "fence.proxy.async;" + BARRIER,
        BARRIER + "@%p1 fence.proxy.async.shared::cta;",
    ],
)
def test_the_writers_or_the_copier_fence(handed_over: str, schedule: str) -> None:
    """A block may end while its copy still writes to global memory."""
    assert found(FILL + handed_over + STORE + COMMIT + DONE_READING, schedule) == set()


@pytest.mark.parametrize(
    "handed_over",
    [
        BARRIER,
        "@%p1 fence.proxy.async.shared::cta;" + BARRIER,
        "fence.proxy.async.global;" + BARRIER,
        "fence.acq_rel.cta;" + BARRIER,
    ],
)
def test_other_fences_hand_nothing_over(handed_over: str) -> None:
    found_kinds = found(FILL + handed_over + STORE + COMMIT + DONE_READING)
    assert found_kinds == {Kind.PROXY_FENCE_MISSING}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_what_a_copy_brought_needs_no_fence_to_be_copied_on(schedule: str) -> None:
    assert found(LOAD + WAIT + STORE + COMMIT + DONE, schedule) == set()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_tile_is_reloaded_by_a_thread_ordered_after_all_reads(schedule: str) -> None:
    again = "@%p1 bra NEXT; mbarrier.arrive.shared.b64 _, [next]; bra LAST; NEXT:"
    body = (
        "@%p1 mbarrier.init.shared.b64 [next], 63;" + BARRIER + LOAD + WAIT + READ + again
        + "mbarrier.try_wait.parity.shared.b64 %p3, [next], 0; @!%p3 bra NEXT;"
        + LOAD + "LAST: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 1; @!%p3 bra LAST;" + READ
    )  # fmt: skip
    assert found(body, schedule) == set()


def test_a_source_in_global_memory_may_not_change_either() -> None:
    assert found(LOAD + BARRIER + "st.global.b32 [%rd2], %r30;" + WAIT) == {Kind.COPY_SOURCE_CHANGED}


def test_the_latest_groups_may_be_left_unfinished() -> None:
    two = FILL + FENCE + BARRIER + STORE + COMMIT
    two += "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd30], [tile], 256;" + COMMIT
    wait = "@%p1 cp.async.bulk.wait_group {};" + BARRIER + "ld.global.b32 %r9, [{}];" + DONE
    assert found(two + wait.format(1, "%rd3")) == set()
    assert found(two + wait.format(1, "%rd2")) == {Kind.BULK_COPY_IN_FLIGHT}
    assert found(two + wait.format(2, "%rd3")) == {Kind.BULK_COPY_IN_FLIGHT}


def multicast(body: str, schedule: str) -> tuple[np.ndarray, list[Finding]]:
    """What two blocks of a cluster store that copy a tile to both of them, and the findings."""
    checks = make_checks()
    result, (_, got) = simulate(
        tensors.program(body),
        [np.arange(32, dtype=np.float32), np.zeros(2, np.float32)],
        grid=2,
        block=1,
        cluster=2,
        extra=tensors.tensor_map((32,), (8,)),
        hooks=checks,
        schedule=schedule,
    )
    assert result.error is None, result.error
    return got, findings_of(checks)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_blocks_of_a_cluster_wait_for_what_others_copy_to_them(schedule: str) -> None:
    got, findings = multicast(tensors.MULTICAST, schedule)
    assert got.tolist() == [9, 9]
    assert findings == []


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("start", "kinds"),
    [
        ("{init} {meet}", set()),
        ("{init} bar.sync 0;", {Kind.MBARRIER_NOT_READY}),
        ("{meet} {init} bar.sync 0;", {Kind.MBARRIER_NOT_READY}),
    ],
)
def test_an_mbarrier_is_initialised_before_another_block_copies_to_it(
    start: str, kinds: set[Kind], schedule: str
) -> None:
    meet = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
    init, _, copy = tensors.MULTICAST.partition(meet)
    _, findings = multicast(start.format(init=init, meet=meet) + copy, schedule)
    assert {finding.kind for finding in findings} == kinds


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_asynchronous_stores_to_another_block_are_in_order(schedule: str) -> None:
    checks = make_checks()
    store = "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r6], %r8, [%r7];"
    text = kernel(tensors.ASYNC.format(bytes=128, action=store, offset=0))
    result, _ = simulate(
        text, [np.zeros(64, np.uint32)], grid=2, block=32, cluster=2, hooks=checks, schedule=schedule
    )
    assert result.error is None, result.error
    assert findings_of(checks) == []


@pytest.mark.parametrize(("kind", "size"), [(0, 1), (6, 2), (7, 4), (8, 8)])
def test_boxes_of_any_elements_are_followed(kind: int, size: int) -> None:
    checks = make_checks()
    tensor = np.arange(256, dtype=np.uint8)
    text = tensors.program(tensors.LOAD.format(bytes=64, rank=1, at="0"))
    result, (_, out) = simulate(
        text,
        [tensor, np.zeros(64, np.uint8)],
        block=16,
        extra=tensors.tensor_map((256 // size,), (64 // size,), kind=kind, size=size),
        hooks=checks,
    )
    assert result.error is None, result.error
    assert out.tolist() == list(range(64))
    assert findings_of(checks) == []


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_blocks_may_add_to_one_address_by_copies(schedule: str) -> None:
    body = """
    mov.b32 %r1, tile; mad.lo.u32 %r1, %r30, 4, %r1; st.shared.b32 [%r1], %r30;
    fence.proxy.async.shared::cta; bar.sync 0; @!%p1 bra END;
    cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%rd1, {0}], [tile];
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
END:"""
    checks = make_checks()
    result, (got, _) = simulate(
        tensors.program(body),
        [np.zeros(32, np.uint32), np.zeros(1, np.uint32)],
        grid=4,
        block=32,
        extra=tensors.tensor_map((32,), (32,), kind=2),
        hooks=checks,
        schedule=schedule,
    )
    assert result.error is None, result.error
    assert got.tolist() == [4 * k for k in range(32)]
    assert findings_of(checks) == []


def test_a_race_shows_in_the_result_too() -> None:
    """Who reads too early finds what was there before."""
    text = kernel(START + LOAD + BARRIER + READ + WAIT, parameters=2, before=SHARED)
    arrays = [np.arange(THREADS, dtype=np.uint32), np.zeros(THREADS, np.uint32)]
    _, (_, out) = simulate(text, arrays, block=THREADS)
    assert set(out.tolist()) == {0x7FC0DEAD}


@pytest.mark.parametrize(("left", "seen"), [(0, 0), (1, 100)])
def test_only_groups_that_are_waited_for_are_over(left: int, seen: int) -> None:
    two = FILL + FENCE + BARRIER + STORE + COMMIT + STORE.replace("%rd31", "%rd30") + COMMIT
    early = f"@%p1 cp.async.bulk.wait_group {left};" + BARRIER + "ld.global.b32 %r9, [%rd2];" + BARRIER
    text = kernel(START + two + early + "st.global.b32 [%rd3], %r9;" + DONE, parameters=2, before=SHARED)
    numbers = np.arange(THREADS, dtype=np.uint32)
    _, (_, out) = simulate(text, [numbers + 100, numbers], block=THREADS)
    assert out.tolist() == (numbers + seen).tolist()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_an_exiting_thread_releases_to_its_cluster(schedule: str) -> None:
    first_ends = f"@!%p1 bra AFTER; {WAIT} exit; AFTER: barrier.cluster.arrive; barrier.cluster.wait;"
    assert found(LOAD + first_ends + READ, schedule) == set()


@pytest.mark.parametrize("size", ["0x10000000", "0xfffffff0"])
def test_a_copy_of_far_too_many_bytes_is_reported_and_not_performed(size: str) -> None:
    assert {Kind.OUTSIDE_SHARED, Kind.PAST_THE_END} <= found(FILL + FENCE + STORE.replace("256", size))


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("meet", ["", "bar.warp.sync -1;", BARRIER])
def test_threads_of_other_blocks_do_not_pass_completion_on(meet: str, schedule: str) -> None:
    one_does_not_wait = f"setp.eq.u32 %p4, %r32, 2; @%p4 bra AFTER; {WAIT} AFTER: {meet}"
    read = "ld.shared.b32 %r9, [%r5];"
    (race,) = (
        finding
        for finding in findings(LOAD + one_does_not_wait + read, schedule, grid=4)
        if finding.kind is Kind.BULK_COPY_IN_FLIGHT
    )
    assert race.count == THREADS
    assert race.parties[0].block[0] == race.parties[1].block[0] == 2
