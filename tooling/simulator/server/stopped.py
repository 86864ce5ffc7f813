"""The kernel that a simulation stopped: which one, where, and why."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tooling.simulator.checks.base import is_packaged, place_of
from tooling.simulator.checks.findings import Index3, Place
from tooling.simulator.counters.profile import Line
from tooling.simulator.counters.sources import source_text
from tooling.simulator.gpu.kernel_names import readable_kernel
from tooling.simulator.gpu.launch import FaultKind, KernelFault
from tooling.simulator.server.context import LaunchRecord
from tooling.text import Text


class StoppedKernel(Struct, frozen=True):
    """A kernel that did not come to its end.

    Attributes:
        name: as its author wrote it.
        place: the line that was executed then; its number is 0 where nobody knows.
        text: of that line; empty where it cannot be read.
        thread, block: who was there; None where no single thread is meant.
        kind, why: the reason.
    """

    name: str
    place: Place
    text: str
    thread: Index3 | None
    block: Index3 | None
    kind: FaultKind
    why: Text


def stopped_kernel(records: Sequence[LaunchRecord]) -> StoppedKernel | None:
    """The first of these launches that was stopped, or None."""
    for record in records:
        fault = record.result.error
        if fault is None:
            continue
        place = _authors_place(fault)
        block = thread = None
        if fault.thread >= 0:
            first, second = record.launch.position(fault.thread)
            block, thread = (first.x, first.y, first.z), (second.x, second.y, second.z)
        return StoppedKernel(
            readable_kernel(record.launch.function.name, record.module.files.values()),
            place,
            source_text(Line(place.file, place.line)),
            thread,
            block,
            fault.kind,
            fault.told,
        )
    return None


def _authors_place(fault: KernelFault) -> Place:
    """Where the kernel was stopped: in a function of Mojo's packages, where its author called that."""
    places = [place_of(instruction) for instruction in (fault.instruction, *fault.callers)]
    return next((place for place in places if not is_packaged(place.file)), places[0])
