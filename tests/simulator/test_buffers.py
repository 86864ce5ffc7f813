"""Requests about buffers, answered without a program: what may be written, and what the checks hear of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.simulator.asking import ask, introduced, kinds, read_by_a_kernel
from tooling.simulator.checks.findings import Kind
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.hooks import Hook
from tooling.simulator.server.arena import Arena
from tooling.simulator.server.buffers import MOST_POISONED, Buffers
from tooling.simulator.server.context import Context
from tooling.simulator.server.protocol import ARENA_BASE, DriverRequest, MemoryKind, Opcode


@pytest.fixture
def context() -> Iterator[Context]:
    context = introduced()
    yield context
    context.close()


@pytest.mark.parametrize("size", [64, MOST_POISONED, MOST_POISONED + 4, 4 * MOST_POISONED])
def test_an_unwritten_read_is_found_in_buffers_of_any_size(context: Context, size: int) -> None:
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
def test_rows_of_a_strided_copy_are_marked_written(
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


class Writes(Hook):
    """Records the sizes of host writes; not a check, and without other events."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def host_write(self, memory: DeviceMemory, address: int, size: int) -> None:
        self.sizes.append(size)


def test_any_hook_receives_what_the_host_does_with_memory() -> None:
    arena, hook = Arena(ARENA_BASE), Writes()
    buffers = Buffers(arena, DeviceMemory(arena.buffer, ARENA_BASE), [hook], 1 << 30)

    def ask_buffers(opcode: Opcode, *fields: int) -> bytes:
        status, answer = buffers.answers[opcode](DriverRequest(opcode, fields, b""))
        assert status == 0
        return answer

    try:
        first, second = (
            int.from_bytes(ask_buffers(Opcode.ALLOCATE, 64, MemoryKind.DEVICE), "little") for _ in range(2)
        )
        ask_buffers(Opcode.WRITE, first, 4, 1, 0)
        ask_buffers(
            Opcode.COPY, second, first, 16
        )  # a check that does not distinguish them takes a copy for a write
        ask_buffers(Opcode.FREE, first, MemoryKind.DEVICE)
    finally:
        arena.close()
    assert hook.sizes == [4, 16]
