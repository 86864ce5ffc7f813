"""Operations of RDNA 3: CDNA's under another mnemonic, and new ones (RDNA 3 ISA, chapter 16)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from tooling.simulator.amd.semantics import bytes_and_pairs, floats, integer, scalar
from tooling.simulator.amd.semantics.floats import fma16, maximum, minimum, quieted
from tooling.simulator.amd.semantics.registry import OPERATIONS, enter, enter_clamped
from tooling.simulator.numerics.rounding import F16, F64, S32, U16, U32, fma32

Array = NDArray[Any]
_BASES = (bytes_and_pairs, floats, integer, scalar)
_SOP2 = "RDNA 3 ISA 16.1"
_VOP1, _VOP2, _VOP3 = "RDNA 3 ISA 16.8", "RDNA 3 ISA 16.7", "RDNA 3 ISA 16.12"

assert _BASES, "importing them enters the operations that have another name here"

RENAMED = {
    **{f"s_and_not1_b{n}": f"s_andn2_b{n}" for n in (32, 64)},
    **{f"s_or_not1_b{n}": f"s_orn2_b{n}" for n in (32, 64)},
    **{f"s_ctz_i32_b{n}": f"s_ff1_i32_b{n}" for n in (32, 64)},
    **{f"s_clz_i32_u{n}": f"s_flbit_i32_b{n}" for n in (32, 64)},
    "s_cls_i32": "s_flbit_i32", "s_cls_i32_i64": "s_flbit_i32_i64",
    "v_cvt_nearest_i32_f32": "v_cvt_rpi_i32_f32", "v_cvt_floor_i32_f32": "v_cvt_flr_i32_f32",
    "v_clz_i32_u32": "v_ffbh_u32", "v_ctz_i32_b32": "v_ffbl_b32", "v_cls_i32": "v_ffbh_i32",
    "v_add_nc_u32": "v_add_u32", "v_sub_nc_u32": "v_sub_u32", "v_subrev_nc_u32": "v_subrev_u32",
    "v_add_nc_i32": "v_add_i32", "v_sub_nc_i32": "v_sub_i32",
    "v_add_nc_u16": "v_add_u16", "v_sub_nc_u16": "v_sub_u16",
    "v_add_nc_i16": "v_add_i16", "v_sub_nc_i16": "v_sub_i16",
    "v_add_co_ci_u32": "v_addc_co_u32", "v_sub_co_ci_u32": "v_subb_co_u32",
    "v_subrev_co_ci_u32": "v_subbrev_co_u32",
    "v_mul_dx9_zero_f32": "v_mul_legacy_f32",
    **{f"v_cmp_t_{kind}": f"v_cmp_tru_{kind}" for kind in ("f16", "f32", "f64")},
    **{
        f"v_dual_{name}": f"v_{name}"
        for name in ("fmac_f32", "fmaak_f32", "fmamk_f32", "mul_f32", "add_f32", "sub_f32", "subrev_f32",
                     "mov_b32", "cndmask_b32", "max_f32", "min_f32", "lshlrev_b32", "and_b32")
    },
    "v_dual_dot2acc_f32_f16": "v_dot2acc_f32_f16",
    "v_dual_mul_dx9_zero_f32": "v_mul_legacy_f32", "v_dual_add_nc_u32": "v_add_u32",
}  # fmt: skip
"""RDNA 3's mnemonic to CDNA's of the same operation."""

for _name, _known in RENAMED.items():
    OPERATIONS[_name] = replace(OPERATIONS[_known], name=_name)
for _name, _operation in list(OPERATIONS.items()):
    if _name.startswith("v_cmp_"):
        _exec = _name.replace("v_cmp_", "v_cmpx_")
        OPERATIONS[_exec] = replace(_operation, name=_exec)


def _three(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array, Array], Array]:
    return lambda a, b, c: function(function(a, b), c)


def _median(a: Array, b: Array, c: Array) -> Array:
    return np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c))


def _towards_zero(a: Array) -> Array:
    """The float16 that is nearest to a float32 and not farther from zero, as its bits."""
    wide = a.astype(F64)
    value = a.astype(F16)
    beyond = np.abs(value.astype(F64)) > np.abs(wide)
    bits = value.view(U16)
    return np.where(beyond & np.isfinite(a), bits - U16.type(1), bits)


def _pack_towards_zero(a: Array, b: Array) -> Array:
    return _towards_zero(a).astype(U32) | _towards_zero(b).astype(U32) << U32.type(16)


def _then(
    first: Callable[..., Array], second: Callable[..., Array]
) -> Callable[[Array, Array, Array], Array]:
    return lambda a, b, c: second(first(a, b), c)


enter(
    _SOP2, "b32 <- b32 b32",
    s_pack_hl_b32_b16=lambda a, b: (a >> U32.type(16)) | b << U32.type(16),
)  # fmt: skip
enter(_VOP1, "b16 <- b16", v_mov_b16=np.positive, v_not_b16=np.invert)
enter(_VOP1, "i32 <- i16", v_cvt_i32_i16=lambda a: a.astype(S32))
enter(_VOP1, "u32 <- u16", v_cvt_u32_u16=lambda a: a.astype(U32))
enter(
    _VOP3, "b16 <- b16 b16",
    v_and_b16=np.bitwise_and, v_or_b16=np.bitwise_or, v_xor_b16=np.bitwise_xor,
)  # fmt: skip
enter(_VOP3, "b16 <- b16 b16 mask", v_cndmask_b16=lambda a, b, mask: np.where(mask, b, a))
enter(
    _VOP2, "f32 <- f32 f32 acc",
    v_fmac_dx9_zero_f32=lambda a, b, c: np.where((a == 0) | (b == 0), c, quieted(fma32)(a, b, c)),
)  # fmt: skip
enter(
    _VOP3, "f32 <- f32 f32 f32",
    v_fma_dx9_zero_f32=lambda a, b, c: np.where((a == 0) | (b == 0), c, quieted(fma32)(a, b, c)),
)  # fmt: skip
enter(_VOP3, "b32 <- b32 b32 b32", v_xor3_b32=lambda a, b, c: a ^ b ^ c)
enter(_VOP3, "u16 <- u16 u16 u16", v_mad_u16=lambda a, b, c: a * b + c)
enter(_VOP3, "i16 <- i16 i16 i16", v_mad_i16=lambda a, b, c: a * b + c)
enter(_VOP3, "u32 <- u16 u16 u32", v_mad_u32_u16=lambda a, b, c: a.astype(U32) * b.astype(U32) + c)
enter(_VOP3, "i32 <- i16 i16 i32", v_mad_i32_i16=lambda a, b, c: a.astype(S32) * b.astype(S32) + c)
enter_clamped(
    **dict.fromkeys(("v_mad_u16", "v_mad_i16", "v_mad_u32_u16", "v_mad_i32_i16"), lambda a, b, c: a * b + c)
)
for _kind in ("u16", "i16"):
    enter(
        _VOP3, f"{_kind} <- {_kind} {_kind} {_kind}",
        **{
            f"v_min3_{_kind}": _three(np.minimum), f"v_max3_{_kind}": _three(np.maximum),
            f"v_med3_{_kind}": _median,
        },
    )  # fmt: skip
for _kind, _low, _high in (
    ("u32", np.minimum, np.maximum), ("i32", np.minimum, np.maximum),
    ("f16", minimum, maximum), ("f32", minimum, maximum),
):  # fmt: skip
    enter(
        _VOP3, f"{_kind} <- {_kind} {_kind} {_kind}",
        **{f"v_maxmin_{_kind}": _then(_high, _low), f"v_minmax_{_kind}": _then(_low, _high)},
    )  # fmt: skip
enter(_VOP2, "f16 <- f16 f16 f16", v_fmamk_f16=quieted(fma16), v_fmaak_f16=quieted(fma16))
enter(
    _VOP2, "pk16 <- f32 f32", v_cvt_pk_rtz_f16_f32=_pack_towards_zero, v_cvt_pkrtz_f16_f32=_pack_towards_zero
)
