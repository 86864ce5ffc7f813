"""What goes over the links between GPUs: bytes of loads, stores and copies by direction, and atomic
operations.

Bytes are those that the lanes ask for. Hardware moves whole sectors of 32 bytes, and caches none of a peer's
memory in the L2 cache of the GPU that reads it, so that a link may carry more.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from tooling.simulator.checks.base import survivors
from tooling.simulator.checks.footprint import Footprints
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.hooks import Access, AccessKind, Hook, LaunchContext, Space


class LinkTraffic(Struct):
    """What a GPU's kernels and the copies from it do to another GPU's memory.

    Attributes:
        loaded, stored: bytes of loads from there and of stores to there.
        copied: bytes of copies to there.
        atomics: atomic operations there, one for each lane.
    """

    loaded: int = 0
    stored: int = 0
    copied: int = 0
    atomics: int = 0


Links = dict[tuple[int, int], LinkTraffic]
"""By the GPU that acts, and the GPU whose memory it is."""


class LinkHook(Hook):
    """Counts the traffic between the GPUs of one program. Put it after the memory check.

    Attributes:
        links: the traffic so far.
    """

    def __init__(self, footprints: Footprints) -> None:
        self.links: Links = {}
        self._footprints = footprints
        self._context: LaunchContext | None = None

    def launch_begin(self, context: LaunchContext) -> None:
        self._context = context

    def access(self, access: Access) -> None:
        context = self._context
        if access.space is not Space.GLOBAL or context is None:
            return
        access, device = survivors(access), context.launch.device
        for piece in self._footprints.of(access, context.memory).pieces:
            if piece.allocation.host or piece.allocation.device == device:
                continue
            traffic = self._between(device, piece.allocation.device)
            lanes = len(piece.access.threads)
            if access.kind is AccessKind.ATOMIC:
                traffic.atomics += lanes
            elif access.kind is AccessKind.LOAD:
                traffic.loaded += lanes * access.bytes
            else:
                traffic.stored += lanes * access.bytes

    def device_copy(self, memory: DeviceMemory, address: int, source: int, size: int) -> None:
        target, origin = memory.containing(address), memory.containing(source)
        if target is not None and origin is not None and target.device != origin.device:
            self._between(origin.device, target.device).copied += size

    def _between(self, device: int, owner: int) -> LinkTraffic:
        return self.links.setdefault((device, owner), LinkTraffic())


def merged_links(every: Iterable[Links]) -> Links:
    """The traffic of all programs of a run."""
    found: Links = {}
    for links in every:
        for pair, traffic in links.items():
            total = found.setdefault(pair, LinkTraffic())
            for name in LinkTraffic.__struct_fields__:
                setattr(total, name, getattr(total, name) + getattr(traffic, name))
    return dict(sorted(found.items()))
