"""Memory: allocation, copies, fills and address queries (CUDA driver API: "Memory Management").

The simulator manages allocations and validates ranges; the bytes are copied here, in the arena that both
processes have mapped (`Session.accessible`). With one device all work is complete when the call returns, whatever
the stream; with several devices the simulator copies the bytes when the stream has come so far.
"""

from std.sys import size_of

import protocol
from errors import (
    ALREADY_REGISTERED,
    INVALID_CONTEXT,
    INVALID_HANDLE,
    INVALID_VALUE,
    NOT_FOUND,
    NOT_REGISTERED,
    SUCCESS,
)
from host_access import watch_host
from mapping import NO_ACCESS, READ_ONLY
from session import CONTEXT, Locked, Session, the_session, unsupported
from wire import NULL, Body, address_of, at, copy_bytes
from work import (
    COPY_DEVICE_TO_DEVICE,
    COPY_DEVICE_TO_HOST,
    COPY_HOST_TO_DEVICE,
    NOT_CAPTURED,
    Node,
    copy_node,
    fill_node,
)


def _allocate(address: UInt64, size: UInt64, kind: UInt32) -> Int32:
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        if address == NULL:
            return INVALID_VALUE
        session[].select(session[].device())
        var body = Body(protocol.ALLOCATE)
        body.u64(size)
        body.u32(kind)
        var reply = session[].ask(body, protocol.ALLOCATE_REPLY_BYTES)
        if reply.status == SUCCESS:
            watch_host()
            var allocated = reply.u64()
            if kind == protocol.PINNED:
                session[].let_access(allocated, size)
            at[UInt64](address)[] = allocated
        return reply.status


def _copy(
    session: Pointer[Session, MutUntrackedOrigin],
    destination: UInt64,
    source: UInt64,
    size: UInt64,
):
    """Copy bytes between addresses of the program or the device."""
    copy_bytes(
        session[].accessible(destination),
        session[].accessible(source),
        Int(size),
    )


def _free(address: UInt64, kind: UInt32) -> Int32:
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS or address == NULL:
            return status
        if kind == protocol.PINNED and session[].pending.touched(address, 1):
            var range = Body(protocol.RANGE)
            range.u64(address)
            var reply = session[].ask(range, protocol.RANGE_REPLY_BYTES)
            var base = reply.u64()
            session[].pending.remove(base, reply.u64())
        var body = Body(protocol.FREE)
        body.u64(address)
        body.u32(kind)
        return session[].request(body).status


def _wrong_stream(stream: UInt64) -> Bool:
    with Locked() as session:
        return not session[].valid_stream(stream)


def _capture(stream: UInt64, node: Node) -> Int32:
    """Add work to the capture of its stream; NOT_CAPTURED if there is none, or an error.
    """
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        if not session[].valid_stream(stream):
            return INVALID_HANDLE
        return session[].capture(stream, node)


@export("cuMemAlloc_v2")
def cuMemAlloc_v2(address: UInt64, size: UInt64) abi("C") -> Int32:
    """The cuMemAlloc of the driver API. The simulator fills the memory with a poison pattern, not zeros.
    """
    return _allocate(address, size, protocol.DEVICE)


@export("cuMemAllocAsync")
def cuMemAllocAsync(
    address: UInt64, size: UInt64, stream: UInt64
) abi("C") -> Int32:
    """The cuMemAllocAsync of the driver API ("Stream Ordered Memory Allocator").
    """
    return INVALID_HANDLE if _wrong_stream(stream) else _allocate(
        address, size, protocol.DEVICE
    )


@export("cuMemAllocHost_v2")
def cuMemAllocHost_v2(pointer: UInt64, size: UInt64) abi("C") -> Int32:
    """The cuMemAllocHost of the driver API: memory of the arena, with the same address on host and device.
    """
    return _allocate(pointer, size, protocol.PINNED)


@export("cuMemHostAlloc")
def cuMemHostAlloc(
    pointer: UInt64, size: UInt64, flags: UInt32
) abi("C") -> Int32:
    """The cuMemHostAlloc of the driver API; the flags (portable, mapped, write-combined) are ignored.
    """
    return INVALID_VALUE if flags > 7 else _allocate(
        pointer, size, protocol.PINNED
    )


