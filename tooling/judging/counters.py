"""Judges a run by the counters of the simulated GPU, where the mode's manifest has criteria.

A criterion concerns one kernel and one metric. The counts are those of `tooling.simulator.counters`, which
are compared with an H200's. Occupancy is theoretical. PTX does not specify the registers of a thread: where
NVIDIA's assembler is installed, it allocates them, and elsewhere the occupancy is an upper bound.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tooling.catalog.model import CounterMetric, Criterion
from tooling.judging.counter_texts import MISSING, NOT_MET, STOPPED
from tooling.judging.verdict import Problem, SourceLine
from tooling.simulator.counters.occupancy import H200, Limit
from tooling.simulator.counters.sources import file_and_line, source_text
from tooling.simulator.counters.traffic import Counts, Route
from tooling.simulator.gpu.hooks import Space
from tooling.simulator.gpu.kernel_names import is_beginning_of

if TYPE_CHECKING:
    from tooling.simulator.counters.profile import KernelProfile, LineProfile

NAME = "counters"
"""The name of such a problem in reports and in the `expect` of a mutant."""


def judge_counters(criteria: Sequence[Criterion], kernels: Sequence[KernelProfile]) -> tuple[Problem, ...]:
    """The criteria that are not met, in their order; a kernel that never ran meets none.

    Args:
        kernels: the profiles of the launched kernels.
    """
    problems = []
    if any(criterion.metric is CounterMetric.OCCUPANCY for criterion in criteria):
        _find_registers(kernels)
    for criterion in criteria:
        own = [kernel for kernel in kernels if kernel.name == criterion.kernel] or [
            kernel for kernel in kernels if is_beginning_of(criterion.kernel, kernel.name, kernel.symbol)
        ]
        if not own:
            problems.append(_problem(criterion, MISSING))
        for kernel in own:
            if kernel.faults:
                problems.append(_problem(criterion, STOPPED))
            elif not criterion.met_by(COUNTS[criterion.metric](kernel)):
                counted = _problem(criterion, NOT_MET, **_facts(criterion, kernel))
                problems.append(replace(counted, line=_costliest(criterion.metric, kernel)))
                break  # other launches of the same kernel would give the same message
    return tuple(problems)


def _find_registers(kernels: Sequence[KernelProfile]) -> None:
    """Enters the registers of the kernels, where there is an assembler that accepts their PTX."""
    from tooling.simulator.nvidia.machine_code.code import resources_of  # noqa: PLC0415 - few modes need it
    from tooling.simulator.nvidia.machine_code.tools import ToolFailed, find_tools, has_tools  # noqa: PLC0415

    if not has_tools():
        return
    for kernel in kernels:
        if kernel.module is not None and kernel.registers is None:
            with contextlib.suppress(ToolFailed):  # an older toolkit: the occupancy stays an upper bound
                kernel.registers = resources_of(kernel.module, find_tools())[kernel.symbol].registers


def _used(kernel: KernelProfile) -> float:
    traffic = kernel.counts.space(Space.GLOBAL)
    return traffic.use if traffic.requests else 0.0  # a kernel without requests has not done its work


def _sectors(kernel: KernelProfile) -> float:
    return kernel.counts.space(Space.GLOBAL).sectors_per_request


def _shared_blocks(kernel: KernelProfile) -> int:
    return H200.shared_bytes // (kernel.shared_bytes + H200.reserved_per_block)


def _global_atomics(counts: Counts) -> int:
    return counts.total(Route.GLOBAL_ATOMIC, Route.GLOBAL_REDUCTION).lanes


def _shared_atomics(counts: Counts) -> int:
    return counts.total(Route.SHARED_ATOMIC).lanes


COUNTS: Mapping[CounterMetric, Callable[[KernelProfile], float]] = {
    CounterMetric.SECTORS_PER_REQUEST: _sectors,
    CounterMetric.BYTES_USED: _used,
    CounterMetric.BANK_CONFLICTS: lambda kernel: kernel.counts.space(Space.SHARED).conflicts,
    CounterMetric.GLOBAL_READ: lambda kernel: kernel.counts.total(Route.GLOBAL_LOAD).requested_bytes,
    CounterMetric.GLOBAL_WRITTEN: lambda kernel: kernel.counts.total(Route.GLOBAL_STORE).requested_bytes,
    CounterMetric.TMA_READ: lambda kernel: kernel.counts.bulk_read,
    CounterMetric.TMA_WRITTEN: lambda kernel: kernel.counts.bulk_written,
    CounterMetric.SHARED_READ: lambda kernel: kernel.counts.total(Route.SHARED_LOAD).requested_bytes,
    CounterMetric.STAGES: lambda kernel: kernel.stages,
    CounterMetric.SHARED_BYTES: lambda kernel: kernel.shared_bytes,
    CounterMetric.SHARED_BLOCKS: _shared_blocks,
    CounterMetric.OCCUPANCY: lambda kernel: kernel.occupancy.fraction,
    CounterMetric.TENSOR: lambda kernel: kernel.counts.tensor,
    CounterMetric.BLOCKS: lambda kernel: kernel.grid.count,
    CounterMetric.BUSIEST_WARP: lambda kernel: kernel.work.of_mean,
    CounterMetric.GLOBAL_ATOMICS: lambda kernel: _global_atomics(kernel.counts),
    CounterMetric.SHARED_ATOMICS: lambda kernel: _shared_atomics(kernel.counts),
}
"""How each metric is computed from a kernel's profile."""


