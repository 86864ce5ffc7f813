"""A program without a process: a context that is asked by function calls."""

from __future__ import annotations

import struct
from functools import partial

from tooling.simulator.checks.findings import Check, Kind
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.engine.executor import Engine
from tooling.simulator.server.context import Context, Gpu
from tooling.simulator.server.protocol import ARENA_BASE, MAGIC, VERSION, DriverRequest, Opcode

READER = b"""
.version 8.5
.target sm_90a
.address_size 64
.visible .global .align 4 .u32 counter = 7;
.visible .entry reader(.param .u64 pointer)
{
    .reg .b64 %rd<3>;
    .reg .b32 %r<3>;
    ld.param.b64 %rd1, [pointer];
    cvta.to.global.u64 %rd2, %rd1;
    ld.global.b32 %r1, [%rd2];
    st.global.b32 [%rd2+4], %r1;
    ret;
}
"""


def introduced(*, checked: bool = True, language: str = "en") -> Context:
    """A program that has said hello; close it at the end."""
    make = partial(make_checks, tuple(Check) if checked else ())
    context = Context(Gpu(Engine("lockstep", None), make, language), lambda: False)
    context.answer(DriverRequest(Opcode.HELLO, (MAGIC, VERSION, 1, ARENA_BASE), b""))
    return context


def ask(context: Context, opcode: Opcode, *fields: int, tail: bytes = b"") -> tuple[int, int]:
    """The status, and the first number of the answer."""
    status, answer, _ = context.answer(DriverRequest(opcode, fields, tail))
    return status, int.from_bytes(answer[:8], "little")


def read_by_a_kernel(context: Context, address: int) -> None:
    """Launch a thread that reads the first word at an address and writes the second."""
    launch(context, READER, "reader", 1, 1, address)


def launch(context: Context, text: bytes, name: str, grid: int, block: int, *pointers: int) -> None:
    """Launch a kernel that takes pointers alone."""
    _, module = ask(context, Opcode.LOAD_MODULE, tail=text)
    _, function = ask(context, Opcode.FUNCTION, module, tail=name.encode())
    shape = (grid, 1, 1, block, 1, 1, 1, 1, 1, 0, 0, 0)
    parameters = struct.pack(f"<{len(pointers)}Q", *pointers)
    assert ask(context, Opcode.LAUNCH, function, *shape, tail=parameters)[0] == 0


def kinds(context: Context) -> list[Kind]:
    """What was found so far."""
    return [finding.kind for check in context.checks for finding in check.findings]
