"""Launches that repeat an earlier one exactly are not simulated again, and any others are."""

from __future__ import annotations

import struct
from functools import partial

from tests.simulator.asking import ask
from tooling.simulator.checks.findings import Check
from tooling.simulator.checks.host_order import HostOrderCheck
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.engine.executor import Engine
from tooling.simulator.gpu.launch_selection import LaunchSelection
from tooling.simulator.server.context import Context, Gpu
from tooling.simulator.server.protocol import (
    ARENA_BASE,
    MAGIC,
    VERSION,
    DriverRequest,
    MemoryKind,
    Opcode,
)

HEAD = """.version 8.5
.target sm_90a
.address_size 64
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
.visible .global .align 1 .b8 message[4] = {104, 105, 10, 0};
"""


def kernel(name: str, body: str) -> str:
    """A kernel of one thread with the addresses in %rd1 and %rd2."""
    return f"""
.visible .entry {name}(.param .u64 one, .param .u64 two)
{{
    .reg .b64 %rd<8>;
    .reg .b32 %r<8>;
    ld.param.b64 %rd1, [one];
    ld.param.b64 %rd2, [two];
    {body}
    ret;
}}
"""


PRINT = """
    cvta.global.u64 %rd3, message;
    mov.u64 %rd4, 0;
    { .param .b64 a; .param .b64 b; .param .b32 c;
      st.param.b64 [a], %rd3; st.param.b64 [b], %rd4; call.uni (c), vprintf, (a, b); }
"""
TWICE = "ld.global.b32 %r1, [%rd1]; add.u32 %r2, %r1, %r1; st.global.b32 [%rd2], %r2;"
MODULE = HEAD + "".join(
    (
        kernel("twice", TWICE),
        kernel("increment", "ld.global.b32 %r1, [%rd1]; add.u32 %r2, %r1, 1; st.global.b32 [%rd1], %r2;"),
        kernel("count", "red.global.add.u32 [%rd1], 1;"),
        kernel("prints", TWICE + PRINT),
    )
)


class Program:
    """A program that launches kernels of one thread."""

    def __init__(self, *, skip_repeats: bool = True, selection: LaunchSelection | None = None) -> None:
        make = partial(make_checks, tuple(Check))
        self.gpu = Gpu(
            Engine("lockstep", None),
            make,
            selection=selection or LaunchSelection(),
            skip_repeats=skip_repeats,
        )
        self.context = Context(self.gpu, lambda: False)
        self.context.answer(DriverRequest(Opcode.HELLO, (MAGIC, VERSION, 1, ARENA_BASE), b""))
        self.module = ask(self.context, Opcode.LOAD_MODULE, tail=MODULE.encode())[1]
        self.output = b""

    def buffer(self, value: int | None = None, kind: MemoryKind = MemoryKind.DEVICE) -> int:
        """The address of a buffer of one word."""
        address = ask(self.context, Opcode.ALLOCATE, 4, kind)[1]
        if value is not None:
            self.write(address, value)
        return address

    def write(self, address: int, value: int) -> None:
        """As the stand-in driver does: it reports the copy, and moves the bytes itself."""
        assert ask(self.context, Opcode.WRITE, address, 4, 1, 4)[0] == 0
        self.context.memory.view(address, 4)[:] = bytearray(value.to_bytes(4, "little"))

    def read(self, address: int) -> int:
        return int.from_bytes(self.context.memory.view(address, 4).tobytes(), "little")

    def launch(self, name: str, one: int, two: int = 0) -> None:
        function = ask(self.context, Opcode.FUNCTION, self.module, tail=name.encode())[1]
        shape = (1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0)
        request = DriverRequest(Opcode.LAUNCH, (function, *shape), struct.pack("<2Q", one, two))
        status, _, output = self.context.answer(request)
        assert status == 0
        self.output += output

    @property
    def repeated(self) -> list[bool]:
        return [record.result.repeated for record in self.gpu.records]


