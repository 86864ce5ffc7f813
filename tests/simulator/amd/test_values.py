"""Results of instructions that compilers write and the vendor's pseudo-code does not let evaluate."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tests.simulator.amd.assembly import lanes_of
from tooling.simulator.amd.semantics.narrow_floats import VALUES, narrowed


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
