"""Asynchronous operations end when they are waited for: copies by cp.async that arrive at an mbarrier, matrix
products of four warps, and the bytes that an mbarrier counts."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Check, Finding, Kind, Severity, render
from tooling.simulator.checks.suite import make_checks

SCHEDULES = ["lockstep", "random:1", "adversarial"]
SHARED = """.shared .align 8 .b8 gate[8];
.shared .align 128 .b8 room[4096];
"""


def findings(body: str, schedule: str = "lockstep", *, block: int = 64) -> list[Finding]:
    checks = make_checks(list(Check))
    text = kernel(body, parameters=2, before=SHARED)
    arrays = [np.arange(4096, dtype=np.uint32), np.zeros(4096, np.uint32)]
    simulate(text, arrays, block=block, hooks=checks, schedule=schedule)
    return [finding for check in checks for finding in check.findings]


def kinds(body: str, schedule: str = "lockstep", *, block: int = 64) -> set[Kind]:
    return {finding.kind for finding in findings(body, schedule, block=block)}


COPIES = """
    mov.b32 %r1, gate;
    mov.b32 %r2, room;
    setp.ne.b32 %p1, %r30, 0;
    @%p1 bra READY;
    mbarrier.init.shared.b64 [%r1], {arrivals};
READY:
    bar.sync 0;
    mul.lo.u32 %r3, %r30, 16;
    add.s32 %r4, %r2, %r3;
    cvt.u64.u32 %rd1, %r3;
    add.s64 %rd2, %rd30, %rd1;
    cp.async.ca.shared.global [%r4], [%rd2], 16;
    cp.async.mbarrier.arrive{noinc}.shared.b64 [%r1];
    {between}
    xor.b32 %r5, %r3, 1008;
    add.s32 %r6, %r2, %r5;
    {access}
    add.s64 %rd3, %rd31, %rd1;
    st.global.b32 [%rd3], %r7;
"""
"""Each of 64 threads copies 16 bytes, arrives at the mbarrier when they are there, and reads the bytes of a
thread in the other warp."""

READ = "ld.shared.b32 %r7, [%r6];"
WAIT = "ASK: mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 0;\n@!%p2 bra ASK;"
ONE_WAITS = f"@%p1 bra OVER;\n{WAIT}\nOVER:"


def copies(between: str, access: str = READ) -> str:
    return COPIES.format(arrivals=64, noinc=".noinc", between=between, access=access)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("between", "access", "found"),
    [
        (WAIT, READ, set()),
        (f"{ONE_WAITS}\nbar.sync 0;", READ, set()),
        ("cp.async.wait_all;\nbar.sync 0;", READ, set()),
        ("bar.sync 0;", READ, {Kind.COPY_IN_FLIGHT}),
        ("bar.sync 0;", "mov.b32 %r7, 0; st.shared.b32 [%r6], 5;", {Kind.COPY_IN_FLIGHT}),
        ("bar.sync 0;", "mov.b32 %r7, 0; st.global.b32 [%rd2], 5;", {Kind.SOURCE_IN_FLIGHT}),
        (WAIT, "mov.b32 %r7, 0; st.global.b32 [%rd2], 5;", set()),
    ],
    ids=["waits", "one-waits", "wait-all", "no-wait", "overwrites", "changes-source", "changes-source-late"],
)
def test_copies_that_arrive_at_an_mbarrier_end_where_its_phase_is_waited_for(
    between: str, access: str, found: set[Kind], schedule: str
) -> None:
    assert kinds(copies(between, access), schedule) == found


def test_a_thread_that_does_not_wait_must_not_read_its_own_copy() -> None:
    body = copies("", READ.replace("%r6", "%r4"))
    (finding,) = findings(body)
    assert (finding.kind, finding.count) == (Kind.COPY_IN_FLIGHT, 64)


def test_only_threads_that_have_observed_the_end_may_read() -> None:
    """Thread 0 waits after the barrier of the block, so that nothing orders the others after its wait."""
    found = findings(copies(f"bar.sync 0;\n{ONE_WAITS}"))
    assert {finding.kind for finding in found} == {Kind.COPY_IN_FLIGHT}
    assert sum(finding.count for finding in found) == 63


def test_an_arrival_that_counts_itself_ends_the_copies_as_well() -> None:
    """Without `.noinc` each thread arrives once more."""
    body = COPIES.format(
        arrivals=64,
        noinc="",
        between=f"mbarrier.arrive.shared.b64 %rd9, [%r1];\n{WAIT}",
        access=READ,
    )
    assert kinds(body) == set()
    assert kinds(body.replace(WAIT, "bar.sync 0;")) == {Kind.COPY_IN_FLIGHT}


PIPELINE = """
    mov.b32 %r1, gate;
    mov.b32 %r2, room;
    setp.ne.b32 %p1, %r30, 0;
    @%p1 bra READY;
    mbarrier.init.shared.b64 [%r1], 64;
