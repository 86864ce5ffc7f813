"""A block may exit only after all remote accesses to its shared memory."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Action, Check, Finding, Kind
from tooling.simulator.checks.suite import make_checks

SCHEDULES = ["lockstep", "adversarial", "random:1", "random:2"]

PLACES = ".shared .align 16 .b8 tile[512];\n.shared .align 8 .b8 gate[16];"

START = """
    mov.b32 %r1, tile; mov.b32 %r5, gate; shl.b32 %r6, %r30, 2; add.u32 %r6, %r6, %r1;
    mov.u32 %r8, %cluster_ctarank; xor.b32 %r8, %r8, 1; setp.eq.u32 %p1, %r30, 0;
    mapa.shared::cluster.u32 %r15, %r6, %r8;
    mapa.shared::cluster.u32 %r16, %r5, %r8;
    @%p1 mbarrier.init.shared.b64 [%r5], {arrivals};
    @%p1 st.shared.b32 [%r5+8], 0;
    fence.mbarrier_init.release.cluster;
    st.shared.b32 [%r6], %r30;
    fence.proxy.async.shared::cta;
"""
"""%r6 and %r5: a word and an mbarrier of the block's own; %r15 and %r16: the same of the other block."""

MEET = "barrier.cluster.arrive; barrier.cluster.wait;"
WRITE = "st.shared::cluster.b32 [%r15+256], %r30;"
ARRIVE = "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r16];"
WAIT = "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r5], 0; @!%p2 bra WAIT;"
PUSH = """
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 256;
    barrier.cluster.arrive; barrier.cluster.wait;
    mapa.shared::cluster.u32 %r17, %r1, %r8;
    add.u32 %r17, %r17, 256;
    @%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r17], [%r1], 256, [%r16];
"""
RAISE = "bar.sync 0; @%p1 st.release.cluster.shared::cluster.b32 [%r16+8], 1;"
SEE = "SEE: ld.acquire.cluster.shared.b32 %r9, [%r5+8]; setp.ne.u32 %p2, %r9, 1; @%p2 bra SEE;"
LEAVE = "@%p1 bra LAST; ret; LAST:"
"""All but the first thread of the block end."""


def gone(body: str, schedule: str, arrivals: int = 64, grid: int = 2) -> list[Finding]:
    checks = make_checks([Check.SYNCHRONISATION])
    text = kernel(START.format(arrivals=arrivals) + body, before=PLACES)
    result, _ = simulate(
        text, [np.zeros(64, np.uint32)], grid=grid, block=64, cluster=2, hooks=checks, schedule=schedule
    )
    assert result.error is None
    found = [finding for check in checks for finding in check.findings]
    return [finding for finding in found if finding.kind is Kind.CLUSTER_BLOCK_GONE]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("body", "arrivals"),
    [
        pytest.param(MEET + WRITE + MEET, 64, id="the-cluster-meets"),
        pytest.param(MEET + WRITE + ARRIVE + WAIT, 64, id="visitors-arrive"),
        pytest.param(MEET + WRITE + "bar.sync 0; @%p1 " + ARRIVE + WAIT, 1, id="one-arrives-for-all"),
        pytest.param(MEET + WRITE + ARRIVE + LEAVE + WAIT, 64, id="the-last-thread-waits"),
        pytest.param(PUSH + WAIT, 1, id="a-copy-is-counted"),
        pytest.param(MEET + WRITE + RAISE + SEE, 64, id="a-flag-is-raised"),
    ],
)
def test_a_block_ordered_after_remote_accesses_may_exit(body: str, arrivals: int, schedule: str) -> None:
    assert not gone(body, schedule, arrivals)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("body", "arrivals"),
    [
        pytest.param(MEET + WRITE, 64, id="nobody-tells"),
        pytest.param(MEET + WRITE + ARRIVE, 64, id="the-block-does-not-wait"),
        pytest.param(MEET + ARRIVE + WRITE + WAIT, 64, id="a-use-after-the-arrival"),
        pytest.param(MEET + RAISE + WRITE + SEE, 64, id="a-use-after-the-flag"),
        pytest.param(
            MEET + WRITE + "@%p1 mbarrier.arrive.shared.b64 _, [%r5];" + WAIT, 1, id="others-arrive"
        ),
    ],
)
def test_a_block_not_ordered_after_remote_accesses_is_found(body: str, arrivals: int, schedule: str) -> None:
    (finding,) = gone(body, schedule, arrivals)
    assert [party.action for party in finding.parties] == [Action.WRITE, Action.EXIT]


def test_another_cluster_does_not_order_accesses() -> None:
    others_meet = f"setp.lt.u32 %p2, %r32, 2; @%p2 bra OUT; {MEET} OUT:"
    (finding,) = gone(MEET + WRITE + others_meet, "lockstep", grid=4)
    assert {party.block[0] for party in finding.parties} == {0, 1}
