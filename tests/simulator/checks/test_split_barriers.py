"""Barriers in two halves: an arrival announces what its thread did before it, and nothing after it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Check, Kind
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.gpu.launch import Dim3

THREADS = 64
SCHEDULES = ["lockstep", "random:1", "random:2", "adversarial"]
SHARED = ".shared .align 8 .b8 gate[8];\n.shared .align 4 .b8 cell[4];"
RACES = {Kind.READ_AFTER_WRITE, Kind.WRITE_AFTER_READ}

ARRIVE, WAIT = "barrier.cluster.arrive.aligned;", "barrier.cluster.wait.aligned;"
RELAXED = "barrier.cluster.arrive.relaxed.aligned;"
SYNC = f"{ARRIVE} {WAIT}"
FENCE = "fence.acq_rel.cluster;"
INTO_CLUSTER = """
    mov.b32 %r1, cell; mov.u32 %r2, %cluster_ctarank;
    setp.eq.u32 %p1, %r2, 1; setp.eq.u32 %p2, %r30, 5; and.pred %p1, %p1, %p2;
    setp.eq.u32 %p2, %r2, 0; setp.eq.u32 %p3, %r30, 40; and.pred %p2, %p2, %p3;
    mapa.shared::cluster.u32 %r3, %r1, 1;
    {steps}
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
"""
"""Thread 5 of block 1 writes its element, thread 40 of block 0 reads it."""

WRITE = "@%p1 st.shared.b32 [%r1], 7;"
READ = "@%p2 ld.shared::cluster.b32 %r4, [%r3];"


def kinds(text: str, *, grid: Dim3 | int = 1, cluster: Dim3 | int = 1, schedule: str) -> set[Kind]:
    checks = make_checks([Check.RACES])
    result, _ = simulate(
        text, [np.zeros(THREADS, np.uint32)], grid=grid, block=THREADS, cluster=cluster, hooks=checks,
        schedule=schedule,
    )  # fmt: skip
    assert result.error is None
    return {finding.kind for check in checks for finding in check.findings}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("steps", "races"),
    [
        ([WRITE, SYNC, READ], False),
        ([WRITE, ARRIVE, WAIT, READ], False),
        ([ARRIVE, WRITE, WAIT, READ], True),
        ([ARRIVE, WRITE, WAIT, SYNC, READ], False),
        ([SYNC, ARRIVE, WRITE, WAIT, READ], True),
        ([SYNC, WRITE, "@%p1 exit;", SYNC, READ], False),
        ([WRITE, ARRIVE, READ, WAIT], True),
        ([READ, ARRIVE, WRITE, WAIT], True),
        ([READ, ARRIVE, WAIT, WRITE], False),
        ([WRITE, RELAXED, WAIT, READ], True),
        ([WRITE, RELAXED, WAIT, SYNC, READ], False),
        ([WRITE, FENCE, RELAXED, WAIT, READ], False),
        ([FENCE, WRITE, RELAXED, WAIT, READ], True),
        ([WRITE, "fence.acq_rel.cta;", RELAXED, WAIT, READ], True),
        ([WRITE, "fence.mbarrier_init.release.cluster;", RELAXED, WAIT, READ], True),
        ([WRITE, "bar.sync 0;", FENCE, RELAXED, WAIT, READ], False),
    ],
)
def test_the_barrier_of_a_cluster_orders_what_comes_before_an_arrival(
    steps: list[str], races: bool, schedule: str
) -> None:
    text = kernel(INTO_CLUSTER.format(steps="\n".join(steps)), before=SHARED)
    found = kinds(text, grid=4, cluster=2, schedule=schedule)
    assert bool(found) == races
    assert found <= RACES


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    "meet", ["bar.sync 0;", "bar.sync 1, 64;", "bar.warp.sync 0xffffffff;", "bar.warp.sync 0x60;"]
)
@pytest.mark.parametrize("late", [False, True])
def test_a_thread_synchronised_with_the_writer_releases_its_write(
    meet: str, late: bool, schedule: str
) -> None:
    """Thread 5 arrives, writes and synchronises with thread 6, whose arrival then releases the write."""
    only = "setp.eq.u32 %p4, %r30, 6;"
    mask = "and.b32 %r6, %r30, 0x7e; setp.eq.u32 %p6, %r30, 5; or.pred %p6, %p6, %p4;"
    guarded = f"@%p6 {meet}" if meet.endswith("0x60;") else meet
    steps = [only, mask, f"@!%p4 {ARRIVE.replace('.aligned', '')}", WRITE]
    steps += [guarded] if not late else []
    steps += [f"@%p4 {ARRIVE.replace('.aligned', '')}"]
    steps += [guarded] if late else []
    steps += [WAIT, READ]
    text = kernel(INTO_CLUSTER.format(steps="\n".join(steps)), before=SHARED)
    assert bool(kinds(text, grid=2, cluster=2, schedule=schedule)) == late


def test_clusters_in_two_dimensions_are_separate() -> None:
    body = f"""
        mov.b32 %r1, cell; st.shared.b32 [%r1], 7;
        {ARRIVE} {WAIT}
        mov.u32 %r2, %cluster_ctarank; xor.b32 %r2, %r2, 1; mapa.shared::cluster.u32 %r3, %r1, %r2;
        ld.shared::cluster.b32 %r4, [%r3];
        {ARRIVE} {WAIT}
    """
    text = kernel(body, before=SHARED)
    assert kinds(text, grid=Dim3(4, 4), cluster=Dim3(2, 2), schedule="lockstep") == set()


@pytest.mark.parametrize("schedule", ["lockstep", "random:1"])
def test_a_cluster_barrier_passes_on_what_a_block_acquired_from_another_cluster(
    schedule: str,
) -> None:
    """Block 0 writes and raises a flag, block 2 sees it, block 3 reads after the barrier of both."""
    body = f"""
        setp.eq.u32 %p1, %r32, 0; setp.eq.u32 %p2, %r30, 0; and.pred %p1, %p1, %p2;
        setp.eq.u32 %p3, %r32, 2; and.pred %p3, %p3, %p2;
        setp.eq.u32 %p4, %r32, 3; and.pred %p4, %p4, %p2;
        @%p1 st.global.b32 [%rd30+8], 7;
        @%p1 fence.acq_rel.gpu;
        @%p1 atom.global.exch.b32 %r5, [%rd30], 1;
        @!%p3 bra MEET;
    ASK:
        atom.global.or.b32 %r6, [%rd30], 0; setp.eq.u32 %p5, %r6, 0; @%p5 bra ASK;
        fence.acq_rel.gpu;
    MEET:
        {ARRIVE} {WAIT}
        @%p4 ld.global.b32 %r7, [%rd30+8];
    """
    assert kinds(kernel(body), grid=4, cluster=2, schedule=schedule) == set()


NAMED = """
    mov.b32 %r1, cell;
    setp.eq.u32 %p1, %r30, 5; setp.eq.u32 %p2, %r30, 40; setp.ge.u32 %p3, %r30, 32;
    @%p3 bra WAITS;
    {first}
    {end}
