"""Initialisation, the device and errors (HIP runtime API: "Initialization and Version", "Device Management").

HIP has no contexts to create: every thread uses the device at once.
"""

from device import cuDeviceGetAttribute, cuDeviceGetName
from errors import (
    INVALID_CONTEXT,
    INVALID_DEVICE,
    INVALID_VALUE,
    NOT_INITIALIZED,
    SUCCESS,
)
from session import Locked, unsupported
from wire import NULL, at, print_error

comptime _VERSION = Int32(60443484)
"""HIP 6.4."""

comptime _POOL = UInt64(0x52000000)


def connected() -> Int32:
    """Connect to the simulator at the first call, as every HIP function initialises the runtime.
    """
    with Locked() as session:
        session[].implicit_context = True
        var status = session[].start()
        if status == SUCCESS:
            session[].initialised = True
        return status


def _put(target: UInt64, value: Int32) -> Int32:
    if target == NULL:
        return INVALID_VALUE
    at[Int32](target)[] = value
    return SUCCESS


@export("hipInit")
def hipInit(flags: UInt32) abi("C") -> Int32:
    """The hipInit of the runtime API: connects to the simulator."""
    return INVALID_VALUE if flags != 0 else connected()


@export("hipDriverGetVersion")
def hipDriverGetVersion(version: UInt64) abi("C") -> Int32:
    """The hipDriverGetVersion of the runtime API."""
    return _put(version, _VERSION)


@export("hipGetDeviceCount")
def hipGetDeviceCount(count: UInt64) abi("C") -> Int32:
    """The hipGetDeviceCount of the runtime API: one device."""
    var status = connected()
    return status if status != SUCCESS else _put(count, 1)


@export("hipGetDevice")
def hipGetDevice(device: UInt64) abi("C") -> Int32:
    """The hipGetDevice of the runtime API: device 0 is the only one."""
    return _put(device, 0)


@export("hipSetDevice")
def hipSetDevice(device: Int32) abi("C") -> Int32:
    """The hipSetDevice of the runtime API."""
    return SUCCESS if device == 0 else INVALID_DEVICE


@export("hipDeviceGetName")
def hipDeviceGetName(
    name: UInt64, size: Int32, device: Int32
) abi("C") -> Int32:
    """The hipDeviceGetName of the runtime API."""
    var status = connected()
    return status if status != SUCCESS else cuDeviceGetName(name, size, device)


@export("hipDeviceGetAttribute")
def hipDeviceGetAttribute(
    value: UInt64, attribute: Int32, device: Int32
) abi("C") -> Int32:
    """The hipDeviceGetAttribute of the runtime API; the values come from the simulator (amd/device.py).
    """
    var status = connected()
    if status == SUCCESS:
        status = cuDeviceGetAttribute(value, attribute, device)
        if status == INVALID_VALUE:
            print_error(
                String("hipDeviceGetAttribute: unknown attribute ", attribute)
            )
    return status


@export("hipDeviceCanAccessPeer")
def hipDeviceCanAccessPeer(
    can: UInt64, device: Int32, peer: Int32
) abi("C") -> Int32:
    """The hipDeviceCanAccessPeer of the runtime API: no, since there is only one device.
    """
    return INVALID_DEVICE if device != 0 or peer != 0 else _put(can, 0)


@export("hipDeviceEnablePeerAccess")
def hipDeviceEnablePeerAccess(peer: Int32, flags: UInt32) abi("C") -> Int32:
    """The hipDeviceEnablePeerAccess of the runtime API: fails, since there is only one device.
    """
    return INVALID_DEVICE


@export("hipCtxGetCurrent")
def hipCtxGetCurrent(context: UInt64) abi("C") -> Int32:
    """The hipCtxGetCurrent of the runtime API: the one context."""
    if context == NULL:
        return INVALID_VALUE
    at[UInt64](context)[] = UInt64(0x51000000)
    return SUCCESS


@export("hipDeviceGetStreamPriorityRange")
def hipDeviceGetStreamPriorityRange(
    least: UInt64, greatest: UInt64
) abi("C") -> Int32:
    """The hipDeviceGetStreamPriorityRange of the runtime API: priorities are ignored.
    """
    if least != NULL:
        at[Int32](least)[] = 1
    if greatest != NULL:
        at[Int32](greatest)[] = -1
    return SUCCESS


@export("hipDeviceGetDefaultMemPool")
def hipDeviceGetDefaultMemPool(pool: UInt64, device: Int32) abi("C") -> Int32:
    """The hipDeviceGetDefaultMemPool of the runtime API: the only pool."""
    if pool == NULL or device != 0:
        return INVALID_VALUE
    at[UInt64](pool)[] = _POOL
    return SUCCESS


@export("hipMemPoolSetAccess")
def hipMemPoolSetAccess(
    pool: UInt64, descriptions: UInt64, count: UInt64
) abi("C") -> Int32:
    """The hipMemPoolSetAccess of the runtime API: the only device has access.
    """
    return SUCCESS if pool == _POOL else INVALID_VALUE


@export("hipGetLastError")
def hipGetLastError() abi("C") -> Int32:
    """The hipGetLastError of the runtime API: the result of kernels that failed.
    """
    with Locked() as session:
        return session[].fault


struct _Names:
    """The names of the codes that the simulator returns (hipError_t)."""

    @staticmethod
    def of(code: Int32) -> StaticString:
        """`hipErrorInvalidValue` for 1; `hipErrorUnknown` for codes that only CUDA has.
        """
        if code == 0:
            return "hipSuccess"
        if code == 1:
            return "hipErrorInvalidValue"
        if code == 2:
            return "hipErrorOutOfMemory"
        if code == 3:
            return "hipErrorNotInitialized"
        if code == 100:
            return "hipErrorNoDevice"
        if code == 101:
            return "hipErrorInvalidDevice"
        if code == 200:
            return "hipErrorInvalidImage"
        if code == 201:
            return "hipErrorInvalidContext"
        if code == 218:
            return "hipErrorInvalidKernelFile"
        if code == 400:
            return "hipErrorInvalidHandle"
        if code == 500:
            return "hipErrorNotFound"
        if code == 700:
            return "hipErrorIllegalAddress"
        if code == 702:
            return "hipErrorLaunchTimeOut"
        if code == 719:
            return "hipErrorLaunchFailure"
        if code == 801:
            return "hipErrorNotSupported"
        if code == 900:
            return "hipErrorStreamCaptureUnsupported"
        return "hipErrorUnknown"


@export("hipDrvGetErrorName")
def hipDrvGetErrorName(code: Int32, name: UInt64) abi("C") -> Int32:
    """The hipDrvGetErrorName of the runtime API."""
    if name == NULL:
        return INVALID_VALUE
    at[UInt64](name)[] = UInt64(Int(_Names.of(code).unsafe_ptr()))
    return SUCCESS


@export("hipDrvGetErrorString")
def hipDrvGetErrorString(code: Int32, text: UInt64) abi("C") -> Int32:
    """The hipDrvGetErrorString of the runtime API: the name again."""
    return hipDrvGetErrorName(code, text)
