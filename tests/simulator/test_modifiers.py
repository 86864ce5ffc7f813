"""Decoding rejects what the assembler rejects: wrong modifiers of loads, stores and atomics, and registers of
the wrong size."""

from __future__ import annotations

import pytest

from tests.simulator.simulate import kernel
from tooling.simulator.nvidia.backend.lower import decode
from tooling.simulator.nvidia.ptx.reader import PtxError, parse_module

GOOD = [
    "ld.global.b32 %r1, [%rd30];",
    "ld.global.nc.L1::no_allocate.L2::128B.v4.b32 {%r1, %r2, %r3, %r4}, [%rd30];",
    "ld.volatile.global.u32 %r1, [%rd30];",
    "ld.relaxed.sys.global.u32 %r1, [%rd30];",
    "ld.mmio.relaxed.sys.global.u32 %r1, [%rd30];",
    "ld.acquire.gpu.b64 %rd1, [%rd30];",
    "ld.global.L2::cache_hint.b32 %r1, [%rd30], %rd30;",
    "ld.global.v2.b64 {%rd1, %rd2}, [%rd30];",
    "st.release.gpu.global.b32 [%rd30], %r1;",
    "st.global.wt.b32 [%rd30], %r1;",
    "st.volatile.b32 [%rd30], %r1;",
    "atom.relaxed.gpu.global.add.u32 %r1, [%rd30], %r2;",
    "red.global.add.noftz.f16x2 [%rd30], %r2;",
    "pmevent 15;",
    "pmevent.mask 0xffff;",
]

BAD = [
    "ld.globul.b32 %r1, [%rd30];",
    "ld.b32.global %r1, [%rd30];",
    "ld.global.shared.b32 %r1, [%rd30];",
    "ld.nc.global.b32 %r1, [%rd30];",
    "ld.global.v3.b32 {%r1, %r2, %r3}, [%rd30];",
    "ld.global.v4.b64 {%rd1, %rd2, %rd3, %rd4}, [%rd30];",
    "ld.relaxed.global.b32 %r1, [%rd30];",
    "ld.gpu.global.b32 %r1, [%rd30];",
    "ld.release.gpu.global.b32 %r1, [%rd30];",
    "ld.global.f16 %rs1, [%rd30];",
    "ld.global.pred %p1, [%rd30];",
    "st.globul.b32 [%rd30], %r1;",
    "st.acquire.gpu.global.b32 [%rd30], %r1;",
    "st.const.b32 [%rd30], %r1;",
    "st.global.nc.b32 [%rd30], %r1;",
    "st.global.quick.b32 [%rd30], %r1;",
    "atom.globul.add.u32 %r1, [%rd30], %r2;",
    "atom.global.add.s64 %rd1, [%rd30], %rd2;",
    "atom.global.and.u32 %r1, [%rd30], %r2;",
    "atom.global.min.f32 %r1, [%rd30], %r2;",
    "red.global.inc.s32 [%rd30], %r2;",
    "pmevent 16;",
    "pmevent %r1;",
    "pmevent.mask 0x10000;",
    "pmevent.masked 1;",
]

MISFITS = [
    "setp.ne.u32 %rd3, %r1, 4;",
    "setp.ne.u32 %p1|%r2, %r1, 4;",
    "add.s32 %p1, %r1, %r2;",
    "isspacep.shared %r1, %rd3;",
    "vote.sync.ballot.b32 %rd3, %p1, -1;",
    "vote.sync.any.pred %r1, %p1, -1;",
    "shfl.sync.idx.b32 %r1|%r2, %r3, 0, 31, -1;",
    "mapa.u32 %r1, %r2, %r3;",
    "mapa.sharetiled::cluster.u32 %r1, %r2, %r3;",
    "mov.u64 %rd3, %clock;",
]
"""Registers of the wrong type or size for the result."""


@pytest.mark.parametrize("text", GOOD)
def test_forms_of_the_isa_are_accepted(text: str) -> None:
    module = parse_module(kernel(text))
    decode(module, module.kernels["k"])


@pytest.mark.parametrize("text", [*BAD, *MISFITS])
def test_other_forms_are_rejected_with_their_line(text: str) -> None:
    module = parse_module(kernel("\n" + text))
    with pytest.raises(PtxError, match="cannot execute") as caught:
        decode(module, module.kernels["k"])
    assert text.split(maxsplit=1)[0] in str(caught.value)
    assert module.kernels["k"].line < caught.value.line
