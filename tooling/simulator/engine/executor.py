"""The executor of a simulation's launches: the engine, or a test double."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from tooling.simulator.backends import backend_of
from tooling.simulator.engine.engine import run, turns
from tooling.simulator.engine.launch_state import Limits
from tooling.simulator.engine.together import Pace, Turn
from tooling.simulator.gpu.code_model import Module
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.hooks import Hook
from tooling.simulator.gpu.launch import Launch, LaunchResult


class Job(Struct, frozen=True):
    """A launch to run, and what it needs.

    Attributes:
        hooks: its checks and observers.
        stdout: receives what the kernel prints, in order.
        cancelled: polled; true if the launch is to be stopped.
        number: of the launch in its program, from 1; launches of several devices may begin in another order.
        blocks: the only blocks that run, as a sample of the others; None: all.
    """

    launch: Launch
    module: Module
    memory: DeviceMemory
    hooks: Sequence[Hook] = ()
    stdout: Callable[[bytes], None] = lambda _text: None
    cancelled: Callable[[], bool] = lambda: False
    number: int = 1
    blocks: tuple[range, ...] | None = None

    def watched_by(self, hook: Hook) -> Job:
        """The same job with one more hook, called after the others."""
        return replace(self, hooks=(*self.hooks, hook))

    def sampling(self, blocks: tuple[range, ...] | None) -> Job:
        """The same job with only these blocks; None: all."""
        return replace(self, blocks=blocks)


class Observer(Struct, frozen=True):
    """Observes one launch.

    Attributes:
        hooks: called after the hooks of the job.
        ended: called with the result.
    """

    hooks: tuple[Hook, ...] = ()
    ended: Callable[[LaunchResult], None] = lambda _result: None


class Executor(Protocol):
    """Runs launches."""

    def prepare(self, module: Module) -> None:
        """A module was loaded.

        Raises:
            CodeError: it has an unsupported instruction.
        """
        ...

    def run(self, job: Job) -> LaunchResult:
        """Run a launch to its end; a failed kernel is part of the result.

        Raises:
            CodeError: the kernel has an unsupported instruction.
        """
        ...

    def start(self, job: Job, pace: Pace) -> Generator[Turn, None, LaunchResult]:
        """Run a launch in turns with launches of other devices.

        Raises: as `run`, at a turn.
        """
        ...

    @property
    def schedule(self) -> str:
        """The order of threads, and of launches that run together."""
        ...


class Engine:
    """The simulator's engine.

    Args:
        schedule: order of threads and of launches that run together, a name for `schedule.Schedule`.
        time_limit: maximum seconds of wall time for one launch, or None.
    """

    def __init__(self, schedule: str, time_limit: float | None) -> None:
        self.schedule = schedule
        self._time_limit = time_limit

    def prepare(self, module: Module) -> None:
        """Decode every kernel: like the driver, reject a module when it is loaded, not at its launch."""
        backend = backend_of(module)
        for kernel in module.kernels.values():
            backend.decode(module, kernel)

    def observer_of(self, job: Job) -> Observer:
        """What observes a launch that is about to begin: nothing, except for engines that observe."""
        del job
        return Observer()

    def run(self, job: Job) -> LaunchResult:
        """See `Executor.run`."""
        return self.observed(job, self.observer_of(job))

    def observed(self, job: Job, observer: Observer) -> LaunchResult:
        """Run a launch with an observer."""
        limits = self._limits(job)
        hooks = (*job.hooks, *observer.hooks)
        result = run(job.launch, job.module, job.memory, hooks, self.schedule, job.stdout, limits)
        observer.ended(result)
        return result

    def start(self, job: Job, pace: Pace) -> Generator[Turn, None, LaunchResult]:
        """See `Executor.start`."""
        limits = self._limits(job)
        observer = self.observer_of(job)
        hooks = (*job.hooks, *observer.hooks)
        result = yield from turns(
            job.launch, job.module, job.memory, hooks, self.schedule, job.stdout, limits, pace
        )
        observer.ended(result)
        return result

    def _limits(self, job: Job) -> Limits:
        deadline = None if self._time_limit is None else time.monotonic() + self._time_limit
        return Limits(deadline=deadline, stop=job.cancelled, blocks=job.blocks)
