"""Several GPUs of one program: devices, memory of each, modules, the order of their streams."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import partial

import pytest

from tests.simulator.asking import READER, ask, kinds
from tooling.simulator.checks.findings import Check, Kind
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.engine.executor import Engine
from tooling.simulator.gpu.streams import DEVICE_SHIFT
from tooling.simulator.server.context import Context, Gpu
from tooling.simulator.server.protocol import (
    ARENA_BASE,
    MAGIC,
    REQUESTS,
    VERSION,
    DriverRequest,
    MemoryKind,
    Opcode,
    OrderAction,
)

MEMORY = 16 << 30


@pytest.fixture
def context() -> Iterator[Context]:
    """A program with two GPUs."""
    gpu = Gpu(Engine("lockstep", None), partial(make_checks, tuple(Check)), devices=2)
    program = Context(gpu, lambda: False)
    status, answer, _ = program.answer(DriverRequest(Opcode.HELLO, (MAGIC, VERSION, 1, ARENA_BASE), b""))
    assert status == 0
    assert REQUESTS[Opcode.HELLO].reply.unpack_from(answer)[-1] == 2
    yield program
    program.close()


def select(context: Context, device: int) -> int:
    return ask(context, Opcode.SELECT_DEVICE, device)[0]


def allocate(context: Context, device: int, size: int = 64) -> int:
    assert select(context, device) == 0
    status, address = ask(context, Opcode.ALLOCATE, size, MemoryKind.DEVICE)
    assert status == 0
    return address


def free_bytes(context: Context, device: int) -> int:
    select(context, device)
    return ask(context, Opcode.MEMORY_INFO)[1]


def load(context: Context, device: int, text: bytes = READER, name: str = "reader") -> tuple[int, int]:
    """The handles of a module and of its kernel on a device."""
    select(context, device)
    _, module = ask(context, Opcode.LOAD_MODULE, tail=text)
    _, function = ask(context, Opcode.FUNCTION, module, tail=name.encode())
    return module, function


def launch(context: Context, function: int, stream: int, *pointers: int) -> None:
    shape = (1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, stream)
    parameters = struct.pack(f"<{len(pointers)}Q", *pointers)
    assert ask(context, Opcode.LAUNCH, function, *shape, tail=parameters)[0] == 0
    assert ask(context, Opcode.ORDER, OrderAction.WAIT_FOR_STREAM, stream, 0)[0] == 0


def test_each_device_has_its_own_memory(context: Context) -> None:
    address = allocate(context, 1, 4096)
    assert free_bytes(context, 0) == MEMORY
    assert free_bytes(context, 1) == MEMORY - 4096
    select(context, 0)  # freed by a thread whose current device is another one
    assert ask(context, Opcode.FREE, address, MemoryKind.DEVICE)[0] == 0
    assert free_bytes(context, 1) == MEMORY


def test_an_address_says_to_which_device_it_belongs(context: Context) -> None:
    for device in (0, 1):
        address = allocate(context, device)
        _, answer, _ = context.answer(DriverRequest(Opcode.RANGE, (address,), b""))
        assert REQUESTS[Opcode.RANGE].reply.unpack(answer)[-1] == device


def test_there_is_no_third_device(context: Context) -> None:
    assert select(context, 2) == 1
    assert select(context, 1) == 0


def test_each_device_has_its_own_variables_of_a_module(context: Context) -> None:
    addresses = set()
    for device in (0, 1):
        module, _ = load(context, device)
        status, address = ask(context, Opcode.GLOBAL, module, tail=b"counter")
        assert status == 0
        addresses.add(address)
    assert len(addresses) == 2


def test_a_kernel_runs_on_the_device_of_its_module(context: Context) -> None:
    for device in (1, 0):
        _, function = load(context, device)
        launch(context, function, device << DEVICE_SHIFT, allocate(context, device))
    assert [record.launch.device for record in context.gpu.records] == [1, 0]


def test_a_kernel_reads_the_memory_of_another_device(context: Context) -> None:
    address = allocate(context, 1)
    assert ask(context, Opcode.WRITE, address, 64, 1, 64)[0] == 0
    _, function = load(context, 0)
    launch(context, function, 0, address)
    assert Kind.WILD_POINTER not in kinds(context)
    assert context.gpu.records[-1].result.error is None
