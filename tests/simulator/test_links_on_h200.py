"""What goes over the links between simulated GPUs is what was counted on two H200 (`data/h200/two_gpus`)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.machine import needs_simulated_gpu
from tests.simulator.driver_lab import program, run, stand_ins
from tooling.simulator.server.links import LinkTraffic
from tooling.simulator.server.session import Simulation, SimulationOptions

pytestmark = [pytest.mark.mojo, pytest.mark.slow, needs_simulated_gpu]

LINKS = Path(__file__).parents[1] / "data" / "h200" / "two_gpus" / "links.json"
RECORDED = json.loads(LINKS.read_text("utf-8"))
SECTOR, ELEMENT = 32, 4


@pytest.mark.parametrize("kind", RECORDED["link_traffic"])
def test_each_kind_of_access_moves_the_bytes_that_were_recorded(kind: str) -> None:
    with Simulation(SimulationOptions(gpus=2), libraries=stand_ins()) as gpu:
        done = run(gpu, program("link_traffic"), kind)
    assert done.stdout == f"{kind} done\n"
    assert gpu.findings == []
    recorded = RECORDED["link_traffic"][kind]
    by_driver = {name: kib * 1024 // RECORDED["repetitions"] for name, kib in recorded["nvml_kib"].items()}
    ((pair, traffic),) = gpu.links.items()
    if kind == "copy":
        assert (pair, traffic) == ((1, 0), LinkTraffic(copied=by_driver["received"]))
        return
    assert pair == (0, 1)
    simulated = {"received": traffic.loaded, "sent": traffic.stored + ELEMENT * traffic.atomics}
    if kind.endswith(
        "_strided"
    ):  # a link carries whole sectors, of which each lane has asked for one element
        simulated = {name: size * SECTOR // ELEMENT for name, size in simulated.items()}
    # The L1 caches spare a few of the repeated reads; of the atomics `ncu` has counted 6 % less.
    error = {"read_twice": 0.01, "add": 0.06}.get(kind, 0)
    for counted in (by_driver, recorded["ncu_bytes"]):
        assert simulated == pytest.approx(counted, rel=error, abs=0)
