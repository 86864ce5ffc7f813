"""Values are followed through registers, lane by lane, at the same cost however many a result depends on."""

from __future__ import annotations

import random
from collections import defaultdict

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Check, Kind
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.lanes import Group, Lanes
from tooling.simulator.program import followed_values
from tooling.simulator.program.followed_values import MOST_VALUES, FollowedValues, JoinedValues
from tooling.simulator.program.value_flow import Flow, Role

LANES = 12
REGISTERS = 6
GUARD = REGISTERS  # the slot of the predicate
USE, COMPUTE = (Instruction(opcode, (), None, (), 0) for opcode in ("st", "add"))


class Value:
    """A value that notes the lanes that use it, each once."""

    computable = True
    joinable = True
    settled = False

    def __init__(self, *, joinable: bool = True) -> None:
        self.joinable = joinable
        self.holders = 0
        self.used: set[int] = set()
        self.dropped = False

    def use(self, lanes: NDArray[np.intp], instruction: Instruction) -> None:
        assert instruction is USE and not self.dropped
        self.used |= set(lanes.tolist())

    def drop(self) -> None:
        assert self.holders == 0
        self.dropped = True


def group_of(lanes: Lanes, flags: NDArray[np.bool_]) -> Group:
    """A group whose predicate has these flags, one for each lane of the batch."""
    count = LANES if lanes is None else len(np.arange(LANES)[lanes])
    return Group(
        0, (), lanes, count, [None] * (GUARD + 1), base=[None] * (GUARD + 1), missing=lambda _: flags
    )


@pytest.mark.parametrize("most", [3, MOST_VALUES])
@pytest.mark.parametrize("seed", range(10))
def test_each_lane_uses_what_its_registers_were_computed_from(
    seed: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random instructions of random groups, against sets of values for each register of each lane."""
    monkeypatch.setattr(followed_values, "MOST_VALUES", most)
    pick = random.Random(seed)
    followed = FollowedValues(LANES)
    values: list[Value] = []
    held: dict[tuple[int, int], set[Value]] = defaultdict(set)  # by register and lane
    used: dict[Value, set[int]] = defaultdict(set)
    for _ in range(400):
        lanes = pick.choice([None, None, slice(2, 9), np.array([0, 3, 4, 11])])
        numbers = np.arange(LANES)[slice(None) if lanes is None else lanes].tolist()
        flags = np.array([pick.random() < 0.7 for _ in range(LANES)])
        group = group_of(lanes, flags)
        guard = pick.choice([None, (GUARD, False), (GUARD, True)])
        active = [lane for lane in numbers if guard is None or flags[lane] != guard[1]]
        target = pick.randrange(REGISTERS)
        action = pick.random()
        if action < 0.45:
            value = Value(joinable=pick.random() < 0.9)
            values.append(value)
            followed.hold(target, value, np.array(numbers))
            for lane in numbers:
                held[target, lane].add(value)
        elif action < 0.9:
            sources = tuple(dict.fromkeys(pick.choices(range(REGISTERS), k=3)))
            followed.execute(Flow(Role.COMPUTES, sources, (target,), guard), COMPUTE, group)
            for lane in active:
                held[target, lane] = set().union(*(held[source, lane] for source in sources))
        else:
            followed.execute(Flow(Role.USES, (target,), (), guard), USE, group)
            for lane in active:
                for value in held[target, lane]:
                    used[value].add(lane)
        assert all(value.used == used[value] for value in values)
    for target in range(REGISTERS):
        followed.execute(Flow(Role.COMPUTES, (), (target,)), COMPUTE, group_of(None, flags))
    assert not followed
    assert all(value.dropped for value in values)


def test_a_register_lists_a_few_values_and_the_rest_is_joined() -> None:
    count = 50 * MOST_VALUES
    followed = FollowedValues(LANES)
    group = group_of(None, np.ones(LANES, np.bool_))
    values = [Value() for _ in range(count)]
    for value in values:
        followed.hold(1, value, np.arange(LANES))
        followed.execute(Flow(Role.COMPUTES, (0, 1), (0,)), COMPUTE, group)
        followed.execute(Flow(Role.COMPUTES, (), (1,)), COMPUTE, group)
        assert len(followed.held(0)) <= MOST_VALUES
    assert any(isinstance(value, JoinedValues) for value in followed.held(0))
    followed.execute(Flow(Role.USES, (0,)), USE, group_of(slice(2, 4), np.ones(LANES, np.bool_)))
    assert all(value.used == {2, 3} for value in values)
    followed.execute(Flow(Role.COMPUTES, (), (0,)), COMPUTE, group)
    assert all(value.dropped for value in values)


SUM = """
    shl.b32 %r9, %r30, 2;
    mov.b32 %r2, cells;
    add.s32 %r3, %r2, %r9;
    st.shared.b32 [%r3], %r30;
    bar.sync 0;
    xor.b32 %r4, %r9, 128;
    add.s32 %r5, %r2, %r4;
    mov.b32 %r8, 0;
    mov.b32 %r6, 0;
LOOP:
    {loads}
    {barrier}
    add.s32 %r6, %r6, 1;
    setp.lt.u32 %p1, %r6, 20;
    @%p1 bra LOOP;
    st.shared.b32 [%r3], 7;
    setp.lt.u32 %p2, %r30, 40;
    cvt.u64.u32 %rd1, %r9;
    add.s64 %rd2, %rd30, %rd1;
    @!%p2 bra DONE;
    st.global.b32 [%rd2], %r8;
DONE:
"""
"""Each thread sums 80 loads of the element of a thread of the other warp, overwrites its own element, and
stores the sum if it is one of the first 40."""
LOADS = "ld.shared.b32 %r1, [%r5]; add.s32 %r8, %r8, %r1;\n" * 4


@pytest.mark.parametrize(("barrier", "races"), [("", True), ("bar.sync 0;", False)])
def test_a_sum_of_many_loads_with_a_guarded_store(barrier: str, races: bool) -> None:
    text = kernel(SUM.format(loads=LOADS, barrier=barrier), before=".shared .align 8 .b8 cells[256];")
    checks = make_checks(list(Check))
    simulate(text, [np.zeros(64, np.uint32)], block=64, hooks=checks)
    found = [finding for check in checks for finding in check.findings]
    assert {finding.kind for finding in found} == ({Kind.WRITE_AFTER_READ} if races else set())
    # Threads 0 to 39 use what they have loaded from the other warp: 32 and 8 of them.
    assert {finding.parties[1].thread[0] for finding in found} <= set(range(40))


def test_an_unwritten_value_that_is_used_after_a_barrier_is_found() -> None:
    body = SUM.replace("st.shared.b32 [%r3], %r30;\n    bar.sync 0;", "")
    text = kernel(body.format(loads=LOADS, barrier="bar.sync 0;"), before=".shared .align 8 .b8 cells[256];")
    checks = make_checks(list(Check))
    simulate(text, [np.zeros(64, np.uint32)], block=64, hooks=checks)
    found = [(each.kind, each.count) for check in checks for each in check.findings]
    assert {kind for kind, _ in found} == {Kind.UNWRITTEN_READ}
