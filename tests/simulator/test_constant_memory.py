"""Constant memory, which has 32-bit addresses, and the addresses of other memory, which have 64 bits."""

from __future__ import annotations

import numpy as np
import pytest

from tests.machine import needs_simulated_gpu
from tests.simulator.driver_lab import program, run, stand_ins
from tests.simulator.helpers import findings_of
from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Finding, Kind, explain
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.nvidia.backend.lower import decode
from tooling.simulator.nvidia.ptx.reader import PtxError, parse_module
from tooling.simulator.server.session import Simulation

COEFFICIENTS = """
.const .align 4 .b8 first[8] = {9, 9, 9, 9, 9, 9, 9, 9};
.const .align 4 .u32 coeff[4] = {10, 20, 30, 40};
.global .align 4 .u32 plain = 7;
.shared .align 4 .b8 tile[128];
"""
MINE = "mul.wide.u32 %rd1, %r30, 8; add.u64 %rd1, %rd30, %rd1;\n"
INDEX = "and.b32 %r1, %r30, 3; shl.b32 %r2, %r1, 2;\n"


def results(body: str, before: str = COEFFICIENTS) -> tuple[list[int], list[Finding]]:
    """The four 64-bit elements of the output, and the findings of the checks."""
    checks = make_checks()
    done, (out,) = simulate(
        kernel(MINE + INDEX + body, before=before), [np.zeros(4, np.uint64)], block=4, hooks=checks
    )
    assert done.error is None
    return out.tolist(), findings_of(checks)


@pytest.mark.parametrize(
    "load",
    [
        "mov.b32 %r3, coeff; add.s32 %r3, %r3, %r2; ld.const.b32 %r4, [%r3];",
        "mov.b32 %r3, coeff; add.s32 %r3, %r3, %r2; ld.const.b32 %r4, [%r3+0];",
        "sub.s32 %r3, %r2, 8; mov.b32 %r5, coeff; add.s32 %r3, %r3, %r5; ld.const.b32 %r4, [%r3+8];",
        "cvt.u64.u32 %rd3, %r2; mov.b64 %rd2, coeff; add.u64 %rd2, %rd2, %rd3; ld.const.b32 %r4, [%rd2];",
        "cvt.u64.u32 %rd3, %r2; mov.b64 %rd2, coeff; cvta.const.u64 %rd2, %rd2; add.u64 %rd2, %rd2, %rd3; "
        "ld.b32 %r4, [%rd2];",
        "cvt.u64.u32 %rd3, %r2; mov.b64 %rd2, coeff; cvta.const.u64 %rd2, %rd2; add.u64 %rd2, %rd2, %rd3; "
        "cvta.to.const.u64 %rd2, %rd2; cvt.u32.u64 %r3, %rd2; ld.const.b32 %r4, [%r3];",
    ],
)
def test_a_constant_is_read_by_every_kind_of_address(load: str) -> None:
    body = f"{load} cvt.u64.u32 %rd5, %r4; st.global.b64 [%rd1], %rd5;"
    assert results(body) == ([10, 20, 30, 40], [])


def test_a_constant_is_read_by_its_name() -> None:
    body = "ld.const.b32 %r4, [coeff+8]; cvt.u64.u32 %rd5, %r4; st.global.b64 [%rd1], %rd5;"
    assert results(body) == ([30, 30, 30, 30], [])


def test_a_generic_address_of_a_constant_is_only_in_constant_memory() -> None:
    """As on an H200."""
    ask = "".join(
        f"isspacep.{space} %p1, %rd2; selp.b64 %rd3, {bit}, 0, %p1; or.b64 %rd4, %rd4, %rd3;\n"
        for space, bit in (("const", 1), ("global", 2), ("shared", 4), ("local", 8))
    )
    for address, answer in (
        ("mov.b64 %rd2, coeff; cvta.const.u64 %rd2, %rd2;", 1),
        ("mov.b64 %rd2, plain; cvta.global.u64 %rd2, %rd2;", 2),
        ("mov.b64 %rd2, tile; cvta.shared.u64 %rd2, %rd2;", 4),
    ):
        out, findings = results(f"mov.b64 %rd4, 0; {address} {ask} st.global.b64 [%rd1], %rd4;")
        assert (out, findings) == ([answer] * 4, [])


