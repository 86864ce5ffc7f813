"""Initialisation, devices and contexts (CUDA driver API: "Initialization", "Device Management", …)."""

from errors import (
    INVALID_CONTEXT,
    INVALID_DEVICE,
    INVALID_VALUE,
    NOT_INITIALIZED,
    PEER_ACCESS_UNSUPPORTED,
    SUCCESS,
)
from session import CONTEXT, Locked
from wire import NULL, at, put_bytes

comptime DRIVER_VERSION = Int32(13000)
"""CUDA 13.0, which MAX 26.7 is built against."""


@export("cuInit")
def cuInit(flags: UInt32) abi("C") -> Int32:
    """The cuInit of the driver API: connects to the simulator. NO_DEVICE on failure, with the reason on stderr.
    """
    if flags != 0:
        return INVALID_VALUE
    with Locked() as session:
        var status = session[].start()
        if status == SUCCESS:
            session[].initialised = True
        return status


@export("cuDriverGetVersion")
def cuDriverGetVersion(version: UInt64) abi("C") -> Int32:
    """The cuDriverGetVersion of the driver API: 1000 x major + 10 x minor. Works before cuInit.
    """
    if version == NULL:
        return INVALID_VALUE
    at[Int32](version)[] = DRIVER_VERSION
    return SUCCESS


def _put(target: UInt64, value: Int32) -> Int32:
    if target == NULL:
        return INVALID_VALUE
    with Locked() as session:
        if not session[].initialised:
            return NOT_INITIALIZED
        at[Int32](target)[] = value
        return SUCCESS


@export("cuDeviceGet")
def cuDeviceGet(device: UInt64, ordinal: Int32) abi("C") -> Int32:
    """The cuDeviceGet of the driver API: device 0 is the only one."""
    return INVALID_DEVICE if ordinal != 0 else _put(device, 0)


@export("cuDeviceGetCount")
def cuDeviceGetCount(count: UInt64) abi("C") -> Int32:
    """The cuDeviceGetCount of the driver API: one device."""
    return _put(count, 1)


@export("cuDeviceGetName")
def cuDeviceGetName(name: UInt64, size: Int32, device: Int32) abi("C") -> Int32:
    """The cuDeviceGetName of the driver API: a C string, truncated to `size` bytes.
    """
    if name == NULL or size <= 0:
        return INVALID_VALUE
    if device != 0:
        return INVALID_DEVICE
    with Locked() as session:
        if not session[].initialised:
            return NOT_INITIALIZED
        var length = min(Int(size) - 1, len(session[].name))
        put_bytes(name, session[].name, length)
        at[UInt8](name + UInt64(length))[] = 0
        return SUCCESS


@export("cuDeviceGetAttribute")
def cuDeviceGetAttribute(
    value: UInt64, attribute: Int32, device: Int32
) abi("C") -> Int32:
    """The cuDeviceGetAttribute of the driver API; the values come from the simulator (device.py).
    """
    if value == NULL:
        return INVALID_VALUE
    if device != 0:
        return INVALID_DEVICE
    with Locked() as session:
        if not session[].initialised:
            return NOT_INITIALIZED
        var found = session[].attributes.get(UInt32(attribute))
        if not found:
            return INVALID_VALUE
        at[Int32](value)[] = found.value()
        return SUCCESS


@export("cuDeviceCanAccessPeer")
def cuDeviceCanAccessPeer(
    can: UInt64, device: Int32, peer: Int32
) abi("C") -> Int32:
    """The cuDeviceCanAccessPeer of the driver API: no, since there is only one device.
    """
    return INVALID_DEVICE if device != 0 or peer != 0 else _put(can, 0)


@export("cuDevicePrimaryCtxRetain")
def cuDevicePrimaryCtxRetain(context: UInt64, device: Int32) abi("C") -> Int32:
    """The cuDevicePrimaryCtxRetain of the driver API."""
    if context == NULL:
        return INVALID_VALUE
    if device != 0:
        return INVALID_DEVICE
    with Locked() as session:
        if not session[].initialised:
            return NOT_INITIALIZED
        session[].retained += 1
        at[UInt64](context)[] = CONTEXT
        return SUCCESS


