"""Runs a program on a GPU or on the simulated GPU, and returns its output, findings and counters."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from tooling.execution.program import DEFAULT_OUTPUT_LIMIT, Ending, Transcript, run_program
from tooling.execution.sandbox import SEARCH_PATH, Sandbox, interpreter_files
from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.processes import temporary_folder
from tooling.targets.model import Target
from tooling.text import Text
from tooling.toolchain.cache import usable_cache

if TYPE_CHECKING:
    from tooling.simulator.checks.findings import Finding
    from tooling.simulator.checks.happens_before.copy_times import CopyTimes
    from tooling.simulator.counters.profile import KernelProfile
    from tooling.simulator.counters.profiler import Profiler
    from tooling.simulator.engine.executor import Executor
    from tooling.simulator.gpu.code_model import Function, Module
    from tooling.simulator.gpu.launch_selection import LaunchSelection
    from tooling.simulator.program.backend import Backend
    from tooling.simulator.server.context import LaunchRecord
    from tooling.simulator.server.links import Links
    from tooling.simulator.server.provenance import Provenance
    from tooling.simulator.server.stopped import StoppedKernel


_SOCKETS = "gpu-puzzle-socket-"

LOCKSTEP = "lockstep"
"""The schedule of the simulated GPU that is not asked for another one."""


class RunOptions(Struct, frozen=True, kw_only=True):
    """Options of a run.

    Attributes:
        environment: variables in addition to those of this process and of the target.
        time_limit: seconds.
        output_limit, kept_output, stream: as for `run_program`.
        error_output: receives standard error after a simulated run, also if the program uses a feature that
            the simulated GPU does not support.
        language: of the simulated GPU's messages (`en` or `ko`).
        checks: the enabled checks of the simulated GPU, by name; None: all.
        schedule: the order in which the simulated GPU runs threads, see `SimulationOptions`.
        instruction_set: of the simulated GPU, see `simulator.backends`; None: of the target.
        graphs: whether the program compiles MAX graphs; those for the simulated GPU have their own cache.
        count: whether to profile the kernels, if the target can: only the simulated GPU does.
        selection: the launches that are profiled, or whose findings are reported; None: all.
        result_sizes: of the buffers that are handed in, in bytes: the simulated GPU records where their
            content came from. None: it is not recorded.
        unused_memory: whether the simulated GPU reports device memory that was never written.
        skip_repeats: whether launches that repeat an earlier one exactly are not simulated again.
        host_order: whether the order of the host and of streams is checked whatever `checks` is.
        executor: runs the launches on the simulated GPU; None: its engine, or the profiler with `count`.
        gpus: the number of simulated GPUs.
        sandbox: where a program that is not trusted runs, with nothing of this process's environment.
        readable, writable: what it may read and change there, as for `Sandbox.run`.
    """

    time_limit: float
    environment: Mapping[str, str] = field(default_factory=dict)
    output_limit: int = DEFAULT_OUTPUT_LIMIT
    kept_output: int | None = None
    stream: Callable[[bytes], None] | None = None
    error_output: Callable[[str], object] | None = None
    language: str = "en"
    checks: frozenset[str] | None = None
    schedule: str = LOCKSTEP
    instruction_set: str | None = None
    graphs: bool = False
    count: bool = False
    selection: LaunchSelection | None = None
    result_sizes: frozenset[int] | None = None
    unused_memory: bool = False
    skip_repeats: bool = False
    host_order: bool = False
    executor: Executor | None = None
    gpus: int = 1
    sandbox: Sandbox | None = None
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()


class NotSeveral(ToolingError):
    """More than one GPU of an instruction set of which only one is simulated."""

    exit_code = ExitCode.NOT_POSSIBLE


_ASKS_FOR_TIMES = "simulated GPU: the program asks for times"
"""What the stand-in driver writes to standard error, see `nvidia/driver/streams.mojo`."""

_LACKS_A_GPU = re.compile(
    r"Device\(api: cuda, id: \d+\) is not available|simulated GPU: the program asks for GPU "
)
"""The message of MAX, which knows the number of devices, or that of `nvidia/driver/session.mojo`."""


class TargetRun(Struct, frozen=True):
    """A program's run on a target, with the findings and counters of the target."""

    transcript: Transcript
    findings: tuple[Finding, ...] = ()
    launches: int | None = None  # number of launched kernels; None: not counted
    launched: tuple[str, ...] = ()  # their names, in order
    order_unchecked: bool = False  # the order of the host was to be checked, and could not be
    repeated: int = 0  # launches that were not simulated again, see `simulator.server.repeats`
    kernels: tuple[KernelProfile, ...] | None = None  # their profiles; None: not counted
    stopped: StoppedKernel | None = None  # the kernel that the simulated GPU stopped
    provenance: Provenance | None = None  # where results came from; None where it was not recorded
    lines_cut: bool = False  # the time limit did not suffice to look up the host's lines
    estimates: tuple[str, ...] = ()  # instructions of its kernels whose last bits may differ on hardware
    ordered_copies: int = 0  # copies, fills and launches whose order with the host was checked
    gpus: int = 1  # simulated GPUs that the program had
    links: Links = {}  # the traffic between them
    copies: CopyTimes | None = None  # between host and GPU; None: their order was not checked

    @property
    def lacked_a_gpu(self) -> bool:
        """Whether the program asked for a GPU beyond those that are simulated."""
        return _LACKS_A_GPU.search(self.transcript.stderr) is not None

    @property
    def asked_for_times(self) -> bool:
        """Whether the program asked the simulated GPU for times, of which it has none."""
        return _ASKS_FOR_TIMES in self.transcript.stderr


