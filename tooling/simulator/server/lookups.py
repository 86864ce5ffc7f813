"""How long the lines of a program's host code are looked up: it counts towards the program's time limit."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from msgspec import Struct

LARGE = 16 << 20
"""Bytes of a program from which on reading its debug information is announced."""


class LookupTimedOut(Exception):
    """The lines were not found in the time that is left."""


class Lookups(Struct):
    """How long lines may be looked up.

    Attributes:
        end: of the time for it, see `time.monotonic`.
        announce: is called before the debug information of a large program is read.
        cut: lines were not found in time; no others are looked up then.
    """

    end: float = math.inf
    announce: Callable[[Path], object] | None = None
    cut: bool = False

    def begin(self, program: Path) -> None:
        """The debug information of a program is read now."""
        if self.announce is not None and program.stat().st_size >= LARGE:
            self.announce(program)

    def require_time(self) -> None:
        """Raises LookupTimedOut if the time is over."""
        if self.cut or time.monotonic() > self.end:
            self.cut = True
            raise LookupTimedOut


_CURRENT: ContextVar[Lookups] = ContextVar("lookups")


def current() -> Lookups:
    """What applies here; without `limited`, there is no limit."""
    return _CURRENT.get(Lookups())


@contextmanager
def limited(seconds: float | None, announce: Callable[[Path], object] | None) -> Iterator[Lookups]:
    """Lines are looked up for at most this long within the block; None: without a limit."""
    lookups = Lookups(math.inf if seconds is None else time.monotonic() + seconds, announce)
    token = _CURRENT.set(lookups)
    try:
        yield lookups
    finally:
        _CURRENT.reset(token)
