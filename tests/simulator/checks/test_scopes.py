"""Strong accesses whose scope excludes the other thread are not morally strong and race (PTX ISA 8.7.1)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.simulator.checks.launches import HandLaunch, instruction
from tests.simulator.helpers import findings_of
from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.bulk_copies import BulkCopyCheck
from tooling.simulator.checks.findings import Finding, Kind, explain
from tooling.simulator.checks.footprint import Footprints
from tooling.simulator.checks.races import RaceCheck
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.gpu.hooks import AccessKind, Space
from tooling.simulator.gpu.launch import Dim3

ADD = "atom.relaxed.{scope}.global.add.u32 %r5, [%rd30], 1;"
REDUCE = "red.relaxed.{scope}.global.add.u32 [%rd30], 1;"
STORE = "st.relaxed.{scope}.global.b32 [%rd30], 1;"
LOAD = "ld.relaxed.{scope}.global.b32 %r6, [%rd30];"
VOLATILE, DEFAULT = "ld.volatile.global.b32 %r6, [%rd30];", "red.global.add.u32 [%rd30], 1;"
TURNS = """
    setp.ne.u32 %p1, %r32, 0; @%p1 bra OTHER; {first} bra END;
    OTHER: {second}
    END:
"""
"""Block 0 performs one access, block 1 another."""


def run(
    body: str, *, blocks: int = 2, block: int = 1, cluster: int = 1, schedule: str = "lockstep"
) -> tuple[int, list[Finding]]:
    """The first element of the buffer afterwards, and what the checks found."""
    checks = make_checks()
    result, (out,) = simulate(
        kernel(body), [np.zeros(4, np.uint32)], grid=blocks, block=block, cluster=cluster, hooks=checks,
        schedule=schedule,
    )  # fmt: skip
    assert result.error is None
    return int(out[0]), findings_of(checks)


@pytest.mark.parametrize("schedule", ["lockstep", "random:4", "adversarial"])
@pytest.mark.parametrize(("scope", "found"), [("cta", 1), ("gpu", 0), ("sys", 0)])
@pytest.mark.parametrize("form", [ADD, REDUCE])
def test_blocks_that_update_one_element_need_a_scope_with_both(
    form: str, scope: str, found: int, schedule: str
) -> None:
    total, findings = run(form.format(scope=scope), blocks=3, block=4, schedule=schedule)
    assert total == 12
    assert [finding.kind for finding in findings] == [Kind.NARROW_SCOPE] * found


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        (ADD.format(scope="cta"), ADD.format(scope="gpu"), True),
        (ADD.format(scope="gpu"), ADD.format(scope="cta"), True),
        (REDUCE.format(scope="cta"), LOAD.format(scope="gpu"), True),
        (LOAD.format(scope="cta"), STORE.format(scope="sys"), True),
        (STORE.format(scope="gpu"), VOLATILE, False),
        (STORE.format(scope="cta"), VOLATILE, True),
        (DEFAULT, REDUCE.format(scope="cta"), True),
        (DEFAULT, LOAD.format(scope="gpu"), False),
        (LOAD.format(scope="cta"), LOAD.format(scope="cta"), False),
        (STORE.format(scope="cluster"), LOAD.format(scope="gpu"), True),
    ],
)
def test_one_access_with_a_narrow_scope_is_enough(first: str, second: str, found: bool) -> None:
    _, findings = run(TURNS.format(first=first, second=second))
    assert [finding.kind for finding in findings] == [Kind.NARROW_SCOPE] * found
    assert all(finding.parties[0].block != finding.parties[1].block for finding in findings)


@pytest.mark.parametrize("form", [ADD, REDUCE])
def test_threads_of_one_block_may_use_its_scope(form: str) -> None:
    assert run(form.format(scope="cta"), blocks=1, block=64) == (64, [])


@pytest.mark.parametrize(("blocks", "found"), [(2, 0), (4, 1)])
def test_the_scope_of_a_cluster_includes_its_blocks_only(blocks: int, found: int) -> None:
    total, findings = run(REDUCE.format(scope="cluster"), blocks=blocks, cluster=2)
    assert total == blocks
    assert [finding.kind for finding in findings] == [Kind.NARROW_SCOPE] * found


def test_a_later_update_of_the_same_block_does_not_hide_the_narrow_one() -> None:
    first = f"""setp.ne.u32 %p2, %r30, 0; @%p2 bra WIDE; {REDUCE.format(scope="cta")} bra END;
    WIDE: setp.ne.u32 %p2, %r30, 32; @%p2 bra END; {REDUCE.format(scope="gpu")}"""
    _, findings = run(TURNS.format(first=first, second=REDUCE.format(scope="gpu")), block=64)
    assert [finding.kind for finding in findings] == [Kind.NARROW_SCOPE]
    assert [(party.block[0], party.thread[0]) for party in findings[0].parties] in (
        [(1, 0), (0, 0)],
        [(0, 0), (1, 63)],
    )


def test_the_message_says_what_to_leave_out() -> None:
    _, (finding,) = run("\n" + REDUCE.format(scope="cta"))
    message = explain(finding)
    assert message.what == (
        "race on global memory: threads of two blocks access one address at a scope that does not include "
        "both"
    )
    assert message.where == (
        "PTX:17: thread (0, 0, 0) of block (0, 0, 0) updates atomically",
        "PTX:17: thread (0, 0, 0) of block (1, 0, 0) updates atomically",
    )
    assert message.why == (
        "At the scope of a block (`.cta` in PTX) or of a cluster an operation is atomic only for the threads "
        "of that block or cluster: on hardware an update by the other block may be lost, or an old value "
        "read."
    )
    assert message.hint == (
        "Leave out `scope=`, as in `Atomic.fetch_add(…)`: then the scope includes all threads. Or give each "
        "block its own element."
    )


BLOCKS, THREADS, CELLS = 3, 2, 2
FORMS = {True: "red.cta.global.add.u32", False: "red.gpu.global.add.u32"}
updates = st.tuples(
    st.booleans(),
    st.dictionaries(st.integers(0, BLOCKS * THREADS - 1), st.integers(0, CELLS - 1), min_size=1),
)


@given(st.lists(updates, max_size=6))
def test_updates_race_if_and_only_if_two_blocks_meet_and_one_has_a_narrow_scope(
    steps: list[tuple[bool, dict[int, int]]],
) -> None:
    check = RaceCheck(Footprints(), BulkCopyCheck())
    body = [instruction(10, form) for form in FORMS.values()]
    hand = HandLaunch([check], grid=Dim3(BLOCKS), block=Dim3(THREADS), body=body)
    out = hand.buffer(4 * CELLS)
    hand.begin()
    history: list[tuple[int, int, bool]] = []
    for narrow, cells in steps:
        who = sorted(cells)
        where = [out.base + 4 * cells[thread] for thread in who]
        hand.access(AccessKind.ATOMIC, who, where, 10, space=Space.GLOBAL, form=FORMS[narrow])
        history += [(thread // THREADS, cells[thread], narrow) for thread in who]
    races = any(
        block != other and cell == other_cell and (narrow or also)
        for number, (block, cell, narrow) in enumerate(history)
        for other, other_cell, also in history[:number]
    )
    assert bool(check.findings) == races
    assert {finding.kind for finding in check.findings} <= {Kind.NARROW_SCOPE}
