"""Loads that a compiler has moved to where some lanes do not use the value: only a use is a read.

`data/moved_loads` has kernels as Mojo 1.2.0 compiles them: one thread keeps the maximum of 40 numbers in
shared memory, or their sum.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Check, Finding, Kind
from tooling.simulator.checks.suite import make_checks

DATA = Path(__file__).parents[1] / "data" / "moved_loads"
SCHEDULES = ["lockstep", "random:1", "adversarial"]
SHARED = ".shared .align 8 .b8 cells[512];"


def findings(text: str, arrays: list[object], schedule: str, extra: bytes = b"") -> list[Finding]:
    checks = make_checks(list(Check))
    given = [np.full(64, 2, np.float32) if array is None else np.asarray(array) for array in arrays]
    result, _ = simulate(text, given, block=64, hooks=checks, schedule=schedule, extra=extra)
    assert result.error is None
    return [finding for check in checks for finding in check.findings]


def found(body: str, schedule: str = "lockstep") -> list[tuple[Kind, int, int]]:
    """Kind, count and first thread of the findings in a block of 64 threads."""
    return [
        (finding.kind, finding.count, finding.parties[0].thread[0])
        for finding in findings(kernel(body, before=SHARED), [np.zeros(64, np.uint32)], schedule)
    ]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", ["keeps_maximum", "adds_in_loop"])
def test_what_only_one_thread_uses_is_not_read_by_others(name: str, schedule: str) -> None:
    text = (DATA / f"{name}.ptx").read_text()
    assert findings(text, [None, None], schedule, (40).to_bytes(4, "little")) == []


def test_a_kernel_without_the_barrier_still_races() -> None:
    text = (DATA / "adds_in_loop.ptx").read_text().replace("bar.sync \t0;", "")
    assert "bar.sync" not in text
    kinds = {each.kind for each in findings(text, [None, None], "lockstep", (40).to_bytes(4, "little"))}
    assert Kind.READ_AFTER_WRITE in kinds


ALL_LOAD = """
    setp.eq.u32 %p1, %r30, 0;
    ld.shared.b32 %r1, [cells];
    {between}
    @!%p1 bra AFTER;
    {one}
AFTER:
    {all}
    shl.b32 %r9, %r30, 2;
    cvt.u64.u32 %rd1, %r9;
    add.s64 %rd2, %rd30, %rd1;
    st.global.b32 [%rd2], %r8;
"""
"""All threads load a cell that was never written; what they do with the value differs."""

UNWRITTEN = Kind.UNWRITTEN_READ
CONDITION = "setp.gt.u32 %p2, %r1, 3; {}.pred %p3, %p1, %p2; selp.b32 %r8, 1, 2, %p3;"


@pytest.mark.parametrize(
    ("between", "one", "every", "expected"),
    [
        ("mov.b32 %r8, 1;", "mov.b32 %r2, %r1;", "", []),
        ("mov.b32 %r8, 1;", "mov.b32 %r8, %r1;", "", [(UNWRITTEN, 1, 0)]),
        ("mov.b32 %r8, 1; add.s32 %r2, %r1, 5;", "mul.lo.u32 %r8, %r2, %r2;", "", [(UNWRITTEN, 1, 0)]),
        ("selp.b32 %r8, %r1, 7, %p1;", "", "", [(UNWRITTEN, 1, 0)]),
        ("selp.b32 %r8, 7, %r1, %p1;", "", "", [(UNWRITTEN, 63, 1)]),
        (CONDITION.format("and"), "", "", [(UNWRITTEN, 1, 0)]),
        (CONDITION.format("or"), "", "", [(UNWRITTEN, 63, 1)]),
        ("mov.b32 %r8, 1; @%p1 mov.b32 %r8, %r1;", "", "", [(UNWRITTEN, 1, 0)]),
        ("mov.b32 %r8, %r1; @!%p1 mov.b32 %r8, 4;", "", "", [(UNWRITTEN, 1, 0)]),
        ("mov.b32 %r8, 1;", "st.shared.b32 [cells+4], %r1;", "", [(UNWRITTEN, 1, 0)]),
        ("mov.b32 %r8, 1;", "ld.shared.b32 %r3, [%r1+0]; mov.b32 %r4, %r3;", "", None),
        ("mov.b32 %r8, 1; setp.gt.u32 %p2, %r1, 3;", "@%p2 bra AFTER;", "", [(UNWRITTEN, 1, 0)]),
        ("mov.b32 %r8, 1;", "", "mov.b32 %r8, %r1;", [(UNWRITTEN, 64, 0)]),
    ],
)  # fmt: skip
def test_a_value_that_was_never_written_counts_for_the_lanes_that_use_it(
    between: str, one: str, every: str, expected: list[tuple[Kind, int, int]] | None
) -> None:
    got = found(ALL_LOAD.format(between=between, one=one, all=every))
    if expected is None:  # used as an address, which may be out of bounds as well
        assert (UNWRITTEN, 1, 0) in got
    else:
        assert got == expected


MOVED = """
    mov.b32 %r8, 0;
    shl.b32 %r9, %r30, 2;
    mov.b32 %r2, cells;
    add.s32 %r3, %r2, %r9;
    st.shared.b32 [%r3], %r30;
    bar.sync 0;
    xor.b32 %r4, %r9, 252;
    add.s32 %r5, %r2, %r4;
    ld.shared.b32 %r1, [%r5];
    {barrier}
    setp.{wanted} %p1, %r30, {thread};
    @%p1 st.shared.b32 [%r3], 99;
    {use}
    cvt.u64.u32 %rd1, %r9;
    add.s64 %rd2, %rd30, %rd1;
    st.global.b32 [%rd2], %r8;
