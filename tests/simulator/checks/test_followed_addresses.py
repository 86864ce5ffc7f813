"""What the checks read from a kernel: the shared array that an address means, the buffers it may write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.simulator.simulate import BASE, kernel, simulate
from tooling.simulator.checks.findings import Kind
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.nvidia.analysis.followed_addresses import arrays_meant
from tooling.simulator.nvidia.ptx.reader import parse_module

ARRAYS = ".shared .align 4 .b8 one[32];\n.shared .align 4 .b8 two[32];\n"


def meant(body: str) -> list[str]:
    """The arrays that the accesses of a kernel mean, in the order of the text."""
    function = parse_module(kernel(body, before=ARRAYS)).kernels["k"]
    return [name for _, name in sorted(arrays_meant(function, ("one", "two")).items())]


@pytest.mark.parametrize("end", [";\n", "; "], ids=["lines", "one line"])
@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("mov.u32 %r1, one; mov.u32 %r2, two; st.shared.b32 [%r1], 1; ld.shared.b32 %r3, [%r2];",
         ["one", "two"]),
        ("mov.u32 %r1, two; ld.shared.b32 %r2, [%r1+4];", ["two"]),
        ("ld.shared.b32 %r2, [one+4];", ["one"]),
        ("mov.u32 %r1, one; mad.lo.s32 %r2, %r30, 4, %r1; st.shared.b32 [%r2], %r30;", ["one"]),
        ("mov.u64 %rd1, two; cvta.shared.u64 %rd2, %rd1; add.s64 %rd3, %rd2, 8;\n"
         "ld.b32 %r2, [%rd3];", ["two"]),
        ("mov.u32 %r1, one;\nL: ld.shared.b32 %r2, [%r1]; add.s32 %r1, %r1, 4;\n@%p1 bra L;", ["one"]),
        ("mov.u32 %r1, one; mov.u32 %r2, two; selp.b32 %r3, %r1, %r2, %p1; ld.shared.b32 %r4, [%r3];", []),
        ("mov.u32 %r1, one; mov.u32 %r2, two; sub.s32 %r3, %r2, %r1; add.s32 %r4, %r1, %r3;\n"
         "ld.shared.b32 %r5, [%r4];", []),
        ("ld.shared.b32 %r1, [one]; ld.shared.b32 %r2, [%r1];", ["one"]),
        ("mov.u32 %r1, one;\n@%p1 mov.u32 %r1, 64; ld.shared.b32 %r2, [%r1];", []),
    ],
)  # fmt: skip
def test_the_array_of_an_address_is_said_only_where_it_is_certain(
    body: str, names: list[str], end: str
) -> None:
    assert meant(body.replace("; ", end)) == names


@pytest.mark.parametrize("end", ["\n", " "], ids=["lines", "one line"])
def test_a_store_past_an_array_into_the_next_is_reported_and_suppressed(end: str) -> None:
    body = f"st.shared.b32 [two], 5;{end}st.shared.b32 [one+32], 7;{end}ld.shared.b32 %r1, [two];{end}"
    checks = make_checks()
    store = "st.global.b32 [%rd30], %r1;"
    _, (out,) = simulate(kernel(body + store, before=ARRAYS), [np.zeros(1, np.uint32)], block=1, hooks=checks)
    (finding,) = [finding for check in checks for finding in check.findings]
    assert (finding.kind, finding.offset, finding.distance) == (Kind.OUTSIDE_SHARED, 32, 4)
    assert finding.buffer is not None
    assert (finding.buffer.number, finding.buffer.size) == (1, 32)
    assert out.tolist() == [5]


SHIFT = """
    mul.wide.u32 %rd1, %r31, 4;
    add.s64 %rd2, %rd30, %rd1;
    add.s64 %rd3, %rd31, %rd1;
    ld.global.b32 %r1, [%rd2+4];
    st.global.b32 [%rd3], %r1;
"""


def test_reading_one_buffer_and_writing_another_is_not_a_race() -> None:
    checks = make_checks(["races"])
    simulate(kernel(SHIFT, 2), [np.zeros(65, np.uint32), np.zeros(64, np.uint32)], block=64, hooks=checks)
    assert [finding for check in checks for finding in check.findings] == []


def test_a_buffer_written_through_its_own_argument_is_watched() -> None:
    checks = make_checks(["races"])
    in_place = SHIFT.replace("%rd31, %rd1", "%rd30, %rd1")
    simulate(kernel(in_place, 2), [np.arange(65, dtype=np.uint32)] * 2, block=64, hooks=checks)
    (finding,) = [finding for check in checks for finding in check.findings]
    assert finding.kind is Kind.WRITE_AFTER_READ


def test_where_a_store_goes_through_a_pointer_from_memory_every_buffer_is_watched() -> None:
    checks = make_checks(["races"])
    body = "ld.global.b64 %rd5, [%rd31];\n" + SHIFT.replace("%rd31, %rd1", "%rd5, %rd1")
    arrays: list[NDArray[Any]] = [np.arange(65, dtype=np.uint32), np.array([BASE], np.uint64)]
    simulate(kernel(body, 2), arrays, block=64, hooks=checks)
    assert [f.kind for check in checks for f in check.findings] == [Kind.WRITE_AFTER_READ]
