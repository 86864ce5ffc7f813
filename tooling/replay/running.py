"""Runs a program to record it: where its first finding is, unless a block was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from tooling.replay.assembly import make_trace, shorten
from tooling.replay.recorder import Recorder
from tooling.replay.recording import Recording
from tooling.replay.trace import Trace
from tooling.simulator.checks.base import CheckHook
from tooling.simulator.checks.findings import Finding, Severity
from tooling.simulator.engine.executor import Engine, Job, Observer
from tooling.simulator.gpu.clusters import blocks_of, clusters_of
from tooling.simulator.gpu.kernel_names import readable_kernel
from tooling.simulator.gpu.launch import Dim3, LaunchResult
from tooling.target_run import RunOptions, TargetRun, run_on_target
from tooling.targets.model import Target
from tooling.text import Text

MOST_BLOCKS = 8


class BlockSelection(Struct, frozen=True):
    """Blocks of a launch.

    Attributes:
        launch: its number in the program, from 1; blocks: positions in its grid.
        kernels: instead, the first launch of one of these kernels, if there is one.
        partners: with several GPUs, the numbers of the launches to record with it; none: the next one of its
            kernel on each other GPU.
        most_bytes: of the trace; steps from a barrier on are left out until it has no more. None: no limit.
    """

    launch: int = 1
    blocks: tuple[Dim3, ...] = (Dim3(0, 0, 0),)
    kernels: frozenset[str] = frozenset()
    partners: frozenset[int] = frozenset()
    most_bytes: int | None = None

    @property
    def numbers(self) -> frozenset[int]:
        """The launches that are known by number."""
        return self.partners | {self.launch}


class Recorded(Struct, frozen=True):
    """A run and what was recorded.

    Attributes:
        selection: what was to be recorded; grid: of that launch, None if the program does not make it.
        trace: None if there is no such launch or block.
    """

    run: TargetRun
    selection: BlockSelection
    grid: Dim3 | None
    trace: Trace | None


def record(
    command: Sequence[str | Path], target: Target, options: RunOptions, selection: BlockSelection
) -> Recorded:
    """Runs a program on a simulated GPU and records some of its blocks; with several GPUs a second time,
    without its output, if a launch that belongs to the recorded one had begun before it.

    Raises: as `run_on_target`.
    """
    engine = RecordingEngine(selection)
    run = run_on_target(command, target, replace(options, executor=engine))
    trace = engine.trace and replace(engine.trace, launches=run.launches or engine.trace.launch)
    recorded = Recorded(run, selection, engine.grid, trace)
    if trace is None or selection.partners:
        return recorded
    partners = partners_of(engine.launches, trace.launch)
    if partners <= launches_of(trace):
        return recorded
    wanted = replace(selection, launch=trace.launch, kernels=frozenset(), partners=partners)
    again = record(command, target, replace(options, stream=None, error_output=None), wanted)
    return again if again.trace else recorded


def launches_of(trace: Trace) -> frozenset[int]:
    """The numbers of the launches that are recorded."""
    return frozenset({trace.launch, *(position[4] for position in trace.positions if len(position) > 4)})


def partners_of(launches: Mapping[int, tuple[str, int]], number: int) -> frozenset[int]:
    """The launches of the kernel on other GPUs that are as many-th there as this one is on its own.

    Args:
        launches: the kernel and the GPU of each, by its number.
    """
    kernel, gpu = launches[number]
    by_gpu: dict[int, list[int]] = {}
    for other in sorted(launches):
        if launches[other][0] == kernel:
            by_gpu.setdefault(launches[other][1], []).append(other)
    at = by_gpu.pop(gpu).index(number)
    return frozenset(numbers[at] for numbers in by_gpu.values() if at < len(numbers))


def record_finding(
    command: Sequence[str | Path], target: Target, options: RunOptions, selection: BlockSelection
) -> Recorded:
    """As `record`; if the first finding is elsewhere, the program is run again, without its output."""
    recorded = record(command, target, options, selection)
    wanted = selection_of(recorded.run.findings)
    trace = recorded.trace
    if trace is None or wanted is None:
        return recorded
    known = {Dim3(*position[:3]) for position in trace.positions}
    if wanted.launch in launches_of(trace) and set(wanted.blocks) <= known:
        return recorded
    wanted = replace(wanted, most_bytes=selection.most_bytes)
    again = record(command, target, replace(options, stream=None, error_output=None), wanted)
    return again if again.trace else recorded


def selection_of(findings: Sequence[Finding]) -> BlockSelection | None:
    """Launch and blocks of the first finding that names a thread, errors before warnings."""
    named = [finding for finding in findings if finding.parties and finding.launch]
    named.sort(key=lambda finding: finding.severity is not Severity.ERROR)
    if not named:
        return None
    blocks = {Dim3(*party.block) for party in named[0].parties}
    return BlockSelection(named[0].launch, tuple(sorted(blocks, key=lambda block: block[::-1])))


class RecordingEngine(Engine):
    """Runs launches, and records some blocks of one of them; with several GPUs the same blocks of a launch of
    the same kernel on each.

    Args:
        selection: the blocks. Of a single one, its whole cluster is recorded; of many, the first MOST_BLOCKS.

    Attributes:
        trace: None until the launch was made, and where it has no such block.
        grid: of the launch; None until it was made.
        launches: the kernel and the GPU of each launch that has begun, by its number.
    """

    def __init__(self, selection: BlockSelection) -> None:
        super().__init__("lockstep", None)
        self.trace: Trace | None = None
        self.grid: Dim3 | None = None
        self.launches: dict[int, tuple[str, int]] = {}
        self._selection = selection
        self._wanted = selection.kernels  # empty as soon as one of them was launched
        self._recorder: Recorder | None = None
        self._fault: Text | None = None

    def observer_of(self, job: Job) -> Observer:
        """See `Engine.observer_of`."""
        kernel = readable_kernel(job.launch.function.name, job.module.files.values())
        self.launches[job.number] = (kernel, job.launch.device)
        meant = kernel in self._wanted
        joins = not meant and self._joins(job)
        if meant:
            self._wanted = frozenset()
        elif not joins and (
            job.number not in self._selection.numbers or (self._selection.kernels and not self._wanted)
        ):
            return Observer()
        grid = self.grid = job.launch.grid
        blocks = self._selection.blocks
        if any(at >= extent for block in blocks for at, extent in zip(block, grid, strict=True)):
            return Observer()
        numbers = [block.x + grid.x * (block.y + grid.y * block.z) for block in blocks]
        if len(numbers) == 1:
            numbers = blocks_of(job.launch, clusters_of(job.launch, np.array(numbers)))[0].tolist()
        checks = [hook for hook in job.hooks if isinstance(hook, CheckHook)]
        recorder = Recorder(numbers[:MOST_BLOCKS], checks, job.number, self._recording if joins else None)
        self._recorder = recorder

        def ended(result: LaunchResult) -> None:
            if not recorder.began:
                return
            recording = recorder.recording
            if result.error and self._fault is None:
                self._fault = result.error.reason
            if self._selection.most_bytes is not None:
                recording = replace(recording, moments=[*recording.moments])
                shorten(recording, self._selection.most_bytes)
            self.trace = make_trace(recording, self._fault)

        return Observer((recorder,), ended)

    @property
    def _recording(self) -> Recording | None:
        return self._recorder.recording if self._recorder and self._recorder.began else None

    def _joins(self, job: Job) -> bool:
        """Whether the launch belongs to what is recorded, on another GPU."""
        if self._recording is None or not self._recording.takes(job.launch):
            return False
        return not self._selection.partners or job.number in self._selection.numbers
