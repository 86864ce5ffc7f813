"""The checks of a run, by name."""

from __future__ import annotations

from collections.abc import Iterable

from tooling.simulator.checks.base import CheckHook
from tooling.simulator.checks.bulk_copies import BulkCopyCheck
from tooling.simulator.checks.device_order import DeviceRaceCheck
from tooling.simulator.checks.findings import Check
from tooling.simulator.checks.footprint import Footprints
from tooling.simulator.checks.host_order import HostOrderCheck
from tooling.simulator.checks.initialisation import InitialisationCheck
from tooling.simulator.checks.memory import MemoryCheck
from tooling.simulator.checks.races import RaceCheck
from tooling.simulator.checks.synchronisation import SynchronisationCheck


def make_checks(
    names: Iterable[str] = tuple(Check),
    footprints: Footprints | None = None,
    *,
    unused_memory: bool = False,
    host_order: bool = False,
    gpus: int = 1,
) -> tuple[CheckHook, ...]:
    """Fresh checks for one program, in the order in which the engine must call them.

    The memory check comes first: it suppresses faulty lanes before the other checks see them.

    Args:
        footprints: shared with other hooks of the program; by default, the checks have their own.
        unused_memory: whether the initialisation check reports memory that was never written.
        host_order: whether the order of the host and of streams is checked also without the other races.
        gpus: the number of GPUs that the program has.

    Raises:
        ValueError: an unknown name.
    """
    wanted = {Check(name) for name in names}
    footprints = footprints or Footprints()
    checks: list[CheckHook] = []
    if Check.MEMORY in wanted:
        checks.append(MemoryCheck(footprints))
    if Check.INITIALISATION in wanted:
        checks.append(InitialisationCheck(footprints, unused_memory=unused_memory))
    if Check.RACES in wanted:
        bulk_copies = BulkCopyCheck()
        order = HostOrderCheck(footprints)
        checks += (bulk_copies, RaceCheck(footprints, bulk_copies), order)
        if gpus > 1:
            checks.append(DeviceRaceCheck(footprints, order))
    elif host_order:
        checks.append(HostOrderCheck(footprints))
    if Check.SYNCHRONISATION in wanted:
        checks.append(SynchronisationCheck())
    return tuple(checks)
