"""How the puzzles that are Python programs measure time; benchmark.mojo is the same for Mojo.

    from lab.timing import print_time

A call includes the start of its graph from Python, some ten microseconds: what is to be compared must take
longer than that, or be the start itself.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable

SIMULATOR_VARIABLE = "GPU_SIM_SOCKET"
WARM_UP = 5
WANTED_ERROR = 0.01  # standard error of the mean, as a share of it
MOST_CALLS = 50_000  # a processor with other work has a long tail: 2000 calls leave an error of some percent


def on_simulated_gpu() -> bool:
    """Whether the GPU is a simulated one: it counts, but its time means nothing."""
    return bool(os.environ.get(SIMULATOR_VARIABLE))


def print_time(
    name: str, call: Callable[[], object], wait: Callable[[], None], *, calls: int
) -> float | None:
    """Times a call until its mean has settled, and prints that with its standard error as a share of it.

    Five calls that warm up come first. What does not settle in MOST_CALLS says so by its error. On the
    simulated GPU there is one call and no time.

    Args:
        name: what the line begins with.
        call: starts the work.
        wait: returns once all work that was started is done.
        calls: how many calls to time at the least, each with its own wait; 2 or more.

    Returns:
        The mean in microseconds; None on the simulated GPU.
    """
    if on_simulated_gpu():
        call()
        wait()
        print(f"{name}: no time on the simulated GPU")
        return None
    for _ in range(WARM_UP):
        call()
    wait()
    timed, mean, squares = 0, 0.0, 0.0  # squares: of the differences from the mean, summed up (Welford)
    error = math.inf
    while timed < calls or (error > WANTED_ERROR and timed < MOST_CALLS):
        for _ in range(calls):
            start = time.perf_counter()
            call()
            wait()
            taken = (time.perf_counter() - start) * 1e6
            timed += 1
            difference = taken - mean
            mean += difference / timed
            squares += difference * (taken - mean)
        error = math.sqrt(squares / (timed - 1) / timed) / mean
    print(f"{name}: {mean:.1f} us (standard error {error:.1%}, {timed} calls)")
    return mean
