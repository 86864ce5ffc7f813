"""RDNA 3's own instructions, assembled with tinygrad's encoder: what they leave in each lane's registers."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from tinygrad.renderer.amd import dsl
from tinygrad.runtime.autogen.amd.rdna3 import ins as instructions

from tooling.simulator.amd.architectures import GFX1100
from tooling.simulator.amd.code_object.errors import UnknownInstruction
from tooling.simulator.amd.code_object.model import CodeObject, Descriptor, KernelFunction, Segment
from tooling.simulator.amd.decoding.rdna3 import make_decoder
from tooling.simulator.amd.semantics.registry import OPERATIONS
from tooling.simulator.backends import backend_for
from tooling.simulator.engine import engine
from tooling.simulator.gpu.code_model import Parameter
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.launch import Dim3, Launch

LANES = 32
ins: Any = instructions  # without types
S, V = dsl.s, dsl.v
LANE = V[0]
"""At the start, this register has the lane's number."""


def code_object(code: bytes) -> CodeObject:
    """A code object with one kernel, whose parameter is the address of a buffer in s[0:1]."""
    descriptor = Descriptor(0, 0, 8, 0, 0xF0 << 12, 2 << 1, 1 << 3)
    kernel = KernelFunction(
        "kernel", True, (Parameter("buffer", 0, 8, 1),), (), {}, (), (), (), descriptor=descriptor
    )
    return CodeObject(
        (0, 0), ("gfx1100",), 64, {"kernel": kernel}, {}, (), {}, {}, str(hash(code)), "", "gfx1100",
        code=code, code_address=0, segments=(Segment(0, code, len(code)),), image_bytes=len(code),
        function_offsets=(0,),
    )  # fmt: skip


def execute(*body: Any, result: Any = V[1]) -> list[int]:
    """What the instructions leave in a register of each lane of a wavefront."""
    instructions = [
        ins.s_load_b64(sdata=S[0:1], sbase=S[0:1]),
        *body,
        ins.s_mov_b32(dsl.EXEC_LO, -1),
        ins.v_lshlrev_b32_e32(V[100], 2, V[99]),
        ins.global_store_b32(addr=V[100], data=result, saddr=S[0:1]),
        ins.s_endpgm(),
    ]
    instructions.insert(1, ins.v_mov_b32_e32(V[99], LANE))
    module = code_object(b"".join(each.to_bytes() for each in instructions))
    memory = DeviceMemory(np.zeros(1 << 16, np.uint8), 0x10000)
    buffer = memory.allocate(4 * LANES)
    kernel = module.kernels["kernel"]
    backend_for("gfx1100").decode(module, kernel)
    launch = Launch(kernel, Dim3(1), Dim3(LANES), Dim3(1), 0, struct.pack("<Q", buffer))
    assert engine.run(launch, module, memory).error is None
    return [int(word) for word in memory.view(buffer, 4 * LANES).view("<u4")]


def test_both_components_read_before_either_writes() -> None:
    op = ins.VOPDOp.V_DUAL_MOV_B32
    exchange = ins.VOPD(
        opx=op, opy=op, vdstx=V[2], srcx0=V[3], vsrcx1=V[0], vdsty=V[3], srcy0=V[2], vsrcy1=V[0]
    )
    start = (ins.v_mov_b32_e32(V[2], 7), ins.v_mov_b32_e32(V[3], LANE))
    assert execute(*start, exchange, result=V[2]) == list(range(LANES))
    assert execute(*start, exchange, result=V[3]) == [7] * LANES


def test_a_comparison_to_exec_keeps_inactive_lanes_inactive() -> None:
    body = (
        ins.v_mov_b32_e32(V[1], 0),
        ins.v_cmpx_gt_u32_e32(20, LANE),
        ins.v_cmpx_ne_u32_e32(3, LANE),
        ins.v_mov_b32_e32(V[1], 1),
    )
    assert execute(*body) == [int(lane < 20 and lane != 3) for lane in range(LANES)]


def test_a_half_of_a_register_is_written_alone() -> None:
    body = (
        ins.v_mov_b32_e32(V[1], 0x12345678),
        ins.v_mov_b16_e32(V[1].h, LANE.l),
        ins.v_add_f16_e32(V[2].l, V[1].l, V[1].l),
    )
    assert execute(*body) == [lane << 16 | 0x5678 for lane in range(LANES)]


@pytest.mark.parametrize("inactive", [False, True])
def test_dpp8_permutes_groups_of_eight(inactive: bool) -> None:
    """Lanes 0 to 15 are active. The last lane of each eight is read by the first."""
    selectors = {f"lane_sel_{k}": (7 - k if k < 4 else 7) for k in range(8)}
    move = ins.VOP1_DPP8(
        op=ins.VOP1Op.V_MOV_B32_E32,
        vdst=V[1],
        src0=dsl.src[234 if inactive else 233],
        vsrc0=LANE,
        **selectors,
    )
    body = (ins.v_mov_b32_e32(V[1], 99), ins.s_mov_b32(dsl.EXEC_LO, 0x0F7F), move)
    found = execute(*body)
    for lane in range(LANES):
        source = (lane & ~7) + (7 - lane % 8 if lane % 8 < 4 else 7)
        if not 0x0F7F >> lane & 1:
            assert found[lane] == 99
        elif inactive or 0x0F7F >> source & 1:
            assert found[lane] == source
        else:
            assert found[lane] == 0


