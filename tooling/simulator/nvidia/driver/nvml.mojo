"""The NVML functions that MAX calls before it uses the driver (NVML API Reference Guide).

The values come from the simulator, through the connection of the driver.
"""

import protocol
from device import PCI_DEVICE_ATTRIBUTE
from errors import SUCCESS
from session import Locked, the_session
from wire import NULL, Body, at, copy_bytes, put_bytes

comptime _UNINITIALIZED = Int32(1)
comptime _INVALID_ARGUMENT = Int32(2)
comptime _NOT_SUPPORTED = Int32(3)
comptime _INSUFFICIENT_SIZE = Int32(7)
comptime _DRIVER_NOT_LOADED = Int32(9)

comptime _DEVICE = UInt64(0x52000000)  # the handle of device 0; the next ones follow
comptime _DRIVER_VERSION = StaticString("580.00 (simulated)")
comptime _PCI_ADDRESS = StaticString("00000000:00:06.0")
comptime _PCI_DOMAIN_ATTRIBUTE = UInt32(50)
comptime _PCI_BUS_ATTRIBUTE = UInt32(33)
comptime _PCI_ID_ATTRIBUTE = UInt32(139)
comptime _MAJOR_ATTRIBUTE = UInt32(75)
comptime _MINOR_ATTRIBUTE = UInt32(76)


def _attribute(number: UInt32) -> Int32:
    with Locked() as session:
        return session[].attributes.get(number, 0)


def _put_text(text: StaticString, buffer: UInt64, size: UInt32) -> Int32:
    if buffer == NULL:
        return _INVALID_ARGUMENT
    if text.byte_length() + 1 > Int(size):
        return _INSUFFICIENT_SIZE
    copy_bytes(buffer, UInt64(Int(text.unsafe_ptr())), text.byte_length())
    at[UInt8](buffer + UInt64(text.byte_length()))[] = 0
    return SUCCESS


@export("nvmlInit_v2")
def nvmlInit_v2() abi("C") -> Int32:
    """The nvmlInit of NVML: connects to the simulator."""
    with Locked() as session:
        return SUCCESS if session[].start() == SUCCESS else _DRIVER_NOT_LOADED


@export("nvmlShutdown")
def nvmlShutdown() abi("C") -> Int32:
    """The nvmlShutdown of NVML; the connection, which the driver uses, stays open.
    """
    return SUCCESS


@export("nvmlErrorString")
def nvmlErrorString(code: Int32) abi("C") -> UInt64:
    """The nvmlErrorString of NVML, for the codes used here."""
    var text: StaticString = "Unknown Error"
    if code == SUCCESS:
        text = "Success"
    elif code == _UNINITIALIZED:
        text = "Uninitialized"
    elif code == _INVALID_ARGUMENT:
        text = "Invalid Argument"
    elif code == _NOT_SUPPORTED:
        text = "Not Supported"
    elif code == _INSUFFICIENT_SIZE:
        text = "Insufficient Size"
    elif code == _DRIVER_NOT_LOADED:
        text = "The simulated GPU cannot be reached"
    return UInt64(Int(text.unsafe_ptr()))


@export("nvmlDeviceGetCount_v2")
def nvmlDeviceGetCount_v2(count: UInt64) abi("C") -> Int32:
    """The nvmlDeviceGetCount of NVML."""
    if count == NULL:
        return _INVALID_ARGUMENT
    at[UInt32](count)[] = UInt32(the_session()[].devices)
    return SUCCESS


def _number(device: UInt64) -> Int32:
    """The number of a device, or -1 if this is not the handle of one."""
    var valid = _DEVICE <= device < _DEVICE + UInt64(the_session()[].devices)
    return Int32(device - _DEVICE) if valid else -1


@export("nvmlDeviceGetHandleByIndex")
def nvmlDeviceGetHandleByIndex(index: UInt32, device: UInt64) abi("C") -> Int32:
    """The nvmlDeviceGetHandleByIndex of NVML."""
    if device == NULL or not the_session()[].is_device(Int32(index)):
        return _INVALID_ARGUMENT
    at[UInt64](device)[] = _DEVICE + UInt64(index)
    return SUCCESS


@export("nvmlDeviceGetCudaComputeCapability")
def nvmlDeviceGetCudaComputeCapability(
    device: UInt64, major: UInt64, minor: UInt64
) abi("C") -> Int32:
    """The nvmlDeviceGetCudaComputeCapability of NVML: the target of `mojo run` (9.0: sm_90a).
    """
    if _number(device) < 0 or major == NULL or minor == NULL:
        return _INVALID_ARGUMENT
    at[Int32](major)[] = _attribute(_MAJOR_ATTRIBUTE)
    at[Int32](minor)[] = _attribute(_MINOR_ATTRIBUTE)
    return SUCCESS


