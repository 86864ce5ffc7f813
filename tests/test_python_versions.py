"""The Python versions that pyproject.toml admits: bounded on both sides, and every one of them resolves."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.machine import find_uv

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
SYSTEMS = ("x86_64-manylinux_2_34", "aarch64-manylinux_2_34", "aarch64-apple-darwin")


def admitted() -> list[str]:
    """The minor versions from the lower bound to below the upper one."""
    bounds = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", PYPROJECT["project"]["requires-python"])
    assert bounds, "uv would take the newest Python there is, for which packages have no wheels yet"
    return [f"3.{minor}" for minor in range(int(bounds[1]), int(bounds[2]))]


def test_the_python_versions_have_an_upper_bound() -> None:
    assert admitted() == ["3.11", "3.12", "3.13", "3.14"]


def test_tools_and_pixi_use_an_admitted_version() -> None:
    oldest = admitted()[0]
    assert PYPROJECT["tool"]["mypy"]["python_version"] == oldest
    assert PYPROJECT["tool"]["ruff"]["target-version"] == f"py{oldest.replace('.', '')}"
    pixi = tomllib.loads((ROOT / "pixi.toml").read_text("utf-8"))
    assert pixi["dependencies"]["python"].removesuffix(".*") in admitted()


@pytest.mark.slow  # asks the package index
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("version", admitted())
def test_every_admitted_version_resolves_with_all_extras_and_groups(version: str, system: str) -> None:
    done = subprocess.run(
        [
            *(find_uv(), "pip", "compile", "--quiet", "--only-binary", ":all:", "--no-header"),
            *("--python-version", version, "--python-platform", system, "pyproject.toml"),
            *("--all-extras", "--group", "dev", "--group", "format"),
        ],
        env=os.environ | {"MACOSX_DEPLOYMENT_TARGET": "14.0"},  # PyTorch's wheels
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert {"max", "numpy", "torch"} <= {line.partition("==")[0] for line in done.stdout.splitlines()}