@export("cuDevicePrimaryCtxRelease_v2")
def cuDevicePrimaryCtxRelease_v2(device: Int32) abi("C") -> Int32:
    """The cuDevicePrimaryCtxRelease of the driver API; memory stays allocated until the program ends.
    """
    if device != 0:
        return INVALID_DEVICE
    with Locked() as session:
        if not session[].initialised:
            return NOT_INITIALIZED
        if session[].retained == 0:
            return INVALID_CONTEXT
        session[].retained -= 1
        return SUCCESS


@export("cuCtxCreate_v2")
def cuCtxCreate_v2(
    context: UInt64, flags: UInt32, device: Int32
) abi("C") -> Int32:
    """The cuCtxCreate of the driver API: retains the primary context, the only one, and makes it current.
    """
    var status = cuDevicePrimaryCtxRetain(context, device)
    return status if status != SUCCESS else cuCtxPushCurrent(CONTEXT)


@export("cuCtxDestroy")
def cuCtxDestroy(context: UInt64) abi("C") -> Int32:
    """The cuCtxDestroy of the driver API: releases the primary context."""
    return (
        INVALID_CONTEXT if context
        != CONTEXT else cuDevicePrimaryCtxRelease_v2(0)
    )


@export("cuCtxSetCurrent")
def cuCtxSetCurrent(context: UInt64) abi("C") -> Int32:
    """The cuCtxSetCurrent of the driver API: replaces the top of this thread's stack; 0 pops it.
    """
    if context != CONTEXT and context != NULL:
        return INVALID_CONTEXT
    with Locked() as session:
        if not session[].initialised:
            return NOT_INITIALIZED
        var depth = session[].context_depth()
        if context == NULL:
            session[].set_context_depth(depth - min(depth, 1))
        else:
            session[].set_context_depth(max(depth, 1))
        return SUCCESS


@export("cuCtxGetCurrent")
def cuCtxGetCurrent(context: UInt64) abi("C") -> Int32:
    """The cuCtxGetCurrent of the driver API: the context of this thread, or 0.
    """
    if context == NULL:
        return INVALID_VALUE
    with Locked() as session:
        if not session[].initialised:
            return NOT_INITIALIZED
        at[UInt64](context)[] = (
            CONTEXT if session[].context_depth() > 0 else NULL
        )
        return SUCCESS


@export("cuCtxPushCurrent")
def cuCtxPushCurrent(context: UInt64) abi("C") -> Int32:
    """The cuCtxPushCurrent of the driver API."""
    if context != CONTEXT:
        return INVALID_CONTEXT
    with Locked() as session:
        if not session[].initialised:
            return NOT_INITIALIZED
        session[].set_context_depth(session[].context_depth() + 1)
        return SUCCESS


@export("cuCtxPopCurrent")
def cuCtxPopCurrent(context: UInt64) abi("C") -> Int32:
    """The cuCtxPopCurrent of the driver API."""
    with Locked() as session:
        if not session[].initialised:
            return NOT_INITIALIZED
        var depth = session[].context_depth()
        if depth == 0:
            return INVALID_CONTEXT
        session[].set_context_depth(depth - 1)
        if context != NULL:
            at[UInt64](context)[] = CONTEXT
        return SUCCESS


@export("cuCtxGetStreamPriorityRange")
def cuCtxGetStreamPriorityRange(
    least: UInt64, greatest: UInt64
) abi("C") -> Int32:
    """The cuCtxGetStreamPriorityRange of the driver API: 0 to -5, as on an H200; priorities are ignored.
    """
    with Locked() as session:
        var status = session[].ready()
        if status == SUCCESS and least != NULL:
            at[Int32](least)[] = 0
        if status == SUCCESS and greatest != NULL:
            at[Int32](greatest)[] = -5
        return status


@export("cuCtxEnablePeerAccess")
def cuCtxEnablePeerAccess(peer: UInt64, flags: UInt32) abi("C") -> Int32:
    """The cuCtxEnablePeerAccess of the driver API: fails, since a context is not a peer of itself.
    """
    return (
        PEER_ACCESS_UNSUPPORTED if peer == CONTEXT
        and flags == 0 else INVALID_VALUE
    )


@export("cuDeviceGetP2PAttribute")
def cuDeviceGetP2PAttribute(
    value: UInt64, attribute: UInt32, source: Int32, target: Int32
) abi("C") -> Int32:
    """The cuDeviceGetP2PAttribute of the driver API: fails, since there is only one device.
    """
    return INVALID_VALUE if value == NULL else INVALID_DEVICE
