"""Operations on bytes and pairs of a register: absolute differences, dot products, packing (CDNA 3 ISA)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from tooling.simulator.amd.semantics.floats import quieted
from tooling.simulator.amd.semantics.registry import DTYPES, OPERATIONS, enter, limited_to
from tooling.simulator.numerics.rounding import F16, F32, F64, S64, U16, U32, U64

Array = NDArray[Any]
_VOP1 = "CDNA 3 ISA, VOP1 Instructions"
_VOP2 = "CDNA 3 ISA, VOP2 Instructions"
_VOP3 = "CDNA 3 ISA, VOP3A & VOP3B Instructions"
_VOP3P = "CDNA 3 ISA, VOP3P Instructions"


def fields(value: Array, width: int, *, signed: bool, count: int | None = None) -> list[Array]:
    """The fields of registers of 32 or 64 bits, the lowest first, as int64."""
    bits = 8 * value.dtype.itemsize
    wide = value.view(f"u{value.dtype.itemsize}").astype(U64)
    found = []
    for number in range(count or bits // width):
        field = (wide >> U64.type(width * number) & U64.type((1 << width) - 1)).astype(S64)
        sign = np.int64(1 << width - 1)
        found.append((field ^ sign) - sign if signed else field)
    return found


def _joined(fields: list[Array], width: int, dtype: np.dtype[Any]) -> Array:
    total: Any = np.uint64(0)
    for number, field in enumerate(fields):
        total = total | (field.astype(U64) & U64.type((1 << width) - 1)) << U64.type(width * number)
    return np.asarray(total).astype(dtype)


# Sums of absolute differences


def _differences(a: Array, b: Array, width: int = 8, *, masked: bool = False) -> Array:
    pairs = zip(fields(a, width, signed=False), fields(b, width, signed=False), strict=True)
    total: Any = np.int64(0)
    for left, right in pairs:
        total = total + np.where((right == 0) & masked, np.int64(0), np.abs(left - right))
    return np.asarray(total)


def _sad(width: int, shift: int = 0, *, masked: bool = False) -> Callable[[Array, Array, Array], Array]:
    def sad(a: Array, b: Array, c: Array) -> Array:
        total = _differences(a, b, width, masked=masked) << np.int64(shift)
        return (total + c).astype(U32)

    return sad


def _window(a: Array, number: int) -> Array:
    """Four bytes of 8, from a number on."""
    return (a >> U64.type(8 * number)).astype(U32)


def _four_sads(*, masked: bool) -> Callable[[Array, Array, Array], Array]:
    """V_QSAD, V_MQSAD: the differences at four positions, each added to 16 bits of the third operand."""

    def sads(a: Array, b: Array, c: Array) -> Array:
        sums = [
            _differences(_window(a, number), b, masked=masked) + addend
            for number, addend in enumerate(fields(c, 16, signed=False))
        ]
        return _joined(sums, 16, U64)

    return sads


def _lerp(a: Array, b: Array, c: Array) -> Array:
    """The rounded or truncated mean of each pair of bytes."""
    of = (fields(each, 8, signed=False) for each in (a, b, c))
    return _joined([x + y + (z & 1) >> 1 for x, y, z in zip(*of, strict=True)], 8, U32)


# Conversions


def _limited(low: int, high: int) -> Callable[[Array], Array]:
    return lambda a: np.clip(a.astype(S64), low, high)


def _normalised(most: int, low: int) -> Callable[[Array], Array]:
    """A float of [-1, 1] or [0, 1] as an integer of that range, rounded to nearest."""

    def convert(a: Array) -> Array:
        wide = np.nan_to_num(a.astype(F64), nan=0.0)
        return np.rint(np.clip(wide, low, 1) * most).astype(S64)

    return convert


def _truncated(low: int, high: int) -> Callable[[Array], Array]:
    return lambda a: np.clip(np.trunc(np.nan_to_num(a.astype(F64), nan=0.0)), low, high).astype(S64)


def _pack16(convert: Callable[[Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda a, b: _joined([convert(a), convert(b)], 16, U32)


def _to_byte(a: Array) -> Array:
    """A float32 as an unsigned byte: rounded to nearest even, limited."""
    return np.rint(np.clip(np.nan_to_num(a.astype(F64), nan=0.0), 0, 255)).astype(U32)


def _insert_byte(a: Array, which: Array, old: Array) -> Array:
    by = (which & U32.type(3)) << U32.type(3)
    return np.asarray(old & ~(U32.type(255) << by) | _to_byte(a) << by)


_limit_byte = _limited(0, 255)
_snorm, _unorm = _normalised(32767, -1), _normalised(65535, 0)
_I16, _U16 = (-(2**15), 2**15 - 1), (0, 2**16 - 1)

enter(_VOP1, "b16 <- f16", v_cvt_norm_i16_f16=lambda a: _snorm(a).astype(np.int16).view(U16))
enter(_VOP1, "b16 <- f16", v_cvt_norm_u16_f16=lambda a: _unorm(a).astype(U16))
enter(
    _VOP1, "b16 <- b32",
    v_sat_pk_u8_i16=lambda a: _joined([_limit_byte(x) for x in fields(a, 16, signed=True)], 8, U16),
)  # fmt: skip
enter(
    _VOP1, "f32 <- b32",
    v_cvt_off_f32_i4=lambda a: (fields(a, 4, signed=True)[0] / 16).astype(F32),
)  # fmt: skip
for _name in ("v_cvt_pknorm_{}_f32", "v_cvt_pk_norm_{}_f32"):
    enter(
        _VOP3,
        "b32 <- f32 f32",
        **{_name.format("i16"): _pack16(_snorm), _name.format("u16"): _pack16(_unorm)},
    )
for _name in ("v_cvt_pknorm_{}_f16", "v_cvt_pk_norm_{}_f16"):
    enter(
        _VOP3,
        "b32 <- f16 f16",
        **{_name.format("i16"): _pack16(_snorm), _name.format("u16"): _pack16(_unorm)},
    )
enter(
    _VOP3, "b32 <- f32 f32",
    v_cvt_pk_i16_f32=_pack16(_truncated(*_I16)), v_cvt_pk_u16_f32=_pack16(_truncated(*_U16)),
)  # fmt: skip
enter(_VOP3, "b32 <- u32 u32", v_cvt_pk_u16_u32=_pack16(_limited(*_U16)))
enter(_VOP3, "b32 <- i32 i32", v_cvt_pk_i16_i32=_pack16(_limited(*_I16)))
enter(_VOP3, "b32 <- f32 u32 u32", v_cvt_pk_u8_f32=_insert_byte)
enter(_VOP3, "b32 <- f32 u32 acc", v_cvt_pkaccum_u8_f32=_insert_byte)
enter(
    _VOP3, "u32 <- u32 u32 u32",
    v_sad_u8=_sad(8), v_sad_hi_u8=_sad(8, 16), v_sad_u16=_sad(16), v_msad_u8=_sad(8, masked=True),
    v_lerp_u8=_lerp,
)  # fmt: skip
enter(
    _VOP3, "u64 <- u64 u32 u64",
    v_qsad_pk_u16_u8=_four_sads(masked=False), v_mqsad_pk_u16_u8=_four_sads(masked=True),
)  # fmt: skip


# Dot products


def _dot(width: int, *, signed: bool) -> Callable[[Array, Array, Array], Array]:
    """The sum of the products of the fields and the third operand, exact in int64."""

    def dot(a: Array, b: Array, c: Array) -> Array:
        total = c.astype(S64)
        for x, y in zip(fields(a, width, signed=signed), fields(b, width, signed=signed), strict=True):
            total = total + x * y
        return total

    return dot


def _wrapped(exact: Callable[..., Array], kind: str) -> Callable[..., Array]:
    dtype = DTYPES[kind]
    return lambda *arguments: exact(*arguments).astype(dtype)


def _half_products(a: Array, b: Array, c: Array) -> Array:
    """V_DOT2_F32_F16: products of float16 are exact in float32; each sum is rounded."""
    total = c
    for by in (0, 16):
        x, y = ((each >> U32.type(by)).astype(U16).view(F16).astype(F32) for each in (a, b))
        total = total + x * y
    return np.asarray(total)


def _brain_products(a: Array, b: Array, c: Array) -> Array:
    """The same of bfloat16."""
    total = c
    for by in (0, 16):
        x, y = (((each >> U32.type(by)) << U32.type(16)).view(F32) for each in (a, b))
        total = total + x * y
    return np.asarray(total)


def _half_sum(a: Array, b: Array, c: Array) -> Array:
    """V_DOT2_F16_F16: each product and each sum is rounded to float16."""
    total = c
    for by in (0, 16):
        x, y = ((each >> U32.type(by)).astype(U16).view(F16) for each in (a, b))
        total = total + x * y
    return np.asarray(total)


def _brain_sum(a: Array, b: Array, c: Array) -> Array:
    """V_DOT2_BF16_BF16: the sum in float32, rounded to bfloat16 to nearest even."""
    total = (c.astype(U32) << U32.type(16)).view(F32)
    return to_bfloat16(_brain_products(a, b, total))


def to_bfloat16(value: Array) -> Array:
    """The upper halves of float32 numbers, rounded to nearest even; a NaN stays one."""
    bits = value.view(U32)
    rounded = bits + (U32.type(0x7FFF) + (bits >> U32.type(16) & U32.type(1)))
    return np.where(np.isnan(value), bits >> U32.type(16) | U32.type(0x40), rounded >> U32.type(16)).astype(
        U16
    )


enter(
    _VOP3P,
    "f32 <- pk16 pk16 f32",
    v_dot2_f32_f16=quieted(_half_products),
)
enter(_VOP3P, "f32 <- pkb16 pkb16 f32", v_dot2_f32_bf16=quieted(_brain_products))
enter(_VOP2, "f32 <- pk16 pk16 acc", v_dot2c_f32_f16=quieted(_half_products))
enter(_VOP2, "f32 <- pk16 pk16 acc", v_dot2acc_f32_f16=quieted(_half_products))
enter(_VOP3, "f16 <- pk16 pk16 f16", v_dot2_f16_f16=quieted(_half_sum))
enter(_VOP3, "b16 <- pkb16 pkb16 b16", v_dot2_bf16_bf16=_brain_sum)
for _kind, _width, _signed in (
    ("i32_i16", 16, True), ("u32_u16", 16, False), ("i32_i8", 8, True), ("u32_u8", 8, False),
    ("i32_i4", 4, True), ("u32_u4", 4, False),
):  # fmt: skip
    _type = _kind[:3]
    _exact = _dot(_width, signed=_signed)
    _operand = "pkb16" if _width == 16 else "b32"
    _name = f"{32 // _width}_{_kind}"
    enter(_VOP3P, f"{_type} <- {_operand} {_operand} {_type}", **{f"v_dot{_name}": _wrapped(_exact, _type)})
    OPERATIONS[f"v_dot{_name}"] = replace(OPERATIONS[f"v_dot{_name}"], clamped=limited_to(_exact, _type))
    if _signed:
        enter(
            _VOP2,
            f"{_type} <- {_operand} {_operand} acc",
            **{f"v_dot{32 // _width}c_{_kind}": _wrapped(_exact, _type)},
        )
