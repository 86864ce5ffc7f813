"""Counts by instruction: warp instructions issued, and traffic by route."""

from __future__ import annotations

from collections import defaultdict
from enum import Enum

from msgspec import Struct, field

from tooling.simulator.counters.sectors import SECTOR
from tooling.simulator.gpu.hooks import Space


class Route(Enum):
    """The memory and kind of an access."""

    GLOBAL_LOAD = "global load"
    GLOBAL_STORE = "global store"
    GLOBAL_REDUCTION = "global reduction"
    GLOBAL_ATOMIC = "global atomic"
    GLOBAL_ASYNC = "global asynchronous copy"
    SHARED_LOAD = "shared load"
    SHARED_STORE = "shared store"
    SHARED_ATOMIC = "shared atomic"
    SHARED_ASYNC = "shared asynchronous copy"
    LOCAL_LOAD = "local load"
    LOCAL_STORE = "local store"

    @property
    def space(self) -> Space:
        """The memory it goes to."""
        return Space[self.name.partition("_")[0]]


class Traffic(Struct):
    """Sums over requests; a request is one instruction of one warp.

    Attributes:
        sectors: 32-byte sectors looked up, or lines of `line_bytes` (global and local memory).
        wavefronts, conflicts: wavefronts, and those due to bank conflicts (shared memory).
        lanes: active threads.
        requested_bytes: lanes times bytes per lane.
        used_bytes: the same, but bytes that lanes of a request share count once.
    """

    requests: int = 0
    sectors: int = 0
    wavefronts: int = 0
    conflicts: int = 0
    lanes: int = 0
    requested_bytes: int = 0
    used_bytes: int = 0
    line_bytes: int = SECTOR

    def add(self, other: Traffic) -> None:
        """Add another sum to this one."""
        self.line_bytes = other.line_bytes
        for counter in self.__struct_fields__[:-1]:
            setattr(self, counter, getattr(self, counter) + getattr(other, counter))

    @property
    def moved_bytes(self) -> int:
        """Bytes of the sectors that were looked up."""
        return self.sectors * self.line_bytes

    @property
    def sectors_per_request(self) -> float:
        """0 without requests."""
        return self.sectors / self.requests if self.requests else 0.0

    @property
    def use(self) -> float:
        """Share of the moved bytes that some lane asked for; 1 where nothing moved."""
        return self.used_bytes / self.moved_bytes if self.sectors else 1.0

    @property
    def ways(self) -> float:
        """Wavefronts per unavoidable wavefront: 1 without bank conflicts."""
        needed = self.wavefronts - self.conflicts
        return self.wavefronts / needed if needed else 1.0


class Counts(Struct):
    """Everything counted for an instruction, a line or a kernel.

    Attributes:
        instructions: instructions issued, once per warp.
        lanes: the same, once per active lane.
        barriers: warps that arrived at a barrier of their block or cluster.
        tensor: matrix products on tensor cores (mma, wmma.mma, wgmma.mma_async), once per warp.
        bulk_read, bulk_written: bytes of global memory that bulk copies (PTX ISA 9.7.9.25.5) read and write.
            The tensor memory accelerator performs them, so they are in none of the routes.
    """

    instructions: int = 0
    lanes: int = 0
    barriers: int = 0
    tensor: int = 0
    bulk_read: int = 0
    bulk_written: int = 0
    routes: dict[Route, Traffic] = field(default_factory=lambda: defaultdict(Traffic))

    def add(self, other: Counts) -> None:
        """Add another sum to this one."""
        self.instructions += other.instructions
        self.lanes += other.lanes
        self.barriers += other.barriers
        self.tensor += other.tensor
        self.bulk_read += other.bulk_read
        self.bulk_written += other.bulk_written
        for route, traffic in other.routes.items():
            self.routes[route].add(traffic)

    @property
    def lanes_per_instruction(self) -> float:
        """Active lanes per warp instruction, all without divergence and in full warps; 0 when none ran."""
        return self.lanes / self.instructions if self.instructions else 0.0

    def total(self, *routes: Route) -> Traffic:
        """The sum over some routes."""
        whole = Traffic()
        for route in routes:
            if route in self.routes:
                whole.add(self.routes[route])
        return whole

    def space(self, space: Space) -> Traffic:
        """The sum over all routes of a memory."""
        return self.total(*(route for route in Route if route.space is space))
