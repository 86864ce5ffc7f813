"""Calls of the CUDA driver API whose results must be the same with the simulated driver and with NVIDIA's.

Run as a program, it makes one group of calls through the `libcuda.so.1` that the loader finds, and prints the
results as JSON. `data/driver_answers.json` was recorded this way on an H200 (`python driver_cases.py --record
data/driver_answers.json`); the tests make the same calls to the simulated driver. Only the standard library
is used, since this runs where the project is not installed.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.simulator import driver_work_cases as work

PTX = b"""
.version 8.5
.target sm_90a
.address_size 64
.visible .global .align 4 .u32 counter = 7;
.visible .entry store(.param .u64 pointer, .param .u32 value)
{
    .reg .b64 %rd<3>;
    .reg .b32 %r<3>;
    ld.param.b64 %rd1, [pointer];
    ld.param.b32 %r1, [value];
    cvta.to.global.u64 %rd2, %rd1;
    st.global.b32 [%rd2], %r1;
    ret;
}
.visible .entry mixed(.param .u8 a, .param .align 8 .b8 b[24], .param .u32 c, .param .f64 d)
{
    ret;
}
.visible .entry fixed_shared(.param .u64 pointer)
{
    .shared .align 4 .b8 tile[8192];
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    mov.u32 %r1, %tid.x;
    st.shared.b32 [tile], %r1;
    ld.shared.b32 %r2, [tile];
    ld.param.b64 %rd1, [pointer];
    cvta.to.global.u64 %rd2, %rd1;
    st.global.b32 [%rd2], %r2;
    ret;
}
.visible .entry bounded(.param .u64 pointer) .maxntid 128, 1, 1
{
    ret;
}
.visible .entry required(.param .u64 pointer) .reqntid 64, 1, 1
{
    ret;
}
.visible .entry clustered(.param .u64 pointer) .explicitcluster .reqnctapercluster 2, 1, 1
{
    ret;
}
\x00"""

I32, U32, U64, PTR = ctypes.c_int32, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p
Answer = int | str | list[int] | None
Answers = dict[str, Answer]


class LaunchAttribute(ctypes.Structure):
    """CUlaunchAttribute of the driver API: an id, padding to 8 bytes, and a union of 64 bytes."""

    _fields_ = (("id", U32), ("pad", U32), ("value", U32 * 16))


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig of the driver API."""

    _fields_ = (
        ("grid", U32 * 3),
        ("block", U32 * 3),
        ("shared_bytes", U32),
        ("stream", PTR),
        ("attributes", ctypes.POINTER(LaunchAttribute)),
        ("attribute_count", U32),
    )


