"""What machine a program finds itself on: a real GPU, or the simulated one."""

from std.os import getenv

comptime SIMULATOR_VARIABLE = "GPU_SIM_SOCKET"


def on_simulated_gpu() -> Bool:
    """Whether the GPU is a simulated one: it counts, but its time means nothing.
    """
    return getenv(SIMULATOR_VARIABLE).byte_length() > 0


def elements_here(all: Int, *, simulated: Int) -> Int:
    """How many elements to work on: fewer on the simulated GPU, which then says so.

    Args:
        all: The number on a real GPU.
        simulated: The number on the simulated one.
    """
    if not on_simulated_gpu():
        return all
    print("The simulated GPU works on", simulated, "of", all, "elements.")
    return simulated
