"""Time measurement for puzzles that are Python programs; benchmark.mojo is its counterpart in Mojo.

    from lab.timing import print_time

A call includes the start of its graph from Python, about ten microseconds: work to be compared must take
longer, unless the start itself is measured.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable

SIMULATOR_VARIABLE = "GPU_SIM_SOCKET"
WARM_UP = 5
WANTED_ERROR = 0.01  # standard error of the mean, relative to it
MOST_CALLS = 50_000  # on a busy machine 2000 calls leave an error of some percent


def on_simulated_gpu() -> bool:
    """Whether the GPU is simulated: its counters are valid, but its times are not."""
    return bool(os.environ.get(SIMULATOR_VARIABLE))


def print_time(
    name: str, call: Callable[[], object], wait: Callable[[], None], *, calls: int
) -> float | None:
    """Times a call until its mean has settled, and prints the mean with its relative standard error.

    WARM_UP calls are not timed. After MOST_CALLS calls the measurement ends, settled or not. On the simulated
    GPU there is one call, and no time is measured.

    Args:
        name: printed at the start of the line.
        call: starts the work.
        wait: returns when all work that was started is complete.
        calls: the minimum number of calls to time, each followed by a wait; at least 2.

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
    timed, mean, squares = 0, 0.0, 0.0  # squares: sum of squared deviations from the mean (Welford)
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
