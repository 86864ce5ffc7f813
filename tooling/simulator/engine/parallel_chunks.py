"""A long launch on several cores: what is left of it runs in parts, each in a fork of this process.

A block may depend on what the blocks before it wrote, so that parts cannot be trusted to do what the same
batches do in their turn. A part therefore keeps to itself what its hooks learn, until all parts have ended
without a fault or a finding and none has touched what another one wrote: then each has done just that, and
the hooks join what was learnt. In every other case memory is put back as it was before the parts, and the
batches run here, one after the other. Results are the same either way; only time is not.
"""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import pairwise
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from tooling.forks import Fork, fork
from tooling.simulator.engine.batch import run_batch
from tooling.simulator.engine.launch_state import LaunchState
from tooling.simulator.engine.module_cache import ModuleCache
from tooling.simulator.engine.written_buffers import prints, written_allocations
from tooling.simulator.gpu.code_model import Instruction, Register
from tooling.simulator.nvidia.ptx.modifiers import STRONG

MOST_PARTS = 4
"""Each takes the memory of a batch (`engine.BATCH_BYTES`)."""

MOST_COPIED = 256 << 20
COPIED_PER_SECOND = 256 << 20
"""Bytes that are worth a copy: at most, and for each second that is left (which takes a tenth of it)."""

PATIENCE = 4
GRACE = 5.0
"""Parts that take so many times as long as the rest was to take alone, and these seconds, are given up: they
wait for each other, or the machine is busy with something else."""

_LOOK = 50  # milliseconds between two looks at the limits
_PR_SET_PDEATHSIG = 1

_WIDE = frozenset({"gpu", "sys", "gl"})
_CLOCKS = ("%clock", "%globaltimer")

_TALKS: ModuleCache[bool] = ModuleCache()


class Cores(Struct, frozen=True):
    """How many cores may share a launch, and when that is worth it.

    Attributes:
        count: at most so many parts; 1: the launch runs here.
        least: seconds that the rest of the launch must be going to take alone.
        free: share of a core that the launch must have got so far: on a busy machine there is none to spare.
    """

    count: int = 1
    least: float = 0.3
    free: float = 0.8


ONE_CORE = Cores()


class _Report(Struct, frozen=True):
    """What a part did: instructions and lane instructions, seconds of processor time, and what each hook
    learnt."""

    issued: int
    lane_instructions: int
    seconds: float
    learnt: tuple[Any, ...]


class ParallelRun:
    """Watches a launch until what is left of it is worth running in parts, which is tried once.

    Args:
        state: the launch, which has not begun.
        step: blocks of a batch.
        cores: how many may share the launch.
    """

    def __init__(self, state: LaunchState, step: int, cores: Cores) -> None:
        self._state = state
        self._step = step
        self._cores = cores
        self._open = cores.count > 1
        self._started, self._processor = time.perf_counter(), time.thread_time()

    def finish(self, batches: Sequence[int]) -> bool:
        """Run these batches, all that are left, in parts, if that is worth it and possible.

        Returns:
            whether they ran. If not, everything is as it was.
        """
        state, cores = self._state, self._cores
        if not self._open or not state.finished_blocks or len(batches) < 2:
            return False
        spent = time.perf_counter() - self._started
        alone = spent * (state.context.blocks - state.finished_blocks) / state.finished_blocks
        if alone < cores.least or spent < cores.least / 5:
            return False
        self._open = False
        if time.thread_time() - self._processor < cores.free * spent or not _may_part(state):
            return False
        kept = _keep(state, alone)
        if kept is None:
            return False
        began = time.monotonic()
        reports = self._run(batches, began + PATIENCE * alone + GRACE)
        if reports is not None and self._join(reports):
            return True
        for view, content in kept:
            view[:] = content
        limits = state.limits
        if limits.deadline is not None and time.monotonic() < limits.deadline:
            # The kernel gets the time back: it must not reach its limit for having been tried twice.
            state.limits = replace(limits, deadline=limits.deadline + time.monotonic() - began)
        return False

    def _run(self, batches: Sequence[int], until: float) -> list[_Report] | None:
        """Run the batches in parts, and wait for them; None where that did not succeed."""
        state = self._state
        children: list[Fork] = []
        prctl = _prctl()
        try:
            with warnings.catch_warnings():
                # Python 3.12 warns where there are other threads, as their locks stay taken in the child for
                # ever. Ours takes none: it computes, writes into its own pipe and ends.
                warnings.simplefilter("ignore", DeprecationWarning)
                for part in _divide(batches, self._cores.count):
                    work = partial(_work, state, part, self._step, prctl=prctl, parent=os.getpid())
                    children.append(fork(work))
            return _wait(children, state, until)
        except OSError:  # no more processes or files are allowed
            return None
        finally:
            for child in children:
                child.end()

    def _join(self, reports: list[_Report]) -> bool:
        state = self._state
        hooks = state.listeners.all
        learnt = [[report.learnt[number] for report in reports] for number in range(len(hooks))]
        if any(hook.parts_meet(parts) for hook, parts in zip(hooks, learnt, strict=True)):
            return False
        for hook, parts in zip(hooks, learnt, strict=True):
            hook.join(parts)
        state.issued += sum(report.issued for report in reports)
        state.lane_instructions += sum(report.lane_instructions for report in reports)
        state.parts_seconds += sum(report.seconds for report in reports)
        state.finished_blocks = state.context.blocks
        return True


