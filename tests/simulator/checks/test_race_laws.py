"""Properties of the race check, against an oracle that records every access."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.simulator.checks.launches import HandLaunch
from tooling.simulator.checks.bulk_copies import BulkCopyCheck
from tooling.simulator.checks.footprint import Footprints
from tooling.simulator.checks.races import RaceCheck
from tooling.simulator.gpu.hooks import AccessKind, Space
from tooling.simulator.gpu.launch import Dim3

THREADS_PER_BLOCK, BLOCKS, CELLS = 3, 3, 3


@dataclass(frozen=True)
class Step:
    """An access of some threads, each to an element, or (without accesses) a barrier of one block."""

    writes: bool
    accesses: tuple[tuple[int, int], ...]
    block: int = 0


threads = st.integers(0, THREADS_PER_BLOCK * BLOCKS - 1)
accesses = st.builds(
    Step,
    st.booleans(),
    st.dictionaries(threads, st.integers(0, CELLS - 1), min_size=1).map(lambda d: tuple(sorted(d.items()))),
)
barriers = st.builds(Step, st.just(False), st.just(()), st.integers(0, BLOCKS - 1))


@dataclass(frozen=True)
class Row:
    """Consecutive threads of one or both blocks, each at its own element of its block's shared memory."""

    writes: bool
    blocks: tuple[int, ...]
    first_thread: int
    first_cell: int
    lanes: int

    @property
    def threads(self) -> list[int]:
        inside = range(self.first_thread, self.first_thread + self.lanes)
        return [block * THREADS_PER_BLOCK + thread for block in self.blocks for thread in inside]

    @property
    def cells(self) -> list[int]:
        return [*range(self.first_cell, self.first_cell + self.lanes)] * len(self.blocks)


rows = st.builds(
    Row,
    st.booleans(),
    st.sampled_from([(0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)]),
    st.integers(0, 1),
    st.integers(0, 1),
    st.integers(1, THREADS_PER_BLOCK - 1),
)


