"""The race check on accesses passed by the test: what is ordered, and what the shadow records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.simulator.checks.launches import ONE, WARPS, HandLaunch, instruction
from tooling.simulator.checks import shadow
from tooling.simulator.checks.bulk_copies import BulkCopyCheck
from tooling.simulator.checks.findings import Kind
from tooling.simulator.checks.footprint import Footprints
from tooling.simulator.checks.races import RaceCheck
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import AccessKind, MBarrierOperation, PartialBarrier, Space
from tooling.simulator.gpu.launch import Dim3


def launch(
    *,
    grid: Dim3 = ONE,
    block: Dim3 = WARPS,
    cluster: Dim3 = ONE,
    body: Sequence[Instruction] = (),
) -> tuple[HandLaunch, RaceCheck]:
    check = RaceCheck(Footprints(), BulkCopyCheck())
    return HandLaunch([check], grid=grid, block=block, cluster=cluster, body=body), check


def kinds(check: RaceCheck) -> list[Kind]:
    return [finding.kind for finding in check.findings]


def test_names_both_parties_of_a_missing_barrier() -> None:
    hand, check = launch(block=Dim3(8, 8))
    hand.begin().store([9], [0])
    hand.load([50], [0])
    (finding,) = check.findings
    assert finding.kind is Kind.READ_AFTER_WRITE
    reader, writer = finding.parties
    assert (reader.thread, reader.warp, reader.lane, reader.position.line) == ((2, 6, 0), 1, 18, 20)
    assert (writer.thread, writer.warp, writer.lane, writer.position.line) == ((1, 1, 0), 0, 9, 10)


def test_a_barrier_orders_and_the_next_phase_is_open_again() -> None:
    hand, check = launch()
    hand.begin().store([0], [0])
    hand.barrier()
    hand.load([40], [0])
    assert not check.findings
    hand.store([0], [0])
    assert kinds(check) == [Kind.WRITE_AFTER_READ]


def test_a_writer_that_reads_too_does_not_hide_another_reader() -> None:
    hand, check = launch()
    hand.begin().load([1], [0])
    hand.load([0], [0])
    hand.store([0], [0])
    (finding,) = check.findings
    assert finding.parties[1].thread == (1, 0, 0)


def test_of_many_readers_at_once_a_writer_among_them_sees_another() -> None:
    for writer in (0, 15, 31):
        hand, check = launch()
        hand.begin().load(range(32), [0] * 32)
        hand.store([writer], [0])
        assert kinds(check) == [Kind.WRITE_AFTER_READ], writer


@pytest.mark.parametrize(
    ("values", "found"), [([7, 7, 7], []), ([7, 8, 7], [Kind.SAME_INSTRUCTION])], ids=["same", "different"]
)
def test_writes_of_one_instruction(values: list[int], found: list[Kind]) -> None:
    hand, check = launch()
    hand.begin().store([0, 1, 2], [4, 4, 4], values=np.array(values, np.uint32))
    assert kinds(check) == found


def test_vector_writes_that_overlap_compare_the_granule_meant() -> None:
    hand, check = launch()
    # Lane 0 covers granules 0-3, lane 1 granules 2-5; they agree on what they share.
    hand.begin().store([0, 1], [0, 8], width=16, values=np.array([[1, 3], [2, 4], [3, 5], [4, 6]], np.uint32))
    assert not check.findings


def test_writing_the_value_that_is_there_is_not_a_race() -> None:
    hand, check = launch()
    hand.begin().store([0], [0], values=np.array([5], np.uint32))
    hand.store([40], [0], values=np.array([5], np.uint32))
    assert not check.findings
    hand.store([50], [0], values=np.array([6], np.uint32))
    assert kinds(check) == [Kind.WRITE_AFTER_WRITE]


def test_a_warp_operation_orders_its_mask_only() -> None:
    hand, check = launch()
    hand.begin().store([0], [0])
    hand.syncwarp(range(32))
    hand.load([1], [0])
    assert not check.findings
    hand.store([2], [64])
    hand.syncwarp([2, 3], mask=0b1100)
    hand.load([3], [64])
    assert not check.findings
    hand.load([4], [64])
    assert kinds(check) == [Kind.READ_AFTER_WRITE]


def test_order_passes_through_a_common_lane() -> None:
    hand, check = launch()
    hand.begin().store([0], [0])
    hand.syncwarp([0, 1], mask=0b011)
    hand.syncwarp([1, 2], mask=0b110)
    hand.load([2], [0])
    assert not check.findings


def test_a_named_barrier_orders_the_threads_that_met() -> None:
    hand, check = launch(block=Dim3(96))
    hand.begin().store([0], [0])
    for one in hand.checks:
        met = np.arange(64)
        one.named_barrier(PartialBarrier(np.array([0]), met, met[:0], 1, instruction(30, "bar.sync")))
    hand.load([33], [0])
    assert not check.findings
    hand.load([70], [0])
    assert kinds(check) == [Kind.READ_AFTER_WRITE]


def test_a_thread_that_only_arrives_at_a_barrier_releases_and_does_not_acquire() -> None:
    hand, check = launch(block=Dim3(64))
    hand.begin().store(range(32), range(0, 128, 4))
    arrive, sync = instruction(30, "bar.arrive"), instruction(31, "bar.sync")
    for one in hand.checks:
        one.barrier_arrive(np.arange(32), 1, arrive)
    hand.store([0], [160])
    hand.store([32], [192])
    for one in hand.checks:
        one.named_barrier(PartialBarrier(np.array([0]), np.arange(32, 64), np.arange(32), 1, sync))
    hand.load([40], [64])
    hand.load([32], [192])
    assert not check.findings
    hand.load([40], [160], line=98)
    assert kinds(check) == [Kind.READ_AFTER_WRITE]
    hand.load([3], [192], line=99)
    assert len(check.findings) == 2


def test_groups_of_copies_are_counted_per_thread() -> None:
    hand, check = launch()
    hand.begin()
    for thread, groups in ((0, 1), (32, 2)):
        copy = hand.copy(thread, 4 * thread)
        assert copy.asynchronous
        for one in hand.checks:
            for _ in range(groups):
                one.async_commit(np.array([thread]), instruction(32, "cp.async.commit_group"))
            one.async_wait(np.array([thread]), 1, instruction(33, "cp.async.wait_group"))
    hand.load([32], [128], line=90)
    assert not check.findings
    hand.load([0], [0], line=91)
    assert kinds(check) == [Kind.COPY_IN_FLIGHT]


def test_a_lone_lane_takes_its_warps_work_through_an_mbarrier() -> None:
    hand, check = launch()
    hand.begin().store(range(32), range(0, 128, 4))
    hand.syncwarp(range(32))
    for one in hand.checks:
        arrives = np.array([0]), np.array([0]), np.array([128]), instruction(31)
        one.mbarrier(MBarrierOperation("arrive", *arrives))
        one.mbarrier_phase(np.array([0]), np.array([128]))
        passes = np.array([40]), np.array([0]), np.array([128]), instruction(31)
        one.mbarrier(MBarrierOperation("passed", *passes))
    hand.load([40], [64])
    assert not check.findings
    hand.load([41], [64])
    assert kinds(check) == [Kind.READ_AFTER_WRITE]


def test_blocks_have_their_own_shared_memory_and_barriers() -> None:
    hand, check = launch(grid=Dim3(2))
    hand.begin().store([0, 64], [0, 0])
    hand.barrier(0)
    hand.load([1], [0])
    assert not check.findings
    hand.load([65], [0])
    assert kinds(check) == [Kind.READ_AFTER_WRITE]
    assert check.findings[0].parties[0].block == (1, 0, 0)


def test_a_cluster_barrier_orders_what_a_block_barrier_does_not() -> None:
    hand, check = launch(grid=Dim3(4), cluster=Dim3(2))
    hand.begin().store([0], [0])
    hand.barrier()
    hand.load([64], [0], blocks=np.array([0]))
    assert kinds(check) == [Kind.READ_AFTER_WRITE]
    hand.store([1], [32])
    for one in hand.checks:
        one.cluster_barrier(np.array([0]), instruction(30, "barrier.cluster.arrive"))
    hand.load([65], [32], line=99, blocks=np.array([0]))
    assert len(check.findings) == 1


def test_global_memory_no_barrier_orders_two_blocks() -> None:
    hand, check = launch(grid=Dim3(2))
    out = hand.buffer(256)
    hand.begin().store([0], [out.base], space=Space.GLOBAL)
    hand.barrier()
    hand.load([1], [out.base], space=Space.GLOBAL)
    assert not check.findings
    hand.load([64], [out.base], space=Space.GLOBAL)
    assert kinds(check) == [Kind.READ_AFTER_WRITE]


@pytest.mark.parametrize(("reader", "together"), [(64, True), (4 * 64, True), (2 * 64, False)])
def test_a_race_on_global_memory_distinguishes_blocks_of_one_cluster(reader: int, together: bool) -> None:
    hand, check = launch(grid=Dim3(4, 4), cluster=Dim3(2, 2))
    out = hand.buffer(256)
    hand.begin().store([0], [out.base], space=Space.GLOBAL)
    hand.load([reader], [out.base], space=Space.GLOBAL)
    (finding,) = check.findings
    assert finding.one_cluster == together


def test_launches_on_a_stream_are_ordered() -> None:
    hand, check = launch()
    out = hand.buffer(256)
    hand.begin().store([0], [out.base], space=Space.GLOBAL)
    hand.begin().load([1], [out.base], space=Space.GLOBAL)
    hand.store([1], [out.base], space=Space.GLOBAL)
    assert not check.findings


def test_atomics_race_with_plain_accesses_only() -> None:
    hand, check = launch()
    for thread in (0, 1, 40):
        hand.begin() if thread == 0 else None
        hand.access(AccessKind.ATOMIC, [thread], [0], 15)
    assert not check.findings
    hand.load([2], [0])
    assert kinds(check) == [Kind.READ_AFTER_WRITE]


@pytest.mark.parametrize("thread", [0, 20, 63])
@pytest.mark.parametrize("kind", [AccessKind.LOAD, AccessKind.STORE])
def test_the_thread_that_updated_last_races_with_those_before_it(thread: int, kind: AccessKind) -> None:
    hand, check = launch()
    hand.begin().access(AccessKind.ATOMIC, range(64), [0] * 64, 15)
    hand.access(AccessKind.ATOMIC, [thread], [0], 16)
    assert not check.findings
    hand.access(kind, [thread], [0], 20, values=np.array([5], np.uint32))
    after = Kind.READ_AFTER_WRITE if kind is AccessKind.LOAD else Kind.WRITE_AFTER_WRITE
    (finding,) = check.findings
    other = finding.parties[1]
    assert (finding.kind, finding.parties[0].thread) == (after, (thread, 0, 0))
    assert (other.thread != (thread, 0, 0), other.position.line) == (True, 15)


def test_updates_before_a_barrier_do_not_race_with_accesses_after_it() -> None:
    hand, check = launch()
    hand.begin().access(AccessKind.ATOMIC, range(64), [0] * 64, 15)
    hand.barrier()
    hand.load([63], [0])
    hand.store([63], [0])
    assert not check.findings


def test_updates_of_another_block_stay_unordered_behind_a_barrier() -> None:
    hand, check = launch(grid=Dim3(2))
    out = hand.buffer(16)
    hand.begin().access(AccessKind.ATOMIC, range(128), [out.base] * 128, 15, space=Space.GLOBAL)
    hand.barrier()
    hand.load([64], [out.base], space=Space.GLOBAL)
    (finding,) = check.findings
    assert (finding.parties[0].block, finding.parties[1].block) == ((1, 0, 0), (0, 0, 0))


def test_a_thread_that_stored_what_others_store_races_when_it_stores_another_value() -> None:
    hand, check = launch()
    hand.begin().store(range(64), [0] * 64, values=np.full(64, 7, np.uint32))
    hand.load([63], [0])
    hand.store([63], [0], values=np.array([7], np.uint32))
    assert not check.findings
    hand.store([63], [0], line=11, values=np.array([8], np.uint32))
    (finding,) = check.findings
    assert (finding.kind, finding.parties[0].thread) == (Kind.WRITE_AFTER_WRITE, (63, 0, 0))
    assert [party.position.line for party in finding.parties] == [11, 10]


def test_an_update_does_not_hide_the_store_of_its_thread_from_other_updates() -> None:
    for together in ([0], [0, 1]):  # a strip, and granules one by one
        hand, check = launch()
        out = hand.buffer(16)
        addresses = [out.base + 4 * thread for thread in together]
        hand.begin().store(together, addresses, space=Space.GLOBAL)
        hand.access(AccessKind.ATOMIC, together, addresses, 15, space=Space.GLOBAL)
        assert not check.findings
        hand.access(AccessKind.ATOMIC, [40], [out.base], 16, space=Space.GLOBAL)
        (finding,) = check.findings
        assert [party.position.line for party in finding.parties] == [16, 10]


def test_a_store_of_the_value_that_an_update_left_races_with_the_update() -> None:
    hand, check = launch()
    out = hand.buffer(16)
    hand.begin().access(AccessKind.ATOMIC, [40], [out.base], 15, space=Space.GLOBAL)
    hand.memory.view(out.base, 4).view(np.uint32)[0] = 1
    hand.store([0], [out.base], values=np.array([1], np.uint32), space=Space.GLOBAL)
    assert kinds(check) == [Kind.WRITE_AFTER_WRITE]


@pytest.mark.parametrize("many", [8, 4096])
def test_of_very_many_writers_at_once_the_first_and_the_last_are_kept(
    many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shadow, "MANY", many)
    hand, check = launch(grid=Dim3(3), block=Dim3(1))
    out = hand.buffer(16)
    lanes = [0, 1, 2] * 8
    addresses = [out.base + 4 * (lane // 12) for lane in range(24)]
    hand.begin().access(AccessKind.ATOMIC, lanes, addresses, 15, space=Space.GLOBAL)
    hand.load([2], [out.base + 4], space=Space.GLOBAL)
    assert kinds(check) == [Kind.READ_AFTER_WRITE]


def test_many_lanes_at_one_granule_are_compared_with_few_of_its_writers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shadow, "MAX_FURTHER", 16)
    hand, check = launch(grid=Dim3(2), block=Dim3(2))
    out = hand.buffer(16)
    hand.begin()
    for thread in (0, 1, 2, 3):
        hand.access(AccessKind.ATOMIC, [thread], [out.base], 15, space=Space.GLOBAL)
    hand.barrier(1)
    hand.load([2, 3] * 4, [out.base] * 8, space=Space.GLOBAL)
    (finding,) = check.findings
    assert [party.block for party in finding.parties] == [(1, 0, 0), (0, 0, 0)]


@pytest.mark.parametrize("width", [1, 4])
def test_adjacent_bytes_are_separate_if_the_kernel_accesses_bytes(width: int) -> None:
    hand, check = launch(body=[instruction(1, "st.shared.b8" if width == 1 else "st.shared.b32")])
    hand.begin().store([0], [0], width=width)
    hand.store([1], [1 if width == 1 else 0], width=width)
    assert bool(check.findings) == (width == 4)


def test_each_pair_is_reported_once_with_its_count() -> None:
    hand, check = launch()
    hand.begin()
    for _ in range(5):
        hand.store([0, 1], [0, 4])
        hand.load([40, 41], [0, 4])
        hand.barrier()
    (finding,) = check.findings
    assert finding.count == 10


@given(st.lists(st.tuples(st.booleans(), st.permutations(range(64))), max_size=12))
def test_separated_phases_are_never_reported(phases: list[tuple[bool, list[int]]]) -> None:
    hand, check = launch()
    hand.begin()
    for writes, order in phases:
        offsets = [4 * (element % 64) for element in order]
        if writes:
            hand.store(range(64), offsets)
        else:
            hand.load(range(64), offsets)
        hand.barrier()
    assert not check.findings


@given(st.permutations(range(64)), st.permutations(range(64)))
def test_unseparated_phases_are_reported_exactly_where_threads_differ(
    wrote: list[int], read: list[int]
) -> None:
    hand, check = launch()
    hand.begin().store(range(64), [4 * element for element in wrote])
    hand.load(range(64), [4 * element for element in read])
    clashes = sum(one != other for one, other in zip(wrote, read, strict=True))
    assert sum(finding.count for finding in check.findings) == clashes


@pytest.mark.parametrize("first", [0, 1, 2])
@pytest.mark.parametrize("dense", [True, False])
def test_every_reader_of_a_granule_is_recorded(first: int, dense: bool) -> None:
    """Three threads read each granule; the one of another block is unordered, in any order of the reads."""
    hand, check = launch(grid=Dim3(2))
    out = hand.buffer(16)
    cells = [out.base + 4 * cell for cell in range(4)]
    others = [range(0, 4), range(64, 68), range(70, 74)]
    hand.begin()
    for readers in (*others[first:], *others[:first]):
        order = list(readers)
        where = cells if dense else [cells[i] for i in (1, 0, 3, 2)]
        hand.load(order if dense else [order[i] for i in (1, 0, 3, 2)], where, space=Space.GLOBAL)
    hand.barrier(1)
    hand.store([90], [cells[2]], space=Space.GLOBAL)
    (finding,) = check.findings
    assert finding.kind is Kind.WRITE_AFTER_READ
    assert [(party.block[0], party.thread[0]) for party in finding.parties] == [(1, 26), (0, 2)]


@pytest.mark.parametrize("index", range(4))
def test_every_lane_that_reads_a_granule_in_one_instruction_is_recorded(index: int) -> None:
    hand, check = launch(grid=Dim3(2), block=Dim3(96))
    out = hand.buffer(16)
    readers = [96 + 2, 96 + 34, 96 + 66]
    readers.insert(index, 3)
    hand.begin().store([5], [out.base + 8], space=Space.GLOBAL)  # so that reads are kept one by one
    hand.load(readers, [out.base] * 4, space=Space.GLOBAL)
    hand.barrier(1)
    hand.store([96 + 40], [out.base], space=Space.GLOBAL)
    (finding,) = check.findings
    assert [(party.block[0], party.thread[0]) for party in finding.parties] == [(1, 40), (0, 3)]


def test_readers_of_shared_memory_that_met_at_a_barrier_are_forgotten() -> None:
    hand, check = launch()
    hand.begin()
    for thread in range(12):
        hand.load([thread], [0])
    hand.barrier()
    for thread in range(12):
        hand.load([thread], [4])
    hand.store([20], [0])
    assert not check.findings
    hand.store([20], [4])
    (finding,) = check.findings
    assert finding.count == 12


def test_of_very_many_readers_one_of_each_warp_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shadow, "MAX_FURTHER", 8)
    hand, check = launch(grid=Dim3(2), block=Dim3(96))
    out = hand.buffer(16)
    hand.begin()
    hand.load([50], [out.base], space=Space.GLOBAL)
    for thread in range(40):
        hand.load([96 + thread], [out.base], space=Space.GLOBAL)
    hand.barrier(1)
    hand.store([96 + 40], [out.base], space=Space.GLOBAL)
    (finding,) = check.findings
    assert [(party.block[0], party.thread[0]) for party in finding.parties] == [(1, 40), (0, 50)]
