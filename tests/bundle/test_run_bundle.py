"""run_bundle.py leaves out what needs more GPUs than the machine has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tooling.standalone import run_bundle

LEFT_OUT = "left out: two: it needs 2 GPUs, and there is 1\n"


@pytest.mark.parametrize(("visible", "ran"), [("0", ["one"]), ("0,1", ["one", "two"]), ("", [])])
def test_programs_of_more_gpus_are_left_out(tmp_path: Path, visible: str, ran: list[str]) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n", "utf-8")
    program.chmod(0o755)
    entries = [
        {
            "id": name,
            "gpus": gpus,
            "flags": [],
            "time_limit": 5,
            "executable": "program",
            "datasets": {"book": None},
        }
        for gpus, name in ((1, "one"), (2, "two"))
    ]
    (tmp_path / "bundle.json").write_text(json.dumps({"accelerator": "sm_90a", "entries": entries}), "utf-8")
    script = tmp_path / "run_bundle.py"
    script.write_bytes(Path(run_bundle.__file__).read_bytes())
    done = subprocess.run(
        [sys.executable, "-I", str(script)],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": visible},
        capture_output=True,
        text=True,
        check=True,
    )
    report = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert [result["id"] for result in report["results"]] == ran
    assert report["gpus"] == len(visible.split(",")) if visible else report["gpus"] == 0
    assert (LEFT_OUT in done.stdout) == (visible == "0")
