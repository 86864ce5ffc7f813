"""Whether a program runs on a real GPU or on the simulated one."""

from std.os import getenv

comptime SIMULATOR_VARIABLE = "GPU_SIM_SOCKET"
comptime SAMPLE_VARIABLE = "GPU_SIM_SAMPLE"


def on_simulated_gpu() -> Bool:
    """Whether the GPU is simulated: its counters are valid, but its times are not.
    """
    return getenv(SIMULATOR_VARIABLE).byte_length() > 0


def sampled() -> Bool:
    """Whether the simulated GPU runs only a sample of the blocks of each launch, for an estimate of its time at the
    size for a real GPU: results are not complete, and a program must not compare them.
    """
    return on_simulated_gpu() and getenv(SAMPLE_VARIABLE).byte_length() > 0


def elements_here(all: Int, *, simulated: Int) -> Int:
    """The number of elements to process: fewer on the simulated GPU, where this prints both numbers.

    Args:
        all: The number on a real GPU.
        simulated: The number on the simulated one.
    """
    if not on_simulated_gpu() or sampled():
        return all
    print("The simulated GPU works on", simulated, "of", all, "elements.")
    return simulated
