"""Requests about buffers, answered without a program: what may be written, and what the checks hear of it."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pytest

from tooling.simulator.buffers import MOST_POISONED
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.context import Context, Gpu
from tooling.simulator.executor import Engine
from tooling.simulator.findings import Kind
from tooling.simulator.protocol import ARENA_BASE, MAGIC, VERSION, MemoryKind, Opcode, Request

READER = b"""
.version 8.5
.target sm_90a
.address_size 64
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


@pytest.fixture
def context() -> Iterator[Context]:
    context = Context(Gpu(Engine("lockstep", None), make_checks), lambda: False)
    context.answer(Request(Opcode.HELLO, (MAGIC, VERSION, 1, ARENA_BASE), b""))
    yield context
    context.close()


def ask(context: Context, opcode: Opcode, *fields: int, tail: bytes = b"") -> tuple[int, int]:
    """The status, and the first number of the answer."""
    status, answer, _ = context.answer(Request(opcode, fields, tail))
    return status, int.from_bytes(answer[:8], "little")


def read_by_a_kernel(context: Context, address: int) -> None:
    """Launch a thread that reads the first word at an address and writes the second."""
    _, module = ask(context, Opcode.LOAD_MODULE, tail=READER)
    _, function = ask(context, Opcode.FUNCTION, module, tail=b"reader")
    shape = (1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0)
    assert ask(context, Opcode.LAUNCH, function, *shape, tail=struct.pack("<Q", address))[0] == 0


def kinds(context: Context) -> list[Kind]:
    """What was found so far."""
    return [finding.kind for check in context.checks for finding in check.findings]


@pytest.mark.parametrize("size", [64, MOST_POISONED, MOST_POISONED + 4, 4 * MOST_POISONED])
def test_a_read_that_nobody_wrote_is_found_in_buffers_of_any_size(context: Context, size: int) -> None:
    _, address = ask(context, Opcode.ALLOCATE, size, MemoryKind.DEVICE)
    read_by_a_kernel(context, address)
    assert kinds(context) == [Kind.UNWRITTEN_READ]


@pytest.mark.parametrize(
    ("width", "rows", "pitch", "status"),
    [
        (4, 1, 0, 0),
        (4, 1, 4, 0),
        (4, 16, 4, 0),
        (4, 8, 8, 0),
        (4, 0, 4, 1),
        (4, 17, 4, 1),
        (4, 9, 8, 1),
        (4, 1 << 40, 0, 1),
        (4, 4, 2, 1),
        (0, 1, 0, 1),
    ],
)
def test_rows_are_written_where_they_lie_in_a_buffer(
    context: Context, width: int, rows: int, pitch: int, status: int
) -> None:
    _, address = ask(context, Opcode.ALLOCATE, 64, MemoryKind.DEVICE)
    assert ask(context, Opcode.WRITE, address, width, rows, pitch)[0] == status