class Driver:
    """One process's view of the driver: device 0, its primary context, and the module above."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libcuda.so.1")
        self.context, self.module = PTR(), PTR()

    def __call__(self, name: str, *arguments: object) -> int:
        return int(getattr(self.library, name)(*arguments))

    def start(self) -> Driver:
        assert self("cuInit", 0) == 0
        assert self("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), 0) == 0
        assert self("cuCtxSetCurrent", self.context) == 0
        assert self("cuModuleLoadDataEx", ctypes.byref(self.module), PTX, 0, None, None) == 0
        return self

    def function(self, name: str) -> ctypes.c_void_p:
        function = PTR()
        assert self("cuModuleGetFunction", ctypes.byref(function), self.module, name.encode()) == 0
        return function

    def allocate(self, size: int) -> int:
        address = U64()
        assert self("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size)) == 0
        return address.value

    def launch(  # the shape of a launch is what the cases vary
        self,
        function: ctypes.c_void_p,
        grid: tuple[int, int, int] = (1, 1, 1),
        block: tuple[int, int, int] = (1, 1, 1),
        *,
        shared: int = 0,
        cluster: tuple[int, int, int] | None = None,
        arguments: tuple[object, ...] | None = None,
        old: bool = False,
    ) -> int:
        values = arguments if arguments is not None else (U64(self.allocate(64)), U32(5), U64(0), U64(0))
        pointers = (PTR * len(values))(*[ctypes.cast(ctypes.byref(value), PTR) for value in values])  # type: ignore[arg-type]
        if old:
            return self("cuLaunchKernel", function, *grid, *block, shared, None, pointers, None)
        attributes = (LaunchAttribute * 1)()
        if cluster is not None:
            attributes[0].id = 4
            attributes[0].value[0], attributes[0].value[1], attributes[0].value[2] = cluster
        config = LaunchConfig(
            (U32 * 3)(*grid), (U32 * 3)(*block), shared, None, attributes, 0 if cluster is None else 1
        )
        return self("cuLaunchKernelEx", ctypes.byref(config), function, pointers, None)


def names() -> Answers:
    """cuGetErrorName and cuGetErrorString of every code of CUresult."""
    driver, answers = Driver(), Answers()
    for code in [*range(0, 1000)]:
        for question in ("cuGetErrorName", "cuGetErrorString"):
            text = ctypes.c_char_p()
            status = driver(question, code, ctypes.byref(text))
            if status == 0 or code in (9, 998):
                answers[f"{question} {code}"] = text.value.decode() if text.value else None
    return answers


def attributes() -> Answers:
    """cuDeviceGetAttribute of every attribute, cuFuncGetAttribute of two kernels."""
    driver, answers = Driver().start(), Answers()
    for number in range(0, 148):
        value = I32(-77)
        status = driver("cuDeviceGetAttribute", ctypes.byref(value), number, 0)
        answers[f"cuDeviceGetAttribute {number}"] = [status, value.value]
    for kernel in ("store", "fixed_shared", "bounded", "required", "clustered"):
        for number in range(17):
            value = I32(-77)
            status = driver("cuFuncGetAttribute", ctypes.byref(value), number, driver.function(kernel))
            answers[f"cuFuncGetAttribute {number} {kernel}"] = [status, value.value]
    for index in range(5):
        offset, size = ctypes.c_size_t(99), ctypes.c_size_t(99)
        status = driver(
            "cuFuncGetParamInfo",
            driver.function("mixed"),
            ctypes.c_size_t(index),
            ctypes.byref(offset),
            ctypes.byref(size),
        )
        answers[f"cuFuncGetParamInfo {index}"] = [status, offset.value, size.value]
    for threads, shared in ((32, 0), (128, 0), (1024, 0), (256, 40000), (2048, 0), (0, 0), (96, 20000)):
        blocks = I32(-77)
        status = driver(
            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
            ctypes.byref(blocks),
            driver.function("store"),
            threads,
            ctypes.c_size_t(shared),
        )
        answers[f"occupancy {threads} {shared}"] = [status, blocks.value]
    return answers


def launches() -> Answers:
    """cuLaunchKernel(Ex) with shapes that the driver accepts or rejects; no kernel fails."""
    driver = Driver().start()
    store, tile = driver.function("store"), driver.function("fixed_shared")
    answers: Answers = {
        "good": driver.launch(store),
        "good old": driver.launch(store, old=True),
        "thousand threads": driver.launch(store, block=(32, 32, 1)),
        "no grid": driver.launch(store, grid=(0, 1, 1)),
        "no grid y": driver.launch(store, grid=(1, 0, 1)),
        "no block": driver.launch(store, block=(0, 1, 1)),
        "no block z": driver.launch(store, block=(1, 1, 0)),
        "no block old": driver.launch(store, block=(0, 1, 1), old=True),
        "1025 threads": driver.launch(store, block=(1025, 1, 1)),
        "33 by 32 threads": driver.launch(store, block=(33, 32, 1)),
        "1025 threads old": driver.launch(store, block=(1025, 1, 1), old=True),
        "65 deep block": driver.launch(store, block=(1, 1, 65)),
        "64 deep block": driver.launch(store, block=(1, 1, 64)),
        "65535 rows": driver.launch(store, grid=(1, 65535, 1)),
        "65536 rows": driver.launch(store, grid=(1, 65536, 1)),
        "65536 layers": driver.launch(store, grid=(1, 1, 65536)),
        "48 KiB shared": driver.launch(store, shared=49152),
        "48 KiB and a byte": driver.launch(store, shared=49153),
        "static and 40960 dynamic": driver.launch(tile, shared=40960),
        "static and 40961 dynamic": driver.launch(tile, shared=40961),
        "bounded at 128": driver.launch(driver.function("bounded"), block=(128, 1, 1)),
        "bounded at 129": driver.launch(driver.function("bounded"), block=(129, 1, 1)),
        "bounded at 64 by 2": driver.launch(driver.function("bounded"), block=(64, 2, 1)),
        "required at 64": driver.launch(driver.function("required"), block=(64, 1, 1)),
        "required at 32": driver.launch(driver.function("required"), block=(32, 1, 1)),
        "required at 65": driver.launch(driver.function("required"), block=(65, 1, 1)),
        "no kernel": driver("cuLaunchKernel", None, 1, 1, 1, 1, 1, 1, 0, None, None, None),
        "cluster 2 of 4": driver.launch(store, grid=(4, 1, 1), cluster=(2, 1, 1)),
        "cluster 8 of 8": driver.launch(store, grid=(8, 1, 1), cluster=(8, 1, 1)),
        "cluster 2 of 3": driver.launch(store, grid=(3, 1, 1), cluster=(2, 1, 1)),
        "cluster 2 by 2 of 4 by 4": driver.launch(store, grid=(4, 4, 1), cluster=(2, 2, 1)),
        "cluster 2 by 2 of 4 by 3": driver.launch(store, grid=(4, 3, 1), cluster=(2, 2, 1)),
        "cluster 9 of 9": driver.launch(store, grid=(9, 1, 1), cluster=(9, 1, 1)),
        "cluster 16 of 16": driver.launch(store, grid=(16, 1, 1), cluster=(16, 1, 1)),
        "cluster 4 by 4 of 4 by 4": driver.launch(store, grid=(4, 4, 1), cluster=(4, 4, 1)),
        "cluster 0": driver.launch(store, grid=(4, 1, 1), cluster=(0, 1, 1)),
        "cluster 3 of 6": driver.launch(store, grid=(6, 1, 1), cluster=(3, 1, 1)),
        "required cluster kept": driver.launch(driver.function("clustered"), grid=(4, 1, 1)),
        "required cluster kept by both": driver.launch(
            driver.function("clustered"), grid=(4, 1, 1), cluster=(2, 1, 1)
        ),
        "required cluster of odd grid": driver.launch(driver.function("clustered"), grid=(3, 1, 1)),
        "required cluster contradicted": driver.launch(
            driver.function("clustered"), grid=(4, 1, 1), cluster=(4, 1, 1)
        ),
        "opt in to 227 KiB": driver("cuFuncSetAttribute", store, 8, 232448),
        "227 KiB shared": driver.launch(store, shared=232448),
        "227 KiB and a byte shared": driver.launch(store, shared=232449),
        "opt in to 228 KiB": driver("cuFuncSetAttribute", store, 8, 233472),
        "opt in to less than nothing": driver("cuFuncSetAttribute", store, 8, -1),
        "opt in of a kernel with static shared": driver("cuFuncSetAttribute", tile, 8, 232448),
        "allow large clusters": driver("cuFuncSetAttribute", tile, 14, 1),
        "cluster 16 allowed": driver.launch(tile, grid=(16, 1, 1), cluster=(16, 1, 1)),
        "cluster 17 allowed": driver.launch(tile, grid=(17, 1, 1), cluster=(17, 1, 1)),
        "set a read-only attribute": driver("cuFuncSetAttribute", store, 4, 3),
        "set no attribute": driver("cuFuncSetAttribute", store, 99, 3),
        "prefer carveout": driver("cuFuncSetAttribute", store, 9, 50),
        "synchronise": driver("cuStreamSynchronize", None),
    }
    return answers


def memory() -> Answers:
    """Allocation, copies and fills, valid and invalid."""
    driver = Driver().start()
    size_t = ctypes.c_size_t
    a, b, host = driver.allocate(64), driver.allocate(100), ctypes.create_string_buffer(4096)
    scratch, base, size = U64(), U64(), size_t()
    pinned = PTR()
    ref = ctypes.byref
    answers: Answers = {
        "aligned": a % 256,
        "nothing": driver("cuMemAlloc_v2", ref(scratch), size_t(0)),
        "too much": driver("cuMemAlloc_v2", ref(scratch), size_t(1 << 45)),
        "to nowhere": driver("cuMemAlloc_v2", None, size_t(4)),
        "up": driver("cuMemcpyHtoD_v2", U64(a), host, size_t(64)),
        "up, nothing": driver("cuMemcpyHtoD_v2", U64(a), host, size_t(0)),
        "up to nowhere": driver("cuMemcpyHtoD_v2", U64(0), host, size_t(4)),
        "up to host memory": driver(
            "cuMemcpyHtoD_v2", U64(ctypes.addressof(host)), ctypes.create_string_buffer(8), size_t(8)
        ),
        "down": driver("cuMemcpyDtoH_v2", host, U64(a), size_t(64)),
        "down, inside": driver("cuMemcpyDtoH_v2", host, U64(a + 60), size_t(4)),
        "across": driver("cuMemcpyDtoD_v2", U64(b), U64(a), size_t(64)),
        "up async": driver("cuMemcpyHtoDAsync_v2", U64(a), host, size_t(64), None),
        "down async": driver("cuMemcpyDtoHAsync_v2", host, U64(a), size_t(64), None),
        "across async": driver("cuMemcpyDtoDAsync_v2", U64(b), U64(a), size_t(64), None),
        "fill 8": driver("cuMemsetD8_v2", U64(a), 3, size_t(64)),
        "fill 16": driver("cuMemsetD16_v2", U64(a), 3, size_t(32)),
        "fill 32": driver("cuMemsetD32_v2", U64(a), 3, size_t(16)),
        "fill 32 unaligned": driver("cuMemsetD32_v2", U64(a + 2), 3, size_t(4)),
        "fill 16 unaligned": driver("cuMemsetD16_v2", U64(a + 1), 3, size_t(4)),
        "fill nothing": driver("cuMemsetD32_v2", U64(a), 3, size_t(0)),
        "fill nowhere": driver("cuMemsetD32_v2", U64(0), 3, size_t(4)),
        "fill 2D": driver("cuMemsetD2D32_v2", U64(a), size_t(16), 3, size_t(2), size_t(4)),
        "fill 2D pitch too small": driver("cuMemsetD2D32_v2", U64(a), size_t(4), 3, size_t(2), size_t(4)),
        "range": [
            driver("cuMemGetAddressRange_v2", ref(base), ref(size), U64(b + 5)),
            base.value - b,
            size.value,
        ],
        "range of nowhere": driver("cuMemGetAddressRange_v2", ref(base), ref(size), U64(16)),
        "pinned": driver("cuMemAllocHost_v2", ref(pinned), size_t(128)),
        "pinned is a device pointer": [
            driver("cuMemHostGetDevicePointer_v2", ref(scratch), pinned, 0),
            scratch.value - (pinned.value or 0),
        ],
        "device pointer of plain memory": driver("cuMemHostGetDevicePointer_v2", ref(scratch), host, 0),
        "up from pinned": driver("cuMemcpyHtoD_v2", U64(a), pinned, size_t(64)),
        "free pinned": driver("cuMemFreeHost", pinned),
        "free pinned again": driver("cuMemFreeHost", pinned),
        "free plain memory as pinned": driver("cuMemFreeHost", host),
        "free inside": driver("cuMemFree_v2", U64(b + 4)),
        "free": driver("cuMemFree_v2", U64(b)),
        "free again": driver("cuMemFree_v2", U64(b)),
        "free nothing": driver("cuMemFree_v2", U64(0)),
        "allocate async": driver("cuMemAllocAsync", ref(scratch), size_t(64), None),
        "free async": driver("cuMemFreeAsync", scratch, None),
        "allocate host flags": driver("cuMemHostAlloc", ref(pinned), size_t(64), 2),
    }
    for label, address in (
        ("device", a + 4),
        ("pinned", (pinned.value or 0) + 4),
        ("plain", ctypes.addressof(host)),
    ):
        kinds = (U32 * 6)(2, 8, 9, 12, 13, 11)
        values = (U64 * 6)(*([77] * 6))
        targets = (PTR * 6)(*[ctypes.addressof(values) + 8 * index for index in range(6)])
        status = driver("cuPointerGetAttributes", 6, kinds, targets, U64(address))
        start = values[5] - address if label != "plain" else 0
        narrow = [
            values[0] & 0xFFFFFFFF,
            values[1] & 0xFF,
            values[2] & 0xFFFFFFFF,
            values[3],
            values[4] & 0xFF,
        ]
        answers[f"pointer attributes, {label}"] = [status, *narrow, start]
    return answers


def handles() -> Answers:
    """Streams, events, modules and functions: handles that do not exist, or no longer exist."""
    driver = Driver().start()
    ref = ctypes.byref
    stream, event, other, missing = PTR(), PTR(), PTR(), PTR()
    status, elapsed, count, name = I32(7), ctypes.c_float(), I32(), ctypes.create_string_buffer(8)
    address, size = U64(), ctypes.c_size_t()
    least, greatest = I32(9), I32(9)
    answers: Answers = {
        "stream": driver("cuStreamCreate", ref(stream), 1),
        "stream with flags": driver("cuStreamCreate", ref(missing), 8),
        "stream priorities": [
            driver("cuCtxGetStreamPriorityRange", ref(least), ref(greatest)),
            least.value,
            greatest.value,
        ],
        "capturing": [driver("cuStreamIsCapturing", stream, ref(status)), status.value],
        "synchronise": driver("cuStreamSynchronize", stream),
        "event": driver("cuEventCreate", ref(event), 0),
        "other event": driver("cuEventCreate", ref(other), 2),
        "event with flags": driver("cuEventCreate", ref(missing), 64),
        "query before record": driver("cuEventQuery", event),
        "elapsed before record": driver("cuEventElapsedTime", ref(elapsed), event, event),
        "record": driver("cuEventRecord", event, stream),
        "wait": driver("cuStreamWaitEvent", stream, event, 0),
        "synchronise event": driver("cuEventSynchronize", event),
        "query": driver("cuEventQuery", event),
        "record other": driver("cuEventRecord", other, stream),
        "elapsed without timing": driver("cuEventElapsedTime", ref(elapsed), event, other),
        "destroy event": driver("cuEventDestroy", event),
        "destroy stream": driver("cuStreamDestroy", stream),
        "no event": driver("cuEventRecord", None, None),
        "function": driver("cuModuleGetFunction", ref(missing), driver.module, b"store"),
        "no function": driver("cuModuleGetFunction", ref(missing), driver.module, b"absent"),
        "global": [
            driver("cuModuleGetGlobal_v2", ref(address), ref(size), driver.module, b"counter"),
            size.value,
        ],
        "no global": driver("cuModuleGetGlobal_v2", ref(address), ref(size), driver.module, b"absent"),
        "count": [driver("cuDeviceGetCount", ref(count)), count.value],
        "short name": [driver("cuDeviceGetName", name, 8, 0), len(name.value)],
        "no device": driver("cuDeviceGet", ref(count), 1),
        "attribute of no device": driver("cuDeviceGetAttribute", ref(count), 1, 1),
        "init with flags": driver("cuInit", 1),
        "no image": driver("cuModuleLoadDataEx", ref(missing), None, 0, None, None),
        "unload": driver("cuModuleUnload", driver.module),
    }
    value = I32()
    word = U32()
    driver.start()
    driver("cuModuleGetGlobal_v2", ref(address), ref(size), driver.module, b"counter")
    driver("cuMemcpyDtoH_v2", ref(word), address, ctypes.c_size_t(4))
    answers["initial value of a global"] = word.value
    answers["device of no context"] = driver("cuDeviceGetAttribute", ref(value), 1, -1)
    return answers


def bad_ptx() -> Answers:
    """cuModuleLoadDataEx of a text that is not PTX: the code, and whether the error log has a reason."""
    driver = Driver().start()
    module = PTR()
    log = ctypes.create_string_buffer(2048)
    options = (U32 * 2)(5, 6)
    values = (PTR * 2)(ctypes.addressof(log), 2048)
    broken = PTX.replace(b"st.global.b32 [%rd2]", b"st.globul.b32 [%rd2]", 1)
    status = driver("cuModuleLoadDataEx", ctypes.byref(module), broken, 2, options, values)
    return {
        "code": status,
        "log names the line": int(b"line 16" in log.value),
        "log size is told": int((values[1] or 0) < 2048),
        "without a log": driver("cuModuleLoadDataEx", ctypes.byref(module), broken, 0, None, None),
        "not text": driver(
            "cuModuleLoadDataEx", ctypes.byref(module), b"\x01\x02\x03\x04rubbish\x00", 0, None, None
        ),
    }


def uninitialised() -> Answers:
    """Calls before cuInit and without a context."""
    driver = Driver()
    value, address, context = I32(), U64(), PTR()
    early = {
        "count before init": driver("cuDeviceGetCount", ctypes.byref(value)),
        "allocate before init": driver("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(4)),
        "version before init": driver("cuDriverGetVersion", ctypes.byref(value)),
    }
    return {
        **early,
        "init": driver("cuInit", 0),
        "allocate without context": driver("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(4)),
        "current context": [driver("cuCtxGetCurrent", ctypes.byref(context)), context.value or 0],
        "pop without context": driver("cuCtxPopCurrent", ctypes.byref(context)),
        "retain": driver("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0),
        "push": driver("cuCtxPushCurrent", context),
        "allocate": driver("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(4)),
        "pop": driver("cuCtxPopCurrent", ctypes.byref(context)),
        "release": driver("cuDevicePrimaryCtxRelease_v2", 0),
        "release again": driver("cuDevicePrimaryCtxRelease_v2", 0),
    }


def after_a_fault() -> Answers:
    """A store to an unmapped address: the launch succeeds, then every later call reports the fault."""
    driver = Driver().start()
    store, good = driver.function("store"), driver.allocate(64)
    size_t, address = ctypes.c_size_t, U64()
    host = ctypes.create_string_buffer(64)
    return {
        "launch": driver.launch(store, arguments=(U64(0x10), U32(5))),
        "synchronise": driver("cuStreamSynchronize", None),
        "synchronise again": driver("cuStreamSynchronize", None),
        "launch again": driver.launch(store, arguments=(U64(good), U32(5))),
        "allocate": driver("cuMemAlloc_v2", ctypes.byref(address), size_t(4)),
        "free": driver("cuMemFree_v2", U64(good)),
        "copy": driver("cuMemcpyDtoH_v2", host, U64(good), size_t(4)),
        "copy async": driver("cuMemcpyHtoDAsync_v2", U64(good), host, size_t(4), None),
        "fill": driver("cuMemsetD8_v2", U64(good), 1, size_t(4)),
        "stream": driver("cuStreamCreate", ctypes.byref(PTR()), 0),
        "event": driver("cuEventCreate", ctypes.byref(PTR()), 0),
        "attribute": driver("cuDeviceGetAttribute", ctypes.byref(I32()), 1, 0),
        "function": driver("cuModuleGetFunction", ctypes.byref(PTR()), driver.module, b"store"),
        "module": driver("cuModuleLoadDataEx", ctypes.byref(PTR()), PTX, 0, None, None),
        "pinned": driver("cuMemAllocHost_v2", ctypes.byref(PTR()), size_t(64)),
        "memory": driver("cuMemGetInfo_v2", ctypes.byref(size_t()), ctypes.byref(size_t())),
    }


def after_a_misaligned_store() -> Answers:
    """A store to a misaligned address."""
    driver = Driver().start()
    return {
        "launch": driver.launch(driver.function("store"), arguments=(U64(driver.allocate(64) + 2), U32(5))),
        "synchronise": driver("cuStreamSynchronize", None),
    }


def graphs() -> Answers:
    """Graphs: captured, invalidated, and created node by node."""
    return work.graphs(Driver().start())


def pools() -> Answers:
    """Memory pools, and the device as its own peer."""
    return work.pools(Driver().start())


def virtual_memory() -> Answers:
    """Virtual memory management."""
    return work.virtual_memory(Driver().start())


def read_only_memory() -> Answers:
    """Memory that is mapped read-only."""
    return work.read_only_memory(Driver().start())


def tensor_maps() -> Answers:
    """Tensor maps."""
    return work.tensor_maps(Driver().start())


def column_maps() -> Answers:
    """Tensor maps for im2col copies."""
    return work.column_maps(Driver().start())


GROUPS: dict[str, Callable[[], Answers]] = {
    group.__name__: group
    for group in (
        names,
        attributes,
        launches,
        memory,
        handles,
        bad_ptx,
        uninitialised,
        after_a_fault,
        after_a_misaligned_store,
        graphs,
        pools,
        virtual_memory,
        read_only_memory,
        tensor_maps,
        column_maps,
    )
}


def main(arguments: list[str]) -> int:
    """Print one group's answers, or record all groups, each in a process of its own."""
    if arguments[0] != "--record":
        sys.stdout.write(json.dumps(GROUPS[arguments[0]]()))
        return 0
    answers = {}
    for name in GROUPS:
        done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.stderr.write(f"{name}: {done.returncode}\n{done.stderr}\n")
            continue
        answers[name] = json.loads(done.stdout)
    Path(arguments[1]).write_text(json.dumps(answers, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