@export("cuMemFree_v2")
def cuMemFree_v2(address: UInt64) abi("C") -> Int32:
    """The cuMemFree of the driver API."""
    return _free(address, protocol.DEVICE)


@export("cuMemFreeAsync")
def cuMemFreeAsync(address: UInt64, stream: UInt64) abi("C") -> Int32:
    """The cuMemFreeAsync of the driver API ("Stream Ordered Memory Allocator").
    """
    return INVALID_HANDLE if _wrong_stream(stream) else _free(
        address, protocol.DEVICE
    )


@export("cuMemFreeHost")
def cuMemFreeHost(pointer: UInt64) abi("C") -> Int32:
    """The cuMemFreeHost of the driver API."""
    return _free(pointer, protocol.PINNED)


@export("cuMemHostGetDevicePointer_v2")
def cuMemHostGetDevicePointer_v2(
    address: UInt64, pointer: UInt64, flags: UInt32
) abi("C") -> Int32:
    """The cuMemHostGetDevicePointer of the driver API: pinned memory has the same address on the device.
    """
    if address == NULL or flags != 0:
        return INVALID_VALUE
    var found = _find(pointer)
    if found.status == NOT_FOUND or (
        found.status == SUCCESS and found.kind != protocol.PINNED
    ):
        return INVALID_VALUE
    if found.status != SUCCESS:
        return found.status
    at[UInt64](address)[] = pointer
    return SUCCESS


@export("cuMemHostRegister_v2")
def cuMemHostRegister_v2(
    pointer: UInt64, size: UInt64, flags: UInt32
) abi("C") -> Int32:
    """The cuMemHostRegister of the driver API: recorded only; copies work as with any host memory.

    Kernels cannot access it: it is not in the arena, and it has no device pointer.
    """
    if pointer == NULL or size == 0:
        return INVALID_VALUE
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        if pointer in session[].registered:
            return ALREADY_REGISTERED
        session[].registered[pointer] = size
        return SUCCESS


@export("cuMemHostUnregister")
def cuMemHostUnregister(pointer: UInt64) abi("C") -> Int32:
    """The cuMemHostUnregister of the driver API."""
    with Locked() as session:
        if pointer not in session[].registered:
            return NOT_REGISTERED
        try:
            _ = session[].registered.pop(pointer)
        except:
            return NOT_REGISTERED
        return SUCCESS


comptime _PART = UInt64(32 << 20)
"""Bytes of a copy that are sent at once."""


def _move(
    session: Pointer[Session, MutUntrackedOrigin],
    destination: UInt64,
    source: UInt64,
    size: UInt64,
    kind: UInt32,
) -> Int32:
    """Let the simulator copy between device memory and pinned memory."""
    var body = Body(protocol.MOVE)
    body.u64(destination)
    body.u64(source)
    body.u64(size)
    body.u32(kind)
    return session[].request(body).status


def _upload_later(
    session: Pointer[Session, MutUntrackedOrigin],
    destination: UInt64,
    source: UInt64,
    size: UInt64,
    asynchronous: Bool,
) -> Int32:
    """Let the simulator copy to the device; memory that is not pinned is read now, as on hardware.
    """
    if session[].in_arena(source):
        var status = _move(
            session, destination, source, size, protocol.TO_DEVICE
        )
        if (
            status == SUCCESS
            and asynchronous
            and session[].pending.enabled
        ):
            session[].pending.add(source, size, READ_ONLY)
        return status
    var done = UInt64(0)
    while done < size:
        var part = min(_PART, size - done)
        var content = List[UInt8]()
        content.resize(Int(part), 0)
        copy_bytes(address_of(content), source + done, Int(part))
        var body = Body(protocol.UPLOAD, Int(part))
        body.u64(destination + done)
        body.raw(content)
        var status = session[].request(body).status
        if status != SUCCESS:
            return status
        done += part
    return SUCCESS


