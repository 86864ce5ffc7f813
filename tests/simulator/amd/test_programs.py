"""Mojo programs that were built for gfx942 or gfx1100, unmodified, on the simulated AMD GPU."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile

from tests.machine import needs_simulated_gpu
from tests.simulator.amd.code_objects import PROGRAMS, code_objects, program
from tooling.simulator.amd.architectures import GFX942, GFX1100
from tooling.simulator.amd.code_object.reader import read_code_object
from tooling.simulator.amd.instructions.host_calls import UnknownService, host_calls
from tooling.simulator.checks.findings import Kind
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.launch import FaultKind
from tooling.simulator.program.backend import CodeError
from tooling.simulator.server.session import Simulation, SimulationOptions

pytestmark = [pytest.mark.mojo, needs_simulated_gpu]

EACH_GPU = pytest.mark.parametrize("accelerator", ["gfx942", pytest.param("gfx1100", marks=pytest.mark.slow)])
"""The first tier builds for one of them."""


APPROXIMATE = {"mathematics": 2.0**-22, "functions": 1e-5}
"""Relative differences between the vendors: on NVIDIA a division is `div.full` (2 ulp)."""


def run(name: str, *arguments: str, accelerator: str = "gfx942") -> tuple[str, Simulation]:
    """Standard output of a program on the simulated GPU that it was built for, and the simulation."""
    instruction_set = "ptx" if accelerator.startswith("sm_") else accelerator
    with Simulation(SimulationOptions(instruction_set=instruction_set)) as simulation:
        done = subprocess.run(
            [program(name, accelerator), *arguments],
            env=os.environ | simulation.environment,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert not simulation.errors
    return done.stdout, simulation


def line_of(name: str, text: str, occurrence: int = 0) -> int:
    """The line of a program that contains a text."""
    lines = (PROGRAMS / f"{name}.mojo").read_text().splitlines()
    return [number for number, line in enumerate(lines, 1) if text in line][occurrence]


@pytest.mark.parametrize(
    ("defect", "kinds", "text", "occurrence"),
    [
        ("correct", [], "", 0),
        ("race", [Kind.READ_AFTER_WRITE], "shared[unsafe_offset=SIZE - 1 - t]", 0),
        ("bounds", [Kind.PAST_THE_END], "output[unsafe_offset=i + 1]", 0),
        ("unwritten", [Kind.UNWRITTEN_READ], "output[unsafe_offset=t] = shared[unsafe_offset=t]", 0),
        (
            "divergent",
            [Kind.INACTIVE_AT_BARRIER, Kind.EXITED_BEFORE_BARRIER],
            "        barrier()",
            0,
        ),
    ],
)
@EACH_GPU
def test_a_defect_is_reported_at_its_line(
    defect: str, kinds: list[Kind], text: str, occurrence: int, accelerator: str
) -> None:
    _, simulation = run("defects", defect, accelerator=accelerator)
    assert [finding.kind for finding in simulation.findings] == kinds
    lines = {finding.parties[0].position.line for finding in simulation.findings}
    assert lines == ({line_of("defects", text, occurrence)} if text else set())


@pytest.mark.slow
def test_all_simulated_gpus_compute_the_same() -> None:
    """Integer arithmetic, conversions, divergent loops, shared memory, atomics and exact float arithmetic."""
    texts = {}
    for accelerator in ("gfx942", "gfx1100", "sm_90a"):
        text, simulation = run("operations", accelerator=accelerator)
        assert not simulation.findings
        texts[accelerator] = text.splitlines()
    exact = [[line for line in lines if line.split()[0] not in APPROXIMATE] for lines in texts.values()]
    assert len(exact[0]) == 6 * 192
    assert exact[0] == exact[1] == exact[2]
    for name, relative in APPROXIMATE.items():
        gfx942, gfx1100, sm_90a = (
            [float(line.split()[2]) for line in lines if line.split()[0] == name] for lines in texts.values()
        )
        assert gfx942 == gfx1100 == pytest.approx(sm_90a, rel=relative)


def test_strings_are_part_of_a_message_for_the_host() -> None:
    """As `__ockl_printf_append_string_n` passes them, padded to whole words."""
    memory = DeviceMemory(np.zeros(1 << 24, np.uint8), 1 << 32)
    calls = host_calls(memory)
    assert host_calls(memory) is calls
    content = memory.view(calls.address, 64).view("<u8")
    headers, payloads = (memory.view(int(address), 4096).view("<u8") for address in content[:2])
    text = b"%s is %d, %5s|\0\0" + b"thread 7".ljust(16, b"\0") + b"\7".ljust(8, b"\0")
    words = np.frombuffer(text, "<u8").tolist()
    printed: list[bytes] = []
    parts: list[tuple[int, list[int]]] = [(1, [0]), (0, words), (2, [ord("x")])]
    for number, (flags, passed) in enumerate(parts):
        headers[:3] = 0, 1, 2 | 1 << 32  # lane 0; the service, and the flag that it waits for
        descriptor = (1 << 8 if number else 0) | flags | len(passed) << 5
        payloads[: 1 + len(passed)] = [descriptor, *passed]
        content[4] = 1024  # the ready packet
        calls.serve(printed.append)
        assert (content[4], headers[2] >> np.uint64(32)) == (0, 0)
    assert printed == [b"thread 7 is 7,     x|"]
    assert payloads[0] == len(printed[0])
    headers[1:3] = 1, 3
    content[4] = 1024
    with pytest.raises(UnknownService, match="3"):
        calls.serve(printed.append)


@EACH_GPU
def test_a_kernel_prints(accelerator: str) -> None:
    text, simulation = run("defects", "printing", accelerator=accelerator)
    assert not simulation.findings
    lines = text.splitlines()
    assert sorted(lines) == sorted(
        line
        for thread in range(200)
        for line in (f"thread {thread} of 100 %: {thread}.0", f"again {thread:5.2f} {thread}")
    )
    assert [line for line in lines if line.startswith("thread")][:2] == [
        "thread 0 of 100 %: 0.0",
        "thread 1 of 100 %: 1.0",
    ]


def start_endless(simulation: Simulation) -> subprocess.Popen[str]:
    """The program with a kernel that does not end."""
    return subprocess.Popen(
        [program("defects"), "endless"],
        env=os.environ | simulation.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_kernel_that_does_not_end_is_stopped() -> None:
    with (
        Simulation(SimulationOptions(instruction_set="gfx942", time_limit=0.5)) as simulation,
        start_endless(simulation) as started,
    ):
        _, errors = started.communicate(timeout=120)
    assert started.returncode != 0
    assert "hipErrorLaunchTimeOut" in errors
    assert [launch.error.kind for launch in simulation.launches if launch.error] == [FaultKind.TIME_LIMIT]


def test_a_program_that_is_killed_in_a_kernel_leaves_nothing() -> None:
    options = SimulationOptions(instruction_set="gfx942", checks=frozenset(), time_limit=60)
    with Simulation(options) as simulation, start_endless(simulation) as started:
        time.sleep(3)
        started.send_signal(signal.SIGKILL)
        started.wait(30)
        limit = time.monotonic() + 30
        while not simulation.launches and time.monotonic() < limit:
            time.sleep(0.01)
    assert [launch.error.kind for launch in simulation.launches if launch.error] == [FaultKind.TIME_LIMIT]
    assert all(launch.seconds < 60 for launch in simulation.launches)


def test_a_code_object_of_another_architecture_is_refused() -> None:
    with pytest.raises(CodeError) as caught:
        read_code_object(code_objects("defects")[0], GFX1100)
    assert str(caught.value) == "the program was built for gfx942, and the simulated GPU is gfx1100"


@pytest.mark.slow
def test_a_kernel_for_wavefronts_of_64_threads_is_refused() -> None:
    """gfx1100 has a mode with 64 lanes, which Mojo does not use."""
    image = bytearray(code_objects("defects", "gfx1100")[0])
    kernels = read_code_object(bytes(image), GFX1100).kernels
    elf: Any = ELFFile(BytesIO(image))
    for symbol in elf.get_section_by_name(".dynsym").iter_symbols():
        if symbol.name.endswith(".kd"):
            (segment,) = (
                each
                for each in elf.iter_segments()
                if each["p_type"] == "PT_LOAD"
                and 0 <= symbol["st_value"] - each["p_vaddr"] < each["p_filesz"]
            )
            at = symbol["st_value"] - segment["p_vaddr"] + segment["p_offset"] + 56
            image[at + 1] ^= 1 << 2  # ENABLE_WAVEFRONT_SIZE32
    with pytest.raises(CodeError) as caught:
        read_code_object(bytes(image), GFX1100)
    name = next(iter(kernels))
    assert str(caught.value) == (
        f"kernel {name} was built for wavefronts of 64 threads, and the simulated gfx1100 has 32"
    )


def test_a_file_that_is_no_code_object_is_refused() -> None:
    with pytest.raises(CodeError) as caught:
        read_code_object(Path("/proc/self/exe").read_bytes(), GFX942)
    assert str(caught.value) == "the program loads a module that is not machine code for an AMD GPU"
