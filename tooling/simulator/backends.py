"""The back ends by instruction set: the one shared module that names the vendors."""

from __future__ import annotations

from functools import cache

from tooling.simulator.gpu.code_model import Module
from tooling.simulator.program.backend import Backend

DEFAULT = "ptx"
"""The instruction set of the simulated GPU unless another one is selected."""


def default_backend() -> Backend:
    """The back end of `DEFAULT`."""
    return backend_for(DEFAULT)


def backend_of(module: Module) -> Backend:
    """The back end of a module's instruction set."""
    return backend_for(module.instruction_set)


@cache
def backend_for(instruction_set: str) -> Backend:
    """The back end of an instruction set: `ptx`, `gfx942` or `gfx1100`.

    Raises:
        KeyError: an unknown instruction set.
    """
    if instruction_set == "ptx":
        from tooling.simulator.nvidia.backend.backend import NvidiaBackend  # noqa: PLC0415 - one is loaded

        return NvidiaBackend()
    from tooling.simulator.amd.architectures import ARCHITECTURES  # noqa: PLC0415
    from tooling.simulator.amd.backend.backend import AmdBackend  # noqa: PLC0415

    return AmdBackend(ARCHITECTURES[instruction_set])
