"""Theoretical occupancy: the number of blocks of a kernel that fit on a multiprocessor, and what limits it.

The calculation is that of CUDA's occupancy calculator (`cuda_occupancy.h`); the limits are those of the
table "Technical Specifications per Compute Capability" in the CUDA C++ Programming Guide. Registers are
allocated by the assembler (ptxas): PTX does not specify their number. If it is unknown, registers
are left out, and the result is an upper bound (`Occupancy.exact`).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct

from tooling.text import Text

WARP = 32
_REGISTER_UNIT = 256  # registers are allocated to a warp in units of this
_SUBPARTITIONS = 4  # of a multiprocessor; a warp's registers are in one of them
_SHARED_UNIT = 128  # bytes


class Limit(Enum):
    """The resource that limits the number of blocks."""

    WARPS = "warps"
    BLOCKS = "blocks"
    SHARED = "shared memory"
    REGISTERS = "registers"


LIMITS: Mapping[Limit, Text] = {
    Limit.WARPS: Text("the number of warps"),
    Limit.BLOCKS: Text("the number of blocks"),
    Limit.SHARED: Text("shared memory"),
    Limit.REGISTERS: Text("registers"),
}
"""What the resources are called."""


class Multiprocessor(Struct, frozen=True):
    """The resources of a multiprocessor."""

    warps: int
    blocks: int
    shared_bytes: int
    reserved_per_block: int = 1024  # of shared memory, for the driver
    registers: int = 65536


MULTIPROCESSORS: Mapping[tuple[int, int], Multiprocessor] = {
    (8, 0): Multiprocessor(warps=64, blocks=32, shared_bytes=164 * 1024),
    (8, 6): Multiprocessor(warps=48, blocks=16, shared_bytes=100 * 1024),
    (8, 9): Multiprocessor(warps=48, blocks=24, shared_bytes=100 * 1024),
    (9, 0): Multiprocessor(warps=64, blocks=32, shared_bytes=228 * 1024),
    (10, 0): Multiprocessor(warps=64, blocks=32, shared_bytes=228 * 1024),
}
"""By compute capability."""

H200 = MULTIPROCESSORS[9, 0]
"""The multiprocessor that the simulated GPU presents."""


class Occupancy(Struct, frozen=True):
    """The occupancy of a multiprocessor by a kernel.

    Attributes:
        limits: blocks that each resource alone would allow; without REGISTERS if their number is unknown.
        blocks, warps: what fits at a time; fraction: of the multiprocessor's warps.
    """

    limits: Mapping[Limit, int]
    blocks: int
    warps: int
    fraction: float

    @property
    def exact(self) -> bool:
        """Whether registers were taken into account; if not, hardware may hold fewer blocks."""
        return Limit.REGISTERS in self.limits

    @property
    def limited_by(self) -> Limit:
        """The scarcest resource, of equally scarce ones the first."""
        return min(self.limits, key=lambda limit: self.limits[limit])


def theoretical_occupancy(
    threads: int, shared_bytes: int, registers: int | None = None, multiprocessor: Multiprocessor = H200
) -> Occupancy:
    """The occupancy of a kernel.

    Args:
        threads: of a block; shared_bytes: of a block, static and dynamic.
        registers: of a thread, as reported by `ncu` or `ptxas -v`; None: unknown, and not a limit.
    """
    warps = -(-threads // WARP)
    shared = -(-(shared_bytes + multiprocessor.reserved_per_block) // _SHARED_UNIT) * _SHARED_UNIT
    limits = {
        Limit.WARPS: multiprocessor.warps // warps,
        Limit.BLOCKS: multiprocessor.blocks,
        Limit.SHARED: multiprocessor.shared_bytes // shared,
    }
    if registers is not None:
        by_warp = max(1, -(-registers * WARP // _REGISTER_UNIT)) * _REGISTER_UNIT
        held = multiprocessor.registers // _SUBPARTITIONS // by_warp * _SUBPARTITIONS
        limits[Limit.REGISTERS] = held // warps
    blocks = min(limits.values())
    return Occupancy(limits, blocks, blocks * warps, blocks * warps / multiprocessor.warps)
