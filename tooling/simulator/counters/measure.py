"""The cost of the requests of one instruction, by the rules of `sectors` and `banks`."""

from __future__ import annotations

from tooling.simulator.counters.banks import Service, count_wavefronts
from tooling.simulator.counters.sectors import (
    SECTOR,
    atomic_sectors,
    global_sectors,
    local_sectors,
    used_bytes,
)
from tooling.simulator.counters.traffic import Route, Traffic
from tooling.simulator.counters.warp_rows import NONE
from tooling.simulator.gpu.hooks import Ints, Space
from tooling.simulator.program.counting import CountingRules


def measure(
    rows: Ints, width: int, route: Route, service: Service | None, rules: CountingRules | None = None
) -> tuple[Traffic, Ints]:
    """Sums over the requests, and the cost of each: wavefronts in shared memory, sectors elsewhere.

    Args:
        rows: (w, lanes) addresses or offsets, NONE for absent lanes; each row has an active lane.
        width: bytes per lane.
        service: how banks serve the lanes; for shared memory only.
        rules: of the GPU; None: those that were measured on an H200.
    """
    line = rules.line_bytes if rules else SECTOR
    lanes = int((rows != NONE).sum())
    traffic = Traffic(requests=len(rows), lanes=lanes, requested_bytes=lanes * width, line_bytes=line)
    if service is not None:
        passes = rules.bank_passes if rules else None
        order = passes(width, service is Service.STORE) if passes else None
        fronts = count_wavefronts(rows, width, service, order)
        traffic.used_bytes = int(used_bytes(rows, width).sum())
        traffic.wavefronts = int(fronts.wavefronts.sum())
        traffic.conflicts = int(fronts.conflicts.sum())
        return traffic, fronts.wavefronts
    if route.space is Space.LOCAL:
        traffic.used_bytes = traffic.requested_bytes  # every thread has a window of its own
        cost = local_sectors(rows, width, line)
    else:
        traffic.used_bytes = int(used_bytes(rows, width).sum())
        atomic = route in (Route.GLOBAL_REDUCTION, Route.GLOBAL_ATOMIC)
        rounds = atomic and (rules is None or rules.atomics_in_rounds)
        cost = atomic_sectors(rows) if rounds else global_sectors(rows, line)
    traffic.sectors = int(cost.sum())
    return traffic, cost
