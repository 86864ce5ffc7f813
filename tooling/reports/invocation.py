"""How the user started the tool, so that a suggested command can be typed as shown."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path


def run_prefix(environment: Mapping[str, str]) -> str:
    """The command before a puzzle's name: `uv run poe`, `pixi run` or `tooling run`.

    Args:
        environment: of this process; poe sets POE_ACTIVE, uv its own path in UV, pixi
            PIXI_ENVIRONMENT_NAME.
    """
    if "POE_ACTIVE" in environment:
        return f"{_uv(environment)} run poe" if "UV" in environment else "poe"
    if name := environment.get("PIXI_ENVIRONMENT_NAME"):
        return "pixi run" if name == "default" else f"pixi run -e {name}"
    return "tooling run"


def _uv(environment: Mapping[str, str]) -> str:
    """`uv`, or its path if it is not on PATH outside the virtual environment."""
    path = Path(environment["UV"])
    inside = environment.get("VIRTUAL_ENV", "")
    directories = environment.get("PATH", "").split(os.pathsep)
    outer = os.pathsep.join(each for each in directories if not inside or not each.startswith(inside))
    if shutil.which("uv", path=outer):
        return "uv"
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