def run_on_target(command: Sequence[str | Path], target: Target, options: RunOptions) -> TargetRun:
    """Runs a program on a GPU, or on the simulated GPU, which also reports the findings of its checks.

    Raises: as `simulated_run`.
    """
    if not target.simulated:
        return TargetRun(_run(command, options, {}))
    return simulated_run(command, replace(options, instruction_set=target.instruction_set))


def simulated_run(command: Sequence[str | Path], options: RunOptions) -> TargetRun:
    """Runs a program on the simulated GPU.

    Raises:
        ProgramNotStarted: the program cannot be started on this machine.
        ToolingError: the program uses a feature that the simulated GPU does not support.
        NotSeveral: more than one GPU of AMD.
        ValueError: an unknown schedule.
    """
    from tooling.simulator.backends import DEFAULT  # noqa: PLC0415
    from tooling.simulator.checks.findings import Check  # noqa: PLC0415 - imports NumPy
    from tooling.simulator.gpu.launch_selection import LaunchSelection  # noqa: PLC0415
    from tooling.simulator.server.lookups import limited  # noqa: PLC0415
    from tooling.simulator.server.session import ALL_CHECKS, Simulation, SimulationOptions  # noqa: PLC0415
    from tooling.simulator.server.stopped import stopped_kernel  # noqa: PLC0415

    profiler = _profiler(options.selection) if options.count else None
    if options.gpus > 1 and (options.instruction_set or DEFAULT) != DEFAULT:
        raise NotSeveral(
            Text("several GPUs are simulated for NVIDIA only"),
            hint=Text("without `--gpus`, or with a program for NVIDIA GPUs"),
        )
    simulation_options = SimulationOptions(
        checks=ALL_CHECKS if options.checks is None else frozenset(map(Check, options.checks)),
        language=options.language,
        schedule=options.schedule,
        instruction_set=options.instruction_set or DEFAULT,
        graph_cache=graph_cache() if options.graphs else None,
        result_sizes=options.result_sizes,
        selection=options.selection or LaunchSelection(),
        unused_memory=options.unused_memory,
        skip_repeats=options.skip_repeats,
        host_order=options.host_order,
        gpus=options.gpus,
    )
    with contextlib.ExitStack() as stack:
        if options.sandbox:
            folder = stack.enter_context(temporary_folder(_SOCKETS))
            simulation_options = replace(simulation_options, socket_folder=folder)
        simulation = stack.enter_context(
            Simulation(simulation_options, executor=options.executor or profiler)
        )
        transcript = _run(command, options, simulation.environment)
    if options.error_output:
        options.error_output(transcript.stderr)
    if simulation.errors:  # a program that cannot be simulated gets no verdict
        raise simulation.errors[0]
    left = None if options.time_limit is None else max(options.time_limit - transcript.seconds, 1.0)
    with limited(left, _announcing(options)) as lookups:
        findings = tuple(relevant_findings(simulation.findings, transcript))
    return TargetRun(
        transcript,
        findings,
        len(simulation.records),
        tuple(_kernel_name(record) for record in simulation.records),
        any(context.order_unchecked for context in simulation.gpu.contexts),
        sum(record.result.repeated for record in simulation.records),
        tuple(profiler.profiles.kernels) if profiler else None,
        stopped_kernel(simulation.records),
        simulation.provenance,
        lookups.cut,
        _all_estimates(simulation.records),
        sum(context.ordered_copies for context in simulation.gpu.contexts),
        options.gpus,
        simulation.links,
        simulation.copies,
    )


