"""An executor that counts: the engine, with a counting hook beside the checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tooling.simulator.counters.hook import CounterHook
from tooling.simulator.counters.profile import Profiles
from tooling.simulator.executor import Engine
from tooling.simulator.hooks import Hook, LaunchContext
from tooling.simulator.launch import Launch, LaunchResult
from tooling.simulator.memory import DeviceMemory
from tooling.simulator.ptx_model import Module


class ProfilingHook(CounterHook):
    """Counts one launch and keeps its context."""

    context: LaunchContext | None = None

    def launch_begin(self, context: LaunchContext) -> None:
        super().launch_begin(context)
        self.context = context


class Profiler(Engine):
    """Runs launches and counts what they do.

    Attributes:
        profiles: what was counted so far.
    """

    def __init__(self, schedule: str = "lockstep", time_limit: float | None = None) -> None:
        super().__init__(schedule, time_limit)
        self.profiles = Profiles()

    def run(
        self,
        launch: Launch,
        module: Module,
        memory: DeviceMemory,
        hooks: Sequence[Hook],
        *,
        stdout: Callable[[bytes], None],
        cancelled: Callable[[], bool],
    ) -> LaunchResult:
        """See `Executor.run`."""
        counter = ProfilingHook()
        result = super().run(launch, module, memory, [*hooks, counter], stdout=stdout, cancelled=cancelled)
        if counter.context is not None:
            self.profiles.add(counter.context, counter.tallies, fault=result.error is not None)
        return result
