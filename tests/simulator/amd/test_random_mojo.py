"""Random Mojo programs give the results of their lanes run one by one, on all three simulated GPUs.

More of them, with three schedules: `pytest -m slow tests/simulator/amd/test_random_mojo.py`.
"""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.machine import needs_simulated_gpu
from tests.simulator.amd.random_mojo import THREADS, inputs, kernels, program
from tests.simulator.random_programs import Statement, expected
from tooling.platform.atomic_write import write_atomically
from tooling.simulator.server.session import Simulation, SimulationOptions
from tooling.toolchain import BuildRequest, build, find_toolchain, open_cache

pytestmark = [pytest.mark.mojo, needs_simulated_gpu]

KERNELS = 8


def wanted(bodies: list[tuple[Statement, ...]]) -> list[list[int]]:
    """What the program prints for each kernel: the registers of all threads, then the counters."""
    results = []
    for number, body in enumerate(bodies):
        registers, counters = inputs(number)
        lanes = list(expected(body, THREADS, registers, counters))
        results.append([word for lane in lanes for word in lane] + counters)
    return results


def printed(seed: int, accelerator: str, schedule: str) -> list[list[int]]:
    """What the program of a seed prints on a simulated GPU, by kernel."""
    folder = open_cache().root / "tests" / "random"
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"random{seed}.mojo"
    write_atomically(
        source, program(kernels(seed, KERNELS)).encode()
    )  # a build of the same text at the same path is cached
    executable = build(BuildRequest(source, accelerator=accelerator), find_toolchain(), open_cache()).path
    instruction_set = "ptx" if accelerator.startswith("sm_") else accelerator
    options = SimulationOptions(instruction_set=instruction_set, schedule=schedule)
    with Simulation(options) as simulation:
        done = subprocess.run(
            [executable], env=os.environ | simulation.environment, capture_output=True, text=True, check=False
        )
    assert not simulation.errors
    assert done.returncode == 0, done.stderr
    assert not simulation.findings, (seed, schedule)
    words = [int(line) for line in done.stdout.split()]
    size = len(words) // KERNELS
    return [words[start : start + size] for start in range(0, len(words), size)]


@pytest.mark.slow
def test_random_kernels_compute_what_their_lanes_do_one_by_one() -> None:
    assert printed(1, "gfx942", "lockstep") == wanted(kernels(1, KERNELS))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 8))
def test_all_simulated_gpus_compute_the_same(seed: int) -> None:
    results = wanted(kernels(seed, KERNELS))
    for accelerator in ("gfx942", "gfx1100", "sm_90a"):
        for schedule in ("lockstep", "adversarial", f"random:{seed}"):
            assert printed(seed, accelerator, schedule) == results, (accelerator, schedule)
