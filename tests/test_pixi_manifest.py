"""pixi.toml is valid by pixi's own schema (0.77, without its texts), and agrees with pyproject.toml."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

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
