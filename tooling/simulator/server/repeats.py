"""Launches that would do again what an earlier launch did: a benchmark makes hundreds of them.

A launch has the effect of an earlier one, byte for byte, if it has the same kernel, shape and parameters, and
no byte of a buffer that the earlier one accessed has changed since. That is certain if the earlier one wrote
no buffer that it read, used no atomic operation on global memory and no host memory, printed nothing and had
no finding; and if since then the host used no memory and no other launch wrote these buffers. The simulation
skips such a launch, and the run's summary counts it.

The second launch of a kind is watched, so a program that repeats nothing only pays for a look-up.
"""

from __future__ import annotations

from collections.abc import Hashable

from msgspec import Struct
from msgspec.structs import replace

from tooling.simulator.checks.footprint import Footprints
from tooling.simulator.gpu.code_model import Module
from tooling.simulator.gpu.device_memory import Allocation, DeviceMemory
from tooling.simulator.gpu.hooks import Access, AccessKind, Hook, LaunchContext, Space
from tooling.simulator.gpu.launch import Launch, LaunchResult

_MOST_REMEMBERED = 1024


class _Effect(Struct, frozen=True):
    """The bases of the buffers that a launch read and wrote, and the result of a launch that repeats it."""

    read: frozenset[int]
    written: frozenset[int]
    result: LaunchResult


class Repeats(Hook):
    """Remembers the effects of launches.

    The host's operations on memory must always be reported to it, the accesses of a launch only where
    `to_be_watched` says so.
    """

    def __init__(self, footprints: Footprints) -> None:
        self._footprints = footprints
        self._launched: set[Hashable] = set()
        self._effects: dict[Hashable, _Effect] = {}
        self._memory: DeviceMemory | None = None
        self._read: set[int] = set()
        self._written: set[int] = set()
        self._repeatable = True

    def result_of(self, launch: Launch, module: Module) -> LaunchResult | None:
        """The result of the earlier launch that this one repeats; None if it has to be simulated."""
        effect = self._effects.get(_kind(launch, module))
        return None if effect is None else effect.result

    def to_be_watched(self, launch: Launch, module: Module) -> bool:
        """Whether such a launch was made since the host last used memory."""
        return _kind(launch, module) in self._launched

    def ended(
        self, launch: Launch, module: Module, result: LaunchResult, *, watched: bool, quiet: bool
    ) -> None:
        """A launch was simulated.

        Args:
            watched: whether its accesses were reported.
            quiet: it printed nothing and has no finding.
        """
        kind = _kind(launch, module)
        if len(self._launched) >= _MOST_REMEMBERED:
            self._forget()
        self._launched.add(kind)
        if not watched or not self._repeatable:
            self._effects.clear()
            return
        self._effects = {
            other: effect
            for other, effect in self._effects.items()
            if self._written.isdisjoint(effect.read | effect.written)
        }
        if quiet and result.error is None and self._read.isdisjoint(self._written):
            same = replace(result, seconds=0.0, processor_seconds=0.0, repeated=True)
            self._effects[kind] = _Effect(frozenset(self._read), frozenset(self._written), same)

    # -- the accesses of a launch that is watched ----------------------------------------------------

    def launch_begin(self, context: LaunchContext) -> None:
        self._memory = context.memory
        self._read, self._written, self._repeatable = set(), set(), True

    def access(self, access: Access) -> None:
        if access.space is not Space.GLOBAL or not self._repeatable or self._memory is None:
            return
        footprint = self._footprints.of(access, self._memory)
        if access.kind is AccessKind.ATOMIC or footprint.out_of_bounds is not None:
            self._repeatable = False
            return
        for piece in footprint.pieces:
            allocation, load = piece.allocation, access.kind is AccessKind.LOAD
            if allocation.internal and load:  # a parameter, or a variable that nobody has changed
                continue
            if allocation.host or allocation.mapped or allocation.internal or not allocation.live:
                self._repeatable = False
            (self._read if load else self._written).add(allocation.base)

    # -- the host's operations on memory -------------------------------------------------------------

    def _forget(self) -> None:
        self._launched.clear()
        self._effects.clear()

    def allocate(self, allocation: Allocation) -> None:
        self._forget()

    def free(self, allocation: Allocation) -> None:
        self._forget()

    def drop(self, physical_address: int) -> None:
        self._forget()

    def host_write(self, memory: DeviceMemory, address: int, size: int) -> None:
        self._forget()


def _kind(launch: Launch, module: Module) -> Hashable:
    return (
        module.digest,
        launch.function.name,
        launch.grid,
        launch.block,
        launch.cluster,
        launch.explicit_cluster,
        launch.shared_bytes,
        launch.parameters,
    )
