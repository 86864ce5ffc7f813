"""Runs every tensor copy case on the CUDA driver of this machine and stores the resulting memory.

usage: python3 record_tensors.py OUTPUT.npz

Needs NumPy and libcuda.so.1. Each case runs in its own process, since a failed kernel leaves its context
unusable. For a case that the driver rejects or that fails, the error is stored.
"""

from __future__ import annotations

import ctypes
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from tests.simulator.instructions import tensor_cases
from tests.simulator.instructions.record import Driver, DriverError


def encode(driver: Driver, case: tensor_cases.Case, address: ctypes.c_uint64) -> ctypes.Array[ctypes.c_char]:
    """The 128 bytes of the case's map, as the driver encodes them."""
    what, rank = case.map, len(case.map.extents)
    raw = ctypes.create_string_buffer(256)
    start = -ctypes.addressof(raw) % 64
    made = (ctypes.c_char * 128).from_buffer(raw, start)
    extents = (ctypes.c_uint64 * rank)(*what.extents)
    strides = (ctypes.c_uint64 * max(rank - 1, 1))(*what.strides)
    steps = (ctypes.c_uint32 * rank)(*what.steps)
    common = (made, tensor_cases.KINDS.index(what.kind), rank, address, extents, strides)
    rest = (steps, 0, what.swizzle, 0, what.fill)
    if what.box:
        driver.call("cuTensorMapEncodeTiled", *common, (ctypes.c_uint32 * rank)(*what.box), *rest)
    else:
        lower, upper = ((ctypes.c_int * (rank - 2))(*corner) for corner in (what.lower, what.upper))
        driver.call("cuTensorMapEncodeIm2col", *common, lower, upper, what.channels, what.pixels, *rest)
    return made


def record(case: tensor_cases.Case) -> tuple[npt.NDArray[np.uint8], str]:
    """The content of the buffer that the case writes, or an error."""
    driver = Driver()
    tensor, output = case.tensor(), case.output()
    buffers = [driver.allocate(max(array.nbytes, 16)) for array in (tensor, output)]
    try:
        made = encode(driver, case, buffers[0])
        for buffer, array in zip(buffers, (tensor, output), strict=True):
            host = array.ctypes.data_as(ctypes.c_void_p)
            driver.call("cuMemcpyHtoD_v2", buffer, host, ctypes.c_size_t(array.nbytes))
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        driver.call("cuModuleLoadData", ctypes.byref(module), case.text().encode() + b"\0")
        driver.call("cuModuleGetFunction", ctypes.byref(function), module, b"probe")
        held = (*buffers, made)
        pointers = (ctypes.c_void_p * 3)(*(ctypes.addressof(h) for h in held))
        driver.call("cuLaunchKernel", function, 1, 1, 1, 64, 1, 1, 0, None, pointers, None)
        driver.call("cuCtxSynchronize")
        buffer, array = (buffers[0], tensor) if case.changes_tensor else (buffers[1], output)
        left = np.zeros(array.nbytes, np.uint8)
        host = left.ctypes.data_as(ctypes.c_void_p)
        driver.call("cuMemcpyDtoH_v2", host, buffer, ctypes.c_size_t(left.nbytes))
    except DriverError as error:
        return np.zeros(0, np.uint8), str(error)
    return left, ""


def main(output: str) -> None:
    cases = tensor_cases.cases()
    with ProcessPoolExecutor(8, max_tasks_per_child=1) as pool:
        results = list(pool.map(record, cases))
    arrays: dict[str, Any] = {case.name: left for case, (left, _) in zip(cases, results, strict=True)}
    errors = {case.name: error for case, (_, error) in zip(cases, results, strict=True) if error}
    driver = Driver()
    about = {"device": driver.name, "driver": driver.version, "errors": errors}
    np.savez_compressed(output, __about__=json.dumps(about), **arrays)
    sys.stdout.write(f"{len(cases)} cases, {len(errors)} of them with errors\n")


if __name__ == "__main__":
    main(sys.argv[1])
