"""A launch in parts: nobody can tell from its results, whatever the parts do, and nothing is left of them."""

from __future__ import annotations

import dataclasses
import errno
import gc
import mmap
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from numpy.typing import NDArray

from tests.machine import is_alive, needs_simulated_gpu
from tests.simulator.checks import defect_runs
from tests.simulator.checks.test_defects import DEFECTS, Defect
from tests.simulator.driver_lab import NO_LIBRARIES, Client
from tests.simulator.helpers import findings_of
from tests.simulator.simulate import kernel
from tests.simulator.test_program_laws import BRANCHES
from tooling.forks import Fork, fork
from tooling.simulator.checks.findings import Finding
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.engine import engine, parallel_chunks
from tooling.simulator.engine.batch import run_batch
from tooling.simulator.engine.executor import Engine
from tooling.simulator.engine.launch_state import LaunchState, Limits
from tooling.simulator.engine.parallel_chunks import ONE_CORE, Cores
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.hooks import Hook
from tooling.simulator.gpu.launch import Dim3, FaultKind, Launch, LaunchResult
from tooling.simulator.nvidia.ptx.reader import parse_module
from tooling.simulator.server.protocol import MemoryKind, Opcode
from tooling.simulator.server.session import Simulation

pytestmark = needs_simulated_gpu  # a part ends with its parent on Linux only

SOON = Cores(2, 0.0, 0.0)
"""Two cores, from the second batch on, however busy the machine is."""

BLOCKS, THREADS = 7, 32
WORDS = BLOCKS * THREADS


@pytest.fixture(autouse=True)
def a_block_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "BATCH_LANES", THREADS)


class Witness:
    """What came of parting: processes that were started, and whether they finished a launch."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.processes: list[int] = []
        self.finished = False
        finish = parallel_chunks.ParallelRun.finish

        def watched_fork(work: Callable[[], bytes]) -> Fork:
            child = fork(work)
            self.processes.append(child.process)
            return child

        def watched_finish(parting: parallel_chunks.ParallelRun, batches: Sequence[int]) -> bool:
            done = finish(parting, batches)
            self.finished |= done
            return done

        monkeypatch.setattr(parallel_chunks, "fork", watched_fork)
        monkeypatch.setattr(parallel_chunks.ParallelRun, "finish", watched_finish)


@pytest.fixture
def witness(monkeypatch: pytest.MonkeyPatch) -> Iterator[Witness]:
    seen = Witness(monkeypatch)
    yield seen
    for process in seen.processes:
        with pytest.raises(ChildProcessError):
            os.waitpid(process, os.WNOHANG)


class World:
    """Device memory that forks share, with checks that know what the host did."""

    def __init__(
        self, arrays: Sequence[NDArray[Any]], hooks: Sequence[Hook] = (), *, shared: bool = True
    ) -> None:
        self.memory = DeviceMemory(memoryview(mmap.mmap(-1, 1 << 20)), 1 << 32, shared=shared)
        self.checks = make_checks()
        self.hooks = (*self.checks, *hooks)
        self.addresses = [self._place(array) for array in arrays]
        self.sizes = [array.nbytes for array in arrays]

    def _place(self, array: NDArray[Any]) -> int:
        """The address of a buffer with this content; one of NaNs stays as it was allocated."""
        address = self.memory.allocate(array.nbytes)
        allocation = self.memory.containing(address)
        assert allocation is not None
        for check in self.checks:
            check.allocate(allocation)
            if array.dtype.kind != "f":
                check.host_write(self.memory, address, array.nbytes)
        if array.dtype.kind != "f":
            self.memory.view(address, array.nbytes)[:] = array.view(np.uint8)
        return address

    def run(
        self,
        text: str,
        cores: Cores,
        *,
        cluster: int = 1,
        schedule: str = "lockstep",
        limits: Limits | None = None,
        blocks: int = BLOCKS,
    ) -> LaunchResult:
        module = parse_module(text)
        (function,) = module.kernels.values()
        parameters = b"".join(struct.pack("<Q", address) for address in self.addresses)
        launch = Launch(function, Dim3(blocks), Dim3(THREADS), Dim3(cluster), parameters=parameters)
        return engine.run(launch, module, self.memory, self.hooks, schedule, limits=limits, cores=cores)

    def read(self) -> list[bytes]:
        """What the host reads back, which the initialisation check hears of."""
        for check in self.checks:
            for address, size in zip(self.addresses, self.sizes, strict=True):
                check.host_read(self.memory, address, size)
        return [
            self.memory.view(address, size).tobytes()
            for address, size in zip(self.addresses, self.sizes, strict=True)
        ]

    @property
    def findings(self) -> list[Finding]:
        return findings_of(self.checks)


Told = tuple[Any, ...]


def told(result: LaunchResult) -> Told:
    """All that a result says, but for times."""
    error = result.error
    fault = error and (error.kind, error.what, error.thread, error.address, error.instruction)
    return result.instructions, result.lane_instructions, result.blocks, fault


def outcome(text: str, cores: Cores, arrays: Sequence[NDArray[Any]], **how: Any) -> list[Any]:
    """Everything that two launches of a kernel leave, the second one on what the first one left."""
    world = World(arrays)
    left: list[Any] = []
    for _ in range(2):
        left.append(told(world.run(text, cores, **how)))
        left += [world.read(), world.findings]
    return left


def numbers(count: int = WORDS) -> NDArray[np.uint32]:
    return np.arange(count, dtype=np.uint32) * np.uint32(7)


def unwritten(count: int = WORDS) -> NDArray[np.float32]:
    return np.empty(count, np.float32)


OWN = "mul.wide.u32 %rd1, %r31, 4;\nadd.s64 %rd2, %rd30, %rd1;\nadd.s64 %rd3, %rd31, %rd1;\n"
"""%rd2 and %rd3: the thread's own word of the first and of the second buffer."""

