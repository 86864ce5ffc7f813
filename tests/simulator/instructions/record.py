"""Runs every instruction case on the CUDA driver of this machine and stores the result bits.

usage: python3 record.py OUTPUT.npz [KNOWN.npz]

Needs NumPy and libcuda.so.1. The file holds, for each form, the result bits of its cases; for a form that the
driver's compiler rejects, it holds the message. With KNOWN.npz, only the forms that it lacks are executed,
and the file holds its forms too; `added` in `__about__` names the device of the others.
"""

from __future__ import annotations

import ctypes
import json
import sys
from multiprocessing import Pipe, Process
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from tests.simulator.instructions import cases, memory_cases, warp_cases, warpgroup_cases


class DriverError(Exception):
    """A CUDA driver call that did not return CUDA_SUCCESS."""


class Driver:
    """The few calls of the CUDA driver API that one launch needs."""

    def __init__(self) -> None:
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        name = ctypes.create_string_buffer(128)
        self.call("cuDeviceGetName", name, 128, device)
        self.name = name.value.decode()
        version = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        self.version = version.value
        self.context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.call("cuCtxSetCurrent", self.context)

    def call(self, name: str, *arguments: object) -> None:
        code = getattr(self.cuda, name)(*arguments)
        if code != 0:
            raise DriverError(f"{name} returned {code}")

    def allocate(self, size: int) -> ctypes.c_uint64:
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address

    def run(self, text: str, buffers: list[ctypes.c_uint64], count: int, block: int = 64) -> None:
        log = ctypes.create_string_buffer(8192)
        keys = (ctypes.c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
        options = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), ctypes.c_void_p(len(log)))
        module = ctypes.c_void_p()
        try:
            self.call("cuModuleLoadDataEx", ctypes.byref(module), text.encode() + b"\0", 2, keys, options)
        except DriverError as error:
            raise DriverError(f"{error}: {log.value.decode(errors='replace').strip()}") from None
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, b"probe")
        number = ctypes.c_uint32(count)
        held = [*buffers, number]
        pointers = (ctypes.c_void_p * len(held))(
            *(ctypes.cast(ctypes.byref(h), ctypes.c_void_p) for h in held)
        )
        grid = (count + block - 1) // block
        self.call("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, 0, None, pointers, None)
        self.call("cuCtxSynchronize")
        self.call("cuModuleUnload", module)


Results = dict[str, npt.NDArray[Any]]


def every_form() -> list[cases.Form]:
    """All forms of all tables, in a fixed order."""
    return [*cases.forms(), *warp_cases.forms(), *memory_cases.forms(), *warpgroup_cases.forms()]


def record_from(forms: list[cases.Form], results: Connection) -> None:
    """Run the forms and send the result bits of each, or the error.

    Returns after a failed kernel, since the process can no longer use the device.
    """
    driver = Driver()
    results.send((driver.name, driver.version))
    capacity = 8 * 4096
    buffers = [driver.allocate(capacity) for _ in range(4)]
    for form in forms:
        sources = cases.operands(form)
        count = len(sources[0])
        driver.call("cuMemsetD8_v2", buffers[0], ctypes.c_ubyte(0), ctypes.c_size_t(capacity))
        for address, source in zip(buffers[1:], sources, strict=False):
            data = np.ascontiguousarray(source)
            driver.call(
                "cuMemcpyHtoD_v2", address, data.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(data.nbytes)
            )
        try:
            driver.run(cases.kernel(form), buffers[: len(sources) + 1], count, form.block)
        except DriverError as error:
            results.send(str(error)[:300])
            if "cuModuleLoadDataEx" in str(error):
                continue
            return
        out = np.zeros(count, dtype=np.uint64)
        driver.call(
            "cuMemcpyDtoH_v2", out.ctypes.data_as(ctypes.c_void_p), buffers[0], ctypes.c_size_t(out.nbytes)
        )
        width = cases.WIDTH[form.result]
        results.send(out.astype(f"uint{max(width, 8)}") if width in (8, 16, 32, 64) else out)


PATIENCE = 60.0
"""Seconds after which a kernel counts as one that does not end."""


def record(forms: list[cases.Form]) -> tuple[str, int, Results, dict[str, str]]:
    """Device, driver version, result bits by form name, and the forms that were rejected with the reason."""
    results: Results = {}
    rejected: dict[str, str] = {}
    device, version, done = "", 0, 0
    while done < len(forms):
        here, there = Pipe(duplex=False)
        worker = Process(target=record_from, args=(forms[done:], there))
        worker.start()
        there.close()
        start = done
        try:
            device, version = here.recv()
            while done < len(forms):
                if not here.poll(PATIENCE):
                    rejected[forms[done].name] = "the kernel does not end"
                    worker.kill()
                    done += 1
                    break
                answer = here.recv()
                if isinstance(answer, str):
                    rejected[forms[done].name] = answer
                else:
                    results[forms[done].name] = answer
                done += 1
        except EOFError:
            pass  # a kernel failed, and was recorded; the next process continues with the following form
        worker.join()
        if done == start:
            raise DriverError(f"no process can run `{forms[done].name}`")
    return device, version, results, rejected


def main() -> int:
    known: Results = {}
    about: dict[str, Any] = {}
    if len(sys.argv) > 2:
        with np.load(sys.argv[2]) as archive:
            known = {name: archive[name] for name in archive.files}
        about = json.loads(str(known.pop("__about__")))
    missing = [form for form in every_form() if form.name not in {*known, *about.get("rejected", ())}]
    device, version, results, rejected = record(missing)
    if about:
        about.setdefault("added", {}).setdefault(device, []).extend(sorted(results))
        about["rejected"] |= rejected
    else:
        about = {"device": device, "driver": version, "rejected": rejected}
    results = known | results
    results["__about__"] = np.array(json.dumps(about))
    np.savez_compressed(sys.argv[1], allow_pickle=False, **results)
    print(f"{device}, driver {version}: {len(results) - 1} forms recorded, {len(rejected)} rejected")
    for name, why in rejected.items():
        print(f"  rejected {name}: {why}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
