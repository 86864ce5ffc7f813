"""Which groups of lanes run next, held to a look at all of them."""

from __future__ import annotations

import random

import pytest

from tooling.simulator.engine.ready_queue import ReadyQueue
from tooling.simulator.engine.schedule import PATIENCE, Schedule
from tooling.simulator.gpu.lanes import Group

PLACES = 12


def group(chance: random.Random) -> Group:
    stack = tuple(chance.choices(range(3), k=chance.choice((0, 0, 0, 1, 2))))
    made = Group(chance.randrange(PLACES), stack, None, 1, [], base=[], missing=lambda _slot: NotImplemented)
    made.back_edges = chance.choice((0, 0, PATIENCE, PATIENCE + 1))
    return made


def expected(kind: str, groups: list[Group], turn: int) -> tuple[Group, bool]:
    """The group that runs next, and whether all were tired."""

    def key(one: Group) -> int:
        return one.pc - (len(one.stack) << 32)

    patient = [one for one in groups if one.back_edges <= PATIENCE]
    if len(groups) == 1:
        return groups[0], False
    if not patient:
        return sorted(groups, key=key)[(turn + 1) % len(groups)], True
    best = (max if kind == "adversarial" else min)(map(key, patient))
    return next(one for one in patient if key(one) == best), False


@pytest.mark.parametrize("kind", ["lockstep", "adversarial"])
@pytest.mark.parametrize("seed", range(20))
def test_the_first_patient_group_runs_with_all_at_its_program_point(kind: str, seed: int) -> None:
    chance = random.Random(seed)
    schedule = Schedule(kind, 0, range(PLACES))
    looked: list[int] = []
    waiting = ReadyQueue(schedule, lambda groups: looked.append(len(groups)))
    known: list[Group] = []
    tired = 0
    for _ in range(300):
        for _ in range(chance.choice((0, 1, 1, 2, 5))):
            known.append(group(chance))
            waiting.add(known[-1])
        assert list(waiting) == known
        if not known:
            continue
        assert waiting.first_rank() == min(schedule.rank(one) for one in known)
        chosen, everyone = expected(kind, known, schedule.turn)
        same = [one for one in known if (one.pc, one.stack) == (chosen.pc, chosen.stack)]
        tired += everyone
        assert waiting.take() == same
        assert len(looked) == tired
        known = [one for one in known if one not in same]


def test_a_random_order_takes_any_group() -> None:
    chance = random.Random(1)
    waiting = ReadyQueue(Schedule("random:1", 0, range(PLACES)), lambda _groups: None)
    for _ in range(200):
        waiting.add(group(chance))
    program_points = []
    while waiting:
        taken = waiting.take()
        program_points.append((taken[0].pc, taken[0].stack))
        assert {(one.pc, one.stack) for one in taken} == {program_points[-1]}
    assert len(set(program_points)) == len(program_points)
    assert program_points != sorted(program_points)
