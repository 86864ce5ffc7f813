"""Integer operations of the vector unit: VOP1, VOP2, VOPC, VOP3 and VOP3P (CDNA 3 ISA)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from tooling.simulator.amd.semantics.bits import (
    add_in_out,
    add_out,
    bit_field,
    bit_field_signed,
    leading_zeros,
    low24,
    mul_hi_i32,
    mul_hi_u32,
    population,
    reverse32,
    select,
    shift_left,
    shift_right,
    sign_bits,
    subtract_in_out,
    subtract_out,
    trailing_zeros,
)
from tooling.simulator.amd.semantics.registry import (
    DTYPES,
    OPERATIONS,
    enter,
    enter_clamped,
    enter_first,
    limited_to,
)
from tooling.simulator.numerics.rounding import S64, U16, U32, U64

Array = NDArray[Any]
_VOP1 = "CDNA 3 ISA, VOP1 Instructions"
_VOP2 = "CDNA 3 ISA, VOP2 Instructions"
_VOPC = "CDNA 3 ISA, VOPC Instructions"
_VOP3 = "CDNA 3 ISA, VOP3A & VOP3B Instructions"
_VOP3P = "CDNA 3 ISA, VOP3P Instructions"


def _swapped(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b, *rest: function(b, a, *rest)


def _shift_reversed(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda by, value: function(value, by)


def _mad_u64_u32(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    total = a.astype(U64) * b.astype(U64) + c
    return total, total < c


def _mad_i64_i32(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """The carry is bit 64 of the sum of sign-extended 65-bit numbers."""
    product = a.astype(S64) * b.astype(S64)
    total = product + c
    carry = (product < 0) ^ (c < 0) ^ (total.view(U64) < product.view(U64))
    return total, carry


def _align_bits(high: Array, low: Array, by: Array) -> Array:
    whole = high.astype(U64) << U64.type(32) | low
    return (whole >> (by & U32.type(31)).astype(U64)).astype(U32)


def _align_bytes(high: Array, low: Array, by: Array) -> Array:
    return _align_bits(high, low, (by & U32.type(3)) << U32.type(3))


def _permute_bytes(high: Array, low: Array, selector: Array) -> Array:
    """V_PERM_B32: each byte of the selector picks a byte, a sign or a constant."""
    whole = high.astype(U64) << U64.type(32) | low
    result: Any = U32.type(0)
    for position in range(4):
        index = (selector >> U32.type(8 * position)) & U32.type(0xFF)
        byte = (whole >> (U64.type(8) * (index & U32.type(7)))) & U64.type(0xFF)
        sign_at = U64.type(16) * (index & U32.type(3)) + U64.type(15)
        sign = (whole >> sign_at & U64.type(1)) * U64.type(0xFF)
        chosen = np.where(index < 8, byte, np.where(index < 12, sign, np.where(index == 12, 0, 0xFF)))
        result = result | chosen.astype(U32) << U32.type(8 * position)
    return np.asarray(result)


def _sad(a: Array, b: Array, c: Array) -> Array:
    return np.where(a > b, a - b, b - a) + c


def _median(low: Callable[..., Array], high: Callable[..., Array]) -> Callable[[Array, Array, Array], Array]:
    return lambda a, b, c: high(low(a, b), low(high(a, b), c))


def _count_below(bits: int) -> Callable[[Array, Array], Array]:
    """V_MBCNT is bound with the lane's own mask as its first argument (`instructions.vector`)."""
    return lambda mask, base: population(mask) + base


def _bit_insert(mask: Array, a: Array, b: Array) -> Array:
    return (mask & a) | (~mask & b)


def _halves(function: Callable[..., Array], kind: str) -> Callable[..., Array]:
    """A packed operation: the function on lower and upper halves."""
    dtype = DTYPES[kind]

    def packed(*arguments: Array) -> Array:
        low = function(*(a.astype(U16).view(dtype) for a in arguments))
        high = function(*((a >> U32.type(16)).astype(U16).view(dtype) for a in arguments))
        return low.view(U16).astype(U32) | high.view(U16).astype(U32) << U32.type(16)

    return packed


