"""Virtual memory (CUDA driver API: "Virtual Memory Management").

The simulator manages the reservations and mappings; each mapping is also made in this process, in the window
through which the driver accesses device memory. Memory of a device may be mapped for others as well: the
access that its own device has is what counts.
"""

import protocol
from errors import INVALID_VALUE, OUT_OF_MEMORY, SUCCESS
from host_access import watch_host
from mapping import map_file
from session import Locked, the_session, unsupported
from wire import NULL, Body, at

comptime _PINNED = UInt32(1)  # CU_MEM_ALLOCATION_TYPE_PINNED
comptime _DEVICE = UInt32(1)  # CU_MEM_LOCATION_TYPE_DEVICE
comptime _NO_ACCESS = UInt32(0)
comptime _READ = UInt32(1)
comptime _READ_AND_WRITE = UInt32(3)
comptime _ACCESS_WORDS = 3  # of a CUmemAccessDesc: type and id of the location, flags


def _on_a_device(words: UInt64) -> Bool:
    """Whether a CUmemLocation is a device."""
    return at[UInt32](words)[] == _DEVICE and the_session()[].is_device(
        at[Int32](words + 4)[]
    )


def _check_properties(name: StaticString, properties: UInt64) -> Int32:
    """SUCCESS if the memory that a CUmemAllocationProp describes is supported.
    """
    if properties == NULL:
        return INVALID_VALUE
    if at[UInt32](properties)[] != _PINNED or not _on_a_device(
        properties + 8
    ):
        return INVALID_VALUE
    if at[UInt32](properties + 4)[] != 0:
        return unsupported(name, "it shares no memory with other processes")
    return SUCCESS


def _send(
    opcode: UInt32, first: UInt64, second: UInt64 = NULL, numbers: Int = 1
) -> Int32:
    """Send a request of one or two numbers; returns the status of the reply."""
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        var body = Body(opcode)
        body.u64(first)
        if numbers == 2:
            body.u64(second)
        return session[].request(body).status


@export("cuMemGetAllocationGranularity")
def cuMemGetAllocationGranularity(
    granularity: UInt64, properties: UInt64, option: UInt32
) abi("C") -> Int32:
    """The cuMemGetAllocationGranularity of the driver API: minimum and recommended are the same.
    """
    if granularity == NULL or option > 1:
        return INVALID_VALUE
    var status = _check_properties("cuMemGetAllocationGranularity", properties)
    if status == SUCCESS:
        at[UInt64](granularity)[] = protocol.GRANULARITY
    return status


@export("cuMemAddressReserve")
def cuMemAddressReserve(
    address: UInt64,
    size: UInt64,
    alignment: UInt64,
    wanted: UInt64,
    flags: UInt64,
) abi("C") -> Int32:
    """The cuMemAddressReserve of the driver API; the requested address is a hint, and is ignored.
    """
    if address == NULL or flags != 0:
        return INVALID_VALUE
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        var body = Body(protocol.RESERVE)
        body.u64(size)
        body.u64(alignment)
        var reply = session[].ask(body, protocol.RESERVE_REPLY_BYTES)
        if reply.status == SUCCESS:
            at[UInt64](address)[] = reply.u64()
        return reply.status


@export("cuMemAddressFree")
def cuMemAddressFree(address: UInt64, size: UInt64) abi("C") -> Int32:
    """The cuMemAddressFree of the driver API: the range must not have mappings.
    """
    return _send(protocol.UNRESERVE, address, size, 2)


@export("cuMemCreate")
def cuMemCreate(
    handle: UInt64, size: UInt64, properties: UInt64, flags: UInt64
) abi("C") -> Int32:
    """The cuMemCreate of the driver API."""
    if handle == NULL or flags != 0:
        return INVALID_VALUE
    var checked = _check_properties("cuMemCreate", properties)
    if checked != SUCCESS:
        return checked
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        session[].select(at[Int32](properties + 12)[])
        var body = Body(protocol.CREATE)
        body.u64(size)
        var reply = session[].ask(body, protocol.CREATE_REPLY_BYTES)
        if reply.status == SUCCESS:
            at[UInt64](handle)[] = reply.u64()
        return reply.status


