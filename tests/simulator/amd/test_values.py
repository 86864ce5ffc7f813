"""Results of instructions that compilers write and the vendor's pseudo-code does not let evaluate."""

from __future__ import annotations

import struct
from fractions import Fraction

import numpy as np
import pytest

from tests.simulator.amd.assembly import lanes_of
from tooling.simulator.amd.semantics.narrow_floats import VALUES, narrowed
from tooling.simulator.amd.semantics.registry import OPERATIONS


def bits(number: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", number))[0])


CLAMPED = {
    "gfx942": ("v_sub_u32_e64", "v_add_u32_e64", "v_add_i32"),
    "gfx1100": ("v_sub_nc_u32_e64", "v_add_nc_u32_e64", "v_add_nc_i32"),
}


@pytest.mark.parametrize("architecture", ["gfx942", "gfx1100"])
def test_clamping_limits_integers(architecture: str) -> None:
    lanes = 64 if architecture == "gfx942" else 32
    subtract, add, signed = CLAMPED[architecture]
    lines: tuple[str, ...] = (f"{subtract} v1, v0, 9 clamp",)
    assert lanes_of(architecture, lines) == [max(0, lane - 9) for lane in range(lanes)]
    lines = ("v_mov_b32_e32 v2, 0xfffffff0", f"{add} v1, v0, v2 clamp")
    assert lanes_of(architecture, lines) == [min(2**32 - 1, lane + 0xFFFFFFF0) for lane in range(lanes)]
    lines = ("v_mov_b32_e32 v2, 0x7ffffff0", f"{signed} v1, v0, v2 clamp")
    assert lanes_of(architecture, lines) == [min(2**31 - 1, lane + 0x7FFFFFF0) for lane in range(lanes)]


@pytest.mark.parametrize("architecture", ["gfx942", "gfx1100"])
def test_output_scaling_is_ignored_while_subnormal_numbers_are_on(architecture: str) -> None:
    lanes = 64 if architecture == "gfx942" else 32
    lines = ("v_mov_b32_e32 v2, 0x40000000", "v_mul_f32_e64 v1, v2, 0.5 mul:4")
    assert lanes_of(architecture, lines) == [bits(1.0)] * lanes


@pytest.mark.parametrize(("architecture", "carry"), [("gfx942", "s[2:3]"), ("gfx1100", "s2")])
def test_output_scaling_of_an_operation_whose_carry_is_unread_is_ignored(
    architecture: str, carry: str
) -> None:
    """Compilers do not write it. The second instruction overwrites the carry of the first one."""
    lanes = 64 if architecture == "gfx942" else 32
    lines = (
        f"v_mad_u64_u32 v[2:3], {carry}, v0, v0, 0 mul:2",
        f"v_mad_u64_u32 v[4:5], {carry}, v0, v0, 0",
        "v_mov_b32_e32 v1, v2",
    )
    assert lanes_of(architecture, lines) == [lane * lane for lane in range(lanes)]


@pytest.mark.parametrize("architecture", ["gfx942", "gfx1100"])
def test_packed_multiply_add_of_16_bits(architecture: str) -> None:
    lanes = 64 if architecture == "gfx942" else 32
    lines = ("v_mov_b32_e32 v2, 0x30005", "v_pk_mad_u16 v1, v2, v2, v0")
    assert lanes_of(architecture, lines) == [9 << 16 | 25 + lane for lane in range(lanes)]


def test_numbers_of_8_bits() -> None:
    """1 and -1.5 as FP8 and BF8 of gfx942, whose largest numbers are 240 and 57344."""
    assert [float(VALUES["fp8"][each]) for each in (0x40, 0xC4, 0x7F, 0x01)] == [1, -1.5, 240, 2.0**-10]
    assert [float(VALUES["bf8"][each]) for each in (0x40, 0xC2, 0x7F, 0x01)] == [1, -1.5, 57344, 2.0**-17]
    for kind in VALUES:
        patterns = np.delete(np.arange(256, dtype=np.uint8), 0x80)
        assert narrowed(kind, VALUES[kind][patterns]).tolist() == patterns.tolist()
    halfway = np.array([17, 19, 1e6, np.nan, -0.0], np.float32)
    assert narrowed("fp8", halfway).tolist() == [0x60, 0x62, 0x80, 0x80, 0]


def test_conversions_of_8_bits_keep_the_rest_of_the_register() -> None:
    start = ("v_mov_b32_e32 v1, 0x11223344", "v_mov_b32_e32 v2, 1.0", "v_mov_b32_e32 v3, -2.0")
    assert lanes_of("gfx942", (*start, "v_cvt_pk_fp8_f32 v1, v2, v3"))[0] == 0x1122C840
    assert lanes_of("gfx942", (*start, "v_cvt_pk_fp8_f32 v1, v2, v3 op_sel:[0,0,1]"))[0] == 0xC8403344
    assert lanes_of("gfx942", (*start, "v_cvt_sr_fp8_f32 v1, v2, 0 op_sel:[0,0,0,1]"))[0] == 0x11403344
    lines = ("v_mov_b32_e32 v2, 0x40c84000", "v_cvt_f32_fp8_sdwa v1, v2 src0_sel:BYTE_2")
    assert lanes_of("gfx942", lines)[0] == bits(-2.0)


def test_a_comparison_that_writes_exec_writes_its_mask_as_well() -> None:
    lines = ("v_mov_b32_e32 v1, 0", "v_cmpx_gt_u32_e32 vcc, 5, v0", "v_mov_b32_e32 v1, vcc_lo")
    assert lanes_of("gfx942", lines) == [31] * 5 + [0] * 59


ARRAYS = {
    "gfx942": (
        "s_set_gpr_idx_on s4, gpr_idx(SRC0)",
        "v_mov_b32_e32 v1, v10",
        "s_set_gpr_idx_off",
    ),
    "gfx1100": ("s_mov_b32 m0, s4", "v_movrels_b32_e32 v1, v10"),
}


@pytest.mark.parametrize("architecture", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("index", [0, 2])
def test_a_register_is_selected_by_an_index(architecture: str, index: int) -> None:
    """The kernel's descriptor says that it has the registers up to v7: the array is in v4 to v6."""
    lanes = 64 if architecture == "gfx942" else 32
    lines = (
        f"s_mov_b32 s4, {index}", "v_mov_b32_e32 v4, 40", "v_mov_b32_e32 v5, 50", "v_mov_b32_e32 v6, 60",
        *(line.replace("v10", "v4") for line in ARRAYS[architecture]),
    )  # fmt: skip
    assert lanes_of(architecture, lines) == [40 + 10 * index] * lanes


@pytest.mark.parametrize("architecture", ["gfx942", "gfx1100"])
def test_a_clock_never_goes_back(architecture: str) -> None:
    read = "s_memrealtime" if architecture == "gfx942" else "s_sendmsg_rtn_b64"
    what = "" if architecture == "gfx942" else ", sendmsg(MSG_RTN_GET_REALTIME)"
    lines = (
        f"{read} s[4:5]{what}", "s_nop 0", f"{read} s[6:7]{what}", "s_sub_u32 s8, s6, s4",
        "v_mov_b32_e32 v1, s8",
    )  # fmt: skip
    assert all(0 <= value < 100 for value in lanes_of(architecture, lines))


def test_rows_of_16_lanes_are_permuted() -> None:
    """Each lane reads the lane of its row, or of the other one, that 4 bits name: here 15 minus its own."""
    start = ("s_mov_b32 s4, 0x89abcdef", "s_mov_b32 s5, 0x1234567")
    found = lanes_of("gfx1100", (*start, "v_permlane16_b32 v1, v0, s4, s5"))
    assert found == [lane & 16 | 15 - lane % 16 for lane in range(32)]
    found = lanes_of("gfx1100", (*start, "v_permlanex16_b32 v1, v0, s4, s5"))
    assert found == [lane & 16 ^ 16 | 15 - lane % 16 for lane in range(32)]


@pytest.mark.parametrize("architecture", ["gfx942", "gfx1100"])
@pytest.mark.parametrize(
    ("instruction", "operand", "result"),
    [
        ("v_exp_f32_e32", -126.0, 2.0**-126),
        ("v_exp_f32_e32", -127.0, 0.0),
        ("v_log_f32_e32", 2.0**-126, -126.0),
        ("v_log_f32_e32", 2.0**-127, float("-inf")),
        ("v_rcp_f32_e32", 2.0**126, 2.0**-126),
        ("v_rcp_f32_e32", -(2.0**127), -0.0),
        ("v_rcp_f32_e32", -(2.0**-127), float("-inf")),
        ("v_rsq_f32_e32", 2.0**-126, 2.0**63),
        ("v_rsq_f32_e32", 2.0**-127, float("inf")),
    ],
)
def test_functions_of_float32_flush_subnormal_numbers(
    instruction: str, operand: float, result: float, architecture: str
) -> None:
    lines = (f"v_mov_b32_e32 v2, {bits(operand):#x}", f"{instruction} v1, v2")
    assert lanes_of(architecture, lines)[0] == bits(result)


@pytest.mark.parametrize("architecture", ["gfx942", "gfx1100"])
def test_arithmetic_keeps_subnormal_numbers(architecture: str) -> None:
    lines = ("v_mov_b32_e32 v2, 0x1", "v_add_f32_e32 v1, v2, v2")
    assert lanes_of(architecture, lines)[0] == 2


def test_the_digits_of_two_over_pi() -> None:
    """The segments of V_TRIG_PREOP_F64 add up to 2/pi, and follow those that a large angle skips."""
    segment = OPERATIONS["v_trig_preop_f64"].function
    parts = [
        Fraction(float(segment(np.array([1.0]), np.array([number], np.uint32))[0])) for number in range(3)
    ]
    assert float(parts[0]) == np.nextafter(2 / np.pi, 0)
    two_over_pi = Fraction(2) / Fraction("3.14159265358979323846264338327950288419716939937510582097")
    assert 0 < two_over_pi - sum(parts) < Fraction(1, 2**158)
    later = segment(np.array([2.0**107]), np.array([0], np.uint32))  # its exponent is 53 above the last
    assert float(later[0]) == float(parts[1])


def pair(low: int, high: int) -> int:
    return low | high << 16


ONE16, TWO16 = 0x3C00, 0x4000
CONSTANTS = [
    # The addition of two numbers of which one is rounded: the constant is float16, as `op_sel_hi` says.
    ("v_fma_mixlo_f16 v1, v2, 1.0, v3 op_sel_hi:[0,1,0]", 0x4400),
    ("v_fma_mix_f32 v1, v2, 1.0, v3 op_sel_hi:[0,1,0]", bits(4.0)),
    ("v_fma_mix_f32 v1, v2, 1.0, v3 op_sel_hi:[0,0,0]", bits(4.0)),
    ("v_fma_mix_f32 v1, v2, -v4, 1.0 op_sel_hi:[0,1,1]", bits(-3.0)),
    ("v_fma_mix_f32 v1, v2, 1.0, v3 op_sel:[0,1,0] op_sel_hi:[0,1,0]", bits(2.0)),
    ("v_fma_mix_f32 v1, v2, 0.15915494, 0 op_sel_hi:[0,1,1]", bits(2 * float(np.float16(0.15915494)))),
    ("v_pk_add_f16 v1, v4, 1.0", pair(0x4200, TWO16)),
    ("v_pk_add_f16 v1, v4, 1.0 op_sel_hi:[1,0]", pair(0x4200, 0x4200)),
    ("v_pk_add_u16 v1, v4, 1.0", pair(TWO16, TWO16 + 0x3F80)),
    ("v_pk_add_u16 v1, v4, -1", pair(TWO16 - 1, TWO16 - 1)),
    ("v_pk_add_u16 v1, v4, 3", pair(TWO16 + 3, TWO16)),
    ("v_pack_b32_f16 v1, v4, 1.0", pair(TWO16, ONE16)),
]


@pytest.mark.parametrize("architecture", ["gfx942", "gfx1100"])
@pytest.mark.parametrize(("line", "expected"), CONSTANTS)
def test_constants_of_16_bits(architecture: str, line: str, expected: int) -> None:
    """What a constant is as an operand of 16 bits or a pair of them (LLVM, `getInlineEncodingV216`)."""
    start = ("v_mov_b32_e32 v2, 2.0", "v_mov_b32_e32 v3, 2.0", "v_mov_b32_e32 v4, 0x40004000")
    assert lanes_of(architecture, (*start, line))[0] == expected


def test_a_constant_of_the_packed_multiply_add_is_in_both_halves_on_gfx1100() -> None:
    start = ("v_mov_b32_e32 v1, 0x40004000", "v_mov_b32_e32 v2, 0x40004000")
    assert lanes_of("gfx1100", (*start, "v_pk_fmac_f16 v1, 1.0, v2"))[0] == pair(0x4400, 0x4400)


@pytest.mark.parametrize("architecture", ["gfx942", "gfx1100"])
def test_dot_products_with_constants(architecture: str) -> None:
    """In bfloat16 and integers 1.0 is the float32 number, whose upper half is 1.0 in bfloat16."""
    start = ("v_mov_b32_e32 v2, 0x40004000", "v_mov_b32_e32 v3, 0", "v_mov_b32_e32 v1, 0")
    floats = "v_dot2_f32_f16 v1, v2, 1.0, v3"
    assert lanes_of(architecture, (*start, floats))[0] == bits(2.0)
    if architecture == "gfx1100":
        assert lanes_of(architecture, (*start, "v_dot2_f32_bf16 v1, v2, 1.0, v3"))[0] == bits(2.0)
    else:
        assert lanes_of(architecture, (*start, "v_dot2_i32_i16 v1, v2, 1.0, v3"))[0] == 0x3F80 * 0x4000
