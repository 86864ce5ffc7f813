"""`programs/several_gpus.mojo` on two simulated GPUs prints what it printed on two H100, which report none
of its mistakes: `data/several_gpus/h100.json` has the outputs, and the errors that compute-sanitizer
found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.machine import needs_simulated_gpu
from tests.simulator.driver_lab import program, run, stand_ins
from tooling.simulator.server.session import Simulation, SimulationOptions

pytestmark = [pytest.mark.mojo, pytest.mark.slow, needs_simulated_gpu]

RECORDED = json.loads((Path(__file__).parent / "data" / "several_gpus" / "h100.json").read_text("utf-8"))
SAME = {
    mode: outputs[0] for mode, outputs in RECORDED["outputs"].items() if " " not in mode and len(outputs) == 1
}
"""The modes whose output is the same in every run."""

FOUND = {
    "freed": {"use-after-free"},
    "relaxed_store": {"device-read-after-write", "device-write-after-read"},
    "relaxed_load": {"device-read-after-write", "device-write-after-read"},
    "gpu_scope": {"device-scope", "device-read-after-write", "device-write-after-read"},
    "no_second_meeting": {"device-write-after-read"},
}
"""What the simulator finds in the programs with a mistake; in the others nothing."""


@pytest.mark.parametrize("mode", SAME)
def test_the_output_is_that_of_two_h100(mode: str) -> None:
    with Simulation(SimulationOptions(gpus=2), libraries=stand_ins()) as gpu:
        done = run(gpu, program("several_gpus"), mode)
    assert done.returncode == 0, done.stderr
    assert done.stdout == SAME[mode]
    assert {finding.kind.value for finding in gpu.findings} == FOUND.get(mode, set())


def test_a_kernel_that_reads_a_peer_without_waiting_is_found() -> None:
    with Simulation(SimulationOptions(gpus=2), libraries=stand_ins()) as gpu:
        done = run(gpu, program("several_gpus"), "peer_read_unordered")
    assert done.stdout == "peer_read_unordered wrong: 1024 of 1024\n"
    assert {finding.kind.value for finding in gpu.findings} == {"device-write-after-read"}


def test_compute_sanitizer_finds_no_mistake_of_two_gpus() -> None:
    assert set(RECORDED["sanitizer"].values()) == {0}
    tried = {"relaxed_store racecheck", "freed memcheck", "peer_read_unordered racecheck"}
    assert tried <= set(RECORDED["sanitizer"])


@pytest.mark.parametrize(
    ("gpus", "schedule"),
    [(2, "lockstep"), (4, "lockstep"), (4, "adversarial"), (4, "random:3"), (8, "lockstep")],
)
@pytest.mark.parametrize(
    ("arguments", "elements"),
    [(("allreduce",), 4120), (("allreduce", "large"), 262144), (("allgather",), 4120)],
    ids=["all-reduce", "large all-reduce", "all-gather"],
)
def test_max_reduces_and_gathers_on_simulated_gpus(
    arguments: tuple[str, ...], elements: int, gpus: int, schedule: str
) -> None:
    """With many elements the all-reduce of more than two GPUs has two stages, and the race of
    `two_stages_relaxed`."""
    operation, *large = arguments
    options = SimulationOptions(gpus=gpus, schedule=schedule)
    with Simulation(options, libraries=stand_ins()) as gpu:
        done = run(gpu, program("max_collectives"), operation, str(gpus), *large)
    total = elements * gpus * (gpus if operation == "allgather" else 1)
    assert done.stdout == f"{operation} on {gpus} GPUs wrong: 0 of {total}\n"
    found = {finding.kind.value for finding in gpu.findings if finding.severity.value == "error"}
    assert found == ({"device-write-after-read"} if large and gpus > 2 else set())
