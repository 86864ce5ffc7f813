"""The profiler that also estimates times."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from tooling.simulator.counters.profiler import Profiler, ProfilingHook
from tooling.simulator.engine.executor import Job, Observer
from tooling.simulator.gpu.launch import Dim3, LaunchResult
from tooling.simulator.gpu.launch_selection import LaunchSelection
from tooling.simulator.nvidia.machine_code.code import MachineCode, machine_code_of
from tooling.simulator.nvidia.machine_code.tools import ToolFailed, Tools
from tooling.simulator.timing.observer import WorkObserver, sample_of
from tooling.simulator.timing.parameters import GPUS, parameters_of
from tooling.simulator.timing.refusals import refusal
from tooling.simulator.timing.work import Work, work_of
from tooling.text import Text


class Key(NamedTuple):
    """What the launches of a kernel in one shape have in common."""

    digest: str
    symbol: str
    grid: Dim3
    block: Dim3


class TimedLaunch(Struct, frozen=True):
    """A launch and its work by GPU, or why it gets no time.

    Attributes:
        key: its kernel and its shape.
    """

    key: Key
    work: dict[str, Work] = {}
    refused: Text | None = None


class TimingProfiler(Profiler):
    """Counts launches, and finds out what each demands of a GPU.

    Args:
        tools: give the machine code; None: PTX stands for it.
        most_lanes: lanes of a grid beyond which a sample of its blocks runs; None: all blocks run.
        gpus: names of `GPUS`.

    Attributes:
        launches: in their order.
    """

    def __init__(
        self,
        schedule: str = "lockstep",
        time_limit: float | None = None,
        selection: LaunchSelection | None = None,
        *,
        tools: Tools | None = None,
        most_lanes: int | None = None,
        gpus: tuple[str, ...] = GPUS[:1],
    ) -> None:
        super().__init__(schedule, time_limit, selection)
        self.launches: list[TimedLaunch] = []
        self._tools = tools
        self._most_lanes = most_lanes
        self._gpus = gpus

    def run(self, job: Job) -> LaunchResult:
        """See `Executor.run`."""
        if self._most_lanes is not None and job.module.instruction_set == "ptx":
            launch = job.launch
            job = job.sampling(sample_of(launch.grid, launch.threads_per_block, self._most_lanes))
        return super().run(job)

    def observer_of(self, job: Job) -> Observer:
        """See `Engine.observer_of`."""
        counting = super().observer_of(job)
        if not counting.hooks or job.module.instruction_set != "ptx":
            return counting
        (counter,) = counting.hooks
        assert isinstance(counter, ProfilingHook)
        observer = WorkObserver()
        launch = job.launch
        key = Key(job.module.digest, launch.function.name, launch.grid, launch.block)

        def ended(result: LaunchResult) -> None:
            counting.ended(result)
            if observer.context is not None:
                self.launches.append(self._timed(key, observer, counter, result))

        return Observer((counter, observer), ended)

    def _timed(
        self,
        key: Key,
        observer: WorkObserver,
        counter: ProfilingHook,
        result: LaunchResult,
    ) -> TimedLaunch:
        assert observer.context is not None
        executed = [tally.instruction for tally in counter.tallies.values() if tally.counts.instructions]
        refused = refusal(observer.context, executed, fault=result.error is not None)
        if refused is not None:
            return TimedLaunch(key, refused=refused)
        code = self._code(observer)
        blocks = max(1, result.blocks)
        return TimedLaunch(
            key,
            {gpu: work_of(observer, counter.tallies, blocks, parameters_of(gpu), code) for gpu in self._gpus},
        )

    def _code(self, observer: WorkObserver) -> MachineCode | None:
        if self._tools is None or observer.context is None:
            return None
        context = observer.context
        try:
            return machine_code_of(context.module, self._tools)[context.launch.function.name]
        except ToolFailed:
            return None
