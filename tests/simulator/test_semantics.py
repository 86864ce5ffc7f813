"""Integer instructions compared with a scalar model, and floats where plain NumPy would be wrong."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooling.simulator.numerics.float64 import fma64
from tooling.simulator.numerics.rounding import fma32
from tooling.simulator.nvidia.semantics.registry import DTYPES
from tooling.simulator.nvidia.semantics.tables import lookup

WIDTHS = {"16": 16, "32": 32, "64": 64}


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def evaluate(form: str, *values: int) -> int:
    """The result bits of one lane."""
    opcode, *modifiers = form.split(".")
    operation = lookup(opcode, tuple(modifiers))
    assert operation is not None
    arguments = []
    for value, dtype in zip(values, operation.arguments, strict=True):
        unsigned = np.dtype(f"u{dtype.itemsize}")
        arguments.append(np.array([value % (1 << 8 * dtype.itemsize)], unsigned).view(dtype))
    with np.errstate(all="ignore"):
        result = operation.function(*arguments)
    if result.dtype == np.bool_:
        return int(result[0])
    return int(result.view(f"u{result.dtype.itemsize}")[0])


def truncate(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


ORACLE: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul.lo": lambda a, b: a * b,
    "div": truncate,
    "rem": lambda a, b: a - truncate(a, b) * b,
    "min": min,
    "max": max,
    "setp.lt": lambda a, b: int(a < b),
    "setp.ge": lambda a, b: int(a >= b),
}


@given(st.sampled_from(sorted(ORACLE)), st.sampled_from(["16", "32", "64"]), st.booleans(), st.data())
def test_integer_arithmetic(name: str, width: str, is_signed: bool, data: st.DataObject) -> None:
    bits = WIDTHS[width]
    edges = st.sampled_from([0, 1, 2, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1])
    values = st.one_of(edges, st.integers(0, (1 << bits) - 1))
    a, b = data.draw(values), data.draw(values)
    if name in ("div", "rem") and b == 0:
        return
    read = (lambda v: signed(v, bits)) if is_signed else (lambda v: v)
    want = ORACLE[name](read(a), read(b))
    got = evaluate(f"{name}.{'s' if is_signed else 'u'}{width}", a, b)
    assert got == want % (1 << bits)


@given(st.sampled_from([32, 64]), st.booleans(), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_upper_and_wide_products(bits: int, is_signed: bool, a: int, b: int) -> None:
    letter = "s" if is_signed else "u"
    a, b = a % (1 << bits), b % (1 << bits)
    product = signed(a, bits) * signed(b, bits) if is_signed else a * b
    assert evaluate(f"mul.hi.{letter}{bits}", a, b) == (product >> bits) % (1 << bits)
    if bits == 32:
        assert evaluate(f"mul.wide.{letter}32", a, b) == product % (1 << 64)


@given(
    st.sampled_from([32, 64]),
    st.integers(0, 2**64 - 1),
    st.one_of(st.integers(0, 80), st.integers(0, 2**32 - 1)),
)
def test_shifts_past_the_width_clamp(bits: int, a: int, count: int) -> None:
    a %= 1 << bits
    assert evaluate(f"shl.b{bits}", a, count) == (a << min(count, bits)) % (1 << bits)
    assert evaluate(f"shr.u{bits}", a, count) == a >> min(count, bits)
    assert evaluate(f"shr.s{bits}", a, count) == (signed(a, bits) >> min(count, bits)) % (1 << bits)


@given(st.integers(0, 2**32 - 1), st.integers(0, 40), st.integers(0, 40))
def test_bit_fields(a: int, position: int, length: int) -> None:
    field = (a >> position) & ((1 << length) - 1) if position < 32 else 0
    assert evaluate("bfe.u32", a, position, length) == field
    mask = (((1 << length) - 1) << position) & 0xFFFFFFFF
    assert evaluate("bfi.b32", a, 0x5A5A5A5A, position, length) == (0x5A5A5A5A & ~mask) | (
        (a << position) & mask
    )


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.integers(0, 255))
def test_three_input_logic(a: int, b: int, c: int, table: int) -> None:
    want = 0
    for bit in range(32):
        row = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | (c >> bit & 1)
        want |= (table >> row & 1) << bit
    assert evaluate("lop3.b32", a, b, c, table) == want


FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


def test_fused_multiply_add_treats_each_lane_by_itself() -> None:
    ulp = 2.0**-23
    lanes = [
        (1.0, 1.0, ulp / 2),  # a tie, exact as a double: to even
        (1.0, 1.0 + ulp, ulp / 2),
        (1.0 + ulp, 1.0 + ulp, -(2.0**-80)),  # just below what a double rounds to
        (1.0 + ulp, ulp / 2, 2.0**-100),
        (1.5, 2.0**-149, 2.0**-149),  # subnormal
        (3.0, 5.0, 7.0),
        (np.inf, 0.0, 1.0),
        (-np.inf, 1.0, np.inf),
    ]
    arrays = [np.array(column, np.float32) for column in zip(*lanes, strict=True)]
    with np.errstate(all="ignore"):
        together = fma32(*arrays).view(np.uint32)
        separately = [
            fma32(*(array[k : k + 1] for array in arrays)).view(np.uint32)[0] for k in range(len(lanes))
        ]
    assert together.tolist() == separately


@given(FLOATS, FLOATS, FLOATS)
def test_fused_multiply_add_rounds_once(a: float, b: float, c: float) -> None:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    arrays = [np.array([value], np.float32) for value in (a, b, c)]
    with np.errstate(all="ignore"):
        got = float(fma32(*arrays)[0])
    if exact == 0 or not np.isfinite(got):
        return
    with np.errstate(over="ignore"):  # the neighbour of the largest number is infinite
        low, high = (
            np.nextafter(np.float32(got), np.float32(-np.inf)),
            np.nextafter(np.float32(got), np.float32(np.inf)),
        )
    error = abs(Fraction(got) - exact)
    for other in (low, high):
        if np.isfinite(other):
            assert error <= abs(Fraction(float(other)) - exact)


@given(*[st.floats(allow_nan=False, allow_infinity=False)] * 3)
def test_fused_multiply_add_of_doubles(a: float, b: float, c: float) -> None:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    with np.errstate(all="ignore"):
        got = float(fma64(*(np.array([value]) for value in (a, b, c)))[0])
    if exact == 0:
        assert got == 0
        return
    try:
        want = float(exact)
    except OverflowError:
        want = np.inf if exact > 0 else -np.inf
    assert got == want


BITS = [
    # form, operands, result: all as bits
    ("add.f32", (0x7F800000, 0xFF800000), 0x7FFFFFFF),
    ("add.f32", (0x7FC0DEAD, 0x3F800000), 0x7FFFFFFF),
    ("add.f32", (0x00000001, 0x00000001), 0x00000002),
    ("add.ftz.f32", (0x00000001, 0x3F800000), 0x3F800000),
    ("add.rz.f32", (0x3F800000, 0x33000001), 0x3F800000),
    ("add.rp.f32", (0x3F800000, 0x33000001), 0x3F800001),
    ("mul.sat.f32", (0x40000000, 0x40000000), 0x3F800000),
    ("min.f32", (0x00000000, 0x80000000), 0x80000000),
    ("max.f32", (0x7FC00000, 0x3F800000), 0x3F800000),
    ("min.NaN.f32", (0x7FC00000, 0x3F800000), 0x7FFFFFFF),
    ("div.rn.f32", (0x3F800000, 0x00000000), 0x7F800000),
    ("cvt.rzi.s32.f32", (0x4F800000,), 0x7FFFFFFF),
    ("cvt.rzi.s32.f32", (0x7FC00000,), 0),
    ("cvt.rzi.s64.f32", (0x7FC00000,), 1 << 63),
    ("cvt.rzi.u32.f32", (0xBF800000,), 0),
    ("cvt.rni.f32.f32", (0x40200000,), 0x40000000),
    ("cvt.rn.f32.s32", (0x01000001,), 0x4B800000),
    ("cvt.rp.f32.s32", (0x01000001,), 0x4B800001),
    ("cvt.rn.bf16.f32", (0x3F808000,), 0x3F80),
    ("cvt.rn.f16.f32", (0x477FF000,), 0x7C00),
    ("cvt.sat.u8.s32", (300,), 255),
    ("setp.ltu.f32", (0x7FC00000, 0), 1),
    ("setp.ne.f32", (0x7FC00000, 0), 0),
    ("prmt.b32", (0x33221100, 0x77665544, 0x7531), 0x77553311),
    ("shf.l.wrap.b32", (0x80000000, 0x1, 33), 0x3),
    ("popc.b32", (0xF0F,), 8),
    ("clz.b64", (1,), 63),
    ("brev.b32", (1,), 0x80000000),
    ("bfind.s32", (0xFFFFFFFF,), 0xFFFFFFFF),
]


@pytest.mark.parametrize(("form", "operands", "bits"), BITS)
def test_bit_patterns(form: str, operands: tuple[int, ...], bits: int) -> None:
    assert evaluate(form, *operands) == bits


@pytest.mark.parametrize(
    "form", ["add.rz.s32", "mul.lo.f32", "cvt.f32.s32", "shl.u32", "setp.foo.s32", "min.rn.f32"]
)
def test_unknown_forms_have_no_operation(form: str) -> None:
    opcode, *modifiers = form.split(".")
    assert lookup(opcode, tuple(modifiers)) is None


def test_every_operation_names_its_section() -> None:
    for kind in ("s32", "u64", "f32", "f16"):
        operation = lookup("add", (kind,))
        assert operation is not None
        assert operation.section.startswith("9.7.")
        assert operation.result == DTYPES[kind]
