"""Whether a program works on as many elements as on a real GPU."""

from std.os import getenv

from lab.benchmark import Benchmark


def sampled() -> Bool:
    """Whether the simulated GPU runs only some blocks of a launch, so that its results are not complete.
    """
    return getenv("GPU_SIM_SAMPLE").byte_length() > 0


def at_full_size(table: Benchmark) -> Bool:
    return table.timed or sampled()
