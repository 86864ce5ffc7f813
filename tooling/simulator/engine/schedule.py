"""The scheduling policy: which group of lanes runs next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tooling.simulator.gpu.lanes import Group

if TYPE_CHECKING:
    from random import Random

PATIENCE = 2048
"""Backward jumps that a group may make while others wait, before it yields."""

PATIENCE_POLLING = 4
"""The same for a group that reads memory that other lanes may change, since it probably waits for them."""

_ROUND = 32
"""Random choices per waiting group after which each is assumed to have had its turn."""


class Schedule:
    """Order of groups: `lockstep` (first program point first), `random:SEED`, or `adversarial` (last first).

    Attributes:
        turn: increases when all waiting groups have had their turns since the last increase.

    Args:
        name: one of the three.
        batch: number of the batch's first block, so that batches differ in a random order.
        order: per basic block of the program, its rank.

    Raises:
        ValueError: another name.
    """

    def __init__(self, name: str, batch: int, order: Sequence[int]) -> None:
        kind, _, seed = name.partition(":")
        if kind not in ("lockstep", "random", "adversarial") or (kind == "random") != bool(seed):
            raise ValueError(f"unknown schedule `{name}`: must be lockstep, random:SEED or adversarial")
        self.kind = kind
        self.turn = 0
        self._order = order
        self._chosen = 0
        self._random: Random | None = None
        if kind == "random":
            from random import Random  # noqa: PLC0415 - few runs are random

            self._random = Random(f"{seed}/{batch}")

    @property
    def first_wins(self) -> bool:
        """Whether of several lanes that access one address at once the last is the first: see `Spaces`."""
        return self.kind == "adversarial" or (self._random is not None and self._random.random() < 0.5)

    def postpones(self) -> bool:
        """Whether an asynchronous operation is reported incomplete at the first test."""
        return self._random is None or self._random.random() < 0.5

    @property
    def is_random(self) -> bool:
        """Whether any group may run next."""
        return self._random is not None

    def draw(self, waiting: Sequence[Group]) -> Group:
        """The group to run next in a random order."""
        assert self._random is not None
        self._chosen += 1
        if self._chosen % (_ROUND * len(waiting)) == 0:
            self.turn += 1
        return self._random.choice(waiting)

    def next_in_turn(self, waiting: Sequence[Group]) -> Group:
        """The group to run next if all are tired: they take turns, starting with another one each time."""
        for group in waiting:
            group.back_edges = 0
        self.turn += 1
        return sorted(waiting, key=self._key)[self.turn % len(waiting)]

    def is_tired(self, group: Group) -> bool:
        """Whether a group has jumped back so often that others run first."""
        return group.back_edges > (PATIENCE_POLLING if group.polling else PATIENCE)

    def rank(self, group: Group) -> int:
        """The rank of a group; the lowest runs first."""
        return -self._key(group) if self.kind == "adversarial" else self._key(group)

    def yields(self, group: Group, first: int) -> bool:
        """Whether the running group, about to start a basic block, yields to another one.

        Args:
            first: the lowest rank of the others.
        """
        return self.is_random or self.is_tired(group) or first <= self.rank(group)

    def _key(self, group: Group) -> int:
        """Sort key: innermost calls first, then the earliest program point."""
        return self._order[group.pc] - (len(group.stack) << 32)


def order_of_batches(name: str, batches: Sequence[int]) -> Sequence[int]:
    """The order in which batches of blocks run.

    Args:
        name: as for `Schedule`.
    """
    kind, _, seed = name.partition(":")
    if kind == "adversarial":
        return batches[::-1]
    if kind == "random":
        from random import Random  # noqa: PLC0415 - few runs are random

        return Random(f"{seed}/batches").sample(batches, len(batches))
    return batches
