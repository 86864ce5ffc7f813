"""The simulator's counters against Nsight Compute's on an H200, launch by launch, exactly.

`kernels/record.py` recorded them. Every metric of every launch must agree, but for the differences that
EXPLAINED lists with their reason; a listed difference that does not occur is an error as well.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.simulator.counters.count import count_case
from tests.simulator.counters.kernels.access_cases import Case, byte_cases, cases
from tooling.simulator.counters.metrics import COMPARABLE

RECORDED = json.loads((Path(__file__).parents[2] / "data" / "h200" / "counters.json").read_text("utf-8"))
CASES = cases()
_OF_BYTES = {case.name for case in byte_cases()}


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference that is known: metrics of the kernels of one form, and why."""

    form: str
    metrics: tuple[str, ...]
    why: str


EXPLAINED = (
    Difference(
        "global_async_cg_b128",
        (
            "sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts",
            "sm__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts",
            "smsp__sass_data_bytes_mem_global_op_ldgsts",
        ),
        "cp.async.cg goes past the first-level cache, and ncu 2025.3 attributes neither its shared-memory "
        "wavefronts nor its bytes to it (it reports 0); the simulator counts them as for cp.async.ca, with "
        "which the requests, sectors and shared-memory bytes of .cg agree",
    ),
)


def recorded(case: Case) -> dict[str, int]:
    """Every metric of a case; what is not written down is zero."""
    names = [*RECORDED["metrics"], *(RECORDED["metrics_of_bytes"] if case.name in _OF_BYTES else ())]
    return {name: RECORDED["cases"][case.name].get(name, 0) for name in names}


def differences(case: Case) -> dict[str, tuple[float, int]]:
    """Metrics with (simulated, recorded) values that are not the same."""
    measured = recorded(case)
    counts = count_case(case).counts
    simulated = {metric.name.removesuffix(".sum"): metric.read(counts) for metric in COMPARABLE}
    return {
        name: (value, measured[name])
        for name, value in simulated.items()
        if name in measured and value != measured[name]
    }


def test_every_case_was_recorded_on_an_h200() -> None:
    about = RECORDED["about"]
    assert about["device"] == "NVIDIA H200"
    assert about["driver"] and about["ncu"]
    assert set(RECORDED["cases"]) == {case.name for case in CASES}


def test_every_comparable_metric_was_recorded() -> None:
    names = {*RECORDED["metrics"], *RECORDED["metrics_of_bytes"]}
    assert {metric.name.removesuffix(".sum") for metric in COMPARABLE} <= names


@pytest.mark.parametrize("form", sorted({case.form.name for case in CASES}))
def test_counters_equal_those_of_an_h200(form: str) -> None:
    found = {case.name: differences(case) for case in CASES if case.form.name == form}
    explained = {name for entry in EXPLAINED if entry.form == form for name in entry.metrics}
    assert {name for different in found.values() for name in different} == explained, {
        name: different for name, different in found.items() if set(different) - explained
    }


def test_ptx_instructions_are_not_compared_with_machine_instructions() -> None:
    """`smsp__inst_executed` counts SASS: it differs for most kernels, so no metric of ours has its name."""
    assert "smsp__inst_executed" in RECORDED["metrics"]
    assert all("inst_executed" not in metric.name for metric in COMPARABLE)