# VOP1
enter(_VOP1, "b32 <- b32", v_mov_b32=np.positive, v_not_b32=np.invert, v_bfrev_b32=reverse32)
enter(_VOP1, "b64 <- b64", v_mov_b64=np.positive)
enter(_VOP1, "b32 <- b32", v_accvgpr_mov_b32=np.positive)
enter(_VOP3P, "b32 <- b32", v_accvgpr_write_b32=np.positive, v_accvgpr_read_b32=np.positive)
enter(_VOP1, "i32 <- b32", v_ffbh_u32=leading_zeros, v_ffbl_b32=trailing_zeros)
enter(_VOP1, "i32 <- i32", v_ffbh_i32=sign_bits)

# VOP2, and the same in VOP3
enter(_VOP2, "u32 <- u32 u32", v_add_u32=np.add, v_sub_u32=np.subtract, v_subrev_u32=_swapped(np.subtract))
enter(
    _VOP2, "u32 mask <- u32 u32",
    v_add_co_u32=add_out, v_sub_co_u32=subtract_out, v_subrev_co_u32=_swapped(subtract_out),
)  # fmt: skip
enter(
    _VOP2, "u32 mask <- u32 u32 mask",
    v_addc_co_u32=add_in_out, v_subb_co_u32=subtract_in_out, v_subbrev_co_u32=_swapped(subtract_in_out),
)  # fmt: skip
enter(_VOP2, "b32 <- b32 b32 mask", v_cndmask_b32=lambda a, b, mask: select(mask, b, a))
enter(
    _VOP2, "b32 <- b32 b32",
    v_and_b32=np.bitwise_and, v_or_b32=np.bitwise_or, v_xor_b32=np.bitwise_xor,
    v_xnor_b32=lambda a, b: ~(a ^ b),
    v_lshlrev_b32=_shift_reversed(shift_left), v_lshrrev_b32=_shift_reversed(shift_right),
)  # fmt: skip
enter(_VOP2, "i32 <- u32 i32", v_ashrrev_i32=_shift_reversed(shift_right))
enter(_VOP2, "i32 <- i32 i32", v_min_i32=np.minimum, v_max_i32=np.maximum)
enter(_VOP2, "u32 <- u32 u32", v_min_u32=np.minimum, v_max_u32=np.maximum)
enter(_VOP2, "u32 <- u32 u32", v_mul_u32_u24=lambda a, b: low24(a) * low24(b))
enter(_VOP2, "u32 <- u32 u32", v_mul_hi_u32_u24=lambda a, b: mul_hi_u32(low24(a), low24(b)))
enter(_VOP2, "i32 <- i32 i32", v_mul_i32_i24=lambda a, b: low24(a) * low24(b))
enter(_VOP2, "i32 <- i32 i32", v_mul_hi_i32_i24=lambda a, b: mul_hi_i32(low24(a), low24(b)))
enter(
    _VOP2, "u16 <- u16 u16",
    v_add_u16=np.add, v_sub_u16=np.subtract, v_subrev_u16=_swapped(np.subtract), v_mul_lo_u16=np.multiply,
    v_max_u16=np.maximum, v_min_u16=np.minimum,
    v_lshlrev_b16=_shift_reversed(shift_left), v_lshrrev_b16=_shift_reversed(shift_right),
)  # fmt: skip
enter(_VOP2, "i16 <- i16 i16", v_max_i16=np.maximum, v_min_i16=np.minimum)
enter(_VOP2, "i16 <- u16 i16", v_ashrrev_i16=_shift_reversed(shift_right))

