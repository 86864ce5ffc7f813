"""Kernels of two GPUs run together: results, races across GPUs, and deadlocks, under three schedules.

Each mistake has a right twin, which must have no finding. `programs/several_gpus.mojo` holds the same
programs.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.two_gpus import EPOCHS, N, Program, all_reduce, bits, enabled
from tooling.simulator.checks.findings import explain
from tooling.simulator.counters.profiler import Profiler
from tooling.simulator.gpu.launch import FaultKind
from tooling.simulator.server.links import LinkTraffic
from tooling.simulator.server.protocol import DriverRequest, MemoryKind, Opcode, OrderAction

SCHEDULES = ("lockstep", "random:1", "random:2", "adversarial")
FORTY_TWO = bits(42.0)


def two_stages(program: Program, name: str) -> None:
    """As MAX's all-reduce in two stages: what a GPU reads in a launch, the other one overwrites in the next.

    Between the two is the meeting with which a launch begins.
    """
    assert not all_reduce(program, name).any()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_an_all_reduce_with_flags_is_right(schedule: str) -> None:
    program = enabled(schedule)
    assert not all_reduce(program, "all_reduce").any()
    assert program.close() == []


def test_what_kernels_do_that_run_together_is_counted() -> None:
    profiler = Profiler()
    assert not all_reduce(enabled("lockstep", profiler), "all_reduce").any()
    (kernel,) = profiler.profiles.kernels
    assert kernel.launches == 2 * EPOCHS


@pytest.mark.parametrize("schedule", ("lockstep", "random:1", "adversarial"))
def test_a_meeting_at_the_start_of_a_launch_orders_what_the_one_before_has_read(schedule: str) -> None:
    program = enabled(schedule)
    two_stages(program, "two_stages")
    assert program.close() == []


@pytest.mark.parametrize("schedule", ("lockstep", "random:1", "adversarial"))
def test_a_relaxed_meeting_at_the_start_of_a_launch_orders_nothing(schedule: str) -> None:
    program = enabled(schedule)
    two_stages(program, "two_stages_relaxed")
    assert set(program.kinds()) == {"device-write-after-read"}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_flag_that_is_written_relaxed_orders_nothing(schedule: str) -> None:
    program = enabled(schedule)
    all_reduce(program, "relaxed_store")
    kinds = program.kinds()
    assert "device-read-after-write" in kinds
    assert set(kinds) <= {"device-read-after-write", "device-write-after-read"}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_flag_of_the_scope_of_one_gpu_is_reported(schedule: str) -> None:
    program = enabled(schedule)
    all_reduce(program, "gpu_scope")
    kinds = program.kinds()
    assert {"device-scope", "device-read-after-write"} <= set(kinds)


@pytest.mark.parametrize("schedule", ["lockstep", "random:1", "random:2"])
def test_inputs_that_are_written_again_before_both_have_met_are_reported(schedule: str) -> None:
    """In the adversarial order one GPU acquires the flag of the next epoch, which orders its late read."""
    program = enabled(schedule)
    all_reduce(program, "no_second_meeting")
    assert set(program.kinds()) & {"device-write-after-read", "device-read-after-write"}


def read_of_a_peer(program: Program, *, waits: bool) -> np.ndarray:
    """GPU 1 fills its buffer, and a kernel of GPU 0 reads it."""
    result, other = program.allocate(0), program.allocate(1)
    program.fill(1, other, 1)
    program.synchronise()
    program.launch(1, "slow_fill", other, FORTY_TWO, 4)
    if waits:
        program.wait_for(0, 1)
    program.launch(0, "add_one", result, other, 0)
    program.synchronise()
    found = program.read(0, result)
    program.free(result)
    program.free(other)
    return found


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_kernel_that_waits_reads_what_the_peer_has_written(schedule: str) -> None:
    program = enabled(schedule)
    assert (read_of_a_peer(program, waits=True) == 43).all()
    assert program.close() == []


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_kernel_that_reads_a_peer_without_waiting_is_a_race(schedule: str) -> None:
    program = enabled(schedule)
    read_of_a_peer(program, waits=False)
    (finding,) = program.close()
    assert finding.kind in ("device-read-after-write", "device-write-after-read")
    assert {party.device for party in finding.parties} == {0, 1}


def test_without_waiting_the_kernel_reads_the_old_value() -> None:
    """As on two H100: 1, not 42."""
    assert (read_of_a_peer(enabled("lockstep"), waits=False) == 2).all()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_copy_between_gpus_waits_by_itself(schedule: str) -> None:
    program = enabled(schedule)
    here, there = program.allocate(0), program.allocate(1)
    program.launch(0, "slow_fill", here, FORTY_TWO, 4)
    program.copy(1, there, here)
    program.launch(0, "slow_fill", here, 0, 4)
    assert (program.read(1, there) == 42).all()
    program.synchronise()
    program.free(here)
    program.free(there)
    assert program.close() == []


def test_access_to_a_peer_that_was_not_enabled_is_a_warning() -> None:
    program = Program()
    read_of_a_peer(program, waits=True)
    (finding,) = program.close()
    assert (finding.kind, finding.severity) == ("peer-not-enabled", "warning")


def freed_early(program: Program, *, waits: bool) -> list[str]:
    """GPU 1 frees its buffer while, or after, a kernel of GPU 0 has read it."""
    result, other = program.allocate(0), program.allocate(1)
    program.fill(1, other, 1)
    program.synchronise()
    program.launch(0, "add_one", result, other, 4)
    if waits:
        program.synchronise(0)
    program.free(other)
    program.synchronise()
    program.free(result)
    return program.kinds()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_memory_that_is_freed_while_a_peer_reads_it_is_reported(schedule: str) -> None:
    assert freed_early(enabled(schedule), waits=False)[0] in ("use-after-free", "freed-before-peer-is-done")


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_memory_that_is_freed_after_the_peer_is_done_is_not(schedule: str) -> None:
    assert freed_early(enabled(schedule), waits=True) == []


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_kernel_waits_for_one_that_is_launched_later(schedule: str) -> None:
    program = enabled(schedule)
    result, flag = program.allocate(0), program.allocate(0, 4)
    program.fill(0, flag, 0, 4)
    program.synchronise()
    program.launch(0, "wait_for_flag", result, flag, threads=1)
    other = program.allocate(1)
    program.fill(1, other, 5)  # between the launches: nothing waits
    program.launch(1, "set_flag", flag, threads=1)
    assert program.synchronise() == 0
    for address in (result, flag, other):
        program.free(address)
    assert program.close() == []


def test_a_flag_that_nobody_sets_is_a_deadlock_of_its_gpu() -> None:
    program = enabled("lockstep")
    result, flag = program.allocate(1), program.allocate(1, 4)
    program.fill(1, flag, 0, 4)
    program.launch(1, "wait_for_flag", result, flag, threads=1)
    assert program.synchronise(0) == 0  # the other GPU has nothing to wait for
    assert program.synchronise(1) == FaultKind.DEADLOCK.driver_result
    (record,) = program.context.gpu.records
    assert record.result.error is not None
    assert record.result.error.kind is FaultKind.DEADLOCK
    finding = next(each for each in program.close() if each.kind == "gpus-deadlock")
    assert finding.parties[0].device == 1
    assert explain(finding).what == (
        "deadlock of GPUs: GPU 1 waits for byte 0 of the 4-byte buffer #2 (argument 2 of wait_for_flag), "
        "which no "
        "kernel can change any more"
    )


def test_two_kernels_that_wait_for_each_other_both_say_where() -> None:
    program = enabled("lockstep")
    flags = [program.allocate(gpu, 4) for gpu in (0, 1)]
    results = [program.allocate(gpu) for gpu in (0, 1)]
    for gpu in (0, 1):
        program.fill(gpu, flags[gpu], 0, 4)
        program.launch(gpu, "wait_for_flag", results[gpu], flags[gpu], threads=1)
        program.launch(gpu, "set_flag", flags[1 - gpu], threads=1)  # after the kernel that waits
    assert program.synchronise() != 0
    waiting = [each for each in program.close() if each.kind == "gpus-deadlock"]
    assert {party.device for each in waiting for party in each.parties} == {0, 1}


def test_an_event_has_happened_when_the_work_before_it_is_done() -> None:
    program = enabled("lockstep")
    flag = program.allocate(0, 4)
    program.fill(0, flag, 0, 4)
    program.synchronise()
    program.launch(0, "wait_for_flag", program.allocate(0), flag, threads=1)
    event = 0x9000
    program.order(OrderAction.RECORD_EVENT, program.streams[0], event)
    not_ready = 600
    assert program.order(OrderAction.QUERY_EVENT, 0, event) == not_ready
    program.launch(1, "set_flag", flag, threads=1)
    answers = [program.order(OrderAction.QUERY_EVENT, 0, event) for _ in range(4)]
    assert answers[-1] == 0  # a host that keeps asking gets there
    program.close()


def test_a_freed_address_cannot_be_freed_again_before_its_turn() -> None:
    program = enabled("lockstep")
    flag = program.allocate(0, 4)
    program.fill(0, flag, 0, 4)
    free = DriverRequest(Opcode.FREE, (flag, MemoryKind.DEVICE), b"")
    assert program.context.answer(free)[0] == 0
    program.synchronise()
    assert program.context.answer(free)[0] == 1
    program.close()


def test_the_traffic_between_the_gpus_is_counted_by_direction() -> None:
    program = enabled("lockstep")
    here, there = program.allocate(0), program.allocate(1)
    program.fill(1, there, 1)
    program.launch(1, "slow_fill", there, FORTY_TWO, 0)
    program.wait_for(0, 1)
    program.launch(0, "add_one", here, there, 0)
    program.copy(1, there, here)
    program.synchronise()
    assert program.context.links is not None
    links = program.context.links.links
    program.close()
    assert links == {(0, 1): LinkTraffic(loaded=4 * N, copied=4 * N)}