def _divide(batches: Sequence[int], most: int) -> list[Sequence[int]]:
    """Neighbouring batches in at most so many parts, about equally long."""
    count = min(most, len(batches))
    ends = [len(batches) * number // count for number in range(count + 1)]
    return [batches[low:high] for low, high in pairwise(ends)]


def _work(
    state: LaunchState, batches: Sequence[int], step: int, *, prctl: Callable[[int, int], int], parent: int
) -> bytes:
    """In a child: run these batches; what the parent must know of it, pickled.

    Raises:
        KernelFault: the kernel was stopped.
        CannotBeParted: something was found.
    """
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise InterruptedError("the parent ended before this process could ask to end with it")
    gc.freeze()  # looking for garbage among what is the parent's would copy it page by page
    state.limits = replace(state.limits, deadline=None, stop=None)  # the parent looks at them
    state.finished_blocks = batches[0]
    issued, lane_instructions, started = state.issued, state.lane_instructions, time.thread_time()
    hooks = state.listeners.all
    for hook in hooks:
        hook.part_begin()
    for first in batches:
        run_batch(state, first, step)
    learnt = tuple(hook.part_end() for hook in hooks)
    report = _Report(
        state.issued - issued,
        state.lane_instructions - lane_instructions,
        time.thread_time() - started,
        learnt,
    )
    return pickle.dumps(report, pickle.HIGHEST_PROTOCOL)


def _wait(children: Sequence[Fork], state: LaunchState, until: float) -> list[_Report] | None:
    """What the children report; None as soon as one of them does not, or at a limit of the launch."""
    poller = select.poll()
    answers = {child.pipe: bytearray() for child in children}
    reports: dict[int, _Report] = {}
    for pipe in answers:
        poller.register(pipe, select.POLLIN)
    while len(reports) < len(children):
        if state.limits.passed or time.monotonic() > until:
            return None
        for pipe, _ in poller.poll(_LOOK):
            chunk = os.read(pipe, 1 << 20)
            answers[pipe] += chunk
            if not chunk:
                poller.unregister(pipe)
                try:
                    reports[pipe] = pickle.loads(answers[pipe])  # our own child wrote it
                except (EOFError, pickle.UnpicklingError):  # its kernel failed, or it was killed
                    return None
    return [reports[child.pipe] for child in children]


def _keep(state: LaunchState, seconds: float) -> list[tuple[NDArray[Any], NDArray[Any]]] | None:
    """All that the rest of the launch may write, with a copy of it; None where that is too much to copy.

    Args:
        seconds: that the rest takes alone.
    """
    memory = state.context.memory
    named = written_allocations(state.context)
    written = [
        allocation
        for allocation in memory
        if allocation.live and not allocation.host and (named is None or allocation.serial in named)
    ]
    if sum(a.size for a in written) > min(MOST_COPIED, COPIED_PER_SECOND * max(seconds, 0.1)):
        return None
    views = [memory.view(allocation.base, allocation.size) for allocation in written]
    return [(view, view.copy()) for view in views]


def _may_part(state: LaunchState) -> bool:
    """Whether parts would do what these batches do in their turn, unless the hooks notice otherwise."""
    context, hooks, program = state.context, state.listeners.all, state.program
    if sys.platform != "linux" or not context.memory.shared or context.memory.reservations:
        return False  # of a reservation, two addresses may mean one byte
    if state.schedule != "lockstep" or state.limits.lane_instructions is not None:
        return False
    if not any(hook.takes_strays for hook in hooks) or not any(hook.tells_parts_apart for hook in hooks):
        return False
    if not all(hook.may_part() for hook in hooks):
        return False
    key = (context.module.digest, program.name)
    body = (item for function in program.functions for item in function.body if isinstance(item, Instruction))
    return not _TALKS.get(key, lambda: any(map(_talks, body)))


def _talks(instruction: Instruction) -> bool:
    """Whether it is there to depend on other blocks, or on the time, or reads what no hook is told of."""
    opcode, modifiers = instruction.opcode, instruction.modifiers
    if prints(instruction) or opcode == "multimem" or not {"bulk", "reduce"}.isdisjoint(modifiers):
        return True
    if any(isinstance(o, Register) and o.name.startswith(_CLOCKS) for o in instruction.operands):
        return True
    if opcode in ("fence", "membar"):
        return not _WIDE.isdisjoint(modifiers)
    if any(modifier.startswith(("shared", "local", "param")) for modifier in modifiers):
        return False
    return opcode in ("atom", "red") or (opcode in ("ld", "st") and not STRONG.isdisjoint(modifiers))


@cache
def _prctl() -> Callable[[int, int], int]:
    """The C library's `prctl`, looked up where no lock of its loader can be left taken: not in a child."""
    function: Callable[[int, int], int] = ctypes.CDLL(None).prctl
    return function
