"""Real Mojo programs on the simulated GPU, from their first driver call to their last."""

from __future__ import annotations

import subprocess

import pytest

from tests.machine import needs_simulated_gpu
from tests.simulator.driver_lab import program, run, stand_ins
from tooling.simulator.server.session import Simulation, SimulationOptions

pytestmark = [pytest.mark.mojo, needs_simulated_gpu]

EXPECTED = {
    "copies": """\
parts: DeviceBuffer([0.0, 1.0, 9.0, 9.0, 4.0, 5.0])
fills: DeviceBuffer([7, 7, 7]) DeviceBuffer([-2, -2, -2]) \
DeviceBuffer([1099511627776, 1099511627776, 1099511627776])
""",
    "grids": """\
line: DeviceBuffer([0, 1, 2, 1000, 1001, 1002])
plane: DeviceBuffer([0, 1, 1000, 1001, 2, 3, 1002, 1003])
""",
    "clusters": "clusters: DeviceBuffer([2, 2, 2, 2])\n",
    "prints": "before\nblock 0 has 3\nblock 1 has 3\nafter\n",
    "refused": """\
1025 threads: True
cluster of an odd grid: True
a terabyte: True
then: DeviceBuffer([0, 1])
""",
    "threads": "threads done\n",
    "large": "large: DeviceBuffer([2.0, 2.0, 2.0, 2.0])\n",
}


def simulate(mode: str) -> tuple[subprocess.CompletedProcess[str], Simulation]:
    with Simulation(SimulationOptions(checks=frozenset()), libraries=stand_ins()) as gpu:
        done = run(gpu, program(), mode)
    return done, gpu


@pytest.mark.parametrize("mode", EXPECTED)
def test_a_program_prints_the_results_of_a_gpu(mode: str) -> None:
    done, gpu = simulate(mode)
    assert done.returncode == 0, done.stderr
    assert done.stdout == EXPECTED[mode]
    assert gpu.errors == []


def test_a_kernel_fault_reaches_the_program_when_it_synchronises() -> None:
    done, gpu = simulate("out_of_bounds")
    assert done.stdout == "launched\n"
    assert done.returncode != 0
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in done.stderr
    assert gpu.launches[-1].error is not None


@pytest.mark.slow
def test_right_programs_that_synchronise_in_other_ways_have_no_findings() -> None:
    with Simulation(SimulationOptions(), libraries=stand_ins()) as gpu:
        done = run(gpu, program("synchronised"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "locked 276 276",
        *(f"block {block} of 3" for block in range(3)),
        "streams 11 11",
    ]
    assert gpu.findings == []


def test_a_program_that_asks_for_times_goes_on_without_them() -> None:
    done, gpu = simulate("times")
    assert done.returncode == 0, done.stderr
    assert "an hour: True\n" in done.stdout
    assert len(gpu.launches) < 200  # a benchmark does not repeat until its numbers settle
    assert done.stderr.count("asks for times: a simulation has none") == 1
