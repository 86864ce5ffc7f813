"""Accesses of consecutive threads to consecutive shared memory are recognised, and checked as any others.

Random kernels run twice: as they are, and with every access to shared memory taken lane by lane.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Check, Finding, Kind
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.gpu.address_spaces import Spaces
from tooling.simulator.gpu.hooks import Access, Hook, Rows

THREADS, BLOCKS = 64, 3
CELLS = ".shared .align 16 .b8 cells[512];\n.shared .align 16 .b8 other[128];"


class Noted(Hook):
    """Notes the rows of each access to shared memory."""

    def __init__(self) -> None:
        self.rows: list[Rows | None] = []

    def access(self, access: Access) -> None:
        self.rows.append(access.rows)


def run(body: str, schedule: str = "lockstep") -> tuple[list[Finding], NDArray[np.uint32], list[Rows | None]]:
    """The findings, what each thread has in %r8 at the end, and the rows of its accesses."""
    end = "mul.wide.u32 %rd1, %r31, 4; add.s64 %rd2, %rd30, %rd1; st.global.b32 [%rd2], %r8;"
    start = "mov.b32 %r8, 0; mov.b32 %r2, cells; shl.b32 %r9, %r30, 2; add.s32 %r3, %r2, %r9;"
    checks, noted = make_checks(list(Check)), Noted()
    out = np.zeros(THREADS * BLOCKS, np.uint32)
    text = kernel(f"{start}\n{body}\n{end}", before=CELLS)
    result, (after,) = simulate(
        text, [out], grid=BLOCKS, block=THREADS, hooks=[*checks, noted], schedule=schedule
    )
    assert result.error is None
    return [finding for check in checks for finding in check.findings], after, noted.rows[:-1]


def random_body(seed: int) -> str:
    """Loads and stores of some threads at elements a constant distance away, with few barriers."""
    pick = random.Random(seed)
    lines = ["st.shared.b32 [%r3], %r30;", "st.shared.b32 [%r3+256], %r30;", "bar.sync 0;"]
    for number in range(14):
        if pick.random() < 0.3:
            lines.append("bar.sync 0;")
            continue
        low, high = sorted(pick.choices([0, 8, 16, 31, 32, 40, 64], k=2))
        low, high = (low, high) if low < high else (0, 64)
        lines += [
            f"setp.lt.u32 %p1, %r30, {low};",
            f"setp.ge.u32 %p2, %r30, {high};",
            "or.pred %p3, %p1, %p2;",
            f"@%p3 bra L{number};",
        ]
        at = pick.choice(["%r3", f"%r3+{4 * pick.choice([1, 8, 32, 64])}", "%r3+256", "%r2+256"])
        if pick.random() < 0.5:
            value = pick.choice(["%r30", "%r8", "5"])
            lines.append(f"st.shared.b32 [{at}], {value};")
        else:
            lines.append(f"ld.shared.b32 %r1, [{at}]; add.s32 %r8, %r8, %r1;")
        lines.append(f"L{number}:")
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(40))
def test_what_is_found_does_not_depend_on_it(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    body, schedule = random_body(seed), ("lockstep", f"random:{seed}", "adversarial")[seed % 3]
    found, values, rows = run(body, schedule)
    monkeypatch.setattr(Spaces, "_find_rows", lambda *_arguments: None)
    single, same_values, no_rows = run(body, schedule)
    assert any(rows) and not any(no_rows)
    assert values.tolist() == same_values.tolist()
    assert found == single


def test_the_kernels_above_race_and_do_not_race() -> None:
    kinds = [{finding.kind for finding in run(random_body(seed))[0]} for seed in range(40)]
    assert {Kind.READ_AFTER_WRITE, Kind.WRITE_AFTER_READ, Kind.WRITE_AFTER_WRITE} <= set().union(*kinds)
    assert sum(not each for each in kinds) > 3


@pytest.mark.parametrize(
    ("access", "expected"),
    [
        ("ld.shared.b32 %r1, [%r3];", Rows(0, BLOCKS, 64, 0, 256, 0)),
        ("ld.shared.b32 %r1, [%r3+128];", Rows(0, BLOCKS, 64, 128, 384, 0)),
        ("setp.ge.u32 %p1, %r30, 40; @%p1 ld.shared.b32 %r1, [%r3];", Rows(0, BLOCKS, 24, 160, 256, 40)),
        ("setp.eq.u32 %p1, %r30, 7; @%p1 ld.shared.b32 %r1, [%r2];", Rows(0, BLOCKS, 1, 0, 4, 7)),
        ("and.b32 %r4, %r30, 1; setp.eq.u32 %p1, %r4, 0; shl.b32 %r5, %r30, 1; add.s32 %r6, %r2, %r5;"
         "@%p1 ld.shared.b32 %r1, [%r6];", Rows(0, BLOCKS, 32, 0, 128, None)),
        ("add.s32 %r6, %r9, %r3; ld.shared.v2.b32 {%r1, %r4}, [%r6];", Rows(0, BLOCKS, 64, 0, 512, 0)),
        ("ld.shared.b32 %r1, [%r2];", None),
        ("mul.lo.u32 %r4, %r30, 8; add.s32 %r5, %r2, %r4; ld.shared.b32 %r1, [%r5];", None),
        ("xor.b32 %r4, %r9, 4; add.s32 %r5, %r2, %r4; ld.shared.b32 %r1, [%r5];", None),
        ("setp.eq.u32 %p1, %r31, 70; @%p1 ld.shared.b32 %r1, [%r2+8];", Rows(1, 2, 1, 8, 12, 6)),
    ],
)  # fmt: skip
def test_rows(access: str, expected: Rows | None) -> None:
    assert run(access)[2] == [expected]


def test_rows_that_leave_their_array_are_outside_it() -> None:
    """`other` begins where `cells` ends: rows may not go on into it."""
    found, _, rows = run("st.shared.b32 [%r3+264], 1;")
    assert [(finding.kind, finding.count) for finding in found] == [(Kind.OUTSIDE_SHARED, 2 * BLOCKS)]
    assert rows == [Rows(0, BLOCKS, 64, 264, 520, 0)]
