"""The groups of lanes that can run, by place: found at once, however many there are.

Lanes that go many ways are as many groups, and each turn takes one place's. So the places are kept in heaps,
by their rank in the order of running; entries of places that are empty by now are dropped when they come up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import TypeAlias

from tooling.simulator.engine.schedule import Schedule
from tooling.simulator.gpu.lanes import Group

Place: TypeAlias = tuple[int, tuple[int, ...]]
"""A basic block, and the return places of the calls that the lanes are in."""


class ReadyQueue:
    """Groups in the order in which they came, and which of them run next.

    Args:
        schedule: decides about order.
        look: is told of all groups when each had its turn since the last time.
    """

    def __init__(self, schedule: Schedule, look: Callable[[Sequence[Group]], None]) -> None:
        self._schedule = schedule
        self._look = look
        self._groups: dict[int, Group] = {}
        self._places: dict[Place, list[int]] = {}
        self._arrivals = 0
        self._ranks: list[tuple[int, Place]] = []
        self._patient: list[tuple[int, int, Place]] = []

    def __len__(self) -> int:
        return len(self._groups)

    def __iter__(self) -> Iterator[Group]:
        """In the order in which they came."""
        return iter(self._groups.values())

    def add(self, group: Group) -> None:
        """A group that can run when its turn comes."""
        number = self._arrivals
        self._arrivals += 1
        self._groups[number] = group
        place = group.pc, group.stack
        if self._schedule.is_random:
            self._places.setdefault(place, []).append(number)
            return
        rank = self._schedule.rank(group)
        if place in self._places:
            self._places[place].append(number)
        else:
            self._places[place] = [number]
            heappush(self._ranks, (rank, place))
        if not self._schedule.is_tired(group):
            heappush(self._patient, (rank, number, place))

    def first_rank(self) -> int:
        """The rank of the place that comes first; 0 where there is no order, or no group."""
        while self._ranks and self._ranks[0][1] not in self._places:
            heappop(self._ranks)
        return self._ranks[0][0] if self._ranks else 0

    def take(self) -> list[Group]:
        """The groups that run next: all at one place, which are no longer here afterwards."""
        turn = self._schedule.turn
        place = self._choose()
        if self._schedule.turn != turn:
            self._look(list(self))
        taken = [self._groups.pop(number) for number in self._places.pop(place)]
        if not self._groups:
            self._ranks.clear()
            self._patient.clear()
        return taken

    def _choose(self) -> Place:
        if len(self._groups) == 1:
            return next(iter(self._places))
        if self._schedule.is_random:
            group = self._schedule.draw(list(self))
            return group.pc, group.stack
        while self._patient:
            _, number, place = heappop(self._patient)
            if number in self._groups:
                return place
        group = self._schedule.next_in_turn(list(self))
        self._patient = [
            (self._schedule.rank(other), number, (other.pc, other.stack))
            for number, other in self._groups.items()
        ]
        self._ranks = [(rank, place) for rank, _, place in self._patient]
        heapify(self._patient)
        heapify(self._ranks)
        return group.pc, group.stack
