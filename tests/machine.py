"""What tests need of the machine they run on; each mark says why it skips."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from tooling.targets.model import Absence, TargetKind
from tooling.targets.probing import probe

_SIMULATED = probe(TargetKind.SIM)
NO_SIMULATED_GPU = _SIMULATED.reason if isinstance(_SIMULATED, Absence) else ""
needs_simulated_gpu = pytest.mark.skipif(bool(NO_SIMULATED_GPU), reason=NO_SIMULATED_GPU)


def find_uv() -> str:
    """The uv that runs this, or that CONTRIBUTING.md installs; tests that ask the package index need one."""
    installed = Path(__file__).parents[1] / ".uv" / "bin" / "uv"
    found = os.environ.get("UV") or shutil.which("uv") or (str(installed) if installed.is_file() else None)
    assert found, "uv was not found: python3 -m venv .uv && .uv/bin/pip install uv"
    return found


def is_alive(pid: int) -> bool:
    """Whether a process still runs after some time to end; one that only waits to be collected does not."""
    for _ in range(50):
        try:
            os.kill(pid, 0)
            if Path("/proc/self").exists():  # elsewhere the first ancestor that lives collects it at once
                state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
                if state == "Z":
                    return False
        except (ProcessLookupError, FileNotFoundError):
            return False
        time.sleep(0.05)
    return True