def upload(
    destination: UInt64,
    source: UInt64,
    size: UInt64,
    asynchronous: Bool,
    stream: UInt64 = 0,
) -> Int32:
    """Copy from the host to the device."""
    with Locked() as session:
        var status = session[].ready()
        if status == SUCCESS and not asynchronous:
            status = session[].synchronise()
        if status != SUCCESS or size == 0:
            return status
        if source == NULL:
            return INVALID_VALUE
        session[].announce(stream, not asynchronous, source)
        if not session[].moves_bytes():
            return _upload_later(
                session, destination, source, size, asynchronous
            )
        var body = Body(protocol.WRITE)
        body.u64(destination)
        body.u64(size)
        body.u64(1)
        body.u64(size)
        status = session[].request(body).status
        if status == SUCCESS:
            _copy(session, destination, source, size)
            if (
                asynchronous
                and session[].pending.enabled
                and session[].in_arena(source)
            ):
                session[].pending.add(source, size, READ_ONLY)
        return status


def download(
    destination: UInt64,
    source: UInt64,
    size: UInt64,
    asynchronous: Bool,
    stream: UInt64 = 0,
) -> Int32:
    """Copy from the device to the host."""
    with Locked() as session:
        var status = session[].ready()
        if status == SUCCESS and not asynchronous:
            status = session[].synchronise()
        if status != SUCCESS or size == 0:
            return status
        if destination == NULL:
            return INVALID_VALUE
        var pinned = session[].in_arena(destination)
        session[].announce(stream, not (asynchronous and pinned), destination)
        if asynchronous and pinned and not session[].moves_bytes():
            status = _move(
                session, destination, source, size, protocol.TO_HOST
            )
            if status == SUCCESS and session[].pending.enabled:
                session[].pending.add(destination, size, NO_ACCESS)
            return status
        var body = Body(protocol.READ)
        body.u64(source)
        body.u64(size)
        status = session[].request(body).status
        if status == SUCCESS:
            _copy(session, destination, source, size)
            if asynchronous and pinned and session[].pending.enabled:
                session[].pending.add(destination, size, NO_ACCESS)
        return status


def copy_on_device(
    destination: UInt64, source: UInt64, size: UInt64, stream: UInt64 = 0
) -> Int32:
    """Copy from the device to the device."""
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS or size == 0:
            return status
        session[].announce(stream, False, NULL)
        if not session[].moves_bytes():
            return _move(
                session, destination, source, size, protocol.ON_DEVICE
            )
        var body = Body(protocol.COPY)
        body.u64(destination)
        body.u64(source)
        body.u64(size)
        status = session[].request(body).status
        if status == SUCCESS:
            _copy(session, destination, source, size)
        return status


@export("cuMemcpyHtoD_v2")
def cuMemcpyHtoD_v2(
    destination: UInt64, source: UInt64, size: UInt64
) abi("C") -> Int32:
    """The cuMemcpyHtoD of the driver API."""
    return upload(destination, source, size, False)


@export("cuMemcpyHtoDAsync_v2")
def cuMemcpyHtoDAsync_v2(
    destination: UInt64, source: UInt64, size: UInt64, stream: UInt64
) abi("C") -> Int32:
    """The cuMemcpyHtoDAsync of the driver API."""
    var status = _capture(
        stream, copy_node(COPY_HOST_TO_DEVICE, destination, source, size)
    )
    return status if status != NOT_CAPTURED else upload(
        destination, source, size, True, stream
    )


@export("cuMemcpyDtoH_v2")
def cuMemcpyDtoH_v2(
    destination: UInt64, source: UInt64, size: UInt64
) abi("C") -> Int32:
    """The cuMemcpyDtoH of the driver API."""
    return download(destination, source, size, False)


@export("cuMemcpyDtoHAsync_v2")
def cuMemcpyDtoHAsync_v2(
    destination: UInt64, source: UInt64, size: UInt64, stream: UInt64
) abi("C") -> Int32:
    """The cuMemcpyDtoHAsync of the driver API."""
    var status = _capture(
        stream, copy_node(COPY_DEVICE_TO_HOST, destination, source, size)
    )
    return status if status != NOT_CAPTURED else download(
        destination, source, size, True, stream
    )


