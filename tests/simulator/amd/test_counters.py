"""`tooling profile --target sim-amd`: passes over the banks of LDS, cache lines, and active lanes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.machine import needs_simulated_gpu
from tooling.cli import main
from tooling.simulator.amd.architectures import GFX942
from tooling.simulator.amd.backend.counting import counting_rules
from tooling.simulator.counters.banks import Service, count_wavefronts
from tooling.simulator.counters.measure import measure
from tooling.simulator.counters.traffic import Route

RULES = counting_rules(GFX942)
LANE = np.arange(64)


def passes(offsets: np.ndarray, width: int, service: Service = Service.LOAD) -> tuple[int, int]:
    """The passes of one wavefront's request, and how many of them are bank conflicts."""
    assert RULES.bank_passes is not None
    order = RULES.bank_passes(width, service is Service.STORE)
    found = count_wavefronts(offsets.astype(np.int64)[None, :], width, service, order)
    return int(found.wavefronts[0]), int(found.conflicts[0])


@pytest.mark.parametrize(
    ("offsets", "width", "service", "expected"),
    [
        (4 * LANE, 4, Service.LOAD, (2, 0)),
        (8 * LANE, 4, Service.LOAD, (4, 2)),  # two lanes of each half in a bank
        (128 * LANE, 4, Service.STORE, (64, 62)),
        (132 * LANE, 4, Service.STORE, (2, 0)),  # a padded row
        (0 * LANE, 4, Service.LOAD, (2, 0)),  # a broadcast
        (0 * LANE, 4, Service.SINGLE, (64, 62)),  # an atomic
        (8 * LANE, 8, Service.LOAD, (4, 0)),
        (16 * LANE, 16, Service.STORE, (8, 0)),
        (16 * LANE, 16, Service.LOAD, (8, 0)),
        # Lanes 0 to 3 and 20 to 23 are loaded together, and lanes 0 to 7 are stored together.
        (np.where(LANE < 4, 16 * LANE, np.where((LANE >= 20) & (LANE < 24), 16 * LANE + 192, -1)),
         16, Service.LOAD, (2, 1)),
        (np.where(LANE < 4, 16 * LANE, np.where((LANE >= 20) & (LANE < 24), 16 * LANE + 192, -1)),
         16, Service.STORE, (2, 0)),
    ],
)  # fmt: skip
def test_passes_over_the_banks(
    offsets: np.ndarray, width: int, service: Service, expected: tuple[int, int]
) -> None:
    assert passes(offsets, width, service) == expected


@pytest.mark.parametrize(
    ("addresses", "width", "route", "lines"),
    [
        (4 * LANE, 4, Route.GLOBAL_LOAD, 2),
        (4 * LANE + 64, 4, Route.GLOBAL_LOAD, 3),
        (16 * LANE, 16, Route.GLOBAL_STORE, 8),
        (4096 * LANE, 4, Route.GLOBAL_LOAD, 64),
        (0 * LANE, 4, Route.GLOBAL_ATOMIC, 1),
        (0 * LANE, 4, Route.LOCAL_LOAD, 2),
        (0 * LANE, 8, Route.LOCAL_STORE, 4),
    ],
)
def test_cache_lines_of_a_request(addresses: np.ndarray, width: int, route: Route, lines: int) -> None:
    traffic, _ = measure(addresses.astype(np.int64)[None, :], width, route, None, RULES)
    assert (traffic.sectors, traffic.moved_bytes) == (lines, 128 * lines)


P12 = {
    "instructions": 97, "lanes_per_instruction": 5.9897, "barriers": 7,
    "busiest_warp": 97, "busiest_warp_of_mean": 1.0,
    "global_load.requests": 2, "global_load.lines": 2, "global_load.lanes": 16,
    "global_load.used_bytes": 64,
    "global_store.requests": 1, "global_store.lines": 1, "global_store.lanes": 1,
    "global_store.used_bytes": 4,
    "shared_load.requests": 7, "shared_load.passes": 7, "shared_load.lanes": 15,
    "shared_load.used_bytes": 60,
    "shared_store.requests": 4, "shared_store.passes": 4, "shared_store.lanes": 15,
    "shared_store.used_bytes": 60,
}  # fmt: skip
"""A tree of 8 threads: 4, 2 and 1 lanes read two numbers and store one."""

P15 = {
    "barriers": 28, "global_load.requests": 4, "global_load.lanes": 24, "global_store.lanes": 4,
    "shared_load.requests": 28, "shared_load.lanes": 60, "shared_store.lanes": 60,
}  # fmt: skip
"""The same tree in 4 blocks, of 6 elements each."""

P32 = {
    "lanes_per_instruction": 64.0, "barriers": 128, "global_load.requests": 128, "global_load.lines": 256,
    "shared_load.requests": 128, "shared_load.passes": 256, "shared_store.passes": 256,
}  # fmt: skip
"""32 blocks of 4 full wavefronts, of which each reads and writes 256 bytes at a time."""


@pytest.mark.slow
@pytest.mark.mojo
@needs_simulated_gpu
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("p12",), P12),
        (("p15",), P15),
        (("p32", "--no-conflict"), P32),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_solution_is_counted(
    words: tuple[str, ...], expected: dict[str, float], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, *flags = words
    file = tmp_path / "profile.json"
    options = ["--solution", "--target", "sim-amd", "--json", str(file), "--lang", "en"]
    assert main(["profile", name, *options, *flags]) == 0
    document = json.loads(file.read_text())
    (kernel,) = document["kernels"]
    metrics = kernel["metrics"]
    assert {key: metrics[key] for key in expected} == expected
    assert not [key for key in metrics if "conflicts" in key or "ptx" in key or "l1tex" in key]
    assert document["comparable"] == []
    assert {name for name in metrics if name in document["model"]} == {
        name for name in metrics if name.endswith((".lines", ".passes", ".bank_conflicts"))
    }
    printed = " ".join(capsys.readouterr().out.split())
    assert (
        "The numbers of lines, passes and conflicts of a request are a model, not from a manual." in printed
    )
    assert "wavefronts" not in printed
    assert "occupancy" not in printed


def test_a_page_of_pictures_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "p12.html"
    assert main(["profile", "p12", "--target", "sim-amd", "--html", str(page)]) == 2
    assert "--html draws the sectors and banks of an NVIDIA GPU" in capsys.readouterr().err
    assert not page.exists()
