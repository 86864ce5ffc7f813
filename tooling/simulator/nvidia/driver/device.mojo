"""Initialisation, devices and contexts (CUDA driver API: "Initialization", "Device Management", …)."""

import protocol
from errors import (
    INVALID_CONTEXT,
    INVALID_DEVICE,
    INVALID_VALUE,
    NOT_INITIALIZED,
    OUT_OF_MEMORY,
    PEER_ACCESS_ALREADY_ENABLED,
    PEER_ACCESS_UNSUPPORTED,
    SUCCESS,
)
from session import CONTEXT, Locked, the_session
from wire import NULL, Body, at, put_bytes

comptime PCI_DEVICE_ATTRIBUTE = Int32(34)
"""CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID: differs between devices, by which MAX recognises them."""

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
    """The cuDeviceGet of the driver API: devices are numbered from 0."""
    with Locked() as session:
        if not session[].is_device(ordinal):
            if session[].initialised and ordinal > 0:
                session[].lack_device(ordinal)
            return INVALID_DEVICE
    return _put(device, ordinal)


@export("cuDeviceGetCount")
def cuDeviceGetCount(count: UInt64) abi("C") -> Int32:
    """The cuDeviceGetCount of the driver API: what the simulator was started with.
    """
    return _put(count, the_session()[].devices)


@export("cuDeviceGetName")
def cuDeviceGetName(name: UInt64, size: Int32, device: Int32) abi("C") -> Int32:
    """The cuDeviceGetName of the driver API: a C string, truncated to `size` bytes.
    """
    if name == NULL or size <= 0:
        return INVALID_VALUE
    with Locked() as session:
        if not session[].is_device(device):
            return INVALID_DEVICE
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
    with Locked() as session:
        if not session[].is_device(device):
            return INVALID_DEVICE
        if not session[].initialised:
            return NOT_INITIALIZED
        var found = session[].attributes.get(UInt32(attribute))
        if not found:
            return INVALID_VALUE
        var number = found.value()
        if attribute == PCI_DEVICE_ATTRIBUTE:
            number += device
        at[Int32](value)[] = number
        return SUCCESS


@export("cuDeviceCanAccessPeer")
def cuDeviceCanAccessPeer(
    can: UInt64, device: Int32, peer: Int32
) abi("C") -> Int32:
    """The cuDeviceCanAccessPeer of the driver API: every device can access every other one, as over NVLink.
    """
    with Locked() as session:
        if not session[].is_device(device) or not session[].is_device(peer):
            return INVALID_DEVICE
    return _put(can, Int32(1) if device != peer else Int32(0))


@export("cuDevicePrimaryCtxRetain")
def cuDevicePrimaryCtxRetain(context: UInt64, device: Int32) abi("C") -> Int32:
    """The cuDevicePrimaryCtxRetain of the driver API."""
    if context == NULL:
        return INVALID_VALUE
    with Locked() as session:
        if not session[].is_device(device):
            return INVALID_DEVICE
        if not session[].initialised:
            return NOT_INITIALIZED
        session[].retained[device] = session[].retained.get(device, 0) + 1
        at[UInt64](context)[] = CONTEXT + UInt64(device)
        return SUCCESS


@export("cuDevicePrimaryCtxRelease_v2")
def cuDevicePrimaryCtxRelease_v2(device: Int32) abi("C") -> Int32:
    """The cuDevicePrimaryCtxRelease of the driver API; memory stays allocated until the program ends.
    """
    with Locked() as session:
        if not session[].is_device(device):
            return INVALID_DEVICE
        if not session[].initialised:
            return NOT_INITIALIZED
        var count = session[].retained.get(device, 0)
        if count == 0:
            return INVALID_CONTEXT
        session[].retained[device] = count - 1
        return SUCCESS