def test_a_mask_of_64_lanes_is_refused() -> None:
    body = ins.s_and_saveexec_b64(S[4:5], S[6:7])
    with pytest.raises(UnknownInstruction, match=r"cannot execute `s_and_saveexec_b64 s\[4:5\], s\[6:7\]`"):
        execute(body)


def test_masks_of_exec_have_32_bits() -> None:
    body = (
        ins.v_mov_b32_e32(V[1], 0),
        ins.s_mov_b32(S[4], 0x00FF00FF),
        ins.s_mov_b32(dsl.EXEC_LO, 0x0F0F0F0F),
        ins.s_and_not1_saveexec_b32(S[5], S[4]),  # EXEC = s4 & ~EXEC
        ins.v_mov_b32_e32(V[1], 1),
        ins.s_mov_b32(dsl.EXEC_LO, S[5]),
        ins.v_add_nc_u32_e32(V[1], 2, V[1]),
    )
    assert execute(*body) == [
        (0x00FF00FF & ~0x0F0F0F0F) >> lane & 1 | (0x0F0F0F0F >> lane & 1) << 1 for lane in range(LANES)
    ]


def test_pairs_of_rounded_halves() -> None:
    """The pseudo-code of these is not evaluated: rounding towards zero, and the middle of three."""

    def of(name: str, kind: str, *values: float) -> int:
        with np.errstate(all="ignore"):
            return int(OPERATIONS[name].function(*(np.array([value], kind) for value in values))[0])

    assert of("v_cvt_pk_rtz_f16_f32", "f4", 1.0009, -1.0009) == 0xBC003C00
    assert of("v_cvt_pk_rtz_f16_f32", "f4", 1e6, np.inf) == 0x7C007BFF
    assert of("v_med3_i16", "i2", -5, 9, 3) == 3
    assert of("v_min3_u16", "u2", 5, 9, 3) == 3
    assert of("v_maxmin_i32", "i4", -5, 9, 3) == 3
    assert of("v_minmax_u32", "u4", 5, 9, 7) == 7


CARRY, OTHER = S[4], S[5]
CARRIES = 0xFFFFFFF0
"""Lanes 4 to 31, whose sum below carries."""


@pytest.mark.parametrize(
    ("between", "wanted"),
    [
        ((), CARRIES),
        ((ins.s_mov_b32(OTHER, 7),), CARRIES),
        ((ins.s_mov_b32(CARRY, 7),), 7),
        ((ins.s_mov_b32(OTHER, CARRY), ins.s_mov_b32(CARRY, 7), ins.s_mov_b32(CARRY, OTHER)), CARRIES),
        ((ins.s_cmp_eq_u32(0, 1), ins.s_cmov_b32(CARRY, 7)), CARRIES),
        ((ins.s_cmp_eq_u32(0, 0), ins.s_cmov_b32(CARRY, 7)), 7),
        ((ins.s_bitset0_b32(CARRY, 31),), CARRIES & 0x7FFFFFFF),
    ],
    ids=["read", "other", "overwritten", "copied", "kept", "replaced", "changed"],
)
def test_a_carry_that_is_read_is_computed(between: tuple[Any, ...], wanted: int) -> None:
    """The simulator leaves out carries that are overwritten before anything reads them."""
    body = (
        ins.v_mov_b32_e32(V[1], 0xFFFFFFFC),
        ins.s_mov_b32(dsl.VCC_LO, 0),
        ins.v_add_co_ci_u32(vdst=V[2], sdst=CARRY, src0=V[1], src1=LANE, src2=dsl.VCC_LO),
        *between,
        ins.v_mov_b32_e32(V[3], CARRY),
    )
    assert execute(*body, result=V[2]) == [(lane - 4) % 2**32 for lane in range(LANES)]
    assert execute(*body, result=V[3]) == [wanted] * LANES


def test_an_unsupported_component_is_named() -> None:
    word = ins.VOPD(
        opx=ins.VOPDOp.V_DUAL_MOV_B32, opy=ins.VOPDOp.V_DUAL_MOV_B32, vdstx=V[0], vdsty=V[1], srcx0=V[1],
        srcy0=V[0], vsrcx1=V[0], vsrcy1=V[0],
    ).to_bytes()  # fmt: skip
    changed = bytearray(word)
    number = int.from_bytes(changed[:4], "little") & ~(15 << 22) | 13 << 22
    changed[:4] = number.to_bytes(4, "little")
    with pytest.raises(UnknownInstruction, match="cannot execute `v_dual_dot2acc_f32_bf16`"):
        make_decoder(GFX1100).decode(bytes(changed), 0)


def test_the_condition_code_and_exec_are_operands_of_every_width() -> None:
    """SCC is zero-extended; of EXEC, a 16-bit operation takes the lowest bits."""
    compare = ins.s_cmp_eq_u32(7, 7)  # sets SCC
    wide = (ins.s_lshl_b64(S[4:5], dsl.SCC, 33), ins.v_mov_b32_e32(V[1], S[5]))
    narrow = (ins.v_mov_b32_e32(V[1], 0), ins.v_mov_b16_e32(V[1].l, dsl.SCC))
    mask = (ins.v_mov_b32_e32(V[1], 0), ins.v_mov_b16_e32(V[1].l, dsl.EXEC_LO))
    assert execute(compare, *wide) == [2] * LANES
    assert execute(compare, *narrow) == [1] * LANES
    assert execute(*mask) == [0xFFFF] * LANES
