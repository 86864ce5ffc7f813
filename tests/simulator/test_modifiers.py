"""Decoding rejects what the assembler rejects: wrong modifiers, and registers of the wrong size."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

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


VERDICTS = (
    (Path(__file__).parent / "data" / "assembler_verdicts.txt").read_text(encoding="utf-8").splitlines()
)
"""Instructions that ptxas of CUDA 13.0 accepts (`+`) or refuses (`-`) for sm_90a and PTX 8.6, by opcode."""


def opcode_of(verdict: str) -> str:
    """`bar` of `+ bar.sync 15;`."""
    return re.split("[. ;]", verdict[2:], maxsplit=1)[0]


def accepted(text: str) -> bool:
    try:
        module = parse_module(kernel(text))
        decode(module, module.kernels["k"])
    except PtxError:
        return False
    return True


BY_OPCODE = {opcode: list(lines) for opcode, lines in itertools.groupby(VERDICTS, opcode_of)}


def test_the_verdicts_of_the_assembler_are_grouped_by_opcode() -> None:
    assert sum(map(len, BY_OPCODE.values())) == len(VERDICTS) == 1032
    assert sum(line.startswith("+ ") for line in VERDICTS) == 207


@pytest.mark.parametrize("opcode", BY_OPCODE)
def test_instructions_are_accepted_and_rejected_as_by_the_assembler(opcode: str) -> None:
    verdicts = {line[2:]: line.startswith("+ ") for line in BY_OPCODE[opcode]}
    assert [text for text, good in verdicts.items() if accepted(text) is not good] == []
