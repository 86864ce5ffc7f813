"""A register that no instruction has written is undefined in PTX and 0 here; no kernel of Mojo reads one.

Among 1,216 kernels that Mojo 1.2 had built for sm_90a (programs of all puzzles but the graphs of 17 to 22,
wrong answers, tests), none reads a register or predicate that it has not written on every path to the read.
The recorded ones are examined here. The check of initialisation reports the use of one in inline PTX.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Check, Kind, render
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.nvidia.backend.lower import decode
from tooling.simulator.nvidia.ptx.reader import parse_module

FOLDER = Path(__file__).parent
RECORDED = sorted(FOLDER.rglob("*.ptx"))


def unwritten(text: str) -> list[str]:
    """The registers that a kernel, or a function of its module, may read before it has written them."""
    module = parse_module(text)
    programs = [decode(module, function) for function in module.kernels.values()]
    return sorted(
        program.origins[slot].name
        for program in programs
        for entry in program.entries.values()
        for slot in program.live_in[entry]
        if program.origins[slot].kind == "undefined"
    )


STORE = "mul.wide.u32 %rd1, %r31, 4; add.s64 %rd1, %rd30, %rd1; st.global.b32 [%rd1], %r1;"


@pytest.mark.parametrize(
    ("body", "names", "values"),
    [
        ("add.u32 %r1, %r2, 5;", ["%r2"], [5, 5]),
        ("selp.u32 %r1, 1, 2, %p1;", ["%p1"], [2, 2]),
        ("setp.eq.u32 %p1, %r30, 0; @%p1 mov.u32 %r1, 7;", ["%r1"], [7, 0]),
        ("setp.eq.u32 %p1, %r30, 0; @%p1 bra L; mov.u32 %r1, 7; L:", ["%r1"], [0, 7]),
        ("mov.u32 %r1, 3; setp.eq.u32 %p1, %r30, 0; @%p1 bra L; mov.u32 %r1, 7; L:", [], [3, 7]),
    ],
)
def test_an_unwritten_register_is_zero(body: str, names: list[str], values: list[int]) -> None:
    text = kernel(body + STORE)
    result, (out,) = simulate(text, [np.full(2, 9, np.uint32)], block=2)
    assert result.error is None
    assert out.tolist() == values
    assert unwritten(text) == names


@pytest.mark.parametrize("path", RECORDED, ids=[str(path.relative_to(FOLDER)) for path in RECORDED])
def test_mojo_reads_no_register_that_it_has_not_written(path: Path) -> None:
    assert unwritten(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("body", "users"),
    [
        ("add.u32 %r1, %r2, 5;", [0, 1]),
        ("setp.eq.u32 %p1, %r30, 0; @%p1 mov.u32 %r1, 7;", [1]),
        ("setp.eq.u32 %p1, %r30, 0; @%p1 bra L; mov.u32 %r1, 7; L:", [0]),
        ("setp.eq.u32 %p1, %r30, 0; selp.u32 %r1, %r2, 3, %p1;", [0]),
        ("mov.u32 %r1, 3; mov.u32 %r3, %r2;", []),
    ],
)
def test_the_use_of_an_unwritten_register_is_reported(body: str, users: list[int]) -> None:
    checks = make_checks([Check.INITIALISATION])
    simulate(kernel(body + STORE), [np.full(2, 9, np.uint32)], block=2, hooks=checks)
    found = [finding for check in checks for finding in check.findings]
    assert [finding.kind for finding in found] == [Kind.UNWRITTEN_REGISTER] * bool(users)
    for finding in found:
        assert (finding.count, finding.parties[0].thread[0]) == (len(users), users[0])
        assert "a register is used that no instruction has written" in render(finding)
