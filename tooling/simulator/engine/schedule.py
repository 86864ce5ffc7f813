"""The scheduling policy: which group of lanes runs next."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tooling.simulator.gpu.lanes import Group

if TYPE_CHECKING:
    from random import Random

    from tooling.simulator.engine.delays import Delays

FORMS = ("lockstep", "random:SEED", "adversarial", "adversarial:BLOCKS")
"""The names of schedules."""

NAMES = re.compile(r"lockstep|random:\w+|adversarial(:[1-9]\d*)?")

PATIENCE = 2048
"""Backward jumps that a group may make while others wait, before it yields."""

PATIENCE_POLLING = 4
"""The same for a group that reads memory that other lanes may change, since it probably waits for them."""

_ROUND = 32
"""Random choices per waiting group after which each is assumed to have had its turn."""


class Schedule:
    """Order of groups: `lockstep` (first program point first), `random:SEED`, or `adversarial` (last first).

    `adversarial:BLOCKS` is `adversarial` on a GPU with room for so few blocks: see `room`.

    Attributes:
        turn: increases when all waiting groups have had their turns since the last increase.

    Args:
        name: one of the four.
        batch: number of the batch's first block, so that batches differ in a random order.
        order: per basic block of the program, its rank.

    Raises:
        ValueError: another name.
    """

    def __init__(self, name: str, batch: int, order: Sequence[int]) -> None:
        kind, _, seed = name.partition(":")
        if not NAMES.fullmatch(name):
            raise ValueError(f"unknown schedule `{name}`: must be one of {', '.join(FORMS)}")
        self.kind = kind
        self._seed = f"{seed}/{batch}"
        self.turn = 0
        self._order = order
        self._chosen = 0
        self._random: Random | None = None
        if kind == "random":
            from random import Random  # noqa: PLC0415 - few runs are random

            self._random = Random(self._seed)

    @property
    def first_wins(self) -> bool:
        """Whether of several lanes that access one address at once the last is the first: see `Spaces`."""
        return self.kind == "adversarial" or (self._random is not None and self._random.random() < 0.5)

    def postpones(self) -> bool:
        """Whether an asynchronous operation is reported incomplete at the first test."""
        return self._random is None or self._random.random() < 0.5

    def delays(self, blocks: int, unit: int) -> Delays | None:
        """The blocks that are held back, of a kernel whose threads may wait for other blocks.

        Args: as `Delays`.
        """
        if self.kind == "lockstep" or blocks == unit:
            return None
        from tooling.simulator.engine.delays import Delays  # noqa: PLC0415 - few kernels need them

        if self._random is None:
            return Delays(blocks, unit, None)
        from random import Random  # noqa: PLC0415 - few runs are random

        return Delays(blocks, unit, Random(f"{self._seed}/delays"))

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


def room(name: str) -> int | None:
    """The number of blocks for which the GPU has room, if the order limits it.

    The others start when these have ended, so that a block waits in vain for one that comes later.

    Args:
        name: as for `Schedule`.
    """
    kind, _, number = name.partition(":")
    return int(number) if kind == "adversarial" and number else None


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
