"""The loads whose value a kernel stores unchanged, from its PTX."""

from __future__ import annotations

import pytest

from tests.simulator.simulate import kernel
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.nvidia.analysis.copied_values import loads_that_are_stored
from tooling.simulator.nvidia.ptx.reader import parse_module

ARRAY = ".shared .align 16 .b8 one[32];\n"


def stored_loads(body: str) -> list[str]:
    """The loads of a kernel, as written without their operands, whose value it may store."""
    function = parse_module(kernel(body.replace("; ", ";\n"), before=ARRAY)).kernels["k"]
    lines = loads_that_are_stored(function)
    return [item.form for item in function.body if isinstance(item, Instruction) and item.code_line in lines]


@pytest.mark.parametrize(
    ("body", "loads"),
    [
        ("ld.global.b32 %r1, [%rd30]; st.global.b32 [%rd31], %r1;", ["ld.global.b32"]),
        ("ld.global.nc.v2.b32 {%r1, %r2}, [%rd30]; st.global.v2.b32 [%rd31], {%r2, %r1};",
         ["ld.global.nc.v2.b32"]),
        ("ld.b32 %r1, [%rd30]; mov.b32 %r2, %r1; st.b32 [%rd31], %r2;", ["ld.b32"]),
        ("ld.global.b32 %r1, [%rd30]; selp.b32 %r2, %r1, 0, %p1; st.global.b32 [%rd31], %r2;",
         ["ld.global.b32"]),
        ("ld.global.b32 %r1, [%rd30]; shfl.sync.bfly.b32 %r2|%p1, %r1, 1, 31, -1;\n"
         "st.global.b32 [%rd31], %r2;",
         ["ld.global.b32"]),
        ("ld.global.b32 %r1, [%rd30]; st.shared.b32 [one], %r1; ld.shared.b32 %r2, [one+4];\n"
         "st.global.b32 [%rd31], %r2;", ["ld.global.b32"]),
        ("mov.u32 %r1, one; cp.async.ca.shared.global [%r1], [%rd30], 4; cp.async.wait_all;\n"
         "ld.shared.b32 %r2, [one]; st.global.b32 [%rd31], %r2;", ["cp.async.ca.shared.global"]),
        ("L: st.global.b32 [%rd31], %r1; mov.b32 %r1, %r2; ld.global.b32 %r2, [%rd30];\n@%p1 bra L;",
         ["ld.global.b32"]),
        ("ld.global.b32 %r1, [%rd30]; add.s32 %r2, %r1, 10; st.global.b32 [%rd31], %r2;", []),
        ("ld.global.b32 %r1, [%rd30]; setp.eq.s32 %p1, %r1, 0;\n@%p1 st.global.b32 [%rd31], %r30;", []),
        ("ld.global.b32 %r1, [%rd30]; st.shared.b32 [one], %r1; ld.shared.b32 %r2, [one];\n"
         "add.s32 %r3, %r2, 1; st.global.b32 [%rd31], %r3;", []),
        ("ld.global.b32 %r1, [%rd30]; mul.wide.u32 %rd1, %r1, 4; add.s64 %rd2, %rd31, %rd1;\n"
         "st.global.b32 [%rd2], %r30;", []),
    ],
)  # fmt: skip
def test_a_load_counts_if_its_value_reaches_a_store_unchanged(body: str, loads: list[str]) -> None:
    assert stored_loads(body) == loads
