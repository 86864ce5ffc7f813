"""Results of single instructions, as an H200 computed them for the same PTX."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.simulate import kernel, simulate

STORE = "shl.b32 %r9, %r30, 2; cvt.u64.u32 %rd1, %r9; add.s64 %rd1, %rd30, %rd1; st.global.u32 [%rd1], %r1;"
JOIN = "selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 2, 0, %p2; or.b32 %r1, %r1, %r2;"
THIRD = "setp.ge.u32 %p3, %r30, 16;"
ONES = "ld.global.u32 %r5, [%rd30]; not.b32 %r6, %r5;"
"""%r5 is 0 and %r6 is 0xffffffff, which the assembler cannot know."""


def results(body: str, threads: int = 32) -> list[int]:
    """%r1 of each thread after the body; memory was zero before."""
    result, (after,) = simulate(kernel(body + STORE), [np.zeros(threads, np.uint32)], block=threads)
    assert result.error is None
    return [int(value) for value in after]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("setp.lt.u32 %p1|%p2, %r30, 8;", [1] * 8 + [2] * 24),
        ("setp.lt.and.u32 %p1|%p2, %r30, 8, %p3;", [0] * 16 + [2] * 16),
        ("setp.lt.or.u32 %p1|%p2, %r30, 8, %p3;", [1] * 8 + [2] * 8 + [3] * 16),
        ("setp.lt.xor.u32 %p1|%p2, %r30, 8, %p3;", [1] * 8 + [2] * 8 + [1] * 16),
        ("setp.lt.and.u32 %p1|%p2, %r30, 8, !%p3;", [1] * 8 + [2] * 8 + [0] * 16),
        ("mov.b32 %r4, 0f7FC00000; setp.lt.f32 %p1|%p2, %r4, %r30;", [2] * 32),
    ],
)
def test_both_results_of_a_comparison_are_combined_with_the_third_operand(
    form: str, expected: list[int]
) -> None:
    assert results(THIRD + form + JOIN) == expected


@pytest.mark.parametrize("a", ["%r6", "0xffffffff"])
@pytest.mark.parametrize(
    ("position", "length", "inserted"),
    [
        (0, 32, 0xFFFFFFFF),
        (0, 40, 0xFFFFFFFF),
        (8, 32, 0xFFFFFF00),
        (16, 40, 0xFFFF0000),
        (24, 33, 0xFF000000),
        (1, 32, 0),
        (5, 40, 0x1FE0),
        (12, 100, 0xF000),
        (31, 64, 0),
        (5, 255, 0xFFFFFFE0),
    ],
)
def test_a_constant_length_of_a_bit_field_counts_modulo_32_except_at_whole_bytes(
    a: str, position: int, length: int, inserted: int
) -> None:
    assert results(f"{ONES} bfi.b32 %r1, {a}, %r5, {position}, {length};", 1) == [inserted]


@pytest.mark.parametrize("position", [0, 1, 5, 8, 31])
def test_a_bit_field_inserted_into_a_constant_has_the_length_of_the_isa(position: int) -> None:
    field = 0xFFFFFFFF << position & 0xFFFFFFFF
    expected = [0x5A5A5A5A & ~field | field]
    assert results(f"{ONES} bfi.b32 %r1, %r6, 0x5A5A5A5A, {position}, 40;", 1) == expected


@pytest.mark.parametrize(
    ("bits", "flushed", "plain"),
    [
        ("0f80000001", 7, 9),
        ("0f807FFFFF", 7, 9),
        ("0f80800000", 9, 9),
        ("0f00000001", 7, 7),
        ("0f80000000", 7, 7),
        ("0f7FC00000", 9, 9),
    ],
)
def test_a_subnormal_number_selects_as_zero_with_ftz_alone(bits: str, flushed: int, plain: int) -> None:
    assert results(f"mov.b32 %r2, {bits}; slct.ftz.u32.f32 %r1, 7, 9, %r2;", 1) == [flushed]
    assert results(f"mov.b32 %r2, {bits}; slct.u32.f32 %r1, 7, 9, %r2;", 1) == [plain]
