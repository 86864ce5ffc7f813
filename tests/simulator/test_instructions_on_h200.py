"""Every instruction form has the same result bits as on an H200, for the same PTX text and operands."""

from __future__ import annotations

import functools
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.simulator.instructions import cases, memory_cases, warp_cases, warpgroup_cases
from tooling.simulator.engine.engine import run
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.launch import Dim3, Launch
from tooling.simulator.nvidia.launch_rules import describe_kernel
from tooling.simulator.nvidia.ptx.reader import parse_module

RECORDING = Path(__file__).parents[1] / "data" / "h200" / "instructions.npz"
BASE = 0x10000
FORMS = [*cases.forms(), *warp_cases.forms(), *memory_cases.forms(), *warpgroup_cases.forms()]

RELATIVE_ERROR = 2**-9
"""What the PTX ISA allows `tanh.approx.f32`; our result and that of the H200 may differ by twice as much."""


@functools.cache
def recording() -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    with np.load(RECORDING) as archive:
        about: dict[str, Any] = json.loads(str(archive["__about__"]))
        return {name: archive[name] for name in archive.files if name != "__about__"}, about


def simulate(form: cases.Form) -> npt.NDArray[np.uint64]:
    """Result bits of the form's kernel on the simulated GPU."""
    module = parse_module(cases.kernel(form))
    memory = DeviceMemory(np.zeros(1 << 20, dtype=np.uint8).data, BASE)
    sources = cases.operands(form)
    count = len(sources[0])
    addresses = [memory.allocate(8 * count) for _ in range(1 + len(sources))]
    memory.view(addresses[0], 8 * count)[:] = 0
    for address, source in zip(addresses[1:], sources, strict=True):
        memory.view(address, 8 * count)[:] = source.view(np.uint8)
    packed = b"".join(struct.pack("<Q", address) for address in addresses) + struct.pack("<I", count)
    function = module.kernels["probe"]
    cluster = describe_kernel(module, function).required_cluster or Dim3()
    grid, block = Dim3(-(-count // form.block)), Dim3(form.block)
    launch = Launch(function, grid, block, cluster, parameters=packed)
    result = run(launch, module, memory)
    assert result.error is None, result.error
    return memory.view(addresses[0], 8 * count).view(np.uint64).copy()


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_the_bits_are_those_of_the_h200(form: cases.Form) -> None:
    recorded, about = recording()
    if form.name in about["rejected"]:
        assert "Illegal modifier" in about["rejected"][form.name]
        return
    want = recorded[form.name].astype(np.uint64)
    got = simulate(form)
    if form.approximate:
        w, g = (bits.astype(np.uint32).view(np.float32).astype(np.float64) for bits in (want, got))
        same = (np.abs(w - g) <= 2 * RELATIVE_ERROR * np.abs(w)) | (np.isnan(w) & np.isnan(g))
    else:
        same = want == got
    wrong = np.flatnonzero(~same)
    shown = "\n".join(
        "  "
        + ", ".join(
            f"{letter}={source[i]:#x}" for letter, source in zip("abc", cases.operands(form), strict=False)
        )
        + f": H200 {want[i]:#x}, simulated {got[i]:#x}"
        for i in wrong[:8]
    )
    assert not wrong.size, f"{form.text}: {wrong.size} of {len(want)} cases differ\n{shown}"


def test_the_recording_covers_every_form() -> None:
    recorded, about = recording()
    missing = [
        form.name for form in FORMS if form.name not in recorded and form.name not in about["rejected"]
    ]
    assert not missing
