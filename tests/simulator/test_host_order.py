"""The order of the host and the GPU: streams, events, and memory that a copy is still using."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.machine import needs_simulated_gpu
from tests.simulator.checks.launches import HandLaunch
from tests.simulator.driver_lab import NO_LIBRARIES, Client, program, run, stand_ins
from tooling.cli.simulate_command import show_run
from tooling.execution.program import Ending, Transcript
from tooling.reports.terminal import Terminal
from tooling.simulator.checks.findings import Check, Finding, HostAction, Kind, SourcePosition, explain
from tooling.simulator.checks.footprint import Footprints
from tooling.simulator.checks.happens_before.copy_times import CopyTimes
from tooling.simulator.checks.host_order import HostOrderCheck
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.hooks import AccessKind, Space
from tooling.simulator.gpu.streams import NON_BLOCKING, OF_GRAPH
from tooling.simulator.server import host_lines
from tooling.simulator.server.host_code import UNKNOWN, HostCode, host_code
from tooling.simulator.server.lookups import limited
from tooling.simulator.server.protocol import ARENA_BASE, MAGIC, REQUESTS, VERSION, Opcode
from tooling.simulator.server.session import Simulation, SimulationOptions
from tooling.target_run import TargetRun

BASE = 0x5_0000_0000
FIRST, SECOND, EVENT = 0x10, 0x20, 0x30
SIZE = 64


class Host:
    """A host with two streams, one device buffer and one pinned buffer; `line` counts its calls."""

    def __init__(self, flags: int = 1) -> None:
        self.memory = DeviceMemory(np.zeros(1 << 20, np.uint8), BASE)
        self.device = self.memory.allocate(SIZE)
        self.pinned = self.memory.allocate(SIZE, host=True)
        self.check = HostOrderCheck(Footprints())
        self.check.create_stream(FIRST, 0)
        self.check.create_stream(SECOND, flags)
        self.line = 0

    def _call(self, stream: int, host: int = 0, waits: bool = False) -> None:
        self.line += 1
        position = SourcePosition("host.mojo", self.line, 5, 0)
        self.check.call(stream, waits, host, lambda: position)

    def fill(self, stream: int, offset: int = 0, size: int = SIZE) -> None:
        self._call(stream)
        self.check.host_write(self.memory, self.device + offset, size)

    def to_device(self, stream: int, waits: bool = False) -> None:
        self._call(stream, self.pinned, waits)
        self.check.host_write(self.memory, self.device, SIZE)

    def to_host(self, stream: int, waits: bool = False) -> None:
        self._call(stream, self.pinned, waits)
        self.check.host_copy(self.memory, self.device, SIZE)

    def kernel(self, kind: AccessKind, form: str = "st.global.u32") -> None:
        """A launch in the first stream that accesses 4 bytes of pinned memory, to write nines."""
        address = self.pinned + 4
        self._call(FIRST)
        hand = HandLaunch([self.check], arguments=(address,), memory=self.memory)
        hand.begin().access(kind, [0], [address], 12, space=Space.GLOBAL, form=form)
        if kind is not AccessKind.LOAD:
            self.memory.view(address, 4)[:] = 9
        self.check.launch_end(hand.context)

    def touch(self) -> None:
        self.line += 1
        position = SourcePosition("host.mojo", self.line, 5, 0)
        self.check.touch(self.memory, self.pinned + 4, lambda: position)

    def event(self) -> None:
        self.check.record_event(FIRST, EVENT)
        self.check.stream_waits(SECOND, EVENT)

    @property
    def kinds(self) -> list[Kind]:
        return [finding.kind for finding in self.check.findings]


def test_two_streams_that_write_the_same_bytes_race_unless_an_event_orders_them() -> None:
    host = Host()
    host.fill(FIRST)
    host.fill(SECOND, offset=60, size=4)
    (found,) = host.check.findings
    assert (found.kind, found.offset) == (Kind.STREAM_RACE, 60)
    assert explain(found).where == (
        "host.mojo:2:5: fill (stream 2)",
        "host.mojo:1:5: fill (stream 1)",
    )
    assert explain(found).what == (
        "fill and fill, in two streams, use the same bytes of the 64-byte buffer #1, unordered"
    )
    assert explain(found, "ko").where[0] == "host.mojo:2:5: 채우기 (스트림 2)"
    ordered = Host()
    ordered.fill(FIRST)
    ordered.event()
    ordered.fill(SECOND)
    assert ordered.kinds == []


def test_two_nodes_of_a_graph_race_unless_one_follows_the_other() -> None:
    host = Host()
    for node in (0x100, 0x200):
        host.check.create_stream(node, NON_BLOCKING | OF_GRAPH)
    host.fill(0x100)
    host.fill(0x200)
    (found,) = host.check.findings
    assert (found.kind, found.buffer and found.buffer.number) == (Kind.GRAPH_RACE, 1)
    assert explain(found).where == ("host.mojo:2:5: fill", "host.mojo:1:5: fill")
    ordered = Host()
    for node in (0x100, 0x200):
        ordered.check.create_stream(node, NON_BLOCKING | OF_GRAPH)
    ordered.fill(0x100)
    ordered.check.record_event(0x100, EVENT)
    ordered.check.stream_waits(0x200, EVENT)
    ordered.fill(0x200)
    assert ordered.kinds == []


def copies_of(*, one_stream: bool = False, waits: bool = False) -> CopyTimes:
    """Four rounds of a copy to the device and, behind an event, a copy back."""
    host = Host()
    for number in range(4):
        host.to_device(FIRST)
        back = FIRST if one_stream else SECOND
        if not one_stream:
            host.check.record_event(FIRST, EVENT + number)
            host.check.stream_waits(SECOND, EVENT + number)
        host.to_host(back)
        if waits:
            host.check.wait_for_stream(back, 0)
    return host.check.copies


def test_copies_take_as_long_as_their_order_makes_them() -> None:
    bytes_each_way = 4 * SIZE
    overlapped = CopyTimes(bytes_each_way, bytes_each_way, 5 * SIZE, streams=True)
    assert (copies_of(), overlapped.relative) == (overlapped, 1.25)
    for in_turn in (copies_of(one_stream=True), copies_of(waits=True)):
        assert (in_turn.elapsed, in_turn.relative) == (8 * SIZE, 2)
    assert Host().check.copies.relative == 1


def test_an_event_orders_only_what_precedes_its_record() -> None:
    host = Host()
    host.check.record_event(FIRST, EVENT)
    host.fill(FIRST)
    host.check.stream_waits(SECOND, EVENT)
    host.fill(SECOND)
    assert host.kinds == [Kind.STREAM_RACE]


def test_other_bytes_and_two_reads_do_not_race() -> None:
    host = Host()
    host.fill(FIRST, 0, 32)
    host.fill(SECOND, 32, 32)
    host.check.wait_for_stream(FIRST, 0)
    host.check.wait_for_stream(SECOND, 0)
    for stream in (FIRST, SECOND):
        host._call(stream)
        host.check.host_copy(host.memory, host.device, SIZE)
    assert host.kinds == []


def test_the_host_orders_streams_that_it_waits_for() -> None:
    host = Host()
    host.fill(FIRST)
    host.check.wait_for_stream(FIRST, 0)
    host.fill(SECOND)
    host.check.record_event(SECOND, EVENT)
    host.check.wait_for_event(0, EVENT)
    host.fill(FIRST)
    assert host.kinds == []
    host.check.wait_for_stream(SECOND, 0)  # the wrong one
    host.fill(SECOND)
    assert host.kinds == [Kind.STREAM_RACE]


@pytest.mark.parametrize(("flags", "races"), [(0, 0), (1, 2)])
def test_the_default_stream_orders_the_blocking_streams(flags: int, races: int) -> None:
    host = Host(flags)
    host.fill(SECOND)
    host.fill(0)
    host.fill(FIRST)
    assert host.kinds == [Kind.STREAM_RACE] * races


def test_the_host_may_use_pinned_memory_once_it_has_waited_for_the_copy() -> None:
    host = Host()
    host.to_host(FIRST)
    assert list(host.check.finished()) == []
    host.touch()
    (found,) = host.check.findings
    assert found.kind is Kind.HOST_READS_EARLY
    assert [call.action for call in found.calls] == [HostAction.ACCESS, HostAction.COPY_TO_HOST]
    assert explain(found).what == (
        "the host uses the 64-byte host buffer #1 before it has waited for the copy to the host"
    )
    waited = Host()
    waited.to_host(FIRST)
    waited.check.wait_for_stream(FIRST, 0)
    assert list(waited.check.finished()) == [(waited.pinned, SIZE)]
    waited.touch()
    assert waited.kinds == []


def test_memory_is_released_only_after_the_last_copy_that_uses_it() -> None:
    host = Host()
    host.to_device(FIRST)
    host.check.record_event(FIRST, EVENT)
    host.to_device(FIRST)
    host.check.wait_for_event(0, EVENT)
    assert list(host.check.finished()) == []
    host.touch()
    assert host.kinds == [Kind.HOST_WRITES_EARLY]


def test_a_call_that_waits_leaves_nothing_in_flight() -> None:
    host = Host()
    host.to_host(FIRST)
    host.to_host(FIRST, waits=True)
    assert list(host.check.finished()) == [(host.pinned, SIZE)]


def test_freed_memory_is_forgotten() -> None:
    host = Host()
    host.to_device(FIRST)
    for address in (host.device, host.pinned):
        allocation = host.memory.containing(address)
        assert allocation is not None
        host.check.free(allocation)
    host.fill(SECOND)
    host.touch()
    assert host.kinds == []


def test_the_host_waits_for_a_kernel_that_writes_pinned_memory_and_sees_old_values_before() -> None:
    host = Host()
    host.kernel(AccessKind.STORE)
    assert [(one.address, one.size, one.written) for one in host.check.used_by_kernel()] == [
        (host.pinned + 4, 4, True)
    ]
    host.touch()
    (found,) = host.check.findings
    assert explain(found).what == (
        "the host uses the 64-byte host buffer #1 before it has waited for the kernel kernel"
    )
    assert explain(found).where == (
        "host.mojo:2:5: access by the host",
        "host.mojo:1:5: kernel kernel (stream 1)",
    )
    view = host.memory.view(host.pinned, SIZE)
    assert view.tolist() == [0] * SIZE
    view[0] = 5  # by the host
    host.check.show_current(host.memory)
    assert view.tolist() == [5, 0, 0, 0, 9, 9, 9, 9] + [0] * (SIZE - 8)
    waited = Host()
    waited.kernel(AccessKind.STORE)
    waited.check.wait_for_stream(FIRST, 0)
    assert list(waited.check.finished()) == [(waited.pinned + 4, 4)]
    waited.touch()
    assert waited.kinds == []
    assert waited.memory.view(waited.pinned + 4, 4).tolist() == [9] * 4


def test_the_host_waits_for_a_kernel_before_it_changes_what_the_kernel_reads() -> None:
    host = Host()
    host.kernel(AccessKind.LOAD, "ld.global.u32")
    assert [one.written for one in host.check.used_by_kernel()] == [False]
    host.touch()
    assert host.kinds == [Kind.HOST_WRITES_EARLY]


@pytest.mark.parametrize(
    ("kind", "form"),
    [(AccessKind.ATOMIC, "atom.add.u32"), (AccessKind.STORE, "st.release.sys.global.u32")],
)
def test_a_kernel_may_signal_the_host_through_pinned_memory(kind: AccessKind, form: str) -> None:
    host = Host()
    host.kernel(kind, form)
    assert host.check.used_by_kernel() == []
    host.touch()
    assert host.kinds == []


def test_the_order_is_not_checked_for_programs_that_may_wait_by_asking() -> None:
    """A Python process, as this one: it could poll an event."""
    assert host_code(os.getpid()) is None
    with Simulation(libraries=NO_LIBRARIES) as gpu:
        status, answer, _ = Client(gpu).ask(Opcode.HELLO, MAGIC, VERSION, os.getpid(), ARENA_BASE)
    shape = REQUESTS[Opcode.HELLO].reply
    assert status == 0
    assert shape.unpack_from(answer)[-4:] == (0, 0, 0, 1)  # the last: one device
    assert [context.order_unchecked for context in gpu.gpu.contexts] == [True]
    with Simulation(SimulationOptions(checks=frozenset()), libraries=NO_LIBRARIES) as gpu:
        Client(gpu).hello()
    assert [context.order_unchecked for context in gpu.gpu.contexts] == [False]  # it was not wanted


def simulate(mode: str, *more: str, checks: frozenset[Check] = frozenset(Check)) -> tuple[str, list[Finding]]:
    with Simulation(SimulationOptions(checks=checks), libraries=stand_ins()) as gpu:
        done = run(gpu, program("host_order"), mode, *more)
    assert done.returncode == 0, done.stderr
    return done.stdout, gpu.findings


LINES = {
    "read": (
        "the host uses the 4096-byte host buffer #1 before it has waited for the copy to the host",
        ("host_order.mojo:42:15: access by the host", "host_order.mojo:39:21: copy to the host (stream 1)"),
    ),
    "change": (
        "the host changes the 4096-byte host buffer #1 before it has waited for the copy to the device",
        ("host_order.mojo:56:9: write by the host", "host_order.mojo:53:21: copy to the device (stream 1)"),
    ),
    "pinned read": (
        "the host uses the 4096-byte host buffer #1 before it has waited for the kernel add_ten",
        ("host_order.mojo:156:15: access by the host", "host_order.mojo:149:38: kernel add_ten (stream 1)"),
    ),
    "pinned change": (
        "the host changes the 4096-byte host buffer #1 before it has waited for the kernel add_ten",
        ("host_order.mojo:155:13: write by the host", "host_order.mojo:145:38: kernel add_ten (stream 1)"),
    ),
    "streams": (
        "kernel add_ten and kernel add_ten, in two streams, use the same bytes of the 4096-byte buffer #1, "
        "unordered",
        (
            "host_order.mojo:75:28: kernel add_ten (stream 2)",
            "host_order.mojo:70:25: kernel add_ten (stream 1)",
        ),
    ),
    "nodes": (
        "copy to the host and kernel store, two nodes of a graph, use the same bytes of the 4096-byte buffer "
        "#1, unordered",
        (
            "host_order.mojo:176:29: copy to the host",
            "host_order.mojo:170:42: kernel store",
        ),
    ),
}


@needs_simulated_gpu
@pytest.mark.mojo
@pytest.mark.parametrize("mode", LINES)
def test_a_host_that_does_not_wait_is_found_with_its_lines(mode: str) -> None:
    _, (found,) = simulate(mode)
    what, where = LINES[mode]
    message = explain(found)
    assert message.what == what
    assert tuple(line.rsplit("/", 1)[-1] for line in message.where) == where
    assert simulate(mode, "wait")[1] == []


@needs_simulated_gpu
@pytest.mark.mojo
def test_a_host_that_reads_early_sees_the_old_values() -> None:
    assert simulate("pinned read")[0] == "5.0\n15.0\n"
    assert simulate("pinned read", "wait")[0] == "15.0\n15.0\n"


@needs_simulated_gpu
@pytest.mark.mojo
@pytest.mark.parametrize(("mode", "line"), [("device read", "134:10"), ("device write", "133:36")])
def test_a_host_that_accesses_device_memory_ends_with_its_line(mode: str, line: str) -> None:
    with Simulation(libraries=stand_ins()) as gpu:
        done = run(gpu, program("host_order"), mode)
    assert (done.returncode, done.stdout) == (1, "before\n")
    (found,) = gpu.findings
    message = explain(found)
    assert message.what == "the host accesses device memory: the 4096-byte buffer #1, offset 12"
    (where,) = message.where
    assert where.endswith(f"/host_order.mojo:{line}: {mode.removeprefix('device ')} by the host")
    assert simulate(mode, "maps") == ("1.0\n", [])


@needs_simulated_gpu
@pytest.mark.mojo
@pytest.mark.parametrize(("mode", "printed"), [("halves", ""), ("chain", "7.0 1.0\n8.0\n")])
def test_a_program_that_is_right_has_no_findings(mode: str, printed: str) -> None:
    assert simulate(mode) == (printed, [])


@needs_simulated_gpu
@pytest.mark.mojo
def test_a_finding_of_a_kernel_has_the_line_that_launched_it() -> None:
    _, (found,) = simulate("beyond")
    assert found.kind is Kind.PAST_THE_END
    assert found.launched is not None
    assert found.launched.brief == "host_order.mojo:117:32"
    assert found.to_json()["launched"]["line"] == 117
    with Simulation(SimulationOptions(unused_memory=True), libraries=stand_ins()) as gpu:
        run(gpu, program("host_order"), "beyond")
    unused = explain(gpu.findings[1])
    assert unused.what == "3072 bytes of the 4096-byte buffer #1 were never written, from byte 1024 on"


@needs_simulated_gpu
@pytest.mark.mojo
def test_simulate_shows_the_line_of_the_launch_and_unused_memory() -> None:
    command = [
        sys.executable,
        "-m",
        "tooling",
        "simulate",
        "--unused-memory",
        str(program("host_order")),
        "beyond",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    lines = done.stdout.splitlines()
    assert done.returncode == 1
    assert next(line for line in lines if "launched at" in line).endswith("/host_order.mojo:117:32")
    assert lines[-1] == "2 launches, 2 findings; the program ended with status 0"


@needs_simulated_gpu
@pytest.mark.mojo
@pytest.mark.parametrize(
    ("arguments", "status", "summary"),
    [
        (("change", "wait"), 0, "0 launches, 0 findings; the program ended with status 0"),
        (("change",), 1, "0 launches, 1 finding; the program ended with status 0"),
        (("--no-check", "change"), 4, "error: no kernel was launched, so nothing was checked"),
    ],
)
def test_a_program_that_only_copies_is_checked(arguments: tuple[str, ...], status: int, summary: str) -> None:
    options = [argument for argument in arguments if argument.startswith("-")]
    mode = [argument for argument in arguments if not argument.startswith("-")]
    command = [sys.executable, "-m", "tooling", "simulate", *options, str(program("host_order")), *mode]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, summary in done.stdout) == (status, True)


@needs_simulated_gpu
@pytest.mark.mojo
def test_the_order_belongs_to_the_check_of_races() -> None:
    assert simulate("read", checks=frozenset(Check) - {Check.RACES}) == ("11.0\n", [])


@needs_simulated_gpu
@pytest.mark.mojo
def test_looking_up_lines_of_the_host_ends_in_time_and_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    path = program("host_order")
    announced: list[Path] = []
    monkeypatch.setattr("tooling.simulator.server.lookups.LARGE", 1)
    code = HostCode(path, 0, 1 << 40, 0)
    host_lines._tables.cache_clear()
    with limited(-1.0, announced.append) as lookups:
        assert code.position((0x2000,)) == UNKNOWN
    assert (lookups.cut, announced) == (True, [path])
    with limited(None, announced.append) as lookups:
        code.position((0x2000,))
        code.position((0x2001,))
    assert (lookups.cut, announced) == (False, [path, path])  # the tables are kept


def test_lines_that_were_not_looked_up_in_time_are_named() -> None:
    for cut in (False, True):
        run = TargetRun(Transcript("", "", Ending.EXITED, 0, 0.1), launches=1, lines_cut=cut)
        shown = io.StringIO()
        show_run(run, (), (), Terminal(shown, colour=False, width=None), "en")
        expected = "note: the time limit (--timeout) did not suffice to look up the lines of the host"
        assert (expected in shown.getvalue()) is cut
