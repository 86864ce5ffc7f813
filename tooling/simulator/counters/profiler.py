"""The profiling executor: the engine with a counting hook beside the checks."""

from __future__ import annotations

from tooling.simulator.counters.hook import CounterHook
from tooling.simulator.counters.profile import Profiles
from tooling.simulator.engine.executor import Engine, Job
from tooling.simulator.gpu.hooks import LaunchContext
from tooling.simulator.gpu.launch import LaunchResult


class ProfilingHook(CounterHook):
    """Counts one launch and keeps its context."""

    context: LaunchContext | None = None

    def launch_begin(self, context: LaunchContext) -> None:
        super().launch_begin(context)
        self.context = context


class Profiler(Engine):
    """Runs launches and counts what they do.

    Attributes:
        profiles: the counts so far.
    """

    def __init__(self, schedule: str = "lockstep", time_limit: float | None = None) -> None:
        super().__init__(schedule, time_limit)
        self.profiles = Profiles()

    def run(self, job: Job) -> LaunchResult:
        """See `Executor.run`."""
        counter = ProfilingHook()
        result = super().run(job.watched_by(counter))
        if counter.context is not None:
            self.profiles.add(counter.context, counter.tallies, fault=result.error is not None)
        return result