READY:
    bar.sync 0;
    mul.lo.u32 %r3, %r30, 16;
    add.s32 %r4, %r2, %r3;
    cvt.u64.u32 %rd1, %r3;
    add.s64 %rd2, %rd30, %rd1;
    xor.b32 %r5, %r3, 1008;
    add.s32 %r6, %r2, %r5;
    mov.b32 %r8, 0;
    mov.b32 %r9, 0;
LOOP:
    cp.async.ca.shared.global [%r4], [%rd2], 16;
    cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];
    and.b32 %r10, %r8, 1;
ASK:
    mbarrier.test_wait.parity.shared.b64 %p2, [%r1], %r10;
    @!%p2 bra ASK;
    ld.shared.b32 %r7, [%r6];
    add.s32 %r9, %r9, %r7;
    {end}
    add.s32 %r8, %r8, 1;
    setp.lt.u32 %p3, %r8, 4;
    @%p3 bra LOOP;
    add.s64 %rd3, %rd31, %rd1;
    st.global.b32 [%rd3], %r9;
"""


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_pipeline_of_copies_may_use_its_memory_again(schedule: str) -> None:
    assert kinds(PIPELINE.format(end="bar.sync 0;"), schedule) == set()


def test_a_pipeline_must_not_overwrite_what_others_may_still_read() -> None:
    assert Kind.WRITE_AFTER_READ in kinds(PIPELINE.format(end=""), "random:1")


PRODUCT = """
    mov.b32 %r1, room;
    mov.b32 %r2, %r30;
FILL:
    mad.lo.u32 %r3, %r2, 4, %r1;
    st.shared.b32 [%r3], 0x3f803f80;
    add.u32 %r2, %r2, 128;
    setp.lt.u32 %p1, %r2, 1024;
    @%p1 bra FILL;
    {fence}
    bar.sync 0;
    shr.u32 %r4, %r1, 4;
    cvt.u64.u32 %rd1, %r4;
    add.s64 %rd2, %rd1, 0x1000080000;
    add.s64 %rd3, %rd1, 0x1000080080;
    mov.b32 %r10, 0; mov.b32 %r11, 0; mov.b32 %r12, 0; mov.b32 %r13, 0;
    setp.eq.u32 %p2, %r30, %r30;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16
        {{%r10, %r11, %r12, %r13}}, %rd2, %rd3, %p2, 1, 1, 0, 0;
    {more}
    wgmma.commit_group.sync.aligned;
    {before}
    wgmma.wait_group.sync.aligned {pending};
    {after}
    shl.b32 %r5, %r30, 2;
    cvt.u64.u32 %rd4, %r5;
    add.s64 %rd5, %rd31, %rd4;
    st.global.b32 [%rd5], %r10;
"""
"""Four warps write two matrices to shared memory and multiply them."""

FENCE = "fence.proxy.async.shared::cta;"
CHANGE = "mad.lo.u32 %r3, %r30, 4, %r1;\nst.shared.b32 [%r3], 7;"
AGAIN = """wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16
        {%r10, %r11, %r12, %r13}, %rd2, %rd3, %p2, 1, 1, 0, 0;"""
ZEROS = "mov.b32 %r20, 0; mov.b32 %r21, 0; mov.b32 %r22, 0; mov.b32 %r23, 0;"
WAITED = "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
SCALED = "mul.f32 %r12, %r12, 0f40000000;"
COPIED = "mov.b32 %r20, %r12;\nmov.b32 %r12, %r20;"
SECOND = f"wgmma.commit_group.sync.aligned;\n{AGAIN.replace('%r1', '%r2')}"


def product(fence: str = FENCE, before: str = "", after: str = "", pending: int = 0, more: str = "") -> str:
    return PRODUCT.format(fence=fence, before=before, after=after, pending=pending, more=more)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("body", "found"),
    [
        (product(), set()),
        (product(more=AGAIN), set()),
        (product(after=f"bar.sync 0;\n{CHANGE}"), set()),
        (product(before="mov.b32 %r20, %r10;"), set()),
        (product(more=f"{ZEROS}\n{SECOND}", pending=1), set()),
        (product(more=f"wgmma.fence.sync.aligned;\n{AGAIN}"), set()),
        (product(more=f"{WAITED}\n{SCALED}\nwgmma.fence.sync.aligned;\n{AGAIN}"), set()),
        (product(more=f"{WAITED}\n{COPIED}\n{AGAIN}"), set()),
        (product(more=f"{WAITED}\n{SCALED}\n{AGAIN}"), {Kind.PRODUCT_UNFENCED}),
        (product(more=f"{WAITED}\n{SCALED}\n{COPIED}\n{AGAIN}"), {Kind.PRODUCT_UNFENCED}),
        (product(fence=""), {Kind.PROXY_FENCE_MISSING}),
        (product().replace("wgmma.fence.sync.aligned;", ""), {Kind.PRODUCT_UNFENCED}),
        (product(before=CHANGE), {Kind.OPERAND_CHANGED}),
        (product(before=f"bar.sync 0;\n{CHANGE}"), {Kind.OPERAND_CHANGED}),
        (product(pending=1), {Kind.RESULT_IN_FLIGHT}),
        (product(before="add.f32 %r20, %r10, %r10;"), {Kind.RESULT_IN_FLIGHT}),
        (product(before="mov.b32 %r20, %r10; st.global.b32 [%rd31], %r20;"), {Kind.RESULT_IN_FLIGHT}),
    ],
    ids=[
        "right", "two-products", "changed-later", "moved-early", "an-older-group", "two-fences", "fenced",
        "copied", "scaled", "scaled and copied", "no-fence",
        "no-register-fence", "changed-early", "barrier-only", "no-wait", "added-early", "stored-early",
    ],
)  # fmt: skip
def test_a_matrix_product_ends_where_it_is_waited_for(body: str, found: set[Kind], schedule: str) -> None:
    got = kinds(body, schedule, block=128) - {Kind.SAME_INSTRUCTION}
    assert got == found


RELEASED = """
    mov.b32 %r6, gate;
    setp.ne.b32 %p3, %r30, 0;
    @%p3 bra READY;
    mbarrier.init.shared.b64 [%r6], {arrivals};
