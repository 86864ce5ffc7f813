"""Laws of the interpreter: programs against a scalar oracle, and the same memory under every schedule."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simulator.random_programs import INTEGER, WORD
from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.suite import make_checks

LANES = 40
FLOAT: dict[str, Callable[[np.float32, np.float32], np.float32]] = {
    "add.rn.f32": lambda a, b: np.float32(a + b),
    "sub.rn.f32": lambda a, b: np.float32(a - b),
    "mul.rn.f32": lambda a, b: np.float32(a * b),
}

REGISTER = st.integers(0, 5)


def steps(operations: list[str]) -> st.SearchStrategy[list[tuple[str, int, int, int]]]:
    return st.lists(st.tuples(st.sampled_from(operations), REGISTER, REGISTER, REGISTER), max_size=12)


def text(program: list[tuple[str, int, int, int]], form: str) -> str:
    """Six registers, filled from the array and stored back."""
    lines = ["mul.lo.u32 %r34, %r30, 24;", "cvt.u64.u32 %rd1, %r34;", "add.s64 %rd2, %rd30, %rd1;"]
    lines += [f"ld.global.{form} %r{n}, [%rd2+{4 * n}];" for n in range(6)]
    lines += [f"{operation} %r{d}, %r{a}, %r{b};" for operation, d, a, b in program]
    return "\n".join(lines + [f"st.global.{form} [%rd2+{4 * n}], %r{n};" for n in range(6)])


@settings(max_examples=60, deadline=None)
@given(steps(sorted(INTEGER)), st.integers(0, 2**32 - 1))
def test_straight_integer_programs_compute_what_a_scalar_oracle_does(
    program: list[tuple[str, int, int, int]], seed: int
) -> None:
    start = np.random.default_rng(seed).integers(0, 2**32, (LANES, 6), np.uint32)
    start[::7] = (0, 1, WORD, 1 << 31, 31, 33)
    _, (after,) = simulate(kernel(text(program, "b32")), [start], block=LANES)
    for lane in range(LANES):
        registers = [int(value) for value in start[lane]]
        for operation, target, a, b in program:
            registers[target] = INTEGER[operation](registers[a], registers[b]) & WORD
        assert after[lane].tolist() == registers, lane


@settings(max_examples=40, deadline=None)
@given(steps(sorted(FLOAT)), st.integers(0, 2**32 - 1))
def test_straight_float_programs_round_once_for_each_instruction(
    program: list[tuple[str, int, int, int]], seed: int
) -> None:
    start = np.random.default_rng(seed).normal(0, 100, (LANES, 6)).astype(np.float32)
    start[::7] = (0, -0.0, np.inf, np.nan, 1e-42, 3e38)
    _, (after,) = simulate(kernel(text(program, "b32")), [start], block=LANES)
    with np.errstate(all="ignore"):
        for lane in range(LANES):
            registers = list(start[lane])
            for operation, target, a, b in program:
                registers[target] = FLOAT[operation](registers[a], registers[b])
            # Which NaN comes out is the hardware's own affair, and tested with recorded bits.
            np.testing.assert_array_equal(after[lane], np.array(registers, np.float32))


BRANCHES = """
    shl.b32 %r1, %r30, 2;
    mov.u32 %r2, tile;
    add.u32 %r3, %r2, %r1;
    st.shared.b32 [%r3], %r30;
    bar.sync 0;
    mov.u32 %r4, {start};
$ROUND:
    and.b32 %r5, %r30, %r4;
    setp.ne.u32 %p1, %r5, 0;
    @%p1 bra $SKIP;
    xor.b32 %r6, %r1, {distance};
    and.b32 %r6, %r6, 252;
    add.u32 %r6, %r6, %r2;
    ld.shared.b32 %r7, [%r6];
    mad.lo.u32 %r8, %r7, {factor}, %r8;
$SKIP:
    add.u32 %r8, %r8, %r4;
    shr.u32 %r4, %r4, 1;
    setp.ne.u32 %p2, %r4, 0;
    @%p2 bra $ROUND;
    bar.sync 0;
    mul.wide.u32 %rd1, %r31, 4;
    add.s64 %rd2, %rd30, %rd1;
    st.global.b32 [%rd2], %r8;
"""


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 63), st.sampled_from([4, 8, 64, 252]), st.integers(1, 1000), st.integers(0, 99))
def test_a_kernel_without_races_leaves_the_same_memory_under_every_schedule(
    start: int, distance: int, factor: int, seed: int
) -> None:
    body = "mov.u32 %r8, 0;" + BRANCHES.format(start=start, distance=distance, factor=factor)
    program = kernel(body, before=".shared .align 4 .b8 tile[256];\n")
    results = []
    for schedule in ("lockstep", "adversarial", f"random:{seed}"):
        checks = make_checks()
        empty = np.zeros(192, np.uint32)
        result, (after,) = simulate(program, [empty], grid=3, block=64, schedule=schedule, hooks=checks)
        assert result.error is None
        assert [finding for check in checks for finding in check.findings] == []
        results.append(after.tolist())
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("schedule", ["lockstep", "adversarial", "random:3"])
def test_the_oracle_of_schedules_is_not_blind(schedule: str) -> None:
    racy = "mov.u32 %r8, 0;" + BRANCHES.format(start=1, distance=4, factor=1).replace("bar.sync 0;", "")
    checks = make_checks(["races"])
    program = kernel(racy, before=".shared .align 4 .b8 tile[256];\n")
    simulate(program, [np.zeros(64, np.uint32)], block=64, schedule=schedule, hooks=checks)
    assert [finding for check in checks for finding in check.findings]
