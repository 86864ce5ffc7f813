"""Requirements of tests on the machine; each mark has the reason for skipping."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from tooling.targets.model import Absence, TargetKind
from tooling.targets.probing import probe
from tooling.text import ENGLISH, in_language

_SIMULATED = probe(TargetKind.SIM)
NO_SIMULATED_GPU = str(in_language(_SIMULATED.reason, ENGLISH)) if isinstance(_SIMULATED, Absence) else ""
needs_simulated_gpu = pytest.mark.skipif(bool(NO_SIMULATED_GPU), reason=NO_SIMULATED_GPU)


def find_uv() -> str:
    """The running uv, or the one of CONTRIBUTING.md, for tests that query the package index."""
    installed = Path(__file__).parents[1] / ".uv" / "bin" / "uv"
    found = os.environ.get("UV") or shutil.which("uv") or (str(installed) if installed.is_file() else None)
    assert found, "uv was not found: python3 -m venv .uv && .uv/bin/pip install uv"
    return found


def is_alive(pid: int) -> bool:
    """Whether a process is still running after a grace period; a zombie is not."""
    for _ in range(50):
        try:
            os.kill(pid, 0)
            if Path("/proc/self").exists():  # without procfs, init reaps it at once
                state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
                if state == "Z":
                    return False
        except (ProcessLookupError, FileNotFoundError):
            return False
        time.sleep(0.05)
    return True
