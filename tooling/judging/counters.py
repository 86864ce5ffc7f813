"""Judges a run by what the simulated GPU counted, where the mode's manifest names criteria.

A criterion speaks of one kernel and one metric. The counts are those of `tooling.simulator.counters`, which
are held to an H200's; occupancy is theoretical, and an upper bound, since PTX does not tell how many
registers a thread gets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from tooling.catalog.model import Bound, CounterMetric, Criterion
from tooling.judging.counter_texts import ADVICE, FOUND, LIMITS, MISSING, PLACE, STOPPED, WANTED
from tooling.judging.verdict import Problem
from tooling.simulator.counters.occupancy import H200, theoretical_occupancy
from tooling.simulator.counters.sources import place, source_text
from tooling.simulator.gpu.hooks import Space
from tooling.text import Text

if TYPE_CHECKING:
    from tooling.simulator.counters.profile import KernelProfile, LineProfile

NAME = "counters"
"""What such a problem is called, in reports and in the `expect` of a mutant."""


def judge_counters(criteria: Sequence[Criterion], kernels: Sequence[KernelProfile]) -> tuple[Problem, ...]:
    """What is not as the criteria want it, in their order; a kernel that never ran meets none.

    Args:
        kernels: what the run launched.
    """
    problems = []
    for criterion in criteria:
        own = [kernel for kernel in kernels if kernel.name == criterion.kernel]
        if not own:
            problems.append(_problem(criterion, MISSING.of(kernel=criterion.kernel)))
        for kernel in own:
            if kernel.faults:
                problems.append(_problem(criterion, STOPPED.of(kernel=kernel.name)))
            elif not criterion.met_by(COUNTS[criterion.metric](kernel)):
                problems.append(_problem(criterion, _sentence(criterion, kernel)))
                break  # other shapes of the same kernel would say the same
    return tuple(problems)


def _used(kernel: KernelProfile) -> float:
    traffic = kernel.counts.space(Space.GLOBAL)
    return traffic.use if traffic.requests else 0.0  # what moves nothing has not done its work


def _sectors(kernel: KernelProfile) -> float:
    return kernel.counts.space(Space.GLOBAL).sectors_per_request


def _shared_blocks(kernel: KernelProfile) -> int:
    return H200.shared_bytes // (kernel.shared_bytes + H200.reserved_per_block)


COUNTS: Mapping[CounterMetric, Callable[[KernelProfile], float]] = {
    CounterMetric.SECTORS_PER_REQUEST: _sectors,
    CounterMetric.BYTES_USED: _used,
    CounterMetric.BANK_CONFLICTS: lambda kernel: kernel.counts.space(Space.SHARED).conflicts,
    CounterMetric.SHARED_BYTES: lambda kernel: kernel.shared_bytes,
    CounterMetric.SHARED_BLOCKS: _shared_blocks,
    CounterMetric.OCCUPANCY: lambda kernel: (
        theoretical_occupancy(kernel.block.count, kernel.shared_bytes).fraction
    ),
}
"""How each metric is read off a kernel's profile."""


def _sentence(criterion: Criterion, kernel: KernelProfile) -> Text:
    """What was counted, where most of it, and what was wanted."""
    share = criterion.metric in (CounterMetric.BYTES_USED, CounterMetric.OCCUPANCY)
    occupancy = theoretical_occupancy(kernel.block.count, kernel.shared_bytes)
    figures: dict[str, object] = {
        "kernel": kernel.name,
        "counted": COUNTS[criterion.metric](kernel),
        "sectors": _sectors(kernel),
        "ways": kernel.counts.space(Space.SHARED).ways,
        "shared": kernel.shared_bytes,
        "available": H200.shared_bytes,
        "threads": kernel.block.count,
        "blocks": occupancy.blocks,
        "limit": LIMITS[occupancy.limited_by],
        "place": _place(criterion.metric, kernel),
    }
    found = FOUND[criterion.metric].of(**figures)
    value = f"{criterion.value:.0%}" if share else f"{criterion.value:,.6g}"
    exact = share and criterion.bound is Bound.AT_LEAST and criterion.value >= 1
    wanted = value if exact else WANTED[criterion.bound].of(value=value)
    return _FOUND_AND_WANTED.of(found=found, wanted=wanted)


_FOUND_AND_WANTED = Text("{found}; wanted: {wanted}")


def _place(metric: CounterMetric, kernel: KernelProfile) -> Text | str:
    """The line that costs most by this metric, with its text; empty where no line is at fault."""
    cost = _COSTS.get(metric)
    lines = [line for line in kernel.in_order() if line.line.number]
    if cost is None or not lines:
        return ""
    worst = max(lines, key=cost)
    if cost(worst) <= 0:
        return ""
    return PLACE.of(place=place(worst.line), source=source_text(worst.line))


def _wasted_bytes(line: LineProfile) -> float:
    traffic = line.counts.space(Space.GLOBAL)
    return traffic.moved_bytes - traffic.used_bytes


_COSTS: Mapping[CounterMetric, Callable[[LineProfile], float]] = {
    CounterMetric.SECTORS_PER_REQUEST: lambda line: line.counts.space(Space.GLOBAL).sectors,
    CounterMetric.BYTES_USED: _wasted_bytes,
    CounterMetric.BANK_CONFLICTS: lambda line: line.counts.space(Space.SHARED).conflicts,
}


def _problem(criterion: Criterion, what: Text) -> Problem:
    cause = criterion.because
    return Problem(NAME, what, cause, ADVICE[criterion.metric], criterion.kernel)