# VOP3
enter(_VOP3, "u32 <- u32 u32", v_mul_lo_u32=np.multiply, v_mul_hi_u32=mul_hi_u32)
enter(_VOP3, "i32 <- i32 i32", v_mul_hi_i32=mul_hi_i32, v_add_i32=np.add, v_sub_i32=np.subtract)
enter(_VOP3, "i16 <- i16 i16", v_add_i16=np.add, v_sub_i16=np.subtract)
enter(_VOP3, "u16 <- u16 u16 u16", v_mad_legacy_u16=lambda a, b, c: a * b + c)
enter(_VOP3, "i16 <- i16 i16 i16", v_mad_legacy_i16=lambda a, b, c: a * b + c)
enter(_VOP3, "u32 <- u32 u32 u32", v_mad_u32_u24=lambda a, b, c: low24(a) * low24(b) + c)
enter(_VOP3, "i32 <- i32 i32 i32", v_mad_i32_i24=lambda a, b, c: low24(a) * low24(b) + c)
enter(_VOP3, "u64 mask <- u32 u32 u64", v_mad_u64_u32=_mad_u64_u32)
enter_first(
    v_addc_co_u32=lambda a, b, carry: a + b + carry,
    v_mad_u64_u32=lambda a, b, c: a.astype(U64) * b.astype(U64) + c,
)
enter(_VOP3, "i64 mask <- i32 i32 i64", v_mad_i64_i32=_mad_i64_i32)
enter(_VOP3, "u64 <- u64 u32 u64", v_lshl_add_u64=lambda a, by, c: (a << (by & U32.type(7)).astype(U64)) + c)
enter(
    _VOP3, "u32 <- u32 u32 u32",
    v_bfe_u32=bit_field, v_alignbit_b32=_align_bits, v_alignbyte_b32=_align_bytes, v_perm_b32=_permute_bytes,
    v_add3_u32=lambda a, b, c: a + b + c,
    v_lshl_add_u32=lambda a, by, c: (a << (by & U32.type(31))) + c,
    v_add_lshl_u32=lambda a, b, by: (a + b) << (by & U32.type(31)),
    v_lshl_or_b32=lambda a, by, c: (a << (by & U32.type(31))) | c,
    v_and_or_b32=lambda a, b, c: (a & b) | c, v_or3_b32=lambda a, b, c: a | b | c,
    v_xad_u32=lambda a, b, c: (a ^ b) + c, v_bfi_b32=_bit_insert, v_sad_u32=_sad,
    v_min3_u32=lambda a, b, c: np.minimum(np.minimum(a, b), c),
    v_max3_u32=lambda a, b, c: np.maximum(np.maximum(a, b), c),
    v_med3_u32=_median(np.minimum, np.maximum),
)  # fmt: skip
enter(_VOP3, "i32 <- i32 u32 u32", v_bfe_i32=bit_field_signed)
enter(
    _VOP3, "i32 <- i32 i32 i32",
    v_min3_i32=lambda a, b, c: np.minimum(np.minimum(a, b), c),
    v_max3_i32=lambda a, b, c: np.maximum(np.maximum(a, b), c),
    v_med3_i32=_median(np.minimum, np.maximum),
)  # fmt: skip
enter(_VOP3, "b64 <- u32 b64", v_lshlrev_b64=_shift_reversed(shift_left))
enter(_VOP3, "b64 <- u32 b64", v_lshrrev_b64=_shift_reversed(shift_right))
enter(_VOP3, "i64 <- u32 i64", v_ashrrev_i64=_shift_reversed(shift_right))
enter(_VOP3, "u32 <- u32 u32", v_bcnt_u32_b32=lambda a, b: population(a) + b)
enter(
    _VOP3, "u32 <- u32 u32",
    v_bfm_b32=lambda a, b: ((U32.type(1) << (a & U32.type(31))) - U32.type(1)) << (b & U32.type(31)),
)  # fmt: skip
enter(
    _VOP3, "b32 <- f16 f16",
    v_pack_b32_f16=lambda a, b: a.view(U16).astype(U32) | b.view(U16).astype(U32) << U32.type(16),
)  # fmt: skip
enter(
    _VOP3, "u32 <- b32 b32",
    v_mbcnt_lo_u32_b32=_count_below(0), v_mbcnt_hi_u32_b32=_count_below(32),
)  # fmt: skip