WAITS:
    bar.sync 1, 64;
    @%p2 ld.shared.b32 %r4, [%r1];
END:
"""


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("end", ["bra END;", "ret;"])
@pytest.mark.parametrize(
    ("first", "races"),
    [(["bar.arrive 1, 64;", WRITE], True), ([WRITE, "bar.arrive 1, 64;"], False)],
)
def test_a_named_barrier_orders_what_comes_before_an_arrival(
    first: list[str], races: bool, end: str, schedule: str
) -> None:
    text = kernel(NAMED.format(first="\n".join(first), end=end), before=SHARED)
    assert bool(kinds(text, schedule=schedule)) == races


GATE = """
    mov.b32 %r1, cell; mov.b32 %r5, gate;
    setp.eq.u32 %p1, %r30, 5; setp.eq.u32 %p2, %r30, 40; setp.ge.u32 %p3, %r30, 32;
    setp.eq.u32 %p4, %r30, 0;
    @%p4 mbarrier.init.shared.b64 [%r5], 32;
    bar.sync 0;
    @%p3 bra WAITS;
    {first}
    bra END;
WAITS:
    mbarrier.try_wait.parity.shared.b64 %p5, [%r5], 0; @!%p5 bra WAITS;
    @%p2 ld.shared.b32 %r4, [%r1];
END:
"""
AT_GATE = "mbarrier.arrive.shared.b64 %rd1, [%r5];"


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("first", "races"),
    [
        ([WRITE, AT_GATE], False),
        ([WRITE, "mbarrier.arrive_drop.shared.b64 %rd1, [%r5];"], False),
        ([AT_GATE, WRITE], True),
    ],
)
def test_an_mbarrier_orders_what_comes_before_an_arrival(
    first: list[str], races: bool, schedule: str
) -> None:
    assert bool(kinds(kernel(GATE.format(first="\n".join(first)), before=SHARED), schedule=schedule)) == races


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_an_arrival_for_the_next_phase_is_not_acquired_by_waits_for_this_one(
    schedule: str,
) -> None:
    """All but one lane arrive for the next phase, so that it stays under way."""
    first = [AT_GATE, WRITE, "setp.ne.u32 %p6, %r30, 9;", f"@%p6 {AT_GATE}"]
    assert kinds(kernel(GATE.format(first="\n".join(first)), before=SHARED), schedule=schedule)


LOADED = """
    mov.b32 %r1, cell; mov.b32 %r5, gate;
    setp.eq.u32 %p1, %r30, 0;
    @%p1 mbarrier.init.shared.b64 [%r5], 1;
    bar.sync 0;
    @!%p1 bra WAITED;
    mbarrier.arrive.expect_tx.shared.b64 %rd1, [%r5], 16;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd30], 16, [%r5];
    {first}
WAITS:
    mbarrier.try_wait.parity.shared.b64 %p5, [%r5], 0; @!%p5 bra WAITS;
    @%p1 bra GO;
WAITED:
    barrier.cluster.arrive;
GO:
    {last}
    barrier.cluster.wait;
    ld.shared.b32 %r4, [%r1];
    barrier.cluster.arrive; barrier.cluster.wait;
"""
"""Thread 0 loads elements and waits for them, before or after it arrives."""


@pytest.mark.parametrize("schedule", ["lockstep", "adversarial"])
@pytest.mark.parametrize(("early", "races"), [(True, {Kind.BULK_COPY_IN_FLIGHT}), (False, set())])
def test_a_thread_that_observed_a_copy_before_arriving_releases_its_completion(
    early: bool, races: set[Kind], schedule: str
) -> None:
    arrive = "barrier.cluster.arrive;"
    body = LOADED.format(first=arrive if early else "", last="" if early else f"@%p1 {arrive}")
    shared = SHARED.replace("4 .b8 cell[4]", "16 .b8 cell[16]")
    assert kinds(kernel(body, before=shared), grid=2, cluster=2, schedule=schedule) == races