@export("cuMemcpyDtoD_v2")
def cuMemcpyDtoD_v2(
    destination: UInt64, source: UInt64, size: UInt64
) abi("C") -> Int32:
    """The cuMemcpyDtoD of the driver API."""
    return copy_on_device(destination, source, size)


@export("cuMemcpyDtoDAsync_v2")
def cuMemcpyDtoDAsync_v2(
    destination: UInt64, source: UInt64, size: UInt64, stream: UInt64
) abi("C") -> Int32:
    """The cuMemcpyDtoDAsync of the driver API."""
    var status = _capture(
        stream, copy_node(COPY_DEVICE_TO_DEVICE, destination, source, size)
    )
    return status if status != NOT_CAPTURED else copy_on_device(
        destination, source, size, stream
    )


@export("cuMemcpyPeer")
def cuMemcpyPeer(
    destination: UInt64,
    to: UInt64,
    source: UInt64,
    from_context: UInt64,
    size: UInt64,
) abi("C") -> Int32:
    """The cuMemcpyPeer of the driver API."""
    if _not_contexts(to, from_context):
        return INVALID_CONTEXT
    return copy_on_device(destination, source, size)


@export("cuMemcpyPeerAsync")
def cuMemcpyPeerAsync(
    destination: UInt64,
    to: UInt64,
    source: UInt64,
    from_context: UInt64,
    size: UInt64,
    stream: UInt64,
) abi("C") -> Int32:
    """The cuMemcpyPeerAsync of the driver API."""
    var status = _capture(
        stream, copy_node(COPY_DEVICE_TO_DEVICE, destination, source, size)
    )
    if status != NOT_CAPTURED:
        return status
    if _not_contexts(to, from_context):
        return INVALID_CONTEXT
    return copy_on_device(destination, source, size, stream)


def _not_contexts(to: UInt64, from_context: UInt64) -> Bool:
    """Whether one of these is not a context."""
    with Locked() as session:
        return (
            session[].device_of(to) < 0 or session[].device_of(from_context) < 0
        )


def fill[
    T: DType
](
    address: UInt64,
    value: Scalar[T],
    width: UInt64,
    rows: UInt64,
    pitch: UInt64,
    stream: UInt64 = 0,
) -> Int32:
    """Fill `rows` rows of `width` elements, `pitch` bytes apart."""
    comptime element = UInt64(size_of[Scalar[T]]())
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS or width == 0 or rows == 0:
            return status
        if address % element != 0 or (
            rows > 1 and (pitch < width * element or pitch % element != 0)
        ):
            return INVALID_VALUE
        session[].announce(stream, False, NULL)
        if not session[].moves_bytes():
            var later = Body(protocol.FILL)
            later.u64(address)
            later.u64(UInt64(value))
            later.u32(UInt32(element))
            later.u64(width)
            later.u64(rows)
            later.u64(pitch)
            return session[].request(later).status
        var body = Body(protocol.WRITE)
        body.u64(address)
        body.u64(width * element)
        body.u64(rows)
        body.u64(pitch)
        status = session[].request(body).status
        if status != SUCCESS:
            return status
        var start = session[].accessible(address)
        for row in range(rows):
            var elements = at[Scalar[T]](start + row * pitch)
            for index in range(Int(width)):
                elements[unsafe_offset=index] = value
        return SUCCESS


@export("cuMemsetD8_v2")
def cuMemsetD8_v2(
    address: UInt64, value: UInt8, count: UInt64
) abi("C") -> Int32:
    """The cuMemsetD8 of the driver API."""
    return fill[DType.uint8](address, value, count, 1, 0)


@export("cuMemsetD16_v2")
def cuMemsetD16_v2(
    address: UInt64, value: UInt16, count: UInt64
) abi("C") -> Int32:
    """The cuMemsetD16 of the driver API; the address must be even."""
    return fill[DType.uint16](address, value, count, 1, 0)


@export("cuMemsetD32_v2")
def cuMemsetD32_v2(
    address: UInt64, value: UInt32, count: UInt64
) abi("C") -> Int32:
    """The cuMemsetD32 of the driver API; the address must be a multiple of 4.
    """
    return fill[DType.uint32](address, value, count, 1, 0)


