"""Requests about buffers, answered without a program: what may be written, and what the checks hear of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.simulator.asking import ask, introduced, kinds, read_by_a_kernel
from tooling.simulator.buffers import MOST_POISONED
from tooling.simulator.context import Context
from tooling.simulator.findings import Kind
from tooling.simulator.protocol import MemoryKind, Opcode


@pytest.fixture
def context() -> Iterator[Context]:
    context = introduced()
    yield context
    context.close()


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


def test_buffers_are_numbered_as_the_program_allocated_them(context: Context) -> None:
    _, first = ask(context, Opcode.ALLOCATE, 64, MemoryKind.DEVICE)
    read_by_a_kernel(context, first)  # its module has a variable, which is no buffer
    _, second = ask(context, Opcode.ALLOCATE, 64, MemoryKind.DEVICE)
    read_by_a_kernel(context, second + 64)
    numbers = [
        finding.buffer.number for check in context.checks for finding in check.findings if finding.buffer
    ]
    assert sorted(set(numbers)) == [1, 2]
