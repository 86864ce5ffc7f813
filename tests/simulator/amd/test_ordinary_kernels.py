"""Kernels of one expression each, compiled by Mojo 1.2: both architectures once refused all of them.

`data/ordinary_*.xz` has their code objects by name, in MessagePack. `t` is the thread's number, `p` a private
array of 16 with `p[k] = a[t] * k`.

    k1  Float16   a[t] / a[63 - t]
    k2  Int16     min(max(a[t], -20), 20)
    k3  UInt16    x * x + SIMD[DType.uint16, 2](3), of x = a.unsafe_load[width=2](2 * t)
    k4  UInt32    x - y if x > y else 0, of x = a[t], y = a[63 - t]
    k5  UInt32    the sum of the products of the four bytes of x and y
    k6  UInt32    for k in range(9): p[(k * 5) & 15] += p[(k + 3) & 15]; then p[9]
    k7  UInt32    UInt32(perf_counter_ns() >= perf_counter_ns() before it)
"""

from __future__ import annotations

import functools
import lzma
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from tooling.simulator.amd.architectures import ARCHITECTURES
from tooling.simulator.amd.code_object.reader import read_code_object
from tooling.simulator.backends import backend_for
from tooling.simulator.engine import engine
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.launch import Dim3, Launch

DATA = Path(__file__).parent / "data"
Array = NDArray[Any]


@functools.cache
def code_objects(architecture: str) -> dict[str, bytes]:
    content = lzma.decompress((DATA / f"ordinary_{architecture}.xz").read_bytes())
    return msgspec.msgpack.decode(content, type=dict[str, bytes])


def run(architecture: str, name: str, given: Array) -> Array:
    """What a kernel writes: as many numbers as it reads, of the same type."""
    module = read_code_object(code_objects(architecture)[name], ARCHITECTURES[architecture])
    (kernel,) = module.kernels.values()
    backend_for(architecture).decode(module, kernel)
    memory = DeviceMemory(np.zeros(1 << 22, np.uint8), 0x10000)
    addresses = [memory.allocate(given.nbytes) for _ in range(2)]
    memory.view(addresses[1], given.nbytes)[:] = given.view(np.uint8)
    content = b"".join(address.to_bytes(8, "little") for address in addresses) + (9).to_bytes(8, "little")
    parameters = content[: kernel.parameter_bytes]
    launch = Launch(kernel, Dim3(1), Dim3(64), Dim3(1), 0, parameters)
    assert engine.run(launch, module, memory).error is None
    return memory.view(addresses[0], given.nbytes).view(given.dtype).copy()


def private_array(numbers: Array) -> Array:
    """The result of k6."""
    array = [numbers * np.uint32(k) for k in range(16)]
    for k in range(9):
        array[k * 5 & 15] = array[k * 5 & 15] + array[k + 3 & 15]
    return array[9]


WORDS = np.arange(64, dtype=np.uint32) * np.uint32(0x01030507)
HALVES = np.arange(1, 65).astype(np.float16)
SHORTS = np.arange(-32, 32).astype(np.int16)
NARROW = (np.arange(128) * 300).astype(np.uint16)


@pytest.mark.parametrize("architecture", list(ARCHITECTURES))
@pytest.mark.parametrize(
    ("name", "given", "wanted"),
    [
        ("k1", HALVES, HALVES / HALVES[::-1]),
        ("k2", SHORTS, np.clip(SHORTS, -20, 20)),
        ("k3", NARROW, NARROW * NARROW + np.uint16(3)),
        ("k4", WORDS, np.where(WORDS[::-1] < WORDS, WORDS - WORDS[::-1], 0)),
        (
            "k5",
            WORDS,
            (WORDS.view(np.uint8).astype(np.uint32) * WORDS[::-1].copy().view(np.uint8))
            .reshape(-1, 4)
            .sum(1),
        ),
        ("k6", WORDS, private_array(WORDS)),
        ("k7", WORDS, np.ones(64)),
    ],
    ids=["quotient", "clamp", "multiply-add", "saturating", "bytes", "private", "clock"],
)
def test_an_ordinary_kernel_computes_what_numpy_does(
    name: str, given: Array, wanted: Array, architecture: str
) -> None:
    np.testing.assert_array_equal(run(architecture, name, given), wanted)
