"""Groups of lanes: subgroups of a group read and change registers, and are merged again."""

from __future__ import annotations

from typing import Any

import numpy as np

from tooling.simulator.gpu.lanes import Group, merge

LANES = 8
READ, CHANGED, UNTOUCHED = range(3)
SLOTS = (READ, CHANGED, UNTOUCHED)


def whole_group() -> Group:
    """All lanes of a batch; register n of lane k holds 100 n + k."""
    base: list[Any] = [np.arange(LANES, dtype=np.uint32) + np.uint32(100 * slot) for slot in SLOTS]

    def missing(slot: int) -> Any:
        raise AssertionError(slot)

    return Group(0, (), None, LANES, base, base=base, missing=missing)


def test_registers_that_parts_only_read_are_not_copied_when_all_lanes_meet() -> None:
    group = whole_group()
    before = list(group.registers)
    odd, even = (group.subgroup(np.arange(first, LANES, 2), 1, SLOTS) for first in (1, 0))
    assert odd.get(READ).tolist() == [1, 3, 5, 7]
    odd.registers[CHANGED] = np.array([11, 13, 15, 17], np.uint32)
    merged = merge([odd, even], SLOTS, LANES)
    assert merged.lanes is None
    assert merged.get(CHANGED).tolist() == [100, 11, 102, 13, 104, 15, 106, 17]
    assert merged.get(READ) is before[READ]
    assert merged.get(UNTOUCHED) is before[UNTOUCHED]
    assert np.asarray(before[CHANGED]).tolist() == list(range(100, 108)), (
        "arrays in registers are never modified"
    )


def test_parts_of_parts_are_merged_step_by_step() -> None:
    group = whole_group()
    upper, lower = (group.subgroup(np.arange(first, first + 4), 1, SLOTS) for first in (4, 0))
    assert upper.get(READ).tolist() == [4, 5, 6, 7]
    upper.registers[CHANGED] = np.array([1], np.uint32)
    first, second = (upper.subgroup(np.array(positions), 2, SLOTS) for positions in ([0, 3], [1, 2]))
    assert first.get(READ).tolist() == [4, 7]
    second.registers[READ] = np.array([50, 60], np.uint32)
    again = merge([first, second], SLOTS, LANES)
    assert again.get(READ).tolist() == [4, 50, 60, 7]
    assert again.get(CHANGED).tolist() == [1]
    assert again.get(UNTOUCHED).tolist() == [204, 205, 206, 207]
    merged = merge([lower, again], SLOTS, LANES)
    assert merged.get(READ).tolist() == [0, 1, 2, 3, 4, 50, 60, 7]
    assert merged.get(CHANGED).tolist() == [100, 101, 102, 103, 1, 1, 1, 1]
    assert merged.get(UNTOUCHED).tolist() == list(range(200, 208))


def test_a_register_that_every_subgroup_sets_to_one_value_has_a_single_value() -> None:
    group = whole_group()
    subgroups = [group.subgroup(np.arange(first, LANES, 2), 1, SLOTS) for first in (0, 1)]
    for subgroup in subgroups:
        subgroup.registers[CHANGED] = np.array([7], np.uint32)
    assert merge(subgroups, SLOTS, LANES).get(CHANGED).tolist() == [7]