@export("cuMemsetD2D32_v2")
def cuMemsetD2D32_v2(
    address: UInt64, pitch: UInt64, value: UInt32, width: UInt64, height: UInt64
) abi("C") -> Int32:
    """The cuMemsetD2D32 of the driver API: `height` rows of `width` words, `pitch` bytes apart.
    """
    return fill[DType.uint32](address, value, width, height, pitch)


@export("cuMemsetD8Async")
def cuMemsetD8Async(
    address: UInt64, value: UInt8, count: UInt64, stream: UInt64
) abi("C") -> Int32:
    """The cuMemsetD8Async of the driver API."""
    var status = _capture(
        stream, fill_node(address, UInt64(value), 1, count, 1, 0)
    )
    return status if status != NOT_CAPTURED else fill[DType.uint8](
        address, value, count, 1, 0, stream
    )


@export("cuMemsetD16Async")
def cuMemsetD16Async(
    address: UInt64, value: UInt16, count: UInt64, stream: UInt64
) abi("C") -> Int32:
    """The cuMemsetD16Async of the driver API."""
    var status = _capture(
        stream, fill_node(address, UInt64(value), 2, count, 1, 0)
    )
    return status if status != NOT_CAPTURED else fill[DType.uint16](
        address, value, count, 1, 0, stream
    )


@export("cuMemsetD32Async")
def cuMemsetD32Async(
    address: UInt64, value: UInt32, count: UInt64, stream: UInt64
) abi("C") -> Int32:
    """The cuMemsetD32Async of the driver API."""
    var status = _capture(
        stream, fill_node(address, UInt64(value), 4, count, 1, 0)
    )
    return status if status != NOT_CAPTURED else fill[DType.uint32](
        address, value, count, 1, 0, stream
    )


@export("cuMemsetD2D32Async")
def cuMemsetD2D32Async(
    address: UInt64,
    pitch: UInt64,
    value: UInt32,
    width: UInt64,
    height: UInt64,
    stream: UInt64,
) abi("C") -> Int32:
    """The cuMemsetD2D32Async of the driver API."""
    var status = _capture(
        stream, fill_node(address, UInt64(value), 4, width, height, pitch)
    )
    return status if status != NOT_CAPTURED else fill[DType.uint32](
        address, value, width, height, pitch, stream
    )


@fieldwise_init
struct Found(TrivialRegisterPassable):
    """The allocation that contains an address; `status` is NOT_FOUND if there is none.
    """

    var status: Int32
    var base: UInt64
    var size: UInt64
    var serial: UInt64
    var kind: UInt32
    var device: Int32


def _find(address: UInt64) -> Found:
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return Found(status, 0, 0, 0, 0, 0)
        var body = Body(protocol.RANGE)
        body.u64(address)
        var reply = session[].ask(body, protocol.RANGE_REPLY_BYTES)
        var base = reply.u64()
        var size = reply.u64()
        var serial = reply.u64()
        var kind = reply.u32()
        var device = Int32(reply.u32())
        return Found(reply.status, base, size, serial, kind, device)


@export("cuMemGetAddressRange_v2")
def cuMemGetAddressRange_v2(
    base: UInt64, size: UInt64, address: UInt64
) abi("C") -> Int32:
    """The cuMemGetAddressRange of the driver API."""
    var found = _find(address)
    if found.status == SUCCESS and base != NULL:
        at[UInt64](base)[] = found.base
    if found.status == SUCCESS and size != NULL:
        at[UInt64](size)[] = found.size
    return found.status


@export("cuMemGetInfo_v2")
def cuMemGetInfo_v2(free: UInt64, total: UInt64) abi("C") -> Int32:
    """The cuMemGetInfo of the driver API, in bytes."""
    if free == NULL or total == NULL:
        return INVALID_VALUE
    with Locked() as session:
        var status = session[].ready()
        if status != SUCCESS:
            return status
        session[].select(session[].device())
        var body = Body(protocol.MEMORY_INFO)
        var reply = session[].ask(body, protocol.MEMORY_INFO_REPLY_BYTES)
        if reply.status == SUCCESS:
            at[UInt64](free)[] = reply.u64()
            at[UInt64](total)[] = reply.u64()
        return reply.status


