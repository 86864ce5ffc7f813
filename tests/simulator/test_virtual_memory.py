"""Virtual memory management: accesses of kernels, findings of the checks, and released memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.simulator.asking import ask, introduced, kinds, launch, read_by_a_kernel
from tooling.simulator.checks.findings import Kind, render
from tooling.simulator.gpu.driver_results import DriverResult
from tooling.simulator.gpu.launch import FaultKind
from tooling.simulator.nvidia.device import MEMORY_BYTES
from tooling.simulator.server.context import Context
from tooling.simulator.server.protocol import GRANULARITY, MemoryAccess, MemoryKind, Opcode

PIECE = GRANULARITY


@pytest.fixture
def context() -> Iterator[Context]:
    context = introduced()
    yield context
    context.close()


def reserve(context: Context, pieces: int) -> int:
    status, address = ask(context, Opcode.RESERVE, pieces * PIECE, 0)
    assert status == 0
    assert address % PIECE == 0
    return address


def create(context: Context, pieces: int = 1) -> int:
    status, handle = ask(context, Opcode.CREATE, pieces * PIECE)
    assert status == 0
    return handle


def map_pieces(context: Context, address: int, handle: int, pieces: int = 1, *, allowed: bool = True) -> None:
    assert ask(context, Opcode.MAP, address, pieces * PIECE, handle)[0] == 0
    if allowed:
        assert ask(context, Opcode.SET_ACCESS, address, pieces * PIECE, MemoryAccess.READ_AND_WRITE)[0] == 0


def words(context: Context, address: int, count: int = 4) -> np.ndarray[Any, np.dtype[np.uint32]]:
    return context.memory.view(address, 4 * count).view(np.uint32)


def test_created_memory_keeps_its_content_where_ever_it_is_shown(context: Context) -> None:
    here, handle = reserve(context, 4), create(context, 2)
    map_pieces(context, here, handle, 2)
    words(context, here + PIECE)[:] = 1, 2, 3, 4
    assert ask(context, Opcode.UNMAP, here, 2 * PIECE)[0] == 0
    assert words(context, here + PIECE).tolist() == [0, 0, 0, 0]
    map_pieces(context, here + 2 * PIECE, handle, 2)
    assert words(context, here + 3 * PIECE).tolist() == [1, 2, 3, 4]
    map_pieces(context, here, handle, 2)
    words(context, here + PIECE)[0] = 9
    assert words(context, here + 3 * PIECE).tolist() == [9, 2, 3, 4]


def test_memory_is_there_as_long_as_a_handle_or_a_mapping_is(context: Context) -> None:
    def free() -> int:
        return MEMORY_BYTES - ask(context, Opcode.MEMORY_INFO)[1]

    here, handle = reserve(context, 2), create(context)
    assert free() == PIECE
    map_pieces(context, here, handle)
    assert ask(context, Opcode.RETAIN, here + 100) == (0, handle)
    assert [ask(context, Opcode.RELEASE, handle)[0] for _ in range(3)] == [0, 0, 1]
    assert ask(context, Opcode.MAP, here + PIECE, PIECE, handle)[0] == 1
    assert free() == PIECE
    assert ask(context, Opcode.UNMAP, here, PIECE)[0] == 0
    assert free() == 0
    assert ask(context, Opcode.UNRESERVE, here, 2 * PIECE)[0] == 0


def test_no_more_memory_is_created_than_there_is(context: Context) -> None:
    assert ask(context, Opcode.CREATE, MEMORY_BYTES + PIECE)[0] == 2
    handle = create(context, MEMORY_BYTES // PIECE)
    assert ask(context, Opcode.ALLOCATE, 1, MemoryKind.DEVICE)[0] == 2
    assert ask(context, Opcode.RELEASE, handle)[0] == 0
    assert ask(context, Opcode.ALLOCATE, 1, MemoryKind.DEVICE)[0] == 0
    assert ask(context, Opcode.RESERVE, 1 << 40, 0)[0] == 2


@pytest.mark.parametrize(
    ("opcode", "fields"),
    [
        (Opcode.RESERVE, (0, 0)),
        (Opcode.RESERVE, (4096, 0)),
        (Opcode.RESERVE, (PIECE, 3)),
        (Opcode.UNRESERVE, ("base", PIECE)),
        (Opcode.UNRESERVE, ("base", 4 * PIECE)),
        (Opcode.UNRESERVE, (8, 8)),
        (Opcode.CREATE, (0,)),
        (Opcode.CREATE, (PIECE + 1,)),
        (Opcode.MAP, ("free", 0, "handle")),
        (Opcode.MAP, ("free", PIECE, 77)),
        (Opcode.MAP, ("base", 2 * PIECE, "handle")),
        (Opcode.MAP, (8, 2 * PIECE, "handle")),
        (Opcode.UNMAP, ("base", PIECE)),
        (Opcode.UNMAP, ("base", 0)),
        (Opcode.UNMAP, (8, PIECE)),
        (Opcode.SET_ACCESS, ("base", PIECE, MemoryAccess.READ)),
        (Opcode.SET_ACCESS, ("base", 3 * PIECE, MemoryAccess.READ)),
        (Opcode.SET_ACCESS, ("free", PIECE, MemoryAccess.READ)),
        (Opcode.ACCESS, ("free",)),
        (Opcode.RETAIN, ("free",)),
    ],
)
def test_what_fits_nothing_is_refused(
    context: Context, opcode: Opcode, fields: tuple[int | str, ...]
) -> None:
    base, handle = reserve(context, 4), create(context, 2)
    map_pieces(context, base, handle, 2)
    known = {"base": base, "free": base + 2 * PIECE, "handle": handle}
    numbers = [known[field] if isinstance(field, str) else field for field in fields]
    assert ask(context, opcode, *numbers)[0] == 1


@pytest.mark.parametrize("size", [100, PIECE, 4 * PIECE])
def test_created_memory_is_mapped_whole(context: Context, size: int) -> None:
    here, handle = reserve(context, 4), create(context, 2)
    assert ask(context, Opcode.MAP, here, size, handle)[0] == DriverResult.NOT_SUPPORTED


def leave(context: Context, state: str) -> int:
    """An address whose memory is in a state that kernels must not access."""
    here = reserve(context, 2)
    if state != "never mapped":
        map_pieces(context, here, create(context), allowed=state != "not allowed")
    if state == "unmapped":
        assert ask(context, Opcode.UNMAP, here, PIECE)[0] == 0
    if state == "allowed no more":
        assert ask(context, Opcode.SET_ACCESS, here, PIECE, MemoryAccess.NONE)[0] == 0
    return here


STATES = ("never mapped", "not allowed", "unmapped", "allowed no more")


@pytest.mark.parametrize("state", STATES)
def test_accesses_to_reserved_addresses_without_memory_are_reported(context: Context, state: str) -> None:
    here = leave(context, state)
    read_by_a_kernel(context, here + 64)
    assert kinds(context) == [Kind.NOT_MAPPED, Kind.NOT_MAPPED]
    read, written = (finding for check in context.checks for finding in check.findings)
    assert (read.offset, written.offset) == (64, 68)
    assert "cuMemSetAccess" in render(read)
    assert f"{here + 64:#x}" in render(read, "ko")
    assert ask(context, Opcode.SYNCHRONISE)[0] == 0
    assert ask(context, Opcode.WRITE, here, 4, 1, 4)[0] == 1


@pytest.mark.parametrize("state", STATES)
def test_they_stop_a_kernel_without_checks(state: str) -> None:
    context = introduced(checked=False)
    read_by_a_kernel(context, leave(context, state))
    assert ask(context, Opcode.SYNCHRONISE)[0] == FaultKind.ILLEGAL_ADDRESS.driver_result
    context.close()


def test_mappings_side_by_side_are_one_buffer_to_kernels_and_copies(context: Context) -> None:
    here = reserve(context, 3)
    for piece in range(2):
        map_pieces(context, here + piece * PIECE, create(context))
    seam = here + PIECE - 4
    assert ask(context, Opcode.WRITE, seam, 8, 1, 8)[0] == 0
    read_by_a_kernel(context, seam)
    read_by_a_kernel(context, seam + 4)
    assert kinds(context) == []
    assert ask(context, Opcode.COPY, here + PIECE, seam - 64, 128)[0] == 0
    assert ask(context, Opcode.READ, here + PIECE, PIECE)[0] == 0
    assert ask(context, Opcode.READ, here + PIECE, PIECE + 1)[0] == 1


def read_only(context: Context) -> tuple[int, int]:
    """Two addresses of the same memory: the first one to read by alone. Its words are 1, 2, 3, 4."""
    here, there = shown_twice(context)
    words(context, there)[:] = 1, 2, 3, 4
    assert ask(context, Opcode.SET_ACCESS, here, PIECE, MemoryAccess.READ)[0] == 0
    return here, there


def test_memory_that_may_only_be_read_is_not_filled_and_not_copied_into(context: Context) -> None:
    here, there = read_only(context)
    assert ask(context, Opcode.ACCESS, here) == (0, MemoryAccess.READ)
    assert ask(context, Opcode.ACCESS, there) == (0, MemoryAccess.READ_AND_WRITE)
    assert ask(context, Opcode.READ, here, 16)[0] == 0
    assert ask(context, Opcode.COPY, there + 64, here, 16)[0] == 0
    assert ask(context, Opcode.COPY, here + 64, there, 16)[0] == 1
    assert ask(context, Opcode.WRITE, here, 16, 1, 16)[0] == 1
    assert ask(context, Opcode.WRITE, there - 16, 32, 1, 32)[0] == 1
    assert ask(context, Opcode.WRITE, there, 16, 1, 16)[0] == 0
    assert ask(context, Opcode.SET_ACCESS, here, PIECE, MemoryAccess.READ_AND_WRITE)[0] == 0
    assert ask(context, Opcode.WRITE, here, 16, 1, 16)[0] == 0


CHANGES = ("st.global.b32 [%rd4], 9;", "red.global.add.u32 [%rd4], 9;")


@pytest.mark.parametrize("change", CHANGES)
def test_a_write_to_read_only_memory_is_reported(context: Context, change: str) -> None:
    here, there = read_only(context)
    text = TWO_POINTERS.format(body=f"ld.global.b32 %r3, [%rd4]; {change} st.global.b32 [%rd5+64], %r3;")
    launch(context, text.encode(), "two", 1, 2, here, there)
    assert kinds(context) == [Kind.READ_ONLY]
    (finding,) = (finding for check in context.checks for finding in check.findings)
    assert (finding.count, finding.address, finding.offset) == (2, here, 0)
    assert finding.buffer is not None
    for language, words_of_it in (("en", "which is mapped read-only"), ("ko", "읽기 전용으로 매핑된")):
        shown = render(finding, language)
        assert words_of_it in shown
        assert "cuMemSetAccess" in shown
        assert finding.parties[0].position.brief in shown
    assert words(context, here).tolist() == [1, 2, 3, 4]
    assert words(context, there + 64, 2).tolist() == [2, 1]
    assert ask(context, Opcode.SYNCHRONISE)[0] == 0


@pytest.mark.parametrize("change", CHANGES)
def test_a_write_to_read_only_memory_stops_a_kernel_without_checks(change: str) -> None:
    context = introduced(checked=False)
    here, there = read_only(context)
    text = TWO_POINTERS.format(body=f"st.global.b32 [%rd5], 7; {change}")
    launch(context, text.encode(), "two", 1, 1, here, there)
    assert ask(context, Opcode.SYNCHRONISE)[0] == FaultKind.ILLEGAL_ADDRESS.driver_result
    (error,) = (record.result.error for record in context.gpu.records)
    assert error is not None
    why = f"wrote 4 bytes at global address {here:#x}, where the memory is mapped read-only"
    assert error.reason.render("en").endswith(why)
    assert f"읽기 전용으로 매핑된 전역 주소 {here:#x}에 4바이트를 썼습니다" in error.reason.render("ko")
    assert words(context, here).tolist() == [1, 7, 3, 4]
    context.close()


def unwritten_reads(context: Context) -> int:
    findings = [finding for check in context.checks for finding in check.findings]
    assert {finding.kind for finding in findings} == {Kind.UNWRITTEN_READ}
    return sum(finding.count for finding in findings)


def test_unwritten_created_memory_is_reported_at_any_address(context: Context) -> None:
    here, handle = reserve(context, 2), create(context)
    map_pieces(context, here, handle)
    assert words(context, here)[0] == 0x7FC0DEAD
    read_by_a_kernel(context, here)
    assert unwritten_reads(context) == 1
    assert ask(context, Opcode.UNMAP, here, PIECE)[0] == 0
    map_pieces(context, here + PIECE, handle)
    read_by_a_kernel(context, here + PIECE + 4)  # which the kernel wrote before, through the other address
    assert unwritten_reads(context) == 1
    read_by_a_kernel(context, here + PIECE + 4096)
    assert unwritten_reads(context) == 2
    assert ask(context, Opcode.UNMAP, here + PIECE, PIECE)[0] == 0
    assert ask(context, Opcode.RELEASE, handle)[0] == 0
    map_pieces(context, here, create(context))
    read_by_a_kernel(context, here)
    assert unwritten_reads(context) == 3


TWO_POINTERS = """
.version 8.5
.target sm_90a
.address_size 64
.visible .entry two(.param .u64 one, .param .u64 other)
{{
    .reg .b64 %rd<9>;
    .reg .b32 %r<9>;
    .reg .pred %p<3>;
    ld.param.b64 %rd1, [one];
    ld.param.b64 %rd2, [other];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    xor.b64 %rd5, %rd3, 4;
    add.s64 %rd5, %rd2, %rd5;
{body}
    ret;
}}
"""
NEIGHBOURS = "st.global.b32 [%rd4], %r1; {between} ld.global.b32 %r3, [%rd5];"
HANDED_OVER = """
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra $LATER;
    st.global.b32 [%rd1+4096], 7;
    fence.acq_rel.gpu;
    st.relaxed.gpu.global.b32 [%rd1], 1;
    bra $END;
