"""Random right programs cause no finding, however their loads are moved; without barriers they do."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.machine import needs_simulated_gpu
from tests.simulator.moved_load_programs import program
from tooling.platform.atomic_write import write_atomically
from tooling.simulator.backends import DEFAULT
from tooling.simulator.checks.findings import Finding, render
from tooling.simulator.server.session import Simulation, SimulationOptions
from tooling.toolchain import BuildRequest, build, find_toolchain, open_cache

pytestmark = [pytest.mark.mojo, needs_simulated_gpu, pytest.mark.slow]

KERNELS = 25


AMD = ("gfx942", "gfx1100")


def findings(text: str, name: str, schedule: str, accelerator: str = "sm_90a") -> list[Finding]:
    """What the checks find in a program."""
    folder = open_cache().root / "tests" / "moved-loads"
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"{name}.mojo"
    write_atomically(source, text.encode())
    executable = build(BuildRequest(source, accelerator=accelerator), find_toolchain(), open_cache()).path
    options = SimulationOptions(
        schedule=schedule, instruction_set=accelerator if accelerator in AMD else DEFAULT
    )
    with Simulation(options) as simulation:
        environment = os.environ | simulation.environment
        done = subprocess.run([executable], env=environment, capture_output=True, text=True, check=False)
    assert not simulation.errors
    assert done.returncode == 0, done.stderr
    return simulation.findings


@pytest.mark.parametrize("seed", range(1, 9))
def test_right_programs_are_silent(seed: int) -> None:
    for schedule in ("lockstep", "adversarial", f"random:{seed}"):
        found = findings(program(seed, KERNELS), f"right{seed}", schedule)
        assert not found, render(found[0])


@pytest.mark.parametrize("seed", [1, 2])
def test_without_their_barriers_most_kernels_race(seed: int) -> None:
    text = program(seed, KERNELS).replace("    barrier()\n", "")
    kernels = {finding.kernel for finding in findings(text, f"wrong{seed}", "lockstep")}
    assert len(kernels) > KERNELS * 3 // 4


@pytest.mark.parametrize("accelerator", AMD)
@pytest.mark.parametrize("seed", [1, 2])
def test_right_programs_are_silent_on_amd(seed: int, accelerator: str) -> None:
    text = program(seed, KERNELS, threads=128)
    for schedule in ("lockstep", f"random:{seed}"):
        found = findings(text, f"right{seed}-128", schedule, accelerator)
        assert not found, render(found[0])


@pytest.mark.parametrize("accelerator", AMD)
def test_without_their_barriers_most_kernels_race_on_amd(accelerator: str) -> None:
    text = program(1, KERNELS, threads=128).replace("    barrier()\n", "")
    kernels = {finding.kernel for finding in findings(text, "wrong1-128", "lockstep", accelerator)}
    assert len(kernels) > KERNELS * 3 // 4
