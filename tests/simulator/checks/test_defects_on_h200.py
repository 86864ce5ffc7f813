"""The defect suite as compute-sanitizer judged it on an H200: we judge the same, or better with a reason."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.simulator.checks.defect_runs import run
from tests.simulator.checks.test_defects import DEFECTS, Defect, by_name
from tooling.simulator.checks.findings import Severity

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "data" / "h200" / "defects.json").read_text("utf-8")
)


def said(defect: Defect, entry: str) -> list[str]:
    """What the four tools said about one entry."""
    tools = RECORDED["kernels"][defect.name][entry].values()
    return [message for tool in tools for message in tool.get("messages", ())]


@pytest.mark.parametrize("defect", DEFECTS, ids=by_name)
def test_every_defect_that_compute_sanitizer_found_is_found_at_its_line(defect: Defect) -> None:
    compared = RECORDED["compared"][defect.name]
    findings = run(defect.name, "wrong", defect.setting)
    assert sorted({str(finding.kind) for finding in findings}) == compared["ours"]
    messages = said(defect, "wrong")
    assert compared["verdict"] == ("same" if messages else "better")
    assert messages or compared["because"]
    theirs = {int(line) for message in messages for line in re.findall(r"\.mojo:(\d+)", message)}
    ours = {party.position.line for finding in findings for party in finding.parties}
    assert theirs <= ours
    if any(not message.startswith("Uninitialized access") for message in messages):
        assert any(finding.severity is Severity.ERROR for finding in findings)


@pytest.mark.parametrize("defect", DEFECTS, ids=by_name)
def test_a_correct_twin_ends_on_the_h200_and_an_objection_to_it_is_explained(defect: Defect) -> None:
    assert RECORDED["kernels"][defect.name]["right"]["none"] == {"ended": "status 0"}
    if said(defect, "right"):
        assert "correct twin" in RECORDED["compared"][defect.name]["because"]


def test_the_record_holds_every_kernel_and_no_other() -> None:
    assert set(RECORDED["kernels"]) == set(RECORDED["compared"]) == {defect.name for defect in DEFECTS}
    assert len(DEFECTS) >= 40