# VOP3P on integers
enter(
    _VOP3P, "pkb16 <- pkb16 pkb16",
    v_pk_add_u16=_halves(np.add, "u16"), v_pk_sub_u16=_halves(np.subtract, "u16"),
    v_pk_add_i16=_halves(np.add, "i16"), v_pk_sub_i16=_halves(np.subtract, "i16"),
    v_pk_mul_lo_u16=_halves(np.multiply, "u16"),
    v_pk_max_i16=_halves(np.maximum, "i16"), v_pk_min_i16=_halves(np.minimum, "i16"),
    v_pk_max_u16=_halves(np.maximum, "u16"), v_pk_min_u16=_halves(np.minimum, "u16"),
    v_pk_lshlrev_b16=_halves(_shift_reversed(shift_left), "u16"),
    v_pk_lshrrev_b16=_halves(_shift_reversed(shift_right), "u16"),
    v_pk_ashrrev_i16=_halves(_shift_reversed(shift_right), "i16"),
)  # fmt: skip
enter(
    _VOP3P, "pkb16 <- pkb16 pkb16 pkb16",
    v_pk_mad_u16=_halves(lambda a, b, c: a * b + c, "u16"),
    v_pk_mad_i16=_halves(lambda a, b, c: a * b + c, "i16"),
)  # fmt: skip
enter(_VOP3P, "pk32 <- pk32 pk32", v_pk_mov_b32=lambda a, b: (a & U64.type(0xFFFFFFFF)) | b << U64.type(32))

# Clamping: the exact results


def _low24_exact(value: Array, *, signed: bool) -> Array:
    low = value & np.int64(0xFFFFFF)
    return np.where(signed & (low >> np.int64(23) != 0), low - np.int64(1 << 24), low)


def _mad24(*, signed: bool) -> Callable[[Array, Array, Array], Array]:
    return lambda a, b, c: _low24_exact(a, signed=signed) * _low24_exact(b, signed=signed) + c


_EXACT: dict[str, Callable[..., Array]] = {
    "add": np.add, "sub": np.subtract, "subrev": _swapped(np.subtract), "mad": lambda a, b, c: a * b + c,
}  # fmt: skip
for _name in ("add_u32", "sub_u32", "subrev_u32", "add_u16", "sub_u16", "subrev_u16", "add_i32", "sub_i32",
              "add_i16", "sub_i16"):  # fmt: skip
    enter_clamped(**{f"v_{_name}": _EXACT[_name.partition("_")[0]]})
enter_clamped(
    v_mad_u32_u24=_mad24(signed=False), v_mad_i32_i24=_mad24(signed=True), v_mad_legacy_u16=_EXACT["mad"],
    v_sad_u32=lambda a, b, c: np.abs(a - b) + c,
)  # fmt: skip
for _name in ("add_u16", "sub_u16", "add_i16", "sub_i16", "mad_u16", "mad_i16"):
    _operation, _, _kind = _name.partition("_")
    _limited = limited_to(_EXACT[_operation], _kind)

    def _clamped_half(*arguments: Array, limited: Callable[..., Array] = _limited) -> Array:
        return limited(*(argument.astype(S64) for argument in arguments))

    OPERATIONS[f"v_pk_{_name}"] = replace(OPERATIONS[f"v_pk_{_name}"], clamped=_halves(_clamped_half, _kind))

# VOPC
_ONE = np.ones(1, np.bool_)
for _kind in ("i16", "u16", "i32", "u32", "i64", "u64"):
    for _name, _test in (
        ("lt", np.less), ("eq", np.equal), ("le", np.less_equal),
        ("gt", np.greater), ("ne", np.not_equal), ("ge", np.greater_equal),
        ("f", lambda _a, _b: ~_ONE), ("t", lambda _a, _b: _ONE),
    ):  # fmt: skip
        enter(_VOPC, f"mask <- {_kind} {_kind}", **{f"v_cmp_{_name}_{_kind}": _test})