LAST = f"setp.eq.u32 %p1, %r32, {BLOCKS - 1};\n"
"""%p1: the last block."""

EARLY, LATE = 2, 5
"""Blocks of different parallel_chunks, where there are two."""

COPY = OWN + "ld.global.b32 %r1, [%rd2];\nadd.u32 %r1, %r1, 1;\nst.global.b32 [%rd3], %r1;\n"
COUNT = OWN + "ld.global.b32 %r1, [%rd3];\nadd.u32 %r1, %r1, 1;\nst.global.b32 [%rd3], %r1;\n"
TILE = ".shared .align 4 .b8 tile[256];\n"

ALONE = {
    "each-thread-its-own": kernel(COPY, 2),
    "in-place": kernel(COUNT, 2),
    "backwards": kernel(
        OWN + f"sub.u32 %r2, {WORDS - 1}, %r31;\nmul.wide.u32 %rd4, %r2, 4;\nadd.s64 %rd4, %rd31, %rd4;\n"
        "ld.global.b32 %r1, [%rd2];\nst.global.b32 [%rd4], %r1;\n",
        2,
    ),
    "all-read-one": kernel(OWN + "ld.global.b32 %r1, [%rd30];\nst.global.b32 [%rd3], %r1;\n", 2),
    "half-of-the-blocks-write": kernel(
        OWN + "and.b32 %r2, %r32, 1;\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 st.global.b32 [%rd3], %r31;\n", 2
    ),
    "the-first-block-alone": kernel(
        OWN + "setp.eq.u32 %p2, %r32, 0;\n@%p2 ld.global.b32 %r1, [%rd3];\n@%p2 st.global.b32 [%rd2], %r1;\n"
        "@!%p2 st.global.b32 [%rd3], %r31;\n",
        2,
    ),
    "shared-memory-and-branches": kernel(
        "mov.u32 %r8, 0;" + BRANCHES.format(start=31, distance=64, factor=3), 2, before=TILE
    ),
    "warp-sums": kernel(COPY + "redux.sync.add.u32 %r4, %r1, 0xffffffff;\nst.global.b32 [%rd3], %r4;\n", 2),
}
MEETING = {
    "all-write-one-place": kernel(OWN + "st.global.b32 [%rd31], %r31;\n", 2),
    "all-write-one-value": kernel(OWN + "mov.u32 %r1, 1;\nst.global.b32 [%rd31], %r1;\n", 2),
    "the-block-before": kernel(
        OWN + "st.global.b32 [%rd3], %r31;\nsetp.eq.u32 %p2, %r32, 0;\n"
        f"@!%p2 ld.global.b32 %r1, [%rd3-{4 * THREADS}];\n@!%p2 st.global.b32 [%rd3], %r1;\n",
        2,
    ),
    "the-block-after": kernel(
        OWN + LAST + "st.global.b32 [%rd3], %r31;\n"
        f"@!%p1 ld.global.b32 %r1, [%rd3+{4 * THREADS}];\n@!%p1 st.global.b32 [%rd3], %r1;\n",
        2,
    ),
    **{
        f"of-{kind}-places-the-{late}-{what}-what-the-{early}-wrote": kernel(
            OWN
            + f"setp.eq.u32 %p1, %r32, {LATE if late == 'later' else EARLY};\n"
            + f"sub.s64 %rd4, %rd3, {4 * THREADS * (LATE - EARLY if late == 'later' else EARLY - LATE)};\n"
            + ("" if kind == "neighbouring" else f"and.b64 %rd4, %rd4, -{4 * THREADS};\n")
            + "st.global.b32 [%rd3], %r31;\n"
            + (
                "@%p1 ld.global.b32 %r1, [%rd4];\n@%p1 st.global.b32 [%rd2], %r1;\n"
                if what == "reads"
                else "@%p1 st.global.b32 [%rd4], %r31;\n"
            ),
            2,
        )
        for kind in ("neighbouring", "single")
        for what in ("reads", "writes")
        for late, early in (("later", "earlier"), ("earlier", "later"))
    },
    "a-trap-in-the-last-block": kernel(COUNT + LAST + "@%p1 trap;\n", 2),
    "past-the-end-in-the-last-block": kernel(COUNT + LAST + "@%p1 st.global.b32 [%rd3+64], %r1;\n", 2),
    "another-buffer-in-the-last-block": kernel(
        COUNT + LAST + f"@%p1 st.global.b32 [%rd3-{(4 * WORDS + 511) // 256 * 256}], %r1;\n", 2
    ),
    "misaligned-in-the-last-block": kernel(COUNT + LAST + "@%p1 st.global.b32 [%rd31+2], %r1;\n", 2),
    "unwritten-shared-memory-in-the-last-block": kernel(
        COUNT + LAST + "@%p1 ld.shared.b32 %r1, [tile];\nst.global.b32 [%rd3], %r1;\n", 2, before=TILE
    ),
    "a-barrier-that-the-last-block-misses": kernel(
        COUNT
        + LAST
        + "setp.lt.u32 %p2, %r30, 5;\nand.pred %p1, %p1, %p2;\n@%p1 bra $OUT;\nbar.sync 0;\n$OUT:\n",
        2,
    ),
}
TALKING = {
    "atomics": kernel(OWN + "red.global.add.u32 [%rd31], 1;\n", 2),
    "generic-atomics": kernel(OWN + "atom.add.u32 %r1, [%rd31], 1;\n", 2),
    "a-flag": kernel(COPY + "st.release.gpu.global.b32 [%rd3], %r1;\n", 2),
    "a-poll": kernel(COPY + "ld.volatile.global.b32 %r1, [%rd3];\n", 2),
    "a-fence": kernel(COPY + "fence.acq_rel.gpu;\n", 2),
    "a-bulk-copy": kernel(
        "mul.wide.u32 %rd1, %r31, 16;\nadd.s64 %rd2, %rd30, %rd1;\nmov.b32 %r1, tile;\n"
        "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r1], 0;\n" + COPY,
        2,
        before=TILE,
    ),
    "a-print": kernel(
        COPY
        + "{ .param .b64 format; .param .b64 values; .param .b32 result;\nmov.b64 %rd5, text;\n"
        + "st.param.b64 [format], %rd5;\nst.param.b64 [values], %rd5;\n"
        + "call.uni (result), vprintf, (format, values); }\n",
        2,
        before=".extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 values);\n"
        ".global .align 1 .b8 text[2] = {33, 0};\n",
    ),
    "a-clock": kernel(COPY + "mov.u64 %rd5, %clock64;\nst.global.b32 [%rd3], %rd5;\n", 2),
}


