"""`BlockOrder` against vector clocks that are kept for every block and address."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooling.simulator.checks.happens_before import block_order
from tooling.simulator.checks.happens_before.block_order import BlockOrder
from tooling.simulator.program.backend import Order

BLOCKS, ADDRESSES = 4, 3
BOTH = Order()


@dataclass(frozen=True)
class Step:
    """A strong access of some blocks, each to an address, or a barrier of blocks (without addresses).

    With `fences`, a fence of blocks instead of a barrier.
    """

    blocks: tuple[int, ...]
    addresses: tuple[int, ...]
    acquires: bool
    releases: bool
    order: Order = BOTH
    fences: bool = False


pairs = st.dictionaries(st.integers(0, BLOCKS - 1), st.integers(0, ADDRESSES - 1), min_size=1).map(
    lambda chosen: tuple(sorted(chosen.items()))
)
accesses = st.builds(
    lambda chosen, how: Step(tuple(b for b, _ in chosen), tuple(a for _, a in chosen), *how),
    pairs,
    st.sampled_from([(True, False), (False, True), (True, True)]),
)
barriers = st.builds(
    lambda blocks: Step(tuple(sorted(blocks)), (), acquires=False, releases=False),
    st.sets(st.integers(0, BLOCKS - 1), min_size=2),
)


weak = st.builds(
    lambda step, acquires, releases: Step(
        step.blocks, step.addresses, step.acquires, step.releases, Order(True, acquires, releases)
    ),
    accesses,
    st.booleans(),
    st.booleans(),
)
fences = st.builds(
    lambda blocks: Step(tuple(sorted(blocks)), (), acquires=True, releases=True, fences=True),
    st.sets(st.integers(0, BLOCKS - 1), min_size=1),
)


class VectorClocks:
    """The oracle: a vector clock for each block and for each address."""

    def __init__(self) -> None:
        self.known = np.ones((BLOCKS, BLOCKS), np.int64)
        self.observed = np.ones((BLOCKS, BLOCKS), np.int64)
        self.fenced = [False] * BLOCKS
        self.published = np.ones((ADDRESSES, BLOCKS), np.int64)

    def step(self, step: Step, clock: int) -> None:
        members = list(step.blocks)
        if step.fences:
            self.known[members] = np.maximum(self.known[members], self.observed[members])
            for block in members:
                self.fenced[block] = True
            return
        if not step.addresses:
            self.known[members] = self.known[members].max(axis=0)
            return
        lanes = list(zip(step.blocks, step.addresses, strict=True))
        if not step.order.releases:  # blocks without a fence come last: they may have observed the others
            lanes.sort(key=lambda lane: not self.fenced[lane[0]])
        for block, address in lanes:
            before = self.known[block].copy()
            if step.acquires:
                into = self.known if step.order.acquires else self.observed
                into[block] = np.maximum(into[block], self.published[address])
            if step.releases and (step.order.releases or self.fenced[block]):
                released = self.known[block] if step.acquires else before
                self.published[address] = np.maximum(self.published[address], released)
                self.published[address, block] = clock


@given(st.lists(st.one_of(accesses, accesses, barriers), max_size=14))
def test_block_order_equals_vector_clocks(steps: list[Step]) -> None:
    compare_with_clocks(steps)


@given(st.lists(st.one_of(accesses, weak, weak, fences, barriers), max_size=14))
def test_relaxed_accesses_order_blocks_only_with_fences(steps: list[Step]) -> None:
    compare_with_clocks(steps)


def compare_with_clocks(steps: list[Step]) -> None:
    order, oracle = BlockOrder(BLOCKS, 1), VectorClocks()
    for clock, step in enumerate(steps, start=2):
        if step.addresses:
            blocks, addresses = np.array(step.blocks), np.array(step.addresses)
            order.access(
                blocks, addresses, clock, acquires=step.acquires, releases=step.releases, order=step.order
            )
        elif step.fences:
            order.fence(np.array(step.blocks))
        else:
            order.join(np.array(step.blocks))
        oracle.step(step, clock)
    later, earlier = (side.ravel() for side in np.indices((BLOCKS, BLOCKS)))
    different = later != earlier
    for at in range(1, len(steps) + 2):
        clocks = np.full(len(later), at)
        found = order.unordered(earlier, clocks, later)
        assert (found == (clocks >= oracle.known[later, earlier]))[different].all()


@pytest.mark.parametrize("limit", ["MAX_PAIRS", "MAX_LOGS"])
def test_without_addresses_no_false_race_is_reported(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    order = BlockOrder(BLOCKS, 1)
    monkeypatch.setattr(block_order, limit, 0)
    order.access(np.array([0, 1]), np.array([5, 6]), 3, acquires=False, releases=True)
    monkeypatch.undo()
    order.access(np.array([2]), np.array([5]), 4, acquires=True, releases=False)
    order.access(np.array([2]), np.array([7]), 5, acquires=False, releases=True)
    monkeypatch.setattr(block_order, limit, 0)
    order.access(np.array([3, 1]), np.array([7, 8]), 6, acquires=True, releases=False)
    for later, earlier in ((2, 0), (3, 2), (3, 0)):
        known = order.unordered(np.array([earlier] * 2), np.array([2, 5]), np.array([later] * 2))
        assert known.tolist() == [False, True]


def test_old_releases_are_folded_and_stay_ordered() -> None:
    order = BlockOrder(2, 1)
    for clock in range(2, 6000):
        order.access(np.array([0]), np.array([9]), clock, acquires=False, releases=True)
    order.access(np.array([1]), np.array([9]), 6000, acquires=True, releases=True)
    clocks = np.array([1, 3000, 5998, 5999])
    found = order.unordered(np.zeros(4, np.int64), clocks, np.ones(4, np.int64))
    assert found.tolist() == [False, False, False, True]


def test_a_direct_acquire_from_another_block_has_a_clock() -> None:
    order = BlockOrder(3, 1)
    order.acquire_from(1, 0, 5)
    order.acquire_from(2, 0, 9)
    clocks = np.array([4, 5, 8, 9])
    for block, answers in ((1, [False, True, True, True]), (2, [False, False, False, True])):
        found = order.unordered(np.zeros(4, np.int64), clocks, np.full(4, block))
        assert found.tolist() == answers