@export("cuMemRelease")
def cuMemRelease(handle: UInt64) abi("C") -> Int32:
    """The cuMemRelease of the driver API: memory that is mapped or retained stays allocated.
    """
    return _send(protocol.RELEASE, handle)


@export("cuMemRetainAllocationHandle")
def cuMemRetainAllocationHandle(
    handle: UInt64, address: UInt64
) abi("C") -> Int32:
    """The cuMemRetainAllocationHandle of the driver API: the handle of the memory mapped at an address.
    """
    if handle == NULL:
        return INVALID_VALUE
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        var body = Body(protocol.RETAIN)
        body.u64(address)
        var reply = session[].ask(body, protocol.RETAIN_REPLY_BYTES)
        if reply.status == SUCCESS:
            at[UInt64](handle)[] = reply.u64()
        return reply.status


@export("cuMemMap")
def cuMemMap(
    address: UInt64, size: UInt64, offset: UInt64, handle: UInt64, flags: UInt64
) abi("C") -> Int32:
    """The cuMemMap of the driver API; the offset must be 0, as in CUDA."""
    if offset != 0 or flags != 0:
        return INVALID_VALUE
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        var body = Body(protocol.MAP)
        body.u64(address)
        body.u64(size)
        body.u64(handle)
        var reply = session[].ask(body, protocol.MAP_REPLY_BYTES)
        if reply.status != SUCCESS:
            return reply.status
        watch_host()
        var mapped = session[].accessible(address)
        var failed = map_file(session[].arena_file, mapped, size, reply.u64())
        return SUCCESS if failed == 0 else OUT_OF_MEMORY


@export("cuMemUnmap")
def cuMemUnmap(address: UInt64, size: UInt64) abi("C") -> Int32:
    """The cuMemUnmap of the driver API, for whole mappings only; no effect where nothing is mapped.
    """
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        var body = Body(protocol.UNMAP)
        body.u64(address)
        body.u64(size)
        status = session[].request(body).status
        if (
            status == SUCCESS
            and map_file(
                session[].arena_file,
                session[].accessible(address),
                size,
                address - session[].arena,
            )
            != 0
        ):
            return OUT_OF_MEMORY
        return status


@export("cuMemSetAccess")
def cuMemSetAccess(
    address: UInt64, size: UInt64, descriptions: UInt64, count: UInt64
) abi("C") -> Int32:
    """The cuMemSetAccess of the driver API; the last of several descriptors takes effect.
    """
    if descriptions == NULL or count == 0:
        return INVALID_VALUE
    var flags = _NO_ACCESS
    for index in range(Int(count)):
        var description = descriptions + UInt64(index * _ACCESS_WORDS * 4)
        if not _on_a_device(description):
            return INVALID_VALUE
        flags = at[UInt32](description + 8)[]
    if flags not in (_NO_ACCESS, _READ, _READ_AND_WRITE):
        return INVALID_VALUE
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        var body = Body(protocol.SET_ACCESS)
        body.u64(address)
        body.u64(size)
        body.u32(flags)
        return session[].request(body).status


@export("cuMemGetAccess")
def cuMemGetAccess(
    flags: UInt64, location: UInt64, address: UInt64
) abi("C") -> Int32:
    """The cuMemGetAccess of the driver API: the device's access to the memory mapped at an address.
    """
    if flags == NULL or location == NULL or not _on_a_device(location):
        return INVALID_VALUE
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        var body = Body(protocol.ACCESS)
        body.u64(address)
        var reply = session[].ask(body, protocol.ACCESS_REPLY_BYTES)
        if reply.status == SUCCESS:
            at[UInt64](flags)[] = UInt64(reply.u32())
        return reply.status
