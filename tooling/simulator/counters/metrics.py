"""The metrics of a kernel: under Nsight Compute's names if it counts the same, else under our own.

`COMPARABLE` ones equal what `ncu --metrics` prints on an H200 for the same launch, as long as the assembler
(ptxas) keeps the accesses of the PTX: it may merge adjacent loads of an unrolled loop into one wider load,
remove unused accesses, and keep local arrays in registers. Where the simulator counts PTX and the hardware
machine code (SASS), the numbers cannot be compared and the names differ: `ptx.instructions` replaces
`smsp__inst_executed.sum`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from tooling.simulator.counters.issue import WarpWork
from tooling.simulator.counters.traffic import Counts, Route
from tooling.simulator.gpu.hooks import Space
from tooling.simulator.program.counting import CountingRules

if TYPE_CHECKING:
    from tooling.simulator.counters.profile import KernelProfile

_LOADS = (Route.GLOBAL_LOAD, Route.GLOBAL_ASYNC)
Value = int | float


class Metric(Struct, frozen=True):
    """One number of a kernel or line.

    Attributes:
        model: no manual of the GPU defines how the hardware gets this number.
    """

    name: str
    unit: str
    read: Callable[[Counts], Value]
    model: bool = False


class WorkMetric(Struct, frozen=True):
    """One number of the warps of a kernel; lines have none."""

    name: str
    unit: str
    read: Callable[[WarpWork], Value]


def _lookups(operation: str, space: str, *routes: Route) -> tuple[Metric, ...]:
    head = "l1tex__t"
    tail = f"pipe_lsu_mem_{space}_op_{operation}.sum"
    return (
        Metric(f"{head}_requests_{tail}", "requests", lambda counts: counts.total(*routes).requests),
        Metric(f"{head}_sectors_{tail}", "sectors", lambda counts: counts.total(*routes).sectors),
    )


def _shared(fronts: str, conflicts: str, route: Route) -> tuple[Metric, ...]:
    return (
        Metric(fronts, "wavefronts", lambda counts: counts.total(route).wavefronts),
        Metric(conflicts, "conflicts", lambda counts: counts.total(route).conflicts),
    )


def _lsu(operation: str, route: Route) -> tuple[Metric, ...]:
    return _shared(
        f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{operation}.sum",
        f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{operation}.sum",
        route,
    )


def _bytes(space: str, operation: str, route: Route) -> Metric:
    name = f"smsp__sass_data_bytes_mem_{space}_op_{operation}.sum"
    return Metric(name, "bytes", lambda counts: counts.total(route).used_bytes)


def _requested(space: Space) -> Metric:
    name = f"requested_bytes.{space.name.lower()}"
    return Metric(name, "bytes", lambda counts: counts.space(space).requested_bytes)


COMPARABLE: tuple[Metric, ...] = (
    *_lookups("ld", "global", *_LOADS),
    *_lookups("st", "global", Route.GLOBAL_STORE),
    *_lookups("red", "global", Route.GLOBAL_REDUCTION),
    *_lookups("atom", "global", Route.GLOBAL_ATOMIC),
    *_lookups("ld", "local", Route.LOCAL_LOAD),
    *_lookups("st", "local", Route.LOCAL_STORE),
    *_lsu("ld", Route.SHARED_LOAD),
    *_lsu("st", Route.SHARED_STORE),
    *_lsu("atom", Route.SHARED_ATOMIC),
    *_shared(
        "sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
        "sm__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum",
        Route.SHARED_ASYNC,
    ),
    _bytes("global", "ld", Route.GLOBAL_LOAD),
    _bytes("global", "st", Route.GLOBAL_STORE),
    _bytes("global", "ldgsts", Route.GLOBAL_ASYNC),
    _bytes("shared", "ld", Route.SHARED_LOAD),
    _bytes("shared", "st", Route.SHARED_STORE),
    _bytes("shared", "ldgsts", Route.SHARED_ASYNC),
)
"""Metrics that an H200 reports under the same name with the same value."""

OWN: tuple[Metric, ...] = (
    Metric("ptx.instructions", "warp instructions", lambda counts: counts.instructions),
    Metric("ptx.thread_instructions", "thread instructions", lambda counts: counts.lanes),
    Metric("ptx.lanes_per_instruction", "lanes", lambda counts: round(counts.lanes_per_instruction, 4)),
    Metric("ptx.barriers", "warps", lambda counts: counts.barriers),
    Metric("ptx.tensor_core_instructions", "warp instructions", lambda counts: counts.tensor),
    Metric("tma.bytes_read", "bytes", lambda counts: counts.bulk_read),
    Metric("tma.bytes_written", "bytes", lambda counts: counts.bulk_written),
    *(_requested(space) for space in Space),
    Metric("moved_bytes.global", "bytes", lambda counts: counts.space(Space.GLOBAL).moved_bytes),
    Metric("moved_bytes.local", "bytes", lambda counts: counts.space(Space.LOCAL).moved_bytes),
)
"""Metrics of the simulator only. `ptx.…` count PTX instructions; the hardware executes SASS."""


def _of_route(route: Route) -> tuple[Metric, ...]:
    """Numbers of one route, under our own names: requests, and lines or what the banks do."""
    head, inner = route.value.replace(" ", "_"), ("wavefronts", "conflicts")
    names = inner if route.space is Space.SHARED else ("sectors",)
    shown = {"sectors": "lines", "wavefronts": "passes", "conflicts": "bank_conflicts"}
    counters = ("requests", *names, "lanes", "used_bytes")

    def reader(counter: str) -> Callable[[Counts], Value]:
        return lambda counts: int(getattr(counts.total(route), counter))

    return tuple(
        Metric(
            f"{head}.{shown.get(counter, counter)}",
            shown.get(counter, counter),
            reader(counter),
            model=counter in shown,
        )
        for counter in counters
    )


UNMEASURED: tuple[Metric, ...] = (
    Metric("instructions", "warp instructions", lambda counts: counts.instructions),
    Metric("lanes_per_instruction", "lanes", lambda counts: round(counts.lanes_per_instruction, 4)),
    Metric("barriers", "warps", lambda counts: counts.barriers),
    Metric("matrix_instructions", "warp instructions", lambda counts: counts.tensor),
    *(metric for route in Route for metric in _of_route(route)),
)
"""Metrics of a GPU whose counts no profiler has confirmed, so without the names of one."""


WORK: tuple[WorkMetric, ...] = (
    WorkMetric("busiest_warp", "warp instructions", lambda work: work.busiest),
    WorkMetric("busiest_warp_of_mean", "", lambda work: round(work.of_mean, 4)),
)
"""The balance of a launch, of several launches the least balanced one; named `ptx.…` where PTX is counted."""


def metrics_of(rules: CountingRules) -> tuple[Metric, ...]:
    """The metrics of a GPU's kernels."""
    return (*COMPARABLE, *OWN) if rules.measured else UNMEASURED


def values(counts: Counts, rules: CountingRules) -> dict[str, Value]:
    """Every metric that is not zero, by name."""
    found = {metric.name: metric.read(counts) for metric in metrics_of(rules)}
    return {name: value for name, value in found.items() if value}


STAGES = "tma.stages_in_flight"
"""The depth of a pipeline of bulk copies (`KernelProfile.stages`); kernels without them have none."""


def named_work(work: WarpWork, rules: CountingRules) -> tuple[tuple[str, str, Value], ...]:
    """Name, unit and value of each number of the warps of a kernel."""
    prefix = "ptx." if rules.measured else ""
    return tuple((prefix + metric.name, metric.unit, metric.read(work)) for metric in WORK)


def kernel_values(kernel: KernelProfile) -> dict[str, Value]:
    """Every metric of a kernel that is not zero, by name."""
    work = named_work(kernel.work, kernel.rules)
    found = values(kernel.counts, kernel.rules) | {name: value for name, _, value in work if value}
    return found | ({STAGES: kernel.stages} if kernel.stages else {})
