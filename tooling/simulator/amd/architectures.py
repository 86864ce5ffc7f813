"""The architectures that are simulated, with what differs between them."""

from __future__ import annotations

from msgspec import Struct

from tooling.simulator.program.backend import Device

MEMORY_BYTES = 16 << 30
"""Device memory reported. MAX derives the size of its staging pools from it; unused memory costs nothing."""

MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_BLOCK = (1024, 1024, 1024)
ARCHITECTURE_NUMBER = 0xFFFF
"""The attribute under which the HSA stand-in finds the number in the architecture's name."""


class Architecture(Struct, frozen=True):
    """One architecture.

    Attributes:
        name: as `mojo build --target-accelerator` takes it.
        machine: EF_AMDGPU_MACH of its code objects (LLVM AMDGPU User Guide, "ELF Code Object").
        lanes: of a wavefront.
        device: as HIP describes it.
        zeroes_high: a 16-bit result of a vector instruction sets the upper half of its register to zero.
    """

    name: str
    machine: int
    lanes: int
    device: Device
    zeroes_high: bool


def _device(name: str, number: int, lanes: int, units: int, version: tuple[int, int]) -> Device:
    """The attributes that Mojo asks for, by hipDeviceAttribute_t (HIP 6)."""
    threads, shared = 1024, 65536
    attributes = {
        2: 1, 3: 1, 5: 2100000, 8: 1, 10: 1, 15: 0, 16: 0, 18: 0, 19: 4194304, 23: version[0], 25: 32,
        26: MAX_BLOCK[0], 27: MAX_BLOCK[1], 28: MAX_BLOCK[2],
        29: MAX_GRID[0], 30: MAX_GRID[1], 31: MAX_GRID[2],
        56: threads, 57: 2048, 59: 8192, 60: 2525000, 61: version[1], 63: units, 65: 0, 67: 0, 68: 0, 69: 0,
        71: 65536, 72: 65536 * 2, 74: shared, 75: shared, 76: shared, 81: 256, 82: 256, 85: 1, 87: lanes,
        88: 1, 89: 0, 90: 1,
        ARCHITECTURE_NUMBER: number,
    }  # fmt: skip
    return Device(name, MEMORY_BYTES, attributes, lanes, threads, shared, lockstep=True)


GFX942 = Architecture(
    "gfx942", 0x4C, 64, _device("Simulated AMD Instinct MI300X", 942, 64, 304, (9, 4)), zeroes_high=True
)
GFX1100 = Architecture(
    "gfx1100", 0x41, 32, _device("Simulated AMD Radeon RX 7900 XTX", 1100, 32, 96, (11, 0)), zeroes_high=False
)
ARCHITECTURES = {one.name: one for one in (GFX942, GFX1100)}
