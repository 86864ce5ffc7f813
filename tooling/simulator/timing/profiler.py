"""The profiler that also estimates times."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

import msgspec
from msgspec import Struct

from tooling.simulator.counters.profiler import Profiler, ProfilingHook
from tooling.simulator.engine.executor import Job, Observer
from tooling.simulator.gpu.launch import Dim3, LaunchResult
from tooling.simulator.gpu.launch_selection import LaunchSelection
from tooling.simulator.nvidia.machine_code.code import MachineCode, machine_code_of
from tooling.simulator.nvidia.machine_code.tools import ToolFailed, Tools
from tooling.simulator.timing.observer import WorkObserver
from tooling.simulator.timing.parameters import GPUS, parameters_of
from tooling.simulator.timing.refusals import EDGES, refusal, refusal_of_sample
from tooling.simulator.timing.sampling import (
    LARGEST_EDGE,
    LONG_WARP,
    Place,
    edges_of,
    error_of_mean,
    places_of,
)
from tooling.simulator.timing.work import Work, work_of
from tooling.text import Text


class Key(NamedTuple):
    """What the launches of a kernel in one shape have in common."""

    digest: str
    symbol: str
    grid: Dim3
    block: Dim3


def _key_of(job: Job) -> Key:
    launch = job.launch
    return Key(job.module.digest, launch.function.name, launch.grid, launch.block)


class TimedLaunch(Struct, frozen=True):
    """A launch and its work by GPU, or why it gets no time.

    Attributes:
        key: its kernel and its shape.
        elsewhere: of a sample, the work as it would be if all blocks were like those of its other places.
        error: of a sample, the relative error of its number of instructions.
    """

    key: Key
    work: dict[str, Work] = {}
    elsewhere: dict[str, tuple[Work, ...]] = {}
    error: float = 0.0
    refused: Text | None = None


def _sample_of(found: Sequence[TimedLaunch], issued: Sequence[float], edges: int) -> TimedLaunch:
    """A launch from its places, the last of which are the edges of the grid.

    Args:
        issued: instructions of a warp at each place.
    """
    first, last = found[0], found[-1]
    if last.refused is not None:
        return last
    inner = issued[:-edges]
    if max(issued[-edges:]) > LARGEST_EDGE * fmean(inner):
        return TimedLaunch(first.key, refused=EDGES)
    others = found[1:-edges]
    return msgspec.structs.replace(
        first,
        elsewhere={gpu: tuple(each.work[gpu] for each in others) for gpu in first.work},
        error=error_of_mean(inner if others else issued),
    )


class TimingProfiler(Profiler):
    """Counts launches, and finds out what each demands of a GPU.

    Args:
        tools: give the machine code; None: PTX stands for it.
        sampled: only a sample of the blocks of large grids runs, which are not counted for `profiles`.
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
        sampled: bool = False,
        gpus: tuple[str, ...] = GPUS[:1],
    ) -> None:
        super().__init__(schedule, time_limit, selection)
        self.launches: list[TimedLaunch] = []
        self._tools = tools
        self._sampled = sampled
        self._gpus = gpus

    def run(self, job: Job) -> LaunchResult:
        """See `Executor.run`."""
        if self._sampled and job.module.instruction_set == "ptx":
            places = places_of(job.launch.grid, job.launch.threads_per_block)
            if places is not None:
                return self._run_sample(job, places)
        return super().run(job)

    def _run_sample(self, job: Job, places: Sequence[Place]) -> LaunchResult:
        refused = refusal_of_sample(job.launch)
        if refused is not None or not super().observer_of(job).hooks:
            if refused is not None:
                self.launches.append(TimedLaunch(_key_of(job), refused=refused))
            return self.observed(job.sampling(()), Observer())
        found: list[TimedLaunch] = []
        issued: list[float] = []
        edges = edges_of(job.launch.grid)
        left = [*places, *edges]
        while left and not (found and found[-1].refused):
            place = left.pop(0)
            counter, observer = ProfilingHook(), WorkObserver(place.near)
            result = self.observed(job.sampling(place.blocks), Observer((counter, observer)))
            found.append(self._timed(_key_of(job), observer, counter, result))
            warps = place.count * -(-job.launch.threads_per_block // 32)
            issued.append(sum(tally.counts.instructions for tally in counter.tallies.values()) / warps)
            if issued[0] > LONG_WARP:
                left = [each for each in left if each in edges]
        self.launches.append(_sample_of(found, issued, len(edges)))
        return result

    def observer_of(self, job: Job) -> Observer:
        """See `Engine.observer_of`."""
        counting = super().observer_of(job)
        if not counting.hooks or job.module.instruction_set != "ptx":
            return counting
        (counter,) = counting.hooks
        assert isinstance(counter, ProfilingHook)
        observer = WorkObserver()
        key = _key_of(job)

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
