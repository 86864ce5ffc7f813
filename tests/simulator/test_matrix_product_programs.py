"""Asynchronous matrix products in a program as Mojo compiles it: each step that is left out is found."""

from __future__ import annotations

import pytest

from tests.machine import needs_simulated_gpu
from tests.simulator.driver_lab import program, run, stand_ins
from tooling.simulator.checks.findings import Kind
from tooling.simulator.server.session import Simulation, SimulationOptions

pytestmark = [pytest.mark.mojo, needs_simulated_gpu, pytest.mark.slow]


@pytest.mark.parametrize("schedule", ["lockstep", "random:1", "adversarial"])
@pytest.mark.parametrize(
    ("left_out", "found", "lines"),
    [
        ("nothing", None, ()),
        ("proxy_fence", Kind.PROXY_FENCE_MISSING, (43, 31)),
        ("register_fence", Kind.PRODUCT_UNFENCED, (43,)),
        ("wait", Kind.RESULT_IN_FLIGHT, (48, 43)),
    ],
)
def test_a_step_that_is_left_out_is_found(
    left_out: str, found: Kind | None, lines: tuple[int, ...], schedule: str
) -> None:
    with Simulation(SimulationOptions(schedule=schedule), libraries=stand_ins()) as gpu:
        done = run(gpu, program("matrix_products"), left_out)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "32.0 32.0\n"
    assert {finding.kind for finding in gpu.findings} == ({found} if found else set())
    if found:
        assert tuple(party.position.line for party in gpu.findings[0].parties) == lines