@export("cuCtxCreate_v2")
def cuCtxCreate_v2(
    context: UInt64, flags: UInt32, device: Int32
) abi("C") -> Int32:
    """The cuCtxCreate of the driver API: retains the device's primary context, its only one, and makes it
    current.
    """
    var status = cuDevicePrimaryCtxRetain(context, device)
    return status if status != SUCCESS else cuCtxPushCurrent(
        at[UInt64](context)[]
    )


@export("cuCtxDestroy")
def cuCtxDestroy(context: UInt64) abi("C") -> Int32:
    """The cuCtxDestroy of the driver API: releases the primary context."""
    var device = the_session()[].device_of(context)
    return (
        INVALID_CONTEXT if device < 0 else cuDevicePrimaryCtxRelease_v2(device)
    )


@export("cuCtxSetCurrent")
def cuCtxSetCurrent(context: UInt64) abi("C") -> Int32:
    """The cuCtxSetCurrent of the driver API: replaces the top of this thread's stack; 0 pops it.
    """
    with Locked() as session:
        var device = session[].device_of(context)
        if device < 0 and context != NULL:
            return INVALID_CONTEXT
        if not session[].initialised:
            return NOT_INITIALIZED
        session[].set_contexts(session[].contexts() >> 4)
        if context != NULL:
            _ = session[].push_context(device)  # one was popped, or there was none
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
        at[UInt64](context)[] = session[].current_context()
        return SUCCESS


@export("cuCtxPushCurrent")
def cuCtxPushCurrent(context: UInt64) abi("C") -> Int32:
    """The cuCtxPushCurrent of the driver API; a thread's stack has room for 16 contexts.
    """
    with Locked() as session:
        var device = session[].device_of(context)
        if device < 0:
            return INVALID_CONTEXT
        if not session[].initialised:
            return NOT_INITIALIZED
        return SUCCESS if session[].push_context(device) else OUT_OF_MEMORY


@export("cuCtxPopCurrent")
def cuCtxPopCurrent(context: UInt64) abi("C") -> Int32:
    """The cuCtxPopCurrent of the driver API."""
    with Locked() as session:
        if not session[].initialised:
            return NOT_INITIALIZED
        var current = session[].current_context()
        if current == NULL:
            return INVALID_CONTEXT
        session[].set_contexts(session[].contexts() >> 4)
        if context != NULL:
            at[UInt64](context)[] = current
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
    """The cuCtxEnablePeerAccess of the driver API: the current context may access memory of another one.

    The simulator permits such accesses anyway, since MAX maps its memory for every device, and reports those
    that were not enabled.
    """
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        var other = session[].device_of(peer)
        if flags != 0 or other < 0:
            return INVALID_VALUE
        var device = session[].device()
        if other == device:
            return PEER_ACCESS_UNSUPPORTED
        var pair = UInt32(device) << 8 | UInt32(other)
        if pair in session[].peers:
            return PEER_ACCESS_ALREADY_ENABLED
        session[].peers[pair] = True
        session[].select(device)
        var body = Body(protocol.ENABLE_PEER)
        body.u32(UInt32(other))
        return session[].request(body).status


# CUdevice_P2PAttribute: performance rank 1, access supported 2, native atomics supported 3, arrays supported 4.
comptime _MOST_P2P_ATTRIBUTES = UInt32(4)


@export("cuDeviceGetP2PAttribute")
def cuDeviceGetP2PAttribute(
    value: UInt64, attribute: UInt32, source: Int32, target: Int32
) abi("C") -> Int32:
    """The cuDeviceGetP2PAttribute of the driver API: as two H100 that NVLink connects.
    """
    if value == NULL or attribute == 0 or attribute > _MOST_P2P_ATTRIBUTES:
        return INVALID_VALUE
    with Locked() as session:
        if (
            not session[].is_device(source)
            or not session[].is_device(target)
            or source == target
        ):
            return INVALID_DEVICE
    return _put(value, Int32(0) if attribute == 1 else Int32(1))
