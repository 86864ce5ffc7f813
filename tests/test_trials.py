"""Findings that are irrelevant after the ending of a run are omitted."""

from __future__ import annotations

import pytest

from tooling.execution.program import Ending, Transcript
from tooling.simulator.checks.findings import Check, Finding, Kind, Severity
from tooling.target_run import relevant_findings

FOUND = [
    Finding(Check.MEMORY, Kind.LEAK, Severity.WARNING, ""),
    Finding(Check.INITIALISATION, Kind.UNWRITTEN_LIBRARY_READ, Severity.WARNING, "scan"),
    Finding(Check.INITIALISATION, Kind.UNWRITTEN_READ, Severity.ERROR, "scan"),
]


@pytest.mark.parametrize(
    ("ending", "status", "kinds"),
    [
        (Ending.EXITED, 0, [Kind.LEAK, Kind.UNWRITTEN_READ]),
        (Ending.EXITED, 1, [Kind.UNWRITTEN_LIBRARY_READ, Kind.UNWRITTEN_READ]),
        (Ending.SIGNALLED, 6, [Kind.UNWRITTEN_LIBRARY_READ, Kind.UNWRITTEN_READ]),
        (Ending.TIME_LIMIT, 9, [Kind.UNWRITTEN_LIBRARY_READ, Kind.UNWRITTEN_READ]),
    ],
)
def test_only_relevant_findings_remain(ending: Ending, status: int, kinds: list[Kind]) -> None:
    relevant = relevant_findings(FOUND, Transcript("", "", ending, status, 0.1))
    assert [finding.kind for finding in relevant] == kinds
