"""The exit statuses of the commands: scripts and workflows depend on their numbers."""

from __future__ import annotations

import pytest

from tooling.judging.verdict import Outcome
from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.simulator.nvidia.ptx.errors import PtxError
from tooling.targets.selection import ModeGated, TargetAbsent, UnknownTarget


def test_every_exit_code_has_its_number() -> None:
    assert {code.name: code.value for code in ExitCode} == {
        "PASSED": 0,
        "WRONG": 1,
        "USAGE": 2,
        "BUILD_FAILED": 3,
        "NOT_POSSIBLE": 4,
        "TIME_LIMIT": 5,
        "INTERNAL": 70,
    }


def test_every_outcome_of_a_run_has_its_exit_status() -> None:
    assert {outcome.value: int(outcome.exit_code) for outcome in Outcome} == {
        "passed": 0,
        "unjudged": 0,
        "wrong": 1,
        "undecided": 4,
        "time-limit": 5,
    }


@pytest.mark.parametrize(
    ("error", "status"),
    [(ToolingError, 2), (UnknownTarget, 2), (ModeGated, 4), (TargetAbsent, 4), (PtxError, 4)],
)
def test_an_error_ends_the_command_with_the_status_of_its_class(
    error: type[ToolingError], status: int
) -> None:
    assert int(error.exit_code) == status