@pytest.mark.parametrize(
    ("shift", "kind", "what"),
    [
        (4, Kind.PAST_THE_END,
         "read of 4 bytes reaches 4 bytes past the end of the 16-byte variable `coeff`: "
         "element 4 where 3 is the last (4-byte elements)"),
        (-4, Kind.BEFORE_THE_START,
         "read of 4 bytes starts 4 bytes before the beginning of the 16-byte variable `coeff`: "
         "element -1 where 3 is the last (4-byte elements)"),
    ],
)  # fmt: skip
def test_an_index_outside_a_constant_array_is_reported(shift: int, kind: Kind, what: str) -> None:
    body = f"mov.b32 %r3, coeff; add.s32 %r3, %r3, %r2; add.s32 %r3, %r3, {shift}; ld.const.b32 %r4, [%r3];"
    _, (finding,) = results(body)
    assert (finding.kind, finding.count) == (kind, 1)
    assert explain(finding).what == what
    assert "변수 `coeff`(16바이트)" in explain(finding, "ko").what


def test_initial_addresses_change_only_their_own_bytes() -> None:
    before = COEFFICIENTS + (
        ".global .align 8 .b64 there[2] = {generic(coeff)+4, 3};\n"
        ".global .align 4 .u32 near[2] = {coeff+12, 5};\n"
    )
    body = """
    ld.global.b64 %rd2, [there]; ld.b32 %r3, [%rd2];
    ld.global.b32 %r4, [near]; ld.const.b32 %r4, [%r4]; ld.global.b32 %r5, [near+4];
    mad.lo.u32 %r3, %r4, 1000, %r3; mad.lo.u32 %r3, %r5, 1000000, %r3;
    cvt.u64.u32 %rd5, %r3; st.global.b64 [%rd1], %rd5;
    """
    assert results(body, before) == ([5040020] * 4, [])


@pytest.mark.parametrize(
    "narrow",
    [
        "mov.b32 %r3, plain;",
        "ld.global.b32 %r4, [%r3];",
        "ld.b32 %r4, [%r3];",
        "st.global.b32 [%r3], %r4;",
        "st.b32 [%r3], %r4;",
        "atom.global.add.u32 %r4, [%r3], 1;",
        "red.add.u32 [%r3], 1;",
        "mov.b32 %r5, tile; cp.async.ca.shared.global [%r5], [%r3], 4;",
        "cvta.shared.u32 %r4, %r3;",
    ],
)
def test_an_address_register_that_is_too_narrow_is_rejected(narrow: str) -> None:
    """As by the assembler for sm_90, which has no 32-bit addresses of global memory."""
    module = parse_module(kernel("\n" + narrow, before=COEFFICIENTS))
    with pytest.raises(PtxError, match="addresses of global memory, of functions and generic ones") as caught:
        decode(module, module.kernels["k"])
    assert caught.value.line > 10


@pytest.mark.parametrize(
    "access",
    [
        "ld.global.b32 %r4, [coeff];",
        "ld.b32 %r4, [coeff];",
        "ld.const.b32 %r4, [plain];",
        "ld.shared.b32 %r4, [plain];",
        "ld.global.b32 %r4, [tile];",
        "st.global.b32 [tile], %r4;",
    ],
)
def test_a_variable_of_another_state_space_is_rejected(access: str) -> None:
    """As by the assembler."""
    module = parse_module(kernel(access, before=COEFFICIENTS))
    with pytest.raises(PtxError, match="is a variable of the state space"):
        decode(module, module.kernels["k"])


def test_generic_accesses_may_name_shared_local_and_global_variables() -> None:
    body = """
    .local .align 4 .b8 mine[8];
    st.b32 [tile], 5; st.b32 [mine+4], %r30; bar.sync 0;
    atom.add.u32 %r4, [tile], 1; bar.sync 0; ld.shared.b32 %r4, [tile]; ld.b32 %r5, [tile];
    ld.local.b32 %r6, [mine+4]; ld.b32 %r7, [mine+4]; ld.b32 %r8, [plain];
    mad.lo.u32 %r4, %r4, 10, %r5; mad.lo.u32 %r4, %r4, 10, %r6; mad.lo.u32 %r4, %r4, 10, %r7;
    mad.lo.u32 %r4, %r4, 10, %r8; cvt.u64.u32 %rd5, %r4; st.global.b64 [%rd1], %rd5;
    """
    assert results(body) == ([99007 + 110 * lane for lane in range(4)], [])


@pytest.mark.slow
@pytest.mark.mojo
@needs_simulated_gpu
def test_a_mojo_program_reads_constant_memory_that_the_host_has_written() -> None:
    with Simulation(libraries=stand_ins()) as gpu:
        done = run(gpu, program("constant_memory"))
    assert (done.stdout, done.returncode) == ("wrong: 0 of 100\n", 0)
    assert gpu.findings == []
