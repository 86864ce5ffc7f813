"""Loads through the read-only path (`ld.global.nc`) of bytes that the same launch writes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Check, Finding, Kind, render
from tooling.simulator.checks.suite import make_checks

READ = """
    {load} [%rd4];
"""
WRITE = """
    st.global.b32 [%rd2], %r31;
"""
BODY = """
    shl.b32 %r1, %r31, 2;
    cvt.u64.u32 %rd1, %r1;
    add.s64 %rd2, %rd30, %rd1;
    xor.b32 %r2, %r1, 252;
    cvt.u64.u32 %rd3, %r2;
    add.s64 %rd4, {input}, %rd3;
    FIRST
    bar.sync 0;
    SECOND
    st.global.b32 [%rd2+256], %r5;
"""
IN_PLACE = BODY.replace("FIRST", WRITE).replace("SECOND", READ)
"""Each of 64 threads stores its number, and reads the element of a thread in the other warp; there is a
barrier, so that no race hides the finding."""

BEFORE = BODY.replace("FIRST", READ).replace("SECOND", WRITE)

SCHEDULES = ["lockstep", "random:1", "adversarial"]
MUTABLE, IMMUTABLE = "ld.global.b32 %r5,", "ld.global.nc.b32 %r5,"


def found(
    body: str, load: str, source: str = "%rd30", *, block: int = 64, schedule: str = "lockstep"
) -> list[Finding]:
    checks = make_checks(list(Check))
    text = kernel(body.format(load=load, input=source), parameters=2)
    arrays = [np.zeros(1024, np.uint32), np.zeros(1024, np.uint32)]
    result, _ = simulate(text, arrays, block=block, hooks=checks, schedule=schedule)
    assert result.error is None
    return [finding for check in checks for finding in check.findings]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_what_the_launch_has_written_is_not_read_through_the_read_only_path(schedule: str) -> None:
    findings = found(IN_PLACE, IMMUTABLE, schedule=schedule)
    assert {finding.kind for finding in findings} == {Kind.READ_ONLY_PATH}
    assert sum(finding.count for finding in findings) == 64


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("body", "load", "source"),
    [
        (IN_PLACE, MUTABLE, "%rd30"),
        (IN_PLACE, IMMUTABLE, "%rd31"),
        (BEFORE, IMMUTABLE, "%rd30"),
    ],
    ids=["mutable", "another-buffer", "read-before-the-write"],
)
def test_right_twins_are_silent(body: str, load: str, source: str, schedule: str) -> None:
    assert found(body, load, source, schedule=schedule) == []


@pytest.mark.parametrize(
    "load",
    [
        "ld.global.nc.v2.b32 {%r5, %r6},",
        "ld.global.nc.L1::no_allocate.v2.b32 {%r5, %r6},",
        "mov.b32 %r5, 0; ld.global.nc.v2.b16 {%rs1, %rs2},",
        "ld.global.nc.b8 %r5,",
        "ldu.global.b32 %r5,",
    ],
)
def test_every_form_of_the_read_only_path_is_found(load: str) -> None:
    body = IN_PLACE.replace("xor.b32 %r2, %r1, 252;", "and.b32 %r2, %r1, 248;")
    assert {finding.kind for finding in found(body, load)} == {Kind.READ_ONLY_PATH}


def test_a_thread_must_not_read_back_its_own_store() -> None:
    (finding,) = found(IN_PLACE.replace("xor.b32 %r2, %r1, 252;", "mov.b32 %r2, %r1;"), IMMUTABLE)
    assert (finding.kind, finding.count) == (Kind.READ_ONLY_PATH, 64)
    assert [party.thread for party in finding.parties] == [(0, 0, 0), (0, 0, 0)]


def test_an_address_in_the_same_buffer_under_another_argument_is_found() -> None:
    """Two arguments into one buffer, as `create_sub_buffer` makes them."""
    body = IN_PLACE.format(load=IMMUTABLE, input="%rd31")
    checks = make_checks(list(Check))
    text = kernel(body, parameters=1).replace("%rd30, [p0];", "%rd30, [p0];\nadd.s64 %rd31, %rd30, 0;")
    simulate(text, [np.zeros(1024, np.uint32)], block=64, hooks=checks)
    assert {finding.kind for check in checks for finding in check.findings} == {Kind.READ_ONLY_PATH}


def test_a_later_launch_may_read_what_an_earlier_one_wrote() -> None:
    checks = make_checks(list(Check))
    store = kernel("st.global.b32 [%rd30], %r30;")
    load = kernel("ld.global.nc.b32 %r5, [%rd30];\nst.global.b32 [%rd30+64], %r5;")
    for text in (store, load):
        simulate(text, [np.zeros(64, np.uint32)], block=1, hooks=checks)
    assert [finding for check in checks for finding in check.findings] == []


def test_the_message_names_both_lines_and_what_to_do() -> None:
    text = render(found(IN_PLACE, IMMUTABLE)[0])
    assert "read of 4 bytes through the read-only path that the same launch has written" in text
    assert "`MutAnyOrigin`" in text
    assert text.count("PTX:") >= 2
