"""The ready queue: the groups of lanes that can run, by program point.

Divergent lanes form many groups, and each turn runs those at one program point. The points are kept in heaps,
by their rank in the schedule; entries of points without groups are removed when they reach the top.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import TypeAlias

from tooling.simulator.engine.schedule import Schedule
from tooling.simulator.gpu.lanes import Group

ProgramPoint: TypeAlias = tuple[int, tuple[int, ...]]
"""A basic block, and the return points of the calls that the lanes are in."""


class ReadyQueue:
    """Groups in order of arrival, and which of them run next.

    Args:
        schedule: the order of groups.
        look: called with all groups when each had its turn since the last call.
    """

    def __init__(self, schedule: Schedule, look: Callable[[Sequence[Group]], None]) -> None:
        self._schedule = schedule
        self._look = look
        self._groups: dict[int, Group] = {}
        self._by_point: dict[ProgramPoint, list[int]] = {}
        self._arrivals = 0
        self._ranks: list[tuple[int, ProgramPoint]] = []
        self._patient: list[tuple[int, int, ProgramPoint]] = []

    def __len__(self) -> int:
        return len(self._groups)

    def __iter__(self) -> Iterator[Group]:
        """In order of arrival."""
        return iter(self._groups.values())

    def add(self, group: Group) -> None:
        """Add a group that can run."""
        number = self._arrivals
        self._arrivals += 1
        self._groups[number] = group
        point = group.pc, group.stack
        if self._schedule.is_random:
            self._by_point.setdefault(point, []).append(number)
            return
        rank = self._schedule.rank(group)
        if point in self._by_point:
            self._by_point[point].append(number)
        else:
            self._by_point[point] = [number]
            heappush(self._ranks, (rank, point))
        if not self._schedule.is_tired(group):
            heappush(self._patient, (rank, number, point))

    def first_rank(self) -> int:
        """The lowest rank; 0 without an order, or without groups."""
        while self._ranks and self._ranks[0][1] not in self._by_point:
            heappop(self._ranks)
        return self._ranks[0][0] if self._ranks else 0

    def take(self) -> list[Group]:
        """Remove and return the groups that run next: all at one program point."""
        turn = self._schedule.turn
        point = self._choose()
        if self._schedule.turn != turn:
            self._look(list(self))
        taken = [self._groups.pop(number) for number in self._by_point.pop(point)]
        if not self._groups:
            self._ranks.clear()
            self._patient.clear()
        return taken

    def _choose(self) -> ProgramPoint:
        if len(self._groups) == 1:
            return next(iter(self._by_point))
        if self._schedule.is_random:
            group = self._schedule.draw(list(self))
            return group.pc, group.stack
        while self._patient:
            _, number, point = heappop(self._patient)
            if number in self._groups:
                return point
        group = self._schedule.next_in_turn(list(self))
        self._patient = [
            (self._schedule.rank(other), number, (other.pc, other.stack))
            for number, other in self._groups.items()
        ]
        self._ranks = [(rank, point) for rank, _, point in self._patient]
        heapify(self._patient)
        heapify(self._ranks)
        return group.pc, group.stack
