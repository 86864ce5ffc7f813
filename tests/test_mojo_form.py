"""`poe lint-mojo`: the Mojo files have the form that `mojo format` gives them."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tooling.platform.pins import MAX_VERSION

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
NAME, _, VERSION = PYPROJECT["dependency-groups"]["format"][0].partition("==")

needs_the_formatter = pytest.mark.skipif(
    importlib.util.find_spec(NAME) is None, reason=f"{NAME} is not installed: uv run --group format"
)


def run_task(task: str, folder: Path, path: str = os.environ["PATH"]) -> subprocess.CompletedProcess[str]:
    """Runs a task of pyproject.toml for the files in a folder."""
    shutil.copy(ROOT / "pyproject.toml", folder)
    return subprocess.run(
        [sys.executable, "-m", "poethepoet", "-C", folder, task],
        env={**os.environ, "PATH": path, "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_formatter_is_that_of_the_pinned_toolchain() -> None:
    assert VERSION == MAX_VERSION


@pytest.mark.parametrize("task", ["lint-mojo", "format-mojo"])
def test_without_the_formatter_nothing_passes(task: str, tmp_path: Path) -> None:
    done = run_task(task, tmp_path, path=str(tmp_path))
    assert done.returncode != 0
    assert NAME in done.stderr


@needs_the_formatter
def test_an_unformatted_file_is_reported_and_then_formatted(tmp_path: Path) -> None:
    assert importlib.metadata.version(NAME) == VERSION
    tmp_path.joinpath("good.mojo").write_text("def good(a: Int):\n    print(a)\n")
    bad = tmp_path / "deep" / "bad.mojo"
    bad.parent.mkdir()
    bad.write_text("def bad( a : Int ):\n    print( a )\n")
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    checked = run_task("lint-mojo", tmp_path, tools)
    assert checked.returncode == 1
    assert "bad.mojo" in checked.stderr
    assert "good.mojo" not in checked.stderr
    assert run_task("format-mojo", tmp_path, tools).returncode == 0
    assert bad.read_text() == "def bad(a: Int):\n    print(a)\n"
    assert run_task("lint-mojo", tmp_path, tools).returncode == 0


@needs_the_formatter
def test_a_file_that_the_formatter_cannot_read_does_not_pass(tmp_path: Path) -> None:
    tmp_path.joinpath("broken.mojo").write_text("def broken(:\n")
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = run_task("lint-mojo", tmp_path, tools)
    assert done.returncode not in (0, 1)
    assert "broken.mojo" in done.stderr
