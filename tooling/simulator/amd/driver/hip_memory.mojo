"""Memory (HIP runtime API: "Memory Management"): the requests and copies of the CUDA stand-in."""

from errors import INVALID_VALUE, NOT_FOUND, SUCCESS
from memory import (
    cuMemAllocAsync,
    cuMemAlloc_v2,
    cuMemAllocHost_v2,
    cuMemFreeAsync,
    cuMemFreeHost,
    cuMemFree_v2,
    cuMemGetInfo_v2,
    cuMemHostGetDevicePointer_v2,
    cuMemHostRegister_v2,
    cuMemHostUnregister,
    cuMemcpyDtoDAsync_v2,
    cuMemcpyDtoHAsync_v2,
    cuMemcpyHtoDAsync_v2,
    cuMemsetD16Async,
    cuMemsetD32Async,
    cuMemsetD8Async,
    copy_on_device,
    download,
    fill,
    upload,
)
from session import unsupported
from wire import NULL, copy_bytes

comptime _HOST_TO_HOST = Int32(0)
comptime _HOST_TO_DEVICE = Int32(1)
comptime _DEVICE_TO_HOST = Int32(2)
comptime _DEVICE_TO_DEVICE = Int32(3)


@export("hipMalloc")
def hipMalloc(address: UInt64, size: UInt64) abi("C") -> Int32:
    """The hipMalloc of the runtime API."""
    return cuMemAlloc_v2(address, size)


@export("hipMallocAsync")
def hipMallocAsync(
    address: UInt64, size: UInt64, stream: UInt64
) abi("C") -> Int32:
    """The hipMallocAsync of the runtime API."""
    return cuMemAllocAsync(address, size, stream)


@export("hipFree")
def hipFree(address: UInt64) abi("C") -> Int32:
    """The hipFree of the runtime API."""
    return cuMemFree_v2(address)


@export("hipFreeAsync")
def hipFreeAsync(address: UInt64, stream: UInt64) abi("C") -> Int32:
    """The hipFreeAsync of the runtime API."""
    return cuMemFreeAsync(address, stream)


@export("hipHostMalloc")
def hipHostMalloc(
    pointer: UInt64, size: UInt64, flags: UInt32
) abi("C") -> Int32:
    """The hipHostMalloc of the runtime API: memory with the same address on the device; flags are ignored.
    """
    return cuMemAllocHost_v2(pointer, size)


@export("hipHostFree")
def hipHostFree(pointer: UInt64) abi("C") -> Int32:
    """The hipHostFree of the runtime API."""
    return cuMemFreeHost(pointer)


@export("hipHostGetDevicePointer")
def hipHostGetDevicePointer(
    address: UInt64, pointer: UInt64, flags: UInt32
) abi("C") -> Int32:
    """The hipHostGetDevicePointer of the runtime API."""
    return cuMemHostGetDevicePointer_v2(address, pointer, flags)


@export("hipHostRegister")
def hipHostRegister(
    pointer: UInt64, size: UInt64, flags: UInt32
) abi("C") -> Int32:
    """The hipHostRegister of the runtime API: recorded only."""
    return cuMemHostRegister_v2(pointer, size, flags)


@export("hipHostUnregister")
def hipHostUnregister(pointer: UInt64) abi("C") -> Int32:
    """The hipHostUnregister of the runtime API."""
    return cuMemHostUnregister(pointer)


@export("hipMemGetInfo")
def hipMemGetInfo(free: UInt64, total: UInt64) abi("C") -> Int32:
    """The hipMemGetInfo of the runtime API, in bytes."""
    return cuMemGetInfo_v2(free, total)


@export("hipMemcpy")
def hipMemcpy(
    destination: UInt64, source: UInt64, size: UInt64, kind: Int32
) abi("C") -> Int32:
    """The hipMemcpy of the runtime API, where the kind names the direction."""
    if kind == _HOST_TO_HOST:
        copy_bytes(destination, source, Int(size))
        return SUCCESS
    if kind == _HOST_TO_DEVICE:
        return upload(destination, source, size, False)
    if kind == _DEVICE_TO_HOST:
        return download(destination, source, size, False)
    if kind == _DEVICE_TO_DEVICE:
        return copy_on_device(destination, source, size)
    return unsupported("hipMemcpy", "the direction must be named")


