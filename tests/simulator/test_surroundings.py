"""The simulated GPU for another user, with an install that user cannot write, and for two runs at once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.machine import needs_simulated_gpu
from tests.simulator.driver_lab import program
from tests.simulator.test_driver_mojo import EXPECTED

pytestmark = [pytest.mark.mojo, pytest.mark.slow, needs_simulated_gpu]

NOBODY = 65534
MODE = "grids"
COMMAND = Path(sys.executable).with_name("tooling")


def as_nobody() -> list[str]:
    """The start of a command line that runs as a user without rights; skips where that cannot be."""
    if os.geteuid() != 0:
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("there is no setpriv to become another user with")
    change = [setpriv, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all"]
    tried = subprocess.run(
        [*change, "sh", "-c", f"exec '{sys.executable}' -c pass"], capture_output=True, text=True, check=False
    )
    if tried.returncode != 0:
        pytest.skip(f"other users cannot start this Python: {tried.stderr.strip()}")
    return change


def test_another_user_with_a_read_only_install_in_a_path_with_spaces_and_hangul() -> None:
    prefix = as_nobody()
    with tempfile.TemporaryDirectory(prefix="gpu puzzle lab 빈 칸 ") as folder:  # pytest's are root's alone
        home = Path(folder)
        copy = home / "프로 그램"
        shutil.copy(program(), copy)
        if prefix:
            for path in (home, copy):
                os.chown(path, NOBODY, NOBODY)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MODULAR_")}
        environment |= {
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home / "캐시"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        done = subprocess.run(
            [*prefix, str(COMMAND), "simulate", "--", f"./{copy.name}", MODE],
            cwd=home,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert EXPECTED[MODE].strip().splitlines()[0] in done.stdout


def test_two_runs_at_once_do_not_disturb_each_other() -> None:
    command = [str(COMMAND), "simulate", "--", str(program()), MODE]
    runs = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    for run in runs:
        output, errors = run.communicate(timeout=600)
        assert run.returncode == 0, output + errors
        assert EXPECTED[MODE].strip().splitlines()[0] in output
