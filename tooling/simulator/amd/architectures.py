"""The architectures that are simulated, with what differs between them."""

from __future__ import annotations

from enum import IntEnum

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


class HipAttribute(IntEnum):
    """The device attributes that Mojo asks for (hipDeviceAttribute_t of HIP 6, without its prefix)."""

    AsyncEngineCount = 2
    CanMapHostMemory = 3
    ClockRate = 5
    ConcurrentKernels = 8
    CooperativeLaunch = 10
    HostNativeAtomicSupported = 15
    Integrated = 16
    KernelExecTimeout = 18
    L2CacheSize = 19
    ComputeCapabilityMajor = 23
    MaxBlocksPerMultiProcessor = 25
    MaxBlockDimX = 26
    MaxBlockDimY = 27
    MaxBlockDimZ = 28
    MaxGridDimX = 29
    MaxGridDimY = 30
    MaxGridDimZ = 31
    MaxThreadsPerBlock = 56
    MaxThreadsPerMultiProcessor = 57
    MemoryBusWidth = 59
    MemoryClockRate = 60
    ComputeCapabilityMinor = 61
    MultiprocessorCount = 63
    PageableMemoryAccess = 65
    PciBusId = 67
    PciDeviceId = 68
    PciDomainID = 69
    MaxRegistersPerBlock = 71
    MaxRegistersPerMultiprocessor = 72
    MaxSharedMemoryPerBlock = 74
    SharedMemPerBlockOptin = 75
    SharedMemPerMultiprocessor = 76
    TextureAlignment = 81
    TexturePitchAlignment = 82
    UnifiedAddressing = 85
    WarpSize = 87
    MemoryPoolsSupported = 88
    VirtualMemoryManagementSupported = 89
    HostRegisterSupported = 90


def _device(name: str, number: int, lanes: int, units: int, version: tuple[int, int]) -> Device:
    """A device with 64 KiB of LDS for each of its compute units. Its memory clock is unknown (0): AMD's data
    sheets give the bandwidth, and HIP does not define how many transfers a cycle has."""
    threads, shared = 1024, 65536
    it = HipAttribute
    attributes = {
        it.AsyncEngineCount: 1, it.CanMapHostMemory: 1, it.ClockRate: 2100000, it.ConcurrentKernels: 1,
        it.CooperativeLaunch: 1, it.HostNativeAtomicSupported: 0, it.Integrated: 0, it.KernelExecTimeout: 0,
        it.L2CacheSize: 4194304, it.ComputeCapabilityMajor: version[0], it.ComputeCapabilityMinor: version[1],
        it.MaxBlocksPerMultiProcessor: 32,
        it.MaxBlockDimX: MAX_BLOCK[0], it.MaxBlockDimY: MAX_BLOCK[1], it.MaxBlockDimZ: MAX_BLOCK[2],
        it.MaxGridDimX: MAX_GRID[0], it.MaxGridDimY: MAX_GRID[1], it.MaxGridDimZ: MAX_GRID[2],
        it.MaxThreadsPerBlock: threads, it.MaxThreadsPerMultiProcessor: 2048,
        it.MemoryBusWidth: 8192, it.MemoryClockRate: 0, it.MultiprocessorCount: units,
        it.PageableMemoryAccess: 0, it.PciBusId: 0, it.PciDeviceId: 0, it.PciDomainID: 0,
        it.MaxRegistersPerBlock: 65536, it.MaxRegistersPerMultiprocessor: 2 * 65536,
        it.MaxSharedMemoryPerBlock: shared, it.SharedMemPerBlockOptin: shared,
        it.SharedMemPerMultiprocessor: shared, it.TextureAlignment: 256, it.TexturePitchAlignment: 256,
        it.UnifiedAddressing: 1, it.WarpSize: lanes, it.MemoryPoolsSupported: 1,
        it.VirtualMemoryManagementSupported: 0, it.HostRegisterSupported: 1,
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
