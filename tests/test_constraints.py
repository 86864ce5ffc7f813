"""constraints.txt locks every package by version and hash, and names no host."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.machine import find_uv
from tooling.generate.constraints import BUILDING, lock
from tooling.generate.workflows import UV_VERSION

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "constraints.txt").read_text("utf-8")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
ENTRY = re.compile(r"([a-z0-9-]+)==(\S+)(?: ; [^\\\n]+)?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n")


def locked() -> dict[str, set[str]]:
    """The versions of each package; a package may have two, for different versions of Python."""
    versions: dict[str, set[str]] = {}
    for name, version, _ in ENTRY.findall(TEXT):
        versions.setdefault(name, set()).add(version)
    return versions


def pins() -> Iterator[tuple[str, str]]:
    """Everything that pyproject.toml pins: dependencies, extras, groups, the build system."""
    project = PYPROJECT["project"]
    lines = [*project["dependencies"], *PYPROJECT["build-system"]["requires"]]
    for group in (*project["optional-dependencies"].values(), *PYPROJECT["dependency-groups"].values()):
        lines += [line for line in group if isinstance(line, str)]
    for line in lines:
        name, _, version = line.partition(";")[0].partition("==")
        yield name, version


def test_every_line_is_a_version_with_hashes_and_names_no_host() -> None:
    assert ENTRY.sub("", TEXT) == ""


def test_what_pyproject_pins_is_locked_in_that_version() -> None:
    assert {name: {version} for name, version in pins()}.items() <= locked().items()
    assert locked()["uv"] == {UV_VERSION}


def test_every_direct_dependency_is_pinned_exactly() -> None:
    assert [name for name, version in pins() if not version] == []


def test_uv_is_constrained_to_what_is_locked() -> None:
    """`uv run` and `uv sync` resolve with these; `uv pip` checks the hashes of constraints.txt besides."""
    named = PYPROJECT["tool"]["uv"]["constraint-dependencies"]
    found: dict[str, set[str]] = {}
    for line in named:
        name, _, version = line.partition(" ;")[0].partition("==")
        found.setdefault(name, set()).add(version)
    assert found == locked()
    building = PYPROJECT["tool"]["uv"]["build-constraint-dependencies"]
    assert {line.partition("==")[0] for line in building} == {*BUILDING}
    assert {*building} <= {*named}


def test_uv_is_installed_with_its_hashes() -> None:
    for name in (".ci/run", ".devcontainer/devcontainer.json", "README.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text("utf-8")
        assert "bash .ci/uv" in text
        assert "pip install" not in text
    assert "--require-hashes" in (ROOT / ".ci" / "uv").read_text("utf-8")


def test_locking_takes_the_newest_versions_that_the_pins_allow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks uv without the constraints, which would keep every version as it is."""
    for folder in ("problems", "solutions"):
        (tmp_path / folder).mkdir()
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    fake = tmp_path / "uv"
    fake.write_text('#!/bin/sh\nfor each; do last=$each; done\ncp "$4/pyproject.toml" "$last"\n')
    fake.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UV", str(fake))
    lock()
    asked = tomllib.loads((tmp_path / "constraints.txt").read_text("utf-8"))
    assert asked["tool"]["uv"]["constraint-dependencies"] == []
    assert asked["project"] == PYPROJECT["project"]


@pytest.mark.slow  # asks the package index
@pytest.mark.parametrize(
    "system", ["x86_64-manylinux_2_34", "aarch64-manylinux_2_34", "aarch64-apple-darwin"]
)
def test_everything_that_is_installed_is_locked(system: str) -> None:
    groups = [option for name in PYPROJECT["dependency-groups"] for option in ("--group", name)]
    done = subprocess.run(
        [
            *(
                find_uv(),
                "pip",
                "compile",
                "--quiet",
                "--no-header",
                "--no-annotate",
                "--python-version",
                "3.12",
            ),
            *("--python-platform", system, "--all-extras", *groups),
            "pyproject.toml",
        ],
        env=os.environ | {"MACOSX_DEPLOYMENT_TARGET": "14.0"},  # PyTorch's wheels
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = {
        name: {version} for name, version in re.findall(r"^([a-z0-9-]+)==(\S+)", done.stdout, re.MULTILINE)
    }
    assert "torch" in found
    assert {name for name, versions in found.items() if not versions <= locked().get(name, set())} == set()