READY:
    {product}
    and.b32 %r7, %r30, {mask};
    setp.ne.b32 %p3, %r7, 0;
    @%p3 bra ARRIVED;
    mbarrier.arrive.shared.b64 %rd9, [%r6];
ARRIVED:
    setp.ne.b32 %p3, %r30, 0;
    @%p3 bra OVER;
ASK:
    mbarrier.test_wait.parity.shared.b64 %p2, [%r6], 0;
    @!%p2 bra ASK;
    st.shared.b32 [%r1+2048], 7;
OVER:
"""
"""The first thread of each warp, or of the first one alone, says that its warp has waited for the product.
Then an element of B changes, which all warps read."""


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("arrivals", "mask", "found"), [(4, 31, set()), (1, 127, {Kind.OPERAND_CHANGED})])
def test_each_warp_waits_for_its_own_part_of_a_product(
    arrivals: int, mask: int, found: set[Kind], schedule: str
) -> None:
    body = RELEASED.format(product=product(), arrivals=arrivals, mask=mask)
    assert kinds(body, schedule, block=128) - {Kind.SAME_INSTRUCTION} == found


def test_an_operand_outside_shared_memory_is_reported_as_such() -> None:
    """A distance of 8 KiB instead of 256 bytes between groups of rows, as of a descriptor in other units."""
    far = product().replace("0x1000080000;", "0x20000080000;", 1)
    (finding,) = findings(far, block=128)
    assert finding.kind is Kind.OUTSIDE_SHARED


def test_the_messages_of_products_say_what_to_call() -> None:
    (early,) = findings(product(pending=1), block=128)
    assert "a result of an asynchronous matrix product is used before the product is done" in render(early)
    assert "`wgmma_wait_group_sync()`" in render(early)
    (unfenced,) = findings(product(fence=""), block=128)
    assert "an asynchronous matrix product reads shared memory" in render(unfenced)
    (registers,) = findings(product().replace("wgmma.fence.sync.aligned;", ""), block=128)
    assert "an asynchronous matrix product starts without a fence for its registers" in render(registers)
    assert "found 128 times" in render(registers)


BYTES = """
    mov.b32 %r1, gate;
    mov.b32 %r2, room;
    setp.ne.b32 %p1, %r30, 0;
    @%p1 bra READY;
    mbarrier.init.shared.b64 [%r1], 1;
    {start}
READY:
    bar.sync 0;
ASK:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;
    @!%p2 bra ASK;
    shl.b32 %r5, %r30, 2;
    add.s32 %r6, %r2, %r5;
    ld.shared.b32 %r7, [%r6];
    cvt.u64.u32 %rd4, %r5;
    add.s64 %rd5, %rd31, %rd4;
    st.global.b32 [%rd5], %r7;
"""
COPY = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2{at}], [%rd30], {size}, [%r1];"
EXPECT = "mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r1], {};"


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("order", ["before", "after"])
@pytest.mark.parametrize(
    ("expected", "sizes", "wrong"),
    [(256, (256,), False), (128, (256,), True), (128, (128, 128), True), (256, (128, 128), False)],
)
def test_more_bytes_than_an_mbarrier_expects_are_an_error_under_every_schedule(
    expected: int, sizes: tuple[int, ...], wrong: bool, order: str, schedule: str
) -> None:
    moves = [COPY.format(at=f"+{128 * n}", size=size) for n, size in enumerate(sizes)]
    expect = EXPECT.format(expected)
    start = "\n".join([*moves, expect] if order == "after" else [expect, *moves])
    found = findings(BYTES.format(start=start), schedule)
    excess = [finding for finding in found if finding.kind is Kind.MBARRIER_BYTES]
    assert bool(excess) is wrong
    if not wrong:
        assert found == []
        return
    assert excess[0].severity is Severity.ERROR
    assert (excess[0].arrived, excess[0].expected) == (256, 128)
    assert "copies completed 256 bytes at an mbarrier that expected 128" in render(excess[0])