@pytest.mark.parametrize(
    ("name", "content"),
    # A kernel that reads what it writes would have a finding in its first batch where nobody wrote before.
    [
        (name, content)
        for name in ALONE
        for content in (numbers, unwritten)
        if name != "in-place" or content is numbers
    ],
)
def test_parts_that_do_not_meet_leave_what_one_core_leaves(
    name: str, content: Callable[[], NDArray[Any]], witness: Witness
) -> None:
    arrays = [numbers(), content()]
    expected = outcome(ALONE[name], ONE_CORE, arrays)
    assert not witness.processes
    found = outcome(ALONE[name], SOON, arrays)
    assert found == expected
    if name != "the-first-block-alone" or content is numbers:
        assert witness.finished


@pytest.mark.parametrize("name", MEETING)
def test_parts_that_meet_or_fail_are_as_if_they_had_never_been(name: str, witness: Witness) -> None:
    arrays = [numbers(), numbers()]
    expected = outcome(MEETING[name], ONE_CORE, arrays)
    assert outcome(MEETING[name], SOON, arrays) == expected
    assert not witness.finished


step = st.tuples(
    st.sampled_from(("ld", "st")),
    st.integers(0, 1),
    st.sampled_from((0, 1, 1, 1, 2, 3, WORDS - 1)),
    st.sampled_from((0, 0, 1, THREADS, WORDS - 1)),
    st.sampled_from((0, 0, BLOCKS // 2, BLOCKS - 1)),
)
"""What, in which buffer, at which multiple of the thread's number, how far on, and from which block on."""


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(step, min_size=1, max_size=4), st.booleans(), st.sampled_from((2, 3)))
def test_whatever_blocks_touch_the_outcome_is_that_of_one_core(
    program: list[tuple[str, int, int, int, int]], fresh: bool, count: int
) -> None:
    lines = ["mov.u32 %r1, %r31;"]
    for what, buffer, factor, distance, first in program:
        word = f"mad.lo.u32 %r2, %r31, {factor}, {distance};\nrem.u32 %r2, %r2, {WORDS};\n"
        place = f"mul.wide.u32 %rd1, %r2, 4;\nadd.s64 %rd1, %rd{30 + buffer}, %rd1;\n"
        access = "ld.global.b32 %r1, [%rd1];" if what == "ld" else "st.global.b32 [%rd1], %r1;"
        lines += [word, place, f"setp.ge.u32 %p1, %r32, {first};", f"@%p1 {access}"]
    text = kernel("\n".join(lines), 2)
    arrays = [numbers(), unwritten() if fresh else numbers()]
    expected = outcome(text, ONE_CORE, arrays)
    assert outcome(text, replace(SOON, count=count), arrays) == expected


@pytest.mark.parametrize("name", TALKING)
def test_blocks_that_talk_to_each_other_are_left_in_order(name: str, witness: Witness) -> None:
    arrays = [numbers(), numbers()]
    assert outcome(TALKING[name], SOON, arrays) == outcome(TALKING[name], ONE_CORE, arrays)
    assert not witness.processes


@pytest.mark.parametrize("count", [1, 2, 3, 4, 8])
def test_any_number_of_cores_does(count: int, witness: Witness) -> None:
    arrays = [numbers(), unwritten()]
    cores = replace(SOON, count=count)
    assert outcome(ALONE["backwards"], cores, arrays) == outcome(ALONE["backwards"], ONE_CORE, arrays)
    assert len(witness.processes) == (0 if count == 1 else 2 * min(count, BLOCKS - 1))


def test_clusters_stay_whole(witness: Witness) -> None:
    body = COPY + "barrier.cluster.arrive;\nbarrier.cluster.wait;\nmov.u32 %r2, %cluster_ctarank;\n"
    text = kernel(body + "st.global.b32 [%rd3], %r2;\n", 2)
    arrays = [numbers(8 * THREADS), numbers(8 * THREADS)]
    how = {"cluster": 4, "blocks": 8}
    assert outcome(text, SOON, arrays, **how) == outcome(text, ONE_CORE, arrays, **how)
    assert not witness.processes, "one batch is left"
    how = {"cluster": 2, "blocks": 8}
    assert outcome(text, SOON, arrays, **how) == outcome(text, ONE_CORE, arrays, **how)
    assert witness.finished


class Counter(Hook):
    """A hook that must see every batch."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def batch_begin(self, first_block: int, blocks: int) -> None:
        self.batches.append(first_block)


@pytest.mark.parametrize(
    "how",
    [
        pytest.param({"schedule": "adversarial"}, id="another-order"),
        pytest.param({"limits": Limits(lane_instructions=1 << 20)}, id="an-exact-limit"),
    ],
)
def test_what_depends_on_the_order_is_left_in_order(how: dict[str, Any], witness: Witness) -> None:
    assert World([numbers(), numbers()]).run(ALONE["in-place"], SOON, **how).error is None
    assert not witness.processes


def test_a_hook_that_cannot_join_sees_every_batch(witness: Witness) -> None:
    counter = Counter()
    World([numbers(), numbers()], [counter]).run(ALONE["in-place"], SOON)
    assert counter.batches == [*range(BLOCKS)]
    assert not witness.processes


def test_memory_that_a_fork_would_copy_is_left_alone(witness: Witness) -> None:
    World([numbers(), numbers()], shared=False).run(ALONE["in-place"], SOON)
    assert not witness.processes


def test_memory_with_reserved_addresses_may_have_two_of_one_byte(witness: Witness) -> None:
    world = World([numbers(), numbers()])
    world.memory.reserve(1 << 16, 1 << 16)
    assert world.run(ALONE["in-place"], SOON).error is None
    assert not witness.processes


def test_more_memory_than_is_worth_a_copy_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, witness: Witness
) -> None:
    monkeypatch.setattr(parallel_chunks, "MOST_COPIED", 4 * WORDS - 1)
    assert World([numbers(), numbers()]).run(ALONE["in-place"], SOON).error is None
    assert not witness.processes


def test_a_machine_without_a_core_to_spare_is_left_alone(witness: Witness) -> None:
    busy = replace(SOON, free=2.0)
    assert World([numbers(), numbers()]).run(ALONE["in-place"], busy).error is None
    assert not witness.processes


def test_without_the_checks_nobody_would_notice_that_parts_meet(witness: Witness) -> None:
    world = World([numbers(), numbers()])
    world.hooks = ()
    assert world.run(ALONE["in-place"], SOON).error is None
    assert not witness.processes


def test_a_launch_that_is_soon_over_is_not_worth_it(witness: Witness) -> None:
    World([numbers(), numbers()]).run(ALONE["in-place"], Cores(2))
    assert not witness.processes


# What happens to the processes.


def in_the_second_part(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], None]) -> None:
    """Let something happen in the process of the second part when it has run its batches."""
    work = parallel_chunks._work

    def work_and_then(state: LaunchState, batches: Sequence[int], step: int, **rest: Any) -> bytes:
        answer = work(state, batches, step, **rest)
        if batches[-1] == BLOCKS - 1:
            happens()
        return answer

    monkeypatch.setattr(parallel_chunks, "_work", work_and_then)


def fail() -> None:
    raise RuntimeError


@pytest.mark.parametrize(
    "happens",
    [
        pytest.param(lambda: os.kill(os.getpid(), signal.SIGKILL), id="killed"),
        pytest.param(fail, id="a-defect"),
        pytest.param(lambda: os._exit(0), id="no-answer"),
    ],
)
def test_a_part_that_dies_is_made_up_for(
    happens: Callable[[], None], monkeypatch: pytest.MonkeyPatch, witness: Witness
) -> None:
    expected = outcome(ALONE["in-place"], ONE_CORE, [numbers(), numbers()])
    in_the_second_part(monkeypatch, happens)
    assert outcome(ALONE["in-place"], SOON, [numbers(), numbers()]) == expected
    assert len(witness.processes) == 4
    assert not witness.finished


@pytest.mark.parametrize("allowed", [0, 1])
def test_where_no_more_processes_are_allowed_there_is_one_core(
    allowed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    forked: list[Fork] = []

    def fork_a_few(work: Callable[[], bytes]) -> Fork:
        if len(forked) == allowed:
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
        forked.append(fork(work))
        return forked[-1]

    monkeypatch.setattr(parallel_chunks, "fork", fork_a_few)
    world = World([numbers(), numbers()])
    assert world.run(ALONE["in-place"], SOON).error is None
    assert world.read()[1] == (numbers() + 1).tobytes()
    for child in forked:
        assert not is_alive(child.process)


ENDLESS = kernel(COUNT + LAST + "$AGAIN:\n@%p1 bra $AGAIN;\n", 2)


def test_a_deadline_ends_the_parts_and_the_launch(witness: Witness) -> None:
    result = World([numbers(), numbers()]).run(ENDLESS, SOON, limits=Limits(deadline=time.monotonic() + 0.5))
    assert result.error is not None
    assert result.error.kind is FaultKind.TIME_LIMIT
    assert len(witness.processes) == 2


def test_a_launch_that_nobody_waits_for_is_stopped_in_parts_as_well(witness: Witness) -> None:
    limits = Limits(stop=lambda: bool(witness.processes))
    result = World([numbers(), numbers()]).run(ENDLESS, SOON, limits=limits)
    assert result.error is not None
    assert result.error.kind is FaultKind.TIME_LIMIT


def test_an_attempt_does_not_count_against_the_time_limit(
    monkeypatch: pytest.MonkeyPatch, witness: Witness
) -> None:
    def fail_late() -> None:
        time.sleep(1.0)
        fail()

    in_the_second_part(monkeypatch, fail_late)
    world = World([numbers(), numbers()])
    deadline = time.monotonic() + 30.0
    seen: list[float | None] = []

    def watched(state: LaunchState, first: int, most: int) -> None:
        seen.append(state.limits.deadline)
        run_batch(state, first, most)

    monkeypatch.setattr(engine, "run_batch", watched)
    assert world.run(ALONE["in-place"], SOON, limits=Limits(deadline=deadline)).error is None
    first, last = seen[0], seen[-1]
    assert first == deadline
    assert last is not None
    assert last >= deadline + 1.0


def test_parts_that_wait_for_ever_are_given_up(monkeypatch: pytest.MonkeyPatch, witness: Witness) -> None:
    monkeypatch.setattr(parallel_chunks, "GRACE", 0.2)
    in_the_second_part(monkeypatch, lambda: time.sleep(600))
    expected = outcome(ALONE["in-place"], ONE_CORE, [numbers(), numbers()])
    assert outcome(ALONE["in-place"], SOON, [numbers(), numbers()]) == expected
    assert not witness.finished


def test_parts_end_with_the_process_that_started_them() -> None:
    code = """
from tests.simulator.test_parts import *
engine.BATCH_LANES = THREADS
fork = parallel_chunks.fork
def told(work):
    child = fork(work)
    print(child.process, flush=True)
    return child
parallel_chunks.fork = told
World([numbers(), numbers()]).run(ENDLESS, SOON)
"""
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        children = [int(running.stdout.readline()) for _ in range(2)]
        running.kill()
    assert not any(is_alive(child) for child in children)


# Through the server, in a thread of its own.


def start(client: Client, text: str, addresses: Sequence[int]) -> None:
    """Send the request to launch a kernel."""
    _, answer, _ = client.ask(Opcode.LOAD_MODULE, tail=text.encode())
    _, answer, _ = client.ask(Opcode.FUNCTION, *struct.unpack("<Q", answer), tail=b"k")
    (function,) = struct.unpack_from("<Q", answer)
    shape = (BLOCKS, 1, 1, THREADS, 1, 1, 1, 1, 1, 0, 0, 0)
    parameters = b"".join(struct.pack("<Q", address) for address in addresses)
    client.send(Opcode.LAUNCH, function, *shape, tail=parameters)


def buffers(client: Client, count: int = 2) -> list[int]:
    """Addresses of new buffers that the host has filled."""
    addresses: list[int] = []
    for _ in range(count):
        _, answer, _ = client.ask(Opcode.ALLOCATE, 4 * WORDS, MemoryKind.DEVICE)
        addresses += struct.unpack("<Q", answer)
        client.ask(Opcode.WRITE, addresses[-1], 4 * WORDS, 1, 4 * WORDS)
    return addresses


def test_a_program_gets_what_the_parts_computed(witness: Witness) -> None:
    gc.collect()
    before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names of descriptors, not of files
    with Simulation(libraries=NO_LIBRARIES, executor=Engine("lockstep", None, SOON)) as gpu:
        client = Client(gpu).hello()
        addresses = buffers(client)
        (context,) = gpu.gpu.contexts
        context.memory.view(addresses[1], 4 * WORDS)[:] = numbers().view(np.uint8)
        start(client, ALONE["in-place"], addresses)
        assert client.reply()[0] == 0
        assert context.memory.view(addresses[1], 4 * WORDS).tobytes() == (numbers() + 1).tobytes()
    assert witness.finished
    assert gpu.launches[0].blocks == BLOCKS
    del client, context, gpu
    gc.collect()
    assert set(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_a_program_that_ends_takes_the_parts_of_its_launch_along(witness: Witness) -> None:
    with Simulation(libraries=NO_LIBRARIES, executor=Engine("lockstep", None, SOON)) as gpu:
        client = Client(gpu).hello()
        start(client, ENDLESS, buffers(client))
        while not witness.processes:
            time.sleep(0.01)
        client.socket.close()
    (result,) = gpu.launches
    assert result.error is not None
    assert result.error.kind is FaultKind.TIME_LIMIT


# The defect suite, in several blocks.


@pytest.mark.parametrize("entry", ["wrong", "right"])
@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_defects_are_found_as_on_one_core(
    defect: Defect, entry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = dataclasses.replace(defect.setting, blocks=8)
    run, results = engine.run, list[LaunchResult]()

    def alone(*launch: Any, **how: Any) -> LaunchResult:
        results.append(run(*launch, **how))
        return results[-1]

    def together(*launch: Any, **how: Any) -> LaunchResult:
        """Without the limit of lane instructions, which keeps a launch on one core."""
        return alone(*launch, **how | {"limits": None, "cores": SOON})

    def shared(buffer: NDArray[Any], base: int) -> DeviceMemory:
        return DeviceMemory(memoryview(mmap.mmap(-1, len(buffer))), base, shared=True)

    monkeypatch.setattr(defect_runs, "DeviceMemory", shared)
    monkeypatch.setattr(engine, "run", alone)
    expected = defect_runs.run(defect.name, entry, setting)
    if results[0].error is not None and results[0].error.kind is FaultKind.TIME_LIMIT:
        return  # it waits for ever, on several cores too
    monkeypatch.setattr(engine, "run", together)
    assert defect_runs.run(defect.name, entry, setting) == expected
    assert told(results[1]) == told(results[0])
