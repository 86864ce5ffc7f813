"""Synchronisation and its failures: barriers with a count, waiting loops, blocks of a cluster."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Check, Finding, Kind, explain
from tooling.simulator.checks.suite import make_checks

SCHEDULES = ["lockstep", "random:4", "adversarial"]
LATE_ONES = "setp.ge.u32 %p1, %r30, 32; @%p1 bra END;"
REMOTE = """
    mov.u32 %r1, tile; st.shared.b32 [%r1], %r30;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    mov.u32 %r2, %cluster_ctarank; add.u32 %r2, %r2, 1; mapa.shared::cluster.u32 %r3, %r1, %r2;
    ld.shared::cluster.b32 %r4, [%r3];
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
"""


def found(
    body: str,
    check: Check,
    *,
    schedule: str = "lockstep",
    before: str = "",
    blocks: int = 1,
    cluster: int = 1,
) -> list[Finding]:
    checks = make_checks([check])
    text = kernel(body, before=before)
    simulate(
        text, [np.zeros(128, np.uint32)], grid=blocks, block=128, cluster=cluster, hooks=checks,
        schedule=schedule,
    )  # fmt: skip
    return [finding for check in checks for finding in check.findings]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_barrier_for_some_threads_misses_none_that_returned(schedule: str) -> None:
    assert found(f"{LATE_ONES}\nbar.sync 1, 32;\nEND:", Check.SYNCHRONISATION, schedule=schedule) == []


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_barrier_for_more_threads_than_arrive_reports_the_arrivals(schedule: str) -> None:
    (finding,) = found(f"{LATE_ONES}\nbar.sync 1, 96;\nEND:", Check.SYNCHRONISATION, schedule=schedule)
    assert (finding.kind, finding.expected, finding.arrived) == (Kind.SHORT_BARRIER, 96, 32)
    assert explain(finding).what.startswith("32 threads wait at a barrier that is meant for 96")
    assert "96" in explain(finding, "ko").what


def test_one_call_of_a_library_is_one_finding_however_many_barriers_it_holds() -> None:
    body = f"{LATE_ONES}\n.loc 1 7 5\nbar.sync 0;\nbar.sync 0;\n.loc 1 8 5\nbar.sync 0;\nEND:"
    findings = found(body, Check.SYNCHRONISATION, before='.file 1 "lines.mojo"')
    assert [(finding.parties[0].position.line, finding.count) for finding in findings] == [(7, 2), (8, 1)]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_lock_released_after_the_loop_is_reported_as_a_waiting_loop(schedule: str) -> None:
    body = """
    TAKE:
    atom.global.cas.b32 %r1, [%rd30], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra TAKE;
    bar.warp.sync 0xffffffff;
    st.global.b32 [%rd30], 0;
    """
    (finding,) = found(body, Check.SYNCHRONISATION, schedule=schedule)
    assert finding.kind is Kind.ENDLESS_WAIT
    assert "release a lock inside the `if`" in explain(finding).hint


@pytest.mark.parametrize(("blocks", "cluster", "rank"), [(4, 2, 2), (1, 1, 1)])
def test_a_rank_that_no_block_of_the_cluster_has_is_named(blocks: int, cluster: int, rank: int) -> None:
    before = ".shared .align 4 .b8 tile[4];"
    (finding,) = found(REMOTE, Check.MEMORY, before=before, blocks=blocks, cluster=cluster)
    assert (finding.kind, finding.expected, finding.arrived) == (Kind.OUTSIDE_CLUSTER, cluster, rank)
    assert explain(finding).what == (
        f"read of 4 bytes in the shared memory of block {rank} of a cluster of {cluster}"
    )
    assert f"블록 {rank}의" in explain(finding, "ko").what


def test_an_index_far_outside_is_not_a_rank_without_a_cluster() -> None:
    body = "mov.u32 %r1, tile; add.u32 %r1, %r1, 0x4000000; ld.shared.b32 %r2, [%r1];"
    (finding,) = found(body, Check.MEMORY, before=".shared .align 4 .b8 tile[4];")
    assert finding.kind is Kind.OUTSIDE_SHARED


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_thread_that_did_not_wait_for_its_cluster_is_named(schedule: str) -> None:
    body = "barrier.cluster.arrive;\nsetp.ne.u32 %p1, %r30, 0; @%p1 bra END;\nbarrier.cluster.wait;\nEND:"
    (finding,) = found(body, Check.SYNCHRONISATION, schedule=schedule, blocks=2, cluster=2)
    (party,) = finding.parties
    assert (finding.kind, finding.arrived) == (Kind.CLUSTER_WAIT_MISSING, 254)
    assert (party.thread, party.block, party.count) == ((1, 0, 0), (0, 0, 0), 254)
