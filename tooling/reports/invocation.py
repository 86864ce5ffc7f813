"""How the user started the tool, so that a suggested command can be typed as shown."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

# A command at the beginning of a text, of code in it, or of an example in a list: `usage: tooling run p15`.
# `uv run --extra max tooling …` is one command.
_COMMAND = re.compile(r"(^|`|: |; |\$\()tooling(?= )|(^|`|try: )uv(?= )")
_NAMES = ("tooling", "gpu-puzzle-lab")  # of the program, in `[project.scripts]` of pyproject.toml
_DISTRIBUTION = "gpu-puzzle-lab"


def tool_prefix(environment: Mapping[str, str], program: str | None = None, extra: str = "") -> str:
    """What is typed for `tooling`: `uv run tooling`, `uvx gpu-puzzle-lab`, `pixi run tooling`, path, name.

    Args:
        environment: of this process; uv sets its own path in UV, and the environment of the project in
            VIRTUAL_ENV for `uv run` alone; pixi sets PIXI_ENVIRONMENT_NAME.
        program: the path that this process was started with (default: the real one).
        extra: an extra of pyproject.toml that the command needs; with uv and pixi the command selects it.
    """
    if "PIXI_ENVIRONMENT_NAME" in environment:
        return f"{_pixi(extra or environment['PIXI_ENVIRONMENT_NAME'])} tooling"
    started = Path(sys.argv[0] if program is None else program)
    if "UV" in environment:
        if started.name in _NAMES and not _is_below(started, environment.get("VIRTUAL_ENV", "")):
            return _uvx(started.name, environment, extra)
        return f"{_uv(environment)} run {f'--extra {extra} ' if extra else ''}tooling"
    if started.name not in _NAMES:
        return "tooling"
    if shutil.which(started.name, path=environment.get("PATH", "")):
        return started.name
    return typed_path(started, environment, program=True)


def as_typed(text: str, environment: Mapping[str, str]) -> str:
    """A hint whose commands can be typed as they are printed, however the tool was called.

    Hints are written with `tooling …` and `uv run …`, at their beginning or between backticks.
    """

    def typed(match: re.Match[str]) -> str:
        if match[1] is not None:
            return match[1] + tool_prefix(environment)
        return match[2] + (_uv(environment) if "UV" in environment else "uv")

    return _COMMAND.sub(typed, text)


def _is_below(program: Path, folder: str) -> bool:
    return bool(folder) and Path(os.path.abspath(program)).is_relative_to(os.path.abspath(folder))  # noqa: PTH100


def _uvx(program: str, environment: Mapping[str, str], extra: str) -> str:
    """`uvx gpu-puzzle-lab`, with the path of uvx if it is not on PATH."""
    uvx = "uvx"
    if not shutil.which("uvx", path=environment.get("PATH", "")):
        uvx = typed_path(Path(environment["UV"]).with_name("uvx"), environment, program=True)
    if extra:
        return f"{uvx} --from '{_DISTRIBUTION}[{extra}]' {program}"
    return f"{uvx} {program}" if program == _DISTRIBUTION else f"{uvx} --from {_DISTRIBUTION} {program}"


def _pixi(name: str) -> str:
    return "pixi run" if name == "default" else f"pixi run -e {name}"


def _uv(environment: Mapping[str, str]) -> str:
    """`uv`, or its path if it is not on PATH outside the virtual environment."""
    inside = environment.get("VIRTUAL_ENV", "")
    directories = environment.get("PATH", "").split(os.pathsep)
    outer = os.pathsep.join(each for each in directories if not inside or not each.startswith(inside))
    return (
        "uv"
        if shutil.which("uv", path=outer)
        else typed_path(Path(environment["UV"]), environment, program=True)
    )


def from_here(text: str, environment: Mapping[str, str]) -> str:
    """A text in which absolute paths below the reader's folder begin in that folder."""
    here = environment.get("POE_PWD") or str(Path.cwd())
    return re.sub(rf"(?<!\S){re.escape(here)}/(?=\S)", "", text)


def typed_path(path: Path, environment: Mapping[str, str], *, program: bool = False) -> str:
    """A path from the reader's folder, or the absolute one where that is shorter, quoted for a shell.

    poe starts its tasks in the root of the project, and keeps the reader's folder in POE_PWD.

    Args:
        program: it is the path of a program to start.
    """
    import shlex  # noqa: PLC0415 - only where the program is not on the reader's PATH

    here = environment.get("POE_PWD") or Path.cwd()
    absolute = os.path.abspath(path)  # noqa: PTH100 - without following links
    relative = os.path.relpath(absolute, here)
    if program and os.sep not in relative:
        relative = os.path.join(os.curdir, relative)  # noqa: PTH118 - a shell looks elsewhere without it
    return shlex.quote(min(relative, absolute, key=len))
