"""Launches of several devices that run together: they take turns, so that one may wait for another.

A turn is one group of lanes until it waits, ends, splits, or has jumped back 64 times. The schedule decides
whose turn is next: in `lockstep` each in turn, in a random order any, and in an adversarial order the device
with the highest number for as many turns as it can get. A launch that only polls memory that does not change
is idle. If every launch is idle, or none is left, and the host still waits, no flag can change any more: that
is a deadlock of the devices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from random import Random

Running = TypeVar("Running")

_ADVERSARIAL_TURNS = 16
"""Turns in a row: few, since kernels may wait a bounded number of polls, as on hardware, where kernels that
are launched one after the other start within a few polls."""


class Turns(Generic[Running]):
    """Whose turn is next.

    Args:
        schedule: a name for `schedule.Schedule`.
    """

    def __init__(self, schedule: str) -> None:
        kind, _, seed = schedule.partition(":")
        self._adversarial = kind == "adversarial"
        self._random: Random | None = None
        self._taken = 0
        if kind == "random":
            from random import Random  # noqa: PLC0415 - few runs are random

            self._random = Random(f"{seed}/launches")

    def choose(self, running: Sequence[Running]) -> Running:
        """The next of these, which are in the order of their devices."""
        self._taken += 1
        if self._random is not None:
            return self._random.choice(running)
        if self._adversarial:
            return running[-1 - self._taken // _ADVERSARIAL_TURNS % len(running)]
        return running[self._taken % len(running)]


class Turn(Struct, frozen=True):
    """What a launch says after a turn.

    Attributes:
        idle: every lane that can run polls, and has seen the same values twice.
        changes: increases whenever the launch changes memory.
    """

    idle: bool
    changes: int


class Pace(Struct):
    """How a launch takes turns with others; shared with the batches of the launch.

    Attributes:
        idle: set while it is found to poll memory that does not change.
        changes: of the batches that have ended.
        ends: it is stopped at its next turn, since nothing can change what it polls.
    """

    idle: bool = False
    changes: int = 0
    ends: bool = False


Turning = Iterator[Turn]
"""A launch in progress; each step is a turn."""
