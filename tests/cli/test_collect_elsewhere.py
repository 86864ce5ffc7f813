"""`tooling collect --on HOST:FOLDER`: a class is judged by checkouts on other machines.

Their `ssh` is that of `test_other_machines`; the environment of Python of the checkout is a script.
"""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import SOLUTION, Result, Workbench
from tests.cli.test_collect import Class, needs_sandbox
from tests.cli.test_other_machines import Host, host
from tooling.platform.exit_codes import ExitCode

__all__ = ["host"]  # a fixture


class Elsewhere:
    """A class here, and a copy of the checkout there."""

    def __init__(self, bench: Workbench, folder: Path) -> None:
        bench.problem.write_text(SOLUTION.replace("a[i] + 10", "0"))
        self.students, self.checkout = Class(bench, folder), folder / "체크아웃 'A'"
        shutil.copytree(bench.root, self.checkout)
        patch = folder / "patch"
        patch.mkdir()
        (patch / "sitecustomize.py").write_text("import tests.cli.launcher\n")
        variables = bench.environment | {
            "TEST_NO_SIMULATION": "1",
            "PYTHONPATH": f"{patch}:{bench.environment['PYTHONPATH']}",
            "PUZZLE_CACHE_DIR": str(folder / "cache there"),
        }
        exported = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())
        python = self.checkout / ".venv" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f'#!/bin/sh\n{exported}exec {shlex.quote(sys.executable)} "$@"\n')
        python.chmod(0o755)

    def collect(self, on: str) -> Result:
        return self.students.collect("--on", on)

    @property
    def kept(self) -> list[Path]:
        """Results that wait for the rest."""
        cache = Path(self.students.bench.environment["PUZZLE_CACHE_DIR"])
        return list(cache.glob("collect/*/*"))


@pytest.fixture
def elsewhere(workbench: Workbench, host: Host, tmp_path: Path) -> Elsewhere:
    return Elsewhere(workbench, tmp_path)


@needs_sandbox
def test_a_class_is_judged_by_a_checkout_elsewhere(elsewhere: Elsewhere) -> None:
    elsewhere.students.write({"홍 길동": SOLUTION, "O'Neil": SOLUTION.replace("a[i] + 10", "a[i] + 11")})
    result = elsewhere.collect(f"box:{elsewhere.checkout}")
    assert result.status == ExitCode.PASSED, result
    assert elsewhere.students.table == {
        "student": ["points", "of", "p01"],
        "O'Neil": ["0", "1", "wrong"],
        "홍 길동": ["1", "1", "right"],
    }
    assert elsewhere.students.bench.builds == []  # nothing was built with the cache of this machine
    assert elsewhere.kept == []


@needs_sandbox
@pytest.mark.slow
def test_another_machine_does_the_work_of_one_that_is_lost(elsewhere: Elsewhere) -> None:
    elsewhere.students.write({f"student {number}": SOLUTION for number in range(40)})
    result = elsewhere.collect(f"box:/nowhere,box:{elsewhere.checkout}")
    assert result.status == ExitCode.PASSED, result
    assert result.stdout.count(": 1 of 1 points\n") == 40
    assert "in `/nowhere` of `box`; other machines judged its answers\n" in result.stdout


@pytest.mark.parametrize("on", ["box", "box:/srv/lab,other"])
def test_a_machine_without_a_folder_is_refused(elsewhere: Elsewhere, on: str) -> None:
    elsewhere.students.write({"one": SOLUTION})
    result = elsewhere.collect(on)
    assert result.status == ExitCode.USAGE
    _, _, last = on.rpartition(",")
    assert result.stderr == (
        f"error: `--on {last}` does not name a folder\n"
        "  try: `--on HOST:FOLDER`, the folder of a checkout there, or `--on slurm`\n"
    )


def test_a_folder_without_a_checkout_is_named(elsewhere: Elsewhere) -> None:
    elsewhere.students.write({"one": SOLUTION})
    result = elsewhere.collect("box:~/lab")
    assert result.status == ExitCode.NOT_POSSIBLE
    assert result.stderr == (
        "error: there is no checkout with an environment of Python in `~/lab` of `box`\n"
        "  try: clone it there, and run `bash .ci/uv && .uv/bin/uv sync` in the folder\n"
    )
    assert not elsewhere.students.output.exists()


def test_a_checkout_of_another_version_does_not_judge(elsewhere: Elsewhere) -> None:
    elsewhere.students.write({"one": SOLUTION})
    reference = elsewhere.checkout / "solutions" / "p01" / "reference.py"
    reference.write_text(reference.read_text() + "\n")
    result = elsewhere.collect(f"box:{elsewhere.checkout}")
    assert result.status == ExitCode.NOT_POSSIBLE
    assert result.stderr.startswith("error: `box` could not judge the answers\n")
    assert f"the checkout in {elsewhere.checkout} has other puzzles, or is" in result.stderr
