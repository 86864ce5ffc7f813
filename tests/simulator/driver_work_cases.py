"""Driver calls about graphs, memory pools, tensor maps and virtual memory.

A continuation of `driver_cases.py`, which starts the driver and runs these groups like its own.
"""

from __future__ import annotations

import ctypes
from typing import Any

I32, U32, U64, PTR = ctypes.c_int32, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p
Answers = dict[str, Any]
size_t = ctypes.c_size_t
ref = ctypes.byref


class KernelNode(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS (version 1)."""

    _fields_ = (
        ("function", PTR), ("grid", U32 * 3), ("block", U32 * 3), ("shared_bytes", U32),
        ("parameters", ctypes.POINTER(PTR)), ("extra", PTR),
    )  # fmt: skip


class FillNode(ctypes.Structure):
    """CUDA_MEMSET_NODE_PARAMS: rows of elements, pitch in bytes."""

    _fields_ = (
        ("address", U64), ("pitch", size_t), ("value", U32), ("element", U32), ("width", size_t),
        ("height", size_t),
    )  # fmt: skip


class CopyNode(ctypes.Structure):
    """CUDA_MEMCPY3D; memory types: host 1, device 2."""

    _fields_ = (
        ("from_x", size_t), ("from_y", size_t), ("from_z", size_t), ("from_lod", size_t), ("from_type", U32),
        ("from_host", PTR), ("from_device", U64), ("from_array", PTR), ("reserved0", PTR),
        ("from_pitch", size_t), ("from_height", size_t),
        ("to_x", size_t), ("to_y", size_t), ("to_z", size_t), ("to_lod", size_t), ("to_type", U32),
        ("to_host", PTR), ("to_device", U64), ("to_array", PTR), ("reserved1", PTR),
        ("to_pitch", size_t), ("to_height", size_t),
        ("width", size_t), ("height", size_t), ("depth", size_t),
    )  # fmt: skip


def _pointers(*values: Any) -> Any:
    return (PTR * len(values))(*[ctypes.cast(ref(value), PTR) for value in values])


def _words(driver: Any, address: int, count: int) -> list[int]:
    content = (U32 * count)()
    assert driver("cuMemcpyDtoH_v2", content, U64(address), size_t(4 * count)) == 0
    return list(content)


def captured(driver: Any) -> Answers:
    """Work captured from a stream: nothing happens until the graph is launched, then all of it each time."""
    stream, other, event, graph, made = PTR(), PTR(), PTR(), PTR(), PTR()
    a, b = driver.allocate(64), driver.allocate(64)
    state, host = I32(7), (U32 * 4)(*[11] * 4)
    store = driver.function("store")
    address, value = U64(a), U32(5)
    pointers = _pointers(address, value)
    driver("cuStreamCreate", ref(stream), 1)
    driver("cuStreamCreate", ref(other), 1)
    driver("cuEventCreate", ref(event), 2)
    driver("cuMemsetD32_v2", U64(a), 1, size_t(16))
    driver("cuMemsetD32_v2", U64(b), 2, size_t(16))
    answers: Answers = {
        "end before begin": driver("cuStreamEndCapture", stream, ref(graph)),
        "begin on the default stream": driver("cuStreamBeginCapture", None, 0),
        "begin": driver("cuStreamBeginCapture", stream, 2),
        "begin again": driver("cuStreamBeginCapture", stream, 2),
        "capturing": [driver("cuStreamIsCapturing", stream, ref(state)), state.value],
        "fill": driver("cuMemsetD32Async", U64(a), 3, size_t(16), stream),
        "launch": driver("cuLaunchKernel", store, 1, 1, 1, 1, 1, 1, 0, stream, pointers, None),
        "copy": driver("cuMemcpyDtoDAsync_v2", U64(b), U64(a), size_t(8), stream),
        "record": driver("cuEventRecord", event, stream),
        "wait in another stream": driver("cuStreamWaitEvent", other, event, 0),
        "other is capturing": [driver("cuStreamIsCapturing", other, ref(state)), state.value],
        "fill in the other": driver("cuMemsetD32Async", U64(b + 32), 9, size_t(2), other),
        "record the other": driver("cuEventRecord", event, other),
        "join": driver("cuStreamWaitEvent", stream, event, 0),
        "up": driver("cuMemcpyHtoDAsync_v2", U64(a + 16), host, size_t(16), stream),
        "end": driver("cuStreamEndCapture", stream, ref(graph)),
        "capturing after": [driver("cuStreamIsCapturing", stream, ref(state)), state.value],
        "other after": [driver("cuStreamIsCapturing", other, ref(state)), state.value],
    }
    answers["nothing happened"] = _words(driver, a, 8) + _words(driver, b, 12)
    answers["instantiate"] = driver("cuGraphInstantiateWithFlags", ref(made), graph, U64(0))
    host[0] = 12
    value.value = 6
    answers["launch graph"] = driver("cuGraphLaunch", made, stream)
    answers["synchronise"] = driver("cuStreamSynchronize", stream)
    answers["it happened"] = _words(driver, a, 8) + _words(driver, b, 12)
    driver("cuMemsetD32_v2", U64(a), 1, size_t(16))
    answers["launch graph again"] = driver("cuGraphLaunch", made, stream)
    driver("cuStreamSynchronize", stream)
    answers["it happened again"] = _words(driver, a, 8)
    answers["destroy graph"] = driver("cuGraphDestroy", graph)
    answers["launch without graph"] = driver("cuGraphLaunch", made, stream)
    driver("cuStreamSynchronize", stream)
    answers["destroy executable"] = driver("cuGraphExecDestroy", made)
    return answers


def broken_capture(driver: Any) -> Answers:
    """A synchronising call during a capture invalidates it."""
    stream, graph, state, event = PTR(), PTR(), I32(7), PTR()
    a = driver.allocate(64)
    driver("cuStreamCreate", ref(stream), 1)
    driver("cuEventCreate", ref(event), 2)
    answers: Answers = {
        "begin": driver("cuStreamBeginCapture", stream, 2),
        "synchronise": driver("cuStreamSynchronize", stream),
        "state": [driver("cuStreamIsCapturing", stream, ref(state)), state.value],
        "fill": driver("cuMemsetD32Async", U64(a), 3, size_t(16), stream),
        "end": driver("cuStreamEndCapture", stream, ref(graph)),
        "no graph": int(not graph.value),
        "state after": [driver("cuStreamIsCapturing", stream, ref(state)), state.value],
        "begin anew": driver("cuStreamBeginCapture", stream, 2),
        "record": driver("cuEventRecord", event, stream),
        "query a captured event": driver("cuEventQuery", event),
        "end anew": driver("cuStreamEndCapture", stream, ref(graph)),
    }
    return answers


def graphs(driver: Any) -> Answers:
    """Graphs: captured, invalidated, and created node by node."""
    answers = {f"capture, {name}": answer for name, answer in captured(driver).items()}
    answers |= {f"broken, {name}": answer for name, answer in broken_capture(driver).items()}
    graph, empty, fill, kernel, copy, made, child = (PTR() for _ in range(7))
    a, b = driver.allocate(64), driver.allocate(64)
    driver("cuMemsetD32_v2", U64(a), 1, size_t(16))
    driver("cuMemsetD32_v2", U64(b), 2, size_t(16))
    address, value = U64(a + 4), U32(77)
    launch = KernelNode(driver.function("store"), (U32 * 3)(1, 1, 1), (U32 * 3)(1, 1, 1), 0)
    launch.parameters = _pointers(address, value)
    words = FillNode(a, 32, 8, 4, 3, 2)
    across = CopyNode(from_type=2, from_device=a, to_type=2, to_device=b, width=12, height=1, depth=1)
    answers |= {
        "create": driver("cuGraphCreate", ref(graph), 0),
        "create with flags": driver("cuGraphCreate", ref(child), 5),
        "empty node": driver("cuGraphAddEmptyNode", ref(empty), graph, None, size_t(0)),
        "fill node": driver(
            "cuGraphAddMemsetNode", ref(fill), graph, ref(empty), size_t(1), ref(words), driver.context
        ),
        "kernel node": driver("cuGraphAddKernelNode", ref(kernel), graph, ref(fill), size_t(1), ref(launch)),
        "copy node": driver(
            "cuGraphAddMemcpyNode", ref(copy), graph, ref(kernel), size_t(1), ref(across), driver.context
        ),
        "instantiate": driver("cuGraphInstantiateWithFlags", ref(made), graph, U64(0)),
        "launch": driver("cuGraphLaunch", made, None),
        "synchronise": driver("cuStreamSynchronize", None),
    }
    answers["content"] = _words(driver, a, 16) + _words(driver, b, 4)
    answers["child"] = [
        driver("cuGraphCreate", ref(child), 0),
        driver("cuGraphAddChildGraphNode", ref(empty), child, None, size_t(0), graph),
        driver("cuGraphInstantiateWithFlags", ref(made), child, U64(0)),
        driver("cuMemsetD32_v2", U64(b), 2, size_t(16)),
        driver("cuGraphLaunch", made, None),
        driver("cuStreamSynchronize", None),
    ]
    answers["content of the child"] = _words(driver, b, 4)
    answers["no graph"] = [
        driver("cuGraphDestroy", None),
        driver("cuGraphLaunch", None, None),
        driver("cuGraphInstantiateWithFlags", ref(made), None, U64(0)),
    ]
    return answers


def pools(driver: Any) -> Answers:
    """The device's memory pool, and stream-ordered allocation."""
    pool, again, address, number = PTR(), PTR(), U64(), I32(7)
    amount = U64(7)
    answers: Answers = {
        "pool": driver("cuDeviceGetMemPool", ref(pool), 0),
        "pool again": [driver("cuDeviceGetMemPool", ref(again), 0), int(again.value == pool.value)],
        "pool of no device": driver("cuDeviceGetMemPool", ref(pool), 7),
        "allocate": driver("cuMemAllocAsync", ref(address), size_t(1000), None),
        "free": driver("cuMemFreeAsync", address, None),
        "synchronise": driver("cuStreamSynchronize", None),
        "trim": driver("cuMemPoolTrimTo", pool, size_t(0)),
        "trim nothing": driver("cuMemPoolTrimTo", None, size_t(0)),
        "graph memory": [driver("cuDeviceGetGraphMemAttribute", 0, 0, ref(amount)), amount.value],
        "peer of itself": [driver("cuDeviceCanAccessPeer", ref(number), 0, 0), number.value],
        "enable itself": driver("cuCtxEnablePeerAccess", driver.context, 0),
    }
    for attribute in (1, 2, 3, 4):
        number = I32(7)
        status = driver("cuDeviceGetP2PAttribute", ref(number), attribute, 0, 0)
        answers[f"peer attribute {attribute}"] = [status, number.value]
    return answers


def tensor_maps(driver: Any) -> Answers:
    """cuTensorMapEncodeTiled with valid and invalid arguments."""
    memory = driver.allocate(1 << 20)
    room = ctypes.create_string_buffer(256)
    descriptor = -(-ctypes.addressof(room) // 64) * 64

    def encode(**changed: Any) -> int:
        given: dict[str, Any] = {
            "descriptor": descriptor, "kind": 7, "rank": 2, "address": memory, "extents": (64, 32),
            "strides": (256,), "box": (16, 8), "steps": (1, 1), "interleave": 0, "swizzle": 0, "promotion": 0,
            "fill": 0,
        } | changed  # fmt: skip
        return int(
            driver(
                "cuTensorMapEncodeTiled",
                PTR(given["descriptor"]), given["kind"], given["rank"], PTR(given["address"]),
                (U64 * 5)(*given["extents"]), (U64 * 4)(*given["strides"]), (U32 * 5)(*given["box"]),
                (U32 * 5)(*given["steps"]), given["interleave"], given["swizzle"], given["promotion"],
                given["fill"],
            )
        )  # fmt: skip

    answers: Answers = {
        "good": encode(),
        "no place": encode(descriptor=0),
        "place not at 64": encode(descriptor=descriptor + 16),
        "rank 0": encode(rank=0),
        "rank 1": encode(rank=1),
        "rank 5": encode(rank=5, extents=(64, 4, 4, 4, 4), strides=(256, 1024, 4096, 16384),
                         box=(16, 2, 2, 2, 2), steps=(1, 1, 1, 1, 1)),
        "rank 6": encode(rank=6),
        "address not at 16": encode(address=memory + 8),
        "no address": encode(address=0),
        "stride not of 16": encode(strides=(264,)),
        "stride shorter than a row": encode(strides=(128,)),
        "no rows": encode(extents=(64, 0)),
        "box of nothing": encode(box=(16, 0)),
        "box of 257": encode(box=(16, 257)),
        "box larger than the tensor": encode(box=(16, 64)),
        "box row not of 16": encode(box=(3, 8)),
        "step 0": encode(steps=(1, 0)),
        "step 9": encode(steps=(1, 9)),
        "step 2": encode(steps=(2, 1)),
        "swizzle 32": encode(swizzle=1, box=(8, 8)),
        "swizzle 32 too wide": encode(swizzle=1, box=(16, 8)),
        "swizzle 128": encode(swizzle=3, box=(32, 8)),
        "swizzle 128 too wide": encode(swizzle=3, box=(64, 8)),
        "swizzle 128 narrow": encode(swizzle=3, box=(8, 8)),
        "fill of integers": encode(kind=2, fill=1),
        "fill of floats": encode(fill=1),
        "fill 2": encode(fill=2),
        "promotion 3": encode(promotion=3),
        "promotion 4": encode(promotion=4),
        "kind 12": encode(kind=12),
        "wide box": encode(box=(256, 1)),
        "large box": encode(box=(256, 256)),
    }  # fmt: skip
    return answers


def column_maps(driver: Any) -> Answers:
    """cuTensorMapEncodeIm2col with valid and invalid arguments."""
    memory = driver.allocate(1 << 20)
    room = ctypes.create_string_buffer(256)
    descriptor = -(-ctypes.addressof(room) // 64) * 64
    strides = (256, 4096, 32768, 262144)

    def encode(rank: int = 4, **changed: Any) -> int:
        given: dict[str, Any] = {
            "descriptor": descriptor, "kind": 7, "address": memory, "extents": (64, 16, 8, 8, 4)[:rank],
            "strides": strides[: rank - 1], "lower": (0,) * (rank - 2), "upper": (0,) * (rank - 2),
            "channels": 16, "pixels": 8, "steps": (1,) * rank, "swizzle": 0, "promotion": 0, "fill": 0,
        } | changed  # fmt: skip
        return int(
            driver(
                "cuTensorMapEncodeIm2col",
                PTR(given["descriptor"]), given["kind"], rank, PTR(given["address"]),
                (U64 * 5)(*given["extents"]), (U64 * 4)(*given["strides"]),
                (ctypes.c_int * 3)(*given["lower"]), (ctypes.c_int * 3)(*given["upper"]),
                given["channels"], given["pixels"], (U32 * 5)(*given["steps"]), 0, given["swizzle"],
                given["promotion"], given["fill"],
            )
        )  # fmt: skip

    answers: Answers = {
        "good": encode(),
        "no place": encode(descriptor=0),
        "place not at 64": encode(descriptor=descriptor + 16),
        "rank 2": encode(2),
        "rank 3": encode(3),
        "rank 5": encode(5),
        "address not at 16": encode(address=memory + 8),
        "no address": encode(address=0),
        "stride not of 16": encode(strides=(264, 4096, 32768)),
        "no pixels in the tensor": encode(extents=(64, 0, 8, 8)),
        "channels 0": encode(channels=0),
        "channels not of 16 bytes": encode(channels=3),
        "channels 64": encode(channels=64),
        "channels 128 of 64": encode(channels=128),
        "channels 256": encode(channels=256),
        "channels 257 bytes": encode(kind=0, channels=272),
        "pixels 0": encode(pixels=0),
        "pixels 1": encode(pixels=1),
        "pixels 256": encode(pixels=256),
        "pixels 1024": encode(pixels=1024, channels=4),
        "pixels 1025": encode(pixels=1025, channels=4),
        "more than shared memory holds": encode(pixels=1024, channels=256),
        "step 0": encode(steps=(1, 0, 1, 1)),
        "step 8": encode(steps=(1, 8, 1, 1)),
        "step 9": encode(steps=(1, 9, 1, 1)),
        "swizzle 32": encode(swizzle=1, channels=8),
        "swizzle 32 too wide": encode(swizzle=1),
        "fill of integers": encode(kind=2, fill=1),
        "fill of floats": encode(fill=1),
        "promotion 4": encode(promotion=4),
        "window of nothing": encode(lower=(16, 0)),
        "window of one": encode(lower=(15, 0)),
        "window that ends early": encode(upper=(-16, 0)),
        "window beyond": encode(lower=(-3, -3), upper=(3, 3)),
    }  # fmt: skip
    for rank, reach in ((3, 1 << 15), (4, 1 << 7), (5, 1 << 4)):
        rest = (0,) * (rank - 3)
        for name, corner in (
            ("below", -reach - 1),
            ("lowest", -reach),
            ("highest", reach - 1),
            ("above", reach),
        ):
            answers[f"lower corner {name}, rank {rank}"] = encode(
                rank, lower=(corner, *rest), upper=(reach - 1, *rest)
            )
            answers[f"upper corner {name}, rank {rank}"] = encode(
                rank, upper=(corner, *rest), lower=(-reach, *rest)
            )
    return answers


class Location(ctypes.Structure):
    """CUmemLocation: a device 1, or the host."""

    _fields_ = (("kind", U32), ("number", I32))


class Properties(ctypes.Structure):
    """CUmemAllocationProp."""

    _fields_ = (
        ("kind", U32), ("handles", U32), ("location", Location), ("win32", PTR),
        ("flags", ctypes.c_ubyte * 8),
    )  # fmt: skip


class Access(ctypes.Structure):
    """CUmemAccessDesc; read and write is 3."""

    _fields_ = (("location", Location), ("flags", U32))


def virtual_memory(driver: Any) -> Answers:
    """Addresses are reserved, memory is created, mapped and used by a kernel, and all is released again."""
    properties, allowed = Properties(1, 0, Location(1, 0)), Access(Location(1, 0), 3)
    granularity, address, handle = size_t(7), U64(), U64()
    answers: Answers = {
        "granularity": [
            driver("cuMemGetAllocationGranularity", ref(granularity), ref(properties), 0), granularity.value,
        ],
        "recommended": [
            driver("cuMemGetAllocationGranularity", ref(granularity), ref(properties), 1), granularity.value,
        ],
        "make": driver("cuMemCreate", ref(handle), size_t(2 << 20), ref(properties), U64(0)),
        "make an odd size": driver("cuMemCreate", ref(U64()), size_t(1000), ref(properties), U64(0)),
        "reserve": driver("cuMemAddressReserve", ref(address), size_t(4 << 20), size_t(0), U64(0), U64(0)),
        "reserve an odd size": driver(
            "cuMemAddressReserve", ref(U64()), size_t(1000), size_t(0), U64(0), U64(0)
        ),
        "map": driver("cuMemMap", address, size_t(2 << 20), size_t(0), handle, U64(0)),
        "map there again": driver("cuMemMap", address, size_t(2 << 20), size_t(0), handle, U64(0)),
        "allow": driver("cuMemSetAccess", address, size_t(2 << 20), ref(allowed), size_t(1)),
        "fill": driver("cuMemsetD32_v2", address, 5, size_t(8)),
        "launch": driver.launch(driver.function("store"), arguments=(address, U32(9))),
        "synchronise": driver("cuStreamSynchronize", None),
    }  # fmt: skip
    answers["content"] = _words(driver, address.value, 3)
    answers["release while mapped"] = driver("cuMemRelease", handle)
    answers["still there"] = _words(driver, address.value, 3)
    answers["free while mapped"] = driver("cuMemAddressFree", address, size_t(4 << 20))
    answers["unmap"] = driver("cuMemUnmap", address, size_t(2 << 20))
    answers["unmap again"] = driver("cuMemUnmap", address, size_t(2 << 20))
    answers["use after unmap"] = driver("cuMemsetD32_v2", address, 5, size_t(8))
    answers["free"] = driver("cuMemAddressFree", address, size_t(4 << 20))
    answers["release again"] = driver("cuMemRelease", handle)
    return answers


def read_only_memory(driver: Any) -> Answers:
    """Accesses to memory that is mapped read-only; the last launch is stopped."""
    size, properties, device = size_t(2 << 20), Properties(1, 0, Location(1, 0)), Location(1, 0)
    address, handle, other, words = U64(), U64(), U64(driver.allocate(64)), (U32 * 4)(9, 9, 9, 9)
    answers: Answers = {
        "make": driver("cuMemCreate", ref(handle), size, ref(properties), U64(0)),
        "reserve": driver("cuMemAddressReserve", ref(address), size_t(8 << 20), size_t(0), U64(0), U64(0)),
        "map": driver("cuMemMap", address, size, size_t(0), handle, U64(0)),
    }
    elsewhere = U64(address.value + (4 << 20))

    def allow(address: Any, *flags: int) -> list[int]:
        """The status of both calls, and the access flags that the second returns."""
        asked = (Access * len(flags))(*[Access(device, flag) for flag in flags])
        seen = U64(77)
        done = driver("cuMemSetAccess", address, size, asked, size_t(len(flags)))
        return [done, driver("cuMemGetAccess", ref(seen), ref(device), address), seen.value]

    answers |= {
        "read and write": allow(address, 3),
        "fill": driver("cuMemsetD32_v2", address, 5, size_t(8)),
        "fill other memory": driver("cuMemsetD32_v2", other, 3, size_t(8)),
        "write": allow(address, 2),
        "something else": allow(address, 4),
        "read, then read and write": allow(address, 1, 3),
        "read and write, then read": allow(address, 3, 1),
        "read": allow(address, 1),
        "fill it": driver("cuMemsetD32_v2", address, 6, size_t(8)),
        "fill it later": driver("cuMemsetD32Async", address, 6, size_t(8), None),
        "up": driver("cuMemcpyHtoD_v2", address, words, size_t(16)),
        "up later": driver("cuMemcpyHtoDAsync_v2", address, words, size_t(16), None),
        "copy into it": driver("cuMemcpyDtoD_v2", address, other, size_t(16)),
        "copy from it": driver("cuMemcpyDtoD_v2", other, address, size_t(16)),
        "content": _words(driver, address.value, 4) + _words(driver, other.value, 4),
        "map elsewhere": driver("cuMemMap", elsewhere, size, size_t(0), handle, U64(0)),
        "read and write elsewhere": allow(elsewhere, 3),
        "fill elsewhere": driver("cuMemsetD32_v2", elsewhere, 8, size_t(8)),
        "content now": _words(driver, address.value, 4),
        "fill it still": driver("cuMemsetD32_v2", address, 4, size_t(8)),
        "nothing": allow(address, 0),
        "read again": allow(address, 1),
        "store": driver.launch(driver.function("store"), arguments=(address, U32(9))),
        "synchronise": driver("cuStreamSynchronize", None),
        "down afterwards": driver("cuMemcpyDtoH_v2", words, address, size_t(16)),
    }
    return answers
