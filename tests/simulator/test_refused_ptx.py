"""Invalid PTX that once ended in a Python traceback: each is rejected with its line and the reason."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.simulate import HEAD, kernel, simulate
from tooling.simulator.gpu.launch import FaultKind
from tooling.simulator.nvidia.backend.lower import decode
from tooling.simulator.nvidia.ptx.reader import PtxError, parse_module

DECLARATIONS = {
    ".shared .align 0 .b8 tile[64];": "an alignment must be a power of two, not 0",
    ".global .align 3 .b8 data[64];": "an alignment must be a power of two, not 3",
    ".global .align 8 .u64 pointer = nowhere;": "unknown variable `nowhere`",
    ".shared .b32 tile; .global .align 8 .u64 pointer = generic(tile);": "unknown variable `tile`",
}

INSTRUCTIONS = {
    "mov.b64 {}, %rd1;": "its vector has the wrong number of elements",
    "mov.b64 %rd1, {};": "its vector has the wrong number of elements",
    "mov.b64 %rd1, {%r1, %r2, %r3};": "its vector has the wrong number of elements",
    "mov.u32 %r1, {": "cannot execute `mov.u32`",
    "mov.b64 %rd1, {%rd2, %rd3};": "it does not take these operands or types",
    "mov.b64 {%rd1, %rd2}, %rd3;": "its result does not fit into %rd1",
    "mov.u32 %q1, %r1;": "it does not take these operands or types",
    "mov.u32 %r1, %q1;": "it does not take these operands or types",
    "mad.lo.s32 %r1, !%r2, %r3, %r4;": "an operand that this instruction cannot take",
    "@%rd1 mov.u32 %r1, 0;": "its guard %rd1 is not a predicate register",
    "@!%r1 bra END;\nEND:": "its guard %r1 is not a predicate register",
    "ld.param.u32 %r1, [p0+2147483648];": "it reads outside the 8 bytes of the kernel's parameters",
    "ld.param.u32 %r1, [p0-1];": "it reads outside the 8 bytes of the kernel's parameters",
    "ld.param.v2.u32 {%r1, %r2}, [p0+4];": "it reads outside the 8 bytes of the kernel's parameters",
    "ld.param.u32 %tid.x, [p0];": "its destination is not a register",
    "ld.shared.f64 %r1, [%r2];": "its register is narrower than its type",
    "ld.global.v2.u64 {%rd1, %r1}, [%rd2];": "its register is narrower than its type",
    "st.shared.u64 [%r1], %r2;": "its register is narrower than its type",
    "cp.async.ca.shared.global [%r1], [%rd1], 1000000000000;": "a copy must be of 4, 8 or 16 bytes",
    "cp.async.cg.shared.global [%r1], [%rd1], 8;": "a copy must be of 4, 8 or 16 bytes",
    "call %r5, %r1, 2;": "addresses of global memory, of functions and generic ones have 64 bits",
    "mapa.shared::cluster.u32 %r1, %r2, %p1;": "it does not take these operands or types",
    "atom.global.add.u32 %r1, [%rd1], %rd2;": "it does not take these operands or types",
    "st.global.b32 [%rd1], %p1;": "it does not take these operands or types",
    "shfl.sync.idx.b32 %r1, %rd1, 0, 31, -1;": "it does not take these operands or types",
    "shr.f32 %r1, %r2, %r3;": "cannot execute `shr.f32`",
    "mapa.shared::cluster.f32 %r1, %r2, %r3;": "cannot execute `mapa.shared::cluster.f32`",
}


@pytest.mark.parametrize(("text", "why"), DECLARATIONS.items())
def test_an_invalid_declaration_is_rejected(text: str, why: str) -> None:
    with pytest.raises(PtxError) as caught:
        parse_module(f"{HEAD}\n{text}\n")
    assert why in str(caught.value)
    assert caught.value.line == 5


@pytest.mark.parametrize("parameter", [".param .align 0 .b8 p[4]", ".param .align 12 .b8 p[4]"])
def test_an_invalid_parameter_is_rejected(parameter: str) -> None:
    with pytest.raises(PtxError, match="an alignment must be a power of two, not") as caught:
        parse_module(f"{HEAD}\n.visible .entry k({parameter})\n{{\nret;\n}}\n")
    assert caught.value.line == 5


def test_an_invalid_variable_of_a_body_is_rejected() -> None:
    with pytest.raises(PtxError, match="an alignment must be a power of two, not 0") as caught:
        parse_module(f"{HEAD}.visible .entry k()\n{{\n.shared .align 0 .b8 tile[4];\nret;\n}}\n")
    assert caught.value.line == 6


@pytest.mark.parametrize(("text", "why"), INSTRUCTIONS.items())
def test_an_invalid_instruction_is_rejected(text: str, why: str) -> None:
    source = kernel(f".reg .b128 %q<2>;\n{text}")
    line = 1 + source[: source.index(text)].count("\n")
    with pytest.raises(PtxError) as caught:
        module = parse_module(source)
        decode(module, module.kernels["k"])
    assert why in str(caught.value)
    assert caught.value.line == line


def test_too_much_local_memory_is_rejected() -> None:
    module = parse_module(kernel(".local .align 4 .b8 depot[1000000000000];"))
    with pytest.raises(
        PtxError, match="uses 1000000000000 bytes of local memory for each thread; at most 524288"
    ):
        decode(module, module.kernels["k"])


def test_a_parameter_read_out_of_bounds_stops_the_kernel_in_both_languages() -> None:
    result, _ = simulate(kernel("ld.param.u64 %rd1, [%ntid.x];"), [np.zeros(1, np.uint32)], block=32)
    assert result.error is not None
    assert result.error.kind is FaultKind.ILLEGAL_ADDRESS
    assert result.error.reason.render("en") == (
        "thread (0, 0, 0) of block (0, 0, 0) accessed 8 bytes at parameter address 0x20, where there is no "
        "parameter memory"
    )
    assert result.error.reason.render("ko") == (
        "블록 (0, 0, 0)의 스레드 (0, 0, 0)에서 인자 주소 0x20에 접근했지만(8바이트), "
        "거기에는 인자 메모리가 없습니다"
    )