def _facts(criterion: Criterion, kernel: KernelProfile) -> dict[str, object]:
    """What was counted."""
    occupancy = kernel.occupancy
    by_registers = occupancy.limited_by is Limit.REGISTERS
    return {
        **({"registers": kernel.registers} if by_registers else {}),
        "counted": COUNTS[criterion.metric](kernel),
        "sectors": _sectors(kernel),
        "busiest": kernel.work.busiest,
        "warps": kernel.work.warps,
        "ways": kernel.counts.space(Space.SHARED).ways,
        "shared": kernel.shared_bytes,
        "available": H200.shared_bytes,
        "threads": kernel.block.count,
        "blocks": occupancy.blocks,
        "limit": occupancy.limited_by.value,
        "bound": criterion.bound.value,
        "value": criterion.value,
    }


def _costliest(metric: CounterMetric, kernel: KernelProfile) -> SourceLine | None:
    """The most expensive line by this metric, with its text; None if no line has a cost."""
    cost = _COSTS.get(metric)
    lines = [line for line in kernel.in_order() if line.line.number]
    if cost is None or not lines:
        return None
    worst = max(lines, key=cost)
    if cost(worst) <= 0:
        return None
    return SourceLine(file_and_line(worst.line), source_text(worst.line))


def _wasted_bytes(line: LineProfile) -> float:
    traffic = line.counts.space(Space.GLOBAL)
    return traffic.moved_bytes - traffic.used_bytes


_COSTS: Mapping[CounterMetric, Callable[[LineProfile], float]] = {
    CounterMetric.SECTORS_PER_REQUEST: lambda line: line.counts.space(Space.GLOBAL).sectors,
    CounterMetric.BYTES_USED: _wasted_bytes,
    CounterMetric.BANK_CONFLICTS: lambda line: line.counts.space(Space.SHARED).conflicts,
    CounterMetric.GLOBAL_ATOMICS: lambda line: _global_atomics(line.counts),
    CounterMetric.SHARED_ATOMICS: lambda line: _shared_atomics(line.counts),
    CounterMetric.GLOBAL_READ: lambda line: line.counts.total(Route.GLOBAL_LOAD).requested_bytes,
    CounterMetric.GLOBAL_WRITTEN: lambda line: line.counts.total(Route.GLOBAL_STORE).requested_bytes,
    CounterMetric.TMA_READ: lambda line: line.counts.bulk_read,
    CounterMetric.TMA_WRITTEN: lambda line: line.counts.bulk_written,
    CounterMetric.SHARED_READ: lambda line: line.counts.total(Route.SHARED_LOAD).requested_bytes,
}


def _problem(criterion: Criterion, message: str, **facts: object) -> Problem:
    common = {"metric": criterion.metric.value, "because": criterion.because}
    return Problem(NAME, message, {**common, **facts}, criterion.kernel)
