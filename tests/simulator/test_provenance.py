"""Where a result came from: what a kernel stored, what the host wrote, and what copies make of it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest

from tests.simulator.asking import ask, launch
from tooling.simulator.checks.findings import Check
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.engine.executor import Engine
from tooling.simulator.gpu.launch import Dim3
from tooling.simulator.server.context import Context, Gpu
from tooling.simulator.server.protocol import ARENA_BASE, MAGIC, VERSION, DriverRequest, MemoryKind, Opcode
from tooling.simulator.server.provenance import LaunchFacts, Origin, Provenance, merged

SIZE = 32  # bytes: eight elements
INITIAL = np.zeros(8, np.float32)
RIGHT = np.arange(10, 18, dtype=np.float32)

# Thread i stores i + 10 at index i. The other kernels store the same: `one` by one thread, `vectors` four
# elements per thread, `clamped` by threads that all have an element, `bulk` by a bulk copy from shared
# memory, `shares` after reading it; `atomic` adds it. `copies` stores what a second buffer holds,
# `compares` i + 10 if that buffer holds the same.
KERNELS = b"""
.version 8.5
.target sm_90a
.address_size 64
.visible .entry fill(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<4>;
    ld.param.b64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    cvt.rn.f32.u32 %f1, %r1;
    add.f32 %f2, %f1, 0f41200000;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.f32 [%rd3], %f2;
    ret;
}
.visible .entry backwards(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<4>;
    ld.param.b64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    sub.s32 %r2, 7, %r1;
    cvt.rn.f32.u32 %f1, %r2;
    add.f32 %f2, %f1, 0f41200000;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.f32 [%rd3], %f2;
    ret;
}
.visible .entry clamped(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<4>;
    ld.param.b64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    min.u32 %r2, %r1, 7;
    cvt.rn.f32.u32 %f1, %r2;
    add.f32 %f2, %f1, 0f41200000;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.f32 [%rd3], %f2;
    ret;
}
.visible .entry one(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    setp.ne.s32 %p1, %r1, 0;
    @%p1 bra END;
    ld.param.b64 %rd1, [out];
    mov.u32 %r2, 0;
LOOP:
    cvt.rn.f32.u32 %f1, %r2;
    add.f32 %f2, %f1, 0f41200000;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.f32 [%rd3], %f2;
    add.s32 %r2, %r2, 1;
    setp.lt.s32 %p1, %r2, 8;
    @%p1 bra LOOP;
END:
    ret;
}
.visible .entry atomic(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<4>;
    ld.param.b64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    cvt.rn.f32.u32 %f1, %r1;
    add.f32 %f2, %f1, 0f41200000;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    red.global.add.f32 [%rd3], %f2;
    ret;
}
.visible .entry vectors(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .f32 %f<6>;
    .reg .b64 %rd<4>;
    ld.param.b64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    sub.s32 %r2, 1, %r1;
    shl.b32 %r3, %r2, 2;
    cvt.rn.f32.u32 %f5, %r3;
    add.f32 %f1, %f5, 0f41200000;
    add.f32 %f2, %f1, 0f3F800000;
    add.f32 %f3, %f2, 0f3F800000;
    add.f32 %f4, %f3, 0f3F800000;
    mul.wide.u32 %rd2, %r2, 16;
    add.s64 %rd3, %rd1, %rd2;
    st.global.v4.f32 [%rd3], {%f1, %f2, %f3, %f4};
    ret;
}
.visible .entry bulk(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<4>;
    .shared .align 16 .b8 cells[32];
    ld.param.b64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    cvt.rn.f32.u32 %f1, %r1;
    add.f32 %f2, %f1, 0f41200000;
    mov.u32 %r2, cells;
    shl.b32 %r3, %r1, 2;
    add.s32 %r4, %r2, %r3;
    st.shared.f32 [%r4], %f2;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    setp.ne.s32 %p1, %r1, 0;
    @%p1 bra DONE;
    cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 32;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
DONE:
    ret;
}
.visible .entry shares(.param .u64 out)
{
    .reg .b32 %r<6>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b8 cells[32];
    ld.param.b64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    cvt.rn.f32.u32 %f1, %r1;
    add.f32 %f2, %f1, 0f41200000;
    mov.u32 %r2, cells;
    shl.b32 %r3, %r1, 2;
    add.s32 %r4, %r2, %r3;
    st.shared.f32 [%r4], %f2;
    bar.sync 0;
    ld.shared.f32 %f3, [%r4];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.f32 [%rd3], %f3;
    ret;
}
.visible .entry copies(.param .u64 out, .param .u64 in)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<6>;
    ld.param.b64 %rd1, [out];
    ld.param.b64 %rd2, [in];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.b32 %r2, [%rd5];
    st.global.b32 [%rd4], %r2;
    ret;
}
.visible .entry compares(.param .u64 out, .param .u64 in)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<6>;
    ld.param.b64 %rd1, [out];
    ld.param.b64 %rd2, [in];
    mov.u32 %r1, %tid.x;
    cvt.rn.f32.u32 %f1, %r1;
    add.f32 %f2, %f1, 0f41200000;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.f32 %f3, [%rd5];
    setp.neu.f32 %p1, %f2, %f3;
    @%p1 trap;
    st.global.f32 [%rd4], %f2;
    ret;
}
.visible .entry empty(.param .u64 out)
{
    ret;
}
"""


class Program:
    """A program that asks the driver as Mojo does, and moves the bytes itself once it may."""

    def __init__(self) -> None:
        gpu = Gpu(
            Engine("lockstep", None), partial(make_checks, tuple(Check)), result_sizes=frozenset({SIZE})
        )
        self.context = Context(gpu, lambda: False)
        self.context.answer(DriverRequest(Opcode.HELLO, (MAGIC, VERSION, 1, ARENA_BASE), b""))

    def buffer(self, content: np.ndarray | None = INITIAL, *, pinned: bool = False, size: int = SIZE) -> int:
        kind = MemoryKind.PINNED if pinned else MemoryKind.DEVICE
        status, address = ask(self.context, Opcode.ALLOCATE, size, kind)
        assert status == 0
        if content is not None:
            self.write(address, content)
        return address

    def write(self, address: int, content: np.ndarray) -> None:
        """A copy from the host, or a fill."""
        size = content.nbytes
        assert ask(self.context, Opcode.WRITE, address, size, 1, size)[0] == 0
        self.context.memory.view(address, size)[:] = content.view(np.uint8)

    def read(self, address: int, size: int = SIZE) -> bytes:
        assert ask(self.context, Opcode.READ, address, size)[0] == 0
        return self.context.memory.view(address, size).tobytes()

    def mapped(self, address: int, content: np.ndarray | None = None) -> bytes:
        """`map_to_host`: a copy to the host, which is written back at the end of the block."""
        read = self.read(address)
        self.write(address, np.frombuffer(read, np.uint8) if content is None else content)
        return read

    def copy(self, destination: int, source: int) -> None:
        assert ask(self.context, Opcode.COPY, destination, source, SIZE)[0] == 0
        view = self.context.memory.view
        view(destination, SIZE)[:] = view(source, SIZE)

    def launch(self, name: str, *pointers: int, block: int = 8) -> None:
        launch(self.context, KERNELS, name, 1, block, *pointers)

    @property
    def provenance(self) -> Provenance:
        assert self.context.provenance is not None
        return merged([self.context.provenance])

    def origin_of(self, address: int) -> Origin:
        """Where the bytes came from that the host now reads from an address."""
        content = self.read(address)
        origin = self.provenance.of(content)
        assert origin is not None
        return origin

    def origin(self, content: bytes) -> list[bool] | str:
        """For each element whether a kernel stored it; `never read` where the content was never read."""
        origin = self.provenance.of(content)
        if origin is None:
            return "never read"
        elements = origin.elements(4)
        return [True] * 8 if elements is None else [bool(each) for each in elements]


@pytest.fixture
def program() -> Iterator[Program]:
    program = Program()
    yield program
    program.context.close()


@pytest.mark.parametrize(
    ("kernel", "block"),
    [("fill", 8), ("backwards", 8), ("one", 8), ("atomic", 8), ("vectors", 2), ("bulk", 8), ("shares", 8)],
)
def test_what_a_kernel_stored_is_a_kernels(program: Program, kernel: str, block: int) -> None:
    out = program.buffer()
    program.launch(kernel, out, block=block)
    content = program.read(out)
    assert content == RIGHT.tobytes()
    assert program.origin(content) == [True] * 8


@pytest.mark.parametrize("block", [10, 40])  # in the same warp, and in another one too
def test_elements_that_several_threads_of_a_launch_stored_are_known(program: Program, block: int) -> None:
    out = program.buffer()
    program.launch("clamped", out, block=block)
    origin = program.origin_of(out)
    assert origin.by_several is not None
    assert origin.by_several.reshape(-1, 4).all(axis=1).tolist() == [False] * 7 + [True]


@pytest.mark.parametrize(("kernel", "block"), [("clamped", 8), ("one", 8), ("vectors", 2), ("atomic", 8)])
def test_elements_of_one_thread_each_are_not_of_several(program: Program, kernel: str, block: int) -> None:
    out = program.buffer()
    program.launch(kernel, out, block=block)
    origin = program.origin_of(out)
    assert origin.by_several is None


def test_a_later_launch_with_one_thread_for_each_element_has_the_last_word(program: Program) -> None:
    out = program.buffer()
    program.launch("clamped", out, block=10)
    program.launch("fill", out)
    origin = program.origin_of(out)
    assert origin.by_several is None


def test_mapping_a_result_to_the_host_changes_nothing(program: Program) -> None:
    out = program.buffer()
    program.launch("fill", out)
    for _ in range(3):
        content = program.mapped(out)
    assert program.origin(content) == [True] * 8


def test_what_the_host_filled_in_after_an_empty_kernel_is_the_hosts(program: Program) -> None:
    out = program.buffer()
    program.launch("empty", out)
    program.mapped(out, RIGHT)
    assert program.origin(program.mapped(out)) == [False] * 8


def test_what_the_host_copied_there_before_the_launch_is_the_hosts(program: Program) -> None:
    out = program.buffer()
    program.write(out, RIGHT)
    program.launch("empty", out)
    assert program.origin(program.read(out)) == [False] * 8


def test_elements_that_the_host_corrected_are_the_hosts(program: Program) -> None:
    out = program.buffer()
    program.launch("fill", out, block=5)
    program.mapped(out, RIGHT)
    assert program.origin(program.read(out)) == [True] * 5 + [False] * 3


def test_a_later_launch_stores_over_the_hosts_values(program: Program) -> None:
    out = program.buffer()
    program.launch("fill", out)
    program.write(out, INITIAL)
    program.launch("fill", out, block=4)
    content = program.read(out)
    assert program.origin(content) == [True] * 4 + [False] * 4


def test_what_was_never_in_a_buffer_is_not_known(program: Program) -> None:
    out = program.buffer()
    program.launch("empty", out)
    program.read(out)
    assert program.origin(RIGHT.tobytes()) == "never read"


def test_a_right_buffer_that_was_never_copied_to_the_host_was_not_handed_in(program: Program) -> None:
    out = program.buffer()
    program.launch("fill", out)
    assert program.origin(RIGHT.tobytes()) == "never read"
    program.read(out)
    assert program.origin(RIGHT.tobytes()) == [True] * 8


def test_a_copy_between_buffers_keeps_the_origin(program: Program) -> None:
    work, out = program.buffer(), program.buffer()
    program.launch("fill", work)
    program.copy(out, work)
    assert program.origin(program.read(out)) == [True] * 8


def test_a_copy_of_the_hosts_values_stays_the_hosts(program: Program) -> None:
    expected, out = program.buffer(RIGHT), program.buffer()
    program.launch("empty", out)
    program.copy(out, expected)
    assert program.origin(program.read(out)) == [False] * 8


def test_a_copy_of_pinned_memory_over_a_result_is_the_hosts(program: Program) -> None:
    expected, out = program.buffer(RIGHT, pinned=True), program.buffer()
    program.launch("fill", out, block=2)
    program.copy(out, expected)
    assert program.origin(program.read(out)) == [True] * 2 + [False] * 6


def test_a_result_may_go_to_another_buffer_by_way_of_the_host(program: Program) -> None:
    work, out = program.buffer(), program.buffer()
    program.launch("fill", work)
    program.write(out, np.frombuffer(program.read(work), np.uint8))
    assert program.origin(program.read(out)) == [True] * 8


def test_a_buffer_that_is_allocated_after_the_launch_is_read_too(program: Program) -> None:
    work = program.buffer()
    program.launch("fill", work)
    out = program.buffer(None)
    program.copy(out, work)
    assert program.origin(program.read(out)) == [True] * 8


def test_freed_memory_takes_its_origin_with_it(program: Program) -> None:
    work = program.buffer()
    program.launch("fill", work)
    assert ask(program.context, Opcode.FREE, work, MemoryKind.DEVICE)[0] == 0
    out = program.buffer(RIGHT)
    assert program.origin(program.read(out)) == [False] * 8


def test_a_kernel_may_store_its_result_in_pinned_memory(program: Program) -> None:
    out = program.buffer(pinned=True, size=2 * SIZE)
    program.launch("fill", out)
    assert program.origin(RIGHT.tobytes()) == [True] * 8


def test_a_guard_that_was_refilled_was_stored_to(program: Program) -> None:
    memory = program.buffer(np.full(16, -777.25, np.float32), size=2 * SIZE)
    guard = memory + SIZE
    program.launch("fill", memory)
    origin = program.origin_of(guard)
    assert not origin.ever_by_kernel
    program.launch("fill", memory, block=9)
    program.write(guard, np.full(8, -777.25, np.float32))
    origin = program.origin_of(guard)
    assert origin.ever_by_kernel
    elements = origin.elements(4)
    assert elements is not None
    assert not elements.any()


@pytest.mark.parametrize("pinned", [False, True])
def test_a_buffer_of_the_host_that_a_launch_copied_is_recorded(program: Program, *, pinned: bool) -> None:
    result, planted = program.buffer(), program.buffer(RIGHT, pinned=pinned)
    program.launch("copies", result, planted)
    assert program.read(result) == RIGHT.tobytes()
    (source,) = program.provenance.sources_of(RIGHT.tobytes())
    assert source[:SIZE] == RIGHT.tobytes()
    assert program.origin(RIGHT.tobytes()) == [True] * 8


def test_a_kernels_own_result_may_be_copied_by_a_later_launch(program: Program) -> None:
    first, second = program.buffer(), program.buffer()
    program.launch("fill", first)
    program.launch("copies", second, first)
    assert program.provenance.sources_of(RIGHT.tobytes()) == ()


def test_a_result_that_a_kernel_compares_with_a_buffer_of_the_host_was_not_copied(program: Program) -> None:
    result, expected = program.buffer(), program.buffer(RIGHT)
    program.launch("compares", result, expected)
    assert program.read(result) == RIGHT.tobytes()
    assert program.provenance.sources_of(RIGHT.tobytes()) == ()


def test_what_a_launch_computes_is_in_no_buffer_that_it_read(program: Program) -> None:
    result, other, _expected = program.buffer(), program.buffer(RIGHT[::-1].copy()), program.buffer(RIGHT)
    program.launch("copies", program.buffer(), other)
    program.launch("fill", result)
    assert program.provenance.sources_of(RIGHT.tobytes()) == ()


def test_reads_that_are_longer_than_any_result_are_not_recorded(program: Program) -> None:
    out = program.buffer(None, size=2 * SIZE)
    program.launch("fill", out)
    assert program.provenance.of(program.read(out, 2 * SIZE)) is None


def test_a_result_may_be_copied_in_pieces(program: Program) -> None:
    out = program.buffer()
    program.launch("fill", out)
    program.read(out, SIZE // 4)
    assert program.origin(RIGHT.tobytes()) == "never read"
    program.read(out + SIZE // 2, SIZE // 2)
    assert program.origin(RIGHT.tobytes()) == "never read"
    program.read(out + SIZE // 4, SIZE // 4)
    assert program.origin(RIGHT.tobytes()) == [True] * 8


def test_a_piece_that_the_host_wrote_is_the_hosts(program: Program) -> None:
    out = program.buffer()
    program.launch("fill", out)
    program.write(out, RIGHT[:4] + 1)
    program.write(out, RIGHT[:4])
    for half in (0, SIZE // 2):
        program.read(out + half, SIZE // 2)
    assert program.origin(RIGHT.tobytes()) == [False] * 4 + [True] * 4


def test_launches_are_recorded_with_the_memory_that_they_accessed(program: Program) -> None:
    out = program.buffer()
    program.launch("fill", out, block=7)
    program.launch("one", out)
    program.launch("empty", out, block=2)
    program.launch("shares", out, block=6)
    assert program.provenance.launches == (
        LaunchFacts("fill", Dim3(1), Dim3(7), 7),
        LaunchFacts("one", Dim3(1), Dim3(8), 1),
        LaunchFacts("empty", Dim3(1), Dim3(2), 0),
        LaunchFacts("shares", Dim3(1), Dim3(6), 6, reads_shared=True),
    )


def test_a_bulk_copy_reads_shared_memory(program: Program) -> None:
    program.launch("bulk", program.buffer())
    assert [launch.reads_shared for launch in program.provenance.launches] == [True]


def test_nothing_is_recorded_unless_results_are_judged() -> None:
    context = Context(Gpu(Engine("lockstep", None), partial(make_checks, tuple(Check))), lambda: False)
    assert context.provenance is None