@export("cuPointerGetAttributes")
def cuPointerGetAttributes(
    count: UInt32, attributes: UInt64, values: UInt64, address: UInt64
) abi("C") -> Int32:
    """The cuPointerGetAttributes of the driver API: 0, and device -2, for pageable host memory.

    Supported are CONTEXT, MEMORY_TYPE, DEVICE_POINTER, HOST_POINTER, SYNC_MEMOPS, BUFFER_ID, IS_MANAGED,
    DEVICE_ORDINAL, IS_LEGACY_CUDA_IPC_CAPABLE, RANGE_START_ADDR, RANGE_SIZE and MAPPED.
    """
    if count == 0 or attributes == NULL or values == NULL:
        return INVALID_VALUE
    var found = _find(address)
    if found.status != SUCCESS and found.status != NOT_FOUND:
        return found.status
    var known = found.status == SUCCESS
    for index in range(Int(count)):
        var attribute = at[UInt32](attributes)[unsafe_offset=index]
        var value = at[UInt64](values)[unsafe_offset=index]
        if value == NULL:
            return INVALID_VALUE
        if (
            attribute == 2
        ):  # MEMORY_TYPE: CU_MEMORYTYPE_HOST 1, CU_MEMORYTYPE_DEVICE 2
            var pinned = found.kind == protocol.PINNED
            at[UInt32](value)[] = (
                UInt32(1) if pinned else UInt32(2)
            ) if known else UInt32(0)
        elif attribute == 1:
            at[UInt64](value)[] = (
                CONTEXT + UInt64(found.device) if known else NULL
            )
        elif attribute == 3 or (
            attribute == 4 and found.kind == protocol.PINNED
        ):
            at[UInt64](value)[] = address if known else NULL
        elif attribute == 4:
            at[UInt64](value)[] = NULL
        elif attribute == 7:
            at[UInt64](value)[] = found.serial
        elif attribute == 9:
            at[Int32](value)[] = found.device if known else -2
        elif attribute == 11 or attribute == 12:
            if known:
                at[UInt64](value)[] = (
                    found.base if attribute == 11 else found.size
                )
        elif attribute == 6 or attribute == 8 or attribute == 10:
            at[UInt8](value)[] = 0
        elif attribute == 13:
            at[UInt8](value)[] = 1 if known else 0
        else:
            return unsupported(
                "cuPointerGetAttributes",
                "one of these attributes is not implemented",
            )
    return SUCCESS


@export("cuPointerSetAttribute")
def cuPointerSetAttribute(
    value: UInt64, attribute: UInt32, address: UInt64
) abi("C") -> Int32:
    """The cuPointerSetAttribute of the driver API: only SYNC_MEMOPS (6), which is always in effect.
    """
    return SUCCESS if attribute == 6 else INVALID_VALUE


comptime _POOL = UInt64(0x52000000)


@export("cuDeviceGetMemPool")
def cuDeviceGetMemPool(pool: UInt64, device: Int32) abi("C") -> Int32:
    """The cuDeviceGetMemPool of the driver API: a device's only pool, which releases freed memory at once.
    """
    if pool == NULL or not the_session()[].is_device(device):
        return INVALID_VALUE
    at[UInt64](pool)[] = _POOL + UInt64(device)
    return SUCCESS


def _is_pool(pool: UInt64) -> Bool:
    return _POOL <= pool < _POOL + UInt64(the_session()[].devices)


@export("cuMemPoolTrimTo")
def cuMemPoolTrimTo(pool: UInt64, kept: UInt64) abi("C") -> Int32:
    """The cuMemPoolTrimTo of the driver API: the pool never keeps memory."""
    return SUCCESS if _is_pool(pool) else INVALID_VALUE


@export("cuMemPoolSetAccess")
def cuMemPoolSetAccess(
    pool: UInt64, descriptions: UInt64, count: UInt64
) abi("C") -> Int32:
    """The cuMemPoolSetAccess of the driver API: every device has access."""
    return (
        SUCCESS if _is_pool(pool)
        and descriptions != NULL else INVALID_VALUE
    )