def races(steps: list[Step]) -> bool:
    """Whether two threads access one element, one of them writing, without a barrier between."""
    history: list[tuple[int, int, int, bool]] = []
    epochs = [0] * BLOCKS
    found = False
    for step in steps:
        if not step.accesses:
            epochs[step.block] += 1
        for thread, cell in step.accesses:
            block = thread // THREADS_PER_BLOCK
            for other, epoch, accessed, wrote in history:
                ordered = other // THREADS_PER_BLOCK == block and epoch < epochs[block]
                if accessed == cell and other != thread and (wrote or step.writes) and not ordered:
                    found = True
        for thread, cell in step.accesses:
            history.append((thread, epochs[thread // THREADS_PER_BLOCK], cell, step.writes))
        if step.writes:
            for (one, here), (two, there) in itertools.combinations(step.accesses, 2):
                found |= one != two and here == there
    return found


@given(st.lists(st.one_of(accesses, accesses, barriers), max_size=10))
def test_a_race_is_found_if_and_only_if_there_is_one(steps: list[Step]) -> None:
    check = RaceCheck(Footprints(), BulkCopyCheck())
    hand = HandLaunch([check], grid=Dim3(BLOCKS), block=Dim3(THREADS_PER_BLOCK))
    out = hand.buffer(4 * CELLS)
    hand.begin()
    for number, step in enumerate(steps):
        if not step.accesses:
            hand.barrier(step.block)
            continue
        who = [thread for thread, _ in step.accesses]
        where = [out.base + 4 * cell for _, cell in step.accesses]
        if step.writes:
            values = np.arange(len(who), dtype=np.uint32) + 100 * number + 1
            hand.store(who, where, space=Space.GLOBAL, values=values)
            # The engine performs the access after the check: later writes compare with what is there.
            for address, value in zip(where, values, strict=True):
                hand.memory.view(address, 4).view(np.uint32)[0] = value
        else:
            hand.load(who, where, space=Space.GLOBAL)
    assert bool(check.findings) == races(steps)


@dataclass(frozen=True)
class Strong:
    """Atomic operations, or stores of one value, of some threads, each at an element."""

    value: int | None
    accesses: tuple[tuple[int, int], ...]


few = st.sampled_from([0, 1, THREADS_PER_BLOCK, 2 * THREADS_PER_BLOCK])
threads_and_cells = st.dictionaries(few, st.integers(0, 1), min_size=1).map(
    lambda d: tuple(sorted(d.items()))
)
updates = st.builds(Strong, st.sampled_from([None, None, 1, 2]), threads_and_cells)
reads = st.builds(Step, st.just(False), threads_and_cells)


@dataclass(frozen=True)
class Write:
    """A write that was performed: its thread, when its block had passed how many barriers, and its value."""

    thread: int
    epoch: int
    value: int | None

    def ordered_before(self, thread: int, epochs: list[int]) -> bool:
        block = thread // THREADS_PER_BLOCK
        return self.thread == thread or (
            self.thread // THREADS_PER_BLOCK == block and self.epoch < epochs[block]
        )


def races_with_updates(steps: list[Step | Strong]) -> bool:
    """Whether accesses race: a load and a write, a store and an atomic operation, or stores of two values.

    Stores of one value do not, whatever the order of the others that store it. What an ordered store has
    overwritten is not compared.
    """
    written: list[list[Write]] = [[] for _ in range(CELLS)]
    loaded: list[list[Write]] = [[] for _ in range(CELLS)]
    epochs = [0] * BLOCKS
    for step in steps:
        if not step.accesses:
            assert isinstance(step, Step)
            epochs[step.block] += 1
        for thread, cell in step.accesses:
            open_writes = [w for w in written[cell] if not w.ordered_before(thread, epochs)]
            if isinstance(step, Step):
                last = written[cell][-1:]
                if any(w.value is None or w in last for w in open_writes):
                    return True
                continue
            open_reads = [r for r in loaded[cell] if not r.ordered_before(thread, epochs)]
            if open_reads or any(w.value != step.value for w in open_writes):
                return True
        for thread, cell in step.accesses:
            epoch = epochs[thread // THREADS_PER_BLOCK]
            if isinstance(step, Step):
                loaded[cell].append(Write(thread, epoch, None))
                continue
            if step.value is not None:
                written[cell] = [w for w in written[cell] if not w.ordered_before(thread, epochs)]
            written[cell].append(Write(thread, epoch, step.value))
    return False


@given(st.lists(st.one_of(updates, updates, reads, barriers), max_size=10))
def test_atomic_operations_and_equal_stores_hide_no_race_of_one_another(steps: list[Step | Strong]) -> None:
    check = RaceCheck(Footprints(), BulkCopyCheck())
    hand = HandLaunch([check], grid=Dim3(BLOCKS), block=Dim3(THREADS_PER_BLOCK))
    out = hand.buffer(4 * CELLS)
    hand.begin()
    for step in steps:
        who = [thread for thread, _ in step.accesses]
        where = [out.base + 4 * cell for _, cell in step.accesses]
        if not step.accesses:
            assert isinstance(step, Step)
            hand.barrier(step.block)
        elif isinstance(step, Step):
            hand.load(who, where, space=Space.GLOBAL)
        elif step.value is None:
            hand.access(AccessKind.ATOMIC, who, where, 15, space=Space.GLOBAL)
        else:
            values = np.full(len(who), step.value, np.uint32)
            hand.store(who, where, space=Space.GLOBAL, values=values)
            for address in where:
                hand.memory.view(address, 4).view(np.uint32)[0] = step.value
    assert bool(check.findings) == races_with_updates(steps)


@given(st.lists(st.one_of(rows, rows, barriers), max_size=10))
def test_neighbours_in_the_shared_memory_of_blocks_race_if_and_only_if_lanes_do(
    steps: list[Row | Step],
) -> None:
    check = RaceCheck(Footprints(), BulkCopyCheck())
    hand = HandLaunch([check], grid=Dim3(BLOCKS), block=Dim3(THREADS_PER_BLOCK)).begin()
    performed: list[Step] = []
    for number, step in enumerate(steps):
        if isinstance(step, Step):
            hand.barrier(step.block)
            performed.append(step)
            continue
        who = step.threads
        where = [4 * cell for cell in step.cells]
        if step.writes:
            hand.store(who, where, values=np.arange(len(who), dtype=np.uint32) + 100 * number + 1)
        else:
            hand.load(who, where)
        cells = [
            thread // THREADS_PER_BLOCK * CELLS + cell for thread, cell in zip(who, step.cells, strict=True)
        ]
        performed.append(Step(step.writes, tuple(zip(who, cells, strict=True))))
    assert bool(check.findings) == races(performed)