def test_the_third_equal_launch_is_not_simulated() -> None:
    program = Program()
    one, two = program.buffer(21), program.buffer()
    for _ in range(5):
        program.launch("twice", one, two)
    assert program.repeated == [False, False, True, True, True]
    assert program.read(two) == 42
    assert not program.context.findings


def test_other_arguments_are_another_launch() -> None:
    program = Program()
    one, two, three = program.buffer(21), program.buffer(), program.buffer()
    for target in (two, two, three, two, three, three):
        program.launch("twice", one, target)
    assert program.repeated == [False, False, False, False, False, True]
    assert program.read(three) == 42


def test_a_benchmark_of_two_kernels_in_turn_is_recognised() -> None:
    program = Program()
    one, two, three = program.buffer(3), program.buffer(), program.buffer()
    for _ in range(4):
        program.launch("twice", one, two)
        program.launch("twice", two, three)
    assert program.repeated == [False] * 4 + [True] * 4
    assert program.read(three) == 12


def test_after_a_change_of_its_input_a_launch_is_simulated() -> None:
    program = Program()
    one, two, three = program.buffer(1), program.buffer(), program.buffer(5)
    for _ in range(3):
        program.launch("twice", one, two)
    program.write(one, 4)  # by the host
    program.launch("twice", one, two)
    assert program.read(two) == 8
    for _ in range(2):
        program.launch("twice", one, two)
    program.launch("twice", three, one)  # by another kernel
    program.launch("twice", one, two)
    assert program.read(two) == 20
    assert program.repeated == [False, False, True, False, False, True, False, False]


def test_after_a_change_of_its_output_a_launch_is_simulated() -> None:
    program = Program()
    one, two, three = program.buffer(1), program.buffer(), program.buffer(5)
    for _ in range(2):
        program.launch("twice", one, two)
        program.launch("twice", three, two)
    program.launch("twice", one, two)
    assert program.read(two) == 2
    assert program.repeated == [False] * 5


def test_a_launch_that_changes_its_input_is_always_simulated() -> None:
    for name in ("increment", "count"):
        program = Program()
        one = program.buffer(0)
        for _ in range(5):
            program.launch(name, one)
        assert program.read(one) == 5
        assert not any(program.repeated)


def test_a_launch_that_uses_host_memory_is_always_simulated() -> None:
    program = Program()
    one, two = program.buffer(1, MemoryKind.PINNED), program.buffer()
    for value in range(4):
        program.context.memory.view(one, 4)[:] = bytearray(value.to_bytes(4, "little"))  # without the driver
        program.launch("twice", one, two)
        assert program.read(two) == 2 * value
    assert not any(program.repeated)


def test_every_print_and_every_finding_is_there() -> None:
    program = Program()
    one, two = program.buffer(1), program.buffer()
    for _ in range(4):
        program.launch("prints", one, two)
    program.launch("twice", one, two)
    assert program.output == b"hi\n" * 4
    for _ in range(4):
        program.launch("twice", one, two + 4)
    assert [(finding.count, finding.launch) for finding in program.context.findings] == [(4, 6)]
    assert not any(program.repeated)


def test_launches_are_numbered_with_those_that_were_not_simulated() -> None:
    program = Program()
    one, two = program.buffer(1), program.buffer()
    for _ in range(4):
        program.launch("twice", one, two)
    program.launch("twice", one, two + 4)
    assert [finding.launch for finding in program.context.findings] == [5]


def test_where_streams_overlap_every_launch_is_simulated() -> None:
    program = Program()
    (order,) = (check for check in program.context.checks if isinstance(check, HostOrderCheck))
    one, two = program.buffer(1), program.buffer()
    for stream in (7, 8):
        order.create_stream(stream, 0)
    for _ in range(4):
        program.launch("twice", one, two)
    assert not any(program.repeated)


def test_only_where_it_is_wanted_and_all_findings_are_recorded() -> None:
    for program in (Program(skip_repeats=False), Program(selection=LaunchSelection("twice", 3))):
        one, two = program.buffer(1), program.buffer()
        for _ in range(4):
            program.launch("twice", one, two)
        assert not any(program.repeated)
