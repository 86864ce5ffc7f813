"""How many cores a command may use."""

from __future__ import annotations

import os

from tooling.platform.errors import ToolingError
from tooling.text import Text


class NotANumberOfCores(ToolingError):
    """PUZZLE_CORES holds something else."""


def usable_cores() -> int:
    """PUZZLE_CORES, or else the cores that the system lets this process run on; at least 1.

    Raises:
        NotANumberOfCores: PUZZLE_CORES is no positive number.
    """
    named = os.environ.get("PUZZLE_CORES")
    if named:
        if not named.isdecimal() or int(named) < 1:
            raise NotANumberOfCores(
                Text("PUZZLE_CORES must be a positive integer, not `{named}`").of(named=named)
            )
        return int(named)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
