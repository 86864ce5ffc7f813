"""Shuffles that take values from lanes that take no part: undefined (PTX ISA 9.7.9.6)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Check, Finding, Kind, explain
from tooling.simulator.checks.suite import make_checks

FIRST_HALF = "setp.ge.u32 %p1, %r30, 16; @%p1 bra END;"
FULL, HALF = "0xffffffff", "0x0000ffff"


def found(body: str, *, threads: int = 32, schedule: str = "lockstep") -> list[Finding]:
    checks = make_checks([Check.SYNCHRONISATION])
    text = kernel(f"mov.b32 %r1, %r30;\n{body}\nEND:")
    result, _ = simulate(text, [np.zeros(64, np.uint32)], block=threads, hooks=checks, schedule=schedule)
    assert result.error is None
    return [finding for check in checks for finding in check.findings]


def shuffle(mode: str, amount: int | str, mask: str = FULL, clamp: int = 31) -> str:
    return f"shfl.sync.{mode}.b32 %r2, %r1, {amount}, {clamp}, {mask};"


@pytest.mark.parametrize("schedule", ["lockstep", "adversarial", "random:3"])
@pytest.mark.parametrize(
    ("body", "threads", "lane", "mask"),
    [
        (FIRST_HALF + shuffle("idx", 20, HALF), 32, 20, 0xFFFF),
        (FIRST_HALF + shuffle("bfly", 16, HALF), 32, 16, 0xFFFF),
        (FIRST_HALF + shuffle("down", 16, HALF), 32, 16, 0xFFFF),
        (shuffle("idx", 20, HALF), 32, 20, 0xFFFF),
        (shuffle("idx", 9), 8, 9, 0xFF),
        (shuffle("down", 16), 16, 16, 0xFFFF),
        ("setp.ne.u32 %p1, %r30, 0; @%p1 bra END;" + shuffle("down", 1, "1"), 32, 1, 1),
    ],
)
def test_values_from_absent_lanes_alone_are_found(
    body: str, threads: int, lane: int, mask: int, schedule: str
) -> None:
    (finding,) = found(body, threads=threads, schedule=schedule)
    assert (finding.kind, finding.arrived, finding.expected) == (Kind.ABSENT_SOURCE, lane, mask)
    assert explain(finding).what == (
        f"a warp shuffle takes a value from lane {lane}, but only the lanes {mask:#010x} take part"
    )
    assert f"레인 {lane}에서" in explain(finding, "ko").what


@pytest.mark.parametrize("schedule", ["lockstep", "adversarial", "random:3"])
@pytest.mark.parametrize(
    ("body", "threads"),
    [
        ("\n".join(shuffle("down", step) for step in (16, 8, 4, 2, 1)), 64),
        ("\n".join(shuffle("bfly", step) for step in (16, 8, 4, 2, 1)), 64),
        ("\n".join(shuffle("up", step, clamp=0) for step in (1, 2, 4, 8, 16)), 64),
        ("\n".join(shuffle("up", step, clamp=0) for step in (1, 2, 4, 8, 16)), 40),
        ("\n".join(shuffle("down", step) for step in (8, 4, 2, 1)), 16),
        (FIRST_HALF + "\n".join(shuffle("down", step, HALF) for step in (8, 4, 2, 1)), 32),
        (FIRST_HALF + shuffle("idx", 7, HALF), 32),
        ("setp.ge.u32 %p1, %r30, 8; @%p1 bra END;" + shuffle("down", 16, "0xff", clamp=0x1807), 32),
        ("setp.ne.u32 %p1, %r30, 0; @%p1 bra END;" + shuffle("idx", 0, "1"), 32),
    ],
)
def test_unused_values_from_absent_lanes_are_not_reported(body: str, threads: int, schedule: str) -> None:
    assert found(body, threads=threads, schedule=schedule) == []


def test_exited_lanes_in_the_mask_are_reported_once() -> None:
    (finding,) = found(FIRST_HALF + shuffle("idx", 20))
    assert finding.kind is Kind.MISSING_LANE


SECOND_HALF_FIRST = "setp.lt.u32 %p1, %r30, 16; selp.b32 %r3, 0xffff0000, 0x0000ffff, %p1;"


@pytest.mark.parametrize("schedule", ["lockstep", "adversarial", "random:3"])
@pytest.mark.parametrize(
    ("operation", "lane", "count", "mask"),
    [
        (shuffle("idx", 0, HALF), 16, 16, 0xFFFF),
        ("bar.warp.sync 0x0000fffe;", 0, 17, 0xFFFE),
        ("vote.sync.ballot.b32 %r2, %p2, 0x0000ffff;", 16, 16, 0xFFFF),
        ("redux.sync.add.u32 %r2, %r1, 0x7fffffff;", 31, 1, 0x7FFFFFFF),
        (SECOND_HALF_FIRST + "match.any.sync.b32 %r2, %r1, %r3;", 0, 32, 0xFFFF0000),
    ],
)
def test_a_lane_outside_its_own_mask_is_found(
    operation: str, lane: int, count: int, mask: int, schedule: str
) -> None:
    (finding,) = found(operation, schedule=schedule)
    (party,) = finding.parties
    assert (finding.kind, finding.expected) == (Kind.OUTSIDE_MASK, mask)
    assert (party.lane, party.count) == (lane, count)
    assert explain(finding).what == (
        f"a lane executes a warp operation whose mask {mask:#010x} does not include it"
    )


@pytest.mark.parametrize("threads", [20, 32, 40])
def test_a_lane_inside_its_mask_is_not(threads: int) -> None:
    own = "mov.u32 %r3, 1; and.b32 %r2, %r30, 31; shl.b32 %r3, %r3, %r2; bar.warp.sync %r3;"
    for body in ("bar.warp.sync -1;", own, FIRST_HALF + "bar.warp.sync 0x0000ffff;"):
        assert found(body, threads=threads) == []