"""
"""Each thread loads the element of a thread of the other warp; one thread overwrites its own; then some use
what they have loaded. Thread 63 has loaded the element of thread 0."""

USE = "setp.eq.u32 %p2, %r30, {}; @%p2 mov.b32 %r8, %r1;"


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("barrier", "user", "races"), [("", 63, True), ("", 62, False), ("bar.sync 0;", 63, False)]
)
def test_a_load_races_with_a_later_store_if_its_lane_uses_the_value(
    barrier: str, user: int, races: bool, schedule: str
) -> None:
    body = MOVED.format(barrier=barrier, wanted="eq.u32", thread=0, use=USE.format(user))
    assert {kind for kind, _, _ in found(body, schedule)} == ({Kind.WRITE_AFTER_READ} if races else set())


def test_a_use_before_the_store_counts_as_well() -> None:
    body = MOVED.format(barrier="", wanted="eq.u32", thread=0, use="")
    early = body.replace("setp.eq.u32 %p1", f"{USE.format(63)}\nsetp.eq.u32 %p1")
    assert [kind for kind, _, _ in found(early)] == [Kind.WRITE_AFTER_READ]


def test_the_reader_that_is_named_is_one_that_uses_the_value() -> None:
    """All threads of a warp load one cell, and one of them uses it; the shadow keeps few of the readers."""
    body = MOVED.replace("xor.b32 %r4, %r9, 252;", "mov.b32 %r4, 0;").format(
        barrier="", wanted="eq.u32", thread=0, use=USE.format(37)
    )
    (finding,) = findings(kernel(body, before=SHARED), [np.zeros(64, np.uint32)], "lockstep")
    assert finding.kind is Kind.WRITE_AFTER_READ
    assert [party.thread[0] for party in finding.parties] == [0, 37]


def test_a_thread_that_alone_uses_its_own_cell_does_not_race_with_itself() -> None:
    body = MOVED.replace("xor.b32 %r4, %r9, 252;", "mov.b32 %r4, 0;").format(
        barrier="", wanted="eq.u32", thread=0, use=USE.format(0)
    )
    assert found(body) == []


def test_the_last_iteration_s_use_counts_for_all_iterations() -> None:
    body = """
    mov.b32 %r2, cells;
    shl.b32 %r9, %r30, 2;
    add.s32 %r3, %r2, %r9;
    xor.b32 %r4, %r9, 252;
    add.s32 %r5, %r2, %r4;
    mov.b32 %r6, 0;
LOOP:
    st.shared.b32 [%r3], %r6;
    bar.sync 0;
    ld.shared.b32 %r1, [%r5];
    {end}
    add.s32 %r6, %r6, 1;
    setp.lt.u32 %p1, %r6, 3;
    @%p1 bra LOOP;
    st.global.b32 [%rd30], %r1;
    """
    kinds = {kind for kind, _, _ in found(body.format(end=""))}
    assert Kind.WRITE_AFTER_READ in kinds
    assert {kind for kind, _, _ in found(body.format(end="bar.sync 0;"))} == set()


def test_a_text_without_any_use_of_a_load_has_it_count() -> None:
    """No compiler leaves such a load: it is of inline PTX."""
    assert found("ld.shared.b32 %r1, [cells]; st.global.b32 [%rd30], 1;") == [(UNWRITTEN, 64, 0)]


def test_a_value_may_move_to_the_register_that_it_is_in() -> None:
    between = "add.s32 %r1, %r1, 1; add.s32 %r1, %r1, %r1; mov.b32 %r8, 1;"
    assert found(ALL_LOAD.format(between=between, one="mov.b32 %r8, %r1;", all="")) == [(UNWRITTEN, 1, 0)]


@pytest.mark.parametrize(("used", "expected"), [("%r1", []), ("%r2", [(UNWRITTEN, 1, 0)])])
def test_a_joined_load_counts_for_the_register_that_is_used(
    used: str, expected: list[tuple[Kind, int, int]]
) -> None:
    """Two cells, of which one was never written, in one load of two registers."""
    joined = "st.shared.b32 [cells], 7; bar.sync 0; ld.shared.v2.b32 {{%r1, %r2}}, [cells];"
    body = ALL_LOAD.replace("ld.shared.b32 %r1, [cells];", joined)
    assert found(body.format(between="mov.b32 %r8, 1;", one=f"mov.b32 %r8, {used};", all="")) == expected
