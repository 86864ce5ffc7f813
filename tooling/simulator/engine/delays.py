"""Blocks that are held back for a while, so that others overtake them.

The blocks of a batch start together and stay in step until their paths diverge. A block that uses what
another one has published would always find it there. In the orders other than `lockstep`, some blocks of a
kernel whose threads may wait for other blocks are therefore held back: no lane of theirs runs until the
others have ended, or do nothing but wait, or, in a random order, have had a number of turns. A block that is
held back continues at some time, as a started block does on a GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.lanes import Group

if TYPE_CHECKING:
    from random import Random

_ROUNDS = 32
"""How often blocks of a batch are held back in a random order."""

_LONGEST = 8
"""In a random order, blocks are held back for up to 256 turns (2 to the power of this), and at the start for
256; in between, all may run for up to 16."""


class Delays:
    """Which blocks of a batch are held back.

    Attributes:
        held: (blocks,) those that are held back now, or None.
        groups: their lanes that could run.

    Args:
        blocks: number of blocks; they are held back by `unit` neighbours, the blocks of a cluster.
        random: chooses them; None: the first half is held back at the start, until the others wait or have
            ended.
    """

    def __init__(self, blocks: int, unit: int, random: Random | None) -> None:
        self.groups: list[Group] = []
        self._shape = blocks // unit, unit
        self._random = random
        self._rounds = _ROUNDS if random else 1
        self._turns = 0
        self.held: NDArray[np.bool_] | None = None
        self._hold()
        self._turns = 1 << _LONGEST  # many: blocks start late

    @property
    def over(self) -> bool:
        """Whether no block is held back, and none will be."""
        return self.held is None and self._rounds == 0

    def turn(self) -> bool:
        """A group is about to run; returns whether `advance` is due."""
        self._turns -= 1
        return self._random is not None and self._turns == 0

    def advance(self) -> list[Group]:
        """Let all blocks run, or hold others back; returns the groups that can run again."""
        released, self.groups = self.groups, []
        if self.held is None:
            self._hold()
        else:
            self.held = None
            self._pause(_LONGEST // 2)
        return released

    def _hold(self) -> None:
        if self._rounds == 0:
            return
        self._rounds -= 1
        units, unit = self._shape
        if self._random is None:
            chosen = np.arange(units) < units // 2
        else:
            chosen = np.array([self._random.random() < 0.5 for _ in range(units)])
            chosen[self._random.randrange(units)] = False
            self._pause(_LONGEST)
        self.held = np.repeat(chosen, unit)

    def _pause(self, longest: int) -> None:
        """Choose the number of turns until `advance` is due."""
        if self._random is not None:
            self._turns = 1 << self._random.randint(1, longest)