def estimates(backend: Backend, module: Module, kernel: Function) -> tuple[str, ...]:
    """The instructions of a kernel and of what it calls whose last bits may differ on hardware."""
    blocks = backend.decode(module, kernel).blocks
    names = {backend.estimate(instruction) for block in blocks for instruction in block.instructions}
    return tuple(sorted(names - {""}))


def _all_estimates(records: Sequence[LaunchRecord]) -> tuple[str, ...]:
    from tooling.simulator.backends import backend_of  # noqa: PLC0415 - imports NumPy

    kernels = {(record.module.digest, record.launch.function.name): record for record in records}
    names = (
        estimates(backend_of(record.module), record.module, record.launch.function)
        for record in kernels.values()
    )
    return tuple(sorted({name for each in names for name in each}))


_READING_LINES = Text("reading the debug information of {program} for the lines of the host …")


def _announcing(options: RunOptions) -> Callable[[Path], object] | None:
    """Writes that the debug information of a large program is read, where the program's errors are shown."""
    write = options.error_output
    if write is None:
        return None
    return lambda path: write(_READING_LINES.of(program=path.name).render(options.language) + "\n")


def _kernel_name(record: LaunchRecord) -> str:
    from tooling.simulator.gpu.kernel_names import readable_kernel  # noqa: PLC0415 - imports NumPy

    return readable_kernel(record.launch.function.name, record.module.files.values())


def _profiler(selection: LaunchSelection | None) -> Profiler:
    from tooling.simulator.counters.profiler import Profiler  # noqa: PLC0415 - few modes are judged by counters

    return Profiler(selection=selection)


def _run(command: Sequence[str | Path], options: RunOptions, of_target: Mapping[str, str]) -> Transcript:
    if options.sandbox:
        environment = {"PATH": SEARCH_PATH, "HOME": "/tmp", **options.environment, **of_target}
        return options.sandbox.run(
            command,
            environment=environment,
            time_limit=options.time_limit,
            output_limit=options.output_limit,
            readable=(*interpreter_files(), *options.readable, *_named_files(of_target)),
            writable=options.writable,
        )
    return run_program(
        command,
        environment={**os.environ, "MODULAR_TELEMETRY_ENABLED": "0", **options.environment, **of_target},
        time_limit=options.time_limit,
        output_limit=options.output_limit,
        kept_output=options.kept_output,
        stream=options.stream,
    )


def _named_files(variables: Mapping[str, str]) -> Iterator[Path]:
    """The files and folders that variables of the simulated GPU name, and what links in them lead to."""
    for value in variables.values():
        for path in map(Path, value.split(os.pathsep)):
            if not path.is_absolute() or not path.exists():
                continue
            folder = path if path.is_dir() else path.parent
            yield folder
            yield from {each.resolve() for each in folder.iterdir() if each.is_symlink() and each.exists()}


def graph_cache() -> Path:
    """MAX's cache of graphs for the simulated GPU, separate since real GPUs do not load their PTX."""
    return usable_cache().root / "graphs"


def relevant_findings(findings: Sequence[Finding], transcript: Transcript) -> list[Finding]:
    """The findings without those that are irrelevant after this ending.

    A program that failed did not free its buffers, so leaks are omitted. After success, reads of
    uninitialised scratch memory by Mojo's library are omitted: they only explain wrong results.
    """
    ended_well = transcript.ending is Ending.EXITED and transcript.status == 0
    omitted = "unwritten-library-read" if ended_well else "leak"
    return [finding for finding in findings if finding.kind.value != omitted]