@export("nvmlSystemGetDriverVersion")
def nvmlSystemGetDriverVersion(version: UInt64, size: UInt32) abi("C") -> Int32:
    """The nvmlSystemGetDriverVersion of NVML."""
    return _put_text(_DRIVER_VERSION, version, size)


@export("nvmlDeviceGetName")
def nvmlDeviceGetName(
    device: UInt64, name: UInt64, size: UInt32
) abi("C") -> Int32:
    """The nvmlDeviceGetName of NVML."""
    if _number(device) < 0 or name == NULL:
        return _INVALID_ARGUMENT
    with Locked() as session:
        var length = len(session[].name)
        if length + 1 > Int(size):
            return _INSUFFICIENT_SIZE
        put_bytes(name, session[].name, length)
        at[UInt8](name + UInt64(length))[] = 0
        return SUCCESS


@export("nvmlDeviceGetPciInfo_v3")
def nvmlDeviceGetPciInfo_v3(device: UInt64, info: UInt64) abi("C") -> Int32:
    """The nvmlDeviceGetPciInfo of NVML; MAX compares it with the driver's attributes of the device.

    nvmlPciInfo_t: legacy bus id of 16 bytes, domain, bus, device, device id, subsystem id (u32 each), bus id of 32.
    """
    if _number(device) < 0 or info == NULL:
        return _INVALID_ARGUMENT
    var number = _number(device)
    _ = _put_text(StaticString("0000:00:06.0"), info, 16)
    _number_address(info, 8, number)
    at[Int32](info + 16)[] = _attribute(_PCI_DOMAIN_ATTRIBUTE)
    at[Int32](info + 20)[] = _attribute(_PCI_BUS_ATTRIBUTE)
    at[Int32](info + 24)[] = _attribute(UInt32(PCI_DEVICE_ATTRIBUTE)) + number
    at[Int32](info + 28)[] = _attribute(_PCI_ID_ATTRIBUTE)
    at[Int32](info + 32)[] = 0
    var status = _put_text(_PCI_ADDRESS, info + 36, 32)
    _number_address(info + 36, 12, number)
    return status


def _number_address(text: UInt64, digit: UInt64, number: Int32):
    """Write the device's number of a PCI address: 06 for device 0."""
    var value = 6 + UInt8(number)
    at[UInt8](text + digit + 1)[] = value + 48 if value < 10 else value + 87


@export("nvmlDeviceGetMemoryInfo")
def nvmlDeviceGetMemoryInfo(device: UInt64, info: UInt64) abi("C") -> Int32:
    """The nvmlDeviceGetMemoryInfo of NVML. nvmlMemory_t: total, free, used bytes (u64 each).
    """
    if _number(device) < 0 or info == NULL:
        return _INVALID_ARGUMENT
    with Locked() as session:
        session[].select(_number(device))
        var body = Body(protocol.MEMORY_INFO)
        var reply = session[].ask(body, protocol.MEMORY_INFO_REPLY_BYTES)
        if reply.status != SUCCESS:
            return _UNINITIALIZED
        var free = reply.u64()
        var total = reply.u64()
        at[UInt64](info)[] = total
        at[UInt64](info + 8)[] = free
        at[UInt64](info + 16)[] = total - free
        return SUCCESS


@export("nvmlDeviceGetMigMode")
def nvmlDeviceGetMigMode(
    device: UInt64, current: UInt64, pending: UInt64
) abi("C") -> Int32:
    """The nvmlDeviceGetMigMode of NVML: off."""
    if _number(device) < 0 or current == NULL or pending == NULL:
        return _INVALID_ARGUMENT
    at[UInt32](current)[] = 0
    at[UInt32](pending)[] = 0
    return SUCCESS


@export("nvmlDeviceGetCurrentClocksThrottleReasons")
def nvmlDeviceGetCurrentClocksThrottleReasons(
    device: UInt64, reasons: UInt64
) abi("C") -> Int32:
    """The nvmlDeviceGetCurrentClocksThrottleReasons of NVML: none."""
    if _number(device) < 0 or reasons == NULL:
        return _INVALID_ARGUMENT
    at[UInt64](reasons)[] = 0
    return SUCCESS


@export("nvmlDeviceGetTotalEccErrors")
def nvmlDeviceGetTotalEccErrors(
    device: UInt64, error: UInt32, counter: UInt32, count: UInt64
) abi("C") -> Int32:
    """The nvmlDeviceGetTotalEccErrors of NVML: none."""
    if _number(device) < 0 or count == NULL:
        return _INVALID_ARGUMENT
    at[UInt64](count)[] = 0
    return SUCCESS


@export("nvmlDeviceGetComputeRunningProcesses_v3")
def nvmlDeviceGetComputeRunningProcesses_v3(
    device: UInt64, count: UInt64, infos: UInt64
) abi("C") -> Int32:
    """The nvmlDeviceGetComputeRunningProcesses of NVML: none."""
    if _number(device) < 0 or count == NULL:
        return _INVALID_ARGUMENT
    at[UInt32](count)[] = 0
    return SUCCESS
