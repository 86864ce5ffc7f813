"""Whether a program runs on a real GPU or on the simulated one."""

from std.os import getenv

comptime SIMULATOR_VARIABLE = "GPU_SIM_SOCKET"


def on_simulated_gpu() -> Bool:
    """Whether the GPU is simulated: its counters are valid, but its times are not.
    """
    return getenv(SIMULATOR_VARIABLE).byte_length() > 0


def elements_here(all: Int, *, simulated: Int) -> Int:
    """The number of elements to process: fewer on the simulated GPU, where this prints both numbers.

    Args:
        all: The number on a real GPU.
        simulated: The number on the simulated one.
    """
    if not on_simulated_gpu():
        return all
    print("The simulated GPU works on", simulated, "of", all, "elements.")
    return simulated
