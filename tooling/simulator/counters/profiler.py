"""The profiling executor: the engine with a counting hook in addition to the checks."""

from __future__ import annotations

from tooling.simulator.counters.hook import CounterHook
from tooling.simulator.counters.profile import Profiles
from tooling.simulator.engine.executor import Engine, Job, Observer
from tooling.simulator.gpu.hooks import LaunchContext
from tooling.simulator.gpu.kernel_names import readable_kernel
from tooling.simulator.gpu.launch import LaunchResult
from tooling.simulator.gpu.launch_selection import LaunchSelection


class ProfilingHook(CounterHook):
    """Counts one launch and keeps its context."""

    launched: LaunchContext | None = None

    def launch_begin(self, context: LaunchContext) -> None:
        super().launch_begin(context)
        self.launched = context


class Profiler(Engine):
    """Runs launches and counts what they do.

    Args:
        selection: the launches that are counted; None: all.

    Attributes:
        profiles: the counts so far.
    """

    def __init__(
        self,
        schedule: str = "lockstep",
        time_limit: float | None = None,
        selection: LaunchSelection | None = None,
    ) -> None:
        super().__init__(schedule, time_limit)
        self.profiles = Profiles()
        self._selection = selection or LaunchSelection()
        self._named = 0  # launches so far of kernels with the selected name

    def observer_of(self, job: Job) -> Observer:
        """See `Engine.observer_of`."""
        name = readable_kernel(job.launch.function.name, job.module.files.values())
        wanted = self._selection.wants(name, self._named)
        self._named += self._selection.kernel in name
        if not wanted:
            return Observer()
        counter = ProfilingHook()

        def ended(result: LaunchResult) -> None:
            if counter.launched is not None:
                fault = result.error is not None
                self.profiles.add(counter.launched, counter, fault=fault)

        return Observer((counter,), ended)
