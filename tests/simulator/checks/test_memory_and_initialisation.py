"""The memory and initialisation checks on accesses passed by the test."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from tests.simulator.checks.defect_runs import Setting, run
from tests.simulator.checks.launches import HandLaunch
from tooling.simulator.checks.findings import Kind, Severity, SourcePosition, explain, render
from tooling.simulator.checks.footprint import Footprints
from tooling.simulator.checks.initialisation import InitialisationCheck, WrittenBytes
from tooling.simulator.checks.memory import MemoryCheck
from tooling.simulator.gpu.device_memory import DeviceMemory, OutOfDeviceMemory
from tooling.simulator.gpu.hooks import Space
from tooling.simulator.gpu.launch import Dim3

GLOBAL = Space.GLOBAL


def memory_launch() -> tuple[HandLaunch, MemoryCheck]:
    check = MemoryCheck(Footprints())
    return HandLaunch([check]), check


def test_one_thread_too_many_is_reported_relative_to_the_buffer() -> None:
    hand, check = memory_launch()
    hand.buffer(64)
    out = hand.buffer(16)
    access = hand.begin().store(range(6), [out.base + 4 * i for i in range(6)], space=GLOBAL)
    (finding,) = check.findings
    assert (finding.kind, finding.distance, finding.offset, finding.count) == (Kind.PAST_THE_END, 4, 16, 2)
    assert access.suppressed is not None
    assert access.suppressed.tolist() == [False] * 4 + [True] * 2
    assert (
        "write of 4 bytes reaches 4 bytes past the end of the 16-byte buffer #2: element 4 where 3"
        in render(finding)
    )


@pytest.mark.parametrize(
    ("elements", "cause"),
    [
        (64, "There is an element for each thread, so the index is too large"),
        (63, "more threads than elements is the usual cause"),
    ],
)
def test_a_launch_with_an_element_for_each_thread_does_not_have_too_many(elements: int, cause: str) -> None:
    check = MemoryCheck(Footprints())
    hand = HandLaunch([check], block=Dim3(64))
    out = hand.buffer(4 * elements)
    hand.begin().load([3], [out.base + 4 * elements], space=GLOBAL)
    (finding,) = check.findings
    assert finding.threads == 64
    assert cause in render(finding)


@pytest.mark.parametrize(
    ("where", "kind"),
    [
        (lambda base: 8, Kind.NULL_POINTER),
        (lambda base: base - 4, Kind.BEFORE_THE_START),
        (lambda base: base + 14, Kind.PAST_THE_END),
        (lambda base: base + (1 << 30), Kind.WILD_POINTER),
        (lambda base: base + 2, Kind.MISALIGNED),
    ],
)
def test_out_of_bounds_addresses_have_their_kind(where: object, kind: Kind) -> None:
    hand, check = memory_launch()
    base = hand.buffer(16).base
    assert callable(where)
    hand.begin().load([3], [where(base)], space=GLOBAL)
    assert check.findings[0].kind is kind


def test_lanes_that_miss_in_different_ways_are_reported_separately() -> None:
    hand, check = memory_launch()
    out = hand.buffer(16)
    hand.begin().load([0, 1, 2, 3], [out.base, 0, out.base - 4, out.base + 16], space=GLOBAL)
    assert {f.kind: f.parties[0].thread[0] for f in check.findings} == {
        Kind.NULL_POINTER: 1,
        Kind.BEFORE_THE_START: 2,
        Kind.PAST_THE_END: 3,
    }


def test_use_after_free_and_leak() -> None:
    hand, check = memory_launch()
    gone, kept = hand.buffer(16), hand.buffer(32)
    hand.memory.free(gone.base)
    check.free(gone)
    hand.begin().load([0], [gone.base + 4], space=GLOBAL)
    check.end(hand.memory)
    stale, leak = check.findings
    assert (stale.kind, stale.severity) == (Kind.USE_AFTER_FREE, Severity.ERROR)
    assert (leak.kind, leak.severity, leak.buffer and leak.buffer.size) == (
        Kind.LEAK,
        Severity.WARNING,
        kept.size,
    )


def test_windows_end_where_the_block_s_memory_ends() -> None:
    hand, check = memory_launch()
    hand.begin().store([0, 1], [252, 256])
    (finding,) = check.findings
    assert (finding.kind, finding.distance) == (Kind.OUTSIDE_SHARED, 4)
    assert "outside the block's 256 bytes of shared memory" in render(finding)


def test_a_buffer_is_described_by_the_argument_that_points_to_it() -> None:
    check = MemoryCheck(Footprints())
    first = HandLaunch([check], arguments=[0, (1 << 32)])
    out = first.buffer(16)
    first.begin().load([0], [out.end], space=GLOBAL)
    assert check.findings[0].buffer is not None
    assert check.findings[0].buffer.argument == 2
    assert "buffer #1 (argument 2 of kernel)" in render(check.findings[0])


@pytest.mark.parametrize("distance", [496, 1024, 4096])
def test_an_access_past_a_small_buffer_does_not_reach_the_hosts_memory(distance: int) -> None:
    hand, check = memory_launch()
    out = hand.buffer(16)
    hand.memory.allocate(1 << 14, host=True)
    access = hand.begin().store([0], [out.end + distance], space=GLOBAL)
    (finding,) = check.findings
    assert (finding.kind, finding.severity) == (Kind.PAST_THE_END, Severity.ERROR)
    assert access.suppressed is not None


def test_memory_of_the_host_and_of_the_device_come_from_different_ends() -> None:
    memory = DeviceMemory(np.zeros(1 << 14, np.uint8), 1 << 32)
    device, host = memory.allocate(1000), memory.allocate(1000, host=True)
    assert (memory.allocate(8) > device, memory.allocate(8, host=True) < host) == (True, True)
    memory.free(host)
    with pytest.raises(OutOfDeviceMemory):
        while True:
            memory.allocate(1000)
    assert memory.allocate(900, host=True) == host


def test_host_memory_is_an_error_unless_the_kernel_was_given_it() -> None:
    checks = [MemoryCheck(Footprints())]
    base = HandLaunch(checks).memory.allocate(64, host=True)  # where the next launch has it, too
    for arguments, kinds in (((base + 8,), []), ((), [Kind.HOST_MEMORY_NOT_PASSED])):
        check = MemoryCheck(Footprints())
        hand = HandLaunch([check], arguments=arguments)
        assert hand.memory.allocate(64, host=True) == base
        access = hand.begin().load([0], [base], space=GLOBAL)
        assert [finding.kind for finding in check.findings] == kinds
        assert (access.suppressed is None) is (not kinds)
    (finding,) = check.findings
    assert finding.severity is Severity.ERROR
    assert "read of 4 bytes in host memory that was not passed to the kernel" in render(finding)


@pytest.mark.parametrize(("written", "doing"), [(False, "read by the host"), (True, "write by the host")])
def test_a_host_that_accesses_device_memory_is_reported_with_its_line(written: bool, doing: str) -> None:
    check = MemoryCheck(Footprints())
    memory = HandLaunch([check]).memory
    base = memory.allocate(64)
    allocation = memory.containing(base)
    assert allocation is not None
    check.allocate(allocation)
    check.host_access(memory, base + 12, written, SourcePosition("host.mojo", 7, 5, 0))
    check.end(memory)  # the program ended there: what it did not free is no leak
    (finding,) = check.findings
    assert (finding.kind, finding.severity) == (Kind.HOST_TOUCHES_DEVICE, Severity.ERROR)
    message = explain(finding)
    assert message.what == "the host accesses device memory: the 64-byte buffer #1, offset 12"
    assert message.where == (f"host.mojo:7:5: {doing}",)


def initialisation_launch(arena: int = 1 << 16) -> tuple[HandLaunch, InitialisationCheck]:
    check = InitialisationCheck(Footprints())
    return HandLaunch([check], grid=Dim3(2), arena=arena), check


def test_reads_of_unwritten_memory() -> None:
    hand, check = initialisation_launch()
    out = hand.buffer(64, written=False)
    check.host_write(hand.memory, out.base, 16)
    hand.begin().load(range(4), [out.base + 4 * i for i in range(4)], space=GLOBAL)
    assert not check.findings
    hand.load(range(16), [out.base + 4 * i for i in range(16)], space=GLOBAL)
    (finding,) = check.findings
    assert (finding.offset, finding.count, finding.parties[0].thread) == (16, 12, (4, 0, 0))


def test_shared_memory_is_fresh_for_every_block() -> None:
    hand, check = initialisation_launch()
    hand.begin().store([0], [8])
    hand.load([1], [8])
    assert not check.findings
    hand.load([64], [8])
    assert check.findings[0].parties[0].block == (1, 0, 0)
    assert "read of 4 bytes of shared memory that was never written" in render(check.findings[0])


def test_copying_unwritten_bytes_to_the_host_is_a_warning() -> None:
    hand, check = initialisation_launch()
    out = hand.buffer(64, written=False)
    hand.begin().store(range(10), [out.base + 4 * i for i in range(10)], space=GLOBAL)
    check.host_read(hand.memory, out.base, 64)
    (finding,) = check.findings
    assert (finding.severity, finding.size, finding.offset) == (Severity.WARNING, 24, 40)
    assert "24 bytes of the 64-byte buffer #1" in render(finding)


def test_local_memory_belongs_to_one_thread() -> None:
    hand, check = initialisation_launch()
    hand.begin().store([0], [0], space=Space.LOCAL)
    hand.load([0], [0], space=Space.LOCAL)
    assert not check.findings
    hand.load([1], [0], space=Space.LOCAL)
    assert check.findings


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_written_bytes_of_every_width(width: int) -> None:
    written = WrittenBytes(64)
    written.scatter(np.array([16, 32]), width)
    assert written.unwritten(np.array([0, 16, 32, 48]), width).tolist() == [True, False, False, True]
    count, first = written.missing(16, 32)
    assert (count, first) == (16 - width, 16 + width)


def test_reading_unwritten_memory_back_takes_no_memory_of_its_own() -> None:
    size = 1 << 25
    hand, check = initialisation_launch(arena=3 * size)
    new, copied = hand.buffer(size, written=False), hand.buffer(size)
    check.host_write(hand.memory, new.base, 100)
    check.host_write(hand.memory, new.base + 200, 8)
    tracemalloc.start()
    check.device_copy(hand.memory, copied.base, new.base, size)
    check.host_read(hand.memory, copied.base, size)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < size // 8
    (finding,) = check.findings
    assert (finding.kind, finding.offset, finding.size) == (Kind.UNWRITTEN_COPY, 100, size - 108)


def test_a_copy_of_part_of_a_buffer_keeps_what_was_written_around_it() -> None:
    hand, check = initialisation_launch()
    new, old = hand.buffer(64, written=False), hand.buffer(64)
    check.host_write(hand.memory, new.base + 8, 8)
    check.device_copy(hand.memory, old.base + 16, new.base, 32)
    for start, size in ((0, 16), (24, 8), (48, 16)):
        check.host_read(hand.memory, old.base + start, size)
    assert not check.findings
    check.host_read(hand.memory, old.base, 64)
    (finding,) = check.findings
    assert (finding.offset, finding.size) == (16, 24)


@pytest.mark.parametrize(
    ("file", "kind", "severity"),
    [
        ("max/mojo/max/gpu/primitives/block.mojo", Kind.UNWRITTEN_LIBRARY_READ, Severity.WARNING),
        ("/home/reader/mojo/halo.mojo", Kind.UNWRITTEN_READ, Severity.ERROR),
        ("halo.mojo", Kind.UNWRITTEN_READ, Severity.ERROR),
    ],
)
def test_unwritten_scratch_memory_of_the_library_is_a_warning(
    file: str, kind: Kind, severity: Severity
) -> None:
    (finding,) = run("initialisation/halo", "wrong", Setting(8), file=file)
    assert (finding.kind, finding.severity) == (kind, severity)
    assert "{" not in render(finding) + render(finding, "ko")
