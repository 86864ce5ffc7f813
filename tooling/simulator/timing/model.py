"""Demands to shares of each limit and a time.

A multiprocessor is a closed queueing network (mean value analysis): its customers are the resident warps, its
stations the busiest unit of the multiprocessor and the memory, with the latency of a warp as the delay
between them. The grid's blocks go through in waves, and cannot start faster than blocks start.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from statistics import fmean

from msgspec import Struct

from tooling.simulator.timing.parameters import Parameters, between
from tooling.simulator.timing.work import Work

CONTENDED_SHARE = 0.15
"""Share of atomic operations whose time was not measured from which on nothing is estimated."""
_FEW_WAVES = 6
_PORT = 64.0  # bytes per cycle between a multiprocessor and the second level


class Limit(Enum):
    """What may limit a launch; the value is its name in the JSON document."""

    LAUNCH = "launch"
    START = "start of blocks"
    ISSUE = "issue"
    LATENCY = "latency"
    SHARED = "shared memory"
    FIRST_LEVEL = "L1"
    SECOND_LEVEL = "L2"
    MEMORY = "DRAM"
    TENSOR = "tensor"
    ATOMICS = "atomics"


class Estimate(Struct, frozen=True):
    """The time of a launch.

    Attributes:
        microseconds: before the range is known.
        shares: of the time that each limit alone would take, by limit; latency: with the resident warps.
    """

    microseconds: float
    shares: dict[Limit, float]

    @property
    def binding(self) -> Limit:
        """The limit with the largest share."""
        return max(self.shares, key=lambda limit: self.shares[limit])


def together(estimates: Sequence[Estimate]) -> Estimate:
    """The estimate of a grid from those of its places, each of which takes all blocks to be like its own."""
    return Estimate(
        fmean(each.microseconds for each in estimates),
        {limit: fmean(each.shares[limit] for each in estimates) for limit in estimates[0].shares},
    )


def memory_nanoseconds(work: Work, parameters: Parameters) -> float:
    """The time of device memory for a launch.

    A benchmark leaves the second-level cache full of written lines. A launch that reads has to make room,
    so that these lines are written to memory; what it writes itself stays in the cache in their place.
    """
    read = work.read * (1 + work.alone * (parameters.sparse - 1)) / parameters.read
    written = work.written / parameters.write
    if not read + written:
        return 0.0
    together = 2 / parameters.copy / (1 / parameters.read + 1 / parameters.write)
    mixed = min(read, written) / max(read, written)
    dirty = 1000 * parameters.ramp * parameters.write  # bytes
    evicted = max(0.0, min(work.read + work.written, dirty) - min(work.written, dirty))
    return (read + written) * (1 + (together - 1) * mixed) + evicted / parameters.write


def estimate(work: Work, parameters: Parameters) -> Estimate:
    """The time of a launch, and the shares of its limits."""
    clock = parameters.clock
    active = min(work.blocks, parameters.multiprocessors)
    per_multiprocessor = work.blocks / active
    dram = memory_nanoseconds(work, parameters)
    second_level = work.second_level * work.blocks
    units = {unit: cycles / clock for unit, cycles in work.cycles.items()}  # nanoseconds
    own = max(units.values())
    # What all multiprocessors share, as the time of one of them for one block.
    port = (work.sectors + work.written) / work.blocks / _PORT / clock
    memory = max(dram / work.blocks, work.second_level) * active
    memory = max(memory, port)
    latency = work.latency / clock
    resident = min(work.resident, -(-work.blocks // active))

    start = between(parameters.start, work.warps)
    shared = (memory, start * active)
    # Warps that start together, or that a barrier holds together, ask for the same unit at the same time: a
    # block waits and works in turn. After many waits of their own, some warps work while others wait.
    phases = max(1.0, work.latency / work.longest / (1 + work.barriers))

    def response(blocks: float) -> float:
        """Nanoseconds until a block ends, with so many on each multiprocessor."""
        in_turn = _response(blocks, (own, *shared), latency)
        at_once = max(_response(blocks, shared, latency), blocks * own)
        return (in_turn + (phases - 1) * at_once) / phases

    waves = per_multiprocessor / resident
    if waves <= 1:
        body = response(per_multiprocessor)
    elif waves < _FEW_WAVES:
        rest = -(-work.blocks // active) - int(waves) * resident
        body = int(waves) * response(resident) + (response(rest) if rest else 0.0)
    else:
        body = waves * response(resident)
    start *= work.blocks
    nanoseconds = max(start, body, work.atomics) + 1000 * parameters.launch
    alone = {
        Limit.LAUNCH: 1000 * parameters.launch,
        Limit.START: start,
        Limit.ISSUE: units["issue"] * per_multiprocessor,
        Limit.LATENCY: max(1.0, waves) * latency,
        Limit.SHARED: units["shared"] * per_multiprocessor,
        Limit.FIRST_LEVEL: units["first_level"] * per_multiprocessor,
        Limit.SECOND_LEVEL: max(second_level, port * per_multiprocessor),
        Limit.MEMORY: dram,
        Limit.TENSOR: units["tensor"] * per_multiprocessor,
        Limit.ATOMICS: work.atomics,
    }
    shares = {limit: min(1.0, part / nanoseconds) for limit, part in alone.items()}
    return Estimate(nanoseconds / 1000, shares)


def _response(customers: float, stations: Sequence[float], delay: float) -> float:
    """The time that a customer takes for one round, by mean value analysis.

    Args:
        stations: service times; delay: what a customer takes without waiting for others.
    """
    queues = [0.0] * len(stations)
    total = delay + sum(stations)
    for present in range(1, max(1, round(customers)) + 1):
        at = [service * (1 + queue) for service, queue in zip(stations, queues, strict=True)]
        total = delay + sum(at)
        queues = [present * each / total for each in at]
    return total
