"""How many cores a command uses, and who says so."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tooling.platform.cores import NotANumberOfCores, usable_cores


def test_a_number_of_cores_may_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUZZLE_CORES", "3")
    assert usable_cores() == 3


def test_otherwise_they_are_those_that_the_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PUZZLE_CORES", raising=False)
    assert 1 <= usable_cores() <= (os.cpu_count() or 1)


@pytest.mark.parametrize("named", ["0", "-1", "two", "1.5"])
def test_what_is_no_number_of_cores_is_refused(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUZZLE_CORES", named)
    with pytest.raises(NotANumberOfCores, match=f"PUZZLE_CORES must be a positive integer, not `{named}`"):
        usable_cores()


def test_work_in_a_worker_process_has_one_core() -> None:
    code = "import os\nfrom tooling.platform.workers import _prepare_worker\n_prepare_worker(os.getppid())\n"
    code += "from tooling.platform.cores import usable_cores\nprint(usable_cores())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
