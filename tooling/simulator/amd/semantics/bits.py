"""Integer helpers of the tables: shifts, bit fields, bit counts, carries, high halves of products."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.numerics.rounding import S32, S64, U32, U64

Array = NDArray[Any]


def select(flags: Array, chosen: Array, other: Array) -> Array:
    """`np.where` of 32-bit unsigned numbers, which these three operations compute faster."""
    result = (chosen ^ other) * flags
    result ^= other
    return np.asarray(result)


def amount(value: Array, bits: int, like: Array) -> Array:
    """A shift amount modulo the width, in the type of the shifted value."""
    return np.asarray(value & value.dtype.type(bits - 1), like.dtype)


def shift_left(value: Array, by: Array) -> Array:
    """`value << by`, the amount modulo the width."""
    return np.asarray(value << amount(by, 8 * value.dtype.itemsize, value))


def shift_right(value: Array, by: Array) -> Array:
    """`value >> by`: arithmetic for signed types."""
    return np.asarray(value >> amount(by, 8 * value.dtype.itemsize, value))


def low_bits(count: Array, dtype: Any) -> Array:
    """Masks of the lowest `count` bits; all of them from the width on."""
    width = 8 * np.dtype(dtype).itemsize
    one = np.dtype(dtype).type(1)
    small = np.minimum(count, np.dtype(count.dtype).type(width - 1)).astype(dtype)
    return np.asarray(np.where(count >= width, ~np.dtype(dtype).type(0), (one << small) - one))


def sign_extend(value: Array, count: Array) -> Array:
    """The lowest `count` bits of an unsigned value, sign-extended; 0 for no bits."""
    unsigned = value.dtype
    one = unsigned.type(1)
    position = np.maximum(count, count.dtype.type(1)).astype(unsigned) - one
    sign = one << np.minimum(position, unsigned.type(8 * unsigned.itemsize - 1))
    field = value & low_bits(count, unsigned)
    return np.asarray(np.where(count == 0, unsigned.type(0), (field ^ sign) - sign))


def bit_field(value: Array, offset: Array, count: Array) -> Array:
    """Bits `offset` to `offset + count - 1` (BFE of the vector unit: both modulo 32)."""
    return np.asarray((value >> (offset & U32.type(31))) & low_bits(count & U32.type(31), U32))


def bit_field_signed(value: Array, offset: Array, count: Array) -> Array:
    """The same, sign-extended from its highest bit."""
    shifted = (value >> (offset & U32.type(31)).astype(S32)).view(U32)
    return np.asarray(sign_extend(shifted, count & U32.type(31)).view(S32))


def population(value: Array) -> Array:
    """The number of ones."""
    return np.bitwise_count(value).astype(U32)


def reverse32(value: Array) -> Array:
    """The bits in reverse order."""
    for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF)):
        low, by = U32.type(mask), U32.type(shift)
        value = ((value >> by) & low) | ((value & low) << by)
    return value >> U32.type(16) | value << U32.type(16)


def reverse64(value: Array) -> Array:
    """The bits in reverse order."""
    low = reverse32(value.astype(U32)).astype(U64)
    return low << U64.type(32) | reverse32((value >> U64.type(32)).astype(U32)).astype(U64)


def leading_zeros(value: Array) -> Array:
    """The number of zeros above the highest one; -1 for zero (unsigned 32 or 64 bits)."""
    width = 8 * value.dtype.itemsize
    smeared = value
    shift = 1
    while shift < width:
        smeared = smeared | smeared >> value.dtype.type(shift)
        shift *= 2
    count = width - np.bitwise_count(smeared).astype(S32)
    return np.where(value == 0, S32.type(-1), count).astype(S32)


def trailing_zeros(value: Array) -> Array:
    """The number of zeros below the lowest one; -1 for zero."""
    one = value.dtype.type(1)
    count = np.bitwise_count((value & (~value + one)) - one).astype(S32)
    return np.where(value == 0, S32.type(-1), count)


def sign_bits(value: Array) -> Array:
    """Leading bits equal to the sign bit (FFBH of signed numbers); -1 if all are."""
    unsigned = value.view(f"u{value.dtype.itemsize}")
    return leading_zeros(np.where(value < 0, ~unsigned, unsigned))


def mul_hi_u32(a: Array, b: Array) -> Array:
    """The upper half of the product."""
    return ((a.astype(U64) * b.astype(U64)) >> U64.type(32)).astype(U32)


def mul_hi_i32(a: Array, b: Array) -> Array:
    """The upper half of the signed product."""
    return ((a.astype(S64) * b.astype(S64)) >> S64.type(32)).astype(S32)


def low24(value: Array) -> Array:
    """The lowest 24 bits, sign-extended for signed types."""
    if value.dtype.kind == "u":
        return value & U32.type(0xFFFFFF)
    return (value << S32.type(8)) >> S32.type(8)


def add_out(a: Array, b: Array) -> tuple[Array, Array]:
    """The sum of two unsigned numbers, and whether it carries."""
    total = a + b
    return total, total < a


def add_in_out(a: Array, b: Array, carry: Array) -> tuple[Array, Array]:
    """The sum of two 32-bit unsigned numbers and a carry, and whether it carries."""
    total = a.astype(U64) + b + carry
    return total.astype(U32), total >> U64.type(32) != 0


def subtract_out(a: Array, b: Array) -> tuple[Array, Array]:
    """The difference of two unsigned numbers, and whether it borrows."""
    return a - b, b > a


def subtract_in_out(a: Array, b: Array, borrow: Array) -> tuple[Array, Array]:
    """The difference of two 32-bit unsigned numbers and a borrow, and whether it borrows."""
    return a - b - borrow, b.astype(U64) + borrow > a
