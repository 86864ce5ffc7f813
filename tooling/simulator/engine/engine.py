"""The engine: runs a launch, many blocks at a time, and each group of lanes at one program point together.

Order of execution: the group at the earliest program point runs, so that divergent lanes reconverge; a group
that keeps jumping backwards while others wait yields, so that a lane that waits for another one makes
progress. Lanes at a barrier or `.sync` instruction are parked until the others have arrived. The order is
deterministic.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack

import numpy as np

from tooling.simulator.backends import backend_of
from tooling.simulator.engine.batch import run_batch
from tooling.simulator.engine.heap import keep_freed_memory
from tooling.simulator.engine.launch_state import LaunchState, Limits
from tooling.simulator.engine.schedule import order_of_batches, room
from tooling.simulator.engine.together import Pace, Turn
from tooling.simulator.gpu.clusters import blocks_together
from tooling.simulator.gpu.code_model import Module
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.hooks import Hook, LaunchContext
from tooling.simulator.gpu.launch import FaultKind, KernelFault, Launch, LaunchResult
from tooling.simulator.gpu.listeners import Listeners
from tooling.simulator.gpu.stop_texts import (
    EMPTY_CLUSTER,
    NO_MULTIPLE,
    TOO_FEW_PARAMETERS,
    TOO_MANY_THREADS,
    TOO_MUCH_SHARED_IN_ALL,
)
from tooling.simulator.program.backend import Device
from tooling.simulator.program.program import Program
from tooling.text import Text

BATCH_LANES = 1 << 17
"""Lanes executed together: enough to amortise the interpreter's cost, few enough that some registers of that
size stay in a core's second-level cache."""

SHUFFLED_LANES = 1 << 16
"""`BATCH_LANES` of the schedules that change the order of batches, of which there should be several."""

BATCH_BYTES = 320 << 20
"""Maximum memory of blocks executed together, unless one block alone takes more. It can hold the shared
memory of a whole H200 (132 x 227 KiB), so that blocks that wait for each other run together."""

SHARED_COST, LOCAL_COST = 10, 2
"""Bytes that a byte of shared and of local memory takes, with the shadow memory of the checks."""

RECURSIVE_LANES = 2048
"""`BATCH_LANES` for kernels with recursive functions, whose lanes have a stack each."""


def run(  # noqa: PLR0917 - a launch needs them all
    launch: Launch,
    module: Module,
    memory: DeviceMemory,
    hooks: Sequence[Hook] = (),
    schedule: str = "lockstep",
    stdout: Callable[[bytes], None] = lambda _text: None,
    limits: Limits | None = None,
) -> LaunchResult:
    """Execute a launch to its end or its first fault.

    Args, Raises: as `turns`.
    """
    steps = turns(launch, module, memory, hooks, schedule, stdout, limits)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            assert isinstance(end.value, LaunchResult)
            return end.value


