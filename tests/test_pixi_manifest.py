"""pixi.toml is valid by pixi's own schema (0.77, without texts), agrees with pyproject.toml, and resolves."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.machine import find_uv

ROOT = Path(__file__).parents[1]
SCHEMA = json.loads((ROOT / "tests" / "data" / "pixi-manifest.schema.json").read_text("utf-8"))


def manifest(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / name).read_text("utf-8"))


def test_the_manifest_is_valid() -> None:
    jsonschema.validate(manifest("pixi.toml"), SCHEMA)


def test_the_schema_does_refuse() -> None:
    broken = manifest("pixi.toml")
    broken["workspace"]["channels"] = "conda-forge"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, SCHEMA)


def test_both_manifests_pin_the_same_toolchain_and_name_the_same_puzzles() -> None:
    pixi, pyproject = manifest("pixi.toml"), manifest("pyproject.toml")
    pins = {name: spec for name, spec in pixi["pypi-dependencies"].items() if isinstance(spec, str)}
    declared = pyproject["project"]["dependencies"]
    assert pins
    for name, spec in pins.items():
        assert f"{name}{spec}" in declared

    def puzzles(tasks: dict[str, Any]) -> set[str]:
        return {name for name in tasks if name.startswith("p") and name[1:3].isdigit()}

    assert puzzles(pixi["tasks"]) == puzzles(pyproject["tool"]["poe"]["tasks"]) != set()


@dataclass(frozen=True, slots=True)
class Environment:
    """One environment of pixi.toml on one of its platforms, with the least system that it declares."""

    name: str
    platform: str
    requirements: tuple[str, ...]
    python: str
    glibc: str
    macos: str

    @property
    def uv_platform(self) -> str:
        """What `uv pip compile --python-platform` calls it."""
        if self.platform.startswith("osx"):
            return "aarch64-apple-darwin"
        machine = {"linux-64": "x86_64", "linux-aarch64": "aarch64"}[self.platform]
        return f"{machine}-manylinux_{self.glibc.replace('.', '_')}"


def environments() -> list[Environment]:
    """Every environment on every platform; undeclared versions are pixi's defaults (glibc 2.28, macOS 13)."""
    pixi = manifest("pixi.toml")
    project = manifest("pyproject.toml")["project"]["dependencies"]  # as `gpu-puzzle-lab = { path = "." }`
    found = []
    for name, features in {"default": [], **pixi["environments"]}.items():
        parts = [pixi, *(pixi["feature"][feature] for feature in features)]
        pins = [
            f"{package}{spec}"
            for part in parts
            for package, spec in part.get("pypi-dependencies", {}).items()
            if isinstance(spec, str)
        ]
        systems = [part.get("system-requirements", {}) for part in parts]
        glibc = max((one["libc"]["version"] for one in systems if "libc" in one), default="2.28")
        macos = max((one["macos"] for one in systems if "macos" in one), default="13.0")
        platforms = set(pixi["workspace"]["platforms"])
        for part in parts[1:]:
            platforms &= set(part.get("platforms", platforms))
        python = pixi["dependencies"]["python"].removesuffix(".*")
        requirements = tuple(sorted({*project, *pins}))
        found += [
            Environment(name, platform, requirements, python, glibc, macos) for platform in sorted(platforms)
        ]
    return found


def test_the_glibc_declared_is_that_of_the_installed_wheels() -> None:
    pins = [line.partition("==")[0] for line in manifest("pyproject.toml")["project"]["dependencies"]]
    tags = [importlib.metadata.distribution(name).read_text("WHEEL") or "" for name in pins]
    versions = [
        min(tuple(map(int, one)) for one in wanted)
        for wanted in (re.findall(r"manylinux_(\d+)_(\d+)_", each) for each in tags)
        if wanted
    ]
    assert versions, "no installed package has a wheel for one system"
    needed = ".".join(map(str, max(versions)))
    assert {one.glibc for one in environments()} == {needed}


def test_an_environment_is_known_on_each_of_its_platforms() -> None:
    assert [(one.name, one.platform) for one in environments()] == [
        *(("default", platform) for platform in ("linux-64", "linux-aarch64", "osx-arm64")),
        ("amd", "linux-64"),
        ("apple", "osx-arm64"),
        *(("max", platform) for platform in ("linux-64", "linux-aarch64", "osx-arm64")),
        *(("sass", platform) for platform in ("linux-64", "linux-aarch64")),
        ("sim", "linux-64"),
        ("sim-amd", "linux-64"),
        ("sim-gfx1100", "linux-64"),
        *(("torch", platform) for platform in ("linux-64", "linux-aarch64", "osx-arm64")),
    ]


@pytest.mark.slow  # asks the package index
@pytest.mark.parametrize("environment", environments(), ids=lambda one: f"{one.name}-{one.platform}")
def test_wheels_exist_for_the_least_system_that_an_environment_declares(environment: Environment) -> None:
    options = ["--quiet", "--only-binary", ":all:", "--python-version", environment.python]
    done = subprocess.run(
        [find_uv(), "pip", "compile", *options, "--python-platform", environment.uv_platform, "-"],
        input="\n".join(environment.requirements),
        env=os.environ | {"MACOSX_DEPLOYMENT_TARGET": environment.macos},
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "mojo-compiler==" in done.stdout
