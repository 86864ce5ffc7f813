"""A program with two GPUs without a process: its requests, and the recorded kernels that it launches.

The kernels are those of `programs/several_gpus.mojo`, as Mojo 1.2.0 compiles them for sm_90a.
"""

from __future__ import annotations

import struct
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from tests.simulator.asking import ask
from tooling.simulator.checks.findings import Check, Finding
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.engine.executor import Engine, Executor
from tooling.simulator.server.context import Context, Gpu
from tooling.simulator.server.host_code import HostCode
from tooling.simulator.server.protocol import (
    ARENA_BASE,
    MAGIC,
    REQUESTS,
    VERSION,
    CopyKind,
    DriverRequest,
    MemoryKind,
    Opcode,
    OrderAction,
)

KERNELS = Path(__file__).parent / "data" / "several_gpus"
N = 256
BLOCK = 64
BLOCKS = N // BLOCK
SIZE = 4 * N
EPOCHS = 3


class Program:
    """A Mojo program that has said hello: close it at the end.

    Attributes:
        streams: one for each GPU.
    """

    def __init__(
        self,
        schedule: str = "lockstep",
        gpus: int = 2,
        *,
        checked: bool = True,
        executor: Executor | None = None,
    ) -> None:
        make = partial(make_checks, tuple(Check) if checked else (), gpus=gpus)
        self.context = Context(Gpu(executor or Engine(schedule, None), make, devices=gpus), lambda: False)
        code = HostCode(Path("/nowhere"), 0, 0, 0)
        hello = DriverRequest(Opcode.HELLO, (MAGIC, VERSION, 1, ARENA_BASE), b"")
        with patch("tooling.simulator.server.context.host_code", return_value=code):  # as of a Mojo program
            status, answer, _ = self.context.answer(hello)
        assert status == 0
        assert REQUESTS[Opcode.HELLO].reply.unpack_from(answer)[-1] == gpus
        self.streams = [0x6000 + 16 * gpu for gpu in range(gpus)]
        for gpu, stream in enumerate(self.streams):
            self.order(OrderAction.CREATE_STREAM, stream, 1 | gpu << 32)
        self._functions: dict[tuple[str, int], int] = {}
        self._events = 0x7000

    def close(self) -> list[Finding]:
        """End the program; returns what was found."""
        self.context.close()
        return self.context.findings

    def kinds(self) -> list[str]:
        """The kinds of what was found in a program that has ended."""
        return [finding.kind.value for finding in self.close()]

    def ask(self, opcode: Opcode, *fields: int, tail: bytes = b"") -> int:
        """The first number of the answer of a request that succeeds."""
        status, number = ask(self.context, opcode, *fields, tail=tail)
        assert status == 0, (opcode, status)
        return number

    def order(self, action: OrderAction, stream: int, event: int) -> int:
        """The status of a request that orders streams."""
        return ask(self.context, Opcode.ORDER, action, stream, event)[0]

    def allocate(self, gpu: int, size: int = SIZE, kind: MemoryKind = MemoryKind.DEVICE) -> int:
        self.ask(Opcode.SELECT_DEVICE, gpu)
        return self.ask(Opcode.ALLOCATE, size, kind)

    def free(self, address: int) -> None:
        self.ask(Opcode.FREE, address, MemoryKind.DEVICE)

    def call(self, gpu: int, *, waits: bool = False) -> None:
        self.ask(Opcode.CALL, self.streams[gpu], waits, 0, 0, 0, 0, 0)

    def fill(self, gpu: int, address: int, value: float, size: int = SIZE) -> None:
        """Enqueue the filling of memory with a float32."""
        (bits,) = struct.unpack("<I", struct.pack("<f", value))
        self.call(gpu)
        self.ask(Opcode.FILL, address, bits, 4, size // 4, 1, size)

    def upload(self, gpu: int, address: int, content: bytes) -> None:
        self.call(gpu)
        self.ask(Opcode.UPLOAD, address, tail=content)

    def copy(self, gpu: int, destination: int, source: int) -> None:
        """Enqueue a copy as MAX does between contexts: both streams wait for each other."""
        for other in range(len(self.streams)):
            if other != gpu:
                self.wait_for(gpu, other)
        self.call(gpu)
        self.ask(Opcode.MOVE, destination, source, SIZE, CopyKind.ON_DEVICE)
        for other in range(len(self.streams)):
            if other != gpu:
                self.wait_for(other, gpu)

    def wait_for(self, gpu: int, other: int) -> None:
        """`enqueue_wait_for`: the stream of a GPU waits for that of another one."""
        self._events += 16
        assert self.order(OrderAction.RECORD_EVENT, self.streams[other], self._events) == 0
        assert self.order(OrderAction.STREAM_WAITS, self.streams[gpu], self._events) == 0

    def synchronise(self, *gpus: int) -> int:
        """The host waits; returns the status of the last wait."""
        status = 0
        for gpu in gpus or range(len(self.streams)):
            status = self.order(OrderAction.WAIT_FOR_STREAM, self.streams[gpu], 0)
        return status

    def launch(self, gpu: int, name: str, *arguments: int, threads: int = N) -> None:
        """Launch a recorded kernel; its last arguments are 32-bit integers if they are small or negative."""
        if (name, gpu) not in self._functions:
            self.ask(Opcode.SELECT_DEVICE, gpu)
            text = (KERNELS / f"{name}.ptx").read_bytes()
            module = self.ask(Opcode.LOAD_MODULE, tail=text)
            (entry,) = self.context.gpu.modules[text].kernels
            self._functions[name, gpu] = self.ask(Opcode.FUNCTION, module, tail=entry.encode())
        block = min(threads, BLOCK)
        shape = (threads // block, 1, 1, block, 1, 1, 1, 1, 1, 0, 0, self.streams[gpu])
        parameters = b"".join(
            struct.pack("<Q", each) if each >= ARENA_BASE else struct.pack("<i", each) for each in arguments
        )
        self.call(gpu)
        self.ask(Opcode.LAUNCH, self._functions[name, gpu], *shape, tail=parameters)

    def read(self, gpu: int, address: int, size: int = SIZE) -> NDArray[np.float32]:
        """The host copies memory to itself, and waits for that."""
        self.call(gpu, waits=True)
        self.ask(Opcode.READ, address, size)
        return self.context.memory.view(address, size).view(np.float32).copy()


def bits(value: float) -> int:
    """A float32 as the 32-bit integer of an argument."""
    return int(struct.unpack("<i", struct.pack("<f", value))[0])


def enabled(schedule: str, executor: Executor | None = None) -> Program:
    """A program whose GPUs may access each other's memory."""
    program = Program(schedule, executor=executor)
    for gpu in (0, 1):
        program.ask(Opcode.SELECT_DEVICE, gpu)
        program.ask(Opcode.ENABLE_PEER, 1 - gpu)
    return program


def all_reduce(program: Program, name: str) -> np.ndarray:
    """Each GPU adds both inputs, in several epochs: the wrong elements at the end."""
    inputs, results, flags = (
        [program.allocate(gpu, size) for gpu in (0, 1)] for size in (4 * N, 4 * N, 4 * BLOCKS)
    )
    for gpu in (0, 1):
        program.fill(gpu, flags[gpu], 0, 4 * BLOCKS)
    program.synchronise()
    for epoch in range(1, EPOCHS + 1):
        for gpu in (0, 1):
            own = (results[gpu], inputs[gpu], inputs[1 - gpu], flags[gpu], flags[1 - gpu])
            program.launch(gpu, name, *own, epoch, gpu)
    program.synchronise()
    expected = 2 * np.arange(N) + 3 * EPOCHS
    wrong = [program.read(gpu, results[gpu]) != expected for gpu in (0, 1)]
    for address in (*inputs, *results, *flags):
        program.free(address)
    return np.concatenate(wrong)
