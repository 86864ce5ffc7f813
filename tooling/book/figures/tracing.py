"""Runs a program on the simulated GPU and records the memory accesses of its threads."""

from __future__ import annotations

from pathlib import PurePath

import numpy as np

from tooling.book.errors import BookError
from tooling.book.figures.traces import BARRIER, SHARED, Event, Trace
from tooling.book.recordings import digest, program_files
from tooling.catalog.catalogue import Selection
from tooling.project import Project
from tooling.simulator.checks.base import source_position
from tooling.simulator.checks.findings import Check
from tooling.simulator.engine.executor import Engine, Job, Observer
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import Access, Hook, Ints, LaunchContext, Space

_MOST_EVENTS = 4000  # a figure of more would be unreadable
_BLOCKS = 4  # only the first ones of a launch: no figure shows more
_WORD = 4  # bytes; the figures' buffers hold float32


class TraceHook(Hook):
    """Collects the events of one launch.

    Attributes:
        context: the launch; None before it began.
        events: complete after `launch_end`.
    """

    def __init__(self) -> None:
        self.context: LaunchContext | None = None
        self.events: list[Event] = []
        self._bases: list[int] = []

    def launch_begin(self, context: LaunchContext) -> None:
        self.context = context
        self._bases = list(_buffers(context))

    def access(self, access: Access) -> None:
        if access.space is Space.LOCAL or self.context is None:
            return
        blocks, threads = np.divmod(access.threads, self.context.threads_per_block)
        for block in np.unique(blocks[blocks < _BLOCKS]).tolist():
            chosen = blocks == block
            self._add(access, int(block), threads[chosen], chosen)

    def block_barrier(self, blocks: Ints, instruction: Instruction) -> None:
        self.events += [
            Event(BARRIER, block, line=_line(instruction))
            for block in np.sort(blocks[blocks < _BLOCKS]).tolist()
        ]

    def _add(self, access: Access, block: int, threads: Ints, chosen: np.ndarray) -> None:
        addresses = access.addresses[chosen]
        buffer = SHARED if access.space is Space.SHARED else self._buffer(int(addresses[0]))
        if buffer is None:
            return
        start = 0 if buffer == SHARED else self._bases[buffer]
        first = (addresses - start) // _WORD
        words = max(1, access.bytes // _WORD)
        values: tuple[float, ...] = ()
        if access.values is not None:
            bits = np.atleast_2d(access.values)[:, chosen].T.reshape(-1)
            values = tuple(bits.astype(np.uint32).view(np.float32).astype(float).tolist())
        self.events.append(
            Event(
                access.kind.name.lower(),
                block,
                buffer,
                tuple(np.repeat(threads, words).tolist()),
                tuple((first[:, None] + np.arange(words)).reshape(-1).tolist()),
                values,
                _line(access.instruction),
            )
        )

    def _buffer(self, address: int) -> int | None:
        """The argument whose buffer contains an address; None for constants and the buffer of `printf`."""
        allocation = self.context.memory.containing(address) if self.context else None
        return self._bases.index(allocation.base) if allocation and allocation.base in self._bases else None


class Tracer(Engine):
    """Runs launches, and records the trace of the first one.

    Attributes:
        hook: the first launch's; None where nothing was launched.
    """

    def __init__(self) -> None:
        super().__init__("lockstep", None)
        self.hook: TraceHook | None = None

    def observer_of(self, job: Job) -> Observer:
        """See `Engine.observer_of`."""
        del job
        if self.hook is not None:
            return Observer()
        self.hook = TraceHook()
        return Observer((self.hook,))


def record(project: Project, selection: Selection, state: str) -> Trace:
    """Builds a program, runs it on the simulated GPU and traces its first launch.

    Args:
        state: `solved` (the solution file) or `unsolved` (the problem file).

    Raises:
        BookError: it launches nothing, has too many threads for a figure, or fails.
        ToolingError: it cannot be built or simulated here.
    """
    from tooling.target_run import RunOptions, simulated_run  # noqa: PLC0415 - most figures need no run
    from tooling.targets.selection import choose  # noqa: PLC0415
    from tooling.toolchain import find_toolchain, open_cache  # noqa: PLC0415
    from tooling.trials import Trial, build_trial  # noqa: PLC0415

    toolchain = find_toolchain()
    files = program_files(selection.program, state)
    trial = Trial(selection, choose(selection, "sim"), files[0], solution=state == "solved")
    executable = build_trial(project, trial, toolchain, open_cache())
    tracer = Tracer()
    options = RunOptions(
        time_limit=trial.limit,
        checks=frozenset({Check.MEMORY.value}),
        executor=tracer,
        gpus=selection.mode.gpus,
    )
    transcript = simulated_run([executable.path, *selection.mode.flags], options).transcript
    if transcript.status != 0:
        raise BookError(
            f"{selection.command} failed while it was traced", why=transcript.stderr[-500:] or None
        )
    hook = tracer.hook
    if hook is None or hook.context is None:
        raise BookError(f"{selection.command} launches no kernel that could be traced")
    if len(hook.events) > _MOST_EVENTS:
        raise BookError(
            f"the trace of {selection.command} has {len(hook.events)} events",
            why=f"a figure can show {_MOST_EVENTS} at most",
        )
    launch = hook.context.launch
    return Trace(
        digest(*files),
        toolchain.version,
        tuple(launch.grid),
        tuple(launch.block),
        tuple(launch.cluster),
        _WORD,
        tuple(hook.events),
    )


def _buffers(context: LaunchContext) -> list[int]:
    """The first addresses of the buffers that the kernel's arguments point into, in the arguments' order."""
    found: list[int] = []
    parameters = context.launch.parameters
    for offset in range(0, len(parameters) - 7, 8):
        allocation = context.memory.containing(int.from_bytes(parameters[offset : offset + 8], "little"))
        if allocation is not None and allocation.base not in found:
            found.append(allocation.base)
    return found


def _line(instruction: Instruction) -> int:
    position = source_position(instruction)
    return position.line if PurePath(position.file).suffix == ".mojo" else 0
