"""What `tooling verify --failed` tries again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tooling.exit_codes import ExitCode

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
    assert json.loads(record.read_text()) == {"version": 1, "failed": [GATED], "seconds": {GATED: 3.5}}