def turns(  # noqa: PLR0917 - a launch needs them all
    launch: Launch,
    module: Module,
    memory: DeviceMemory,
    hooks: Sequence[Hook] = (),
    schedule: str = "lockstep",
    stdout: Callable[[bytes], None] = lambda _text: None,
    limits: Limits | None = None,
    pace: Pace | None = None,
) -> Generator[Turn, None, LaunchResult]:
    """Execute a launch to its end or its first fault, in one step, or in turns with others.

    Args:
        schedule: a name for `Schedule`.
        stdout: receives what the kernel prints, in order.
        pace: with it, each step is a turn; without, there is one step.

    Raises:
        CodeError: the kernel has an instruction that the simulator does not support.
        ValueError: an unknown schedule.
    """
    started, processor_started = time.perf_counter(), time.thread_time()
    keep_freed_memory()
    backend = backend_of(module)
    program = backend.decode(module, launch.function)
    context = LaunchContext(
        launch,
        module,
        memory,
        launch.threads_per_block,
        launch.blocks,
        launch.cluster.count,
        program.shared_bytes + launch.shared_bytes,
        program.local_bytes,
        lambda: program.arrays_meant,
        backend.device.warp_size,
        backend.device.lockstep,
        backend.device.lockstep,
        several_devices=pace is not None,
    )
    error: KernelFault | None = None
    with ExitStack() as cleanup:
        symbols = backend.symbols(program, context)
        parameters = backend.parameter_block(program, launch)
        if parameters is not None:
            name, content = parameters
            block = _allocate_parameters(program, content, memory)
            cleanup.callback(memory.free, block)
            symbols = {**symbols, name: block}
        state = LaunchState(
            backend,
            program,
            context,
            symbols,
            Listeners(hooks),
            schedule=schedule,
            stdout=stdout,
            limits=limits or Limits(),
            pace=pace,
        )
        for hook in hooks:
            hook.launch_begin(context)
            cleanup.callback(hook.launch_end, context)
        try:
            with np.errstate(all="ignore"):
                _check_shape(context, backend.device)
                yield from _run_blocks(state)
        except KernelFault as fault:
            error = fault
    return LaunchResult(
        state.issued,
        state.lane_instructions,
        state.finished_blocks,
        error,
        time.perf_counter() - started,
        time.thread_time() - processor_started,
    )


def _allocate_parameters(program: Program, parameters: bytes, memory: DeviceMemory) -> int:
    """The device address of a copy of a launch's parameters."""
    address = memory.allocate(
        max(1, len(parameters)), f"parameters of {program.name}", poison=False, internal=True
    )
    memory.view(address, len(parameters))[:] = np.frombuffer(parameters, np.uint8)
    return address


def _check_shape(context: LaunchContext, device: Device) -> None:
    launch = context.launch
    problem: Text | None = None
    if min(*launch.grid, *launch.block, *launch.cluster) < 1:
        problem = EMPTY_CLUSTER.of(grid=launch.grid, block=launch.block, cluster=launch.cluster)
    elif context.threads_per_block > device.max_threads_per_block:
        problem = TOO_MANY_THREADS.of(threads=context.threads_per_block, most=device.max_threads_per_block)
    elif context.shared_bytes > device.max_shared_bytes:
        problem = TOO_MUCH_SHARED_IN_ALL.of(shared=context.shared_bytes, most=device.max_shared_bytes)
    elif any(g % c for g, c in zip(launch.grid, launch.cluster, strict=True)):
        problem = NO_MULTIPLE.of(grid=launch.grid, cluster=launch.cluster)
    elif len(launch.parameters) < launch.function.parameter_bytes:
        needed = launch.function.parameter_bytes
        problem = TOO_FEW_PARAMETERS.of(given=len(launch.parameters), taken=needed)
    if problem is not None:
        raise KernelFault(FaultKind.INVALID_LAUNCH, problem)


def _run_blocks(state: LaunchState) -> Iterator[Turn]:
    """Run every block; each step is a turn.

    Raises:
        KernelFault: the kernel was stopped.
    """
    context = state.context
    unit = blocks_together(context.launch)
    lanes = BATCH_LANES if state.schedule == "lockstep" else SHUFFLED_LANES
    if state.program.frame_bytes:
        lanes = RECURSIVE_LANES
    together = lanes // context.lanes_per_block
    local = context.local_bytes * context.lanes_per_block
    cost = SHARED_COST * context.shared_bytes + LOCAL_COST * local
    if cost:
        together = min(together, BATCH_BYTES // cost)
    together = min(together, room(state.schedule) or together)
    step = max(1, together // unit) * unit
    if state.limits.blocks is not None:
        for blocks in state.limits.blocks:
            for first in range(blocks.start, blocks.stop, step):
                yield from run_batch(state, first, min(step, blocks.stop - first))
        return
    for first in order_of_batches(state.schedule, range(0, context.blocks, step)):
        yield from run_batch(state, first, step)
