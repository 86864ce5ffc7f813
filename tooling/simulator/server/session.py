"""A simulated GPU for programs that the tool starts, as a context manager.

with Simulation(SimulationOptions()) as simulation:
    subprocess.run(program, env=os.environ | simulation.environment)
print(simulation.findings)
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from msgspec import Struct

from tooling.platform.errors import ToolingError
from tooling.simulator.backends import DEFAULT, backend_for
from tooling.simulator.checks.findings import Check, Finding
from tooling.simulator.checks.happens_before.copy_times import CopyTimes
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.engine.executor import Engine, Executor
from tooling.simulator.gpu.launch import LaunchResult
from tooling.simulator.gpu.launch_selection import LaunchSelection
from tooling.simulator.program.backend import Backend
from tooling.simulator.server.context import Gpu, LaunchRecord
from tooling.simulator.server.libraries import Libraries, find_libraries
from tooling.simulator.server.links import Links, merged_links
from tooling.simulator.server.provenance import Provenance, merged
from tooling.simulator.server.server import SOCKET, Server

ALL_CHECKS = frozenset(Check)


class SimulationOptions(Struct, frozen=True):
    """How a simulation runs its kernels.

    Attributes:
        checks: the enabled checks.
        language: of messages to programs (`en` or `ko`).
        schedule: the order in which threads run: `lockstep`, `random:SEED` or `adversarial`.
        instruction_set: of the simulated GPU, see `backends`.
        time_limit: seconds of wall time that one kernel may take, or None.
        graph_cache: folder for graphs that MAX compiles for the simulated GPU; None if none are used.
        selection: the launches whose findings are recorded.
        unused_memory: whether device memory that was never written is reported; a part of `initialisation`.
        skip_repeats: launches that repeat an earlier one exactly are not simulated again, see `repeats`.
        host_order: the order of the host and of streams is checked also where `checks` leaves races out.
        gpus: the number of GPUs, 1 to 8; several only with the instruction set of NVIDIA.
        socket_folder: programs run in a sandbox, in which this folder has the same path; None: they do not.
        result_sizes: in bytes; the origin of what the programs copy to the host in these sizes is recorded.
    """

    checks: frozenset[Check] = ALL_CHECKS
    language: str = "en"
    schedule: str = "lockstep"
    instruction_set: str = DEFAULT
    time_limit: float | None = None
    graph_cache: Path | None = None
    result_sizes: frozenset[int] | None = None
    selection: LaunchSelection = LaunchSelection()
    unused_memory: bool = False
    skip_repeats: bool = False
    host_order: bool = False
    gpus: int = 1
    socket_folder: Path | None = None


class Simulation:
    """A simulated GPU with its server; a context manager that may be entered once.

    Args:
        options: see `SimulationOptions`.
        libraries: the stand-in libraries; None finds or builds them.
        executor: runs the launches; None: the engine.

    Raises:
        whatever building the libraries raises, when it is entered.
    """

    def __init__(
        self,
        options: SimulationOptions | None = None,
        *,
        libraries: Libraries | None = None,
        executor: Executor | None = None,
    ) -> None:
        self.options = options or SimulationOptions()
        self._libraries = libraries
        self._executor = executor
        self._gpu: Gpu | None = None
        self._server: Server | None = None
        self._environment: dict[str, str] = {}

    def __enter__(self) -> Self:
        backend = backend_for(self.options.instruction_set)
        libraries = self._libraries or _default_libraries(backend)
        executor = self._executor or Engine(self.options.schedule, self.options.time_limit)
        checks = functools.partial(
            make_checks,
            sorted(self.options.checks),
            unused_memory=self.options.unused_memory,
            host_order=self.options.host_order,
            gpus=self.options.gpus,
        )
        self._gpu = Gpu(
            executor,
            checks,
            self.options.language,
            result_sizes=self.options.result_sizes,
            backend=backend,
            selection=self.options.selection,
            skip_repeats=self.options.skip_repeats,
            devices=self.options.gpus,
        )
        self._server = Server(self._gpu, self.options.socket_folder)
        self._environment = _environment(libraries, self._server, self.options, backend)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        if error is None and self.gpu.failures:
            raise self.gpu.failures[0]

    @property
    def gpu(self) -> Gpu:
        """The shared state of the programs. Raises RuntimeError before the simulation is entered."""
        if self._gpu is None:
            raise RuntimeError("the simulation was not entered")
        return self._gpu

    @property
    def environment(self) -> dict[str, str]:
        """Variables to merge into a program's environment."""
        return dict(self._environment)

    @property
    def findings(self) -> list[Finding]:
        """The findings of the checks; complete when the programs have ended and the simulation was exited."""
        return self.gpu.findings

    @property
    def records(self) -> list[LaunchRecord]:
        """Every launch that was accepted, with its kernel, shape and result."""
        return list(self.gpu.records)

    @property
    def launches(self) -> list[LaunchResult]:
        """The results of the launches alone."""
        return [record.result for record in self.gpu.records]

    @property
    def provenance(self) -> Provenance | None:
        """Where the programs' results came from; None unless `SimulationOptions.result_sizes` is given."""
        if self.options.result_sizes is None:
            return None
        return merged(each.provenance for each in self.gpu.contexts if each.provenance)

    @property
    def copies(self) -> CopyTimes | None:
        """The copies of the first program whose order was checked; None if there is none."""
        return next((each.copies for each in self.gpu.contexts if each.copies), None)

    @property
    def links(self) -> Links:
        """The traffic between the programs' GPUs."""
        return merged_links(each.links.links for each in self.gpu.contexts if each.links)

    @property
    def errors(self) -> list[ToolingError]:
        """Unsupported requests of programs, for example an unknown instruction."""
        return list(self.gpu.errors)


_OF_PYTORCH = "ignore:CUDA initialization"


def _environment(
    libraries: Libraries, server: Server, options: SimulationOptions, backend: Backend
) -> dict[str, str]:
    inherited = os.environ.get("LD_LIBRARY_PATH")
    variables = {
        "GPU_SIM_SOCKET": (str(options.socket_folder / SOCKET) if options.socket_folder else server.name),
        "LD_LIBRARY_PATH": os.pathsep.join(filter(None, (libraries.search_path, inherited))),
        # One allocation per buffer: out-of-bounds accesses inside a pool would not be detected.
        "MODULAR_DEVICE_CONTEXT_MEMORY_MANAGER_SIZE_PERCENT": "0",
        "MODULAR_DEVICE_CONTEXT_HOST_MEMORY_MANAGER_SIZE": "0",
        "MODULAR_TELEMETRY_ENABLED": "0",
        # PyTorch asks the stand-in driver for CUDA devices, gets none that it can use, and warns.
        "PYTHONWARNINGS": ",".join(filter(None, (os.environ.get("PYTHONWARNINGS"), _OF_PYTORCH))),
        **{name: str(libraries.folder / file) for name, file in backend.stand_ins.path_variables.items()},
    }
    if options.graph_cache is not None:
        # MAX would find graphs compiled for real hardware, with machine code instead of PTX.
        variables["MODULAR_CACHE_DIR"] = str(options.graph_cache)
    return variables


def _default_libraries(backend: Backend) -> Libraries:
    from tooling.toolchain import find_toolchain, open_cache  # noqa: PLC0415 - only where none are given

    return find_libraries(find_toolchain(), open_cache(), backend.stand_ins)
