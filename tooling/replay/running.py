"""Runs a program to record it: where its first finding is, unless a block was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from tooling.replay.assembly import make_trace, shorten
from tooling.replay.recorder import Recorder
from tooling.replay.trace import Trace
from tooling.simulator.checks.base import CheckHook
from tooling.simulator.checks.findings import Finding, Severity
from tooling.simulator.engine.executor import Engine, Job, Observer
from tooling.simulator.gpu.clusters import blocks_of, clusters_of
from tooling.simulator.gpu.kernel_names import readable_kernel
from tooling.simulator.gpu.launch import Dim3, LaunchResult
from tooling.target_run import RunOptions, TargetRun, run_on_target
from tooling.targets.model import Target

MOST_BLOCKS = 8


class BlockSelection(Struct, frozen=True):
    """Blocks of a launch.

    Attributes:
        launch: its number in the program, from 1; blocks: positions in its grid.
        kernels: instead, the first launch of one of these kernels, if there is one.
        most_bytes: of the trace; steps from a barrier on are left out until it has no more. None: no limit.
    """

    launch: int = 1
    blocks: tuple[Dim3, ...] = (Dim3(0, 0, 0),)
    kernels: frozenset[str] = frozenset()
    most_bytes: int | None = None


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
    """Runs a program on a simulated GPU and records some of its blocks.

    Raises: as `run_on_target`.
    """
    engine = _Engine(selection)
    run = run_on_target(command, target, replace(options, executor=engine))
    trace = engine.trace and replace(engine.trace, launches=run.launches or engine.trace.launch)
    return Recorded(run, selection, engine.grid, trace)


def record_finding(
    command: Sequence[str | Path], target: Target, options: RunOptions, selection: BlockSelection
) -> Recorded:
    """As `record`; if the first finding is elsewhere, the program is run again, without its output."""
    recorded = record(command, target, options, selection)
    wanted = selection_of(recorded.run.findings)
    trace = recorded.trace
    if trace is None or wanted is None:
        return recorded
    if wanted.launch == trace.launch and set(wanted.blocks) <= {Dim3(*each) for each in trace.positions}:
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


class _Engine(Engine):
    """Runs launches, and records some blocks of one of them.

    Args:
        selection: the blocks. Of a single one, its whole cluster is recorded; of many, the first MOST_BLOCKS.

    Attributes:
        trace: None until the launch was made, and where it has no such block.
        grid: of the launch; None until it was made.
    """

    def __init__(self, selection: BlockSelection) -> None:
        super().__init__("lockstep", None)
        self.trace: Trace | None = None
        self.grid: Dim3 | None = None
        self._selection = selection
        self._wanted = selection.kernels  # empty as soon as one of them was launched

    def observer_of(self, job: Job) -> Observer:
        """See `Engine.observer_of`."""
        meant = readable_kernel(job.launch.function.name, job.module.files.values()) in self._wanted
        if meant:
            self._wanted = frozenset()
        elif job.number != self._selection.launch or (self._selection.kernels and not self._wanted):
            return Observer()
        grid = self.grid = job.launch.grid
        blocks = self._selection.blocks
        if any(at >= extent for block in blocks for at, extent in zip(block, grid, strict=True)):
            return Observer()
        numbers = [block.x + grid.x * (block.y + grid.y * block.z) for block in blocks]
        if len(numbers) == 1:
            numbers = blocks_of(job.launch, clusters_of(job.launch, np.array(numbers)))[0].tolist()
        recorder = Recorder(
            numbers[:MOST_BLOCKS], [hook for hook in job.hooks if isinstance(hook, CheckHook)]
        )

        def ended(result: LaunchResult) -> None:
            if not recorder.began:
                return
            if self._selection.most_bytes is not None:
                shorten(recorder.recording, self._selection.most_bytes)
            fault = result.error.reason if result.error else None
            self.trace = make_trace(recorder.recording, job.number, fault)

        return Observer((recorder,), ended)
