"""The scalar unit: SOP1, SOP2, SOPC and SOPK (CDNA 3 ISA; RDNA 3 ISA 16.1 to 16.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.amd.semantics.bits import (
    add_in_out,
    add_out,
    leading_zeros,
    low_bits,
    mul_hi_i32,
    mul_hi_u32,
    population,
    reverse32,
    reverse64,
    shift_left,
    shift_right,
    sign_bits,
    sign_extend,
    subtract_in_out,
    subtract_out,
    trailing_zeros,
)
from tooling.simulator.amd.semantics.registry import enter
from tooling.simulator.numerics.rounding import S32, S64, U32, U64

Array = NDArray[Any]
_SOP2 = "CDNA 3 ISA, SOP2 Instructions"
_SOP1 = "CDNA 3 ISA, SOP1 Instructions"
_SOPC = "CDNA 3 ISA, SOPC Instructions"
_SOPK = "CDNA 3 ISA, SOPK Instructions"


def _with_test(function: Callable[..., Array]) -> Callable[..., tuple[Array, Array]]:
    """The result, and SCC: whether it is not zero."""

    def tested(*arguments: Array) -> tuple[Array, Array]:
        result = function(*arguments)
        return result, result != 0

    return tested


def _add_i32(a: Array, b: Array) -> tuple[Array, Array]:
    total = a + b
    return total, (a < 0) & (b < 0) & (total >= 0) | (a >= 0) & (b >= 0) & (total < 0)


def _sub_i32(a: Array, b: Array) -> tuple[Array, Array]:
    difference = a - b
    return difference, ((a ^ b) & (a ^ difference)) < 0


def _field(control: Array, bits: int) -> tuple[Array, Array]:
    """Offset and length of a bit field in the second operand of S_BFE."""
    return control & U32.type(bits - 1), control >> U32.type(16) & U32.type(127)


def _bfe_u32(a: Array, control: Array) -> tuple[Array, Array]:
    offset, count = _field(control, 32)
    result = a >> offset & low_bits(count, U32)
    return result, result != 0


def _bfe_i32(a: Array, control: Array) -> tuple[Array, Array]:
    offset, count = _field(control, 32)
    result = sign_extend((a >> offset.view(S32)).view(U32), np.minimum(count, U32.type(32))).view(S32)
    return result, result != 0


def _bfe_u64(a: Array, control: Array) -> tuple[Array, Array]:
    offset, count = _field(control, 64)
    result = a >> offset.astype(U64) & low_bits(count, U64)
    return result, result != 0


def _bfe_i64(a: Array, control: Array) -> tuple[Array, Array]:
    offset, count = _field(control, 64)
    shifted = (a >> offset.astype(S64)).view(U64)
    result = sign_extend(shifted, np.minimum(count, U32.type(64)).astype(U64)).view(S64)
    return result, result != 0


def _absolute(a: Array) -> tuple[Array, Array]:
    result = np.where(a < 0, -a, a)
    return result, result != 0


def _bit_mask(dtype: np.dtype[Any]) -> Callable[[Array, Array], Array]:
    def mask(count: Array, offset: Array) -> Array:
        width = dtype.type(8 * dtype.itemsize - 1)
        return np.asarray(low_bits(count & width, dtype) << (offset & width))

    return mask


def _bit_set(value: int) -> Callable[[Array, Array], Array]:
    def set_bit(position: Array, old: Array) -> Array:
        one = old.dtype.type(1) << (position & U32.type(8 * old.dtype.itemsize - 1)).astype(old.dtype)
        return np.asarray(old | one if value else old & ~one)

    return set_bit


def _bit_test(value: int) -> Callable[[Array, Array], Array]:
    def test(a: Array, position: Array) -> Array:
        at = (position & U32.type(8 * a.dtype.itemsize - 1)).astype(a.dtype)
        return np.asarray((a >> at & a.dtype.type(1)) == a.dtype.type(value))

    return test


def _pick(first: bool) -> Callable[[Array, Array], tuple[Array, Array]]:
    """S_MIN, S_MAX: SCC is set if the first operand is selected."""

    def choose(a: Array, b: Array) -> tuple[Array, Array]:
        chosen = a < b if first else a >= b
        return np.where(chosen, a, b), chosen

    return choose


def _choose(a: Array, b: Array, scc: Array) -> Array:
    return np.where(scc, a, b)


def _shift_add(by: int) -> Callable[[Array, Array], tuple[Array, Array]]:
    def add(a: Array, b: Array) -> tuple[Array, Array]:
        total = (a.astype(U64) << U64.type(by)) + b
        return total.astype(U32), total >> U64.type(32) != 0

    return add


for _bits in (32, 64):
    _b, _u, _i = f"b{_bits}", f"u{_bits}", f"i{_bits}"
    enter(
        _SOP2, f"{_b} scc <- {_b} {_b}",
        **{
            f"s_and_{_b}": _with_test(np.bitwise_and),
            f"s_or_{_b}": _with_test(np.bitwise_or),
            f"s_xor_{_b}": _with_test(np.bitwise_xor),
            f"s_andn2_{_b}": _with_test(lambda a, b: a & ~b),
            f"s_orn2_{_b}": _with_test(lambda a, b: a | ~b),
            f"s_nand_{_b}": _with_test(lambda a, b: ~(a & b)),
            f"s_nor_{_b}": _with_test(lambda a, b: ~(a | b)),
            f"s_xnor_{_b}": _with_test(lambda a, b: ~(a ^ b)),
        },
    )  # fmt: skip
    enter(_SOP2, f"{_b} scc <- {_b} u32", **{f"s_lshl_{_b}": _with_test(shift_left)})
    enter(_SOP2, f"{_b} scc <- {_b} u32", **{f"s_lshr_{_b}": _with_test(shift_right)})
    enter(_SOP2, f"{_i} scc <- {_i} u32", **{f"s_ashr_{_i}": _with_test(shift_right)})
    enter(_SOP2, f"{_b} <- {_b} {_b} scc", **{f"s_cselect_{_b}": _choose})
    enter(_SOP1, f"{_b} <- {_b} acc scc", **{f"s_cmov_{_b}": lambda a, old, scc: np.where(scc, a, old)})
    enter(_SOP1, f"{_b} <- {_b}", **{f"s_mov_{_b}": np.positive})
    enter(_SOP1, f"{_b} scc <- {_b}", **{f"s_not_{_b}": _with_test(np.invert)})
    enter(
        _SOP1, f"u32 scc <- {_b}",
        **{
            f"s_bcnt1_i32_{_b}": _with_test(population),
            f"s_bcnt0_i32_{_b}": _with_test(lambda a: population(~a)),
        },
    )  # fmt: skip
    enter(
        _SOP1, f"i32 <- {_b}",
        **{
            f"s_ff1_i32_{_b}": trailing_zeros,
            f"s_ff0_i32_{_b}": lambda a: trailing_zeros(~a),
            f"s_flbit_i32_{_b}": leading_zeros,
        },
    )  # fmt: skip
    enter(_SOP1, f"i32 <- {_i}", **{"s_flbit_i32" if _bits == 32 else "s_flbit_i32_i64": sign_bits})
    enter(_SOP1, f"{_b} <- u32 acc", **{f"s_bitset1_{_b}": _bit_set(1), f"s_bitset0_{_b}": _bit_set(0)})
    enter(_SOPC, f"scc <- {_b} u32", **{f"s_bitcmp1_{_b}": _bit_test(1), f"s_bitcmp0_{_b}": _bit_test(0)})
    enter(_SOPC, f"scc <- {_u} {_u}", **{f"s_cmp_eq_{_u}": np.equal, f"s_cmp_lg_{_u}": np.not_equal})

enter(_SOP2, "u32 scc <- u32 u32", s_add_u32=add_out, s_sub_u32=subtract_out)
enter(_SOP2, "u32 scc <- u32 u32 scc", s_addc_u32=add_in_out, s_subb_u32=subtract_in_out)
enter(_SOP2, "i32 scc <- i32 i32", s_add_i32=_add_i32, s_sub_i32=_sub_i32)
enter(_SOP2, "i32 scc <- i32 i32", s_min_i32=_pick(True), s_max_i32=_pick(False))
enter(_SOP2, "u32 scc <- u32 u32", s_min_u32=_pick(True), s_max_u32=_pick(False))
enter(_SOP2, "i32 <- i32 i32", s_mul_i32=np.multiply, s_mul_hi_i32=mul_hi_i32)
enter(_SOP2, "u32 <- u32 u32", s_mul_hi_u32=mul_hi_u32, s_bfm_b32=_bit_mask(U32))
enter(_SOP2, "b64 <- u32 u32", s_bfm_b64=lambda a, b: _bit_mask(U64)(a.astype(U64), b.astype(U64)))
enter(_SOP2, "u32 scc <- u32 u32", s_bfe_u32=_bfe_u32)
enter(_SOP2, "i32 scc <- i32 u32", s_bfe_i32=_bfe_i32)
enter(_SOP2, "u64 scc <- u64 u32", s_bfe_u64=_bfe_u64)
enter(_SOP2, "i64 scc <- i64 u32", s_bfe_i64=_bfe_i64)
enter(
    _SOP2, "i32 scc <- i32 i32",
    s_absdiff_i32=_with_test(lambda a, b: np.where(a - b < 0, -(a - b), a - b)),
)  # fmt: skip
enter(_SOP2, "u32 scc <- u32 u32", **{f"s_lshl{by}_add_u32": _shift_add(by) for by in (1, 2, 3, 4)})
enter(
    _SOP2, "b32 <- b32 b32",
    s_pack_ll_b32_b16=lambda a, b: (a & U32.type(0xFFFF)) | b << U32.type(16),
    s_pack_lh_b32_b16=lambda a, b: (a & U32.type(0xFFFF)) | b & U32.type(0xFFFF0000),
    s_pack_hh_b32_b16=lambda a, b: (a >> U32.type(16)) | b & U32.type(0xFFFF0000),
)  # fmt: skip


def _any_of_four(*, spread: bool, bits: int) -> Callable[[Array], Array]:
    """S_QUADMASK, S_WQM: whether any bit of each four is set, in the lowest bits or in all four."""
    dtype = U32 if bits == 32 else U64
    lowest = dtype.type(0x1111111111111111 & (1 << bits) - 1)

    def of(a: Array) -> Array:
        some = (a | a >> dtype.type(1) | a >> dtype.type(2) | a >> dtype.type(3)) & lowest
        if spread:
            return np.asarray(some * dtype.type(15))
        found = np.zeros_like(a)
        for number in range(bits // 4):
            found |= (some >> dtype.type(4 * number) & dtype.type(1)) << dtype.type(number)
        return found

    return of


def _replicate(a: Array) -> Array:
    """Each bit twice."""
    found = np.zeros(a.shape, U64)
    for number in range(32):
        found |= (a.astype(U64) >> U64.type(number) & U64.type(1)) * U64.type(3) << U64.type(2 * number)
    return found


for _bits in (32, 64):
    enter(
        _SOP1, f"b{_bits} scc <- b{_bits}",
        **{
            f"s_quadmask_b{_bits}": _with_test(_any_of_four(spread=False, bits=_bits)),
            f"s_wqm_b{_bits}": _with_test(_any_of_four(spread=True, bits=_bits)),
        },
    )  # fmt: skip
enter(_SOP1, "b64 <- b32", s_bitreplicate_b64_b32=_replicate)
enter(_SOP1, "i32 scc <- i32", s_abs_i32=_absolute)
enter(_SOP1, "b32 <- b32", s_brev_b32=reverse32)
enter(_SOP1, "b64 <- b64", s_brev_b64=reverse64)
enter(_SOP1, "i32 <- b32", s_sext_i32_i8=lambda a: a.astype(np.int8).astype(S32))
enter(_SOP1, "i32 <- b32", s_sext_i32_i16=lambda a: a.astype(np.int16).astype(S32))

for _kind in ("i32", "u32"):
    for _name, _test in (
        ("eq", np.equal), ("lg", np.not_equal), ("gt", np.greater),
        ("ge", np.greater_equal), ("lt", np.less), ("le", np.less_equal),
    ):  # fmt: skip
        if not (_kind == "u32" and _name in ("eq", "lg")):
            enter(_SOPC, f"scc <- {_kind} {_kind}", **{f"s_cmp_{_name}_{_kind}": _test})
        enter(_SOPK, f"scc <- {_kind} {_kind}", **{f"s_cmpk_{_name}_{_kind}": _test})
enter(_SOPK, "i32 <- i32", s_movk_i32=np.positive)
enter(_SOPK, "i32 <- i32 acc scc", s_cmovk_i32=lambda a, old, scc: np.where(scc, a, old))
enter(_SOPK, "i32 scc <- i32 acc", s_addk_i32=lambda a, old: _add_i32(old, a))
enter(_SOPK, "i32 <- i32 acc", s_mulk_i32=np.multiply)
