"""Lanes of one warp with different masks: each mask is an operation of its own (PTX ISA 9.7.13).

The values are those of an H200 for the same instructions.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.helpers import findings_of
from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Check, Kind
from tooling.simulator.checks.suite import make_checks

HALVES = "setp.lt.u32 %p1, %r30, 16; selp.b32 %r4, 0xffff, 0xffff0000, %p1;"
ALL_OR_HALF = "setp.lt.u32 %p1, %r30, 16; selp.b32 %r4, 0xffff, 0xffffffff, %p1;"
EQUAL_KEYS = "and.b32 %r2, %r30, 3; match.any.sync.b32 %r4, %r2, -1;"
STORE = "shl.b32 %r9, %r30, 2; cvt.u64.u32 %rd1, %r9; add.s64 %rd1, %rd30, %rd1; st.global.u32 [%rd1], %r1;"
LOW, HIGH = [0xFFFF] * 16, [0xFFFF0000] * 16

CASES = {
    "redux": ("redux.sync.add.u32 %r1, 1, %r4;", [16] * 32),
    "ballot": ("setp.eq.u32 %p2, %r30, %r30; vote.sync.ballot.b32 %r1, %p2, %r4;", LOW + HIGH),
    "all": ("vote.sync.all.pred %p2, %p1, %r4; selp.u32 %r1, 1, 0, %p2;", [1] * 16 + [0] * 16),
    "any": ("vote.sync.any.pred %p2, %p1, %r4; selp.u32 %r1, 1, 0, %p2;", [1] * 16 + [0] * 16),
    "uni": ("vote.sync.uni.pred %p2, %p1, %r4; selp.u32 %r1, 1, 0, %p2;", [1] * 32),
    "match any": ("match.any.sync.b32 %r1, 7, %r4;", LOW + HIGH),
    "match all": ("selp.b32 %r5, 3, 4, %p1; match.all.sync.b32 %r1|%p2, %r5, %r4;", LOW + HIGH),
    "elect": ("elect.sync %r1|%p2, %r4;", [0] * 16 + [16] * 16),
}


def results(body: str) -> list[int]:
    """%r1 of the 32 lanes of a warp after the body."""
    result, (after,) = simulate(kernel(body + STORE), [np.zeros(32, np.uint32)])
    assert result.error is None
    return [int(value) for value in after]


@pytest.mark.parametrize("masks", [HALVES, ALL_OR_HALF])
@pytest.mark.parametrize("case", CASES)
def test_lanes_with_the_same_mask_work_together(case: str, masks: str) -> None:
    text, expected = CASES[case]
    assert results(masks + text) == expected


def test_a_reduction_over_the_lanes_with_the_same_key_sums_these_alone() -> None:
    sums = [sum(range(key, 32, 4)) for key in range(4)]
    assert sums == [0x70, 0x78, 0x80, 0x88]
    assert results(EQUAL_KEYS + "redux.sync.add.u32 %r1, %r30, %r4;") == sums * 8


def test_a_ballot_over_the_lanes_with_the_same_key_has_these_alone() -> None:
    vote = "setp.gt.u32 %p2, %r30, 15; vote.sync.ballot.b32 %r1, %p2, %r4;"
    assert results(EQUAL_KEYS + vote) == [0x11110000, 0x22220000, 0x44440000, 0x88880000] * 8


def test_a_shuffle_from_a_lane_of_the_other_mask_is_found() -> None:
    checks = make_checks([Check.SYNCHRONISATION])
    text = kernel(HALVES + "shfl.sync.idx.b32 %r1, %r30, 20, 31, %r4;")
    result, _ = simulate(text, [np.zeros(32, np.uint32)], hooks=checks)
    assert result.error is None
    (finding,) = findings_of(checks)
    assert (finding.kind, finding.arrived, finding.expected) == (Kind.ABSENT_SOURCE, 20, 0xFFFF)
    assert [party.count for party in finding.parties] == [16]