@export("hipMemcpyHtoD")
def hipMemcpyHtoD(
    destination: UInt64, source: UInt64, size: UInt64
) abi("C") -> Int32:
    """The hipMemcpyHtoD of the runtime API."""
    return upload(destination, source, size, False)


@export("hipMemcpyHtoDAsync")
def hipMemcpyHtoDAsync(
    destination: UInt64, source: UInt64, size: UInt64, stream: UInt64
) abi("C") -> Int32:
    """The hipMemcpyHtoDAsync of the runtime API."""
    return cuMemcpyHtoDAsync_v2(destination, source, size, stream)


@export("hipMemcpyDtoH")
def hipMemcpyDtoH(
    destination: UInt64, source: UInt64, size: UInt64
) abi("C") -> Int32:
    """The hipMemcpyDtoH of the runtime API."""
    return download(destination, source, size, False)


@export("hipMemcpyDtoHAsync")
def hipMemcpyDtoHAsync(
    destination: UInt64, source: UInt64, size: UInt64, stream: UInt64
) abi("C") -> Int32:
    """The hipMemcpyDtoHAsync of the runtime API."""
    return cuMemcpyDtoHAsync_v2(destination, source, size, stream)


@export("hipMemcpyDtoD")
def hipMemcpyDtoD(
    destination: UInt64, source: UInt64, size: UInt64
) abi("C") -> Int32:
    """The hipMemcpyDtoD of the runtime API."""
    return copy_on_device(destination, source, size)


@export("hipMemcpyDtoDAsync")
def hipMemcpyDtoDAsync(
    destination: UInt64, source: UInt64, size: UInt64, stream: UInt64
) abi("C") -> Int32:
    """The hipMemcpyDtoDAsync of the runtime API."""
    return cuMemcpyDtoDAsync_v2(destination, source, size, stream)


@export("hipMemset")
def hipMemset(address: UInt64, value: Int32, size: UInt64) abi("C") -> Int32:
    """The hipMemset of the runtime API: the low byte of `value`."""
    return fill[DType.uint8](address, UInt8(value & 255), size, 1, 0)


@export("hipMemset2D")
def hipMemset2D(
    address: UInt64, pitch: UInt64, value: Int32, width: UInt64, height: UInt64
) abi("C") -> Int32:
    """The hipMemset2D of the runtime API: `height` rows of `width` bytes."""
    return fill[DType.uint8](address, UInt8(value & 255), width, height, pitch)


@export("hipMemset2DAsync")
def hipMemset2DAsync(
    address: UInt64,
    pitch: UInt64,
    value: Int32,
    width: UInt64,
    height: UInt64,
    stream: UInt64,
) abi("C") -> Int32:
    """The hipMemset2DAsync of the runtime API; captures are not supported."""
    return hipMemset2D(address, pitch, value, width, height)


@export("hipMemsetD8")
def hipMemsetD8(address: UInt64, value: UInt8, count: UInt64) abi("C") -> Int32:
    """The hipMemsetD8 of the runtime API."""
    return fill[DType.uint8](address, value, count, 1, 0)


@export("hipMemsetD8Async")
def hipMemsetD8Async(
    address: UInt64, value: UInt8, count: UInt64, stream: UInt64
) abi("C") -> Int32:
    """The hipMemsetD8Async of the runtime API."""
    return cuMemsetD8Async(address, value, count, stream)


@export("hipMemsetD16")
def hipMemsetD16(
    address: UInt64, value: UInt16, count: UInt64
) abi("C") -> Int32:
    """The hipMemsetD16 of the runtime API."""
    return fill[DType.uint16](address, value, count, 1, 0)


@export("hipMemsetD16Async")
def hipMemsetD16Async(
    address: UInt64, value: UInt16, count: UInt64, stream: UInt64
) abi("C") -> Int32:
    """The hipMemsetD16Async of the runtime API."""
    return cuMemsetD16Async(address, value, count, stream)


@export("hipMemsetD32")
def hipMemsetD32(
    address: UInt64, value: UInt32, count: UInt64
) abi("C") -> Int32:
    """The hipMemsetD32 of the runtime API."""
    return fill[DType.uint32](address, value, count, 1, 0)


@export("hipMemsetD32Async")
def hipMemsetD32Async(
    address: UInt64, value: UInt32, count: UInt64, stream: UInt64
) abi("C") -> Int32:
    """The hipMemsetD32Async of the runtime API."""
    return cuMemsetD32Async(address, value, count, stream)