$LATER:
    {wait} [%rd2];
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra $LATER;
    fence.acq_rel.gpu;
    ld.global.b32 %r4, [%rd2+4096];
$END:
"""


def shown_twice(context: Context) -> tuple[int, int]:
    """Two addresses of the same memory, the second one's bytes written by the host."""
    here, handle = reserve(context, 2), create(context)
    for address in (here, here + PIECE):
        map_pieces(context, address, handle)
    assert ask(context, Opcode.WRITE, here + PIECE, PIECE, 1, PIECE)[0] == 0
    words(context, here, PIECE // 4)[:] = 0
    return here, here + PIECE


def test_what_is_written_through_one_address_is_written_for_the_other(context: Context) -> None:
    here, _ = shown_twice(context)
    read_by_a_kernel(context, here + 4096)
    assert kinds(context) == []


@pytest.mark.parametrize(("between", "found"), [("", [Kind.READ_AFTER_WRITE]), ("bar.sync 0;", [])])
def test_a_race_through_two_addresses_of_the_same_bytes_is_reported(
    context: Context, between: str, found: list[Kind]
) -> None:
    text = TWO_POINTERS.format(body=NEIGHBOURS.format(between=between))
    launch(context, text.encode(), "two", 1, 64, *shown_twice(context))
    assert kinds(context) == found


@pytest.mark.parametrize(
    ("wait", "found"),
    [("ld.relaxed.gpu.global.b32 %r3,", []), ("ld.global.b32 %r3,", [Kind.READ_AFTER_WRITE] * 2)],
)
def test_a_flag_orders_also_through_two_addresses(context: Context, wait: str, found: list[Kind]) -> None:
    text = TWO_POINTERS.format(body=HANDED_OVER.format(wait=wait))
    launch(context, text.encode(), "two", 2, 1, *shown_twice(context))
    assert kinds(context) == found


def test_a_program_that_ends_leaves_no_memory_of_its_own() -> None:
    context = introduced()
    here = reserve(context, 2)
    map_pieces(context, here, create(context))
    view = words(context, here)
    view[:] = 7
    context.close()
    assert view.tolist() == [0, 0, 0, 0]
