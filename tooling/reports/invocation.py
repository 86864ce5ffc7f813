"""How the user started the tool, so that a suggested command can be typed as shown."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

# A command at the beginning of a hint or of code in it. `uv run --extra max tooling …` is one command.
_COMMAND = re.compile(r"(^|`|usage: |try: )(tooling|uv)(?= )")


def run_prefix(environment: Mapping[str, str]) -> str:
    """The command before a puzzle's name: `uv run poe`, `pixi run` or `tooling run`.

    Args:
        environment: of this process; poe sets POE_ACTIVE, uv its own path in UV, pixi
            PIXI_ENVIRONMENT_NAME.
    """
    if "POE_ACTIVE" in environment:
        return f"{_uv(environment)} run poe" if "UV" in environment else "poe"
    if "PIXI_ENVIRONMENT_NAME" in environment:
        return _pixi(environment)
    return f"{tool_prefix(environment)} run"


def tool_prefix(environment: Mapping[str, str], program: str | None = None) -> str:
    """What is typed for `tooling`: `uv run tooling`, `pixi run tooling`, its path, or its name.

    Args:
        environment: as of `run_prefix`.
        program: the path that this process was started with (default: the real one).
    """
    if "PIXI_ENVIRONMENT_NAME" in environment:
        return f"{_pixi(environment)} tooling"
    if "UV" in environment:
        return f"{_uv(environment)} run tooling"
    started = Path(sys.argv[0] if program is None else program)
    if started.name == "tooling" and not shutil.which("tooling", path=environment.get("PATH", "")):
        return _typed(started, environment)
    return "tooling"


def as_typed(text: str, environment: Mapping[str, str]) -> str:
    """A hint whose commands can be typed as they are printed, however the tool was called.

    Hints are written with `tooling …` and `uv run …`, at their beginning or between backticks.
    """

    def typed(match: re.Match[str]) -> str:
        if match[2] == "tooling":
            return match[1] + tool_prefix(environment)
        return match[1] + (_uv(environment) if "UV" in environment else "uv")

    return _COMMAND.sub(typed, text)


def _pixi(environment: Mapping[str, str]) -> str:
    name = environment["PIXI_ENVIRONMENT_NAME"]
    return "pixi run" if name == "default" else f"pixi run -e {name}"


def _uv(environment: Mapping[str, str]) -> str:
    """`uv`, or its path if it is not on PATH outside the virtual environment."""
    inside = environment.get("VIRTUAL_ENV", "")
    directories = environment.get("PATH", "").split(os.pathsep)
    outer = os.pathsep.join(each for each in directories if not inside or not each.startswith(inside))
    return "uv" if shutil.which("uv", path=outer) else _typed(Path(environment["UV"]), environment)


def _typed(program: Path, environment: Mapping[str, str]) -> str:
    """A program's path from the reader's folder, or the absolute one where that is shorter.

    poe starts its tasks in the root of the project, and keeps the reader's folder in POE_PWD.
    """
    import shlex  # noqa: PLC0415 - only where the program is not on the reader's PATH

    here = environment.get("POE_PWD") or Path.cwd()
    path = str(Path(os.path.abspath(program)))  # noqa: PTH100 - without following links
    relative = os.path.relpath(path, here)
    relative = relative if os.sep in relative else os.path.join(os.curdir, relative)  # noqa: PTH118
    return shlex.quote(min(relative, path, key=len))
