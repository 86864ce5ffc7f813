"""What `tooling verify --failed` tries again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tooling.platform.exit_codes import ExitCode

if TYPE_CHECKING:
    from tests.cli.conftest import Workbench

GATED = "p34 --coordination solution"


def test_a_failure_that_could_not_be_tried_again_is_not_forgotten(workbench: Workbench) -> None:
    workbench.add_p34()
    record = Path(workbench.environment["PUZZLE_CACHE_DIR"]) / "last-verify.json"
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps({"version": 1, "failed": [GATED], "seconds": {GATED: 3.5}}))
    for _ in range(2):
        result = workbench.run("verify", "--failed", "--target", "nvidia", TEST_GPU="sm_80")
        assert result.status == ExitCode.NOT_POSSIBLE, result.stdout + result.stderr
        assert "thread-block clusters: it needs 9.0" in result.stdout
    remembered = {"version": 1, "failed": [GATED], "seconds": {GATED: 3.5}, "untried": []}
    assert json.loads(record.read_text()) == remembered


def test_the_record_of_a_newer_version_is_left_as_it_is(workbench: Workbench) -> None:
    record = Path(workbench.environment["PUZZLE_CACHE_DIR"]) / "last-verify.json"
    record.parent.mkdir()
    newer = '{"version": 2, "trials": {}}'
    record.write_text(newer)
    again = workbench.run("verify", "--failed")
    assert (again.status, "by a newer version of this tool" in again.stderr) == (ExitCode.USAGE, True)
    result = workbench.run("verify", "--only", "solution", "--jobs", "1")
    assert result.status == ExitCode.PASSED, result.stderr
    assert "by a newer version of this tool, and left as it is" in result.stdout
    assert record.read_text() == newer
    assert [path.name for path in record.parent.glob("last-verify*")] == ["last-verify.json"]


def test_a_run_that_cannot_be_recorded_still_has_its_verdict(workbench: Workbench) -> None:
    (Path(workbench.environment["PUZZLE_CACHE_DIR"]) / "last-verify.json" / "in the way").mkdir(parents=True)
    result = workbench.run("verify", "--only", "solution", "--jobs", "1")
    assert result.status == ExitCode.PASSED, result.stderr
    assert "note: this run could not be recorded" in result.stdout
